"""Fixtures for shared stores: a PostgreSQL server, and one database per test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from missing import missing
from postgres_server import PostgresServer, find_binaries


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Yield a PostgreSQL server for the tests."""
    binaries = find_binaries()
    try:
        import psycopg  # noqa: F401
    except ImportError:
        missing("no psycopg; install the extra [postgres]")
    if binaries is None:
        missing("no PostgreSQL server; install Debian's package postgresql")
    server = PostgresServer(binaries)
    yield server
    server.close()


@pytest.fixture
def store_url(postgres: PostgresServer) -> str:
    """Return the URL of an empty database."""
    import psycopg

    name = f"store_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres.url(name)
