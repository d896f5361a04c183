"""Themes as data: complete, and readable."""

from pathlib import Path

import pytest

from core.errors import ConfigError
from themes.loader import (
    COLOR_ROLES,
    TEXT_ROLES,
    ThemeSpec,
    contrast_ratio,
    find_theme,
    load_theme,
    theme_files,
)

THEMES = tuple(theme_files())
BACKGROUNDS = ("background", "surface", "panel")
PAIRS = (
    ("block-cursor-foreground", "block-cursor-background"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
    ("input-cursor-foreground", "input-cursor-background"),
    ("input-selection-foreground", "input-selection-background"),
    ("screen-selection-foreground", "screen-selection-background"),
)


def color(spec: ThemeSpec, role: str) -> str:
    return spec.colors[role] if role in spec.colors else spec.variables[role]


def test_there_are_a_dark_a_light_and_a_high_contrast_theme() -> None:
    assert set(THEMES) >= {"handrail-dark", "handrail-light", "handrail-high-contrast"}


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("text", [*TEXT_ROLES, "footer-key-foreground"])
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_every_text_is_readable_on_every_background(name: str, text: str, background: str) -> None:
    spec = find_theme(name)
    needed = 7.0 if name == "handrail-high-contrast" else 4.5
    assert contrast_ratio(color(spec, text), color(spec, background)) >= needed


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize(("text", "background"), PAIRS)
def test_cursors_and_selections_are_readable(name: str, text: str, background: str) -> None:
    spec = find_theme(name)
    assert contrast_ratio(color(spec, text), color(spec, background)) >= 4.5


@pytest.mark.parametrize("name", THEMES)
def test_the_banner_of_a_decision_is_readable(name: str) -> None:
    spec = find_theme(name)
    assert contrast_ratio(color(spec, "background"), color(spec, "warning")) >= 4.5


@pytest.mark.parametrize("name", ["dark", "handrail-dark", "high_contrast", "high-contrast"])
def test_a_theme_is_found_with_or_without_the_first_part_of_its_name(name: str) -> None:
    assert find_theme(name).name.startswith("handrail-")


def test_an_unknown_theme_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError) as refused:
        find_theme("solarized")
    assert refused.value.code == "theme_unknown"
    assert "handrail-light" in refused.value.hint


@pytest.mark.parametrize("missing", ["primary", "text-error"])
def test_a_theme_without_a_colour_names_it(missing: str, tmp_path: Path) -> None:
    lines = [
        "[colors]",
        *(f'{role} = "#101010"' for role in COLOR_ROLES if role != missing),
        "[text]",
        *(f'{role} = "#f0f0f0"' for role in TEXT_ROLES if role != missing),
    ]
    path = tmp_path / "own.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ConfigError, match=missing) as refused:
        load_theme(path)
    assert refused.value.code == "theme_broken"


def test_a_theme_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text("[colors\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"own\.toml"):
        load_theme(path)


def test_contrast_is_what_the_standard_says() -> None:
    assert contrast_ratio("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast_ratio("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
