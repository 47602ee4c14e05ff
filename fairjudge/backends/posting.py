"""Posts JSON, many calls at once: what client libraries spend on a call, ours does not.

Measured (benchmarks/overhead.py): 0.25 ms of processor time a call here, 3 ms through OpenAI's
client, of which 1.4 ms are its connection pool; at 1,000 calls a second only one of them fits in.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
import certifi
import httpx
import openai

from fairjudge.backends.http import CONNECT_TIMEOUT_SECONDS, PLACEHOLDER_KEY, is_loopback


class JsonPoster:
    """Connections to one server, kept open; belongs to the event loop that it was made in.

    Errors are those of OpenAI's client, which `fairjudge.backends.sdk_errors` puts in our words.

    Parameters
    ----------
    base_url : str
        The server, without a slash at its end.
    key : str
        Sent as the bearer of every call. Whatever a server says, it is taken out of that: what
        comes back is kept and shown.
    headers : mapping
        Sent with every call too.
    timeout_seconds : float
        Longest wait for one whole reply.
    """

    def __init__(
        self, base_url: str, *, key: str, headers: Mapping[str, str], timeout_seconds: float
    ) -> None:
        self._url = base_url
        self._secret = b"" if key == PLACEHOLDER_KEY else key.encode()
        self._session = aiohttp.ClientSession(
            headers={**headers, "Authorization": f"Bearer {key}"},
            connector=aiohttp.TCPConnector(limit=0, ssl=_tls(base_url)),
            timeout=aiohttp.ClientTimeout(
                total=timeout_seconds, sock_connect=CONNECT_TIMEOUT_SECONDS
            ),
            trust_env=not is_loopback(base_url),
        )

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send `body` and return the reply's JSON.

        Raises
        ------
        openai.APIStatusError, openai.APIConnectionError, TimeoutError
            As OpenAI's client raises them.
        ValueError
            If the reply is not JSON.
        """
        url = self._url + path
        # ASCII alone: whatever stands in a text, every server reads it the same way.
        data = json.dumps(body, allow_nan=False).encode()
        try:
            async with self._session.post(url, data=data) as reply:
                content = await reply.read()
            if self._secret and self._secret in content:
                content = content.replace(self._secret, b"[key]")
        except aiohttp.ClientError as error:
            request = httpx.Request("POST", url)
            raise openai.APIConnectionError(message=str(error), request=request) from error
        if reply.status >= 400:
            raise _status_error(url, reply, content)
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


def _status_error(url: str, reply: aiohttp.ClientResponse, content: bytes) -> openai.APIStatusError:
    text = content.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    response = httpx.Response(
        reply.status,
        # Not those on how the body was packed: it is unpacked.
        headers=[(k, v) for k, v in reply.headers.items() if k.lower() != "content-encoding"],
        content=content,
        request=httpx.Request("POST", url),
    )
    return openai.APIStatusError(text or f"status {reply.status}", response=response, body=body)
