"""Posts JSON, many calls at once: what client libraries spend on a call, ours does not.

Measured (benchmarks/overhead.py): 0.25 ms of processor time a call here, 3 ms through OpenAI's
client, of which 1.4 ms are its connection pool; at 1,000 calls a second only one of them fits in.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
import certifi
from pydantic_core import to_json

from fairjudge.backends.http import CONNECT_TIMEOUT_SECONDS, is_loopback


class StatusError(Exception):
    """The server answered with an error; named as OpenAI's client names the parts of one.

    ``body`` is the reply's JSON, None where it has none; ``response`` has its headers.
    """

    def __init__(self, response: aiohttp.ClientResponse, content: bytes) -> None:
        self.status_code = response.status
        self.response = response
        self.message = content.decode("utf-8", "replace") or f"status {response.status}"
        try:
            self.body = json.loads(self.message)
        except (ValueError, RecursionError):
            self.body = None
        super().__init__(self.message)


class BrokenOffError(Exception):
    """The server could not be reached, or broke off; the cause says how."""


class JsonPoster:
    """Connections to one server, kept open; belongs to the event loop that it was made in.

    Parameters
    ----------
    base_url : str
        The server, without a slash at its end.
    key : str
        Sent as the bearer of every call. What a server says may repeat it: errors lose it in
        `fairjudge.backends.sdk_errors`, replies in `fairjudge.backends.redacting`.
    headers : mapping
        Sent with every call too.
    timeout_seconds : float
        Longest wait for one whole reply.
    """

    def __init__(
        self, base_url: str, *, key: str, headers: Mapping[str, str], timeout_seconds: float
    ) -> None:
        self._url = base_url
        self._timeout_seconds = timeout_seconds
        self._session = aiohttp.ClientSession(
            headers={**headers, "Authorization": f"Bearer {key}"},
            connector=aiohttp.TCPConnector(limit=0, ssl=_tls(base_url)),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_SECONDS),
            trust_env=not is_loopback(base_url),
        )

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send `body` and return the reply's JSON.

        Raises
        ------
        StatusError, BrokenOffError, TimeoutError
            If there is no reply; `fairjudge.backends.sdk_errors` puts them in our words.
        ValueError
            If the reply is not JSON.
        """
        url = self._url + path
        data = to_json(body)
        try:
            async with (
                asyncio.timeout(self._timeout_seconds),
                self._session.post(url, data=data) as reply,
            ):
                content = await reply.read()
        except aiohttp.ClientError as error:
            raise BrokenOffError(str(error)) from error
        if reply.status >= 400:
            raise StatusError(reply, content)
        return json.loads(content)

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


def _tls(base_url: str) -> ssl.SSLContext | bool:
    """Return the system's certificates and Mozilla's, as either may be missing somewhere."""
    if not base_url.startswith("https:"):
        return True
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
