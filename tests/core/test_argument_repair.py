import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat.argument_repair import MAX_ARGUMENT_BYTES, plain_object, read_arguments

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(blacklist_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=8), JSON, max_size=4
)


@given(OBJECTS)
def test_strict_json_is_taken_as_it_is(value: dict[str, object]) -> None:
    read = read_arguments(json.dumps(value, ensure_ascii=False))
    assert read.objects == (value,)
    assert not read.repaired


@pytest.mark.parametrize("text", ["", "  \n", "null", "{}"])
def test_nothing_means_no_arguments(text: str) -> None:
    read = read_arguments(text)
    assert (read.objects, read.repaired) == (({},), False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"a": 1,}', {"a": 1}, id="trailing comma"),
        pytest.param('{"a": [1, 2, ], }', {"a": [1, 2]}, id="trailing commas inside"),
        pytest.param('{"a": "x\n\ty"}', {"a": "x\n\ty"}, id="raw line break and tab"),
        pytest.param('"{\\"a\\": 1}"', {"a": 1}, id="encoded twice"),
        pytest.param(json.dumps(json.dumps('{"a": 1}')), {"a": 1}, id="encoded three times"),
        pytest.param('```json\n{"a": 1}\n```', {"a": 1}, id="fence with a word"),
        pytest.param('```\n{"a": 1}\n```', {"a": 1}, id="fence without"),
        pytest.param('json\n{"a": 1}', {"a": 1}, id="the word json"),
        pytest.param(
            '{"a": "C:\\Users\\d"}',
            {"a": "C:\\Users\\d"},
            id="illegal escapes keep their backslash",
        ),
        pytest.param('{"a": "it\\\'s"}', {"a": "it's"}, id="escaped apostrophe"),
        pytest.param(
            '{"a": "\\\\d\\q"}', {"a": "\\d\\q"}, id="a legal escape beside an illegal one"
        ),
        pytest.param('{"a": \\n[1]\\n}', {"a": [1]}, id="escapes between tokens"),
        pytest.param(
            '{"a": "\\\\n"}\\n', {"a": "\\n"}, id="an escape inside stays, one outside goes"
        ),
        pytest.param('{"a": 1}}</tool_call>', {"a": 1}, id="stray closing marks"),
        pytest.param('{"a": 1}<|im_end|>', {"a": 1}, id="stray token"),
        pytest.param('{}{"a": 1}', {"a": 1}, id="placeholder before it"),
        pytest.param('{"a": 1}{"a": 1}', {"a": 1}, id="the same twice"),
        pytest.param(
            "{'a': True, 'b': None, 'c': -1, 'd': (1,)}",
            {"a": True, "b": None, "c": -1, "d": [1]},
            id="Python",
        ),
        pytest.param(
            "{'a': \"it's\", 'b': \"\\d\"}", {"a": "it's", "b": "\\d"}, id="Python with both quotes"
        ),
        pytest.param('{"a": "\\ud800x"}', {"a": "\ufffdx"}, id="half a surrogate pair"),
    ],
)
def test_what_can_be_mended_without_guessing_is_mended(
    text: str, expected: dict[str, object]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = read_arguments(text)
    assert read.objects == (expected,)
    assert read.repaired


def test_glued_objects_become_several_calls() -> None:
    assert read_arguments('{"a": 1}\n{"a": 2}, {"a": 1}').objects == ({"a": 1}, {"a": 2})


@pytest.mark.parametrize(
    "text",
    [
        '{"a"',
        '{"a": ',
        '{"a": "half of',
        '{"a": "x\\',
        '{"a": "x\\u12',
        '{"a": tru',
        '{"a": -',
        '{"a": 1.',
        '{"a": 1,',
        '{"a": [1, {"b": 2}',
        '{"a": "x\ny',
        "{'a': 'b",
        "{'a': [1",
        '{"a": 1}{"b": "c',
        '"{\\"a\\": \\"b',
    ],
)
def test_arguments_that_are_cut_off_are_called_so_and_never_closed(text: str) -> None:
    read = read_arguments(text)
    assert read.objects == ()
    assert read.truncated


@pytest.mark.parametrize(
    "text",
    [
        '{"action": listt_windows"}',
        '["a"]',
        '"plain words"',
        "5",
        "true",
        '{"a": 1} and then some',
        "{a: 1}",
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": 1]',
        "{1: 2}",
        "{'a': __import__('os')}",
        "{'a': 1 + 1}",
        "{'a': b'x'}",
        "undefined",
    ],
)
def test_what_would_be_a_guess_is_refused_and_not_called_cut_off(text: str) -> None:
    read = read_arguments(text)
    assert (read.objects, read.truncated) == ((), False)
    assert read.problem


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"b": [{"a": 1, "a": 1}]}',
        '{"a": 1, "a": 2,}',
        "{'a': 1, 'a': 2}",
        '"{\\"a\\": 1, \\"a\\": 2}"',
        '{"b": 1}{"a": 1, "a": 2}',
    ],
)
def test_a_key_that_stands_twice_is_refused_in_every_form(text: str) -> None:
    assert read_arguments(text).objects == ()


def test_arguments_over_one_mebibyte_are_refused_unread() -> None:
    fits = json.dumps({"a": "x" * (MAX_ARGUMENT_BYTES - 10)})
    assert read_arguments(fits).objects
    assert "1 MiB" in read_arguments(json.dumps({"a": "x" * MAX_ARGUMENT_BYTES})).problem
    assert (
        "1 MiB" in read_arguments('{"a": "' + "\u5317" * (MAX_ARGUMENT_BYTES // 2) + '"}').problem
    )


@pytest.mark.parametrize("depth", [65, 5000])
def test_deep_nesting_is_refused_without_a_crash(depth: int) -> None:
    assert (
        "deeper" in read_arguments('{"a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}").problem
    )
    assert "deeper" in read_arguments('{"a": ' * depth).problem


def test_nesting_of_64_and_brackets_inside_strings_are_fine() -> None:
    assert read_arguments('{"a": ' + "[" * 63 + "]" * 63 + "}").objects
    assert read_arguments(json.dumps({"a": "[" * 500})).objects


def test_a_number_of_absurd_length_is_refused_without_a_crash() -> None:
    assert read_arguments('{"a": ' + "9" * 5000 + "}").objects == ()


def test_html_in_a_value_stays_as_it_is() -> None:
    assert read_arguments('{"a": "x &lt; y &amp;&amp; z"}').objects == (
        {"a": "x &lt; y &amp;&amp; z"},
    )


@given(st.text(max_size=60))
def test_no_text_at_all_crashes_the_reader(text: str) -> None:
    read = read_arguments(text)
    assert bool(read.objects) != bool(read.problem)


def test_only_an_object_is_a_plain_object() -> None:
    assert plain_object('{"a": 1}') == {"a": 1}
    for text in ("[]", "1", "", "{", '{"a": 1}x', '{"a": 1, "a": 2}'):
        assert plain_object(text) is None
