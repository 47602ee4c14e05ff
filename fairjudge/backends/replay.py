"""A backend that answers from a recording, without a server and a key."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS
from fairjudge.backends.keys import prompt_key, request_key
from fairjudge.backends.ports import AnyRequest, Warn
from fairjudge.errors import (
    BackendError,
    EmptyReplyError,
    InputError,
    RefusedError,
    ReplayMissError,
)
from fairjudge.files import GZIP_MAGIC, read_file, unpack
from fairjudge.ports import Completion, CompletionRequest, DecisionRequest, Decisions, ModelRef

Answer = Completion | Decisions | BackendError
ReplyT = TypeVar("ReplyT", Completion, Decisions)

_ERRORS: Mapping[str, type[BackendError]] = {
    "RefusedError": RefusedError,
    "EmptyReplyError": EmptyReplyError,
}


class ReplayBackend:
    """A backend that returns the replies of a recording, which has one exchange per line.

    A line is ``{"request", "reply"}``, both as JSON of `fairjudge.ports`, or ``{"request",
    "error", "message"}`` with the name of the error for a refusal or an empty reply.
    A request is looked up by its key, or else by its prompt and parameters for any model; if
    several models were recorded with that prompt, only the exact request is answered. If a request
    was recorded twice, the later reply is returned.

    The model of ``target`` is the path of the recording (JSONL, ``.gz`` too); see `read_recording`.
    """

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,  # noqa: ARG002
        warn: Warn | None = None,
    ) -> None:
        self.target = target
        self._by_key: dict[str, Answer] = {}
        self._by_prompt: dict[str, dict[str, Answer]] = {}
        for request, answer in read_recording(target.model, warn=warn):
            self._by_key[request_key(request)] = answer
            self._by_prompt.setdefault(prompt_key(request), {})[str(request.target)] = answer

    async def complete(self, request: CompletionRequest) -> Completion:
        """Return the recorded reply, or raise `ReplayMissError`."""
        return self._find(request, Completion)

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Return the recorded decisions, or raise `ReplayMissError`."""
        return self._find(request, Decisions)

    def _find(self, request: AnyRequest, kind: type[ReplyT]) -> ReplyT:
        answer = self._by_key.get(request_key(request))
        if answer is None:
            answers = self._by_prompt.get(prompt_key(request), {})
            if len(answers) > 1:
                raise ReplayMissError(
                    f"{self.target.model} contains replies of several models to this prompt "
                    f"({', '.join(sorted(answers))}); use a recording of one model"
                )
            answer = next(iter(answers.values()), None)
        if isinstance(answer, BackendError):
            # A new exception, since one raised twice would accumulate tracebacks.
            raise type(answer)(str(answer))
        if not isinstance(answer, kind):
            raise ReplayMissError(f"{self.target.model} contains no reply to this request")
        return answer


def read_recording(
    path: str | Path, *, warn: Warn | None = None
) -> Iterator[tuple[AnyRequest, Answer]]:
    """Yield each request of a recording with its reply or error, in order.

    An unreadable file and an invalid line raise `InputError`; for a truncated last line `warn` is
    called instead.
    """
    lines = _lines(path)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _exchange(json.loads(line))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            if number == len(lines) and not line.endswith("\n"):
                if warn is not None:
                    warn(f"{path}: the last line is incomplete and is skipped")
                return
            raise InputError(_problem(error), path=path, line=number) from None


def _lines(path: str | Path) -> list[str]:
    try:
        data = read_file(Path(path))
        if data.startswith(GZIP_MAGIC):
            data = unpack(data, path=path)
        # Not splitlines(): replies may contain U+2028 and similar characters, unescaped in JSON.
        return list(io.StringIO(data.decode("utf-8-sig"), newline="\n"))
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read this recording: {error}", path=path) from error


def _exchange(line: Mapping[str, Any]) -> tuple[AnyRequest, Answer]:
    decides = "questions" in line["request"]
    kind: type[AnyRequest] = DecisionRequest if decides else CompletionRequest
    request = kind.model_validate(line["request"])
    if "error" in line:
        return request, _ERRORS[line["error"]](line["message"])
    reply = line["reply"]
    answer = Decisions.model_validate(reply) if decides else Completion.model_validate(reply)
    return request, answer


def _problem(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"not a recorded exchange: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(error, KeyError):
        return f"not a recorded exchange: {error} is missing or unknown"
    return f"not a recorded exchange: {error}"
