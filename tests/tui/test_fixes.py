from pathlib import Path

import pytest

from core.config_load import load_configuration
from core.errors import BrowserUnavailableError, ConfigError
from core.probe import LocalServer
from tui.fixes import install_chromium, use_server

SERVER = LocalServer(
    provider="ollama", label="Ollama", base_url="http://127.0.0.1:11434/v1", models=("a", "b")
)


async def test_a_server_that_is_taken_stands_in_the_settings(home: Path) -> None:
    said = await use_server(SERVER, "b")()
    assert "b from Ollama" in said
    model = load_configuration().settings.model
    assert (model.name, model.base_url) == ("b", SERVER.base_url)


async def test_a_broken_file_is_not_changed_by_a_fix(home: Path) -> None:
    path = home / "config" / "config.toml"
    path.parent.mkdir()
    path.write_text("[model\n", encoding="utf-8")
    with pytest.raises(ConfigError):
        await use_server(SERVER, "b")()
    assert path.read_text(encoding="utf-8") == "[model\n"


async def test_chromium_that_cannot_be_loaded_says_what_else_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", "http://127.0.0.1:1")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    with pytest.raises(BrowserUnavailableError) as caught:
        await install_chromium()
    assert "HANDRAIL_CHROME" in caught.value.hint
