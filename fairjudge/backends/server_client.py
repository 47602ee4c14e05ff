"""What clients of every server share, whatever its wire format: connections, and how they fail.

The clients of OpenAI and Anthropic, which are generated from one template, raise alike.
"""

from __future__ import annotations

import asyncio
import copy
import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

import httpx2
import openai
from pydantic_core import to_json

from fairjudge.backends.failures import failure
from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, api_key, one_line
from fairjudge.backends.http_transport import origin_of
from fairjudge.backends.ports import Warn
from fairjudge.backends.reply_bodies import read_json
from fairjudge.errors import (
    BackendError,
    ConfigurationError,
    ConnectionFailedError,
    MalformedReplyError,
    RequestTimeoutError,
)
from fairjudge.ports import ModelRef

Connection = TypeVar("Connection")

# What clients raise, beside their own, on bodies that are not what the format promises.
_HAS_OWN_MESSAGE = (ssl.SSLError, socket.gaierror)
"""Errors of the system whose numbers are not its own."""
_MALFORMED_HTTP_ERRORS = frozenset(
    {"RemoteProtocolError", "BadStatusLine", "BadHttpMessage", "ContentEncodingError"}
)
"""Names of errors in aiohttp, h11, httpx and their likes."""
_LOST = "without sending"
"""httpx has one error for malformed replies and for servers that hang up."""
_MALFORMED_REPLY_ERRORS = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)


class ServerClient(Generic[Connection]):
    """A model behind a server: its URL, its key, and connections that live as long as their loop.

    Subclasses name the environment variable of the key and the provider's own server, and say how
    to connect. ``warn`` is told once of a parameter that the server does not support, and of
    replies without a request. Where a key or a server is missing, `ConfigurationError` is raised.
    """

    key_variable: ClassVar[str]
    own_url: ClassVar[str | None] = None
    sdk: ClassVar[Any] = openai

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        warn: Warn | None = None,
    ) -> None:
        url = target.base_url or self.own_url
        if url is None:
            raise ConfigurationError(f"{target} needs a server: name it with --base-url")
        self.target = target
        self._url = url
        self._key = api_key(self.key_variable, target)
        self._timeout_seconds = timeout_seconds
        self._warn = warn
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection]
        self._connections = WeakKeyDictionary()

    @property
    def _connection(self) -> Connection:
        """The connection of the running event loop: it belongs to the loop that it rose in."""
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = self._connect()
        return self._connections[loop]

    async def aclose(self) -> None:
        """Close the connection of the running event loop."""
        connection = self._connections.pop(asyncio.get_running_loop(), None)
        if connection is not None:
            await self._close(connection)

    def _connect(self) -> Connection:
        raise NotImplementedError

    async def _close(self, connection: Any) -> None:
        await connection.close()

    def _mapped(self, error: Exception) -> Exception:
        """Return the error of ours for what the client raised."""
        return map_sdk_error(error, sdk=self.sdk, where=self._url, secrets=(self._key,))


async def post_json(
    client: Any, path: str, body: Mapping[str, Any], *, timeout_seconds: float
) -> Any:
    """Post `body` through `client`, an SDK's, and return the reply's JSON as it came.

    What the SDKs make of a reply differs from version to version, and loses what they do not know;
    `map_sdk_error` knows what is raised.
    """
    async with asyncio.timeout(timeout_seconds):
        reply: httpx2.Response = await client.post(
            path, cast_to=httpx2.Response, content=to_json(body)
        )
    return read_json(
        reply.content, where=str(client.base_url).rstrip("/"), charset=reply.charset_encoding
    )


