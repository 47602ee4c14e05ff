"""How the process ends: on a signal as on Ctrl-C, and after its output's reader has gone."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TextIO

INTERRUPTED = 130
READER_GONE = 141
_TERMINATING = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_REPEATED_SECONDS = 2.0
"""Within this time a second such signal says the same: a closing terminal sends SIGHUP twice, a
supervisor SIGTERM with it."""


@contextmanager
def ending() -> Iterator[None]:
    """Run a command; its files are written even if the reader of its output has gone.

    SIGTERM and SIGHUP do what Ctrl-C does, unless they are ignored as under nohup.

    Raises
    ------
    SystemExit
        With 130 after an interrupt, with 141 where the reader of the output went away.
    """
    handlers = _take_signals()
    streams = sys.stdout, sys.stderr
    sys.stdout, out = _lasting(sys.stdout)
    sys.stderr, _ = _lasting(sys.stderr)
    code: Any = 0
    try:
        yield
    except KeyboardInterrupt:
        # What is done is kept by now. Who interrupts again does not want to wait for threads.
        for number in (signal.SIGINT, *_TERMINATING):
            signal.signal(number, lambda *_: os._exit(INTERRUPTED))
        handlers.clear()
        sentence = "interrupted; finished work is kept; run the same command to resume"
        print(sentence, file=sys.stderr)  # noqa: T201
        code = INTERRUPTED
    except SystemExit as error:
        code = error.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = streams
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if out is not None and out.failed is not None:
        code = code or _code_for(out.failed)
    raise SystemExit(code)


def _code_for(failed: OSError) -> int:
    """Return the exit code for output that could not be written; say so where it is news."""
    if failed.errno in (errno.EPIPE, errno.EIO):  # EIO: a terminal that was closed
        return READER_GONE
    print(f"error: cannot write to standard output: {failed.strerror}", file=sys.stderr)  # noqa: T201
    return 1


def _take_signals() -> dict[signal.Signals, Any]:
    """Let the signals that end processes interrupt; return what handled them before."""
    before = {number: signal.getsignal(number) for number in _TERMINATING}
    before = {number: by for number, by in before.items() if by is signal.SIG_DFL}
    last = -_REPEATED_SECONDS

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        if time.monotonic() - last < _REPEATED_SECONDS:
            return
        last = time.monotonic()
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # ignored, as in what a shell began in the background
            raise KeyboardInterrupt
        handler(number, frame)

    for number in before:
        signal.signal(number, interrupt)
    return before


class _Lasting(io.FileIO):
    """A descriptor that discards all output after its reader has closed the pipe."""

    failed: OSError | None = None

    def write(self, data: Any) -> int:
        """Write `data`."""
        if self.failed is None:
            try:
                return super().write(data) or 0
            except OSError as error:
                self.failed = error
        return memoryview(data).nbytes


def _lasting(stream: TextIO) -> tuple[TextIO, _Lasting | None]:
    """Return `stream` over a `_Lasting` descriptor; unchanged if it has no descriptor."""
    try:
        stream.flush()
        raw = _Lasting(stream.fileno(), "wb", closefd=False)
    except (AttributeError, OSError, ValueError):
        return stream, None
    text = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=bool(stream.line_buffering) or stream is sys.__stderr__,
    )
    return text, raw
