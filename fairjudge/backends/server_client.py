"""The base class of clients of servers, for all wire formats: connections and errors.

The SDKs of OpenAI and Anthropic are generated from one template and raise similar errors.
"""

from __future__ import annotations

import asyncio
import copy
import os
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import httpx2
import openai
from pydantic_core import to_json

from fairjudge.backends.failures import failure
from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, api_key, one_line
from fairjudge.backends.http_transport import sdk_http_client, url_origin
from fairjudge.backends.ports import Reply, Warn
from fairjudge.backends.reply_bodies import read_json
from fairjudge.errors import (
    BackendError,
    ConfigurationError,
    ConnectionFailedError,
    MalformedReplyError,
    RequestTimeoutError,
)
from fairjudge.ports import ModelRef

_HAS_OWN_MESSAGE = (ssl.SSLError, socket.gaierror)
"""System errors whose number is not an errno; their own message is used."""
_MALFORMED_HTTP_ERRORS = frozenset(
    {"RemoteProtocolError", "BadStatusLine", "BadHttpMessage", "ContentEncodingError"}
)
"""Class names of errors for invalid HTTP in aiohttp, h11, httpx and similar libraries."""
_HANGUP_MESSAGE = "without sending"
"""Part of httpx's message if the server hangs up; its class is that of malformed replies."""
_MALFORMED_REPLY_ERRORS = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)


class ServerClient:
    """A model behind a server: its URL, its key, and a client of an SDK for each event loop.

    Subclasses define the environment variable of the key (``key_variable``) and the provider's own
    server (``own_url``); ``sdk`` is ``openai`` or ``anthropic``, and ``client_options`` are further
    arguments of its client. ``warn`` is called once for each unsupported parameter, and for
    unsolicited replies. A missing key or server raises `ConfigurationError`.
    """

    key_variable: ClassVar[str]
    own_url: ClassVar[str | None] = None
    sdk: ClassVar[Any] = openai
    client_options: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        warn: Warn | None = None,
    ) -> None:
        url = target.base_url or self.own_url
        if url is None:
            raise ConfigurationError(f"{target} needs a server: set its URL with --base-url")
        self.target = target
        self._url = url
        self._key = api_key(self.key_variable, target)
        self._timeout_seconds = timeout_seconds
        self._warn = warn
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    @property
    def _connection(self) -> Any:
        """The connection of the running event loop; connections cannot be shared between loops."""
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = self._connect()
        return self._connections[loop]

    async def aclose(self) -> None:
        """Close the connection of the running event loop."""
        connection = self._connections.pop(asyncio.get_running_loop(), None)
        if connection is not None:
            await self._close(connection)

    async def _post(
        self, path: str, body: Mapping[str, Any], parse: Callable[[Any], Reply]
    ) -> Reply:
        """Post `body` and return the reply parsed from its JSON by `parse`; raise a `BackendError`.

        The SDKs' models of replies are not used: they differ between versions and drop fields.
        """
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reply: httpx2.Response = await self._connection.post(
                    path, cast_to=httpx2.Response, content=to_json(body)
                )
            return parse(
                read_json(reply.content, server_name=self._url, charset=reply.charset_encoding)
            )
        except Exception as error:
            raise self._map_error(error) from None

    def _connect(self) -> Any:
        return self.sdk.AsyncClient(
            api_key=self._key,
            base_url=self._url,
            max_retries=0,
            timeout=self._timeout_seconds,
            http_client=sdk_http_client(self.sdk, self._url, warn=self._warn),
            **self.client_options,
        )

    async def _close(self, connection: Any) -> None:
        await connection.close()

    def _map_error(self, error: Exception) -> Exception:
        """Map a client's exception to a `BackendError`."""
        return map_sdk_error(error, sdk=self.sdk, server_name=self._url, secrets=(self._key,))


