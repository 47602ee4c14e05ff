"""Fixtures for files in the formats of other tools, with their documented fields."""

import json

import pytest


@pytest.fixture
def write_file(tmp_path):
    """Return a function that writes a value as JSON (for .jsonl, one item per line)."""

    def write(name, value):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if ".jsonl" in name:
            path.write_text("".join(json.dumps(row) + "\n" for row in value), "utf-8")
        else:
            path.write_text(json.dumps(value), "utf-8")
        return path

    return write


@pytest.fixture
def recorded(shared_data):
    """Return the folder of real judges' files."""
    folder = shared_data / "recorded_judges"
    if not folder.is_dir():
        pytest.skip(f"no recorded judges at {folder}")
    return folder
