"""Follows `cd` through a text: which folders a command may run in."""

from collections.abc import Iterable
from typing import Final

from core.reach import Reach

MAX_FOLDERS: Final = 4
"""More possible folders than this count as not knowing."""
MAX_DEPTH: Final = 32
"""A folder deeper than this counts as not known."""
UNKNOWN: Final = ""
"""A folder that is not known."""


class Folders:
    """The folders a command may run in, as paths inside; `UNKNOWN` is one of them where that is so.

    A `cd` may fail, so after `;` both the old and the new folder are possible; after `&&` only the new one.
    """

    def __init__(self, reach: Reach, start: str | None) -> None:
        """Start in `start`; None is the workspace."""
        self._reach = reach
        self._now: tuple[str, ...] = (reach.inside if start is None else start,)
        self._chain: tuple[str, ...] | None = None

    @property
    def now(self) -> tuple[str, ...]:
        """Folders that are possible for the next command."""
        return self._now if self._chain is None else self._chain

    def joined(self, operator: str) -> None:
        """Note the operator in front of the next command."""
        if operator != "&&" and self._chain is not None:
            self._now = _few((*self._now, *self._chain))
            self._chain = None

    def changed(self, text: str | None) -> None:
        """Note a `cd`.

        Args:
            text: Where to; "" is home, None where that is not known.
        """
        before = self.now
        if self._chain is not None:
            self._now = _few((*self._now, *self._chain))
        self._chain = _few(self._lead(text, folder) for folder in before)

    def saved(self) -> "Folders":
        """Return a copy, for a subshell."""
        copy = Folders(self._reach, None)
        copy._now, copy._chain = self._now, self._chain
        return copy

    def _lead(self, text: str | None, folder: str) -> str:
        if text is None or text == "-":
            return UNKNOWN
        target = self._reach.resolve(text or "~", folder)
        if target.place == "unknown" or target.path.count("/") > MAX_DEPTH:
            return UNKNOWN
        if target.place == "workspace":
            return f"{self._reach.inside.rstrip('/')}/{target.path}".rstrip("/")
        return target.path


def _few(folders: Iterable[str]) -> tuple[str, ...]:
    unique = tuple(dict.fromkeys(folders))
    return unique if len(unique) <= MAX_FOLDERS else (*unique[: MAX_FOLDERS - 1], UNKNOWN)
