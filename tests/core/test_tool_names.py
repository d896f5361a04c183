import re

from hypothesis import given
from hypothesis import strategies as st

from core.chat.tool_names import MAX_TOOLS, ToolNames
from tests.support.reply_reading import spec

LEGAL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")


@given(st.lists(st.text(min_size=1, max_size=90), min_size=1, max_size=12, unique=True))
def test_every_name_is_sent_in_a_legal_form_and_found_again(originals: list[str]) -> None:
    names = ToolNames([spec(name) for name in originals])
    sent = [name for name, _ in names.sent]
    assert all(LEGAL.fullmatch(name) for name in sent)
    assert len(set(sent)) == len(originals)
    for name, tool in names.sent:
        found = names.find(name)
        assert found is not None
        assert found.spec is tool
        assert names.originals[name] == tool.name


def test_a_legal_name_keeps_itself_whatever_stands_before_it() -> None:
    names = ToolNames([spec("gmail.search/all"), spec("gmail_search_all")])
    assert names.wire("gmail_search_all") == "gmail_search_all"
    assert names.wire("gmail.search/all") != "gmail_search_all"


def test_the_name_of_a_tool_does_not_depend_on_the_other_tools() -> None:
    alone = ToolNames([spec("a.b" * 40)])
    among = ToolNames([spec("x"), spec("a.b" * 40), spec("y")])
    assert alone.wire("a.b" * 40) == among.wire("a.b" * 40)


def test_tools_beyond_the_limit_are_left_out_and_counted() -> None:
    names = ToolNames([spec(f"tool_{number}") for number in range(MAX_TOOLS + 22)])
    assert (len(names.sent), names.left_out) == (MAX_TOOLS, 22)


def test_a_tool_given_twice_is_sent_once() -> None:
    assert [name for name, _ in ToolNames([spec("a"), spec("b"), spec("a")]).sent] == ["a", "b"]


def test_a_name_from_an_old_history_is_made_legal() -> None:
    assert LEGAL.fullmatch(ToolNames([]).wire("päth/tool"))
    assert LEGAL.fullmatch(ToolNames([]).wire(""))
