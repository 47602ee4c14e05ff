"""ASGI middleware: checks of every request, and security headers of every response."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 32_768
MAX_URL_BYTES = 2_048
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

# No inline scripts or styles, no external resources, and no framing by other sites. Referrers are
# not sent to other sites; "no-referrer" would make browsers send forms with the Origin "null".
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
    """The host names that a request may use for this server, against DNS rebinding.

    An attacker's page can have its own name point to this machine, but it cannot change the Host
    that the browser then sends.
    """

    names: frozenset[str]
    addresses: bool

    @staticmethod
    def for_address(address: str, *, extra_names: Iterable[str] = ()) -> Hosts:
        """Return the allowed hosts of a server bound to `address`.

        On loopback, only its names. Elsewhere also any IP address (unlike a name, an address cannot
        be rebound), and on all addresses also this machine's host name.
        `extra_names` are further names that the user allows.
        """
        names = {name.lower() for name in extra_names}
        if is_everywhere(address):
            names.add(socket.gethostname().lower())
        return Hosts(names=LOOPBACK | {address.lower()} | names, addresses=not is_loopback(address))

    def allow(self, header: str) -> bool:
        """Whether a Host header is allowed, with any port (a tunnel may change it)."""
        try:
            name = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return False
        return name in self.names or (self.addresses and _is_address(name))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens at `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_everywhere(host: str) -> bool:
    """Whether a server at `host` listens on all addresses of this machine."""
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified


def external_host(host: str) -> str:
    """Return the host under which other machines reach a server that listens at `host`.

    For a server at all addresses it is the source address of this machine's default route, which
    is found without sending anything; without a network, the loopback address.
    """
    if not is_everywhere(host):
        return host
    is_v6 = ":" in host
    with socket.socket(socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("2001:db8::1" if is_v6 else "192.0.2.1", 9))
            address = str(probe.getsockname()[0])
        except OSError:
            return "::1" if is_v6 else "127.0.0.1"
    return address


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Rejects unknown hosts, foreign origins and large requests; adds `HEADERS` to responses."""

    def __init__(self, app: ASGIApp, *, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            status, reason = refusal
            await PlainTextResponse(reason, status)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        if not self._hosts.allow(host):
            return 421, "This server does not answer to that name. Use --allow-host to add it."
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > MAX_URL_BYTES:
            return 414, "The address is too long."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            return 413, "The request is too large."
        if scope["method"] not in {"GET", "HEAD"} and not _same_origin(headers, host):
            return 403, "The request comes from another site."
        return None


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether a form was sent by a page of this site, according to the browser's headers."""
    if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        return False
    return all(urlsplit(o).netloc.lower() == host.lower() for o in headers.getlist("origin"))
