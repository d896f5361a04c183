"""What a model may write, and what it is told when it is wrong."""

import pytest
from pydantic import ValidationError

from tools.browser.arguments import ACTION_ALIASES, ACTIONS, SCREENFUL, BrowserArguments


def read(**given: object) -> dict[str, object]:
    return BrowserArguments.model_validate(given).model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"action": "go_to_url", "url": "a.example"}, {"action": "go_to", "url": "a.example"}),
        ({"action": "click_element", "index": 4}, {"action": "click", "ref": 4}),
        ({"action": "click", "ref": "4"}, {"action": "click", "ref": 4}),
        (
            {"action": "input_text", "index": 4, "text": "x"},
            {"action": "type", "ref": 4, "text": "x"},
        ),
        ({"action": "send_keys", "keys": "Enter"}, {"action": "press_key", "text": "Enter"}),
        ({"action": "scroll_down", "scroll_amount": 300}, {"action": "scroll", "dy": 300}),
        ({"action": "scroll_up", "scroll_amount": 300}, {"action": "scroll", "dy": -300}),
        ({"action": "scroll_up"}, {"action": "scroll", "dy": -SCREENFUL}),
        ({"action": "scroll_to_text", "text": "x"}, {"action": "scroll", "text": "x"}),
        ({"action": "go_back"}, {"action": "back"}),
        ({"action": "wait", "seconds": 2}, {"action": "wait", "wait_s": 2.0}),
        ({"action": "switch_tab", "tab_id": 2}, {"action": "switch_tab", "tab": 2}),
        ({"action": "open_tab", "url": "a.example"}, {"action": "new_tab", "url": "a.example"}),
        ({"action": "extract_content", "goal": "x"}, {"action": "read_text", "text": "x"}),
        ({"action": "get_dropdown_options", "index": 3}, {"action": "read", "ref": 3}),
        ({"action": "read", "url": None, "ref": None}, {"action": "read"}),
    ],
)
def test_the_usual_names_are_understood(given: dict[str, object], meant: dict[str, object]) -> None:
    assert read(**given) == meant


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"action": "go_to"}, 'go_to needs url, as in {"action": "go_to"'),
        ({"action": "click"}, "click needs ref"),
        ({"action": "type", "ref": 1}, "type needs text"),
        ({"action": "handle_dialog"}, "handle_dialog needs accept"),
        ({"action": "evaluate"}, "Input should be 'go_to', 'click'"),
        ({}, "Input should be 'go_to'"),
        ({"action": "click", "ref": 1, "twice": True}, "Extra inputs are not permitted"),
        ({"action": "wait", "wait_s": 3600}, "less than or equal to 60"),
        ({"action": "scroll", "dy": 10**9}, "less than or equal to"),
        ({"action": "scroll_down", "dy": "far"}, "valid integer"),
    ],
)
def test_what_is_wrong_is_told_with_what_is_right(given: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        BrowserArguments.model_validate(given)
    assert told in str(caught.value)


def test_aliases_lead_to_actions_and_hide_none() -> None:
    assert set(ACTION_ALIASES.values()) <= set(ACTIONS)
    assert not set(ACTION_ALIASES) & set(ACTIONS)


def test_the_schema_is_flat_and_small() -> None:
    schema = BrowserArguments.model_json_schema()
    assert "$defs" not in schema
    assert schema["required"] == ["action"]
    assert schema["properties"]["action"]["enum"] == list(ACTIONS)
