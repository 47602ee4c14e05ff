"""Fixtures that every part of the tests may use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of third-party data beside the project, which is never copied into it."""
    beside = Path(__file__).parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("FAIRJUDGE_SHARED_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set FAIRJUDGE_SHARED_DATA to where they are")
    return folder
