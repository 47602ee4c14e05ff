"""Check the bodies of replies with status 200: a reply, an error, or neither.

Gateways send status 200 before the model has answered, and can then report errors only in the body.
Such an error is mapped by its status in the body. A web page, an empty body and anything else that
is not a JSON object raise `NoReplyError`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fairjudge.backends.failures import failure_within
from fairjudge.backends.http import one_line
from fairjudge.backends.usage import read_usage
from fairjudge.errors import BackendError, NoReplyError, RefusedError, ServerError

_ERROR_FIELDS = ("message", "detail", "errors", "code", "error_code")
"""Fields of an error instead of a reply, besides a field ``error``."""


def read_json(content: bytes, *, server_name: str, charset: str | None = None) -> Any:
    """Return the JSON of a reply's body, with leading white space or byte order mark allowed.

    `charset` is that of the reply's headers, used if the body is not UTF-8.
    """
    try:
        return json.loads(content)
    except UnicodeDecodeError:
        text = content.decode(charset or "latin-1", "replace")
    except (ValueError, RecursionError):
        text = content.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        reply = _assemble_events(text)
        if reply is not None:
            return reply
        excerpt = one_line(text, limit=80)
        problem = f"no JSON: {excerpt!r}" if excerpt else "an empty body"
        raise NoReplyError(f"{server_name} answered 200 with {problem}") from None


def check_reply(reply: Any, *fields: str, server_name: str) -> Mapping[str, Any]:
    """Return `reply` if it has an answer in one of `fields`; else raise its error.

    An answer that is null or an empty list without an explanation is a server error.
    """
    body = next(iter(reply), None) if isinstance(reply, list) else reply
    if not isinstance(body, Mapping):
        raise NoReplyError(f"{server_name} answered 200 with {one_line(reply, limit=80)!r}")
    error = _error_within(body, fields, server_name=server_name)
    if error is not None:
        raise error.with_usage(read_usage(body["usage"]) if body.get("usage") else None)
    return body


def _error_within(
    body: Mapping[str, Any], fields: tuple[str, ...], *, server_name: str
) -> BackendError | None:
    if body.get("error") or body.get("type") == "error":
        return failure_within(body, server_name=server_name)
    if any(body.get(name) for name in fields):
        return None
    feedback = body.get("promptFeedback") or body.get("prompt_feedback") or {}
    reason = feedback.get("blockReason") if isinstance(feedback, Mapping) else None
    if reason or body.get("input_sensitive") or body.get("output_sensitive"):
        return RefusedError(
            f"{server_name} declined the prompt ({one_line(reason or 'sensitive')})"
        )
    status = body.get("base_resp")
    has_failed = isinstance(status, Mapping) and bool(status.get("status_code"))  # MiniMax
    if has_failed or any(body.get(name) for name in _ERROR_FIELDS):
        return failure_within(body, server_name=server_name)
    if fields[0] in body:
        return ServerError(f"{server_name} answered 200 with no {fields[0]!r} in the reply")
    names = ", ".join(sorted(map(str, body))[:8]) or "nothing"
    return NoReplyError(
        f"{server_name} answered 200 without {fields[0]!r}; its fields: {one_line(names)}"
    )


def first_choice(reply: Mapping[str, Any], *, server_name: str) -> Mapping[str, Any]:
    """Return the choice of index 0 of a chat completion, or raise its error."""
    choices = [choice for choice in reply["choices"] if isinstance(choice, Mapping)]
    first_choices = (choice for choice in choices if choice.get("index") == 0)
    choice = next(first_choices, choices[0] if choices else None)
    if choice is None:
        raise ServerError(f"{server_name} answered 200 with no choice in the reply")
    provider_fields = choice.get("provider_specific_fields") or {}  # of litellm
    error = choice.get("error") or provider_fields.get("error")
    if error:
        usage = read_usage(reply["usage"]) if reply.get("usage") else None
        raise failure_within({"error": error}, server_name=server_name).with_usage(usage)
    return choice


def native_finish_reason(choice: Mapping[str, Any]) -> Any:
    """Return the finish reason of a choice, or the server's original if litellm replaced it."""
    provider_fields = choice.get("provider_specific_fields") or {}
    return provider_fields.get("native_finish_reason") or choice.get("finish_reason")


_EVENT_MARK = "data:"


def _assemble_events(text: str) -> Mapping[str, Any] | None:
    """Return the chat completion assembled from the events in `text`, or None without events.

    Some servers stream although not requested: they send events of the chat completions format,
    lines ``data: {...}`` with pieces of the text, until ``data: [DONE]``. An event with an error is
    returned instead of a reply. An interrupted stream has no finish reason.
    """
    if not text.lstrip().startswith((_EVENT_MARK, "event:", ":")):
        return None
    reply: dict[str, Any] = {}
    pieces: list[str] = []
    reason = None
    events = list(_events(text))
    for event in events:
        if event.get("error"):
            return event
        reply |= {name: event[name] for name in ("id", "model", "usage") if event.get(name)}
        for choice in event.get("choices") or ():
            if choice.get("index") not in (0, None):
                continue
            piece = choice.get("delta") or choice.get("message") or {}
            pieces.append(piece.get("content") or "")
            reason = choice.get("finish_reason") or reason
    if not events:
        return None
    message = {"role": "assistant", "content": "".join(pieces)}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**reply, "choices": [choice] if any(pieces) or reason else []}


def _events(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.split("\n"):  # not splitlines(): replies may contain U+2028
        if not line.startswith(_EVENT_MARK):
            continue
        try:
            event = json.loads(line.removeprefix(_EVENT_MARK))
        except (ValueError, RecursionError):  # [DONE], or an incomplete event
            continue
        if isinstance(event, Mapping):
            yield event
