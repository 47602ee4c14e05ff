"""OpenAI's batch files: the calls of a plan written out, and their results put into the cache."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.backends.keys import request_key
from fairjudge.cache_files import AnyCache
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.protocols import Completion, CompletionRequest, DecisionRequest, Usage
from fairjudge.records import write_atomically


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchImport:
    """What a results file held: replies now in the cache, and lines without one, with the why."""

    n_stored: int
    failed: tuple[tuple[str, str], ...]


def write_batch(path: Path, requests: Sequence[CompletionRequest | DecisionRequest]) -> None:
    """Write one line a request, each named by its cache key.

    Raises
    ------
    ConfigurationError
        For requests that are not to OpenAI's chat completions.
    """
    for request in requests:
        if isinstance(request, DecisionRequest) or request.target.provider != "openai":
            raise ConfigurationError(
                f"a batch file is for openai: models, not for {request.target}"
            )
    lines = [
        json.dumps(
            {
                "custom_id": request_key(request),
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": _body(request),
            },
            ensure_ascii=False,
        )
        for request in requests
        if isinstance(request, CompletionRequest)
    ]
    try:
        write_atomically(path, "".join(line + "\n" for line in lines))
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=path) from None


def _body(request: CompletionRequest) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.target.model,
        "messages": [message.model_dump() for message in request.messages],
        "temperature": request.temperature,
        "max_completion_tokens": request.max_output_tokens,
    }
    if request.seed is not None:
        body["seed"] = request.seed + request.sample_index
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.stop:
        body["stop"] = list(request.stop)
    if request.top_logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.response_schema is not None:
        schema = {"name": "reply", "schema": dict(request.response_schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def import_batch(path: Path, *, cache: AnyCache) -> BatchImport:
    """Put the replies of a results file into `cache`; the planned command then finds them there.

    Raises
    ------
    InputError
        If a line is not of the format; file and line are named.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read: {error}", path=path) from None
    n_stored = 0
    failed: list[tuple[str, str]] = []
    # Not splitlines(): replies may hold U+2028 and its like.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            key = str(row["custom_id"])
            why = _why_failed(row)
            if why is None:
                cache.put(key, _entry(row["response"]["body"]))
        except (
            ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError
        ) as error:  # fmt: skip
            problem = f"not a line of a batch's results: {error!r}"
            raise InputError(problem, path=path, line=number) from None
        if why is None:
            n_stored += 1
        else:
            failed.append((key, why))
    return BatchImport(n_stored=n_stored, failed=tuple(failed))


def _why_failed(row: dict[str, Any]) -> str | None:
    """Say why this line holds no reply to keep, or return None."""
    if row.get("error"):
        return str(row["error"].get("message", row["error"]))
    if row["response"]["status_code"] != 200:
        return f"status {row['response']['status_code']}"
    choice = row["response"]["body"]["choices"][0]
    if choice["message"].get("refusal"):
        return f"refused: {choice['message']['refusal']}"
    if choice.get("finish_reason") == "content_filter":
        return "refused by the content filter"
    return None if (choice["message"].get("content") or "").strip() else "an empty reply"


def _entry(body: dict[str, Any]) -> dict[str, Any]:
    from fairjudge.backends.chat_wire import read_logprobs

    choice, usage = body["choices"][0], body.get("usage") or {}
    reply = Completion(
        text=choice["message"]["content"],
        finish_reason="length" if choice.get("finish_reason") == "length" else "stop",
        usage=Usage(
            input_tokens=usage.get("prompt_tokens"), output_tokens=usage.get("completion_tokens")
        ),
        served_model=body.get("model"),
        tokens=read_logprobs(choice.get("logprobs")),
    )
    return {
        "model": f"openai:{body.get('model')}",
        "reply": reply.model_dump(mode="json", exclude_defaults=True),
    }
