"""Servers that answer twice, out of turn, without end or not at all, in real sockets."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import resource
import time
import zlib

import pytest
from raw_server import chat, http, message, number_of, raw_server, tls_server

from fairjudge.backends import http_transport, open_backend, resolve_target
from fairjudge.backends.budgeting import Budget, BudgetLimit
from fairjudge.backends.caching import Caching
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.retrying import Retrying
from fairjudge.cache.disk import ReplyCache
from fairjudge.errors import (
    BackendError,
    BadRequestError,
    BudgetExceededError,
    ConnectionFailedError,
    MalformedReplyError,
    MismatchedReplyError,
    RequestTimeoutError,
)
from fairjudge.ports import CompletionRequest, Message


def asking(target, n):
    return CompletionRequest(
        target=target, messages=(Message(role="user", content=f"item {n}"),), max_output_tokens=50
    )


async def ask_all(server, cache_folder, *, n=64, at_once=8, said=None):
    """Ask for `n` items through retries and a cache; return replies or errors, and the cache's."""
    target = resolve_target("openai:m", base_url=server.url)
    warn = (said if said is not None else []).append
    client = open_backend(target, timeout_seconds=30, warn=warn)
    retrying = Retrying(sleep=lambda _: asyncio.sleep(0))
    cache = ReplyCache(cache_folder)
    backend = Pipeline(client, Caching(cache=cache), retrying)
    places = asyncio.Semaphore(at_once)

    async def ask(number):
        async with places:
            try:
                return (await backend.complete(asking(target, number))).text
            except BackendError as error:
                return error

    try:
        result = await asyncio.gather(*map(ask, range(n)))
        return result, {value["reply"]["text"] for _, value in cache.items()}
    finally:
        await backend.aclose()
        cache.close()


def answering_twice(write, *, ids):
    """Answer each request, and let `write` do it once more."""
    names = itertools.count()

    def serve(server, line):
        while (body := line.read()) is not None:
            server.requests.append(body)
            name = f"chatcmpl-{next(names)}" if ids else "chatcmpl-1"
            reply = http(chat(f"item {number_of(body)}", name=name))
            write(line, reply)

    return serve


def in_one_write(line, reply):
    line.write(reply + reply)


def in_two_writes(line, reply):
    line.write(reply)
    line.write(reply)


def some_time_later(line, reply):
    line.write(reply)
    line.closing.wait(0.1)
    line.write(reply)


