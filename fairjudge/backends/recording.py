"""Writes down every exchange, for `replay:` and for the eye."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from fairjudge.backends.keys import request_key
from fairjudge.backends.ports import AnyBackend, aclose, decision_port, text_port
from fairjudge.errors import EmptyReplyError, RefusedError, RunError
from fairjudge.protocols import Completion, CompletionRequest, DecisionRequest, Decisions

Request = TypeVar("Request", CompletionRequest, DecisionRequest)
Reply = TypeVar("Reply", Completion, Decisions)

ANSWERS_WITHOUT_TEXT = (RefusedError, EmptyReplyError)
"""What a model said by saying nothing: recorded, unlike the troubles of servers and networks."""


class RecordingBackend:
    """Appends each exchange with `inner` to a JSONL file.

    A line is ``{"key", "request", "reply"}``, the usage in the reply, or ``{"key", "request",
    "error", "message"}`` for a refusal or an empty reply. It is one write, so a kill leaves at most
    the last line cut off, and writing goes on behind it. Requests carry no keys.

    Parameters
    ----------
    inner : Backend or DecisionBackend
        What to ask, the cache included: a recording without what was cached replays nothing.
    path : Path
        The file; made if absent, its folder too.

    Raises
    ------
    RunError
        When the file cannot be written.
    """

    def __init__(self, inner: AnyBackend, *, path: str | Path) -> None:
        self._inner = inner
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise RunError(f"cannot record to {self.path}: {error.strerror}") from error
        self._end_cut_line()

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request` and write it down."""
        return await self._record(request, text_port(self._inner))

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request` and write it down."""
        return await self._record(request, decision_port(self._inner))

    async def aclose(self) -> None:
        """Close the file and `inner`."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        await aclose(self._inner)

    async def _record(self, request: Request, ask: Callable[[Request], Awaitable[Reply]]) -> Reply:
        line: dict[str, Any] = {
            "key": request_key(request),
            "request": request.model_dump(mode="json", exclude_defaults=True),
        }
        try:
            reply = await ask(request)
        except ANSWERS_WITHOUT_TEXT as error:
            self._write({**line, "error": type(error).__name__, "message": str(error)})
            raise
        self._write({**line, "reply": reply.model_dump(mode="json", exclude_defaults=True)})
        return reply

    def _write(self, line: dict[str, Any]) -> None:
        data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
        try:
            os.write(self._file, data)
        except OSError as error:
            raise RunError(f"cannot record to {self.path}: {error.strerror}") from error

    def _end_cut_line(self) -> None:
        size = os.fstat(self._file).st_size
        if size:
            os.lseek(self._file, size - 1, os.SEEK_SET)
            if os.read(self._file, 1) != b"\n":
                os.write(self._file, b"\n")
