"""What the person does to a run from outside: pause, single step, steering, edits of memory. It acts between steps."""

import asyncio
from collections import deque

from core.events import MemoryEdited, MessageSteered, RunPaused, RunResumed
from core.ports import EventSink


class RunControl:
    """Holds what waits for the next step boundary."""

    def __init__(self, record: EventSink) -> None:
        """Record facts with `record`."""
        self._record = record
        self._go = asyncio.Event()
        self._go.set()
        self._single_step = False
        self._steering: deque[str] = deque()
        self._edits: deque[MemoryEdited] = deque()
        self._is_waiting = False
        self.quiet = asyncio.Lock()
        """Held while the model is asked something else between steps; the run waits for it."""

    @property
    def paused(self) -> bool:
        """Whether the run waits, or will wait at the next boundary."""
        return not self._go.is_set()

    @property
    def is_waiting(self) -> bool:
        """Whether the run stands at a boundary, paused."""
        return self._is_waiting and self.paused

    @property
    def steering(self) -> tuple[str, ...]:
        """Messages that wait for the next boundary, oldest first."""
        return tuple(self._steering)

    @property
    def edits(self) -> tuple[MemoryEdited, ...]:
        """Edits that wait for the next boundary, oldest first."""
        return tuple(self._edits)

    def steer(self, text: str) -> None:
        """Queue a message of the person."""
        self._steering.append(text)

    def edit(self, event: MemoryEdited) -> None:
        """Queue an edit of memory."""
        self._edits.append(event)

    def pause(self) -> None:
        """Make the run wait at the next boundary."""
        if self._go.is_set():
            self._go.clear()
            self._record(RunPaused())

    def resume(self, *, single_step: bool = False) -> None:
        """Let it go on, for one step if asked."""
        if not self._go.is_set():
            self._single_step = single_step
            self._record(RunResumed(single_step=single_step))
            self._go.set()

    async def boundary(self) -> None:
        """Wait while paused, then apply what was queued."""
        self.apply()
        self._is_waiting = True
        try:
            await self._go.wait()
            async with self.quiet:
                self.apply()
        finally:
            self._is_waiting = False
        if self._single_step:
            self._single_step = False
            self.pause()

    def apply(self) -> None:
        """Apply queued edits and messages now."""
        while self._edits:
            self._record(self._edits.popleft())
        while self._steering:
            self._record(MessageSteered(text=self._steering.popleft()))

    def reset(self) -> None:
        """Forget pause and single step; what is queued stays for the next run."""
        self._single_step = False
        self._go.set()
