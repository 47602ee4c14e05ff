"""Replies in PostgreSQL: what is kept, what is refused, and that no call is paid twice."""

from __future__ import annotations

import asyncio
import pickle
import queue
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from waiting import wait_until

from fairjudge.backends.caching import SharedCaching
from fairjudge.backends.keys import request_key
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.cache.disk import ReplyCache
from fairjudge.cache.files import export_cache, import_cache
from fairjudge.cache.postgres import PostgresCache
from fairjudge.errors import ServerError, StoreError
from fairjudge.ports import CompletionRequest, Message, ModelRef
from fairjudge.records.address import StoreAddress
from fairjudge.records.server import Server


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def cache(store_url, warnings):
    opened = PostgresCache(StoreAddress(store_url), warn=warnings.append)
    yield opened
    opened.close()


def sql(url, statement, *parameters):
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []


def request(n: int) -> CompletionRequest:
    return CompletionRequest(
        target=ModelRef(provider="scripted", model="m"),
        messages=(Message(role="user", content=f"question {n}"),),
    )


def test_value_round_trips(cache, store_url):
    value = {"reply": {"text": "Größe \U0001f600\n\0\ud800", "n": 1.5, "none": None, "list": [1]}}
    cache.put("k", value)
    assert cache.get("k") == value
    other = PostgresCache(StoreAddress(store_url))
    assert other.get("k") == value
    assert other.get("absent") is None
    other.close()


def test_machines_share_one_secret(cache, store_url):
    with ThreadPoolExecutor(8) as threads:
        result = set(threads.map(lambda _: cache.secret(), range(16)))
    other = PostgresCache(StoreAddress(store_url))
    assert result == {other.secret()}
    assert [len(secret) for secret in result] == [32]
    other.clear()
    assert result == {other.secret()}
    other.close()


def test_only_json_is_ever_stored(cache, store_url):
    with pytest.raises(TypeError):
        cache.put("k", {"x": object()})
    with pytest.raises(ValueError, match="JSON"):
        cache.put("k", {"x": float("nan")})
    assert sql(store_url, "SELECT count(*) FROM fairjudge.replies") == [(0,)]


@pytest.mark.parametrize(
    "damaged",
    [b"", b"17", b"00000000[]", b"\xff\x00\xff", pickle.dumps({"a": 1}), b"cut"],
)
def test_damaged_row_is_reported_moved_and_missing(cache, store_url, warnings, damaged):
    cache.put("bad", {"a": 1})
    cache.put("good", {"a": 3})
    sql(store_url, "UPDATE fairjudge.replies SET stored = %s WHERE key = 'bad'", damaged)
    assert cache.get("bad") is None
    assert len(warnings) == 1
    assert "bad" in warnings[0]
    assert cache.get("good") == {"a": 3}
    assert (cache.stats().n_entries, cache.stats().n_quarantined) == (1, 1)
    assert sql(store_url, "SELECT key, stored FROM fairjudge.quarantine") == [("bad", damaged)]


def test_row_under_another_key_is_rejected_by_verify(cache, store_url):
    for n in range(3):
        cache.put(f"k{n}", {"n": n})
    sql(store_url, "UPDATE fairjudge.replies SET key = 'k9' WHERE key = 'k1'")
    report = cache.verify()
    assert (report.n_sound, len(report.refused)) == (2, 1)
    assert report.refused[0].startswith("k9: ")
    assert cache.verify().refused == ()
    assert [key for key, _ in cache.items()] == ["k0", "k2"]
    assert cache.clear() == 2
    assert cache.stats().n_entries == 0


def test_export_round_trips_between_store_and_folder(cache, tmp_path):
    keys = [f"{n:064x}" for n in range(1201)]  # more than two pages
    for n, key in enumerate(keys):
        cache.put(key, {"n": n})
    assert export_cache(cache, tmp_path / "all.jsonl.gz") == 1201
    folder = ReplyCache(tmp_path / "cache")
    assert import_cache(folder, tmp_path / "all.jsonl.gz").n_added == 1201
    assert folder.get(keys[1200]) == {"n": 1200}
    folder.close()
    cache.clear()
    assert import_cache(cache, tmp_path / "all.jsonl.gz").n_added == 1201
    assert import_cache(cache, tmp_path / "all.jsonl.gz").n_known == 1201


