"""Fixtures for all tests."""

import gc
import importlib.util
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from reserved_port import ReservedPort
from stub_server import StubServer

# How long an example takes says more of what else the machine does. Continuous integration tries
# the same examples each time, as Hypothesis's own profile for it does; others try new ones.
settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("FAIRJUDGE_CI")),
)
settings.load_profile("untimed")

CACHE_NUMBERS = itertools.count()

# A shell lets what it starts in the background ignore interrupts, and nohup lets it ignore hangups;
# so would the commands that tests start and interrupt. A handler is not inherited: these tests stay
# deaf to a hangup, and what they start is not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.hookimpl(trylast=True)  # when the folders have marked what is theirs
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests with a Ray cluster first: one worker runs them all, and no other waits for it."""
    items.sort(key=lambda item: item.get_closest_marker("ray") is None)


def pytest_collection_finish() -> None:
    """Exempt the million objects of modules and tests from garbage collection.

    A full collection would traverse them all, and statsmodels runs one per correction of p-values.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a new cache per test: a shared one may have replies of a former stub on the same port."""
    folder = tmp_path_factory.getbasetemp() / f"cache{next(CACHE_NUMBERS)}"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))


@pytest.fixture
def stub() -> Iterator[StubServer]:
    """Yield a stub of a model provider; ``answer`` and ``fail`` set its replies."""
    server = StubServer()
    yield server
    server.close()
    assert server.errors == []  # else clients saw a broken connection, and waited to ask again


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of third-party data beside the project, which is never copied into it."""
    beside = Path(__file__).parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("FAIRJUDGE_SHARED_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set FAIRJUDGE_SHARED_DATA to where they are")
    return folder


@pytest.fixture(scope="session")
def decision_server() -> Iterator[str]:
    """Yield a real /v1/systemone server with a small model, on a free port of loopback."""
    if importlib.util.find_spec("sparrow_decider") is None:
        pytest.skip("no sparrow-decider installed: dependency group dev")
    port = ReservedPort()
    url = f"http://127.0.0.1:{port.number}"
    server = subprocess.Popen(
        [sys.executable, "-m", "sparrow_decider.cli", "serve", "--port", str(port.number)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_it_listens(port.number, server, max_seconds=300)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
        port.release()


def _wait_until_it_listens(
    port: int, server: subprocess.Popen[bytes], *, max_seconds: float
) -> None:
    end = time.monotonic() + max_seconds
    while time.monotonic() < end:
        assert server.poll() is None, "the server ended before it listened"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"port {port}: nobody listens after {max_seconds:.0f} s")
