"""``--max-wait`` bounds what one request waits in all, and broken HTTP is named, over real HTTP."""

from __future__ import annotations

import json
import time

import pytest
from cli_tools import judging
from json_files import read_json, read_judgements
from raw_server import chat, http, raw_server
from stub_server import Fault


def slowed(n: int, seconds: float = 1.0) -> list[Fault]:
    return [Fault(status=429, headers={"retry-after": str(seconds)})] * n


def asked_for(server, *faults: Fault) -> list[float]:
    """Let the next calls end in `faults`; return the list to which each call adds its time."""
    times: list[float] = []
    server.fail(*faults)
    receive = server.receive
    server.receive = lambda call: (times.append(time.monotonic()), receive(call))[1]
    return times


def test_total_wait_of_a_request_is_bounded(cli, references, summaries, server):
    """Each of up to six attempts is told to wait a second; two waits are allowed."""
    times = asked_for(server, *slowed(1000))
    cli(*judging(server, concurrency=1), "--max-wait", "2", "--max-unscored", "1", code=0)
    assert [row["unscored"] for row in read_judgements()] == ["backend"] * 6
    text = "asks to wait 1 s after 2.0 s, longer than the 2 s of --max-wait"
    assert text in read_judgements()[0]["detail"]
    assert len(server.calls) <= 6 * 3
    assert times[-1] - times[0] < 6 * 2 + 3


def test_waits_behind_other_requests_count(cli, references, summaries, server):
    """Six at once, all told to wait: none waits for the pauses that the others were given."""
    times = asked_for(server, *slowed(1000))
    result = cli(*judging(server, concurrency=6), "--max-wait", "2", "--max-unscored", "1", code=0)
    assert [row["unscored"] for row in read_judgements()] == ["backend"] * 6
    assert times[-1] - times[0] < 2 + 2
    assert result.err.count("of --max-wait") == 1


def test_replies_within_the_bound_are_scored(cli, references, summaries, server):
    server.fail(*slowed(2))
    cli(*judging(server, concurrency=1), "--max-wait", "3", code=0)
    assert [row["unscored"] for row in read_judgements()] == [None] * 6


def test_waits_without_retry_after_are_also_bounded(cli, references, summaries, server):
    times = asked_for(server, *[Fault(status=503)] * 1000)
    cli(*judging(server, concurrency=6), "--max-wait", "0.5", "--max-unscored", "1")
    assert [row["unscored"] for row in read_judgements()] == ["backend"] * 6
    assert times[-1] - times[0] < 0.5 + 2


def test_waiting_notice_is_printed_once(cli, references, summaries, server):
    server.fail(*slowed(3, seconds=2))
    result = cli(*judging(server, concurrency=1), code=0)
    assert result.err.count("openai:stub-model asks to wait, first for 2 s") == 1


def test_request_that_timed_out_waiting_is_not_counted(cli, references, summaries, server):
    server.fail(*slowed(1000))
    options = ("--max-wait", "1", "--max-unscored", "1", "--json", "out.json")
    assert cli(*judging(server, concurrency=6), *options).code == 0
    assert read_json("out.json")["spent"]["n_calls"] == len(server.calls)


WRONG = {
    "no HTTP": (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "Bad status line"),
    "status": (b"HTTP/1.1 abc OK\r\ncontent-length: 2\r\n\r\n{}", "Invalid status code"),
    "header": (b"HTTP/1.1 200 OK\r\nno header\r\ncontent-length: 2\r\n\r\n{}", "no header"),
    "length": (b"HTTP/1.1 200 OK\r\ncontent-length: abc\r\n\r\n{}", "Content-Length"),
    "two lengths": (
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\n{}",
        "Content-Length",
    ),
    "chunk": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n", "chunk size"),
    "gzip": (
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 8\r\n\r\nnotagzip",
        "content-encoding",
    ),
    "TLS": (b"\x15\x03\x01\x00\x02\x02\x28\r\n\r\n", "Bad status line"),
    "NUL": (b"HTTP/1.1 200 OK\r\nx: a\x00b\r\ncontent-length: 2\r\n\r\n{}", "header"),
}


