"""Run a coroutine from synchronous code, even inside a running event loop (of a notebook)."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` like `asyncio.run`, in a thread if a loop is already running; return its result.

    A KeyboardInterrupt cancels `work` and waits until it ends before it is raised.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    loop_and_task: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = Future()

    async def cancellable() -> T:
        task = asyncio.ensure_future(work)
        loop_and_task.set_result((asyncio.get_running_loop(), task))
        return await task

    result: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            result.set_result(context.run(asyncio.run, cancellable()))
        except BaseException as error:  # raised by `result.result()`
            result.set_exception(error)

    # No thread pool: an interrupt while it starts its thread would leave that thread unjoined.
    thread = threading.Thread(target=run, name="fairjudge")
    try:
        thread.start()
        return result.result()
    except KeyboardInterrupt:
        loop, task = loop_and_task.result()
        with contextlib.suppress(RuntimeError):  # the loop has already ended
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
