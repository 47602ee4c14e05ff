"""What every request must pass and every response carries; plain ASGI."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY_BYTES = 32_768
MAX_URL_BYTES = 2_048
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

# No inline script or style, nothing from elsewhere, and no page of others around ours. Referrers
# stay at home; with "no-referrer" browsers would send forms with the Origin "null".
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """Which names a request may call this server by: the guard against DNS rebinding.

    An attacker's page can have its own name point to this machine, but it cannot change the Host
    that the browser then sends.
    """

    names: frozenset[str]
    addresses: bool

    @staticmethod
    def of(bound: str, *, others: Iterable[str] = ()) -> Hosts:
        """Return what is right for a server bound to `bound`.

        Bound to loopback: loopback names alone. Bound elsewhere: any address too (an address is
        no name that could be pointed here), and bound everywhere, what this machine is called.
        `others` are names that the user vouches for.
        """
        given = {name.lower() for name in others}
        if is_everywhere(bound):
            given.add(socket.gethostname().lower())
        return Hosts(names=LOOPBACK | {bound.lower()} | given, addresses=not is_loopback(bound))

    def allow(self, header: str) -> bool:
        """Say whether a Host header is fine; its port may be any, as through a tunnel."""
        try:
            name = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return False
        return name in self.names or (self.addresses and _is_address(name))


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach a server that listens at `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_everywhere(host: str) -> bool:
    """Say whether a server that listens at `host` listens at every address of this machine."""
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified


def reachable_at(host: str) -> str:
    """Return what others call a server by that listens at `host`: an address, where at all of them.

    It is the one from which this machine would send to elsewhere; nothing is sent to learn it.
    Without a network it is loopback's.
    """
    if not is_everywhere(host):
        return host
    is_v6 = ":" in host
    with socket.socket(socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_DGRAM) as outgoing:
        try:
            outgoing.connect(("2001:db8::1" if is_v6 else "192.0.2.1", 9))
            found = str(outgoing.getsockname()[0])
        except OSError:
            return "::1" if is_v6 else "127.0.0.1"
    return found


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Refuses foreign hosts and origins, and large requests; adds `HEADERS` to all responses."""

    def __init__(self, app: Application, *, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        refused = self._refusal(scope)
        if refused is not None:
            await _refuse(send_with_headers, *refused)
            return
        await self._app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        hosts = headers.get(b"host", [])
        host = hosts[0].decode("latin-1") if len(hosts) == 1 else ""
        if not self._hosts.allow(host):
            return 421, "This server does not answer to that name. Use --allow-host to add it."
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > MAX_URL_BYTES:
            return 414, "The address is too long."
        length = headers.get(b"content-length", [b"0"])[0]
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            return 413, "The request is too large."
        if scope["method"] not in {"GET", "HEAD"} and not _same_origin(headers, host):
            return 403, "The request comes from another site."
        return None


def _same_origin(headers: dict[bytes, list[bytes]], host: str) -> bool:
    """Say whether a form was sent by a page of ours, as far as the browser tells."""
    site = headers.get(b"sec-fetch-site", [b"same-origin"])[0]
    if site not in {b"same-origin", b"none"}:
        return False
    origins = headers.get(b"origin", [])
    return all(urlsplit(o.decode("latin-1")).netloc.lower() == host.lower() for o in origins)


async def _refuse(send: Send, status: int, why: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": why.encode()})
