"""On which line of a TOML text a key stands, for messages; the standard reader does not say."""

import re
from collections import Counter

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_KEY = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"^\s*\[\[?\s*({_KEY})\s*\]\]?")
_ASSIGNMENT = re.compile(rf"^\s*({_KEY})\s*=(.*)$")
_LONG_QUOTES = ('"""', "'''")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Return the line, from 1, of each table header and key; the first one where a key stands twice.

    What stands in a list of tables is also listed by number, from "0": `("model", "fallback", "1", "name")`. Keys
    inside inline tables are not listed: they stand on the line of their table.
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    numbered: tuple[str, ...] = ()
    counts: Counter[tuple[str, ...]] = Counter()
    closing = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if closing:
            closing = "" if closing in line else closing
            continue
        if header := _HEADER.match(line):
            table = numbered = _parts(header[1])
            lines.setdefault(table, number)
            if line.lstrip().startswith("[["):
                numbered = (*table, str(counts[table]))
                counts[table] += 1
                lines[numbered] = number
        elif assignment := _ASSIGNMENT.match(line):
            for place in (table, numbered):
                lines.setdefault((*place, *_parts(assignment[1])), number)
            closing = _opened_quotes(assignment[2])
    return lines


def line_of(lines: dict[tuple[str, ...], int], key: tuple[str, ...]) -> int:
    """Return the line of `key`, or of the nearest table or key around it, 0 where nothing is known."""
    while key:
        if key in lines:
            return lines[key]
        key = key[:-1]
    return 0


def error_line(error: ValueError) -> int:
    """Return the line a syntax error names, 0 where it names none (the end of the text)."""
    found = re.search(r"at line (\d+)", str(error))
    return int(found[1]) if found else 0


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, key))


def _opened_quotes(value: str) -> str:
    for quotes in _LONG_QUOTES:
        if value.lstrip().startswith(quotes) and value.count(quotes) == 1:
            return quotes
    return ""
