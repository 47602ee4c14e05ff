"""Commands on several machines that share a store: here, processes with folders of their own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from checkpoint_attacks import CALLS, naming_code
from cli_tools import (
    Done,
    Gate,
    building,
    cluster,
    finish,
    journalist,
    judging,
    prompts_of,
    reference,
    settled,
    start,
    summary,
    text_of,
    write_jsonl,
)
from forked_commands import ForkedCommand
from stub_server import StubServer
from waiting import wait_until

from fairjudge.cache import postgres as replies
from fairjudge.records import postgres as runs

HASTY = """
import sys
from fairjudge.cache import postgres as replies
from fairjudge.records import server
server.PATIENCE_SECONDS, replies.LEASE_SECONDS = 1.0, 1.5
from fairjudge.cli import main
sys.argv[0] = "fairjudge"
main()
"""
"""The command, which waits neither long for a server nor for those who died.

Not for two at once: on a busy machine one that lives may well be silent for so long.
"""
SECRET = "s3cret"  # how the store's password begins


class Machine:
    """A folder with the inputs, where commands are run."""

    def __init__(self, folder: Path, run_here: Callable[..., Done], *, n_summaries: int) -> None:
        self.folder = folder
        self._run_here = run_here
        folder.mkdir()
        write_jsonl(folder / "clusters.jsonl", [cluster()])
        write_jsonl(folder / "references.jsonl", [reference()])
        rows = [summary(f"s{n}") for n in range(n_summaries)]
        write_jsonl(folder / "summaries.jsonl", rows)

    def start(self, *args: object) -> ForkedCommand:
        return start(*args, "--cache", "cache", cwd=self.folder)

    def start_hasty(self, *args: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", HASTY, *settled(args), "--cache", "cache"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *args: object) -> Done:
        """Run a command to its end: in this process, which is quicker."""
        return self._run_here(self.folder, *args, "--cache", "cache")

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


@pytest.fixture
def run_here(monkeypatch, capfd) -> Callable[..., Done]:
    def run(folder: Path, *args: object) -> Done:
        from fairjudge.cli import main

        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["fairjudge", *settled(args)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    monkeypatch.setattr(replies, "LEASE_SECONDS", 1.5)
    # On a busy machine PostgreSQL may be long in noticing that who held a run was killed.
    monkeypatch.setattr(runs, "LOCK_SECONDS", 120.0)
    return run


@pytest.fixture
def machines(tmp_path, run_here) -> tuple[Machine, Machine]:
    first, second = (Machine(tmp_path / name, run_here, n_summaries=30) for name in ("one", "two"))
    return first, second


@pytest.fixture
def server(stub, monkeypatch) -> StubServer:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key")
    stub.answer = journalist
    return stub


def rows(url: str, statement: str) -> list[tuple]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def wait_for_replies(url: str, n: int) -> None:
    """Wait until `n` replies are kept: one that was answered may be on its way to the store."""
    wait_until(lambda: rows(url, "SELECT count(*) FROM fairjudge.replies") == [(n,)])


def test_concurrent_machines_share_every_reply(machines, server, store_url):
    processes = [
        machine.start(*judging(server), "--store", store_url, "--run", machine.folder.name)
        for machine in machines
    ]
    assert [finish(process).code for process in processes] == [0, 0]
    assert len(server.calls) == 30
    assert set(prompts_of(server).values()) == {1}
    first, second = (machine.read("judgements.jsonl") for machine in machines)
    assert first == second
    files = (machines[0].folder / "cache").rglob("*")  # what was spent was recorded there meanwhile
    assert [path for path in files if path.is_file()] == []
    embedded = machines[0].run(*judging(server), "-o", "embedded.jsonl")
    assert embedded.code == 0
    assert machines[0].read("embedded.jsonl") == first


@pytest.mark.parametrize("make", [judging, building])
def test_run_killed_on_one_machine_resumes_on_another(machines, server, store_url, make):
    first, second = machines
    for machine in machines:  # 1 call for questions, 12 for articles, 3 to group
        write_jsonl(machine.folder / "clusters.jsonl", [cluster(n=12)])
    command = (*make(server, concurrency=4), "--store", store_url)
    gate = Gate(server, passing=12)
    process = first.start_hasty(*command)
    gate.wait_for(1)
    wait_for_replies(store_url, 12)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    answered = len(server.calls) - 4  # at most the four in flight are lost
    gate.open()
    server.answer = journalist
    resumed = second.run(*command)
    assert resumed.code == 0, resumed.err
    counts = prompts_of(server)
    assert sum(counts.values()) <= len(counts) + 4
    assert sum(count > 1 for count in counts.values()) <= 4
    assert answered >= 9
    output = "judgements.jsonl" if make is judging else "refs.jsonl"
    whole = first.run(*make(server), "-o", "whole.jsonl")
    assert whole.code == 0
    assert second.read(output) == first.read("whole.jsonl")
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "claims"):
        assert rows(store_url, f"SELECT * FROM fairjudge.{table}") == []  # noqa: S608


def test_checkpoints_are_usable_on_another_machine(machines, server, store_url):
    first, second = machines
    command = (*building(server, concurrency=1, pipeline="paper"), "--store", store_url)
    # one call at a time: 1 for seed questions, 4 articles x 3 answers, 3 to group; then the next
    gate = Gate(server, passing=16)
    process = first.start_hasty(*command)
    gate.wait_for(1)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    ((n_checkpoints,),) = rows(store_url, "SELECT count(*) FROM fairjudge.checkpoints")
    assert n_checkpoints > 0
    gate.open()
    server.answer = journalist
    # Without its replies, only the checkpoints can spare the second machine the seed's calls.
    with psycopg.connect(store_url, autocommit=True) as connection:
        connection.execute("DELETE FROM fairjudge.replies")
    before = len(server.calls)
    result = second.run(*command)
    assert result.code == 0, result.err
    again = [call for call in server.calls[before:] if "matter number" not in str(call.body)]
    assert again == [] or all("questions" in str(call.body) for call in again)
    assert len(server.calls) - before < before + 16


def test_code_named_in_a_stored_checkpoint_is_not_executed(machines, server, store_url):
    first, second = machines
    command = (*building(server, concurrency=1, pipeline="paper"), "--store", store_url)
    gate = Gate(server, passing=16)
    process = first.start_hasty(*command)
    try:
        gate.wait_for(1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=120)
        gate.open()
    server.answer = journalist
    with psycopg.connect(store_url, autocommit=True) as connection:
        for table in ("checkpoint_blobs", "checkpoint_writes"):
            changed = connection.execute(
                f"UPDATE fairjudge.{table} SET type = 'msgpack', "  # noqa: S608
                "blob = (%s::bytea[])[abs(hashtext(channel)) %% 3 + 1]",
                ([naming_code(kind) for kind in CALLS],),
            )
            assert changed.rowcount > 0
    result = second.run(*command)
    assert not list(second.folder.parent.rglob("pwned"))
    assert not Path("pwned").exists()
    assert result.code == 0, result.err


def test_shared_build_by_article(machines, server, store_url):
    first, second = machines
    command = (*building(server, concurrency=1), "--store", store_url)
    gate = Gate(server, passing=5)  # 1 for questions, 4 for articles; 1 that groups is under way
    process = first.start_hasty(*command)
    gate.wait_for(1)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    gate.open()
    server.answer = journalist
    with psycopg.connect(store_url, autocommit=True) as connection:
        connection.execute("DELETE FROM fairjudge.replies")
    before = len(server.calls)
    result = second.run(*command)
    assert result.code == 0, result.err
    # the questions and the articles' answers stand in the checkpoints
    assert all('{"sorted"' in text_of(call) for call in server.calls[before:])
    whole = second.run(*building(server), "-o", "whole.jsonl", "--store", store_url)
    assert whole.code == 0
    assert second.read("refs.jsonl") == second.read("whole.jsonl")


def test_run_name_is_used_by_one_run_at_a_time(machines, server, store_url, monkeypatch):
    monkeypatch.setattr(runs, "LOCK_SECONDS", 0.5)
    first, second = machines
    command = (*judging(server), "--store", store_url, "--run", "monday")
    gate = Gate(server, passing=2)
    process = first.start(*command)
    gate.wait_for(1)
    refused = second.run(*command)
    assert refused.code == 1
    assert "monday in postgresql://judge@" in refused.err
    assert "another run of this name is in progress" in refused.err
    gate.open()
    assert finish(process).code == 0
    again = second.run(*command)
    assert again.code == 0
    assert len(server.calls) == 30
    other = second.run(*command, "--seed", "7")
    assert other.code == 1
    assert "this is another run (it differs in model: seed" in other.err


def test_a_stored_run_can_be_audited_from_anywhere(machines, server, store_url):
    first, second = machines
    pairs = [arg if arg != "likert" else "pairwise" for arg in judging(server)]
    rows_ = [summary(f"s{n}") for n in range(3)]
    write_jsonl(first.folder / "summaries.jsonl", rows_)
    server.answer = lambda call: "Verdict: A"
    options = ("--store", store_url, "--run", "monday")
    assert first.run(*pairs, *options).code == 0
    messages = second.run("audit", "position", *options, "--json", "-")
    assert messages.code == 0, messages.err
    stored = first.run("audit", "position", "judgements.jsonl", "--json", "-")
    assert json.loads(messages.out) == json.loads(stored.out)
    none = second.run("audit", "position", "--store", store_url, "--run", "tuesday")
    assert none.code == 1
    assert "holds no judgements of this run" in none.err


def test_plan_and_batch_use_the_store(machines, server, store_url):
    first, second = machines
    assert first.run(*judging(server), "--store", store_url).code == 0
    requests = [arg for arg in judging(server) if arg != "judge"]
    plan = second.run("batch", "plan", *requests, "--store", store_url, "--json", "-")
    data = json.loads(plan.out)
    assert (data["calls"], data["cached"]) == (0, 30)


def test_cache_commands_manage_the_store(machines, server, store_url):
    machine = machines[0]
    assert machine.run(*judging(server), "--store", store_url).code == 0

    def cache(*args: object) -> Done:
        return machine.run("cache", *args, "--store", store_url)

    stats = json.loads(cache("stats", "--json", "-").out)
    assert (stats["n_entries"], stats["n_quarantined"]) == (30, 0)
    assert stats["path"].startswith("postgresql://judge@127.0.0.1:")
    assert cache("export", "all.jsonl").out == "30 replies written to all.jsonl\n"
    with psycopg.connect(store_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE fairjudge.replies SET stored = 'x' WHERE key = "
            "(SELECT min(key) FROM fairjudge.replies)"
        )
    verified = cache("verify")
    assert verified.code == 1
    assert "29 valid replies, 1 rejected" in verified.out
    assert cache("import", "all.jsonl").out == "1 reply added, 29 existed\n"
    assert cache("clear", "--yes").out == "30 replies deleted\n"


def test_lost_store_stops_the_run_which_resumes_later(machines, server, store_url, postgres):
    machine = machines[0]
    command = (*judging(server), "--store", store_url)
    gate = Gate(server, passing=10)
    process = machine.start_hasty(*command)
    gate.wait_for(1)
    wait_for_replies(store_url, 10)
    postgres.stop()
    gate.open()
    try:
        result = finish(process)
    finally:
        postgres.start()
    assert result.code == 1
    errors = [line for line in result.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert "run the same command to resume" in errors[0]
    assert SECRET not in result.out + result.err
    resumed = machine.run(*command)
    assert resumed.code == 0, resumed.err
    counts = prompts_of(server)
    # the four in flight
    assert sum(counts.values()) <= len(counts) + 4


def test_password_is_never_written_or_printed(machines, server, store_url, tmp_path):
    machine = machines[0]
    options = ("--store", store_url, "--run", "monday", "--json", "report.json")
    result = machine.run(*judging(server), *options)
    assert result.code == 0
    text = result.out + result.err
    for path in tmp_path.rglob("*"):
        if path.is_file():
            text += path.read_text("utf-8", "replace")
    with psycopg.connect(store_url) as connection:
        tables = connection.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables "
            "WHERE schemaname = 'fairjudge'"
        ).fetchall()
        assert len(tables) >= 9
        for (table,) in tables:
            text += str(connection.execute(f"SELECT t FROM {table} AS t").fetchall())  # noqa: S608
    assert "monday" in text
    assert SECRET not in text
    assert "sk-planted-key" not in text
    for broken in (store_url.replace("s3cret%2F", "s3cret/"), store_url + "?nonsense=1"):
        failed = machine.run(*judging(server), "--store", broken)
        assert failed.code == 1
        assert failed.err.startswith("error: ")
        assert SECRET not in failed.out + failed.err


def test_missing_extra_is_named(monkeypatch, capfd):
    from fairjudge.cli import main

    monkeypatch.setitem(sys.modules, "psycopg", None)
    name = uuid.uuid4().hex
    monkeypatch.setattr(
        sys, "argv", ["fairjudge", "cache", "stats", "--store", f"postgresql://127.0.0.1:1/{name}"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    text = "error: --store postgresql:// needs an extra: pip install 'fairjudge[postgres]'\n"
    assert capfd.readouterr().err == text
