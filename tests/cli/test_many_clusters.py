"""A build of many clusters: several at once where there are places, and nothing left behind."""

from __future__ import annotations

import re
import sqlite3
import threading
from pathlib import Path

import pytest
from cli_tools import building, cluster, journalist, text_of, write_jsonl
from stub_server import Fault

N_CLUSTERS = 12
EID = re.compile(r"event\d\d")


@pytest.fixture
def many(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    eids = [f"event{n:02}" for n in range(N_CLUSTERS)]
    write_jsonl(Path("clusters.jsonl"), [cluster(eid, 2) for eid in eids])
    return eids


class Watch:
    """Notes how many clusters were asked about together; nothing is answered before `wanted`."""

    def __init__(self, wanted: int) -> None:
        self._lock = threading.Lock()
        self._now: list[str] = []
        self._n_wanted, self._met = wanted, threading.Event()
        self.most = 0

    def __call__(self, call):
        match = EID.search(text_of(call))
        eid = match[0] if match else ""
        with self._lock:
            self._now.append(eid)
            self.most = max(self.most, len({item for item in self._now if item}))
            if self.most >= self._n_wanted:
                self._met.set()
        self._met.wait(300)
        with self._lock:
            self._now.remove(eid)
        return journalist(call)


@pytest.mark.parametrize(("concurrency", "at_once"), [(8, 1), (32, 4)])
def test_free_slots_are_used_by_other_clusters(cli, server, many, concurrency, at_once):
    server.answer = journalist
    cli(*building(server, concurrency=4), "--run", "alone", "--cache", "alone-cache", code=0)
    alone = Path("refs.jsonl").read_bytes()
    server.answer = watch = Watch(wanted=min(at_once, 2))
    cli(*building(server, concurrency=concurrency), "--run", "together", code=0)
    assert watch.most <= at_once
    assert at_once == 1 or watch.most > 1
    assert Path("refs.jsonl").read_bytes() == alone
    with sqlite3.connect("together/checkpoints.sqlite") as database:
        assert database.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)
        assert database.execute("SELECT count(*) FROM writes").fetchone() == (0,)


def test_rejected_api_key_stops_all_clusters(cli, server, many):
    n_left = [5]

    def answer(call):
        n_left[0] -= 1
        return journalist(call) if n_left[0] >= 0 else Fault(status=401)

    server.answer = answer
    result = cli(*building(server, concurrency=32), code=1)
    assert len(result.err.splitlines()) == 1
    assert len(server.calls) < 5 + 32 + 1
