"""What Ctrl-C does while models are asked: once to end well, twice to end now."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

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
    before = signal.getsignal(signal.SIGINT)
    main = asyncio.current_task()
    in_main_thread = threading.current_thread() is threading.main_thread()
    if main is None or not in_main_thread or not callable(before):
        yield
        return
    loop = asyncio.get_running_loop()
    n_interrupts = 0

    def stop() -> None:
        n_calls = pace.stop(then=lambda: loop.call_later(_STORING_SECONDS, main.cancel))
        if n_calls:
            calls = "the call" if n_calls == 1 else f"the {n_calls} calls"
            tell(f"stopping once {calls} under way have been answered; interrupt again to stop now")

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
