"""Fixtures for the commands: a home of one's own, a server, small files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_tools import Done, cluster, reference, summary, write_jsonl
from command_fixtures import own_home, server

__all__ = ["own_home", "server"]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run a command in this process; whatever is not an exit code fails the test."""

    def run_command(*args: object) -> Done:
        from fairjudge.cli import main

        monkeypatch.setattr(sys, "argv", ["fairjudge", *map(str, args)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return Done(int(ended.value.code or 0), out, err)

    return run_command


@pytest.fixture
def clusters() -> Path:
    return write_jsonl(Path("clusters.jsonl"), [cluster()])


@pytest.fixture
def references() -> Path:
    return write_jsonl(Path("references.jsonl"), [reference()])


@pytest.fixture
def summaries() -> Path:
    return write_jsonl(Path("summaries.jsonl"), [summary(f"system{n}") for n in range(6)])
