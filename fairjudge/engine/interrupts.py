"""What Ctrl-C does while models are asked: once to end well, twice to end now.

SIGTERM and SIGHUP do what one Ctrl-C does.
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
"""Left for the last reply to be stored."""
_RECORDING_SECONDS = 0.5
"""Left for the last replies to be recorded by the run, where the cache cannot have them."""


@contextmanager
def answering_first(limiter: AdaptiveLimiter, *, tell: Callable[[str], None]) -> Iterator[None]:
    """Let the calls under way be answered and stored before an interrupt ends the block.

    The first interrupt begins no more calls and waits for those that are paid for already; the
    second ends them too; a third does not even wait for that. Only the main thread gets interrupts;
    elsewhere, and where they are ignored, nothing changes.
    """
    before = _handlers_to_replace()
    main = asyncio.current_task()
    if main is None or not before:
        yield
        return
    loop = asyncio.get_running_loop()
    n_interrupts = 0

    def stop() -> None:
        n_calls = limiter.stop(then=lambda: loop.call_later(_STORING_SECONDS, main.cancel))
        if n_calls:
            calls = "call under way has" if n_calls == 1 else f"{n_calls} calls under way have"
            tell(f"stopping once the {calls} been answered; interrupt again to stop now")

    def interrupted(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        nonlocal n_interrupts
        if number != signal.SIGINT and n_interrupts:
            return  # a closing terminal and a supervisor say it more than once
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
def ending_well(
    limiter: AdaptiveLimiter, *, warn: Callable[[str], None]
) -> Iterator[Callable[[CacheError], None]]:
    """Yield what to call with an error after which no more calls are to begin.

    Those under way are answered, and stored where that can be; then the block is ended by the first
    error. Where it had ended by itself by then, `warn` is told of that error.
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
            limiter.stop(then=end)

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
def ending_at_once() -> Iterator[None]:
    """Let the first interrupt end the block, also inside `answering_first`.

    For a block in the main thread that waits without giving the event loop its turn.
    """
    before = _handlers_to_replace()
    _set(dict.fromkeys(before, signal.default_int_handler))
    try:
        yield
    finally:
        _set(before)


def _handlers_to_replace() -> dict[signal.Signals, _Handler]:
    """Return what handles interrupts, by signal: nothing where another thread gets them.

    Those that are ignored, or end the process at once, are left as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    found = {number: signal.getsignal(number) for number in _SIGNALS}
    return {number: handler for number, handler in found.items() if callable(handler)}


def _set(handlers: Mapping[signal.Signals, _Handler]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
