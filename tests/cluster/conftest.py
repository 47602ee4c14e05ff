"""Fixtures for work on a Ray cluster."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest
from command_fixtures import server
from missing import missing
from ray_cluster import RayCluster
from store_fixtures import postgres, store_url

__all__ = ["postgres", "server", "store_url"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "cluster_of_two" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.ray)


@pytest.fixture(scope="session")
def cluster_of_two() -> Iterator[RayCluster]:
    """Yield a Ray cluster of two nodes on loopback."""
    if importlib.util.find_spec("ray") is None:
        missing("no ray; install the extra [ray]")
    result = RayCluster()
    yield result
    result.close()
