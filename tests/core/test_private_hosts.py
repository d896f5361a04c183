"""Private hosts as the person writes them, on the command line and in the settings."""

from pathlib import Path

import pytest

from core.config_layers import Override
from core.config_load import load_configuration
from core.config_reference import allowed_text
from core.errors import ConfigError
from core.private_hosts import EVERY_PORT, OPTION, is_opened, parse_private_host
from tui.arguments import ALLOW_PRIVATE


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1", "127.0.0.1", EVERY_PORT),
        (" 127.0.0.1:8000 ", "127.0.0.1", 8000),
        ("LocalHost:80", "localhost", 80),
        ("intranet.corp.", "intranet.corp", EVERY_PORT),
        ("::1", "::1", EVERY_PORT),
        ("[::1]", "::1", EVERY_PORT),
        ("[::1]:65535", "::1", 65535),
    ],
)
def test_a_host_is_read_with_and_without_a_port(text: str, host: str, port: int) -> None:
    assert parse_private_host(text) == (host, port)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":8000",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:\uff18\uff10",
        "http://127.0.0.1:8000",
        "127.0.0.1:8000/path",
        "127.0.0.0/8",
        "*",
        "127.1",
        "[::1]8000",
        "a:b@127.0.0.1",
    ],
)
def test_what_is_no_host_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"HOST or HOST:PORT, such as 127\.0\.0\.1:8000"):
        parse_private_host(text)


def test_the_address_of_a_clouds_credentials_is_never_opened() -> None:
    with pytest.raises(ValueError, match="never opened"):
        parse_private_host("169.254.169.254:80")


def test_a_port_is_opened_alone_and_a_host_with_all_of_them() -> None:
    opened = {("127.0.0.1", 8000), ("::1", EVERY_PORT)}
    assert is_opened(opened, "127.0.0.1", 8000)
    assert not is_opened(opened, "127.0.0.1", 8001)
    assert is_opened(opened, "::1", 9)


def test_the_setting_is_checked_and_the_command_line_wins(tmp_path: Path) -> None:
    environment = {"HANDRAIL_CONFIG_DIR": str(tmp_path)}
    (tmp_path / "config.toml").write_text('[browser]\nallow_private = ["127.0.0.1:8000"]\n')
    loaded = load_configuration(environment=environment)
    assert loaded.settings.browser.allow_private == ["127.0.0.1:8000"]
    given = Override(key=ALLOW_PRIVATE.key, value=["[::1]"], option=ALLOW_PRIVATE.flag)
    assert load_configuration([given], environment).settings.browser.allow_private == ["[::1]"]


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ('["http://127.0.0.1"]', ["browser.allow_private.0", "http://127.0.0.1", "HOST:PORT"]),
        ('["127.0.0.1", "::1:x"]', ["browser.allow_private.1", "HOST:PORT"]),
        ('"127.0.0.1"', ["browser.allow_private ", "a list, each a text"]),
        ("[1]", ["browser.allow_private.0", "a text"]),
    ],
)
def test_a_mistake_in_the_setting_names_its_line_and_what_to_write(
    tmp_path: Path, value: str, parts: list[str]
) -> None:
    (tmp_path / "config.toml").write_text(f"[browser]\nallow_private = {value}\n")
    with pytest.raises(ConfigError) as caught:
        load_configuration(environment={"HANDRAIL_CONFIG_DIR": str(tmp_path)})
    line = caught.value.line()
    assert all(part in line for part in ["config.toml line 2", *parts]), line


def test_the_option_that_messages_name_is_the_one_that_exists() -> None:
    assert ALLOW_PRIVATE.flag == OPTION
    assert allowed_text(("browser", "allow_private")) == "a list, each a text"
