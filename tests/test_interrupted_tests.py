"""The check of types that scripts/test runs beside the tests ends with it, however that ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import wait_until

SCRIPT = Path(__file__).parents[1] / "scripts" / "test"
TOOL = f"""#!{sys.executable}
# The environment's Python: ruff and bandit pass at once, pytest and mypy take long.
import os, pathlib, signal, sys, time
name = sys.argv[2]
if name == "pytest":
    signal.signal(signal.SIGINT, lambda *_: sys.exit(2))
if name in ("pytest", "mypy"):
    pathlib.Path(f"{{name}}.part").write_text(str(os.getpid()))
    os.rename(f"{{name}}.part", name)
    time.sleep(600)
"""


def default_signals() -> None:
    """Let a child be interrupted even where these tests run with signals ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def runs(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def pid_in(path: Path) -> int:
    return int(path.read_text("utf-8"))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize(
    ("send", "number", "code"),
    [
        pytest.param(os.killpg, signal.SIGINT, 130, id="Ctrl-C"),
        pytest.param(os.kill, signal.SIGTERM, -signal.SIGTERM, id="the script alone"),
    ],
)
def test_type_check_stops_with_the_script(tmp_path, send, number, code):
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(SCRIPT, tmp_path / "scripts")
    python = tmp_path / "python"
    python.write_text(TOOL, "utf-8")
    python.chmod(0o755)
    (tmp_path / "scripts" / "_environment").write_text(
        f"root={tmp_path}; cd $root; python={python}\n", "utf-8"
    )
    process = subprocess.Popen(
        ["bash", script],
        start_new_session=True,
        preexec_fn=default_signals,  # noqa: PLW1509  # sets one signal
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    tests, types = tmp_path / "pytest", tmp_path / "mypy"
    try:
        wait_until(lambda: tests.exists() and types.exists())
        send(process.pid, number)
        assert process.wait(timeout=60) == code
        wait_until(lambda: not runs(pid_in(types)))
    finally:
        for path in (tests, types):
            if path.exists() and runs(pid_in(path)):
                os.kill(pid_in(path), signal.SIGKILL)
