"""The errors a page or the browser can answer with, so that modules need not import Playwright for them."""

import asyncio
import contextlib
from typing import Any

Faults = tuple[type[BaseException], ...]


def page_faults() -> Faults:
    """Return what a call to a page raises when it goes wrong: refused, timed out, closed, crashed."""
    from playwright.async_api import Error

    return (Error, TimeoutError, OSError)


def ignoring_faults() -> "contextlib.suppress":
    """Return a context that lets a page go wrong: for endings and for what is only nice to have."""
    return contextlib.suppress(*page_faults())


def first_line(error: BaseException, limit: int = 200) -> str:
    """Return the first line of an error's text, without Playwright's method prefix."""
    text = str(error).strip()
    if not text:
        return (
            "it did not answer in time" if isinstance(error, TimeoutError) else type(error).__name__
        )
    line = text.splitlines()[0]
    head, found, rest = line.partition(": ")
    return (rest if found and "." in head and " " not in head else line)[:limit]


def forget_outcome(task: "asyncio.Future[Any]") -> None:
    """Take note of a task's end without complaint, whatever it was."""
    if not task.cancelled():
        task.exception()
