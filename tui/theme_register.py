"""Turns the themes of the program into Textual's."""

from typing import Protocol

from textual.theme import Theme

from themes.loader import find_theme, theme_files


class TakesThemes(Protocol):
    """An app."""

    def register_theme(self, theme: Theme, /) -> None:
        """Make a theme known."""
        ...


def register_theme(app: TakesThemes, name: str) -> str:
    """Make a theme known to the app.

    Args:
        app: Takes the theme.
        name: With or without "handrail-".

    Returns:
        The name the app knows it by.

    Raises:
        ConfigError: There is no such theme, or its file is broken.
    """
    spec = find_theme(name)
    app.register_theme(
        Theme(
            name=spec.name,
            dark=spec.is_dark,
            variables={**spec.variables},
            **spec.colors,  # type: ignore[arg-type]  # all roles of COLOR_ROLES are colours of Theme
        )
    )
    return spec.name


def next_theme(name: str) -> str:
    """Return the name of the theme after this one, round the end."""
    names = list(theme_files())
    at = names.index(name) if name in names else -1
    return names[(at + 1) % len(names)]
