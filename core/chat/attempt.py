"""One request to a model server and the reading of its answer; whether to try again is decided elsewhere."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from core.chat.asked import AskedFor
from core.chat.call_reading import CallIds
from core.chat.connection import ConnectionFailedError, HttpAnswer
from core.chat.failure import Failure, bad_endpoint, classify
from core.chat.failure_reading import HttpFailure, mask_keys, said_message
from core.chat.options import ModelOptions
from core.chat.request_body import BuiltBody
from core.chat.stream import AnswerStream, NotAModelError
from core.chat.wire import ErrorObjectError, ReadingRules, ReplyReader
from core.errors import ContextTooLongError, ModelStreamError, ModelUnreachableError
from core.messages import ModelReply
from core.model_piece import ModelPiece
from core.provider import ProviderFlags
from core.tokens import TokenCounter

TRUNCATION_SHARE = 0.5
"""A server that counts less than this part of our estimate has dropped the rest of the prompt."""
LEAST_TRUNCATED_TOKENS = 1000
"""Estimates of shorter requests are too rough to accuse a server."""


class Connection(Protocol):
    """HTTP to one model server."""

    async def warm(self) -> None:
        """Get ready, off the event loop."""
        ...

    def post(self, body: bytes, connect_s: float) -> AbstractAsyncContextManager[HttpAnswer]:
        """Send a chat request.

        Raises:
            ConnectionFailedError: No answer came.
        """
        ...

    async def get(self, path: str, connect_s: float = 5.0) -> HttpAnswer:
        """Read a small document of the server.

        Raises:
            ConnectionFailedError: No answer came.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class FailedTryError(Exception):
    """The request gave no answer; nothing of one has come."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error.message)
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request and what is known of it."""

    options: ModelOptions
    body: BuiltBody
    flags: ProviderFlags
    learned: Mapping[str, str]
    estimate: int
    """Our estimate of it in tokens."""
    window: int
    connect_s: float
    """Longest time until the connection stands."""

    def facts(self) -> AskedFor:
        """Return what the meaning of a refusal depends on."""
        return AskedFor(
            parameters=self.body.parameters,
            has_images=self.body.has_images,
            estimated_tokens=self.estimate,
            window=self.window,
            learned=self.learned,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptParts:
    """What an attempt works with."""

    connection: Connection
    ids: CallIds
    counter: TokenCounter
    told_window: Callable[[int], ModelPiece]
    """Keeps a window the server has shown."""


class Attempt:
    """Sends one request and reads its answer.

    Args:
        parts: Shared by all attempts of a model.
        asking: The request.
    """

    def __init__(self, parts: AttemptParts, asking: Asking) -> None:
        self._parts = parts
        self._asking = asking
        rules = ReadingRules(
            text_tool_calls=asking.flags.text_tool_calls,
            repeat_chunks=asking.options.repeat_chunks,
            forms=asking.body.forms,
        )
        self._reader = ReplyReader(asking.body.names, parts.ids, rules)

    async def pieces(self) -> AsyncGenerator[ModelPiece, None]:
        """Yield what comes, the whole reply last.

        Raises:
            FailedTryError: There was no answer.
            ModelStreamError: The answer broke off.
            ContextTooLongError: Said inside the stream.
        """
        deadline = asyncio.get_running_loop().time() + self._asking.options.time_outs.first_token_s
        async with AsyncExitStack() as stack:
            answer = await self._opened(stack, deadline)
            if answer.chunks is None:
                failure = HttpFailure(
                    status=answer.status, headers=answer.headers, text=answer.text
                )
                raise FailedTryError(self._classified(failure))
            async with aclosing(self._answered(answer, answer.chunks, deadline)) as pieces:
                async for piece in pieces:
                    yield piece

    async def _opened(self, stack: AsyncExitStack, deadline: float) -> HttpAnswer:
        opening = self._parts.connection.post(self._asking.body.data, self._asking.connect_s)
        try:
            async with asyncio.timeout_at(deadline):
                return await stack.enter_async_context(opening)
        except TimeoutError as error:
            raise _too_slow() from error
        except ConnectionFailedError as error:
            if error.kind == "timeout":
                raise _too_slow() from error
            raise FailedTryError(_no_connection(error)) from error

    async def _answered(
        self, answer: HttpAnswer, chunks: AsyncIterator[bytes], deadline: float
    ) -> AsyncGenerator[ModelPiece, None]:
        stream = AnswerStream(self._reader, self._asking.options.time_outs)
        broken: ModelStreamError | ContextTooLongError | None = None
        try:
            async with aclosing(stream.pieces(chunks, deadline)) as pieces:
                async for piece in pieces:
                    yield piece
        except ErrorObjectError as error:
            broken = self._reported(answer, error)
        except NotAModelError as error:
            raise FailedTryError(bad_endpoint(str(error))) from error
        except ModelStreamError as error:
            broken = error
        if broken is not None or not self._reader.finished:
            for piece in self._reader.abandon():
                yield piece
            raise broken or _incomplete()
        for piece in self._reader.end():
            yield piece
        for last in self._whole(invalid_utf8=stream.invalid_utf8):
            yield last

    def _reported(
        self, answer: HttpAnswer, error: ErrorObjectError
    ) -> ModelStreamError | ContextTooLongError:
        """Return what an error inside the stream means once the answer has begun.

        Raises:
            FailedTryError: It had not begun.
        """
        said = HttpFailure(
            status=answer.status,
            headers=answer.headers,
            text=json.dumps(error.payload, default=str),
        )
        failure = self._classified(said)
        if not error.begun:
            raise FailedTryError(failure) from error
        if isinstance(failure.error, ContextTooLongError) and not self._reader.has_content:
            return failure.error
        message = mask_keys(said_message(said), self._asking.options.api_key)
        return ModelStreamError(
            f"The model server reported an error: {message}",
            hint="Nothing of the answer was run.",
            code="upstream_mid_stream",
        )

    def _whole(self, *, invalid_utf8: bool) -> list[ModelPiece]:
        """Return the reply, and before it a window the server has shown."""
        estimate, reported = self._asking.estimate, self._reader.usage.input_tokens
        warnings = [name for name, is_so in (("invalid_utf8", invalid_utf8),) if is_so]
        if self._asking.body.names.left_out:
            warnings.append("tools_left_out")
        pieces: list[ModelPiece] = []
        message = ""
        if (
            reported is not None
            and estimate >= LEAST_TRUNCATED_TOKENS
            and reported < estimate * TRUNCATION_SHARE
        ):
            warnings.append("prompt_truncated_by_server")
            message = f"The server read only {reported} of about {estimate} tokens: it dropped part of the prompt."
            pieces.append(self._parts.told_window(reported))
        elif reported is not None:
            self._parts.counter.learn(estimate, reported)
        reply = self._reader.reply(
            input_estimate=estimate, count=self._parts.counter.text, warnings=warnings
        )
        return [*pieces, _with_message(reply, message)]

    def _classified(self, failure: HttpFailure) -> Failure:
        """Return what a failure means, without our key in its words."""
        found = classify(failure, self._asking.facts())
        secret = self._asking.options.api_key
        error = type(found.error)(
            mask_keys(found.error.message, secret), hint=found.error.hint, code=found.error.code
        )
        return replace(found, error=error)


def _with_message(reply: ModelReply, message: str) -> ModelReply:
    return (
        replace(reply, message=" ".join(filter(None, (reply.message, message))))
        if message
        else reply
    )


def _too_slow() -> ModelStreamError:
    # Never sent again at once: a server that still reads a long prompt would read it twice.
    return ModelStreamError(
        "The model server sent nothing in time.",
        hint="It may still be loading the model.",
        code="idle_timeout",
    )


def _incomplete() -> ModelStreamError:
    return ModelStreamError(
        "The model's answer broke off before it was complete.",
        hint="Nothing of it was run.",
        code="incomplete_stream",
    )


def _no_connection(error: ConnectionFailedError) -> Failure:
    broken = error.kind == "broken"
    what = "closed the connection" if broken else "cannot be reached"
    return Failure(
        error=ModelUnreachableError(f"The model server {what}: {error.reason}."), may_pass=True
    )
