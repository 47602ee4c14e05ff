"""Posts JSON, many calls at once: what client libraries spend on a call, ours does not.

Measured (benchmarks/overhead.py): 0.25 ms of processor time a call here, 3 ms through OpenAI's
client, of which 1.4 ms are its connection pool; at 1,000 calls a second only one of them fits in.
Client libraries are given `carried_client`: whatever a server sends, every backend meets it here.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

import aiohttp
import certifi
from pydantic_core import to_json

from fairjudge.backends.http import CONNECT_TIMEOUT_SECONDS, is_loopback
from fairjudge.backends.lines import HeardReply, Lines, Manners, mismatched
from fairjudge.backends.ports import Warn
from fairjudge.errors import MalformedReplyError

MAX_BYTES = 64 << 20
"""Of one reply, unpacked: 1,000 times what a long one with 20 alternatives a token takes."""
_MAX_REDIRECTS = 3
_UNPACKED = ("content-encoding", "content-length", "transfer-encoding")
_OWN = ("accept-encoding", "connection", "content-length", "host")


class StatusError(Exception):
    """The server answered with an error; named as OpenAI's client names the parts of one.

    ``body`` is the reply's JSON, None where it has none; ``response`` has its headers.
    """

    def __init__(self, response: Carried) -> None:
        self.status_code = response.status
        self.response = response
        self.message = response.content.decode("utf-8", "replace") or f"status {response.status}"
        moved = response.headers.get("location")
        if moved and 300 <= response.status < 400:
            self.message = f"it redirects to {_origin(moved)}, which was not asked for"
        try:
            self.body = json.loads(self.message)
        except (ValueError, RecursionError):
            self.body = None
        super().__init__(self.message)


class BrokenOffError(Exception):
    """The server could not be reached (``unsent``), or broke off; the cause says how."""

    def __init__(self, said: str, *, unsent: bool = False) -> None:
        self.unsent = unsent
        super().__init__(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A reply as it came, unpacked."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Carrier:
    """Connections to one server, kept open; belongs to the event loop that it was made in.

    ``headers`` are sent with every call; ``warn`` is told once of a server that says more than it
    is asked.
    """

    def __init__(
        self, base_url: str, *, headers: Mapping[str, str] | None = None, warn: Warn | None = None
    ) -> None:
        # TLS has no half-closed connections by which a server could be proven.
        self.manners = Manners(server=base_url, warn=warn, proven=base_url.startswith("https:"))
        self._lines = Lines(manners=self.manners, ssl=_tls(base_url))
        self._session = aiohttp.ClientSession(
            headers=headers,
            connector=self._lines,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_SECONDS),
            trust_env=not is_loopback(base_url),
            response_class=HeardReply,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def carry(
        self, url: str, data: bytes, *, headers: Mapping[str, str] | None = None
    ) -> Carried:
        """Post `data` and return the reply; redirects are followed within the server's origin.

        No reply raises `BrokenOffError`, one of more than `MAX_BYTES` `MalformedReplyError`, and
        more than one `MismatchedReplyError`.
        """
        reply = await self._once(url, data, headers or {})
        for _ in range(_MAX_REDIRECTS):
            target = _within_origin(url, reply)
            if target is None:
                break
            reply = await self._once(url := target, data, headers or {})
        return reply

    async def close(self) -> None:
        """Close the connections."""
        self._lines.end_listening()
        await self._session.close()

    async def _once(self, url: str, data: bytes, headers: Mapping[str, str]) -> Carried:
        try:
            async with self._session.post(
                url, data=data, headers=headers, allow_redirects=False
            ) as reply:
                content = await _read(reply, url=url)
                line = cast("HeardReply", reply).line
        except aiohttp.ClientError as error:
            unsent = isinstance(error, aiohttp.ClientConnectorError)
            raise BrokenOffError(str(error), unsent=unsent) from error
        if line.unasked:
            raise mismatched(_origin(url))
        if reply.status < 300:
            self.manners.check_id(line, content)
        return Carried(status=reply.status, headers=reply.headers, content=content)


class JsonPoster(Carrier):
    """Posts JSON to one server.

    ``key`` is sent as the bearer of every call. What a server says may repeat it: errors lose it in
    `fairjudge.backends.server_client`, replies in `fairjudge.backends.guarding`.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str,
        timeout_seconds: float,
        headers: Mapping[str, str] | None = None,
        warn: Warn | None = None,
    ) -> None:
        sent = {"Content-Type": "application/json", **(headers or {})}
        super().__init__(base_url, headers={**sent, "Authorization": f"Bearer {key}"}, warn=warn)
        self._url = base_url
        self._timeout_seconds = timeout_seconds

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send `body` and return the reply's JSON; `map_sdk_error` knows what it raises."""
        data = to_json(body)
        async with asyncio.timeout(self._timeout_seconds):
            reply = await self.carry(self._url + path, data)
        if reply.status >= 300:
            raise StatusError(reply)
        return json.loads(reply.content)


def carried_client(sdk: Any, base_url: str, *, warn: Warn | None = None) -> Any:
    """Return the HTTP client of `sdk` (``openai``, ``anthropic``) over a `Carrier`."""
    # The libraries move from httpx to httpx2, each in its own version.
    bases = {base.__name__: base for base in sdk.DefaultAsyncHttpxClient.__mro__}
    http = importlib.import_module(bases["AsyncClient"].__module__.partition(".")[0])
    carrier = Carrier(base_url, warn=warn)

    class Transport(http.AsyncBaseTransport):  # type: ignore[misc, name-defined]
        async def handle_async_request(self, request: Any) -> Any:
            headers = {name: value for name, value in request.headers.items() if name not in _OWN}
            reply = await carrier.carry(str(request.url), await request.aread(), headers=headers)
            kept = [(n, v) for n, v in reply.headers.items() if n.lower() not in _UNPACKED]
            return http.Response(reply.status, headers=kept, content=reply.content)

        async def aclose(self) -> None:
            await carrier.close()

    # Proxies of the environment are the carrier's matter.
    return sdk.DefaultAsyncHttpxClient(
        transport=Transport(), follow_redirects=False, trust_env=False
    )


async def _read(reply: aiohttp.ClientResponse, *, url: str) -> bytes:
    content = bytearray()
    async for part in reply.content.iter_any():
        content += part
        if len(content) > MAX_BYTES:
            raise MalformedReplyError(
                f"{_origin(url)} sent a reply of more than {MAX_BYTES >> 20} MiB"
            )
    return bytes(content)


def _within_origin(url: str, reply: Carried) -> str | None:
    """Return where `reply` redirects to, None unless that is the same server and scheme."""
    if reply.status not in {307, 308}:
        return None
    try:
        target = urljoin(url, reply.headers.get("location", ""))
    except ValueError:
        return None
    return target if _origin(target) == _origin(url) else None


def _origin(url: str) -> str:
    """Return scheme, host and port: what an error may repeat of any URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "no URL"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _tls(base_url: str) -> ssl.SSLContext | bool:
    """Return the system's certificates and Mozilla's, as either may be missing somewhere."""
    if not base_url.startswith("https:"):
        return True
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
