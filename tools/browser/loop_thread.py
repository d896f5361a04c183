"""An event loop in a thread of its own, so that a busy browser never holds up the screen."""

import asyncio
import logging
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

LOGGER = logging.getLogger("handrail.browser")
LOGGER.addHandler(logging.NullHandler())


class LoopThread:
    """Runs coroutines of one owner in a thread that is started when first needed."""

    def __init__(self, name: str) -> None:
        """Name the thread."""
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def started(self) -> bool:
        """Whether the thread runs."""
        return self._thread is not None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._serve, args=(loop,), name=self._name, daemon=True
                )
                self._loop = loop
                self._thread.start()
            return self._loop

    @staticmethod
    def _serve(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        loop.set_exception_handler(_note)
        try:
            loop.run_forever()
        finally:
            _cancel_all(loop)
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` there and wait for it here; cancelling here cancels it there."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._running()))

    def run_blocking(self, work: Coroutine[Any, Any, T], timeout_s: float) -> T:
        """Run `work` there and block this thread until it is done.

        Raises:
            TimeoutError: It took longer.
        """
        return asyncio.run_coroutine_threadsafe(work, self._running()).result(timeout_s)

    def stop(self, timeout_s: float = 5.0) -> None:
        """End the loop and its thread; safe to call twice."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout_s)


def _note(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what nobody waited for; the loop's own way would write it to the terminal."""
    LOGGER.error("%s", context.get("message"), exc_info=context.get("exception"))


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    pending = asyncio.all_tasks(loop)
    for task in pending:
        task.cancel()
    if pending:
        loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