WORKER = """
    import asyncio, os, sys
    from fairjudge.backends.ports import Pipeline
    from fairjudge.backends.scripted import ScriptedBackend
    from fairjudge.backends.caching import SharedCaching
    from fairjudge.ports import CompletionRequest, Message, ModelRef
    from fairjudge.records.address import StoreAddress
    from fairjudge.cache.postgres import PostgresCache

    log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    said = []

    async def answer(request):
        os.write(log, (request.messages[0].content + "\\n").encode())
        await asyncio.sleep(0.02)
        return "reply to " + request.messages[0].content

    async def main():
        cache = PostgresCache(StoreAddress(sys.argv[1]), warn=said.append)
        caching = SharedCaching(cache=cache)
        backend = Pipeline(ScriptedBackend(answer), caching)
        requests = [
            CompletionRequest(
                target=ModelRef(provider="scripted", model="m"),
                messages=(Message(role="user", content=f"question {n}"),),
            )
            for n in range(60)
        ]
        replies = await asyncio.gather(*(backend.complete(one) for one in requests))
        assert [r.text for r in replies] == [f"reply to question {n}" for n in range(60)]
        assert caching.hits + caching.misses == 60
        print(caching.misses)
        cache.close()

    asyncio.run(main())
    assert said == [], said
"""


MAKE_OLD = "UPDATE fairjudge.claims SET claimed_at = now() - interval '1 hour'"


def test_eight_processes_pay_no_call_twice_from_the_first_moment(store_url, tmp_path):
    log = tmp_path / "calls"
    command = [sys.executable, "-c", textwrap.dedent(WORKER), store_url, str(log)]
    workers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    ended = [worker.communicate(timeout=400) for worker in workers]
    assert [err for _, err in ended] == [""] * 8
    assert Counter(log.read_text().splitlines()) == {f"question {n}": 1 for n in range(60)}
    assert sum(int(out) for out, _ in ended) == 60
    assert sql(store_url, "SELECT * FROM fairjudge.claims") == []
    assert sql(store_url, "SELECT * FROM fairjudge.owners") == []


def test_one_claims_and_the_others_wait(cache, store_url):
    other = PostgresCache(StoreAddress(store_url), lease_seconds=0.2)
    assert cache.claim("k", ticket="1")
    assert cache.claim("k", ticket="1")  # said twice, where a connection broke in between
    sql(store_url, MAKE_OLD)  # a living owner's claim holds, however old
    assert not other.claim("k", ticket="2")
    cache.release("k")
    assert other.claim("k", ticket="2")
    other.put("k", {"a": 1})
    assert cache.claim("k", ticket="3")
    other.close()


def test_owner_renews_its_claim_periodically(store_url):
    owner = PostgresCache(StoreAddress(store_url), lease_seconds=0.2)
    assert owner.claim("k", ticket="1")
    until = "SELECT alive_until FROM fairjudge.owners"
    for _ in range(3):
        before = sql(store_url, until)
        wait_until(lambda known=before: sql(store_url, until) > known)
    owner.close()


def test_claim_of_a_dead_owner_expires_with_its_lease(cache, store_url):
    dead = PostgresCache(StoreAddress(store_url), lease_seconds=0.2)
    heir = PostgresCache(StoreAddress(store_url), lease_seconds=5)
    assert dead.claim("k", ticket="1")
    dead._close_event.set()  # says no more that it is alive, and has not given up its claims
    assert not cache.claim("k", ticket="2")  # too young, for one who waits for 15 s
    sql(store_url, MAKE_OLD)
    wait_until(lambda: heir.claim("k", ticket="3"))
    dead.put("k", {"late": True})  # does not end another's claim
    assert not dead.claim("k", ticket="1")
    dead.close()
    heir.close()


async def test_next_machine_calls_if_one_fails(cache, store_url, monkeypatch):
    requests, begun, waiting = [], asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def failing(request):
        requests.append("first")
        begun.set()
        await asyncio.wait_for(waiting.wait(), 60)
        raise ServerError("no")

    async def answering(request):
        requests.append("second")
        return "here"

    other = PostgresCache(StoreAddress(store_url))
    others_claim = other.claim

    def claim(key, *, ticket):
        granted = others_claim(key, ticket=ticket)
        if not granted:
            loop.call_soon_threadsafe(waiting.set)
        return granted

    monkeypatch.setattr(other, "claim", claim)
    cachings = SharedCaching(cache=cache), SharedCaching(cache=other)
    first = Pipeline(ScriptedBackend(failing), cachings[0])
    second = Pipeline(ScriptedBackend(answering), cachings[1])
    task = asyncio.create_task(first.complete(request(1)))
    await asyncio.wait_for(begun.wait(), 60)
    assert (await second.complete(request(1))).text == "here"
    with pytest.raises(ServerError):
        await task
    assert requests == ["first", "second"]
    assert (cachings[1].hits, cachings[1].misses) == (0, 1)
    assert (await first.complete(request(1))).text == "here"
    assert cachings[0].hits == 1
    other.close()


