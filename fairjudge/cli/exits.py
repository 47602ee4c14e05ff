"""Process exit: on signals, as on Ctrl-C, and on a broken pipe."""

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
BROKEN_PIPE = 141
_TERMINATION_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_REPEAT_SECONDS = 2.0
"""A second signal within this time is ignored: a closing terminal sends SIGHUP twice, and a
supervisor may send SIGTERM too."""


@contextmanager
def handle_exit() -> Iterator[None]:
    """Run the block and exit; its files are written even if standard output is a broken pipe.

    SIGTERM and SIGHUP act like Ctrl-C, unless they are ignored, as under nohup.

    Raises
    ------
    SystemExit
        With code 130 after an interrupt, and 141 after a broken pipe.
    """
    handlers = _install_handlers()
    streams = sys.stdout, sys.stderr
    sys.stdout, raw_stdout = _pipe_safe(sys.stdout)
    sys.stderr, _ = _pipe_safe(sys.stderr)
    code: Any = 0
    try:
        yield
    except KeyboardInterrupt:
        # All results are stored by now: exit at once on another interrupt, without the threads.
        for number in (signal.SIGINT, *_TERMINATION_SIGNALS):
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
    if raw_stdout is not None and raw_stdout.error is not None:
        code = code or _exit_code(raw_stdout.error)
    raise SystemExit(code)


def _exit_code(error: OSError) -> int:
    """Return the exit code after a failed write to standard output; report other errors."""
    if error.errno in (errno.EPIPE, errno.EIO):  # EIO: the terminal was closed
        return BROKEN_PIPE
    print(f"error: cannot write to standard output: {error.strerror}", file=sys.stderr)  # noqa: T201
    return 1


def _install_handlers() -> dict[signal.Signals, Any]:
    """Make termination signals raise an interrupt; return the handlers that were replaced."""
    handlers = {number: signal.getsignal(number) for number in _TERMINATION_SIGNALS}
    handlers = {n: handler for n, handler in handlers.items() if handler is signal.SIG_DFL}
    last_time = -_REPEAT_SECONDS

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last_time
        if time.monotonic() - last_time < _REPEAT_SECONDS:
            return
        last_time = time.monotonic()
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # ignored, as in a background process of a shell
            raise KeyboardInterrupt
        handler(number, frame)

    for number in handlers:
        signal.signal(number, interrupt)
    return handlers


class _PipeSafeFile(io.FileIO):
    """A file descriptor that discards all output after a failed write."""

    error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write `data`, or discard it after an error."""
        if self.error is None:
            try:
                return super().write(data) or 0
            except OSError as error:
                self.error = error
        return memoryview(data).nbytes


def _pipe_safe(stream: TextIO) -> tuple[TextIO, _PipeSafeFile | None]:
    """Return `stream` over a `_PipeSafeFile`; unchanged if it has no file descriptor."""
    try:
        stream.flush()
        raw = _PipeSafeFile(stream.fileno(), "wb", closefd=False)
    except (AttributeError, OSError, ValueError):
        return stream, None
    text = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=bool(stream.line_buffering) or stream is sys.__stderr__,
    )
    return text, raw
