"""Errors of OpenAI's and Anthropic's clients in our words: both are generated from one template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairjudge.backends.http import error_for_status, one_line
from fairjudge.backends.posting import BrokenOffError, StatusError
from fairjudge.errors import (
    BackendError,
    ConnectionFailedError,
    MalformedReplyError,
    RequestTimeoutError,
)

# What clients raise, beside their own, on bodies that are not what the format promises.
_NOT_AS_PROMISED = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)


def map_sdk_error(error: Exception, *, sdk: Any, where: str, secrets: tuple[str, ...]) -> Exception:
    """Return the error of ours for what a client raised; one that is ours already stays.

    `sdk` is ``openai`` or ``anthropic``, `where` the server. Some servers repeat the keys that they
    were sent: `secrets` are taken out.
    """
    ours = next((one for one in _causes(error) if isinstance(one, BackendError)), None)
    if ours is not None:
        return _without(secrets, ours)
    if isinstance(error, (sdk.APIStatusError, StatusError)):
        said = one_line(said_by_server(error), secrets=secrets)
        headers: Mapping[str, str] = error.response.headers
        return error_for_status(error.status_code, said, where=where, headers=headers)
    if isinstance(error, (TimeoutError, sdk.APITimeoutError)):
        return RequestTimeoutError(f"{where} sent no reply in time")
    if isinstance(error, (BrokenOffError, sdk.APIConnectionError)):
        return _broken_off(error, where=where, secrets=secrets)
    if isinstance(error, (sdk.APIResponseValidationError, *_NOT_AS_PROMISED)):
        return MalformedReplyError(
            f"{where} sent a reply that is not of its format: {one_line(error, secrets=secrets)}"
        )
    known = isinstance(error, sdk.APIError)
    return BackendError(f"{where}: {one_line(error, secrets=secrets)}") if known else error


def _broken_off(error: Exception, *, where: str, secrets: tuple[str, ...]) -> ConnectionFailedError:
    unsent = any(isinstance(one, BrokenOffError) and one.unsent for one in _causes(error))
    cause = one_line(list(_causes(error, handled=True))[-1], secrets=secrets)
    return ConnectionFailedError(f"cannot reach {where}, or it broke off: {cause}", unsent=unsent)


def _without(secrets: tuple[str, ...], error: BackendError) -> BackendError:
    """Take keys out of an error of ours: a refusal may repeat what a server was sent."""
    said = str(error)
    if not any(secret and secret in said for secret in secrets):
        return error
    clean = type(error)(one_line(said, secrets=secrets))
    clean.usage = error.usage
    return clean


def said_by_server(error: Any) -> str:
    """Return the message and the code in the body of a client's status error."""
    body = getattr(error, "body", None)
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    if not isinstance(body, Mapping):
        return str(getattr(error, "message", error))
    parts = (body.get("message") or body.get("detail") or body, body.get("code"), body.get("type"))
    return " ".join(str(part) for part in parts if part)


def _causes(error: BaseException, *, handled: bool = False) -> Iterator[BaseException]:
    """Yield `error` and what it was made of; where `handled`, what was being handled too."""
    following: BaseException | None = error
    while following is not None:
        yield following
        following = following.__cause__ or (following.__context__ if handled else None)
