"""OpenAI's batch files: the calls of a plan written out, and their results put into the cache."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.cache.files import AnyCache
from fairjudge.errors import BackendError, ConfigurationError, InputError
from fairjudge.files import read_file
from fairjudge.ports import CompletionRequest, DecisionRequest
from fairjudge.records.folder import write_output


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchImport:
    """What a results file held: replies now in the cache, and lines without one, with the why."""

    n_stored: int
    failed: tuple[tuple[str, str], ...]


def write_batch(path: Path, requests: Mapping[str, CompletionRequest | DecisionRequest]) -> None:
    """Write one line a request, as it is sent, each named by its cache key."""
    from fairjudge.backends.chat_wire import chat_body

    for request in requests.values():
        if isinstance(request, DecisionRequest) or request.target.provider != "openai":
            raise ConfigurationError(
                f"a batch file is for openai: models, not for {request.target}"
            )
    lines = [
        json.dumps(
            {
                "custom_id": key,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": chat_body(request),
            },
            ensure_ascii=False,
        )
        for key, request in requests.items()
        if isinstance(request, CompletionRequest)
    ]
    write_output(path, "".join(line + "\n" for line in lines))


def import_batch(path: Path, *, cache: AnyCache) -> BatchImport:
    """Put the replies of a results file into `cache`; the planned command then finds them there."""
    try:
        text = read_file(path).decode("utf-8")
    except UnicodeDecodeError as error:
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
            why = _store(key, row, cache)
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


def _store(key: str, row: dict[str, Any], cache: AnyCache) -> str | None:
    """Put the reply of this line into `cache`, or say why it holds none."""
    from fairjudge.backends.caching import is_kept
    from fairjudge.backends.chat_wire import read_chat
    from fairjudge.backends.failures import failure

    if row.get("error"):
        return str(row["error"].get("message", row["error"]))
    status, body = row["response"]["status_code"], row["response"]["body"]
    if status != 200:
        return str(failure(status, body, where="the batch"))
    try:
        reply = read_chat(body, stop=(), where="the batch")
    except BackendError as error:
        return str(error)
    if not is_kept(reply):
        return "the reply was broken off"
    written = reply.model_dump(mode="json", exclude_defaults=True)
    cache.put(key, {"model": f"openai:{body.get('model')}", "reply": written})
    return None
