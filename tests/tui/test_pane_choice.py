"""Which panes are visible at which size."""

import pytest

from tui.screens.pane_choice import Layout, PaneChoice, layout_of


@pytest.mark.parametrize(
    ("size", "layout"),
    [
        ((59, 40), "tiny"),
        ((80, 15), "tiny"),
        ((60, 16), "one"),
        ((80, 24), "one"),
        ((99, 30), "one"),
        ((100, 30), "two"),
        ((179, 50), "two"),
        ((180, 50), "three"),
    ],
)
def test_the_size_decides_how_many_panes_there_are(size: tuple[int, int], layout: Layout) -> None:
    assert layout_of(*size) == layout


def test_with_room_for_one_a_pane_takes_the_place_of_the_conversation() -> None:
    choice = PaneChoice("one")
    assert choice.visible == {"conversation"}
    choice.choose("memory")
    assert choice.visible == {"memory"}
    choice.choose("conversation")
    assert choice.visible == {"conversation"}


def test_with_room_for_two_the_conversation_stays() -> None:
    choice = PaneChoice("two")
    assert choice.visible == {"conversation", "steps"}
    choice.choose("browser")
    assert choice.visible == {"conversation", "browser"}


def test_with_room_for_three_steps_stay_beside_the_chosen_pane() -> None:
    choice = PaneChoice("three")
    choice.choose("sandbox")
    assert choice.visible == {"conversation", "steps", "sandbox"}
    choice.choose("steps")
    assert choice.visible == {"conversation", "steps", "sandbox"}


def test_on_a_screen_that_is_too_small_nothing_is_shown() -> None:
    assert PaneChoice("tiny").visible == frozenset()


def test_a_choice_survives_another_size() -> None:
    choice = PaneChoice("one")
    choice.choose("browser")
    choice.layout = "two"
    assert choice.visible == {"conversation", "browser"}
