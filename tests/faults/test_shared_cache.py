"""Eight processes and one cache: every reply is paid for once, and none is lost."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from cli_tools import finish, judging, prompts_of, reference, start, summary, write_jsonl

from fairjudge.cache.claims import Claims
from fairjudge.cache.disk import ReplyCache

KEY = "a1" * 32


@pytest.mark.parametrize(
    "n_items", [40, pytest.param(500, marks=pytest.mark.slow)], ids=["short", "500-items"]
)
def test_eight_processes_pay_once_for_each_reply(server, n_items):
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"s{n}") for n in range(n_items)])
    command = judging(server, concurrency=8)
    names = [f"run{n}" for n in range(8)]
    processes = [start(*command, "--run", name, "-o", f"{name}.jsonl") for name in names]
    for process in processes:
        result = finish(process, timeout=400)
        assert (result.code, result.err) == (0, "")
    counts = prompts_of(server)
    assert len(counts) == n_items
    assert set(counts.values()) == {1}
    assert len({Path(f"{name}.jsonl").read_bytes() for name in names}) == 1


def test_claim_ends_with_its_process(tmp_path):
    claims = Claims(tmp_path)
    code = (
        "import sys, time; from pathlib import Path; from fairjudge.cache.claims import Claims\n"
        f"claims = Claims(Path(sys.argv[1])); print(claims.claim({KEY!r}), flush=True)\n"
        "time.sleep(300)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "True\n"
        assert not claims.claim(KEY)
        assert claims.claim("b2" * 32)
        holder.send_signal(signal.SIGKILL)
        holder.communicate(timeout=120)
        assert claims.claim(KEY)
        claims.release(KEY)
    finally:
        holder.kill()
        claims.close()
    assert (tmp_path / "claims.lock").stat().st_size == 0


def damage_pickled(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE Cache SET mode = 4, value = ? WHERE rowid = 3", (b"\x80\x04N.",))
    connection.close()


def damage_row(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE Cache SET value = substr(value, 1, 40) || 'x' WHERE rowid = 3")
    connection.close()


def damage_by_truncating(database: Path) -> None:
    os.truncate(database, database.stat().st_size * 2 // 3)


def damage_by_overwriting(database: Path) -> None:
    with database.open("r+b") as file:
        file.write(b"this was a database once" * 200)


@pytest.mark.parametrize(
    ("damage", "message", "max_asked"),
    [
        (damage_row, "contained a bad row", 1),
        (damage_pickled, "contained a bad row", 1),
        (damage_by_truncating, "the cache database was damaged", 40),
        (damage_by_overwriting, "the cache database was damaged", 40),
    ],
)
def test_damaged_cache_is_reported_moved_and_rebuilt(
    server, tmp_path, damage, message, max_asked, cli
):
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"s{n}") for n in range(40)])
    command = (*judging(server), "--cache", "shared")
    assert cli(*command, "--run", "one").code == 0
    before = Path("judgements.jsonl").read_bytes()
    server.calls.clear()
    cache = ReplyCache("shared")
    cache._disk._sql("PRAGMA wal_checkpoint(TRUNCATE)")
    cache.close()
    damage(Path("shared/cache.db"))
    result = cli(*command, "--run", "two", code=0)
    assert message in result.err
    assert 1 <= len(server.calls) <= max_asked
    assert Path("judgements.jsonl").read_bytes() == before
    stats = cli("cache", "stats", "--cache", "shared", "--json", "-")
    assert json.loads(stats.out)["n_quarantined"] == 1, stats
    server.calls.clear()
    assert cli(*command, "--run", "three").code == 0
    assert server.calls == []
