"""What others put into a run's folder is never run, and never taken for what the run recorded."""

from __future__ import annotations

import re
import signal
import sqlite3
from contextlib import suppress
from pathlib import Path

import ormsgpack
import pytest
from checkpoint_attacks import ATTACKS, CALLS, naming_code
from cli_tools import (
    Gate,
    finish,
    journalist,
    judging,
    reference,
    start,
    start_interpreter,
    summary,
    write_jsonl,
)
from langgraph.checkpoint.serde.jsonplus import EXT_CONSTRUCTOR_SINGLE_ARG

from fairjudge.engine import in_process


@pytest.fixture
def killed(server) -> tuple[str, ...]:
    """Kill a run in its midst and return the command that resumes it."""
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"system{n}") for n in range(150)])
    command = (*judging(server, concurrency=8), "--run", "run")
    gate = Gate(server, passing=100)
    process = start(*command)
    try:
        gate.wait_for(8)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        gate.open()
    server.answer = journalist
    return command


def inside(checkpoint: bytes, kind: int) -> bytes:
    """Return `checkpoint` with such a value among those that it holds."""
    state = ormsgpack.unpackb(checkpoint, ext_hook=ormsgpack.Ext)
    state["channel_values"]["n_done"] = ormsgpack.Ext(kind, ormsgpack.packb(CALLS[kind]))
    return ormsgpack.packb(state)


@pytest.mark.parametrize("kind", CALLS)
def test_code_named_in_a_checkpoint_is_not_executed(server, killed, kind):
    with sqlite3.connect("run/checkpoints.sqlite") as database:
        if kind == EXT_CONSTRUCTOR_SINGLE_ARG:
            database.create_function("forged", 1, lambda blob: inside(blob, kind))
        else:
            database.create_function("forged", 1, lambda _: naming_code(kind))
        for statement in (
            "UPDATE checkpoints SET checkpoint = forged(checkpoint)",
            "UPDATE writes SET type = 'msgpack', value = ?",
        ):
            values = (naming_code(kind),) * statement.count("?")
            assert database.execute(statement, values).rowcount > 0
    database.close()
    result = finish(start(*killed))
    assert not Path("pwned").exists()
    assert result.code == 0, result.err
    assert len(Path("judgements.jsonl").read_text().splitlines()) == 150


@pytest.mark.parametrize("attack", ATTACKS)
def test_stored_values_never_call_named_code(attack, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reader = in_process._saver(lambda _, serde: serde, None)
    with suppress(NotImplementedError):  # of a type that is never written
        reader.loads_typed(ATTACKS[attack])
    assert not Path("pwned").exists()


@pytest.fixture
def finished(server, cli) -> tuple[str, ...]:
    """Let a run end and return its command."""
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"system{n}") for n in range(30)])
    command = (*judging(server, concurrency=8), "--run", "run")
    assert cli(*command).code == 0
    server.calls.clear()
    return command


def test_modified_rows_are_judged_again_from_the_cache(server, finished, cli):
    expected = Path("judgements.jsonl").read_bytes()
    rows = Path("run/judgements.jsonl")
    lines = rows.read_text().splitlines()
    changed = [
        re.sub(r'"value":(\d)', lambda match: f'"value":{6 - int(match[1])}', line)
        if place < 20
        else line
        for place, line in enumerate(lines)
    ]
    assert sum(line != other for line, other in zip(lines, changed, strict=True)) >= 10
    rows.write_text("".join(line + "\n" for line in changed))
    for reader in (
        ("report", "run", "-o", "report.html"),
        ("audit", "verbosity", "--run", "run"),
    ):
        output = cli(*reader, code=1)
        assert "a row that was changed after it was written" in output.err
    cli(*finished, code=0)
    assert Path("judgements.jsonl").read_bytes() == expected
    assert server.calls == []
    # in the folder, too, each row is now as it was
    assert sorted(rows.read_text().splitlines()) == sorted(lines)
    assert cli("report", "run", "-o", "report.html").code == 0


def test_finished_run_reports_no_work_and_loads_no_model(server, finished, monkeypatch):
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")  # it says on standard error what it imports
    result = finish(start_interpreter(*finished))
    assert result.code == 0
    assert "This run had already finished; no model was called." in result.out
    assert server.calls == []
    loaded = {line.rpartition("|")[2].strip() for line in result.err.splitlines()}
    assert "fairjudge.cli" in loaded
    assert not {"torch", "transformers"} & loaded
