"""Waiting on facts instead of on time."""

import asyncio
from collections.abc import Callable

from core.event_log import EventLog

DEADLINE_S = 20.0
"""A test that waits longer than this has failed."""


async def until(log: EventLog, condition: Callable[[], object]) -> None:
    """Wait until `condition` holds, looking again whenever the log has grown."""
    async with asyncio.timeout(DEADLINE_S):
        if condition():
            return
        async for _ in log.batches(after=len(log)):
            if condition():
                return
