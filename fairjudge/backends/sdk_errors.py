"""Errors of OpenAI's and Anthropic's clients in our words: both are generated from one template."""

from __future__ import annotations

from collections.abc import Mapping
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

    Parameters
    ----------
    error : Exception
        What was raised.
    sdk : module
        ``openai`` or ``anthropic``.
    where : str
        The server's base URL.
    secrets : tuple of str
        Keys, which some servers repeat in their messages; they are taken out.
    """
    if isinstance(error, (sdk.APIStatusError, StatusError)):
        said = one_line(said_by_server(error), secrets=secrets)
        headers: Mapping[str, str] = error.response.headers
        return error_for_status(error.status_code, said, where=where, headers=headers)
    if isinstance(error, (TimeoutError, BrokenOffError, sdk.APIConnectionError)):
        if isinstance(error, (TimeoutError, sdk.APITimeoutError)):
            return RequestTimeoutError(f"{where} sent no reply in time")
        cause = one_line(_innermost(error), secrets=secrets)
        return ConnectionFailedError(f"cannot reach {where}, or it broke off: {cause}")
    if isinstance(error, (sdk.APIResponseValidationError, *_NOT_AS_PROMISED)):
        return MalformedReplyError(
            f"{where} sent a reply that is not of its format: {one_line(error, secrets=secrets)}"
        )
    if isinstance(error, sdk.APIError):
        return BackendError(f"{where}: {one_line(error, secrets=secrets)}")
    return _without(secrets, error)


def _without(secrets: tuple[str, ...], error: Exception) -> Exception:
    """Take keys out of an error of ours: a refusal may repeat what a server was sent."""
    said = str(error)
    if isinstance(error, BackendError) and any(secret and secret in said for secret in secrets):
        return type(error)(one_line(said, secrets=secrets))
    return error


def said_by_server(error: Any) -> str:
    """Return the message and the code in the body of a client's status error."""
    body = getattr(error, "body", None)
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    if not isinstance(body, Mapping):
        return str(getattr(error, "message", error))
    parts = (body.get("message") or body.get("detail") or body, body.get("code"), body.get("type"))
    return " ".join(str(part) for part in parts if part)


def _innermost(error: BaseException) -> BaseException:
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__ or error
    return error
