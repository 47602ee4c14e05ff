"""Handle Ctrl-C while models are called: once to finish the open calls, twice to stop now.

SIGTERM and SIGHUP act like one Ctrl-C.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeAlias

from fairjudge.backends.pacing import AdaptiveLimiter
from fairjudge.errors import CacheError

_Handler: TypeAlias = Callable[[int, FrameType | None], Any]
_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_STORING_SECONDS = 0.05
"""Time for the last reply to be stored in the cache."""
_RECORDING_SECONDS = 0.5
"""Time for the last replies to be recorded by the run, where the cache cannot be written."""


@contextmanager
def draining_on_interrupt(
    limiter: AdaptiveLimiter, *, tell: Callable[[str], None]
) -> Iterator[None]:
    """Let open calls be answered and stored before an interrupt ends the block.

    The first interrupt begins no more calls and waits for the open ones, which are paid for; the
    second cancels them; the third raises KeyboardInterrupt at once. Only the main thread gets
    interrupts; in other threads, and where signals are ignored, nothing changes.
    """
    before = _handlers_to_replace()
    main = asyncio.current_task()
    if main is None or not before:
        yield
        return
    loop = asyncio.get_running_loop()
    n_interrupts = 0

    def stop() -> None:
        n_calls = limiter.stop(on_idle=lambda: loop.call_later(_STORING_SECONDS, main.cancel))
        if n_calls:
            calls = "call under way has" if n_calls == 1 else f"{n_calls} calls under way have"
            tell(f"stopping once the {calls} been answered; interrupt again to stop now")

    def interrupted(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        nonlocal n_interrupts
        if number != signal.SIGINT and n_interrupts:
            return  # a closing terminal and a supervisor send it several times
        n_interrupts += 1
        if n_interrupts > 2:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(stop if n_interrupts == 1 else main.cancel)

    _set(dict.fromkeys(before, interrupted))
    try:
        yield
    except asyncio.CancelledError:
        if n_interrupts:
            raise KeyboardInterrupt from None
        raise
    finally:
        _set(before)


@contextmanager
def draining_on_error(
    limiter: AdaptiveLimiter, *, warn: Callable[[str], None]
) -> Iterator[Callable[[CacheError], None]]:
    """Yield a function that takes an error after which no call may begin.

    Open calls are answered, and stored where possible; then the block ends with the first error.
    If the block ended by itself before that, `warn` is called with the error's text.
    """
    main, loop = asyncio.current_task(), asyncio.get_running_loop()
    errors: list[CacheError] = []
    ending: list[asyncio.TimerHandle] = []

    def end() -> None:
        if main is not None and not ending:
            ending.append(loop.call_later(_RECORDING_SECONDS, main.cancel))

    def fail(error: CacheError) -> None:
        errors.append(error)
        if len(errors) == 1:
            limiter.stop(on_idle=end)

    try:
        yield fail
    except asyncio.CancelledError:
        if errors and ending:
            raise errors[0] from None
        raise
    finally:
        for handle in ending:
            handle.cancel()
    if errors:
        warn(str(errors[0]))


@contextmanager
def stopping_on_interrupt() -> Iterator[None]:
    """Let the first interrupt end the block, also inside `draining_on_interrupt`.

    For a block in the main thread that waits without yielding to the event loop.
    """
    before = _handlers_to_replace()
    _set(dict.fromkeys(before, signal.default_int_handler))
    try:
        yield
    finally:
        _set(before)


def _handlers_to_replace() -> dict[signal.Signals, _Handler]:
    """Return the current handlers by signal; empty outside the main thread.

    Signals that are ignored, or end the process at once, keep their handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    return {number: handler for number, handler in handlers.items() if callable(handler)}


def _set(handlers: Mapping[signal.Signals, _Handler]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
