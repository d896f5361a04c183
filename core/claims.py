"""Files that an answer names, looked for on the disk: an agent that says it made one may be wrong."""

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from core.changes import MAX_FILES, Look
from core.errors import WorkspaceError
from core.workspace import relative_path

MAX_NAMES: Final = 50
"""Names of one answer that are looked for."""
_FILES: Final = """
bash bib bmp cfg conf cpp cs css csv dat db doc docx gif htm html ini ipynb java jpeg jpg json jsonl
kt log lua md ods odt parquet pdf php png ppt pptx ps1 py rb rst scala sh sql sqlite svg swift tar
tex tgz toml tsv tsx txt wav webp xls xlsx xml yaml yml zip
"""
_ENDINGS: Final = frozenset(_FILES.split())
_ALSO_WORDS: Final = frozenset(("c", "go", "h", "js", "mjs", "rs", "ts"))
"""Endings that names of other things have too, as in Node.js: only marked as code, or with a folder."""
_UNREAD: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TOKEN: Final = re.compile(r"`?[\w./:@*<>{}$~\\%?=&#+-]+`?")
_NO_NAME: Final = frozenset(":@*<>{}$~\\%?=&#")
"""Signs of addresses, patterns and variables."""
_PLAIN_TAIL: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]*\Z")


def missing_files(answer: str, workspace: Path, before: Look, after: Look) -> tuple[str, ...]:
    """Return the files an answer names that are not there; blocks for a moment.

    Args:
        answer: Of the agent, Markdown.
        workspace: Absolute folder.
        before: What was there when the run began; what the run removed is not missing.
        after: What is there now.
    """
    folders_seen = {path.rpartition("/")[2] for path in after} if len(after) < MAX_FILES else None
    missing = []
    for name in files_named(answer):
        try:
            path = relative_path(name, workspace)
        except WorkspaceError:
            continue  # outside, or no path: nobody can tell
        if path in before or path in after or os.path.lexists(workspace / path):
            continue
        is_bare = "/" not in path
        if is_bare and (folders_seen is None or path in folders_seen):
            continue  # in some folder the answer does not name
        missing.append(path)
    return tuple(dict.fromkeys(missing))


def files_named(text: str) -> Iterator[str]:
    """Yield what looks like a file's name in a text; addresses and blocks of code are passed over."""
    names = (_name(found[0]) for found in _TOKEN.finditer(_UNREAD.sub(" ", text)))
    return itertools.islice(filter(None, names), MAX_NAMES)


def _name(token: str) -> str:
    """Return the file's name that a piece of text is, "" when it is none."""
    is_code = token.startswith("`")
    name = token.strip("`").rstrip(".:")
    if _NO_NAME & set(name):
        return ""
    stem, _, ending = name.rpartition(".")
    if not stem.strip("./") or stem.endswith("/"):
        return ""
    is_known = ending.lower() in _ENDINGS
    if not is_known and not (ending.lower() in _ALSO_WORDS and (is_code or "/" in stem)):
        return ""
    if name.isascii() or is_code:
        return name
    # In a language without blanks the name may begin where its own letters do.
    tail = _PLAIN_TAIL.search(name)
    return tail[0] if tail and "." in tail[0] else name
