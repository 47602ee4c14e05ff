"""Killed again and again at random points, a run ends as if nothing had happened."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from cli_tools import (
    Done,
    building,
    cluster,
    finish,
    judging,
    prompts_of,
    reference,
    start,
    summary,
    write_jsonl,
)

CONCURRENCY = 8


def kill_after(server, command: tuple[str, ...], n_calls: int, *, pause_seconds: float) -> bool:
    """Start `command`, and kill it some time after so many calls came; False if it was through."""
    until = len(server.calls) + n_calls
    process = start(*command)
    deadline = time.monotonic() + 120
    while len(server.calls) < until and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    time.sleep(pause_seconds)
    through = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    return not through


def run(command: tuple[str, ...]) -> Done:
    return finish(start(*command), timeout=300)


def end_in_pieces(server, command: tuple[str, ...], *, n_calls: int, n_kills: int) -> int:
    """Kill `command` at random points, let it end, and return how often it was killed."""
    rng = random.Random(7)
    killed = 0
    for _ in range(n_kills):
        # 0: before the first call. Together the points stay below all calls, more or less.
        point = rng.randint(0, 2 * n_calls // (n_kills + 2))
        killed += kill_after(server, command, point, pause_seconds=rng.uniform(0.0, 0.1))
    done = run(command)
    assert done.code == 0, done.err
    return killed


def check_calls(server, *, n_calls: int, killed: int) -> None:
    counts = prompts_of(server)
    assert len(counts) == n_calls
    # A kill loses what was under way and nothing else.
    assert sum(counts.values()) - n_calls <= killed * CONCURRENCY
    assert max(counts.values()) <= 1 + killed


def rows_of(path: Path) -> list[dict]:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def uninterrupted(server, command: tuple[str, ...]) -> tuple[bytes, int]:
    """Return what `command` writes in one go, from nothing, and how many calls that takes."""
    assert (
        run((*command, "-o", "fresh.jsonl", "--run", "fresh", "--cache", "fresh-cache")).code == 0
    )
    n_calls = len(server.calls)
    assert len(prompts_of(server)) == n_calls
    server.calls.clear()
    return Path("fresh.jsonl").read_bytes(), n_calls


JUDGE_SIZES = [
    pytest.param(240, 4, id="short"),
    pytest.param(2000, 20, id="2000-items-20-kills", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("n_items", "n_kills"), JUDGE_SIZES)
def test_judging_ends_as_if_never_killed(server, n_items, n_kills):
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"s{n}") for n in range(n_items)])
    command = judging(server, concurrency=CONCURRENCY)
    expected, n_calls = uninterrupted(server, command)
    assert n_calls == n_items
    killed = end_in_pieces(server, (*command, "--run", "run"), n_calls=n_calls, n_kills=n_kills)
    assert killed >= n_kills // 2
    check_calls(server, n_calls=n_calls, killed=killed)
    assert Path("judgements.jsonl").read_bytes() == expected
    tasks = Counter(row["task"] for row in rows_of(Path("run/judgements.jsonl")))
    assert len(tasks) == n_items
    assert set(tasks.values()) == {1}


BUILD_SIZES = [
    pytest.param(4, 3, id="short"),
    pytest.param(100, 20, id="2000-calls-20-kills", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("n_clusters", "n_kills"), BUILD_SIZES)
def test_building_ends_as_if_never_killed(server, n_clusters, n_kills):
    write_jsonl(Path("clusters.jsonl"), [cluster(f"c{n}") for n in range(n_clusters)])
    command = building(server, concurrency=CONCURRENCY)
    expected, n_calls = uninterrupted(server, command)
    assert n_calls >= 20 * n_clusters
    killed = end_in_pieces(server, (*command, "--run", "run"), n_calls=n_calls, n_kills=n_kills)
    assert killed >= n_kills // 2
    check_calls(server, n_calls=n_calls, killed=killed)
    assert Path("refs.jsonl").read_bytes() == expected
    eids = Counter(row["eid"] for row in rows_of(Path("run/references.jsonl")))
    assert eids == {f"c{n}": 1 for n in range(n_clusters)}
