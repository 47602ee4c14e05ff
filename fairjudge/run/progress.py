"""How a build tells how far it is."""

from __future__ import annotations

from collections.abc import Callable


class BuildProgress:
    """Told how far a build is; by itself it takes no note."""

    def begin(self, n_clusters: int) -> None:
        """Begin a build of so many clusters."""

    def stages(self, eid: str) -> Callable[[str, int], None]:  # noqa: ARG002  # for others
        """Begin a cluster; return what is told of each stage how many steps were done."""
        return lambda _stage, _done: None

    def end(self, eid: str) -> None:
        """End a cluster, which may have been built by an earlier start of the run."""


SILENT = BuildProgress()
