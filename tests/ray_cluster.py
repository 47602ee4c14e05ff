"""A Ray cluster of two nodes on loopback: two raylets, each with workers of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reserved_port import ReservedPort

QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1", "OMP_NUM_THREADS": "1"}


class RayCluster:
    """Runs until `close`; `environment` is what commands need to take part.

    Its token is its own: whoever reaches a node without one runs what he likes, and the token that
    Ray may keep in the user's home is the user's.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fjray", dir="/tmp"))  # sockets' names are short
        # Not 127.0.0.1, for which Ray takes an address that others reach.
        self._port = ReservedPort("127.0.0.2")
        self.address = f"127.0.0.2:{self._port.number}"
        self.environment = {
            **QUIET,
            "RAY_ADDRESS": self.address,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }
        # Its workers' caches are not the user's.
        caches = str(self.folder / "cache")
        self._everywhere = {**os.environ, **self.environment, "XDG_CACHE_HOME": caches}
        self._nodes: list[subprocess.Popen[bytes]] = []
        try:
            self._start(
                *("--head", f"--port={self._port.number}", "--include-dashboard=false"),
                *("--temp-dir", self.folder),
            )
            self.start_node()
        except BaseException:
            self.close()
            raise

    def start_node(self) -> None:
        """Add a node, as a second machine would."""
        self._start(f"--address={self.address}")

    def kill_node(self, name: str) -> None:
        """Lose a node with all its workers, at once: one with a worker `name`.

        Neither the first, which keeps the cluster together, nor that of the gate, which stands for
        the machine where the command runs.
        """

        def runs(node: subprocess.Popen[bytes], task: str) -> bool:
            below = _descendants(node.pid)
            return any(_title(process).startswith(f"ray::{task}") for process in below)

        node = next(node for node in self._nodes[1:] if runs(node, name) and not runs(node, "Gate"))
        self._nodes.remove(node)
        _kill(_descendants(node.pid))
        node.wait(60)

    def workers(self, name: str) -> list[int]:
        """Return the processes that now run the task or actor `name`."""
        below = [process for node in self._nodes for process in _descendants(node.pid)]
        return [process for process in below if _title(process).startswith(f"ray::{name}")]

    def close(self) -> None:
        for node in self._nodes:
            _kill(_descendants(node.pid))
            node.wait(60)
        self._port.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, *args: object) -> None:
        log = self.folder / f"node-{len(self._nodes)}.log"
        with log.open("wb") as out:
            node = subprocess.Popen(
                [
                    *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block"),
                    *("--num-cpus=2", "--object-store-memory=80000000", "--disable-usage-stats"),
                    f"--node-ip-address=127.0.0.{2 + len(self._nodes)}",
                    *map(str, args),
                ],
                stdout=out,
                stderr=out,
                env=self._everywhere,
            )
        self._nodes.append(node)
        deadline = time.monotonic() + 300
        while b"--block" not in log.read_bytes():
            if node.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text())
            time.sleep(0.2)


def _kill(processes: list[int]) -> None:
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _descendants(root: int) -> list[int]:
    """Return `root` and every process below it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    items = [root]
    for process in items:
        items += [child for child, parent in parents.items() if parent == process]
    return items


def _title(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
