"""The same commands on a Ray cluster: the same files, whatever dies on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
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
from json_files import read_json
from stub_server import Reply
from waiting import wait_until

from fairjudge.cache.disk import ReplyCache
from fairjudge.errors import MissingExtraError
from fairjudge.run.ray_engine import ClusterUsage, run_on_cluster

N_EVENTS, N_SYSTEMS = 4, 50  # 200 tasks, in two shards of two events
TASK = "Map(run_shard)"
"""How Ray Data names the tasks that call an API."""
ACTOR = "MapWorker(Map(Worker))"
"""How it names the actors that keep models."""
HOLD_SECONDS = 300
"""For so long a call is held at most; those that hold them let them go."""


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
        summary(f"system{n}", eid)
        | {"text": f"The bridge is closed. In {eid}, {n} bridges closed."}
        for eid in events
        for n in range(N_SYSTEMS)
    ]
    write_jsonl(Path("summaries.jsonl"), rows)
    write_jsonl(Path("clusters.jsonl"), [cluster(eid) for eid in events])
    return cluster_of_two


def end(process: subprocess.Popen[str]) -> Done:
    """Wait for a command, and end it where it takes too long.

    What Ray's core says (of how Ray Data makes its actors, and of nodes that are lost) is left out:
    no setting keeps it from that.
    """
    try:
        result = finish(process, timeout=400)
    finally:
        process.kill()
    texts = [line for line in result.err.splitlines(keepends=True) if ".cc:" not in line]
    return replace(result, err="".join(texts))


def run(*args: object) -> Done:
    return end(start(*args))


def keeping() -> tuple[str, str]:
    """Return the option for a cache that the test has to itself, whatever an earlier one left."""
    return ("--cache", str(Path("kept").absolute()))


def n_kept() -> int:
    """Return how many replies the workers have kept: one that was answered may be on its way."""
    cache = ReplyCache(keeping()[1])
    try:
        return cache.stats().n_entries
    finally:
        cache.close()


def local(command: tuple[str, ...], output: str) -> bytes:
    """Return what the command writes in one process, with a cache of its own."""
    own = {"-o": f"local-{output}", "--cache": "own"}
    items = [
        word
        for place, word in enumerate(command)
        if word not in own and (not place or command[place - 1] not in own)
    ]
    result = run(*items, *(word for option in own.items() for word in option))
    assert result.code == 0, result.err
    return Path(f"local-{output}").read_bytes()


def test_killed_worker_does_not_change_results(ray, server):
    lock, passing, let_go = threading.Lock(), [60], threading.Event()
    now, most = [0], [0]

    def answer(call):
        with lock:
            passing[0] -= 1
            now[0] += 1
            most[0] = max(most[0], now[0])
            wait = passing[0] < 0 and not let_go.is_set()
        if wait:
            let_go.wait(HOLD_SECONDS)
        with lock:
            now[0] -= 1
        return journalist(call)

    server.answer = answer
    command = (*judging(server, concurrency=8), *keeping())
    process = start(*command, "--engine", "ray", "--json", "report.json")
    wait_until(lambda: len(server.calls) == 68)  # 60 answered, 8 held
    wait_until(lambda: n_kept() == 60)
    os.kill(ray.workers(TASK)[0], signal.SIGKILL)
    let_go.set()
    result = end(process)
    assert result.code == 0, result.err
    counts = prompts_of(server)
    assert len(counts) == N_EVENTS * N_SYSTEMS
    assert sum(counts.values()) <= len(counts) + 8
    assert most[0] <= 8 + 8  # those of the dead worker go on at the server until they are answered
    report = read_json("report.json")
    assert report["spent"]["n_calls"] >= len(counts)
    again = run(*command, "--engine", "ray")
    assert again.code == 0
    assert "Calls: 0" in again.out
    assert Path("judgements.jsonl").read_bytes() == local(command, "judgements.jsonl")


def test_budget_applies_to_the_whole_cluster(ray, server):
    command = (*judging(server), "--engine", "ray", "--max-unscored", "1")
    result = run(*command, "--max-calls", "20")
    assert result.code == 0, result.err
    assert len(server.calls) == 20
    assert "Calls: 20" in result.out
    output = run(*command)
    assert output.code == 0
    assert len(server.calls) == N_EVENTS * N_SYSTEMS


def test_rate_limits_apply_to_the_whole_cluster(ray, server):
    rows = Path("summaries.jsonl").read_text().splitlines(keepends=True)
    Path("summaries.jsonl").write_text("".join(rows[::2]))  # 100 tasks, in two shards
    came: list[float] = []
    full = threading.Event()

    def answer(call):
        came.append(time.monotonic())
        if len(came) >= 12:
            full.set()
        full.wait(HOLD_SECONDS)
        return journalist(call)

    server.answer = answer
    result = run(*judging(server, concurrency=12), "--rpm", "720", "--engine", "ray")
    assert result.code == 0, result.err
    # When all 12 places are taken, 88 are still to come, at most a second's worth, 12, of them at
    # once and the others at 12 a second: 6.3 s. The larger shard, of 75, would need 5.3 s at most
    # if its worker had those rates for itself.
    assert max(came) - max(came[:12]) > 6.3


def test_rows_are_saved_incrementally_and_interrupt_stops_the_run(ray, server):
    held, let_go = threading.Event(), threading.Event()

    def answer(call):
        if "In event3," in text_of(call):  # it is in the second shard
            held.set()
            let_go.wait(HOLD_SECONDS)
        return journalist(call)

    server.answer = answer
    command = (*judging(server, concurrency=256), "--run", "run")
    process = start(*command, "--engine", "ray")
    rows = Path("run/judgements.jsonl")
    wait_until(lambda: rows.is_file() and len(rows.read_bytes().splitlines()) == 100)
    wait_until(held.is_set)
    process.send_signal(signal.SIGINT)
    result = end(process)
    let_go.set()
    message = "interrupted; finished work is kept; run the same command to resume\n"
    assert result == Done(code=130, out="", err=message)
    assert len(rows.read_bytes().splitlines()) == 100
    again = run(*command)  # in one process, to the same end
    assert again.code == 0, again.err
    answered = [prompt for prompt in prompts_of(server) if "In event0," in prompt]
    assert len(answered) == N_SYSTEMS
    assert {prompts_of(server)[prompt] for prompt in answered} == {1}


def test_custom_prompts_reach_workers_and_errors_propagate(ray, server):
    levels = "".join(f'[[levels]]\nanswer = "{n}"\nvalue = {n}\n' for n in range(1, 8))
    Path("scale.toml").write_text(f'name = "seven"\nkind = "number"\n{levels}')
    command = (*judging(server), "--scale", "scale.toml")
    result = run(*command, "--engine", "ray")
    assert (result.code, result.err) == (0, "")
    assert Path("judgements.jsonl").read_bytes() == local(command, "judgements.jsonl")


def test_scorers_in_actors_give_equal_output(ray):
    write_jsonl(Path("summaries.jsonl"), [summary("s", f"event{n}") for n in range(N_EVENTS)])
    command = (
        *("judge", "--references", "references.jsonl", "--summaries", "summaries.jsonl"),
        *("--aspect", "coverage", "--protocol", "likert", "-o", "judgements.jsonl"),
    )
    result = run(*command, "--engine", "ray")
    assert (result.code, result.err) == (0, "")
    assert Path("judgements.jsonl").read_bytes() == local(command, "judgements.jsonl")


def test_killed_actor_does_not_change_results(ray, server):
    lock, passing, let_go = threading.Lock(), [60], threading.Event()

    def answer(call):
        with lock:
            passing[0] -= 1
            wait = passing[0] < 0 and not let_go.is_set()
        if wait:
            let_go.wait(HOLD_SECONDS)
        return journalist(call)

    server.answer = answer
    command = (*judging(server, concurrency=8), "--fallback", "embedding", *keeping())
    process = start(*command, "--engine", "ray")
    wait_until(lambda: len(server.calls) == 68)
    wait_until(lambda: n_kept() == 60)
    os.kill(ray.workers(ACTOR)[0], signal.SIGKILL)
    let_go.set()
    result = end(process)
    assert result.code == 0, result.err
    assert sum(prompts_of(server).values()) <= N_EVENTS * N_SYSTEMS + 8
    assert Path("judgements.jsonl").read_bytes() == local(command, "judgements.jsonl")


@pytest.mark.parametrize("stored", [False, True], ids=["cache", "store"])
def test_references_by_article_match_a_single_process(ray, server, request, stored):
    where = ("--store", request.getfixturevalue("store_url")) if stored else keeping()
    command = building(server)
    result = run(*command, *where, "--engine", "ray", "--json", "report.json")
    assert (result.code, result.err) == (0, "")
    counts = prompts_of(server)
    assert set(counts.values()) == {1}
    # questions on all articles at once, each of them once, and all answers sorted at once
    assert len(counts) >= N_EVENTS * (1 + 4 + 1)
    assert read_json("report.json")["spent"]["n_calls"] == len(counts)
    built = Path("refs.jsonl").read_bytes()
    assert built == local(command, "refs.jsonl")
    # what the workers kept is there for one process too
    answered = len(server.calls)
    again = run(*command, *where, "--run", "again")
    assert (again.code, len(server.calls)) == (0, answered)
    assert Path("refs.jsonl").read_bytes() == built
    assert f"Calls: 0, from the cache: {len(counts)}," in again.out
    assert result.out.partition("Calls: ")[0] == again.out.partition("Calls: ")[0]


def checking(server, *options):
    """Return a command that judges by checklist."""
    preset = ("--protocol", "checklist", "--derive", "pairwise", *options)
    return (*judging(server, concurrency=64), *preset)


@pytest.mark.parametrize("how", ["store", "fallback"])
def test_checklists_match_a_single_process(ray, server, request, how):
    rows = Path("summaries.jsonl").read_text().splitlines(keepends=True)
    Path("summaries.jsonl").write_text("".join(rows[::5]))
    command, where = checking(server), keeping()
    if how == "store":
        where = ("--store", request.getfixturevalue("store_url"))
    else:
        server.answer = lambda call: (
            Reply(text=None, refusal="no") if " 10 bridges" in text_of(call) else journalist(call)
        )
        command = (*command, "--fallback", "embedding")
    result = run(*command, *where, "--engine", "ray")
    assert (result.code, result.err) == (0, "")
    counts = prompts_of(server)
    assert set(counts.values()) == {1}
    assert len(counts) == N_EVENTS * N_SYSTEMS / 5
    assert Path("judgements.jsonl").read_bytes() == local(command, "judgements.jsonl")


def test_jury_shares_one_budget_on_a_cluster(ray, server):
    members = ("--backend", "openai:one", "--backend", "openai:two", "--base-url", server.v1)
    usual = [word for word in checking(server) if word not in {"--backend", "openai:stub-model"}]
    command = (*usual, *members, *keeping(), "--engine", "ray", "--max-unscored", "1")
    rows = Path("summaries.jsonl").read_text().splitlines(keepends=True)
    Path("summaries.jsonl").write_text("".join(rows[::5]))
    n = N_EVENTS * N_SYSTEMS // 5
    result = run(*command, "--max-calls", n + 20)
    assert result.code == 0, result.err
    models = Counter(call.body["model"] for call in server.calls)
    assert models == {"one": n, "two": 20}
    assert run(*command).code == 0
    assert Counter(call.body["model"] for call in server.calls) == {"one": n, "two": n}


@pytest.mark.parametrize("missing", ["ray", "pyarrow", "pandas"])
def test_missing_extra_is_named(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=r"--engine ray needs an extra.*fairjudge\[ray\]"):
        list(run_on_cluster(None, [None], in_actors=False, usage=ClusterUsage()))


def test_lost_machine_does_not_change_results(ray, server):
    let_go = threading.Event()

    def answer(call):
        if '{"questions"' not in text_of(call):
            let_go.wait(HOLD_SECONDS)
        return journalist(call)

    server.answer = answer
    # Enough for all four events at once.
    command = (*building(server, concurrency=130, pipeline="paper"), *keeping())
    ray.start_node()
    process = start(*command, "--engine", "ray")
    wait_until(lambda: len(server.calls) == 4 * (1 + 12))  # four articles of each about 3 questions
    wait_until(lambda: n_kept() == 4)
    ray.kill_node(TASK)
    let_go.set()
    result = end(process)
    assert result.code == 0, result.err
    assert "raylet" not in result.out
    counts = prompts_of(server)
    answered = [text for text in map(text_of, server.calls[:52]) if '{"questions"' in text]
    assert [counts[prompt] for prompt in answered] == [1] * 4
    assert set(counts.values()) <= {1, 2}
    server.answer = journalist
    assert Path("refs.jsonl").read_bytes() == local(command, "refs.jsonl")
