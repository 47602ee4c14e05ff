"""Ctrl-C once and twice, a disk that is full, folders that cannot be written."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_tools import (
    building,
    cluster,
    finish,
    journalist,
    judging,
    next_line,
    prompts_of,
    reference,
    start,
    start_interpreter,
    summary,
    write_jsonl,
)
from command_fixtures import holding
from json_files import read_json


@pytest.fixture
def inputs():
    write_jsonl(Path("clusters.jsonl"), [cluster()])
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"system{n}") for n in range(40)])


INTERRUPTED = "interrupted; finished work is kept; run the same command to resume\n"


# Three calls can be under way after these: of a build, those of the articles after the first.
@pytest.mark.parametrize(("make", "passing"), [(judging, 6), (building, 2)])
def test_first_interrupt_waits_for_calls_in_flight(server, inputs, make, passing):
    command = make(server, concurrency=3)
    with holding(server, command, passing=passing, n_held=3) as (process, gate):
        process.send_signal(signal.SIGINT)
        text = next_line(process)
        assert text == (
            "stopping when the 3 open calls are answered; interrupt again to stop now\n"
        )
        assert process.poll() is None
        gate.open()
        result = finish(process)
    assert (result.code, result.err) == (130, INTERRUPTED)
    # no call began after the interrupt, and none of those before it is lost
    assert len(server.calls) == passing + 3
    again = finish(start(*command))
    assert again.code == 0
    assert set(prompts_of(server).values()) == {1}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupt_during_prefix_warming_stops_and_resumes(server, inputs, how):
    """All requests begin with the same long answers: one is sent first, and the others wait."""
    long = reference()
    long["question_answers"][0]["answer_groups"][0][0]["answer"] = "The heavy rain. " * 400
    write_jsonl(Path("references.jsonl"), [long])
    with holding(server, judging(server), passing=0, n_held=1) as (process, gate):
        process.send_signal(how)
        if how == signal.SIGINT:
            assert next_line(process).startswith("stopping when the open call is")
            gate.open()
        result = finish(process)
    assert result.code == (130 if how == signal.SIGINT else -how)
    assert len(server.calls) == 1
    again = finish(start(*judging(server)))
    assert again.code == 0
    counts = prompts_of(server)
    assert len(counts) == 40
    assert sum(counts.values()) == (40 if how == signal.SIGINT else 41)


def test_a_second_interrupt_stops_at_once(server, inputs):
    command = judging(server, concurrency=3)
    with holding(server, command, passing=6, n_held=3) as (process, gate):
        process.send_signal(signal.SIGINT)
        assert next_line(process).startswith("stopping")
        process.send_signal(signal.SIGINT)
        result = finish(process)
        assert gate.n_held == 3  # and held they still are: nobody waited for them
    assert (result.code, result.err) == (130, INTERRUPTED)
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


def test_full_disk_of_the_cache_stops_calls_without_losing_replies(server, inputs, tiny_disk):
    command = (*judging(server, concurrency=3), "--cache", tiny_disk, "--run", "run")
    with holding(server, command, passing=6, n_held=3) as (process, gate):
        fill(tiny_disk)
        gate.open()
        result = finish(process)
    assert result.code == 1, result.err
    (line,) = result.err.splitlines()
    assert line.startswith(f"error: cannot write to the cache {tiny_disk}: ")
    # the three under way were answered, and no further one began
    assert len(server.calls) == 9
    (tiny_disk / "ballast").unlink()
    again = finish(start(*command))
    assert again.code == 0, again.err
    assert len(Path("judgements.jsonl").read_text().splitlines()) == 40
    counts = prompts_of(server)
    assert len(counts) == 40
    assert sum(counts.values()) <= 40 + 3  # at most those under way


def test_cache_on_a_full_disk_raises_at_start(server, inputs, tiny_disk):
    fill(tiny_disk)
    result = finish(start(*judging(server), "--cache", tiny_disk, "--run", "run"))
    assert result.code == 1
    assert result.err.startswith(f"error: cannot use the cache {tiny_disk}: ")
    assert server.calls == []


def test_full_disk_of_the_run_stops_it_and_free_space_resumes_it(server, inputs, tiny_disk):
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(b"x" * 950 * 1024)
    command = (*judging(server), "--run", tiny_disk / "run")
    result = finish(start(*command))
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "error: " in result.err
    assert str(tiny_disk) in result.err
    assert not Path("judgements.jsonl").exists()
    ballast.unlink()
    again = finish(start(*command))
    assert again.code == 0, again.err
    assert set(prompts_of(server).values()) == {1}  # the cache lies elsewhere and had them all
    rows = (tiny_disk / "run" / "judgements.jsonl").read_bytes()
    assert rows.count(b"\n") == 40


def test_full_disk_of_the_output_leaves_no_partial_file(server, inputs, tiny_disk):
    (tiny_disk / "ballast").write_bytes(b"x" * 1010 * 1024)
    output = tiny_disk / "judgements.jsonl"
    result = finish(start(*judging(server), "-o", output))
    assert result.code == 1
    assert result.err.startswith(f"error: {output}: ")
    assert sorted(file.name for file in tiny_disk.iterdir()) == ["ballast"]


def test_file_size_limit_raises(server, inputs):
    """Without the right to mount: the same error at the same place, from the kernel's limit."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    result = finish(start_interpreter(*judging(server), "--run", "run", preexec_fn=limit))
    assert result.code == 1
    assert "error: " in result.err.splitlines()[-1]
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
    ("options", "message"),
    [
        (("--run", "{}/run"), "cannot use this run folder"),
        (("--run", "{}"), "cannot use this run folder"),
        (("-o", "{}/out.jsonl"), "the folder for this output cannot be written to"),
        (("--cache", "{}/cache"), "cannot use"),
    ],
)
def test_read_only_folder_raises_before_any_call(server, inputs, read_only, options, message):
    result = finish(start(*judging(server), *(part.format(read_only) for part in options)))
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert message in result.err
    assert str(read_only) in result.err
    assert server.calls == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_repeated_other_signals_act_as_one_interrupt(server, inputs, number):
    with holding(server, judging(server, concurrency=3), passing=6, n_held=3) as (process, gate):
        process.send_signal(number)
        assert next_line(process).startswith("stopping when the 3 open calls")
        process.send_signal(number)  # a closing terminal says it twice
        gate.open()
        result = finish(process)
    assert (result.code, result.err) == (130, INTERRUPTED)
    assert len(server.calls) == 9


