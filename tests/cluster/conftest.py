"""Fixtures for work on a Ray cluster."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest
from command_fixtures import server
from ray_cluster import RayCluster

__all__ = ["server"]


@pytest.fixture(scope="session")
def cluster_of_two() -> Iterator[RayCluster]:
    """A Ray cluster of two nodes on loopback."""
    if importlib.util.find_spec("ray") is None:
        if os.environ.get("FAIRJUDGE_CI"):
            pytest.fail("no ray, which .ci/run should have brought")
        pytest.skip("no ray; install the extra [ray]")
    found = RayCluster()
    yield found
    found.close()
