"""What Ctrl-C does while models are asked: once to end well, twice to end now."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from fairjudge.backends.pacing import Pace

_STORING_SECONDS = 0.05
"""Left for the last reply to be stored."""


@contextmanager
def answering_first(pace: Pace, *, tell: Callable[[str], None]) -> Iterator[None]:
    """Let the calls under way be answered and stored before an interrupt ends the block.

    The first interrupt begins no more calls and waits for those that are paid for already; the
    second ends them too; a third does not even wait for that. Only the main thread gets interrupts;
    elsewhere, and where they are ignored, nothing changes.

    Raises
    ------
    KeyboardInterrupt
        When interrupted.
    """
    before = _handler_to_replace()
    main = asyncio.current_task()
    if main is None or before is None:
        yield
        return
    loop = asyncio.get_running_loop()
    n_interrupts = 0

    def stop() -> None:
        n_calls = pace.stop(then=lambda: loop.call_later(_STORING_SECONDS, main.cancel))
        if n_calls:
            calls = "call under way has" if n_calls == 1 else f"{n_calls} calls under way have"
            tell(f"stopping once the {calls} been answered; interrupt again to stop now")

    def interrupted(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        nonlocal n_interrupts
        n_interrupts += 1
        if n_interrupts > 2:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(stop if n_interrupts == 1 else main.cancel)

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    except asyncio.CancelledError:
        if n_interrupts:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let the first interrupt end the block, also inside `answering_first`.

    For a block in the main thread that waits without giving the event loop its turn.

    Raises
    ------
    KeyboardInterrupt
        When interrupted.
    """
    before = _handler_to_replace()
    if before is None:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _handler_to_replace() -> Callable[[int, FrameType | None], Any] | None:
    """Return what handles interrupts; None where they are ignored or another thread gets them."""
    before = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    return before if in_main_thread and callable(before) else None
