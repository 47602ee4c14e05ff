"""Fixtures for tests of conversions, some of which run the command."""

from __future__ import annotations

import pytest
from command_fixtures import cli, no_keys

__all__ = ["cli", "no_keys"]


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
