"""The total wait of one request, over its own retries and pauses of all requests.

A request waits between its own attempts, and together with all others in a pause requested by a
server. One `Patience` per request counts both, so that the limit applies to their sum.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from fairjudge.errors import WaitTooLongError


@dataclass(slots=True, kw_only=True)
class Patience:
    """The wait of one request so far, and its maximum ``max_wait_seconds``."""

    max_wait_seconds: float
    waited_seconds: float = 0.0

    @property
    def remaining_seconds(self) -> float:
        """The remaining seconds that the request may wait."""
        return max(0.0, self.max_wait_seconds - self.waited_seconds)

    def problem_of_wait(self, seconds: float) -> str | None:
        """Return the end of a message if waiting `seconds` more exceeds the limit, else None."""
        if seconds <= self.remaining_seconds:
            return None
        earlier_wait = f" after {self.waited_seconds:,.1f} s" if self.waited_seconds >= 0.05 else ""
        return (
            f"asks to wait {seconds:,.0f} s{earlier_wait}, longer than the "
            f"{self.max_wait_seconds:g} s of --max-wait"
        )


request_patience: ContextVar[Patience | None] = ContextVar("patience", default=None)
"""The `Patience` of the current request."""


def check_wait(seconds: float) -> None:
    """Raise `WaitTooLongError` if the current request may not wait `seconds` more."""
    patience = request_patience.get()
    problem = None if patience is None else patience.problem_of_wait(seconds)
    if problem is not None:
        raise WaitTooLongError(f"another request was asked to slow down: the server {problem}")


def count_wait(seconds: float) -> None:
    """Count a wait of the current request."""
    patience = request_patience.get()
    if patience is not None:
        patience.waited_seconds += seconds
