"""Report the progress of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int], Callable[[int], None]]
"""Called with the total number of steps; returns a function to call with the new steps."""


def no_progress(_total: int) -> Callable[[int], None]:
    """Return a function without effect, as a `Progress`."""
    return lambda _done: None


class BuildProgress:
    """Callbacks for the progress of a build; this base class does nothing."""

    def begin(self, n_clusters: int) -> None:
        """Begin a build of `n_clusters` clusters."""

    def stages(self, eid: str) -> Callable[[str, int], None]:  # noqa: ARG002  # for subclasses
        """Begin a cluster; return a function to call with a stage and its number of new steps."""
        return lambda _stage, _done: None

    def end(self, eid: str) -> None:
        """End a cluster, which may have been built before the run was resumed."""


SILENT = BuildProgress()
