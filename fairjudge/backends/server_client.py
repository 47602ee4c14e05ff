"""What clients of every server share, whatever its wire format."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

import openai

from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, api_key
from fairjudge.backends.ports import Warn
from fairjudge.backends.sdk_errors import map_sdk_error
from fairjudge.errors import ConfigurationError
from fairjudge.protocols import ModelRef

Connection = TypeVar("Connection")


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
