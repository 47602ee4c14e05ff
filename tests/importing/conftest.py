"""Files as other tools write them, from the fields that they document."""

import json

import pytest


@pytest.fixture
def write_file(tmp_path):
    """Return a function that writes a value as JSON (or, for .jsonl, its items a line)."""

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
    """The folder of judges' real files."""
    folder = shared_data / "recorded_judges"
    if not folder.is_dir():
        pytest.skip(f"no recorded judges at {folder}")
    return folder
