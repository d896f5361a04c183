"""A model behind a chat completions API: builds requests, tries again where that helps, learns the server's ways."""

import hashlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace

from core.chat.attempt import Asking, Attempt, AttemptParts, Connection, FailedTryError
from core.chat.call_reading import CallIds
from core.chat.connection import ConnectionFailedError
from core.chat.failure import Failure
from core.chat.flag_words import WINDOW
from core.chat.json_shape import count_of
from core.chat.learned_flags import FlagStore, MemoryFlagStore
from core.chat.options import ModelOptions
from core.chat.request_body import BodyBuilder, BuiltBody
from core.chat.retry import RetryBudget
from core.chat.server_list import Entries, listed_models, with_hint
from core.errors import ModelError, ModelRefusedError
from core.event_log import SystemClock
from core.events import ErrorInfo, ModelAdapted, ModelRequested, ModelRetried
from core.messages import AssistantMessage, ModelRequest, Usage, pictures_of
from core.model_events import ModelDowngraded
from core.model_piece import ModelPiece
from core.ports import Clock
from core.provider import ProviderFlags, with_learned
from core.tokens import TokenCounter, image_tokens


class ChatModel:
    """Implements `core.ports.Model` over a connection.

    Args:
        options: Address, key, limits.
        connection: HTTP to the server.
        clock: Time; the machine's own by default.
        learned: Remembers what the server refused; in memory by default.
        counter: Estimates tokens; one of its own by default.
        bodies: Builds requests; made of the options by default.
    """

    def __init__(
        self,
        options: ModelOptions,
        connection: Connection,
        *,
        clock: Clock | None = None,
        learned: FlagStore | None = None,
        counter: TokenCounter | None = None,
        bodies: BodyBuilder | None = None,
    ) -> None:
        self._options = options
        self._connection = connection
        self._clock: Clock = clock or SystemClock()
        self._store: FlagStore = learned or MemoryFlagStore()
        self._learned = dict(self._store.load(options.base_url, options.model))
        self._bodies = bodies or BodyBuilder(options.model, options.parameters)
        self._ids = CallIds()
        self._told_blind = False
        self._told_steps = False
        self._built: tuple[ModelRequest, dict[str, str], BuiltBody] | None = None
        self.counter = counter or TokenCounter()
        """Estimates tokens for this model and learns from what the server reports."""

    @property
    def name(self) -> str:
        """Model name as the server knows it."""
        return self._options.model

    @property
    def options(self) -> ModelOptions:
        """Address, key and limits."""
        return self._options

    @property
    def learned(self) -> Mapping[str, str]:
        """What was learned of the server, by flag."""
        return self._learned

    @property
    def flags(self) -> ProviderFlags:
        """The server's ways, with what was learned of them."""
        flags = with_learned(self._options.provider.flags, self._learned)
        tools = self._options.tools
        return flags if tools == "auto" else replace(flags, tool_protocol=tools)

    @property
    def window(self) -> int:
        """Context window in tokens, 0 where unknown; what the server told counts when it is less."""
        told = self._learned.get(WINDOW, "")
        sizes = [size for size in (count_of(told), self._options.window) if size]
        return min(sizes, default=0)

    async def warm(self) -> None:
        """Load what the first request needs, off the event loop; what is wrong is told by the first request."""
        with suppress(ConnectionFailedError):
            await self._connection.warm()

    async def close(self) -> None:
        """Close all connections."""
        await self._connection.close()

    def body(self, request: ModelRequest) -> bytes:
        """Return the exact bytes that `reply` would send for this request now."""
        return self._build(request).data

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the price of a request, None where it is not known."""
        price = self._options.price
        return None if price is None else price.cost_usd(usage)

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        """Send the request and yield what comes, the whole reply last.

        Closing the generator or cancelling the task closes the connection.

        Raises:
            ModelRefusedError: Sending it again cannot help.
            ModelUnreachableError: No model API answers.
            ModelOverloadedError: The tries are used up.
            ModelStreamError: The answer broke off; the loop may ask again.
            ContextTooLongError: The history must become shorter.
        """
        self._check_key()
        self._reserve_ids(request)
        budget = RetryBudget(self._clock)
        while not budget.answered:
            async with aclosing(self._try_once(request, budget)) as pieces:
                async for piece in pieces:
                    yield piece

    async def model_entries(self) -> Entries:
        """Return what the server says of each model it offers, nothing where it does not tell; costs nothing.

        Raises:
            ModelUnreachableError: Nobody is there.
            ModelRefusedError: The key is refused.
        """
        self._check_key()
        try:
            return await listed_models(self._connection)
        except ModelError as error:
            raise await with_hint(error, self._options, self._connection) from error

    def _build(self, request: ModelRequest) -> BuiltBody:
        """Build the body once for a request, however often it is asked for."""
        learned = dict(self._learned)
        if self._built is not None and self._built[0] is request and self._built[1] == learned:
            return self._built[2]
        body = self._bodies.build(request, self.flags, learned)
        self._built = (request, learned, body)
        return body

    async def _try_once(
        self, request: ModelRequest, budget: RetryBudget
    ) -> AsyncGenerator[ModelPiece, None]:
        """Send the request once; when that gave no answer and another try can help, get ready for it.

        Raises:
            ModelError: No other try can help.
        """
        built = self._build(request)
        if built.pictures_in_words and not self._told_blind:
            self._told_blind = True
            yield ModelDowngraded(model=self.name, what="pictures")
        if built.forms is not None and not self._told_steps:
            self._told_steps = True
            yield ModelDowngraded(model=self.name, what="tools")
        digest = hashlib.sha256(built.data).hexdigest()
        yield ModelRequested(model=self.name, size_bytes=len(built.data), digest=digest)
        attempt = self._attempt(request, budget)
        try:
            async with aclosing(attempt.pieces()) as pieces:
                async for piece in pieces:
                    yield piece
            budget.answered = True
            return
        except FailedTryError as failed:
            failure = failed.failure
        if failure.window:
            yield self.learn(WINDOW, str(failure.window))
        wait_s = await self._wait_after(failure, budget)
        if failure.learn is not None:
            yield self.learn(*failure.learn)
            return
        error = failure.error
        info = ErrorInfo(code=error.code, message=error.message, hint=error.hint)
        yield ModelRetried(
            error=info, attempt=budget.requests, wait_s=round(wait_s, 3), limit=budget.limit
        )
        await self._clock.sleep(wait_s)

    def _attempt(self, request: ModelRequest, budget: RetryBudget) -> Attempt:
        budget.requests += 1
        asking = Asking(
            options=self._options,
            body=self._build(request),
            flags=self.flags,
            learned=dict(self._learned),
            estimate=self._estimate(request),
            window=self.window,
            connect_s=budget.connect_timeout_s(self._options.time_outs.connect_s),
        )
        parts = AttemptParts(
            connection=self._connection,
            ids=self._ids,
            counter=self.counter,
            told_window=lambda size: self.learn(WINDOW, str(size)),
        )
        return Attempt(parts, asking)

    def _estimate(self, request: ModelRequest) -> int:
        """Return our estimate of a request in tokens, without the pictures that are not sent."""
        request = self._build(request).request or request
        estimate = self.counter.request(request)
        if self.flags.vision:
            return estimate
        pictures = [one for message in request.messages for one in pictures_of(message)]
        left_out = sum(image_tokens(one.width, one.height) for one in pictures)
        return max(1, estimate - self.counter.scaled(left_out))

    def learn(self, flag: str, value: str) -> ModelAdapted:
        """Keep one of the server's ways, for later sessions too."""
        self._learned[flag] = value
        self._store.save(self._options.base_url, self._options.model, flag, value)
        return ModelAdapted(flag=f"{flag}={value}")

    async def _wait_after(self, failure: Failure, budget: RetryBudget) -> float:
        """Return the wait before the next request.

        Raises:
            ModelError: There is no next one; its hint says what to do.
        """
        try:
            return budget.after(failure)
        except ModelError as error:
            raise await with_hint(error, self._options, self._connection) from None

    def _check_key(self) -> None:
        if not self._options.api_key.isascii() or not self._options.api_key.isprintable():
            raise ModelRefusedError(
                "The model's key holds characters no key has.",
                hint=f"Copy it again into {self._options.key_env}.",
                code="auth",
            )

    def _reserve_ids(self, request: ModelRequest) -> None:
        for message in request.messages:
            if isinstance(message, AssistantMessage):
                self._ids.reserve(call.id for call in message.calls)
