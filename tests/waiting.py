"""Waiting for a condition that another thread or process fulfils."""

from __future__ import annotations

import time
from collections.abc import Callable

MAX_SECONDS = 300
"""A machine that is busy is slow; nothing that works is waited for so long."""


def wait_until(condition: Callable[[], object]) -> None:
    """Return once `condition` is true; fail after `MAX_SECONDS`."""
    deadline = time.monotonic() + MAX_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
