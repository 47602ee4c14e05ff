"""Servers that fail in every way: what the user sees, what is kept, and what it costs."""

from __future__ import annotations

import asyncio
import functools
import json
import re
import socket
import threading
from pathlib import Path

import pytest
from cli_tools import (
    building,
    journalist,
    judging,
    openai,
    prompts_of,
    reference,
    summary,
    text_of,
    write_jsonl,
)
from json_files import read_json, read_judgements, read_rows
from stub_server import Fault, Reply

from fairjudge.engine import models


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    """Let retries follow one another at once."""
    retrying = functools.partial(models.Retrying, sleep=lambda seconds: asyncio.sleep(0))
    monkeypatch.setattr(models, "Retrying", retrying)


def test_unreachable_server_stops_the_run_at_once(cli, references, summaries, server):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        # held, so that nobody else listens there
        result = cli(*judging(server), "--base-url", url)
    assert result.code == 1
    assert result.out == ""
    (line,) = result.err.splitlines()
    assert line.startswith("error: openai:stub-model: no server answers: cannot reach http://127")


def test_rejected_api_key_stops_the_run(cli, references, summaries, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    server.fail(*[Fault(status=401, message="Incorrect API key provided: sk-very-secret")] * 50)
    result = cli(*judging(server), code=1)
    (line,) = result.err.splitlines()
    assert line.startswith("error: ")
    assert "401" in line
    assert "sk-very-secret" not in line
    assert set(prompts_of(server).values()) == {1}  # none is asked twice
    assert not Path("judgements.jsonl").exists()


def test_retries_are_counted_in_one_line_and_in_the_report(cli, references, summaries, server):
    server.fail(*[Fault(status=429)] * 3, Fault(status=503), Fault(broken="reset"))
    result = cli(*judging(server, concurrency=1), "--json", "report.json", code=0)
    assert result.err == "openai:stub-model: 5 retries (429: 3, 5xx: 1, connection: 1)\n"
    spent = read_json("report.json")["spent"]
    assert spent["retries"] == {"429": 3, "5xx": 1, "connection": 1}
    assert (spent["n_calls"], len(server.calls)) == (11, 11)


def test_timeout_limits_the_wait_for_a_reply(cli, references, summaries, server):
    server.fail(Fault(broken="stall"))  # which hangs up by itself, after 30 s
    result = cli(*judging(server, concurrency=1), "--timeout", "2", code=0)
    # One, where the machine is quick enough for the other calls, and for every connection.
    output = re.fullmatch(
        r"openai:stub-model: (\d+) retr(?:y|ies) \(timeout: (\d+)\)\n", result.err
    )
    assert output[1] == output[2]
    assert 7 <= len(server.calls) <= 6 + int(output[1])


def test_timeout_does_not_identify_a_run(cli, references, summaries, server):
    assert cli(*judging(server), "--run", "mine", "--timeout", "9").code == 0
    assert cli(*judging(server), "--run", "mine", "--timeout", "8").code == 0
    assert len(server.calls) == 6


def test_rerun_with_the_correct_key_resumes(cli, references, summaries, server):
    server.fail(*[Fault(status=401)] * 4)
    assert cli(*judging(server, concurrency=2)).code == 1
    server._faults.clear()
    assert cli(*judging(server, concurrency=2)).code == 0
    assert len(read_judgements()) == 6


def test_model_missing_on_the_server(cli, clusters, server):
    server.fail(*[Fault(status=404, message="model 'stub-model' not found")] * 50)
    result = cli(*building(server), code=1)
    assert "answered 404: model 'stub-model' not found" in result.err
    assert len(server.calls) == 1


def test_server_that_refuses_every_request(cli, references, summaries, server):
    server.answer = lambda call: Reply(text=None, refusal="I can't help with that.")
    result = cli(*judging(server), code=3)
    assert "6 of 6 items without a result (100.0 %)" in result.err
    assert {row["unscored"] for row in read_judgements()} == {"refused"}
    assert len(server.calls) == 6  # a refusal is an answer: it is not asked again


def test_refusals_are_recorded_but_not_cached(cli, references, summaries, server):
    server.answer = lambda call: Reply(text=None, refusal="no")
    assert cli(*judging(server)).code == 3
    assert cli(*judging(server)).code == 3
    assert len(server.calls) == 6
    server.answer = journalist
    assert cli(*judging(server), "--run", "another").code == 0
    assert len(server.calls) == 12


def test_plain_text_refusal_is_not_repaired(cli, references, summaries, server):
    server.answer = lambda call: "I'm sorry, but I cannot help with rating this summary."
    cli(*judging(server), code=3)
    assert {row["unscored"] for row in read_judgements()} == {"refused"}
    assert len(server.calls) == 6


def test_reply_without_verdict_is_repaired_once(cli, references, summaries, server):
    server.answer = lambda call: "What a lovely day it is."
    cli(*judging(server), code=3)
    assert {row["unscored"] for row in read_judgements()} == {"unparseable"}
    assert {row["raw"] for row in read_judgements()} == {"What a lovely day it is."}
    # 6 questions, and one repair: all six would send the same prompt, so they share one call
    assert len(server.calls) == 7


def test_html_replies_are_retried(cli, references, summaries, server):
    server.fail(*[Fault(broken="garbage")] * 6)
    result = cli(*judging(server), code=0)
    assert [row["unscored"] for row in read_judgements()] == [None] * 6
    assert "6 retries (no reply: 6)" in result.err


@pytest.mark.parametrize(
    "faults",
    [
        [Fault(status=429, headers={"retry-after": "0"})] * 4,
        [Fault(status=500, message="oops")] * 4,
        [Fault(broken="truncate")],
        [Fault(status=503)] * 2 + [Fault(broken=how) for how in ("reset", "truncate")],
    ],
)
def test_a_server_that_recovers(cli, references, summaries, server, faults):
    server.fail(*faults)
    cli(*judging(server, concurrency=1), code=0)
    assert [row["unscored"] for row in read_judgements()] == [None] * 6
    assert len(server.calls) == 6 + len(faults)


def test_server_lost_after_a_first_reply(cli, references, summaries, server):
    answered = []

    def answer(call):
        answered.append(call)
        if len(answered) == 2:
            server.fail(Fault(broken="reset"))
        return journalist(call)

    server.answer = answer
    assert cli(*judging(server, concurrency=1)).code == 0
    assert len(server.calls) == 7


def test_rerun_repeats_calls_lost_to_a_dead_server(cli, references, summaries, server):
    down = threading.Event()

    def answer(call):
        if len(server.calls) > 3:
            down.set()
        return Fault(status=503, message="going down") if down.is_set() else journalist(call)

    server.receive = lambda call: (server.calls.append(call), answer(call))[1]
    cli(*judging(server, concurrency=1), code=3)
    assert [row["unscored"] for row in read_judgements()] == [None] * 3 + ["backend"] * 3
    first = prompts_of(server)
    server.receive = lambda call: (server.calls.append(call), journalist(call))[1]
    assert cli(*judging(server, concurrency=1)).code == 0
    assert [row["unscored"] for row in read_judgements()] == [None] * 6
    finished = [prompt for prompt, n in first.items() if n == 1]
    assert len(finished) == 3
    assert all(prompts_of(server)[prompt] == 1 for prompt in finished)


TOO_LONG = Fault(
    status=400,
    message="This model's maximum context length is 4096 tokens.",
    code="context_length_exceeded",
)


def test_article_beyond_the_window_is_unscored_and_others_continue(cli, summaries, server):
    long = reference()
    long["articles"][0]["content"] += " endless" * 50
    write_jsonl(Path("references.jsonl"), [long])
    answer = lambda call: TOO_LONG if "endless" in text_of(call) else journalist(call)  # noqa: E731
    server.receive = lambda call: (server.calls.append(call), answer(call))[1]
    unit = ("--aspect", "faithfulness", "--reference-unit", "article")
    cli(*judging(server), *unit, code=3)
    assert {row["unit"] for row in read_judgements() if row["unscored"]} == {"article:bridge0"}
    assert {row["unscored"] for row in read_judgements()} == {None, "too_long"}
    assert len(server.calls) == 6 * 4


def test_articles_too_long_together_are_split_for_questions(cli, clusters, server):
    room = 2

    def answer(call):
        together = text_of(call).count("<article ")
        return TOO_LONG if '{"questions"' in text_of(call) and together > room else journalist(call)

    server.receive = lambda call: (server.calls.append(call), answer(call))[1]
    assert cli(*building(server)).code == 0
    requests = [text_of(c).count("<article ") for c in server.calls if '{"questions"' in text_of(c)]
    assert requests == [4, 2, 2]  # each half shows differences of its own
    server.calls.clear()
    room = 1
    assert cli(*building(server, pipeline="paper")).code == 0
    requests = [text_of(c).count("<article ") for c in server.calls if '{"questions"' in text_of(c)]
    assert requests[0] == 1
    assert requests[1:] in ([2, 1], [3, 1], [4, 2, 1], [1])


def test_build_with_a_server_failing_at_every_step(cli, clusters, server):
    server.answer = lambda call: Reply(text=None, refusal="no")
    result = cli(*building(server), code=3)
    assert "No question: no valid question was left" in result.out
    assert "1 of 1 cluster without a result" in result.err
    for pipeline, problems in (
        ("article", [["no questions", "refused"]]),
        ("paper", [["no seed questions", "refused"], ["no questions", "refused"]]),
    ):
        report = json.loads(cli(*building(server, pipeline=pipeline), "--json", "-").out)
        items = [problem.split(": ")[:2] for problem in report["clusters"][0]["problems"]]
        assert items == problems


def test_rerun_completes_a_build_with_lost_answers(cli, clusters, server):
    def answer(call):
        down = '{"answers"' in text_of(call) and "bridge2" in text_of(call)
        return Fault(status=500) if down else journalist(call)

    server.receive = lambda call: (server.calls.append(call), answer(call))[1]
    assert cli(*building(server)).code == 3
    server.receive = lambda call: (server.calls.append(call), journalist(call))[1]
    before = len(server.calls)
    assert cli(*building(server)).code == 0
    again = [text_of(call) for call in server.calls[before:] if '{"answers"' in text_of(call)]
    assert again
    assert all("bridge2" in text for text in again)
    mended = Path("refs.jsonl").read_bytes()
    server.calls.clear()
    assert cli(*building(server), "--run", "fresh", "--cache", "fresh-cache").code == 0
    assert Path("refs.jsonl").read_bytes() == mended


def test_call_limit_is_exact_and_a_larger_limit_resumes(cli, references, summaries, server):
    cli(*judging(server), "--max-calls", "2", code=3)
    assert len(server.calls) == 2
    assert (
        sorted(str(row["unscored"]) for row in read_judgements()) == ["None"] * 2 + ["budget"] * 4
    )
    cli(*judging(server), "--max-calls", "3")
    assert len(server.calls) == 5
    cli(*judging(server), code=0)
    assert len(server.calls) == 6
    assert set(prompts_of(server).values()) == {1}


@pytest.mark.parametrize("fault", [Fault(broken="stall"), Fault(status=500), Fault(broken="reset")])
def test_retries_count_against_the_limit(cli, references, summaries, server, fault):
    server.fail(*[fault] * 100)
    result = cli(*judging(server), "--max-calls", "5", "--timeout", "1")
    assert result.code in {1, 3}
    assert 1 <= len(server.calls) <= 5


def test_request_with_declined_parameter_counts_against_the_limit(
    cli, references, summaries, server
):
    server.fail(*[Fault(status=400, message="temperature is not supported")] * 3)
    cli(*judging(server, concurrency=1), "--max-calls", "3", code=3)
    assert len(server.calls) == 3


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "86400"},
        {"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"},
        {"retry-after": "9" * 400},
        {"retry-after-ms": "9" * 400},
    ],
)
def test_retry_after_of_days_fails_one_item(cli, references, summaries, server, headers):
    server.fail(Fault(status=429, headers=headers))
    result = cli(*judging(server, concurrency=1), "--max-unscored", "1", code=0)
    (line,) = result.err.splitlines()
    assert "longer than the 120 s of --max-wait" in line
    assert [row["unscored"] for row in read_judgements()] == ["backend"] + [None] * 5
    assert "it asks to wait" in read_judgements()[0]["detail"]
    assert len(server.calls) == 6


