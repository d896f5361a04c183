"""Turns a snapshot into the text a model reads: a numbered list in pages, or only what changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.browser.tab import PageElement, Snapshot

EXCERPT_OF = 2500
"""The excerpt of a new page's text comes from its first characters."""
EXCERPT_BYTES = 800
PAGE_ELEMENTS = 60
PAGE_BYTES = 6000
"""One page of the list holds at most this many elements and bytes."""
DELTA_SHARE = 0.6
"""A delta longer than this share of the full list is not worth it."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is different between two lists."""

    removed: tuple[int, ...]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    text: str = ""
    """New lines of the page's text."""

    def __bool__(self) -> bool:
        """Tell whether anything changed."""
        return bool(self.removed or self.changed or self.added or self.text)

    def summary(self) -> str:
        """Return the change in a few words."""
        counts = (
            (len(self.added), "added"),
            (len(self.changed), "changed"),
            (len(self.removed), "removed"),
        )
        parts = [f"{count} {word}" for count, word in counts if count]
        if self.text:
            parts.append("new text")
        return ", ".join(parts) if parts else "nothing changed"


def line(element: PageElement) -> str:
    """Return one element as `[12]<button>Continue</button> {flags}`."""
    notes = list(element.flags)
    if element.value and not element.options:
        notes.insert(0, f"value={json.dumps(element.value, ensure_ascii=False)}")
    if element.options:
        notes.insert(0, "options=" + "/".join(element.options))
    end = element.tag.split(":")[0]
    tail = " {" + ", ".join(notes) + "}" if notes else ""
    return f"[{element.ref}]<{element.tag}>{element.name}</{end}>{tail}"


def lines_by_ref(snapshot: Snapshot) -> dict[int, str]:
    """Return every line of a snapshot by its number."""
    return {element.ref: line(element) for element in snapshot.elements}


def heading(snapshot: Snapshot) -> str:
    """Return address, title and place on the page."""
    scrolled, viewport, height = snapshot.scroll
    place = f"scrolled {scrolled} of {max(0, height - viewport)} px"
    return f"url: {snapshot.url}\ntitle: {snapshot.title}\n{place}"


def full_list(snapshot: Snapshot, offset: int = 0) -> str:
    """Return a page of the list.

    Args:
        snapshot: What was seen.
        offset: First element to show, from 0.

    Returns:
        At most 60 elements and about 6 KB, with how to get the rest.
    """
    excerpt = "" if offset else _excerpt(snapshot)
    shown = _page(snapshot.elements[offset:], PAGE_BYTES - len(excerpt.encode("utf-8")))
    end = offset + len(shown)
    count = f"elements {offset + 1 if shown else offset}-{end} of {len(snapshot.elements)}"
    if snapshot.total > len(snapshot.elements):
        count += f" near the viewport, {snapshot.total} on the page"
    if not snapshot.elements:
        count = "no element here takes input"
    parts = [heading(snapshot), *([f"text: {excerpt}"] if excerpt else []), count, *shown]
    if snapshot.truncated:
        parts.append("note: part of the page did not answer in time and is not listed")
    if end < len(snapshot.elements):
        parts.append(f"more: read offset={end}")
    elif snapshot.total > len(snapshot.elements):
        parts.append("more: scroll")
    return "\n".join(parts)


def _excerpt(snapshot: Snapshot) -> str:
    """Return the beginning of the page's text without what the list says anyway."""
    named = {element.name for element in snapshot.elements}
    rows = (" ".join(row.split()) for row in snapshot.text[:EXCERPT_OF].splitlines())
    rest = len(snapshot.text) > EXCERPT_OF
    return _within([row for row in rows if row and row not in named], EXCERPT_BYTES, cut=rest)


def _within(rows: Sequence[str], size_bytes: int, *, cut: bool = False) -> str:
    joined = " / ".join(rows)
    clipped = joined.encode("utf-8")[:size_bytes].decode("utf-8", "ignore")
    return f"{clipped} … (read_text for all)" if cut or len(clipped) < len(joined) else clipped


def new_text(before: str, after: str) -> str:
    """Return the lines of a page's text that were not there before, at most 800 bytes."""
    known = {" ".join(row.split()) for row in before.splitlines()}
    rows = (" ".join(row.split()) for row in after.splitlines())
    return _within([row for row in rows if row and row not in known], EXCERPT_BYTES)


def _page(elements: Sequence[PageElement], size_bytes: int) -> list[str]:
    shown: list[str] = []
    size = 0
    for element in elements[:PAGE_ELEMENTS]:
        text = line(element)
        size += len(text.encode("utf-8", "replace")) + 1
        if shown and size > size_bytes:
            break
        shown.append(text)
    return shown


def change_between(
    before: Mapping[int, str], after: Mapping[int, str], *, text: str = ""
) -> Change:
    """Compare two lists by number and line; `text` is what is new to read."""
    return Change(
        text=text,
        removed=tuple(ref for ref in before if ref not in after),
        changed=tuple(text for ref, text in after.items() if ref in before and before[ref] != text),
        added=tuple(text for ref, text in after.items() if ref not in before),
    )


def delta_or_list(snapshot: Snapshot, change: Change | None) -> str:
    """Return what changed, or the first page of the list where that is as short.

    Args:
        snapshot: What is seen now.
        change: What is different for the model; None for a page it has not seen.
    """
    full = full_list(snapshot)
    if change is None:
        return full
    parts = [heading(snapshot), f"{len(snapshot.elements)} elements, {change.summary()}"]
    if change.text:
        parts.append(f"new text: {change.text}")
    if change.removed:
        parts.append("removed: " + " ".join(f"[{ref}]" for ref in change.removed))
    if change.changed:
        parts += ["changed:", *change.changed]
    if change.added:
        parts += ["added:", *change.added]
    delta = "\n".join(parts)
    if not change or len(delta) < DELTA_SHARE * len(full):
        return delta
    return full
