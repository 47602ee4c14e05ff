"""Fixtures for tests that run commands: a temporary home, and a server that answers any prompt.

A `conftest.py` imports the fixtures that its folder needs.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from cli_tools import Done, Gate, Process, journalist, settled, start, start_interpreter
from stub_server import StubServer

KEYS = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"),
    *("LANGSMITH_TRACING", "LANGSMITH_GATEWAY"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove keys, servers, proxies and tracing from the environment."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keys: None) -> None:
    """Use a temporary cache and working folder per test, and no keys."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def server(stub: StubServer) -> StubServer:
    """Return a server that answers any prompt of the library."""
    stub.answer = journalist
    return stub


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Return a function that runs a command in this process; an uncaught exception fails the test.

    With `code`, any other exit code fails it, too.
    """

    def run_command(*args: object, code: int | None = None) -> Done:
        from fairjudge.cli import main

        monkeypatch.setattr(sys, "argv", ["fairjudge", *settled(args)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        done = Done(int(ended.value.code or 0), out, err)
        if code not in {None, done.code}:
            pytest.fail(f"{args}: exit code {done.code} instead of {code}\n{err}{out}")
        return done

    return run_command


@pytest.fixture
def cli_in(cli: Callable[..., Done]) -> Callable[..., Done]:
    """Return a function that runs a command in a folder, in this process to save imports."""

    def run_in(folder: Path, *args: object, code: int | None = None) -> Done:
        with contextlib.chdir(folder):
            return cli(*args, code=code)

    return run_in


@contextlib.contextmanager
def holding(
    server: StubServer, command: Sequence[object], *, passing: int, n_held: int, **options: object
) -> Iterator[tuple[Process, Gate]]:
    """Start a command; yield process and gate once `n_held` calls are blocked, then end both.

    The server answers `passing` calls before it blocks.
    """
    gate = Gate(server, passing=passing)
    process = start_interpreter(*command, **options) if options else start(*command)
    try:
        gate.wait_for(n_held)
        yield process, gate
    finally:
        process.kill()
        gate.open()
