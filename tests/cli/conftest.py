"""Fixtures for the commands: a home of one's own, a server, small files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_tools import Done, cluster, journalist, reference, summary, write_jsonl
from stub_server import StubServer

KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a cache and a working folder of its own, and no keys."""
    for name in (*KEYS, *PROXIES, "LANGSMITH_TRACING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


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
def server() -> Iterator[StubServer]:
    stub = StubServer()
    stub.answer = journalist
    yield stub
    stub.close()


@pytest.fixture
def clusters() -> Path:
    return write_jsonl(Path("clusters.jsonl"), [cluster()])


@pytest.fixture
def references() -> Path:
    return write_jsonl(Path("references.jsonl"), [reference()])


@pytest.fixture
def summaries() -> Path:
    return write_jsonl(Path("summaries.jsonl"), [summary(f"system{n}") for n in range(6)])
