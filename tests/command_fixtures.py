"""Fixtures for tests that run commands: a home of one's own, and a server that answers any prompt.

A `conftest.py` imports those that its folder needs.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from cli_tools import Done, Gate, journalist, settled, start
from stub_server import StubServer

KEYS = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"),
    *("LANGSMITH_TRACING", "LANGSMITH_GATEWAY"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the caller's environment out: no keys, servers, proxies or tracing."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keys: None) -> None:
    """Give each test a cache and a working folder of its own, and no keys."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def server(stub: StubServer) -> StubServer:
    """A server that answers any of the library's prompts."""
    stub.answer = journalist
    return stub


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run a command in this process; whatever is not an exit code fails the test.

    With `code`, so does another exit code than that.
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
    """Run a command in a folder, in this process: as a process it imports for two seconds."""

    def run_in(folder: Path, *args: object, code: int | None = None) -> Done:
        with contextlib.chdir(folder):
            return cli(*args, code=code)

    return run_in


@contextlib.contextmanager
def holding(
    server: StubServer, command: Sequence[object], *, passing: int, n_held: int, **options: object
) -> Iterator[tuple[subprocess.Popen[str], Gate]]:
    """Start a command; yield its process and the gate when so many calls are held, then end both.

    The server answers `passing` calls before.
    """
    gate = Gate(server, passing=passing)
    process = start(*command, **options)
    try:
        gate.wait_for(n_held)
        yield process, gate
    finally:
        process.kill()
        gate.open()