def test_maximum_wait_is_an_option(cli, references, summaries, server):
    server.fail(Fault(status=429, headers={"retry-after": "3"}))
    result = cli(*judging(server, concurrency=1), "--max-wait", "2", "--max-unscored", "1")
    assert "longer than the 2 s of --max-wait" in result.err
    assert [row["unscored"] for row in read_judgements()] == ["backend"] + [None] * 5


def test_build_at_its_limit_keeps_finished_parts(cli, clusters, server):
    # one for questions, four articles; none is left to group
    assert cli(*building(server), "--max-calls", "5").code == 3
    assert len(server.calls) == 5
    assert cli(*building(server)).code == 0
    assert set(prompts_of(server).values()) == {1}
    limited = Path("refs.jsonl").read_bytes()
    assert cli(*building(server), "--run", "fresh", "--cache", "fresh-cache").code == 0
    assert Path("refs.jsonl").read_bytes() == limited


def test_limit_of_zero_calls_still_serves_cached_replies(cli, references, summaries, server):
    assert cli(*judging(server)).code == 0
    assert cli(*judging(server), "--run", "other", "--max-calls", "0").code == 0
    assert len(server.calls) == 6


def test_cost_limit_needs_a_known_price(cli, references, summaries, server):
    result = cli(*judging(server), "--max-cost", "1", code=1)
    assert "price of openai:stub-model is unknown" in result.err
    assert server.calls == []


