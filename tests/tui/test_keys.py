"""The tables of keys: complete, without clashes, and what the help is made from."""

from collections import Counter

import pytest

from tui.keys import all_keys, key_label, key_labels, key_tables
from tui.screens.help import help_rows
from tui.widgets.key_line import key_content, shown_keys


def test_every_key_has_an_id_of_its_own_and_says_what_it_does() -> None:
    ids = Counter(binding.id for binding in all_keys())
    assert None not in ids
    assert [key for key, count in ids.items() if count > 1] == []
    assert [
        binding.id for binding in all_keys() if not (binding.tooltip and binding.description)
    ] == []


def test_no_table_binds_a_key_twice() -> None:
    for table in key_tables():
        keys = Counter(key for binding in table.keys for key in binding.key.split(","))
        assert [key for key, count in keys.items() if count > 1] == [], table.title


def test_the_keys_of_the_product_are_where_they_are_promised() -> None:
    bound = {key: binding.id for binding in all_keys() for key in binding.key.split(",")}
    assert {
        "f1": "help.close",
        "f2": "pane.steps",
        "f3": "pane.memory",
        "f4": "pane.browser",
        "f5": "pane.sandbox",
        "f8": "run.pause",
        "f9": "run.step",
        "ctrl+p": "app.palette",
        "ctrl+t": "app.theme",
        "ctrl+g": "run.decide",
        "ctrl+q": "app.quit",
    }.items() <= bound.items()
    by_id = {binding.id: binding.key for binding in all_keys()}
    assert (by_id["app.help"], by_id["run.mode"], by_id["run.interrupt"]) == (
        "f1",
        "shift+tab",
        "escape",
    )


@pytest.mark.parametrize(
    ("keys", "label"),
    [
        ("ctrl+p", "Ctrl+P"),
        ("shift+tab", "Shift+Tab"),
        ("escape,q", "Esc"),
        ("G", "G"),
        ("f1", "F1"),
        ("slash", "/"),
    ],
)
def test_keys_are_written_as_people_write_them(keys: str, label: str) -> None:
    assert key_label(keys) == label


def test_all_keys_of_a_binding_are_named_in_the_help() -> None:
    assert key_labels("ctrl+j,alt+enter") == "Ctrl+J Alt+Enter"


def test_the_help_names_every_key_and_those_the_person_chose() -> None:
    text = "\n".join(row.plain for row in help_rows({"run.pause": "ctrl+y"}))
    assert all(str(binding.id) in text for binding in all_keys())
    assert "Ctrl+Y" in text
    assert "F8" not in text


def test_the_key_line_shows_whole_keys_as_far_as_they_fit() -> None:
    keys = shown_keys(next(iter(key_tables())).keys)
    assert key_content(keys, 200).plain.startswith("F1 Help  Ctrl+P Palette")
    assert key_content(keys, 12).plain == "F1 Help"
    assert key_content(keys, 3).plain == ""


def test_the_key_that_lists_all_others_stays_on_a_narrow_screen() -> None:
    keys = [("Enter", "Send"), ("F2", "Steps"), ("F1", "Help"), ("F8", "Pause")]
    assert key_content(keys, 60).plain == "Enter Send  F2 Steps  F1 Help  F8 Pause"
    assert key_content(keys, 30).plain == "Enter Send  F2 Steps  F1 Help"
    assert key_content(keys, 20).plain == "Enter Send  F1 Help"