@pytest.mark.parametrize("backend", ["openai", "anthropic", "systemone"])
@pytest.mark.parametrize("kind", WRONG)
def test_invalid_http_error_states_the_problem(
    cli, references, summaries, monkeypatch, kind, backend
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key-at-all")
    reply, problem = WRONG[kind]

    def serve(server, line):
        line.read()
        line.write(reply)

    with raw_server(serve) as server:
        result = cli(*command(server, backend))
    assert result.code == 1
    assert f"{backend}:m: no answer can be read: " in result.err
    assert "sent a reply that is not valid HTTP: " in result.err
    assert problem.casefold() in result.err.casefold()
    assert "event loop" not in result.err


def command(server, backend: str = "openai"):
    url = server.url.removesuffix("/v1") if backend == "anthropic" else server.url
    inputs = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
    where = ("--backend", f"{backend}:m", "--base-url", url, "-o", "judgements.jsonl")
    return ("judge", *inputs, "--aspect", "coverage", "--protocol", "likert", *where)


def test_invalid_http_after_a_good_reply_does_not_stop_the_run(cli, references, summaries):
    """The second request and its repeats get garbage; the others are scored."""
    texts = []

    def serve(server, line):
        body = line.read()
        text = json.dumps(body)
        if "system1 says" in text:
            line.write(b"garbage\r\n\r\n")
        else:
            texts.append(text)
            line.write(http(chat("Verdict: 3")))

    with raw_server(serve) as server:
        options = ("--concurrency", "1", "--max-wait", "0.5", "--max-unscored", "1")
        result = cli(*command(server), *options)
    assert result.code == 0, result.err
    assert [row["unscored"] for row in read_judgements()] == [None, "backend", *[None] * 4]
    assert "not valid HTTP: Bad status line" in read_judgements()[1]["detail"]


@pytest.mark.parametrize("status", [307, 308])
def test_redirects_count_as_calls(cli, references, summaries, status):
    n_requests = []

    def serve(server, line):
        line.read()
        n_requests.append(1)
        header = f"location: {server.url}/chat/completions\r\n"
        line.write(http(b"{}", status=f"{status} Moved", headers=header))

    with raw_server(serve) as server:
        result = cli(
            *command(server), "--concurrency", "1", "--max-calls", "3", "--max-unscored", "1"
        )
    assert len(n_requests) == 3, result.err


PROVIDERS = ("sk-proj-", "sk-ant-api03-", "sk-or-v1-", "gsk_", "hf_", "AIzaSyA", "xai-")
KEY = "abcdefghijklmnopqrstuvwx0123456789"


@pytest.mark.parametrize(
    "path",
    [
        *(f"{begins}{KEY}/v1" for begins in PROVIDERS),
        f"v1/%73k-proj-{KEY}",
        "v1/the-own-key-of-this-server",
        f"v1;api_key={KEY}",
        f"key={KEY}/v1",
        f"v1/token:{KEY}",
    ],
)
def test_api_key_in_the_path_raises(cli, references, summaries, monkeypatch, path):
    monkeypatch.setenv("OPENAI_API_KEY", "the-own-key-of-this-server")
    inputs = ("--references", references, "--summaries", summaries, "-o", "j.jsonl")
    where = ("--backend", "openai:m", "--base-url", f"http://127.0.0.1:9/{path}")
    result = cli("judge", *inputs, "--aspect", "coverage", "--protocol", "likert", *where, code=1)
    assert "must not contain a key" in result.err
    assert path not in result.err


@pytest.mark.parametrize(
    "path",
    [
        "v1",
        "api/v2/serving-endpoints",
        "v1/0123456789abcdef0123456789abcdef/gateway/openai",  # an account's id
        "openai/deployments/gpt-4o-mini-2024-07-18",
        "proxy/keyword/v1",
        "token/v1",
    ],
)
def test_paths_without_keys_are_accepted(path):
    from fairjudge.backends.http import check_base_url

    assert check_base_url(f"http://127.0.0.1:9/{path}").endswith(path)
