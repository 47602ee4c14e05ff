"""Commands forked from a process that already has their imports, which saves two seconds each.

The server is started once per pytest worker. For each command it forks a process that forks the
command, waits for it and reports its process id and exit code. The command itself parses arguments
and exits as `python -m fairjudge` does, can be killed, and has the test's environment and folder.
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

IMPORTED = (
    *("openai", "anthropic", "langgraph.graph", "fastapi", "uvicorn", "scipy.optimize"),
    *("fairjudge.api", "fairjudge.engine.models", "fairjudge.engine.in_process"),
    *("fairjudge.reports.findings", "fairjudge.run.judging", "fairjudge.studies.graph"),
    *(f"fairjudge.cli.{name}" for name in ("judge", "build", "study", "annotate", "align")),
)
MAX_BYTES = 2**17
"""Of a request: arguments and environment."""


class ForkedCommand:
    """A running command, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, args: Sequence[str], *, cwd: object, discard_output: bool) -> None:
        read, write = map(list, zip(*(os.pipe() for _ in range(3)), strict=True))
        files: list[IO[str]] = [os.fdopen(descriptor, encoding="utf-8") for descriptor in read]
        self.stdout, self.stderr, self._status = files
        if discard_output:  # the pipes are not read, and a full pipe would block the command
            for place in (0, 1):
                files[place].close()
                os.close(write[place])
                write[place] = os.open(os.devnull, os.O_WRONLY)
        request = {"args": args, "cwd": str(Path(str(cwd)).absolute()), "environ": dict(os.environ)}
        _, requests = _server()
        socket.send_fds(requests, [json.dumps(request).encode()], write)
        for descriptor in write:
            os.close(descriptor)
        self.args = args
        self.pid = int(self._status.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the command runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._read_status()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit; raise `subprocess.TimeoutExpired` after `timeout` seconds."""
        if self.returncode is None and not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
        return self._read_status()

    def _read_status(self) -> int:
        if self.returncode is None:
            self.returncode = int(self._status.readline())
            self._status.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return the command's output; kill it and raise after `timeout` seconds."""
        with ThreadPoolExecutor(2) as readers:
            texts = [readers.submit(file.read) for file in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            out, err = (text.result() for text in texts)
        self.stdout.close()
        self.stderr.close()
        return out, err

    def send_signal(self, number: int) -> None:
        """Send a signal to the command if it is running."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM to the command."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the command."""
        self.send_signal(signal.SIGKILL)


@functools.cache
def _server() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the server, which ends with this process; return it and the socket for requests."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, __file__, str(theirs.fileno())]
    server = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()
    return server, ours


def _serve(requests: socket.socket) -> None:
    """Fork a waiting process for each request; return in the command that it forks."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a waiting process ended
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, MAX_BYTES, 3)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            requests.close()
            _fork_command(descriptors)
            _set_up(json.loads(message))
            return
        for descriptor in descriptors:
            os.close(descriptor)


def _fork_command(descriptors: Sequence[int]) -> None:
    """Fork; return only in the child, with its output in the pipes; its parent reports the exit."""
    out, err, status = descriptors
    pid = os.fork()
    if pid == 0:
        os.dup2(out, 1)
        os.dup2(err, 2)
    os.close(out)
    os.close(err)
    if pid:
        # Signals of a terminal are for the command; the waiting process must report its exit.
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        with os.fdopen(status, "w", encoding="utf-8", buffering=1) as lines:
            print(pid, file=lines)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), file=lines)
        os._exit(0)
    os.close(status)


def _set_up(request: dict[str, object]) -> None:
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["environ"])  # type: ignore[call-overload]
    sys.argv = ["fairjudge", *request["args"]]  # type: ignore[misc]


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of tests
    _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("fairjudge", run_name="__main__", alter_sys=True)
