"""An HTTP transport for the vendors' SDKs: bounded replies over aiohttp connections.

An SDK takes any httpx client, which takes any transport; this one needs less processor time than
httpx's own pool (0.7 instead of 1.3 to 2 ms per call, `benchmarks/throughput.py`), bounds the size
of replies, follows no redirect to another origin, and detects replies to other requests.
"""

from __future__ import annotations

import re
import ssl
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
import certifi
import httpx2

from fairjudge.backends.http import CONNECT_TIMEOUT_SECONDS, is_loopback, one_line
from fairjudge.backends.ports import Warn, count_resend
from fairjudge.errors import MalformedReplyError, MismatchedReplyError

MAX_BYTES = 64 << 20
"""Maximum size of a decompressed reply: 1,000 times a long one with 20 alternatives per token."""
_MAX_REDIRECTS = 3
_KEEPALIVE_SECONDS = 15.0
_MAX_IDS = 100_000
"""More than the number of replies in `_KEEPALIVE_SECONDS`, the lifetime of idle connections."""
_ID = re.compile(rb'"id"\s*:\s*"([^"]{1,200})"')
_ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})
_OWN_HEADERS = frozenset({"accept-encoding", "connection", "content-length", "host"})
"""Request headers that aiohttp writes itself."""
_FRAMING_HEADERS = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Reply headers that do not apply to the decompressed content."""


class HttpTransport(httpx2.AsyncBaseTransport):
    """A transport to one server, within one event loop.

    HTTP/1.1 replies do not identify their request: on a reused connection, a second reply to one
    request would count as the reply to the next one. A plain connection is therefore used for one
    call only. A TLS connection, which is expensive to open, is reused, but only after a successful
    reply with a new id. A repeated id means that a reply was sent twice or that ids are not unique:
    from then on no connection is reused, and `warn` is called once; if the connection was reused,
    `MismatchedReplyError` is raised.

    Redirects (307, 308) are followed within the server's origin, each counted as a call. A reply of
    more than `MAX_BYTES`, or with a compression other than gzip or deflate, raises
    `MalformedReplyError`; a failed connection raises httpx's error, `httpx2.ConnectError` if
    nothing was sent.
    """

    def __init__(self, base_url: str, *, warn: Warn | None = None) -> None:
        self._server = base_url
        self._warn = warn
        self._tls = _tls_context() if base_url.startswith("https:") else None
        self._keeps_open = self._tls is not None
        self._ids = _ReplyIds()
        self._single_use: aiohttp.ClientSession | None = None
        self._idle: list[aiohttp.ClientSession] = []  # each with one open connection

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send `request` and return the complete reply."""
        await request.aread()
        url = str(request.url)
        reply = await self._send(request, url=url)
        for _ in range(_MAX_REDIRECTS):
            target = _redirect_within_origin(url, reply)
            if target is None:
                break
            count_resend()
            reply = await self._send(request, url=(url := target))
        return reply

    async def aclose(self) -> None:
        """Close the connections."""
        self._keeps_open = False
        if self._single_use is not None:
            await self._single_use.close()
        await self._close_idle()

    async def _send(self, request: httpx2.Request, *, url: str) -> httpx2.Response:
        if self._keeps_open:
            return await self._send_on_reusable(request, url=url)
        if self._single_use is None:
            self._single_use = self._session(limit=0, force_close=True)
        return await _exchange(self._single_use, request, url=url)

    async def _send_on_reusable(self, request: httpx2.Request, *, url: str) -> httpx2.Response:
        """Send on an idle connection or a new one; keep the connection if it is reusable."""
        is_reused = bool(self._idle)
        idle = self._idle.pop() if is_reused else None
        session = idle or self._session(limit=1, keepalive_timeout=_KEEPALIVE_SECONDS)
        is_usable = False
        try:
            reply = await _exchange(session, request, url=url)
            is_usable = self._is_usable_after(reply, is_reused=is_reused)
        finally:
            if is_usable and self._keeps_open:
                self._idle.append(session)
            else:
                await session.close()
            if not self._keeps_open:
                await self._close_idle()
        return reply

    def _is_usable_after(self, reply: httpx2.Response, *, is_reused: bool) -> bool:
        """Return whether the connection of `reply` may be reused; see the class."""
        # The pattern cannot match inside a text of the reply, where quotes are escaped.
        reply_id = _ID.search(reply.content) if reply.is_success else None
        if reply_id is None:
            return False
        if self._ids.add(reply_id[1]):
            return True
        if self._keeps_open and self._warn is not None:
            self._warn(
                f"{self._server} sends replies with repeated ids, such as replies that are sent "
                "twice; from now on each call uses a new connection"
            )
        self._keeps_open = False
        if is_reused:
            raise MismatchedReplyError(
                f"{self._server} sent a reply twice, instead of the reply to another request"
            )
        return False

    async def _close_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    def _session(self, **connections: Any) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._tls or True, **connections),
            headers={"Accept-Encoding": "gzip, deflate"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_SECONDS),
            trust_env=not is_loopback(self._server),
            cookie_jar=aiohttp.DummyCookieJar(),
        )


