"""Handle Ctrl-C during model calls: the first lets open calls finish, the second cancels them.

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
"""Time for the last replies to be recorded by the run if the cache cannot be written."""


@contextmanager
def drain_on_interrupt(limiter: AdaptiveLimiter, *, note: Callable[[str], None]) -> Iterator[None]:
    """Let open calls finish before an interrupt ends the block.

    After the first interrupt no more calls begin, and the open ones, which are already paid for,
    finish and are stored. The second cancels them; the third raises KeyboardInterrupt at once.
    `note` is called with a message. Only the main thread receives interrupts; in other threads, and
    if signals are ignored, nothing changes.
    """
    old_handlers = _handlers_to_replace()
    main = asyncio.current_task()
    if main is None or not old_handlers:
        yield
        return
    loop = asyncio.get_running_loop()
    n_interrupts = 0

    def stop() -> None:
        n_calls = limiter.stop(on_idle=lambda: loop.call_later(_STORING_SECONDS, main.cancel))
        if n_calls:
            calls = "the open call is" if n_calls == 1 else f"the {n_calls} open calls are"
            note(f"stopping when {calls} answered; interrupt again to stop now")

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        nonlocal n_interrupts
        if number != signal.SIGINT and n_interrupts:
            return  # closing terminals and supervisors send a signal several times
        n_interrupts += 1
        if n_interrupts > 2:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(stop if n_interrupts == 1 else main.cancel)

    _set_handlers(dict.fromkeys(old_handlers, handle))
    try:
        yield
    except asyncio.CancelledError:
        if n_interrupts:
            raise KeyboardInterrupt from None
        raise
    finally:
        _set_handlers(old_handlers)


@contextmanager
def drain_on_error(
    limiter: AdaptiveLimiter, *, warn: Callable[[str], None]
) -> Iterator[Callable[[CacheError], None]]:
    """Yield a function to call with an error; after it, no more calls begin.

    Open calls finish, and are stored if possible; then the block raises the first error. If the
    block ends before that, `warn` is called with the error's text.
    """
    main, loop = asyncio.current_task(), asyncio.get_running_loop()
    errors: list[CacheError] = []
    timers: list[asyncio.TimerHandle] = []

    def end() -> None:
        if main is not None and not timers:
            timers.append(loop.call_later(_RECORDING_SECONDS, main.cancel))

    def fail(error: CacheError) -> None:
        errors.append(error)
        if len(errors) == 1:
            limiter.stop(on_idle=end)

    try:
        yield fail
    except asyncio.CancelledError:
        if errors and timers:
            raise errors[0] from None
        raise
    finally:
        for timer in timers:
            timer.cancel()
    if errors:
        warn(str(errors[0]))


@contextmanager
def stop_on_interrupt() -> Iterator[None]:
    """Let the first interrupt end the block, even inside `drain_on_interrupt`.

    For a block in the main thread that waits without yielding to the event loop.
    """
    old_handlers = _handlers_to_replace()
    _set_handlers(dict.fromkeys(old_handlers, signal.default_int_handler))
    try:
        yield
    finally:
        _set_handlers(old_handlers)


def _handlers_to_replace() -> dict[signal.Signals, _Handler]:
    """Return the current handlers by signal; empty outside the main thread.

    Signals that are ignored, or that end the process at once, are omitted.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    return {number: handler for number, handler in handlers.items() if callable(handler)}


def _set_handlers(handlers: Mapping[signal.Signals, _Handler]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
