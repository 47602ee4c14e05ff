"""Fixtures for tests of commands: a temporary home, a server, small files."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import cluster, reference, summary, write_jsonl
from command_fixtures import cli, no_keys, own_home, server
from store_fixtures import postgres, store_url

__all__ = ["cli", "no_keys", "own_home", "postgres", "server", "store_url"]


@pytest.fixture
def clusters() -> Path:
    return write_jsonl(Path("clusters.jsonl"), [cluster()])


@pytest.fixture
def references() -> Path:
    return write_jsonl(Path("references.jsonl"), [reference()])


@pytest.fixture
def summaries() -> Path:
    return write_jsonl(Path("summaries.jsonl"), [summary(f"system{n}") for n in range(6)])
