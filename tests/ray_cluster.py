"""A Ray cluster of two nodes on loopback: two raylets, each with its own workers."""

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
    """A cluster that runs until `close`; commands need its `environment` to connect.

    It has its own token: nodes without one execute anybody's code, and the token that Ray may store
    in the user's home must not be used.
    """

    def __init__(self) -> None:
        self.folder = Path(
            tempfile.mkdtemp(prefix="fjray", dir="/tmp")
        )  # the length of socket paths is limited
        # Not 127.0.0.1, which Ray would replace by an externally reachable address.
        self._port = ReservedPort("127.0.0.2")
        self.address = f"127.0.0.2:{self._port.number}"
        self.environment = {
            **QUIET,
            "RAY_ADDRESS": self.address,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }
        # Workers must not use the user's cache.
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
        """Add a node, which simulates another machine."""
        self._start(f"--address={self.address}")

    def kill_node(self, name: str) -> None:
        """Kill a node that has a worker `name`, with all its workers.

        The first node (the head) and the gate's node (the machine of the command) are not killed.
        """

        def runs(node: subprocess.Popen[bytes], task: str) -> bool:
            below = _descendants(node.pid)
            return any(_title(process).startswith(f"ray::{task}") for process in below)

        node = next(node for node in self._nodes[1:] if runs(node, name) and not runs(node, "Gate"))
        self._nodes.remove(node)
        _kill(_descendants(node.pid))
        node.wait(60)

    def workers(self, name: str) -> list[int]:
        """Return the processes that are running the task or actor `name`."""
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
    """Return `root` and all its descendant processes."""
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