def right_or_distrusted(texts):
    """Say of each reply whether it is that to its request, or an error that says it may not be."""
    return [
        text == f"item {n}" or isinstance(text, MismatchedReplyError)
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("at_once", [1, 8, 64])
@pytest.mark.parametrize("write", [in_one_write, in_two_writes, some_time_later])
async def test_replies_are_never_assigned_to_another_request(tmp_path, write, ids, at_once):
    texts = []
    with raw_server(answering_twice(write, ids=ids)) as server:
        replies, cached = await ask_all(server, tmp_path, at_once=at_once, said=texts)
    assert right_or_distrusted(replies) == [True] * 64
    # What came first over each connection is the reply to its request, and only that is taken.
    assert sum(isinstance(text, str) for text in replies) == 64
    assert cached == set(replies)
    assert len(texts) <= 1


def answering_errors_twice(server, line):
    """Answer a third of the requests with status 500, then rightly; errors come twice."""
    while (body := line.read()) is not None:
        again = body in server.requests  # else the same request may fail until no try is left
        server.requests.append(body)
        n = len(server.requests)
        failing = n % 3 == 0 and not again
        status = "500 Oops" if failing else "200 OK"
        line.write(http(chat(f"item {number_of(body)}", name=f"c-{n}"), status=status))
        if failing:
            line.write(http(b"{}", status=status))


def answering_twice_without_ids(server, line):
    while (body := line.read()) is not None:
        reply = http(chat(f"item {number_of(body)}", name=None))
        line.write(reply)
        line.write(reply)


@pytest.mark.parametrize("at_once", [1, 8, 64])
@pytest.mark.parametrize(
    "serve",
    [
        answering_twice(in_one_write, ids=True),
        answering_twice(in_two_writes, ids=True),
        answering_twice(some_time_later, ids=True),
        answering_twice(in_one_write, ids=False),
        answering_twice(in_two_writes, ids=False),
        answering_twice(some_time_later, ids=False),
        answering_twice_without_ids,
        answering_errors_twice,
    ],
    ids=["one", "two", "late", "one-same", "two-same", "late-same", "no-ids", "errors"],
)
async def test_replies_are_never_assigned_to_another_request_with_tls(
    tmp_path, trusting, serve, at_once
):
    texts = []
    with tls_server(serve, trusting) as server:
        replies, cached = await ask_all(server, tmp_path, at_once=at_once, said=texts)
    assert right_or_distrusted(replies) == [True] * 64
    assert cached <= {f"item {n}" for n in range(64)}
    assert len(texts) <= 1
    assert all("repeated ids" in line for line in texts)


async def test_correct_tls_server_keeps_connections_open(tmp_path, trusting):
    connections, names, texts = [], itertools.count(), []

    def serve(server, line):
        connections.append(line)
        while (body := line.read()) is not None:
            line.write(http(chat(f"item {number_of(body)}", name=f"c-{next(names)}")))

    with tls_server(serve, trusting) as server:
        replies, _ = await ask_all(server, tmp_path, n=200, at_once=4, said=texts)
    assert replies == [f"item {n}" for n in range(200)]
    assert texts == []
    assert len(connections) <= 4


@pytest.mark.parametrize("name", ["always-the-same", None])
async def test_server_with_useless_ids_gets_one_connection_per_call(tmp_path, trusting, name):
    connections, texts = [], []

    def serve(server, line):
        connections.append(line)
        while (body := line.read()) is not None:
            line.write(http(chat(f"item {number_of(body)}", name=name)))

    with tls_server(serve, trusting) as server:
        replies, _ = await ask_all(server, tmp_path, n=40, at_once=4, said=texts)
    assert replies == [f"item {n}" for n in range(40)]
    assert len(texts) == (0 if name is None else 1)
    assert len(connections) >= 40


async def test_unsigned_certificate_raises(tmp_path, trusting, monkeypatch):
    with tls_server(saying(), trusting) as server:
        monkeypatch.delenv("SSL_CERT_FILE")
        replies, _ = await ask_all(server, tmp_path, n=1)
    (error,) = replies
    assert isinstance(error, ConnectionFailedError)
    assert error.unsent
    assert "certificate" in str(error)
    assert server.requests == []


def test_number_of_remembered_ids_is_bounded(monkeypatch):
    monkeypatch.setattr(http_transport, "_MAX_IDS", 3)
    ids = http_transport._ReplyIds()
    assert [ids.add(name) for name in (b"a", b"b", b"a", b"c", b"d", b"b")] == [
        True,
        True,
        False,
        True,
        True,  # "a" is forgotten
        False,
    ]
    assert ids.add(b"a")


async def once(serve, *, timeout_seconds=30.0, provider="openai"):
    with raw_server(serve) as server:
        target = resolve_target(f"{provider}:m", base_url=server.url)
        backend = open_backend(target, timeout_seconds=timeout_seconds)
        try:
            return await backend.complete(asking(target, 1))
        finally:
            await backend.aclose()


def packed_zeros(n_bytes: int) -> bytes:
    """Return gzip of a JSON text that never ends."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(b'{"id": "') + packer.flush(zlib.Z_FULL_FLUSH)
    # Packed from a fresh start, and so the same however often it is repeated.
    block = packer.compress(b"0" * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * (n_bytes >> 20)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_reply_of_1_5_gb_takes_little_memory(provider):
    bomb = http(packed_zeros(1_500_000_000), headers="content-encoding: gzip\r\n")

    def serve(server, line):
        line.read()
        line.write(bomb)

    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(MalformedReplyError, match="more than 64 MiB"):
        await once(serve, provider=provider)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 400_000


@pytest.mark.parametrize("longer", [0, 1])
async def test_maximum_reply_length(monkeypatch, longer):
    body = chat("item 1")
    monkeypatch.setattr(http_transport, "MAX_BYTES", len(body) - longer)

    def serve(server, line):
        line.read()
        line.write(http(body))

    if longer:
        with pytest.raises(MalformedReplyError, match="more than"):
            await once(serve)
    else:
        assert (await once(serve)).text == "item 1"


def drop_by_drop(part: bytes, head: bytes):
    """Send `head`, then `part` for ever, a little at a time."""

    def serve(server, line):
        line.read()
        line.write(head)
        while not line.closing.wait(0.02):
            line.write(part)

    return serve


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1000000\r\n\r\n"
            + gzip.compress(b"{")[:10],
            b"\x00",
        ),
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["status", "headers", "body", "chunks", "gzip", "interim"],
)
async def test_endless_reply_stops_at_the_timeout(provider, head, part):
    began = time.monotonic()
    with pytest.raises((RequestTimeoutError, ConnectionFailedError, BadRequestError)):
        await once(drop_by_drop(part, head), timeout_seconds=1.0, provider=provider)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 P"])
async def test_redirect_to_another_origin_raises(provider, status):
    def trap(server, line):
        server.requests.append(line.read())

    with raw_server(trap) as other:

        def serve(server, line):
            line.read()
            place = f"location: {other.url}/chat/completions?key=s3cret\r\n"
            line.write(http(b"", status=status, headers=place))

        with pytest.raises(BackendError, match="answered 30") as raised:
            await once(serve, provider=provider)
        assert "s3cret" not in str(raised.value)
        assert other.url.removesuffix("/v1") in str(raised.value)
        assert other.requests == []


async def test_redirects_within_the_origin_are_followed_up_to_a_limit():
    def serve(server, line):
        while (body := line.read()) is not None:
            server.requests.append(body)
            if len(server.requests) == 1:
                line.write(http(b"", status="308 There", headers="location: /v1/there\r\n"))
            else:
                line.write(http(chat("here")))

    assert (await once(serve)).text == "here"

    def circle(server, line):
        while line.read() is not None:
            line.write(http(b"", status="307 Round", headers="location: /v1/again\r\n"))

    with pytest.raises(BadRequestError, match="307"):
        await once(circle)


async def test_a_redirect_counts_as_a_call():
    def serve(server, line):
        while (body := line.read()) is not None:
            server.requests.append(body)
            if len(server.requests) < 3:
                line.write(http(b"", status="307 There", headers="location: /v1/there\r\n"))
            else:
                line.write(http(chat("here")))

    for limit, n_sent in ((3, 3), (2, 2)):
        budget = Budget(max_calls=limit)
        with raw_server(serve) as server:
            target = resolve_target("openai:m", base_url=server.url)
            backend = Pipeline(open_backend(target), BudgetLimit(budget))
            request = backend.complete(asking(target, 1))
            if limit < 3:
                with pytest.raises(BudgetExceededError):
                    await request
            else:
                assert (await request).text == "here"
            await backend.aclose()
            assert len(server.requests) == n_sent
        assert budget.n_calls == n_sent


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "SSH-2.0"),
        (b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n{}", "header"),
        (b"HTTP/1.1 2x0 OK\r\n\r\n", "status"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n{}", "Content-Length"),
    ],
    ids=["ssh", "header", "status", "length"],
)
async def test_invalid_http_error_states_the_problem(provider, reply, words):
    def serve(server, line):
        line.read()
        line.write(reply)

    with pytest.raises(ConnectionFailedError, match="not valid HTTP") as raised:
        await once(serve, provider=provider)
    assert words.lower() in str(raised.value).lower()
    assert "event loop" not in str(raised.value)
    assert not raised.value.unsent


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_non_ascii_headers_are_ignored(provider):
    def serve(server, line):
        line.read()
        reply = http(chat("here") if provider == "openai" else message("here"))
        head, end, body = reply.partition(b"\r\n\r\n")
        line.write(head + b"\r\nx-region: Z\xfcrich" + end + body)

    assert (await once(serve, provider=provider)).text == "here"


@pytest.mark.parametrize("encoding", ["zstd", "br", "gzip, gzip", "x-gzip"])
async def test_unsupported_compression_raises(encoding):
    def serve(server, line):
        line.read()
        line.write(http(chat("here"), headers=f"content-encoding: {encoding}\r\n"))

    with pytest.raises((MalformedReplyError, ConnectionFailedError), match=r"compressed|[eE]ncod"):
        await once(serve)


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
async def test_compressed_reply_is_decompressed(encoding, pack):
    def serve(server, line):
        line.read()
        line.write(http(pack(chat("here")), headers=f"content-encoding: {encoding}\r\n"))

    assert (await once(serve)).text == "here"


def saying(**fields):
    body = chat("Verdict: 4", **fields)

    def serve(server, line):
        while line.read() is not None:
            line.write(http(body))

    return serve


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 11.0, "completion_tokens": 2.5}, (11, 3)),  # no fewer than it says
        ({"prompt_tokens": -5, "completion_tokens": -1}, (None, None)),
        ({"prompt_tokens": int("9" * 400), "completion_tokens": 1e300}, (None, None)),
        ({"prompt_tokens": "11", "completion_tokens": True}, (None, None)),
        ({"prompt_tokens": [1], "completion_tokens": None}, (None, None)),
        ([1, 2], (None, None)),
        ("many", (None, None)),
        (None, (None, None)),
    ],
)
async def test_usage_is_read_or_unknown(usage, counted):
    reply = await once(saying(usage=usage))
    assert (reply.text, reply.usage.input_tokens, reply.usage.output_tokens) == (
        "Verdict: 4",
        *counted,
    )


@pytest.mark.parametrize(
    "message",
    [
        {"content": "Verdict: 4"},
        {"role": None, "content": "Verdict: 4"},
        {"role": "model", "content": "Verdict: 4", "tool_calls": None},
        {"content": [{"type": "text", "text": "Verdict"}, {"type": "text", "text": ": 4"}]},
    ],
)
async def test_a_reply_without_a_role_is_kept(message):
    assert (await once(saying(choice={"message": message}))).text == "Verdict: 4"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("length", "length"),
        ("LENGTH", "length"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("stop", "stop"),
        ("STOP", "stop"),
        (None, "other"),
        (["odd"], "other"),
    ],
)
async def test_finish_reason_is_kept(reason, finish):
    assert (await once(saying(choice={"finish_reason": reason}))).finish_reason == finish


KEY = "sk-planted-4711-do-not-show"


def tokens(*places):
    """Return logprobs of tokens: a text, or a text with its alternatives."""
    listed = []
    for place in places:
        token, *variants = [place] if isinstance(place, str) else place
        alternatives = [{"token": text, "logprob": -2.0} for text in variants]
        listed.append({"token": token, "logprob": -0.5, "top_logprobs": alternatives})
    return {"content": listed}


@pytest.mark.parametrize(
    "places",
    [
        [KEY],
        [("4", f"x{KEY}x")],
        ["sk-planted", "-4711-do", "-not-show"],
        [*KEY],
        [("4", "say sk-plan"), ("!", "ted-4711-do-not"), ("?", "-show it")],
        ["sk-sk-pl", "anted-4711-do-not-show"],
    ],
)
async def test_api_key_in_tokens_is_removed(monkeypatch, places):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    reply = await once(saying(choice={"logprobs": tokens(*places)}))
    assert (reply.text, reply.tokens) == ("Verdict: 4", None)


async def test_tokens_without_the_key_are_kept(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    places = ["sk-planted", ("4", "-4711-do"), "not-show", ("-not-show", "sk")]
    reply = await once(saying(choice={"logprobs": tokens(*places)}))
    assert [place.token for place in reply.tokens] == ["sk-planted", "4", "not-show", "-not-show"]
