"""The model behind an OpenAI-compatible server. The only place that knows the openai package.

The SDK does authentication, addresses and HTTP. The body is ours to the byte, so are the decoding of the stream and the
tries: the SDK would rebuild each message (0.1 ms of the event loop each), read `OPENAI_*` variables for any server,
fail on keepalives and retry what cannot pass.
"""

import asyncio
import os
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from core.chat.connection import ConnectionFailedError, HttpAnswer
from core.chat.learned_flags import FlagStore
from core.chat.model import ChatModel
from core.chat.options import NO_KEY, ModelOptions
from core.chat.request_body import BodyBuilder
from core.ports import Clock
from core.provider import is_loopback
from core.tokens import TokenCounter

if TYPE_CHECKING:
    import httpx2
    import openai
    from openai import RequestOptions

KEEPALIVE_S = 60.0
"""An idle connection is kept this long, so that the next step of a run need not connect again."""
MAX_REDIRECTS = 5
_NO_ADDRESS = {
    "InvalidURL",
    "UnsupportedProtocol",
    "OverflowError",
    "UnicodeError",
    "LocalProtocolError",
}


class OpenAIModel(ChatModel):
    """A model behind an OpenAI-compatible server.

    Args:
        options: Address, key, limits.
        clock: Time; the machine's own by default.
        learned: Remembers what the server refused; in memory by default.
        counter: Estimates tokens.
        bodies: Builds requests; another one serves tests of odd histories.
    """

    def __init__(
        self,
        options: ModelOptions,
        *,
        clock: Clock | None = None,
        learned: FlagStore | None = None,
        counter: TokenCounter | None = None,
        bodies: BodyBuilder | None = None,
    ) -> None:
        super().__init__(
            options,
            OpenAIConnection(options),
            clock=clock,
            learned=learned,
            counter=counter,
            bodies=bodies,
        )


class OpenAIConnection:
    """HTTP to one model server, through the SDK.

    Args:
        options: Address, key and time-outs.
    """

    def __init__(self, options: ModelOptions) -> None:
        self._options = options
        self._client: openai.AsyncOpenAI | None = None
        self._building = threading.Lock()

    async def warm(self) -> None:
        """Import the SDK and make the client in a thread, for it takes a third of a second.

        Raises:
            ConnectionFailedError: The address is none.
        """
        if self._client is None:
            await asyncio.to_thread(self._build)

    @asynccontextmanager
    async def post(self, body: bytes, connect_s: float) -> AsyncIterator[HttpAnswer]:
        """Send a chat request; leaving the context closes the connection unless the answer was read to its end.

        Args:
            body: JSON, sent as it is.
            connect_s: Longest time until the connection stands.

        Raises:
            ConnectionFailedError: No answer came.
        """
        response = await self._send("POST", "/chat/completions", body, connect_s)
        try:
            yield await _answer(response)
        finally:
            await response.aclose()

    async def get(self, path: str, connect_s: float = 5.0) -> HttpAnswer:
        """Read a small document of the server, such as /models, into the answer's text.

        Raises:
            ConnectionFailedError: No answer came.
        """
        response = await self._send("GET", path, None, connect_s)
        try:
            with _translated():
                text = (await response.aread()).decode(errors="replace")
            return HttpAnswer(status=response.status_code, headers=_headers(response), text=text)
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _send(
        self, method: str, path: str, body: bytes | None, connect_s: float
    ) -> "httpx2.Response":
        await self.warm()
        client = self._client
        if client is None:
            raise ConnectionFailedError("broken", "the model was closed")
        import httpx2
        import openai

        time_outs = self._options.time_outs
        # Silence is judged by data events above; this only ends what even they cannot see.
        limit_s = max(time_outs.first_token_s, time_outs.idle_s) + 5.0
        headers: dict[str, str | openai.Omit] = {**self._unwanted_headers()}
        headers["Content-Type"] = "application/json"
        if not self._options.organization:
            headers["OpenAI-Organization"] = openai.omit
        if not self._options.project:
            headers["OpenAI-Project"] = openai.omit
        options: RequestOptions = {
            "headers": headers,
            "timeout": httpx2.Timeout(limit_s, connect=connect_s),
        }
        with _translated():
            try:
                if body is None:
                    return await client.get(path, cast_to=httpx2.Response, options=options)
                # For this type the SDK hands out the HTTP client's own response, with its body unread.
                return await client.post(
                    path,
                    cast_to=httpx2.Response,
                    content=body,
                    options=options,
                    stream=True,
                    stream_cls=None,
                )
            except openai.APIStatusError as error:
                return error.response

    def _unwanted_headers(self) -> "dict[str, str | openai.Omit]":
        """Return what takes the headers of OPENAI_CUSTOM_HEADERS out again: the SDK sends them to any server."""
        import openai

        lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
        names = [line.partition(":")[0].strip() for line in lines if ":" in line]
        unwanted: dict[str, str | openai.Omit] = dict.fromkeys(names, openai.omit)
        for name in names:
            if name.lower() == "authorization":
                unwanted[name] = f"Bearer {self._options.api_key or NO_KEY}"
        return unwanted

    def _build(self) -> None:
        """Make the client; key, organisation and project are given, so that no variable fills them in."""
        import httpx2
        import openai

        options = self._options
        with self._building:
            if self._client is not None:
                return
            with _translated():
                self._client = openai.AsyncOpenAI(
                    api_key=options.api_key or NO_KEY,
                    organization=options.organization,
                    project=options.project,
                    base_url=options.base_url,
                    max_retries=0,
                    http_client=httpx2.AsyncClient(
                        # A proxy of the environment cannot reach a server on this machine.
                        trust_env=not is_loopback(options.base_url),
                        follow_redirects=True,
                        max_redirects=MAX_REDIRECTS,
                        limits=httpx2.Limits(max_connections=20, keepalive_expiry=KEEPALIVE_S),
                    ),
                )


