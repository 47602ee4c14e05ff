"""A real PostgreSQL server on loopback for the tests, in a temporary folder."""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reserved_port import ReservedPort

PASSWORD = "s3cret/of:the@store"
"""With every character that a URL gives a meaning of its own."""
_SET_PDEATHSIG = 1


def find_binaries() -> Path | None:
    """Return the folder of the server's programs, the newest version's, or None."""
    result = shutil.which("initdb")
    if result and Path(result).resolve().with_name("postgres").exists():
        return Path(result).resolve().parent
    versions = [
        path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()
    ]
    return max(versions, key=lambda path: int(path.parent.name), default=None)


class PostgresServer:
    """A server that runs until `stop`; `start` restarts it with the same data and port."""

    def __init__(self, binaries: Path, *, fsync: bool = False) -> None:
        self._binaries = binaries
        self._fsync = fsync
        self.folder = Path(tempfile.mkdtemp(prefix="fairjudge-postgres-"))
        self._owner: dict[str, Any] = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            user = pwd.getpwnam(_unprivileged())
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self._process: subprocess.Popen[bytes] | None = None
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self._initialise()
        self.start()

    def url(self, database: str = "postgres", *, password: str = PASSWORD) -> str:
        return f"postgresql://judge:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "on" if self._fsync else "off",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self.folder / "data", *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                preexec_fn=_end_with_parent,  # noqa: PLW1509  # calls one function of libc
                **self._owner,
            )
        deadline = time.monotonic() + 120
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server immediately: SIGINT closes connections, SIGQUIT simulates a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(120)
            self._process = None

    def close(self) -> None:
        self.stop(signal.SIGQUIT)
        self._reserved.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _initialise(self) -> None:
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        if self._owner:
            os.chown(secret, self._owner["user"], self._owner["group"])
        subprocess.run(
            [
                *(self._binaries / "initdb", "-D", self.folder / "data", "-U", "judge"),
                *("--auth", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--locale", "C"),
                "--no-sync",
            ],
            check=True,
            capture_output=True,
            cwd=self.folder,
            **self._owner,
        )

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=10).close()
        except psycopg.OperationalError:
            return False
        return True


def _unprivileged() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _end_with_parent() -> None:
    """Make the kernel stop the server when its parent thread ends (Linux)."""
    if os.uname().sysname == "Linux":
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGINT)
