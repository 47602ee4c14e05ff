"""The cache folder: what it keeps, what it refuses, what it survives."""

from __future__ import annotations

import base64
import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from fairjudge.cache import ReplyCache, default_cache_dir
from fairjudge.errors import CacheError


@pytest.fixture
def told():
    return []


@pytest.fixture
def cache(tmp_path, told):
    opened = ReplyCache(tmp_path / "cache", warn=told.append)
    yield opened
    opened.close()


def sql(cache, statement, *parameters):
    connection = sqlite3.connect(cache.path / "cache.db")
    with connection:
        rows = connection.execute(statement, parameters).fetchall()
    connection.close()
    return rows


def test_a_value_comes_back_as_it_was(cache, tmp_path):
    value = {"reply": {"text": "Größe \U0001f600\n", "n": 1.5, "none": None, "list": [1, True]}}
    cache.put("k", value)
    assert cache.get("k") == value
    other = ReplyCache(tmp_path / "cache")
    assert other.get("k") == value
    assert other.get("absent") is None
    other.close()


def test_large_values_stay_in_the_database(cache):
    value = {"text": "x" * 500_000}
    cache.put("k", value)
    assert cache.get("k") == value
    assert {path.name for path in cache.path.iterdir()} <= {
        "cache.db",
        "cache.db-wal",
        "cache.db-shm",
    }


def test_nothing_is_ever_stored_as_pickle(cache):
    with pytest.raises(TypeError):
        cache.put("k", {"x": object()})
    with pytest.raises(ValueError, match="JSON"):
        cache.put("k", {"x": float("nan")})
    assert sql(cache, "SELECT count(*) FROM Cache") == [(0,)]


class Mine:
    """Unpickling an instance makes a file: proof that code ran."""

    def __reduce__(self):
        return (open, (os.environ["MINE"], "w"))


@pytest.mark.parametrize("by_file", [False, True])
def test_a_pickled_row_is_refused_and_never_run(cache, told, tmp_path, monkeypatch, by_file):
    monkeypatch.setenv("MINE", str(tmp_path / "exploded"))
    mine = pickle.dumps(Mine())
    cache.put("k", {"a": 1})
    if by_file:
        (cache.path / "mine.val").write_bytes(mine)
    sql(
        cache,
        "UPDATE Cache SET mode = 4, value = ?, filename = ?",
        None if by_file else mine,
        "mine.val" if by_file else None,
    )
    assert cache.get("k") is None
    assert not (tmp_path / "exploded").exists()
    assert len(told) == 1
    assert "mode 4" in told[0]
    assert sql(cache, "SELECT count(*) FROM Cache") == [(0,)]
    line = json.loads((cache.path / "quarantine" / "rows.jsonl").read_text())
    assert line["key"] == "k"
    assert base64.b64decode(line["stored_base64"]) == (b"" if by_file else mine)
    cache.put("k", {"a": 2})
    assert cache.get("k") == {"a": 2}


def test_a_pickled_key_is_refused_by_verify(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("MINE", str(tmp_path / "exploded"))
    cache.put("k", {"a": 1})
    sql(cache, "UPDATE Cache SET raw = 0, key = ?", pickle.dumps(Mine()))
    assert list(cache.items()) == []
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "damage",
    [
        "replace(value, '1', '2')",  # still JSON, but not what was kept
        "substr(value, 1, 12)",
        "'00000000[]'",
        "''",
        "CAST(x'ff00ff' AS TEXT)",  # not UTF-8
        "CAST('abc' AS BLOB)",
        "17",
        "NULL",
    ],
)
def test_a_damaged_row_is_said_moved_aside_and_absent(cache, told, damage):
    cache.put("bad", {"a": 1})
    cache.put("good", {"a": 3})
    sql(cache, f"UPDATE Cache SET value = {damage} WHERE key = 'bad'")  # noqa: S608
    assert cache.get("bad") is None
    assert len(told) == 1
    assert "bad" in told[0]
    assert cache.get("good") == {"a": 3}
    assert cache.stats().n_quarantined == 1
    assert cache.stats().n_entries == 1


