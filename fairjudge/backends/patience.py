"""The total waiting time of one request, over its own retries and pauses of all requests.

A request waits between its own attempts, and with all others during a pause that a server asked
for. One `Patience` per request counts both, so that the bound applies to their sum.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from fairjudge.errors import WaitTooLongError


@dataclass(slots=True, kw_only=True)
class Patience:
    """The waiting time of one request so far, and its maximum ``max_wait_seconds``."""

    max_wait_seconds: float
    waited_seconds: float = 0.0

    @property
    def left_seconds(self) -> float:
        """Seconds that it may still wait."""
        return max(0.0, self.max_wait_seconds - self.waited_seconds)

    def too_long(self, seconds: float) -> str | None:
        """Return the end of a message if waiting `seconds` more exceeds the bound, else None."""
        if seconds <= self.left_seconds:
            return None
        before = f" after {self.waited_seconds:,.1f} s" if self.waited_seconds >= 0.05 else ""
        return (
            f"asks to wait {seconds:,.0f} s{before}, longer than the {self.max_wait_seconds:g} s "
            "of --max-wait"
        )


of_request: ContextVar[Patience | None] = ContextVar("patience", default=None)
"""The `Patience` of the current request."""


def check_wait(seconds: float) -> None:
    """Raise `WaitTooLongError` if the current request may not wait `seconds` more."""
    patience = of_request.get()
    problem = None if patience is None else patience.too_long(seconds)
    if problem is not None:
        raise WaitTooLongError(f"another request was asked to slow down: the server {problem}")


def count_wait(seconds: float) -> None:
    """Count a wait of the current request."""
    patience = of_request.get()
    if patience is not None:
        patience.waited_seconds += seconds
