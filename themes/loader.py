"""Reads theme files into plain values; the screen turns them into its own kind of theme.

A theme file has a `name`, `is_dark`, the table `[colors]` (the roles of `COLOR_ROLES`) and the table `[text]`: the text
colours, given one by one, because a colour that is computed from another one cannot be promised to be readable.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.errors import ConfigError

THEME_DIR: Final = Path(__file__).parent
"""Folder of the themes that come with the program."""
DEFAULT_THEME: Final = "handrail-dark"
COLOR_ROLES: Final = (
    "primary",
    "secondary",
    "accent",
    "success",
    "warning",
    "error",
    "foreground",
    "background",
    "surface",
    "panel",
)
"""Every theme gives each of these in `[colors]`."""
TEXT_ROLES: Final = (
    "text",
    "text-muted",
    "text-primary",
    "text-secondary",
    "text-accent",
    "text-success",
    "text-warning",
    "text-error",
)
"""Every theme gives each of these in `[text]`; they are readable on background, surface and panel."""
_HEX: Final = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeSpec:
    """A theme as plain values."""

    name: str
    title: str
    """For people."""
    is_dark: bool
    colors: Mapping[str, str]
    """#rrggbb by role of `COLOR_ROLES`."""
    variables: Mapping[str, str]
    """More named colours: those of `TEXT_ROLES` and cursors, borders, selections."""


def theme_files() -> dict[str, Path]:
    """Return the files of the themes that come with the program, by name of the theme."""
    return {
        f"handrail-{path.stem.replace('_', '-')}": path for path in sorted(THEME_DIR.glob("*.toml"))
    }


def find_theme(name: str) -> ThemeSpec:
    """Load a theme by its name, with or without "handrail-".

    Raises:
        ConfigError: There is no such theme, or its file is broken; the message lists what there is.
    """
    files = theme_files()
    wanted = name.replace("_", "-")
    path = files.get(wanted) or files.get(f"handrail-{wanted}")
    if path is None:
        raise ConfigError(
            f"There is no theme {name!r}.",
            hint=f"Themes: {', '.join(files)}.",
            code="theme_unknown",
        )
    return load_theme(path)


def load_theme(path: Path) -> ThemeSpec:
    """Read one theme file.

    Raises:
        ConfigError: It cannot be read, or a colour is missing or no #rrggbb; the message names the key.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The theme {path.name} cannot be read: {error}", code="theme_broken"
        ) from error
    colors, text, more = (_table(data, key) for key in ("colors", "text", "variables"))
    for table, roles in ((colors, COLOR_ROLES), (text, TEXT_ROLES)):
        for role in roles:
            _check_color(path, role, table.get(role))
    return ThemeSpec(
        name=f"handrail-{path.stem.replace('_', '-')}",
        title=str(data.get("title", path.stem)),
        is_dark=bool(data.get("is_dark", True)),
        colors={role: colors[role] for role in COLOR_ROLES},
        variables=text | more,
    )


def _table(data: Mapping[str, object], key: str) -> dict[str, str]:
    table = data.get(key, {})
    return (
        {str(name): str(value) for name, value in table.items()} if isinstance(table, dict) else {}
    )


def _check_color(path: Path, role: str, value: str | None) -> None:
    if value is None or not _HEX.fullmatch(value):
        raise ConfigError(
            f"The theme {path.name} gives no colour for {role!r}.",
            hint="Write it as #rrggbb.",
            code="theme_broken",
        )


def contrast_ratio(first: str, second: str) -> float:
    """Return the contrast of two #rrggbb colours, from 1 to 21.

    Source: WCAG 2.2, relative luminance and contrast ratio.
    """
    brighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    channels = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