def test_a_row_moved_under_another_key_is_refused(cache):
    cache.put("one", {"a": 1})
    sql(cache, "UPDATE Cache SET key = 'two'")
    assert cache.get("two") is None


def test_verify_names_what_it_refused(cache):
    for n in range(5):
        cache.put(f"k{n}", {"n": n})
    sql(cache, "UPDATE Cache SET value = 'x' WHERE key IN ('k1', 'k3')")
    report = cache.verify()
    assert report.n_sound == 3
    assert [line.partition(":")[0] for line in report.refused] == ["k1", "k3"]
    assert cache.verify().refused == ()


@pytest.mark.parametrize("cut", ["half", "header", "zeroes"])
def test_a_broken_database_is_moved_aside_and_work_goes_on(tmp_path, told, cut):
    folder = tmp_path / "cache"
    first = ReplyCache(folder)
    for n in range(200):
        first.put(f"k{n}", {"text": "y" * 500, "n": n})
    first.close()
    database = folder / "cache.db"
    whole = database.read_bytes()
    damaged = {
        "half": whole[: len(whole) // 2],
        "header": b"not a database at all" + whole[21:],
        "zeroes": whole[:4096] + bytes(len(whole) - 4096),
    }[cut]
    database.write_bytes(damaged)
    cache = ReplyCache(folder, warn=told.append)
    for n in range(200):
        if cache.get(f"k{n}") is None:
            cache.put(f"k{n}", {"text": "y" * 500, "n": n})
    assert all(cache.get(f"k{n}")["n"] == n for n in range(200))
    assert any("quarantine" in line for line in told)
    assert cache.verify() == type(cache.verify())(n_sound=200, refused=())
    cache.close()
    (moved,) = (folder / "quarantine").glob("*/cache.db")
    assert moved.read_bytes()[:21] == damaged[:21]


def test_sync_moves_a_long_log_into_the_database_while_others_write(cache, tmp_path):
    for n in range(2000):  # 6 MB: too little for SQLite to do it by itself
        cache.put(f"k{n}", {"text": "y" * 3000})
    assert n_without_log(cache, tmp_path / "before") < 2000
    with ThreadPoolExecutor() as pool:
        syncing = pool.submit(cache.sync)
        for n in range(100):
            cache.put(f"later{n}", {})
        syncing.result()
    assert n_without_log(cache, tmp_path / "after") >= 2000
    assert cache.verify().n_sound == 2100


def n_without_log(cache, folder):
    """Return how many entries there are without what stands in the write-ahead log alone."""
    folder.mkdir()
    shutil.copy(cache.path / "cache.db", folder)
    with closing(ReplyCache(folder)) as copied:
        return copied.stats().n_entries


def test_a_folder_that_cannot_be_used_is_one_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="file"):
        ReplyCache(tmp_path / "file")


def test_clear_says_how_many(cache):
    cache.put("a", {})
    cache.put("b", {})
    assert cache.clear() == 2
    assert cache.get("a") is None
    assert cache.stats().n_entries == 0


def test_the_default_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_dir() == tmp_path / "fairjudge"


WORKER = """
    import sys, warnings
    from fairjudge.cache import ReplyCache
    folder, me = sys.argv[1], int(sys.argv[2])
    said = []
    cache = ReplyCache(folder, warn=said.append)
    for n in range(150):
        cache.put(f"{me}-{n}", {"n": n})
        cache.put(f"shared-{n}", {"n": n})
        assert cache.get(f"{me}-{n}") == {"n": n}
        assert cache.get(f"shared-{n}") == {"n": n}
    cache.close()
    assert said == [], said
"""


def test_eight_processes_share_one_folder_from_the_first_moment(tmp_path):
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WORKER), str(tmp_path / "cache"), str(n)],
            stderr=subprocess.PIPE,
        )
        for n in range(8)
    ]
    failures = [worker.communicate(timeout=400)[1].decode() for worker in workers]
    assert failures == [""] * 8
    cache = ReplyCache(tmp_path / "cache")
    # 8 x 150 of their own and 150 shared
    assert cache.verify().n_sound == 8 * 150 + 150
    cache.close()