def map_sdk_error(
    error: Exception, *, sdk: Any, server_name: str, secrets: tuple[str, ...]
) -> Exception:
    """Map a client's exception to a `BackendError`; return a contained `BackendError` as it is.

    `sdk` is ``openai`` or ``anthropic``, `server_name` is for messages. `secrets` are
    removed, since some servers echo keys.
    """
    own_error = next((cause for cause in _causes(error) if isinstance(cause, BackendError)), None)
    if own_error is not None:
        return _without(secrets, own_error)
    if isinstance(error, sdk.APIStatusError):
        headers: Mapping[str, str] = error.response.headers
        body = _error_body(error)
        return failure(
            error.status_code, body, server_name=server_name, headers=headers, secrets=secrets
        )
    if isinstance(error, (TimeoutError, sdk.APITimeoutError)):
        return RequestTimeoutError(f"{server_name} sent no reply in time")
    if isinstance(error, (httpx2.TransportError, sdk.APIConnectionError)):
        return connection_error(error, server_name=server_name, secrets=secrets)
    if isinstance(error, (sdk.APIResponseValidationError, *_MALFORMED_REPLY_ERRORS)):
        return MalformedReplyError(
            f"{server_name} sent a reply with an invalid format: {one_line(error, secrets=secrets)}"
        )
    is_sdk_error = isinstance(error, sdk.APIError)
    return (
        BackendError(f"{server_name}: {one_line(error, secrets=secrets)}")
        if is_sdk_error
        else error
    )


def connection_error(
    error: Exception, *, server_name: str, secrets: tuple[str, ...]
) -> ConnectionFailedError:
    """Return the error for a failed connection, with the underlying cause as the reason."""
    causes = tuple(_causes(error))
    if (problem := malformed_http(error)) is not None:
        message = one_line(problem, secrets=secrets)
        text = f"{server_name} sent a reply that is not valid HTTP: {message}"
        return ConnectionFailedError(text, malformed=True)
    unsent = any(isinstance(cause, httpx2.ConnectError) for cause in causes)
    message = one_line(_root_cause(error), secrets=secrets)
    return ConnectionFailedError(
        f"cannot reach {server_name}, or the connection was interrupted: {message}", unsent=unsent
    )


def malformed_http(error: BaseException) -> str | None:
    """Return the problem of a reply that is not valid HTTP, or None for other errors.

    Several libraries raise such errors, some only as the context of another exception.
    """
    for cause in _causes(error, with_context=True):
        if type(cause).__name__ in _MALFORMED_HTTP_ERRORS and _HANGUP_MESSAGE not in str(cause):
            return " ".join(str(cause).split()).removeprefix("400, message:").strip(" ^")
    return None


def _root_cause(error: Exception) -> object:
    """Return the message of the deepest system or network error, the root cause.

    Some libraries raise it as the context of another exception, not as its cause. Without such an
    error, the deepest explicit cause is returned, since a context may be unrelated.
    """
    causes = [cause for cause in _causes(error, with_context=True) if str(cause)]
    deepest = next((cause for cause in reversed(causes) if isinstance(cause, OSError)), None)
    if deepest is None:
        return next(
            (cause for cause in reversed(list(_causes(error))) if str(cause)), type(error).__name__
        )
    if not deepest.errno or isinstance(deepest, _HAS_OWN_MESSAGE):
        return deepest
    return os.strerror(deepest.errno)


def _without(secrets: tuple[str, ...], error: BackendError) -> BackendError:
    """Remove keys from a `BackendError`: a refusal may echo the request."""
    message = str(error)
    if not any(secret and secret in message for secret in secrets):
        return error
    clean = copy.copy(error)
    clean.args = (one_line(message, secrets=secrets),)
    return clean


def _error_body(error: Any) -> Any:
    """Return the body of a client's status error, or a sentence on its redirect."""
    response = error.response
    location = response.headers.get("location")
    if location and 300 <= error.status_code < 400:
        return f"it redirects to {url_origin(location)}, which was not requested"
    try:
        text: str = response.text
    except httpx2.ResponseNotRead:
        text = ""
    return text or error.body or str(getattr(error, "message", error))


def _causes(error: BaseException, *, with_context: bool = False) -> Iterator[BaseException]:
    """Yield `error` and its causes; with `with_context` also its contexts."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or (current.__context__ if with_context else None)
