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

    ``url`` has libpq's format, ``postgresql://user:password@host:port/database?sslmode=require``.
    It should not contain a password, since libpq reads PGPASSWORD and ``~/.pgpass``.
    ``display_name``, for messages and reports, consists of user, host, port and database. An
    invalid URL raises `ConfigurationError`, whose message omits it, since it may have a password.
    """

    url: str = field(repr=False)
    display_name: str = field(init=False)
    _secrets: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
        except ValueError:
            raise ConfigurationError(f"invalid --store; {_HINT}") from None
        if parts.scheme not in _SCHEMES:
            raise ConfigurationError(f"--store requires the URL of a PostgreSQL database; {_HINT}")
        credentials, at_sign, hosts = parts.netloc.rpartition("@")
        ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts.split(",")]
        # A password with unencoded / ? # or @ would end up in `display_name`.
        if "@" in parts.path + parts.query + parts.fragment or any(
            port and not port.isdigit() for port in ports
        ):
            raise ConfigurationError(
                f"invalid --store; {_HINT}, with special characters of user and "
                "password as %XX, such as %40 for @"
            )
        user, _, password = credentials.partition(":")
        address = f"postgresql://{user}{at_sign}{hosts}{parts.path}"
        object.__setattr__(self, "display_name", address)
        object.__setattr__(self, "_secrets", _secrets(password, parts.query))

    def __str__(self) -> str:
        return self.display_name

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
