"""The text a model reads of a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.browser.clean import clean, clean_line
from tools.browser.listing import (
    PAGE_BYTES,
    PAGE_ELEMENTS,
    change_between,
    delta_or_list,
    full_list,
    line,
    lines_by_ref,
    new_text,
)
from tools.browser.tab import PageElement, Snapshot


def element(ref: int, name: str = "", **fields: object) -> PageElement:
    given: dict[str, object] = {
        "role": "button",
        "tag": "button",
        "fingerprint": "f",
        "box": (0, 0, 1, 1),
        **fields,
    }
    return PageElement(ref=ref, name=name or f"Name {ref}", **given)  # type: ignore[arg-type]


def snapshot(*elements: PageElement, total: int = 0, text: str = "") -> Snapshot:
    return Snapshot(
        name="t1.1",
        url="https://a.example/",
        title="Title",
        text=text,
        elements=elements,
        total=total or len(elements),
        truncated=False,
        scroll=(0, 800, 800),
        engine="fast",
        timing_ms={},
        secrets=False,
    )


def test_one_line_an_element() -> None:
    assert line(element(12, "Continue")) == "[12]<button>Continue</button>"
    field = element(3, "Mail", tag="input:email", value='a"b', flags=("required",))
    assert line(field) == '[3]<input:email>Mail</input> {value="a\\"b", required}'
    choice = element(4, "Size", tag="select", value="M", options=("S", "*M", "+40"))
    assert line(choice) == "[4]<select>Size</select> {options=S/*M/+40}"


def test_a_long_list_comes_in_pages() -> None:
    seen = snapshot(*(element(n) for n in range(1, 151)), total=400)
    first = full_list(seen)
    assert "elements 1-60 of 150 near the viewport, 400 on the page" in first
    assert first.endswith("more: read offset=60")
    last = full_list(seen, offset=120)
    assert "elements 121-150 of 150" in last
    assert last.endswith("more: scroll")
    assert "elements 500-500 of 150" in full_list(seen, offset=500)


@given(st.lists(st.text(max_size=80), max_size=150), st.text(max_size=3000))
def test_no_page_of_the_list_is_longer_than_the_bound(names: list[str], text: str) -> None:
    seen = snapshot(
        *(element(n, clean_line(name)) for n, name in enumerate(names, 1)), text=clean(text)
    )
    shown, offset = 0, 0
    while True:
        page = full_list(seen, offset)
        rows = [row for row in page.split("\n") if row.startswith("[")]
        assert len(page.encode()) < PAGE_BYTES + 1500
        assert len(rows) <= PAGE_ELEMENTS
        shown += len(rows)
        if f"more: read offset={shown}" not in page:
            break
        offset = shown
    assert shown == len(names)


def test_only_what_changed_is_told() -> None:
    before = lines_by_ref(snapshot(*(element(n) for n in range(1, 30))))
    after = snapshot(*(element(n, "New" if n == 5 else "") for n in range(2, 31)))
    change = change_between(before, lines_by_ref(after), text="Saved")
    told = delta_or_list(after, change)
    assert "1 added, 1 changed, 1 removed, new text" in told
    assert "new text: Saved" in told
    assert "removed: [1]" in told
    assert "changed:\n[5]<button>New</button>\nadded:\n[30]<button>Name 30</button>" in told


def test_nothing_changed_is_said_so() -> None:
    seen = snapshot(element(1))
    assert "nothing changed" in delta_or_list(
        seen, change_between(lines_by_ref(seen), lines_by_ref(seen))
    )


def test_a_change_of_nearly_everything_is_told_as_a_list() -> None:
    after = snapshot(*(element(n) for n in range(31, 60)))
    change = change_between(
        lines_by_ref(snapshot(*(element(n) for n in range(1, 30)))), lines_by_ref(after)
    )
    assert delta_or_list(after, change) == full_list(after)


def test_the_excerpt_leaves_out_what_the_list_says() -> None:
    seen = snapshot(element(1, "Home"), text="Home\nWelcome to  the shop\n\nOpen from 9 to 5")
    assert "text: Welcome to the shop / Open from 9 to 5\n" in full_list(seen)
    long = snapshot(element(1), text="\n".join(f"row {n}" for n in range(900)))
    assert "… (read_text for all)" in full_list(long)


def test_new_text_is_what_was_not_there_before() -> None:
    assert new_text("a\nb  c\n", "b c\na\nd\n") == "d"
    assert new_text("", "") == ""
    assert len(new_text("", "x" * 5000).encode()) < 900


@pytest.mark.parametrize(
    "unfit", ["\x1b[31m", "\x07", "\x9b", "\ud800", "\u202e", "\u2066", "\r", "\x7f"]
)
def test_what_steers_a_terminal_is_replaced(unfit: str) -> None:
    assert not set(unfit) & set(clean(f"a{unfit}b")) - set("[31m")
    clean(f"a{unfit}b").encode()


def test_lines_and_tabs_stay() -> None:
    assert clean("a\tb\nc") == "a\tb\nc"
    assert clean_line(" a\t b\n c ") == "a b c"
