"""The address of a shared store; its password never appears in messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from fairjudge.errors import ConfigurationError

_SCHEMES = ("postgresql", "postgres")
_SECRET_PARAMETERS = ("password", "sslpassword")
_HINT = "write it as postgresql://user@host:port/database"


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The address of a PostgreSQL database.

    ``url`` is as libpq takes it: ``postgresql://user:password@host:port/database?sslmode=require``.
    Better without a password: libpq reads PGPASSWORD and ``~/.pgpass``. ``shown`` has user, host,
    port and database only, for messages and reports. An invalid URL raises `ConfigurationError`,
    whose message does not repeat it, since it may hold a password.
    """

    url: str = field(repr=False)
    shown: str = field(init=False)
    _secrets: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
        except ValueError:
            raise ConfigurationError(f"this --store cannot be read; {_HINT}") from None
        if parts.scheme not in _SCHEMES:
            raise ConfigurationError(f"--store takes the URL of a PostgreSQL database; {_HINT}")
        user_part, at, place = parts.netloc.rpartition("@")
        ports = [host.rpartition("]")[2].partition(":")[2] for host in place.split(",")]
        # A password with unencoded / ? # or @ would end up in `shown`.
        if "@" in parts.path + parts.query + parts.fragment or any(
            port and not port.isdigit() for port in ports
        ):
            raise ConfigurationError(
                f"this --store cannot be read; {_HINT}, with special characters of user and "
                "password as %XX, such as %40 for @"
            )
        user, _, password = user_part.partition(":")
        address = f"postgresql://{user}{at}{place}{parts.path}"
        object.__setattr__(self, "shown", address)
        object.__setattr__(self, "_secrets", _secrets(password, parts.query))

    def __str__(self) -> str:
        return self.shown

    def without_secrets(self, text: object) -> str:
        """Return `text` on one line, with every password replaced by ``***``."""
        message = str(text)
        for secret in (self.url, *self._secrets):
            message = message.replace(secret, "***")
        return " ".join(message.split())


def _secrets(password: str, query: str) -> tuple[str, ...]:
    """Return the passwords of a URL, as written and decoded, the longest first."""
    parameters = parse_qs(query)
    passwords = {password, unquote(password)}
    for name in _SECRET_PARAMETERS:
        passwords.update(parameters.get(name, ()))
    return tuple(sorted(filter(None, passwords), key=len, reverse=True))