def map_sdk_error(error: Exception, *, sdk: Any, where: str, secrets: tuple[str, ...]) -> Exception:
    """Return the error of ours for what a client raised; one that is ours already stays.

    `sdk` is ``openai`` or ``anthropic``, `where` the server. Some servers repeat the keys that they
    were sent: `secrets` are taken out.
    """
    ours = next((one for one in _causes(error) if isinstance(one, BackendError)), None)
    if ours is not None:
        return _without(secrets, ours)
    if isinstance(error, sdk.APIStatusError):
        headers: Mapping[str, str] = error.response.headers
        body = _body_of(error)
        return failure(error.status_code, body, where=where, headers=headers, secrets=secrets)
    if isinstance(error, (TimeoutError, sdk.APITimeoutError)):
        return RequestTimeoutError(f"{where} sent no reply in time")
    if isinstance(error, (httpx2.TransportError, sdk.APIConnectionError)):
        return broken_off(error, where=where, secrets=secrets)
    if isinstance(error, (sdk.APIResponseValidationError, *_MALFORMED_REPLY_ERRORS)):
        return MalformedReplyError(
            f"{where} sent a reply that is not of its format: {one_line(error, secrets=secrets)}"
        )
    known = isinstance(error, sdk.APIError)
    return BackendError(f"{where}: {one_line(error, secrets=secrets)}") if known else error


def broken_off(error: Exception, *, where: str, secrets: tuple[str, ...]) -> ConnectionFailedError:
    """Return the error of ours for a connection that failed, with the reason below the client's."""
    causes = tuple(_causes(error))
    if (problem := malformed_http(error)) is not None:
        said = one_line(problem, secrets=secrets)
        text = f"{where} sent a reply that is not valid HTTP: {said}"
        return ConnectionFailedError(text, malformed=True)
    unsent = any(isinstance(one, httpx2.ConnectError) for one in causes)
    said = one_line(_why_unreached(error), secrets=secrets)
    return ConnectionFailedError(f"cannot reach {where}, or it broke off: {said}", unsent=unsent)


def malformed_http(error: BaseException) -> str | None:
    """Return what is wrong with a reply that is no valid HTTP; None where that is not the matter.

    Clients of several libraries raise it, some only while they handle it.
    """
    for one in _causes(error, handled=True):
        if type(one).__name__ in _MALFORMED_HTTP_ERRORS and _LOST not in str(one):
            return " ".join(str(one).split()).removeprefix("400, message:").strip(" ^")
    return None


def _why_unreached(error: Exception) -> object:
    """Return the deepest cause that the system or the network gave, in plain words.

    Some libraries raise it while they handle another, without naming it as the cause. Where there
    is none, the deepest cause that is named: what was only being handled may be unrelated.
    """
    causes = [one for one in _causes(error, handled=True) if str(one)]
    deepest = next((one for one in reversed(causes) if isinstance(one, OSError)), None)
    if deepest is None:
        return next(
            (one for one in reversed(list(_causes(error))) if str(one)), type(error).__name__
        )
    if not deepest.errno or isinstance(deepest, _HAS_OWN_MESSAGE):
        return deepest
    return os.strerror(deepest.errno)


def _without(secrets: tuple[str, ...], error: BackendError) -> BackendError:
    """Take keys out of an error of ours: a refusal may repeat what a server was sent."""
    said = str(error)
    if not any(secret and secret in said for secret in secrets):
        return error
    clean = copy.copy(error)
    clean.args = (one_line(said, secrets=secrets),)
    return clean


def _body_of(error: Any) -> Any:
    """Return the body of a client's status error, or where it redirects to."""
    response = error.response
    moved = response.headers.get("location")
    if moved and 300 <= error.status_code < 400:
        return f"it redirects to {origin_of(moved)}, which was not asked for"
    try:
        text: str = response.text
    except httpx2.ResponseNotRead:
        text = ""
    return text or error.body or str(getattr(error, "message", error))


def _causes(error: BaseException, *, handled: bool = False) -> Iterator[BaseException]:
    """Yield `error` and what it was made of; where `handled`, what was being handled too."""
    following: BaseException | None = error
    while following is not None:
        yield following
        following = following.__cause__ or (following.__context__ if handled else None)