@pytest.mark.parametrize("concurrency", [1, 3])
def test_concurrent_calls_are_limited(cli, clusters, references, summaries, server, concurrency):
    """Every call waits until as many are there as may be; the first of its kind may be alone."""
    lock, full = threading.Lock(), threading.Event()
    flying, most, kinds = 0, 0, set()

    def answer(call):
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
            if flying == concurrency:
                full.set()
            kind = text_of(call)[:40]
            alone = kind not in kinds
            kinds.add(kind)
        if not alone:
            full.wait(300)
        with lock:
            flying -= 1
        return journalist(call)

    server.answer = answer
    assert cli(*judging(server, concurrency=concurrency)).code == 0
    assert most == concurrency
    full.clear()
    most = 0
    assert cli(*building(server, concurrency=concurrency)).code == 0
    assert most == concurrency


def test_error_of_one_item_does_not_stop_the_others(cli, references, server):
    write_jsonl(Path("summaries.jsonl"), [summary(f"s{n}") for n in range(30)])
    server.fail(Fault(status=400, message="bad luck"))
    result = cli(*judging(server))
    assert result.code == 0  # 1 of 30 is within 5 %
    assert sum(row["unscored"] == "backend" for row in read_judgements()) == 1
    assert len(server.calls) == 30


def test_summaries_are_kept_and_failed_ones_retried(cli, server):
    from cli_tools import cluster

    write_jsonl(Path("clusters.jsonl"), [cluster("good"), cluster("bad")])
    command = ("summarize", "clusters.jsonl", "-o", "s.jsonl", *openai(server))
    down = True

    def answer(call):
        return Fault(status=500) if down and "bad0" in text_of(call) else journalist(call)

    server.receive = lambda call: (server.calls.append(call), answer(call))[1]
    result = cli(*command, code=3)
    assert "Without a summary: bad (backend: ServerError" in result.out
    down = False
    result = cli(*command, code=0)
    assert sum("good0" in text_of(call) for call in server.calls) == 1
    rows = read_rows("s.jsonl")
    assert [(row["eid"], row["system"]) for row in rows] == [
        ("good", "stub-model-direct"),
        ("bad", "stub-model-direct"),
    ]
