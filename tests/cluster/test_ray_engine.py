"""The same commands on a Ray cluster: the same files, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_tools import (
    Done,
    building,
    cluster,
    finish,
    journalist,
    judging,
    prompts_of,
    reference,
    start,
    summary,
    text_of,
    write_jsonl,
)
from stub_server import StubServer

N_EVENTS, N_SYSTEMS = 4, 50  # 200 tasks, in two shards of two events


@pytest.fixture
def ray(cluster_of_two, tmp_path, monkeypatch):
    """The cluster, and a working folder with inputs."""
    for name, value in cluster_of_two.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    monkeypatch.chdir(tmp_path)
    events = [f"event{n}" for n in range(N_EVENTS)]
    write_jsonl(Path("references.jsonl"), [reference(eid) for eid in events])
    rows = [
        summary(f"system{n}", eid) | {"text": f"In {eid}, {n} bridges closed."}
        for eid in events
        for n in range(N_SYSTEMS)
    ]
    write_jsonl(Path("summaries.jsonl"), rows)
    write_jsonl(Path("clusters.jsonl"), [cluster(eid) for eid in events])
    return cluster_of_two


@pytest.fixture
def server() -> Iterator[StubServer]:
    stub = StubServer()
    stub.answer = journalist
    yield stub
    stub.close()


def end(process: subprocess.Popen[str]) -> Done:
    """Wait for a command, and end it where it takes too long."""
    try:
        return finish(process, timeout=120)
    finally:
        process.kill()


def run(*args: object) -> Done:
    return end(start(*args))


def local(command: tuple[str, ...], output: str) -> bytes:
    """Return what the command writes in one process, with a cache of its own."""
    done = run(*command, "-o", f"local-{output}", "--cache", "own")
    assert done.code == 0, done.err
    return Path(f"local-{output}").read_bytes()


def test_a_worker_killed_in_the_middle_costs_nothing_but_time(ray, server):
    lock, passing, let_go = threading.Lock(), [60], threading.Event()
    now, most = [0], [0]

    def answer(call):
        with lock:
            passing[0] -= 1
            now[0] += 1
            most[0] = max(most[0], now[0])
            wait = passing[0] < 0 and not let_go.is_set()
        if wait:
            let_go.wait(60)
        with lock:
            now[0] -= 1
        return journalist(call)

    server.answer = answer
    command = judging(server, concurrency=8)
    process = start(*command, "--engine", "ray", "--json", "report.json")
    deadline = time.monotonic() + 100
    while len(server.calls) < 68 and time.monotonic() < deadline:  # 60 answered, 8 held
        time.sleep(0.05)
    victims = ray.workers("run_shard")
    assert victims
    os.kill(victims[0], signal.SIGKILL)
    let_go.set()
    done = end(process)
    assert done.code == 0, done.err
    counts = prompts_of(server)
    assert len(counts) == N_EVENTS * N_SYSTEMS
    assert sum(counts.values()) <= len(counts) + 8
    assert most[0] <= 8 + 8  # those of the dead worker go on at the server until they are answered
    report = json.loads(Path("report.json").read_text())
    assert report["spent"]["n_calls"] >= len(counts)
    again = run(*command, "--engine", "ray")
    assert again.code == 0
    assert "Calls: 0" in again.out
    assert Path("judgements.jsonl").read_bytes() == local(command, "judgements.jsonl")


def test_a_budget_holds_for_the_whole_cluster(ray, server):
    command = (*judging(server), "--engine", "ray", "--max-unscored", "1")
    done = run(*command, "--max-calls", "20")
    assert done.code == 0, done.err
    assert len(server.calls) == 20
    assert "Calls: 20" in done.out
    rest = run(*command)
    assert rest.code == 0
    assert len(server.calls) == N_EVENTS * N_SYSTEMS


def test_own_prompts_and_scales_reach_the_workers_and_errors_come_back(ray, server):
    levels = "".join(f'[[levels]]\nanswer = "{n}"\nvalue = {n}\n' for n in range(1, 8))
    Path("scale.toml").write_text(f'name = "seven"\nkind = "number"\n{levels}')
    command = (*judging(server), "--scale", "scale.toml")
    done = run(*command, "--engine", "ray")
    assert done.code == 0, done.err
    assert Path("judgements.jsonl").read_bytes() == local(command, "judgements.jsonl")


def test_scorers_in_actors_give_the_same_file(ray):
    write_jsonl(Path("summaries.jsonl"), [summary("s", f"event{n}") for n in range(N_EVENTS)])
    command = (
        *("judge", "--references", "references.jsonl", "--summaries", "summaries.jsonl"),
        *("--aspect", "coverage", "--protocol", "likert", "-o", "judgements.jsonl"),
    )
    done = run(*command, "--engine", "ray")
    assert done.code == 0, done.err
    assert Path("judgements.jsonl").read_bytes() == local(command, "judgements.jsonl")


def test_without_the_extra_it_says_which(monkeypatch):
    from fairjudge.app.ray_engine import ClusterSpent, run_on_cluster
    from fairjudge.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"--engine ray needs an extra.*fairjudge\[ray\]"):
        list(run_on_cluster(None, [None], in_actors=False, spent=ClusterSpent()))


def test_a_machine_lost_in_the_middle_costs_nothing_but_time(ray, server):
    lock, passing, let_go = threading.Lock(), [4], threading.Event()

    def answer(call):
        with lock:
            passing[0] -= 1
            wait = passing[0] < 0 and not let_go.is_set()
        if wait:
            let_go.wait(60)
        return journalist(call)

    server.answer = answer
    command = building(server, concurrency=130)  # enough for all four events at once
    ray.start_node()
    process = start(*command, "--engine", "ray")
    deadline = time.monotonic() + 100
    while len(server.calls) < 20 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(2)  # for the four replies to be kept: a reply on its way is lost with its machine
    ray.kill_node("run_shard")
    let_go.set()
    done = end(process)
    assert done.code == 0, done.err
    assert "raylet" not in done.out
    counts = prompts_of(server)
    answered = [text_of(call) for call in server.calls[:4]]  # each event's first questions
    assert [counts[prompt] for prompt in answered] == [1] * 4
    assert set(counts.values()) <= {1, 2}
    server.answer = journalist
    assert Path("refs.jsonl").read_bytes() == local(command, "refs.jsonl")