class _ReplyIds:
    """The ids of the latest `_MAX_IDS` replies."""

    def __init__(self) -> None:
        self._ids: dict[bytes, None] = {}

    def add(self, reply_id: bytes) -> bool:
        """Add an id; return whether it is new."""
        if reply_id in self._ids:
            return False
        self._ids[reply_id] = None
        if len(self._ids) > _MAX_IDS:
            del self._ids[next(iter(self._ids))]
        return True


def sdk_http_client(sdk: Any, base_url: str, *, warn: Warn | None = None) -> httpx2.AsyncClient:
    """Return the HTTP client of `sdk` (``openai``, ``anthropic``) over an `HttpTransport`."""
    client: httpx2.AsyncClient = sdk.DefaultAsyncHttpxClient(
        transport=HttpTransport(base_url, warn=warn),
        follow_redirects=False,
        trust_env=False,  # the transport handles the environment's proxies
    )
    return client


def url_origin(url: str) -> str:
    """Return scheme, host and port of a URL, without parts that may be secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "no URL"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


async def _exchange(
    session: aiohttp.ClientSession, request: httpx2.Request, *, url: str
) -> httpx2.Response:
    """Send `request` to `url` once and read the reply; raise httpx's errors for aiohttp's.

    The content is decompressed.
    """
    headers = {n: v for n, v in request.headers.items() if n not in _OWN_HEADERS}
    try:
        async with session.request(
            request.method, url, data=request.content, headers=headers, allow_redirects=False
        ) as reply:
            content = await _read_content(reply, server=url_origin(url))
            reply_headers = [
                pair for pair in reply.raw_headers if pair[0].lower() not in _FRAMING_HEADERS
            ]
            return httpx2.Response(reply.status, headers=reply_headers, content=content)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise httpx2.ConnectError(str(error)) from error
    except aiohttp.ClientResponseError as error:
        raise httpx2.RemoteProtocolError(one_line(error.message)) from error
    except aiohttp.ClientError as error:
        raise httpx2.ReadError(str(error)) from error


async def _read_content(reply: aiohttp.ClientResponse, *, server: str) -> bytes:
    encoding = reply.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise MalformedReplyError(
            f"{server} sent a reply compressed with the unsupported method {one_line(encoding)!r}"
        )
    content = bytearray()
    async for part in reply.content.iter_any():
        content += part
        if len(content) > MAX_BYTES:
            raise MalformedReplyError(f"{server} sent a reply of more than {MAX_BYTES >> 20} MiB")
    return bytes(content)


def _redirect_within_origin(url: str, reply: httpx2.Response) -> str | None:
    """Return the URL that `reply` redirects to if it has the same origin, else None."""
    if reply.status_code not in {307, 308}:
        return None
    try:
        target = urljoin(url, reply.headers.get("location", ""))
    except ValueError:
        return None
    return target if url_origin(target) == url_origin(url) else None


def _tls_context() -> ssl.SSLContext:
    """Return a context with the certificates of the system, if it has any, and of Mozilla."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
