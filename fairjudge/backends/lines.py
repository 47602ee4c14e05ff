"""Connections that notice what a server says unasked.

HTTP/1.1 says of no reply to which request it belongs: on a connection that is used again, one reply
too many is taken for that to the next request, and so on. `Line` is aiohttp's connection with an
ear for that, `Lines` the pool of those to one server.
"""

from __future__ import annotations

import asyncio
import functools
import re
import time
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

from fairjudge.backends.ports import Warn
from fairjudge.errors import MismatchedReplyError

REST_SECONDS = 0.02
"""How long a connection is quiet before it is used again."""
_LISTENING_SECONDS = 5.0
_MAX_IDS = 1000
_HEAD_BYTES = 4096
_ID = re.compile(rb'"id"\s*:\s*"([^"]{1,200})"')


@dataclass(slots=True, kw_only=True)
class Manners:
    """What one server was seen to do.

    ``proven``: it ended a connection after one reply without a further word. ``talks_on``: it said
    something unasked, so that no connection to it is used twice. ``ids_repeat``: the ids of its
    replies do not tell them apart.
    """

    server: str
    warn: Warn | None = None
    proven: bool = False
    talks_on: bool = False
    ids_repeat: bool = False
    listening: set[asyncio.Transport] = field(default_factory=set)
    _ids: set[bytes] = field(default_factory=set)

    def note_unasked(self) -> None:
        """Use no connection twice from now on; say so once."""
        if not self.talks_on and self.warn is not None:
            self.warn(
                f"{self.server} sends more replies than it was asked for; "
                "from now on each call gets a connection of its own"
            )
        self.talks_on = True

    def check_id(self, line: Line, content: bytes) -> None:
        """Note the id in the reply that came over `line`.

        Where the reply before it had the same, while others were told apart by theirs, it is
        `MismatchedReplyError`.
        """
        found = _ID.search(content, 0, _HEAD_BYTES)
        if found is None:
            return
        given = found[1]
        before, line.last_id = line.last_id, given
        if before is None and given in self._ids:
            self.ids_repeat = True
        if before == given and not self.ids_repeat and len(self._ids) > 1:
            line.end_unasked()
            raise mismatched(self.server)
        if len(self._ids) < _MAX_IDS:
            self._ids.add(given)


def mismatched(server: str) -> MismatchedReplyError:
    """Return the error for a reply that is not trusted."""
    return MismatchedReplyError(
        f"{server} sent more than one reply; none of them is taken for an answer"
    )


class Line(ResponseHandler):
    """One connection; ``unasked`` once more came over it than the replies to its requests."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, manners: Manners) -> None:
        super().__init__(loop)
        self.unasked = False
        self.last_id: bytes | None = None
        self._manners = manners
        self._n_replies = 0
        self._body: Any = None
        self._open: asyncio.Transport | None = None

    @property
    def should_close(self) -> bool:
        """Whether it is not to be used again; True until the server is proven."""
        trusted = self._manners.proven and not self._manners.talks_on
        return super().should_close or self.unasked or not trusted

    def set_response_params(self, **params: Any) -> None:
        """Begin to wait for a reply; what came before is nobody's."""
        if self._tail or self.unasked:
            self._tail = b""
            self.set_exception(aiohttp.ServerDisconnectedError("it spoke before it was asked"))
            self.end_unasked()
        self._n_replies, self._body = 0, None
        super().set_response_params(**params)

    def feed_data(self, data: Any, size: int = 0) -> None:
        """Take the head of a reply; interim ones (1xx) come before it."""
        message, body = data
        if message.code >= 200:
            self._n_replies += 1
            self._body = body
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        """Take bytes; those after the end of a reply are unasked."""
        if data and self._is_answered():
            self.end_unasked()
            return
        super().data_received(data)
        if self._n_replies > 1:
            self.end_unasked()

    def end_unasked(self) -> None:
        """Note that more came than was asked for, and end the connection."""
        self.unasked = True
        self._manners.note_unasked()
        for transport in (self.transport, self._open):
            if transport is not None:
                transport.close()

    def close(self) -> None:
        """End the connection; that of an unproven server by asking no more, to hear it out."""
        transport = self.transport
        unknown = not (self._manners.proven or self._manners.talks_on)
        can_listen = transport is not None and transport.can_write_eof()
        if transport is None or not (unknown and can_listen and self._is_answered()):
            super().close()
            return
        self.transport, self._open = None, transport
        self._manners.listening.add(transport)
        transport.write_eof()
        self._loop.call_later(_LISTENING_SECONDS, transport.abort)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Take note that the connection ended; quiet until then, it proves the server."""
        if self._open is not None:
            self._manners.listening.discard(self._open)
            self._manners.proven = self._manners.proven or not self.unasked
            self._open = None
        super().connection_lost(exc)

    def _is_answered(self) -> bool:
        return self._body is not None and bool(self._body.is_eof())


class Lines(aiohttp.TCPConnector):
    """The connections to one server: as many as are asked for, each at rest before it goes on.

    Before the first is used again, the server must have ended one after one reply without a further
    word: a half-closed connection says so, however slow the server is. Under TLS, which knows no
    half-closed connections, only the rest is waited for.
    """

    def __init__(self, *, manners: Manners, **options: Any) -> None:
        super().__init__(limit=0, **options)
        self._manners = manners
        made: Any = functools.partial(Line, loop=self._loop, manners=manners)
        self._factory = made

    async def _get(self, key: Any, traces: Any) -> Any:
        while idle := self._conns.get(key):
            if self._manners.talks_on:
                idle.popleft()[0].close()
                continue
            rest_seconds = idle[0][1] + REST_SECONDS - time.monotonic()
            if rest_seconds <= 0:
                return await super()._get(key, traces)
            if self._acquired:
                return None  # a further connection, rather than to wait
            await asyncio.sleep(rest_seconds)
        return None

    def end_listening(self) -> None:
        """End the connections that are being heard out."""
        for transport in tuple(self._manners.listening):
            transport.abort()


class HeardReply(aiohttp.ClientResponse):
    """A reply that knows its connection."""

    line: Line

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        """Read the head of the reply."""
        self.line = connection.protocol
        return await super().start(connection)
