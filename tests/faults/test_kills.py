"""Killed again and again at random points, a run ends as if nothing had happened."""

from __future__ import annotations

import itertools
import json
import random
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

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
from stub_server import Call
from waiting import MAX_SECONDS

CONCURRENCY = 8


def kill_after(server, command: tuple[str, ...], n_calls: int) -> None:
    """Start `command`, and kill it once so many calls came.

    Only `CONCURRENCY` more calls are answered before the kill, so that no run is through by then,
    however fast the machine or late this thread.
    """
    answer, numbers = server.answer, itertools.count(1)
    reached, killed = threading.Event(), threading.Event()

    def answer_until_killed(call: Call) -> Any:
        number = next(numbers)
        if number >= n_calls:
            reached.set()
        if number > n_calls + CONCURRENCY:
            killed.wait(MAX_SECONDS)
        return answer(call)

    server.answer = answer_until_killed
    process = start(*command, discard_output=True)
    assert n_calls == 0 or reached.wait(MAX_SECONDS)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=60) == -signal.SIGKILL
    killed.set()
    server.answer = answer


def run(command: tuple[str, ...]) -> Done:
    return finish(start(*command), timeout=900)


def end_in_pieces(server, command: tuple[str, ...], *, n_calls: int, n_kills: int) -> None:
    """Kill `command` at random points, then let it end."""
    rng = random.Random(7)
    most = n_calls // n_kills - 2 * CONCURRENCY
    assert most > 0
    for _ in range(n_kills):
        # Calls until the kill; 0: before the first one.
        kill_after(server, command, rng.randint(0, most))
    result = run(command)
    assert result.code == 0, result.err


def check_calls(server, *, n_calls: int, n_kills: int) -> None:
    counts = prompts_of(server)
    assert len(counts) == n_calls
    # A kill loses what was under way and nothing else.
    assert sum(counts.values()) - n_calls <= n_kills * CONCURRENCY
    assert max(counts.values()) <= 1 + n_kills


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
    pytest.param("likert", 240, 4, id="short"),
    pytest.param("checklist", 90, 3, id="checklists", marks=pytest.mark.large),
    pytest.param("checklist", 800, 20, id="checklists-20-kills", marks=pytest.mark.slow),
    pytest.param("likert", 2000, 20, id="2000-items-20-kills", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("protocol", "n_items", "n_kills"), JUDGE_SIZES)
def test_killed_judging_resumes_with_equal_results(server, protocol, n_items, n_kills):
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"s{n}") for n in range(n_items)])
    command = (*judging(server, concurrency=CONCURRENCY), "--protocol", protocol)
    expected, n_calls = uninterrupted(server, command)
    assert n_calls == n_items
    end_in_pieces(server, (*command, "--run", "run"), n_calls=n_calls, n_kills=n_kills)
    check_calls(server, n_calls=n_calls, n_kills=n_kills)
    assert Path("judgements.jsonl").read_bytes() == expected
    tasks = Counter(row["task"] for row in rows_of(Path("run/judgements.jsonl")))
    assert len(tasks) == n_items
    assert set(tasks.values()) == {1}


# By article: questions once, an article once, and one call that groups.
BUILD_SIZES = [
    pytest.param("paper", 4, 4, 3, id="short", marks=pytest.mark.large),
    pytest.param("article", 10, 4, 3, id="by-article"),
    pytest.param("article", 50, 4, 20, id="by-article-20-kills", marks=pytest.mark.slow),
    pytest.param("paper", 2000, 2, 20, id="2000-items-20-kills", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("pipeline", "n_clusters", "n_articles", "n_kills"), BUILD_SIZES)
def test_killed_building_resumes_with_equal_results(
    server, pipeline, n_clusters, n_articles, n_kills
):
    clusters = [cluster(f"c{n}", n_articles) for n in range(n_clusters)]
    write_jsonl(Path("clusters.jsonl"), clusters)
    command = building(server, concurrency=CONCURRENCY, pipeline=pipeline)
    expected, n_calls = uninterrupted(server, command)
    # three questions put to each article; the questions themselves; sorting where answers differ
    least = 3 * n_articles + 2 if pipeline == "paper" else 1 + n_articles + 1
    assert n_calls >= least * n_clusters
    end_in_pieces(server, (*command, "--run", "run"), n_calls=n_calls, n_kills=n_kills)
    check_calls(server, n_calls=n_calls, n_kills=n_kills)
    assert Path("refs.jsonl").read_bytes() == expected
    eids = Counter(row["eid"] for row in rows_of(Path("run/references.jsonl")))
    assert eids == {f"c{n}": 1 for n in range(n_clusters)}
