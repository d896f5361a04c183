import stat
from pathlib import Path

import pytest

from core.config_edit import make_file, set_value
from core.config_load import load_configuration
from core.errors import ConfigError

WITH_COMMENTS = """# top
[limits]   # limits
max_steps = 7  # few

[ui]
theme = "light"
"""


def test_comments_and_order_stay_when_a_value_changes(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(WITH_COMMENTS, encoding="utf-8")
    path.chmod(0o640)
    assert set_value(path, "limits.max_steps", "12") == 12
    assert path.read_text(encoding="utf-8") == WITH_COMMENTS.replace("7", "12")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    set_value(path, "model.name", "gpt-x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    loaded = load_configuration(environment={"HANDRAIL_CONFIG_DIR": str(path.parent)})
    assert loaded.settings.model.name == "gpt-x"


def test_a_text_that_looks_like_a_number_is_kept_as_text_where_text_is_wanted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config.toml"
    assert set_value(path, "model.name", "4") == "4"
    assert set_value(path, "model.temperature", "1") == 1


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("limits.max_stps", "4", "Did you mean limits.max_steps?"),
        ("limits.max_steps", "many", "whole number"),
        ("limits.max_steps.more", "1", "group"),
        ("mode", "full", "full"),
        ("", "1", "is no setting"),
        ("limits..max", "1", "is no setting"),
    ],
)
def test_a_value_that_would_not_load_is_not_written(
    tmp_path: Path, key: str, value: str, part: str
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(WITH_COMMENTS, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        set_value(path, key, value)
    assert part in caught.value.line()
    assert path.read_text(encoding="utf-8") == WITH_COMMENTS
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.toml"]


def test_a_broken_file_is_never_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[limits\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="line 1"):
        set_value(path, "mode", "read")
    assert path.read_text(encoding="utf-8") == "[limits\n"


def test_a_file_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    assert make_file(path)
    path.write_text("mode = 'read'\n", encoding="utf-8")
    assert not make_file(path)
    assert path.read_text(encoding="utf-8") == "mode = 'read'\n"
