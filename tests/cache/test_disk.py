"""The cache folder: what it keeps, what it refuses, what it survives."""

from __future__ import annotations

import base64
import os
import pickle
import random
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from json_files import read_json

from fairjudge.cache.disk import CacheReport, ReplyCache, default_cache_dir
from fairjudge.errors import CacheError


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def cache(tmp_path, warnings):
    opened = ReplyCache(tmp_path / "cache", warn=warnings.append)
    yield opened
    opened.close()


def sql(cache, statement, *parameters):
    with closing(sqlite3.connect(cache.path / "cache.db")) as connection, connection:
        return connection.execute(statement, parameters).fetchall()


def test_value_round_trips(cache, tmp_path):
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
def test_pickled_row_is_rejected_and_never_unpickled(
    cache, warnings, tmp_path, monkeypatch, by_file
):
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
    assert len(warnings) == 1
    assert "mode 4" in warnings[0]
    assert sql(cache, "SELECT count(*) FROM Cache") == [(0,)]
    line = read_json(cache.path / "quarantine" / "rows.jsonl")
    assert line["key"] == "k"
    assert base64.b64decode(line["stored_base64"]) == (b"" if by_file else mine)
    cache.put("k", {"a": 2})
    assert cache.get("k") == {"a": 2}


def test_pickled_key_is_rejected_by_verify(cache, tmp_path, monkeypatch):
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
def test_damaged_row_is_reported_moved_and_missing(cache, warnings, damage):
    cache.put("bad", {"a": 1})
    cache.put("good", {"a": 3})
    sql(cache, f"UPDATE Cache SET value = {damage} WHERE key = 'bad'")  # noqa: S608
    assert cache.get("bad") is None
    assert len(warnings) == 1
    assert "bad" in warnings[0]
    assert cache.get("good") == {"a": 3}
    assert cache.stats().n_quarantined == 1
    assert cache.stats().n_entries == 1


def test_row_under_another_key_is_rejected(cache):
    cache.put("one", {"a": 1})
    sql(cache, "UPDATE Cache SET key = 'two'")
    assert cache.get("two") is None


def test_verify_names_rejected_rows(cache):
    for n in range(5):
        cache.put(f"k{n}", {"n": n})
    sql(cache, "UPDATE Cache SET value = 'x' WHERE key IN ('k1', 'k3')")
    report = cache.verify()
    assert report.n_sound == 3
    assert [line.partition(":")[0] for line in report.refused] == ["k1", "k3"]
    assert cache.verify().refused == ()


@pytest.mark.parametrize("cut", ["half", "header", "zeroes"])
def test_damaged_database_is_moved_aside_and_recreated(tmp_path, warnings, cut):
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
    cache = ReplyCache(folder, warn=warnings.append)
    for n in range(200):
        if cache.get(f"k{n}") is None:
            cache.put(f"k{n}", {"text": "y" * 500, "n": n})
    assert all(cache.get(f"k{n}")["n"] == n for n in range(200))
    assert any("quarantine" in line for line in warnings)
    assert cache.verify() == type(cache.verify())(n_sound=200, refused=())
    cache.close()
    (moved,) = (folder / "quarantine").glob("*/cache.db")
    assert moved.read_bytes()[:21] == damaged[:21]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("eviction_policy", "'no such policy'"),
        ("eviction_policy", "NULL"),
        ("disk_min_file_size", "'much'"),
        ("sqlite_", "1"),
        ("sqlite_mmap_size; DROP TABLE Cache", "1"),
        (b"no text", "1"),
        ("size_limit", "x'00ff'"),
    ],
)
def test_damaged_settings_are_recreated_and_no_reply_is_lost(tmp_path, warnings, key, value):
    with closing(ReplyCache(tmp_path / "cache")) as cache:
        cache.put("k", {"a": 1})
        sql(cache, f"INSERT OR REPLACE INTO Settings (key, value) VALUES (?, {value})", key)  # noqa: S608
    with closing(ReplyCache(tmp_path / "cache", warn=warnings.append)) as cache:
        assert cache.get("k") == {"a": 1}
        cache.put("more", {"a": 2})
        assert cache.stats().n_entries == 2
    assert len(warnings) <= 1
    with closing(ReplyCache(tmp_path / "cache", warn=warnings.append)) as cache:
        assert cache.verify().n_sound == 2
    assert len(warnings) <= 1