_ADDRESS_ERRORS = (OverflowError, UnicodeError, ExceptionGroup)
"""What asyncio and anyio raise for ports and host names that cannot be."""


async def _answer(response: "httpx2.Response") -> HttpAnswer:
    headers = _headers(response)
    if response.status_code >= 400:
        with _translated():
            text = (await response.aread()).decode(errors="replace")
        return HttpAnswer(status=response.status_code, headers=headers, text=text)
    return HttpAnswer(status=response.status_code, headers=headers, chunks=_chunks(response))


async def _chunks(response: "httpx2.Response") -> AsyncIterator[bytes]:
    with _translated():
        async for data in response.aiter_bytes():
            yield data


def _headers(response: "httpx2.Response") -> Mapping[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the SDK's and the HTTP client's errors into ours."""
    import httpx2
    import openai

    try:
        yield
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, *_ADDRESS_ERRORS) as error:
        raise _failed(error) from error


def _failed(error: Exception) -> ConnectionFailedError:
    import httpx2

    causes = list(_causes(error))
    connecting = (
        httpx2.ConnectError,
        httpx2.ConnectTimeout,
        httpx2.ProxyError,
        httpx2.UnsupportedProtocol,
    )
    for cause in causes:
        if isinstance(cause, (*connecting, httpx2.InvalidURL, OverflowError, UnicodeError)):
            return ConnectionFailedError("unreachable", _reason(causes))
    if any(isinstance(cause, httpx2.TimeoutException) for cause in causes):
        return ConnectionFailedError("timeout", "no data came for too long")
    return ConnectionFailedError("broken", _reason(causes))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and all that led to it, those inside groups too."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from _causes(inner)
        error = error.__cause__ or error.__context__


def _reason(causes: list[BaseException]) -> str:
    known = (
        (ConnectionRefusedError, "the connection was refused"),
        (socket.gaierror, "there is no host of that name"),
        (ssl.SSLError, "the TLS certificate or handshake was not accepted"),
        (ConnectionResetError, "the server closed it"),
    )
    for kind, words in known:
        if any(isinstance(cause, kind) for cause in causes):
            return words
    names = {type(cause).__name__ for cause in causes}
    if names & {"ConnectTimeout", "PoolTimeout"}:
        return "nobody answered in time"
    if names & {"RemoteProtocolError", "ReadError"}:
        return "the server closed it"
    return "the address cannot be used" if names & _NO_ADDRESS else "it failed"
