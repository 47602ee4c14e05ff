"""Ctrl-C once and twice, a disk that is full, folders that cannot be written."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from cli_tools import (
    building,
    cluster,
    finish,
    journalist,
    judging,
    prompts_of,
    reference,
    start,
    summary,
    write_jsonl,
)
from waiting import wait_until


class Gate:
    """Lets a number of calls pass and holds the others until it is opened."""

    def __init__(self, server, *, passing: int) -> None:
        self.n_held = 0
        self._left, self._lock, self._open = passing, threading.Lock(), threading.Event()
        server.answer = self._answer

    def _answer(self, call):
        with self._lock:
            self._left -= 1
            held = self._left < 0
            self.n_held += held
        if held:
            self._open.wait(300)
        return journalist(call)

    def wait_for(self, n_held: int) -> None:
        wait_until(lambda: self.n_held >= n_held)

    def open(self) -> None:
        self._left = 10**9
        self._open.set()


@pytest.fixture
def inputs():
    write_jsonl(Path("clusters.jsonl"), [cluster()])
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"system{n}") for n in range(40)])


@pytest.mark.parametrize("make", [judging, building])
def test_one_interrupt_waits_for_the_calls_that_are_under_way(server, inputs, make):
    command = make(server, concurrency=3)
    gate = Gate(server, passing=6)
    process = start(*command)
    try:
        gate.wait_for(3)
        process.send_signal(signal.SIGINT)
        said = process.stderr.readline()
        assert said == (
            "stopping once the 3 calls under way have been answered; interrupt again to stop now\n"
        )
        assert process.poll() is None
        gate.open()
        done = finish(process)
    finally:
        process.kill()
        gate.open()
    assert done.code == 130
    assert done.err.splitlines() == [
        "interrupted; what is done is kept, and the same command goes on from there"
    ]
    # no call began after the interrupt, and none of the nine is lost
    assert len(server.calls) == 9
    again = finish(start(*command))
    assert again.code == 0
    assert set(prompts_of(server).values()) == {1}


def test_a_second_interrupt_stops_at_once(server, inputs):
    command = judging(server, concurrency=3)
    gate = Gate(server, passing=6)
    process = start(*command)
    try:
        gate.wait_for(3)
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline().startswith("stopping")
        process.send_signal(signal.SIGINT)
        done = finish(process)
        assert gate.n_held == 3  # and held they still are: nobody waited for them
    finally:
        process.kill()
        gate.open()
    assert done.code == 130
    assert done.err.splitlines() == [
        "interrupted; what is done is kept, and the same command goes on from there"
    ]
    server.answer = journalist
    assert finish(start(*command)).code == 0
    counts = prompts_of(server)
    assert len(counts) == 40
    assert sum(counts.values()) == 43  # the three that were stopped are asked again


def mount_tiny(folder: Path, *, kib: int) -> bool:
    """Mount a file system of that size; False where that is not allowed."""
    folder.mkdir()
    if os.geteuid() != 0:
        return False
    options = f"size={kib}k"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def tiny_disk(tmp_path):
    folder = tmp_path / "tiny"
    if not mount_tiny(folder, kib=1024):
        pytest.skip("a full disk needs the right to mount one")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def fill(folder: Path) -> None:
    """Leave not a byte of room."""
    descriptor = os.open(folder / "ballast", os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while True:
            os.write(descriptor, b"x" * 1024)
    os.close(descriptor)
    assert os.statvfs(folder).f_bfree == 0


def test_a_full_disk_under_the_cache_costs_no_reply_of_the_run(server, inputs, tiny_disk):
    gate = Gate(server, passing=6)
    process = start(*judging(server, concurrency=3), "--cache", tiny_disk, "--run", "run")
    try:
        gate.wait_for(3)
        fill(tiny_disk)
        gate.open()
        done = finish(process)
    finally:
        process.kill()
        gate.open()
    assert done.code == 0, done.err
    # said once, not once a reply
    (said,) = done.err.splitlines()
    assert said.startswith(f"warning: the cache {tiny_disk} cannot be used now: ")
    assert len(Path("judgements.jsonl").read_text().splitlines()) == 40
    assert len(server.calls) == 40


def test_a_cache_without_room_from_the_start_is_an_error(server, inputs, tiny_disk):
    fill(tiny_disk)
    done = finish(start(*judging(server), "--cache", tiny_disk, "--run", "run"))
    assert done.code == 1
    assert done.err.startswith(f"error: cannot use the cache {tiny_disk}: ")
    assert server.calls == []


def test_a_full_disk_under_the_run_ends_it_and_room_lets_it_go_on(server, inputs, tiny_disk):
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(b"x" * 950 * 1024)
    command = (*judging(server), "--run", tiny_disk / "run")
    done = finish(start(*command))
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "error: " in done.err
    assert str(tiny_disk) in done.err
    assert not Path("judgements.jsonl").exists()
    ballast.unlink()
    again = finish(start(*command))
    assert again.code == 0, again.err
    assert set(prompts_of(server).values()) == {1}  # the cache lies elsewhere and had them all
    rows = (tiny_disk / "run" / "judgements.jsonl").read_bytes()
    assert rows.count(b"\n") == 40


def test_a_full_disk_under_the_results_leaves_no_half_file(server, inputs, tiny_disk):
    (tiny_disk / "ballast").write_bytes(b"x" * 1010 * 1024)
    output = tiny_disk / "judgements.jsonl"
    done = finish(start(*judging(server), "-o", output))
    assert done.code == 1
    assert done.err.startswith(f"error: {output}: ")
    assert sorted(file.name for file in tiny_disk.iterdir()) == ["ballast"]


def test_a_limit_on_file_sizes_ends_with_an_error(server, inputs):
    """Without the right to mount: the same error at the same place, from the kernel's limit."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    done = finish(start(*judging(server), "--run", "run", preexec_fn=limit))
    assert done.code == 1
    assert "error: " in done.err.splitlines()[-1]
    assert not Path("judgements.jsonl").exists()
    again = finish(start(*judging(server), "--run", "run"))
    assert again.code == 0, again.err
    assert len(Path("judgements.jsonl").read_text().splitlines()) == 40


READ_ONLY = "a folder that root cannot write needs the right to mount one"


@pytest.fixture
def read_only(tmp_path):
    folder = tmp_path / "read-only"
    if os.geteuid() != 0:
        folder.mkdir()
        folder.chmod(0o500)
        yield folder
        folder.chmod(0o700)
        return
    if not mount_tiny(folder, kib=300):
        pytest.skip(READ_ONLY)
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--run", "{}/run"), "cannot use this run folder"),
        (("--run", "{}"), "cannot use this run folder"),
        (("-o", "{}/out.jsonl"), "the folder for this output cannot be written to"),
        (("--cache", "{}/cache"), "cannot use"),
    ],
)
def test_a_read_only_folder_is_one_error_before_any_call(server, inputs, read_only, options, said):
    done = finish(start(*judging(server), *(part.format(read_only) for part in options)))
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert said in done.err
    assert str(read_only) in done.err
    assert server.calls == []
