"""Virtual time for tests of waiting: it advances only when all tasks wait."""

from __future__ import annotations

import asyncio
import heapq


class Time:
    """A virtual clock that advances to the next sleeper's time, in order."""

    def __init__(self):
        self.now = 0.0
        self._waiting = []
        self._n = 0

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self._n += 1
        event = asyncio.Event()
        heapq.heappush(self._waiting, (self.now + seconds, self._n, event))
        await event.wait()

    async def run(self, *coroutines):
        """Run coroutines until all are done; advance time whenever all are waiting."""
        tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
        while not all(task.done() for task in tasks):
            for _ in range(30):
                await asyncio.sleep(0)
            if self._waiting and not all(task.done() for task in tasks):
                self.now, _, event = heapq.heappop(self._waiting)
                event.set()
        return [task.result() for task in tasks]
