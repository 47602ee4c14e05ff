"""Helpers for all clients of servers: URLs, keys, one-line messages."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from fairjudge.backends.guarding import contains_key
from fairjudge.errors import ConfigurationError
from fairjudge.ports import ModelRef

DEFAULT_TIMEOUT_SECONDS = 300.0
CONNECT_TIMEOUT_SECONDS = 10.0
DEFAULT_MAX_WAIT_SECONDS = 120.0
"""Default maximum wait at the request of a server."""
_NAMED_KEY = re.compile(
    r"(?:^|[/;,])(?:[a-z_-]*key|(?:[a-z]+[_-])?token|secret|password)[=:][^/;,]{8,}", re.IGNORECASE
)
"""A named key in a URL path, as required by some gateways."""
PLACEHOLDER_KEY = "no-key"
"""The key sent to servers without keys, since the SDKs require one."""


def check_base_url(base_url: str) -> str:
    """Return `base_url` without trailing slashes, or raise `ConfigurationError`."""
    try:
        parts = urlsplit(base_url)
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # invalid IPv6 brackets or port
        is_usable = False
    if not is_usable or not base_url.isprintable() or " " in base_url:
        # The part before an @ and a query may be a secret, even in an invalid URL.
        shown_url = "this" if re.search(r"[@?#]", base_url) else repr(base_url)
        raise ConfigurationError(
            f"{shown_url} is not a base URL; expected something like 'http://localhost:8000/v1'"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigurationError(
            "a base URL must not contain a user name, password, query or fragment, because it is "
            "written to records; put the key into the provider's environment variable"
        )
    if contains_key(unquote(base_url)) or _NAMED_KEY.search(unquote(parts.path)):
        raise ConfigurationError(
            "a base URL must not contain a key, because it is written to records; put the key into "
            "the provider's environment variable"
        )
    return base_url.rstrip("/")


def is_loopback(base_url: str) -> bool:
    """Return whether `base_url` is on this machine."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def api_key(variable: str, target: ModelRef) -> str:
    """Return the key in the environment variable `variable`.

    A server with a base URL may not need a key: a placeholder is returned. For the provider's own
    server, a missing key raises `ConfigurationError`.
    """
    key = os.environ.get(variable, "").strip()
    if key:
        return key
    if target.base_url is not None:
        return PLACEHOLDER_KEY
    raise ConfigurationError(
        f"{target} needs a key: set the environment variable {variable}, "
        "or use another server with --base-url"
    )


def one_line(text: object, *, secrets: Iterable[str] = (), limit: int = 300) -> str:
    """Return `text` as one line of at most `limit` characters, `secrets` replaced by ``[key]``."""
    line = " ".join(str(text).split())
    for secret in secrets:
        if secret and secret != PLACEHOLDER_KEY:
            line = line.replace(secret, "[key]")
    return line if len(line) <= limit else line[: limit - 3] + "..."