def test_every_byte_of_the_settings_page_may_be_damaged(tmp_path):
    folder = tmp_path / "cache"
    with closing(ReplyCache(folder)) as cache:
        cache.put("k", {"a": 1})
        sql(cache, "PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = sql(cache, "SELECT rootpage FROM sqlite_master WHERE name = 'Settings'")[0]
    whole = (folder / "cache.db").read_bytes()
    sample = random.Random(13)
    for n in range(40):
        damaged = bytearray(whole)
        for _ in range(sample.choice((1, 5, 50))):
            damaged[(page - 1) * 4096 + sample.randrange(4096)] = sample.randrange(256)
        place = tmp_path / str(n)
        place.mkdir()
        (place / "cache.db").write_bytes(damaged)
        with closing(ReplyCache(place, warn=lambda _: None)) as cache:
            assert cache.get("k") in ({"a": 1}, None)
            cache.put("k", {"a": 2})
            assert cache.get("k") == {"a": 2}


@pytest.mark.parametrize(
    "error",
    [
        sqlite3.OperationalError("database or disk is full"),
        sqlite3.OperationalError("disk I/O error"),
        sqlite3.OperationalError("attempt to write a readonly database"),
        sqlite3.OperationalError("unable to open database file"),
    ],
)
def test_intact_database_is_never_moved_on_failures(cache, warnings, monkeypatch, error):
    cache.put("k", {"a": 1})

    def fail(*args, **kwargs):
        raise error

    with monkeypatch.context() as failing:
        failing.setattr(cache._disk, "set", fail)
        failing.setattr(cache._disk, "get", fail)
        assert cache.get("k") is None
        with pytest.raises(CacheError, match="cannot write to the cache"):
            cache.put("more", {"a": 2})
    assert cache.get("k") == {"a": 1}
    assert not (cache.path / "quarantine").exists()


def test_unreadable_intact_database_is_not_reported_as_damaged(cache, warnings, monkeypatch):
    cache.put("k", {"a": 1})

    def fail(*args):
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as failing:
        failing.setattr(cache, "_query", fail)
        with pytest.raises(CacheError, match=r"cannot read the cache .*: disk I/O error"):
            cache.verify()
        assert list(cache.items()) == []
    assert cache.verify() == CacheReport(n_sound=1, refused=())
    assert any("cannot be used now: disk I/O error" in item for item in warnings)


def test_error_text_mentioning_damage_moves_no_database(cache, warnings, monkeypatch):
    cache.put("k", {"a": 1})

    def fail(key, value):
        raise OSError("database disk image is malformed")

    with monkeypatch.context() as failing:
        failing.setattr(cache, "_write", fail)
        with pytest.raises(CacheError, match="cannot write to the cache"):
            cache.put("more", {"a": 2})
    assert cache.get("k") == {"a": 1}
    assert not (cache.path / "quarantine").exists()


@pytest.mark.parametrize("n_damaged", [1, 2])
def test_write_to_a_damaged_database_is_retried_once(cache, warnings, monkeypatch, n_damaged):
    write, n_left = cache._write, [n_damaged]

    def fail(key, value):
        if n_left[0]:
            n_left[0] -= 1
            raise sqlite3.DatabaseError("database disk image is malformed")
        write(key, value)

    monkeypatch.setattr(cache, "_write", fail)
    if n_damaged == 1:
        cache.put("k", {"a": 1})
        assert cache.get("k") == {"a": 1}
    else:  # it is never taken for kept
        with pytest.raises(CacheError, match="cannot write to the cache"):
            cache.put("k", {"a": 1})


def test_unwritable_values_are_reported_once(cache, warnings, monkeypatch):
    def fail(key):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(cache._disk, "get", fail)
    assert [cache.get(f"k{n}") for n in range(5)] == [None] * 5
    assert len(warnings) == 1


def test_keys_and_values_of_other_types_raise(cache):
    with pytest.raises(TypeError, match="a cache key must be text"):
        cache.put(7, {"a": 1})
    with Path(os.devnull).open("rb") as file, pytest.raises(TypeError, match="not a file"):
        cache._disk.set("k", file, read=True)


def test_sync_checkpoints_a_long_log(cache, tmp_path):
    put_long_log(cache)
    assert n_without_log(cache, tmp_path / "before") < N_LONG_LOG
    cache.sync()
    assert n_without_log(cache, tmp_path / "after") == N_LONG_LOG


def test_long_log_is_checkpointed_while_others_write(cache, warnings):
    put_long_log(cache)
    with ThreadPoolExecutor() as pool:
        syncing = pool.submit(cache.sync)
        for n in range(100):
            cache.put(f"later{n}", {})
        syncing.result()
    assert cache.verify().n_sound == N_LONG_LOG + 100
    assert warnings == []


N_LONG_LOG = 700  # 6 MB of log: more than `sync` leaves, less than SQLite moves by itself


def put_long_log(cache):
    for n in range(N_LONG_LOG):
        cache.put(f"k{n}", {"text": "y" * 3000})


def n_without_log(cache, folder):
    """Return how many entries there are without what stands in the write-ahead log alone.

    Nobody may write meanwhile: of a log that grows, SQLite moves the pages that are not in its new
    part, and what it leaves is no database without the log.
    """
    folder.mkdir()
    shutil.copy(cache.path / "cache.db", folder)
    with closing(ReplyCache(folder)) as copied:
        return copied.stats().n_entries


def test_unusable_folder_raises_one_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="file"):
        ReplyCache(tmp_path / "file")


def test_clear_returns_the_number_of_entries(cache):
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
    from fairjudge.cache.disk import ReplyCache
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


@pytest.mark.parametrize(("busy", "n_rows"), [(1, True), (2, True), (99, False)])
def test_busy_database_is_retried_a_limited_number_of_times(cache, monkeypatch, busy, n_rows):
    import diskcache

    from fairjudge.cache.disk import BUSY_ATTEMPTS

    original, tried = cache._disk.set, []

    def set_(key, value):
        tried.append(key)
        if len(tried) <= busy:
            raise diskcache.Timeout
        return original(key, value)

    monkeypatch.setattr(cache._disk, "set", set_)
    busy = min(busy, BUSY_ATTEMPTS)
    assert BUSY_ATTEMPTS > 2
    if n_rows:
        cache.put("k", {"reply": {"text": "ok"}})
        assert len(tried) == busy + 1
    else:
        with pytest.raises(CacheError):
            cache.put("k", {"reply": {"text": "ok"}})
        assert len(tried) == BUSY_ATTEMPTS
