"""`handrail config`: where the settings are, what they are, and changing one."""

import os
import shlex
import subprocess
import sys
from argparse import Namespace
from contextlib import suppress
from dataclasses import asdict

from core.config_layers import CONFIG_NAME, config_dir
from core.config_load import Configuration, load_configuration
from core.errors import ConfigError
from tui.arguments import OneLineParser, common_overrides
from tui.console import print_object, report, tell
from tui.exits import ANSWERED, USAGE
from tui.model_choice import price_line, price_of

HELP = "show and change settings"


def add_arguments(parser: OneLineParser) -> None:
    """Add the actions."""
    parser.add_argument(
        "action", choices=("path", "show", "set", "edit", "profiles"), help="what to do"
    )
    parser.add_argument(
        "key", nargs="?", metavar="KEY", help="setting for set, such as limits.max_steps"
    )
    parser.add_argument("value", nargs="?", metavar="VALUE", help="value for set")
    parser.add_argument("--json", action="store_true", help="show, profiles: one JSON object")


def run(options: Namespace) -> int:
    """Do one action."""
    path = config_dir() / CONFIG_NAME
    if options.action == "path":
        tell(str(path))
    elif options.action == "show":
        _show(load_configuration(common_overrides(options)), as_json=options.json)
    elif options.action == "set":
        _set(options)
    elif options.action == "profiles":
        _list_profiles(as_json=options.json)
    else:
        return _edit()
    return ANSWERED


def _show(configuration: Configuration, *, as_json: bool) -> None:
    from core.config_reference import settings_reference

    values = configuration.settings.model_dump()
    rows = {}
    for setting in settings_reference():
        value: object = values
        for part in setting.key.split("."):
            value = value[part] if isinstance(value, dict) else value
        rows[setting.key] = (value, configuration.origin(setting.key), setting)
    model = configuration.settings.model.name
    price = None
    with suppress(ConfigError):  # a provider there is not; its row says so
        price = price_of(configuration) if model else None
    if as_json:
        shown: dict[str, object] = {
            key: {"value": value, "origin": origin} for key, (value, origin, _) in rows.items()
        }
        print_object({**shown, "price": asdict(price) if price else None})
        return
    for key, (value, origin, setting) in rows.items():
        tell(f"{key} = {_shown(value)}    ({origin})")
        tell(f"    {setting.about} Allowed: {setting.allowed}.")
    if model:
        tell(f"price of {model}: {price_line(model, price)}")


def _list_profiles(*, as_json: bool) -> None:
    """List the profiles by name; one that cannot be used is listed with why."""
    from core.profile import load_profile, profile_names

    rows: dict[str, dict[str, str]] = {}
    for name in profile_names(config_dir()):
        try:
            profile = load_profile(name, config_dir())
        except ConfigError as error:
            rows[name] = {"title": f"cannot be used: {error.line()}", "from": "your own"}
            continue
        origin = str(profile.path) if profile.is_own else "built in"
        rows[name] = {"title": profile.file.title, "from": origin}
    if as_json:
        print_object(rows)
        return
    for name, row in rows.items():
        tell(f"{name:12}  {row['title']}    ({row['from']})")


def _shown(value: object) -> str:
    return "not set" if value is None else f"{value!r}"


def _set(options: Namespace) -> None:
    if options.key is None or options.value is None:
        raise ConfigError("config set needs a KEY and a VALUE.", code="usage")
    from core.config_edit import set_value

    path = config_dir() / CONFIG_NAME
    value = set_value(path, options.key, options.value)
    tell(f"{options.key} = {_shown(value)}    ({path})")


def _edit() -> int:
    from core.config_edit import make_file

    path = config_dir() / CONFIG_NAME
    make_file(path)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    if not sys.stdin.isatty():
        raise ConfigError(f"An editor needs a terminal. The file is {path}.")
    try:
        subprocess.run([*shlex.split(editor), str(path)], check=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"The editor {editor!r} does not start.", hint="Set EDITOR.") from error
    try:
        load_configuration()
    except ConfigError as problem:
        report(problem)
        return USAGE
    return ANSWERED