def test_ignored_signal_is_still_ignored(server, inputs):
    command = judging(server, concurrency=3)
    ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    with holding(server, command, passing=6, n_held=3, **ignoring) as (process, gate):
        process.send_signal(signal.SIGHUP)
        gate.open()
        assert finish(process).code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "module",
    ["typer.core", "pydantic.main", "langgraph.types", "aiosqlite"],
)
def test_an_interrupt_during_start_up_leaves_no_traceback(
    server, inputs, number, module, monkeypatch
):
    """Python says on standard error what it has imported; then it is interrupted."""
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    process = start_interpreter(*judging(server), "--run", "run")
    try:
        for line in process.stderr:
            if line.rpartition("|")[2].strip() == module:
                break
        process.send_signal(number)
        result = finish(process)
    finally:
        process.kill()
    texts = [line for line in result.err.splitlines() if not line.startswith("import time:")]
    assert texts == INTERRUPTED.splitlines()
    # Python ends itself by the signal where that came amid `exec` of a string, as dataclasses do.
    assert result.code in {130, -signal.SIGINT}  # to a shell both are 130


@pytest.mark.parametrize("module", ["site", "fairjudge", "fairjudge.cli", "pathlib", "typing"])
def test_interrupt_during_python_start_shows_no_package_frames(own_home, module, monkeypatch):
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    process = start_interpreter("--version")
    try:
        for line in process.stderr:
            if line.rpartition("|")[2].strip() == module:
                break
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=400)
    finally:
        process.kill()
    stderr = [line for line in stderr.splitlines() if not line.startswith("import time:")]
    # Until our first line runs, Python itself may say where it was.
    assert not any("fairjudge/" in line for line in stderr), stderr
    assert process.returncode in (130, 1, -signal.SIGINT)


@pytest.mark.parametrize("n_statements", [0, 1, 3])
def test_interrupt_while_opening_checkpoints_leaves_no_traceback(n_statements):
    """The thread of the database must not answer a loop that is gone."""
    program = f"""
import asyncio, pathlib, signal, sqlite3, sys, time
from fairjudge.engine import in_process
connect = sqlite3.connect
def slow(*given, **more):
    signal.pthread_kill(__import__("threading").main_thread().ident, signal.SIGINT)
    time.sleep(0.3)
    return connect(*given, **more)
in_process.aiosqlite.core.sqlite3.connect = slow
async def main():
    async with in_process._sqlite_saver(pathlib.Path(".")) as saver:
        for _ in range({n_statements}):
            await saver.setup()
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted")
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert (result.stdout, result.stderr) == ("interrupted\n", "")


def test_closed_stdout_does_not_prevent_output_files():
    judged = {
        "eid": "e", "system": "s", "aspect": "a", "protocol": "likert", "judge": "j", "value": 3,
    }  # fmt: skip
    write_jsonl(Path("judgements.jsonl"), [judged])
    reading, writing = os.pipe()
    os.close(reading)
    command = ("audit", "parse", "judgements.jsonl", "--json", "report.json")
    process = start_interpreter(*command, stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (141, "")
    assert read_json("report.json")["groups"][0]["n_judgements"] == 1
