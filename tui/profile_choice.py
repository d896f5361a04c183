"""Profiles in the command palette: the one chosen is used from the next session on."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from core.config_layers import CONFIG_NAME, config_dir
from core.errors import ConfigError
from core.profile import load_profile, profile_names
from tui.safe_text import safe_text

if TYPE_CHECKING:
    from tui.app import HandrailApp


def profile_commands(app: "HandrailApp") -> Iterable[SystemCommand]:
    """Return an entry for each profile that can be used."""
    for name in profile_names(config_dir()):
        try:
            title = load_profile(name, config_dir()).file.title
        except ConfigError:
            continue
        text = safe_text(f"Profile {name}, from the next session on", single_line=True)
        yield SystemCommand(text, safe_text(title, single_line=True), partial(choose, app, name))


def choose(app: "HandrailApp", name: str) -> None:
    """Write the profile into the settings."""
    from core.config_edit import set_value  # off the start path

    try:
        set_value(config_dir() / CONFIG_NAME, "profile", name)
    except ConfigError as error:
        app.report(error)
        return
    app.notify(
        f"Profile {safe_text(name, single_line=True)} from the next session on.", markup=False
    )