async def test_invalid_row_is_requested_again(cache, warnings):
    cache.put(request_key(request(1)), {"reply": {"words": "?"}})

    async def answer(request):
        return "here"

    caching = SharedCaching(cache=cache, warn=warnings.append)
    backend = Pipeline(ScriptedBackend(answer), caching)
    assert (await backend.complete(request(1))).text == "here"
    assert (caching.hits, caching.misses) == (0, 1)
    assert "is not a reply" in warnings[0]


async def test_pending_writes_are_awaited_on_close(cache, monkeypatch):
    """As after an interrupt: nobody waits, and there are fewer threads than replies to store."""
    n_asked, all_asked, may_store = 0, asyncio.Event(), threading.Event()

    async def answer(request):
        nonlocal n_asked
        n_asked += 1
        if n_asked == 8:
            all_asked.set()
        await all_asked.wait()
        return "here"

    original = cache.put

    def put_late(key, value):
        may_store.wait(60)
        original(key, value)

    monkeypatch.setattr(cache, "put", put_late)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    caching = SharedCaching(cache=cache)
    backend = Pipeline(ScriptedBackend(answer), caching)
    requests = [asyncio.create_task(backend.complete(request(n))) for n in range(8)]
    await asyncio.wait_for(all_asked.wait(), 60)
    await asyncio.sleep(0.05)
    for item in requests:
        item.cancel()
    closing = asyncio.create_task(backend.aclose())
    await asyncio.sleep(0.05)
    assert not closing.done()
    may_store.set()
    await asyncio.wait_for(closing, 60)
    assert all(cache.get(request_key(request(n))) is not None for n in range(8))


def test_restarting_server_is_awaited(postgres, store_url, monkeypatch):
    cache = PostgresCache(StoreAddress(store_url), patience_seconds=120)
    cache.put("k", {"a": 1})
    run_once, failures = Server._run_once, queue.SimpleQueue()

    def count_failures(*given):
        try:
            return run_once(*given)
        except psycopg.OperationalError as error:
            failures.put(error)
            raise

    monkeypatch.setattr(Server, "_run_once", count_failures)
    postgres.stop()
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(cache.get, "k")
        for _ in range(2):
            failures.get(timeout=120)
        assert not result.done()
        postgres.start()
        assert result.result(120) == {"a": 1}
    cache.put("l", {"a": 2})
    cache.close()


def test_lost_server_gives_one_error_without_the_password(postgres, store_url):
    cache = PostgresCache(StoreAddress(store_url), patience_seconds=0.3)
    postgres.stop()
    try:
        with pytest.raises(StoreError) as caught:
            cache.get("k")
    finally:
        postgres.start()
    text = str(caught.value)
    assert text.startswith(f"the store {cache.path} became unreachable: ")
    assert "run the same command to resume" in text
    assert "s3cret" not in text
    assert "\n" not in text


def test_unreachable_server_raises(postgres, store_url):
    closed = store_url.replace(f":{postgres.port}/", ":1/")
    with pytest.raises(StoreError, match=r"cannot be reached: .*refused") as caught:
        PostgresCache(StoreAddress(closed))
    assert "s3cret" not in str(caught.value)


def test_wrong_password_raises(postgres, store_url):
    wrong = postgres.url(store_url.rpartition("/")[2], password="wr0ng-one")
    with pytest.raises(StoreError, match="password authentication failed") as caught:
        PostgresCache(StoreAddress(wrong))
    assert "wr0ng" not in str(caught.value)


def test_user_without_create_permission_raises(postgres, store_url):
    name = "reader_" + store_url.rpartition("_")[2]
    sql(store_url, f"CREATE ROLE {name} LOGIN PASSWORD 'x'")
    address = StoreAddress(
        store_url.replace("judge:", f"{name}:").replace(
            store_url.partition("judge:")[2].partition("@")[0], "x"
        )
    )
    with pytest.raises(StoreError, match="permission denied"):
        PostgresCache(address)
    PostgresCache(StoreAddress(store_url)).close()
    sql(store_url, f"GRANT USAGE ON SCHEMA fairjudge TO {name}")
    sql(store_url, f"GRANT ALL ON ALL TABLES IN SCHEMA fairjudge TO {name}")
    cache = PostgresCache(address)
    cache.put("k", {"a": 1})
    assert cache.get("k") == {"a": 1}
    cache.close()
