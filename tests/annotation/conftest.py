"""Fixtures of the annotation tests."""

import pytest
from annotation_tools import close_clients, kill_servers
from browser import chromium, open_page  # noqa: F401
from command_fixtures import cli, cli_in  # noqa: F401


@pytest.fixture(autouse=True)
def _no_clients_left():
    yield
    close_clients()


@pytest.fixture(autouse=True, scope="module")
def _no_servers_left():
    yield
    kill_servers()
