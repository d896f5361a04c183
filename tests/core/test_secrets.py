from pathlib import Path

import pytest

from core.errors import ConfigError
from core.secrets import find_api_key


class OneEntryKeyring:
    def __init__(self, value: str | None) -> None:
        self.value = value
        self.asked: list[tuple[str, str]] = []

    def __call__(self, service: str, name: str, /) -> str | None:
        self.asked.append((service, name))
        return self.value


def secrets_file(folder: Path, text: str, mode: int = 0o600) -> None:
    path = folder / "secrets.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def test_the_environment_comes_first_and_the_keyring_is_not_asked(tmp_path: Path) -> None:
    secrets_file(tmp_path, 'A_KEY = "from file"')
    keyring = OneEntryKeyring("from keyring")
    found = find_api_key("A_KEY", tmp_path, {"A_KEY": " from env\n"}, keyring)
    assert (found.value, found.origin) == ("from env", "$A_KEY")
    assert keyring.asked == []


def test_the_file_comes_before_the_keyring(tmp_path: Path) -> None:
    secrets_file(tmp_path, 'A_KEY = "from file"')
    found = find_api_key("A_KEY", tmp_path, {}, OneEntryKeyring("from keyring"))
    assert found.value == "from file"
    assert found.origin.endswith("secrets.toml")


def test_the_keyring_comes_last(tmp_path: Path) -> None:
    keyring = OneEntryKeyring("from keyring")
    found = find_api_key("A_KEY", tmp_path, {}, keyring)
    assert (found.value, found.origin) == ("from keyring", "keyring")
    assert keyring.asked == [("handrail", "A_KEY")]


def test_nothing_found_is_an_empty_key(tmp_path: Path) -> None:
    assert find_api_key("A_KEY", tmp_path, {}, OneEntryKeyring(None)).value == ""
    assert find_api_key("A_KEY", tmp_path, {}).origin == ""


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    secrets_file(tmp_path, 'A_KEY = "x"', mode)
    with pytest.raises(ConfigError, match="read by others"):
        find_api_key("A_KEY", tmp_path, {})


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('A_KEY = "x"', encoding="utf-8")
    (tmp_path / "secrets.toml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError):
        find_api_key("A_KEY", tmp_path, {})


def test_a_broken_file_is_named_without_its_content(tmp_path: Path) -> None:
    secrets_file(tmp_path, "A_KEY = sk-secret")
    with pytest.raises(ConfigError) as caught:
        find_api_key("A_KEY", tmp_path, {})
    assert "sk-secret" not in caught.value.line()


def test_a_key_never_shows_in_a_repr(tmp_path: Path) -> None:
    assert "topsecret" not in repr(find_api_key("A_KEY", tmp_path, {"A_KEY": "topsecret"}))
