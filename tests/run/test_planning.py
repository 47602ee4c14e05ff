"""Planning counts what a run then asks, and batch files carry the same calls."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
from cli_tools import text_of
from invoking import invoke, run
from json_files import read_json, read_rows

from fairjudge.backends.planning import simulated_reply
from fairjudge.backends.token_counts import count_tokens
from fairjudge.cache.disk import ReplyCache
from fairjudge.datasets import example_path
from fairjudge.ports import CompletionRequest, Message, ModelRef


@pytest.fixture
def server(stub, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stub.answer = lambda call: "Fine.\nVerdict: " + ("1" if '"verdict"' in text_of(call) else "?")
    return stub


def arguments(tmp_path, *protocol, aspect="coverage", references=None):
    return [
        *("--references", references or example_path("references.json")),
        *("--summaries", example_path("summaries.jsonl")),
        *("--aspect", aspect, "--protocol", *protocol),
        *("--backend", "openai:m", "--cache", tmp_path / "cache"),
        *("-o", tmp_path / "out.jsonl"),
    ]


def planned(tmp_path, arguments, *rest):
    run("batch", "plan", *arguments, *rest, "--json", tmp_path / "plan.json")
    return read_json(tmp_path / "plan.json")


@pytest.mark.parametrize(
    "protocol", [("likert",), ("pairwise",), ("binary", "--reference-unit", "qa_pair")]
)
def test_plan_counts_the_calls_of_the_run(tmp_path, server, protocol):
    same = [*arguments(tmp_path, *protocol), "--base-url", server.v1]
    before = planned(tmp_path, same)
    assert server.calls == []
    run("judge", *same)
    assert before["calls"] == len(server.calls)
    assert before["cached"] == 0
    after = planned(tmp_path, same)
    assert (after["calls"], after["cached"], after["input_tokens"]) == (0, before["calls"], 0)


def test_samples_and_juries_multiply_calls(tmp_path, server):
    same = [*arguments(tmp_path, "likert"), "--base-url", server.v1]
    once = planned(tmp_path, same)["calls"]
    assert planned(tmp_path, same, "--samples", "3")["calls"] == 3 * once
    plan = planned(tmp_path, same, "--backend", "openai:other", "--max-calls", once)
    assert plan["calls"] == 2 * once
    assert [row["model"] for row in plan["models"]] == ["openai:m", "openai:other"]
    assert plan["over"] == ["max_calls"]


def test_cost_is_tokens_times_price_or_unknown_without_a_price(tmp_path, server):
    """gpt-4o-mini in prices.toml: 0.15 and 0.60 US dollars for a million tokens."""
    args = arguments(tmp_path, "likert")
    args[args.index("openai:m")] = "openai:gpt-4o-mini"
    report = planned(tmp_path, args)
    assert report["cached_input_tokens"] == 0  # the example's questions are short
    expected = (report["input_tokens"] * 0.15 + report["output_tokens"] * 0.60) / 1e6
    assert report["cost_usd"] == pytest.approx(expected)
    assert planned(tmp_path, arguments(tmp_path, "likert"))["cost_usd"] is None


def received_tokens(server) -> int:
    """Count what the server was sent by a tokenizer that had no part in the estimate: WordPiece.

    A message costs 4 tokens more and a request 3, by OpenAI's own account of its format.
    """
    from tokenizers import Tokenizer

    from fairjudge.scorers.embedding import packaged_model_folder

    tokenizer = Tokenizer.from_file(str(packaged_model_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    messages = [message["content"] for call in server.calls for message in call.body["messages"]]
    counts = (len(tokenizer.encode(text, add_special_tokens=False).ids) for text in messages)
    return sum(counts) + 4 * len(messages) + 3 * len(server.calls)


@pytest.mark.local_model
@pytest.mark.parametrize(
    "protocols",
    [
        ("coverage", "likert"),
        ("coverage", "pairwise"),
        ("coverage", "binary", "--reference-unit", "qa_pair"),
        ("faithfulness", "likert", "--reference-unit", "article"),
        ("faithfulness", "binary", "--text-unit", "sentence"),
    ],
)
def test_planned_tokens_match_those_the_server_receives(tmp_path, server, protocols):
    aspect, *protocol = protocols
    same = [*arguments(tmp_path, *protocol, aspect=aspect), "--base-url", server.v1]
    before = planned(tmp_path, same)
    run("judge", *same)
    assert before["calls"] == len(server.calls)
    assert before["input_tokens"] == pytest.approx(received_tokens(server), rel=0.1)


TO_QUESTION = re.compile(
    r"^<answers \w+ to question (\d+)>\n(.*?)\n</answers ", re.DOTALL | re.MULTILINE
)


BY_ARTICLE = ("questions", "answers", "sorted", "articles")
"""What the prompts of the pipeline by article ask for, as lists of objects."""


def newsroom(share_answering: float):
    """Answer the prompts of a build; a question is answered from that share of the articles.

    The same prompt always gets the same answer: a sentence of the article, by the prompt's hash
    without its marks, which differ from cache to cache.
    """

    def answer(call):
        text = call.body["messages"][-1]["content"]
        plain = re.sub(r"^(</?\w+) [0-9a-f]{12}\b", r"\1", text, flags=re.MULTILINE)
        number = int(hashlib.sha256(plain.encode()).hexdigest(), 16)
        if any(f'"{name}": [{{' in text for name in ("questions", "answers", "sorted", "articles")):
            return json.dumps(at_once(text))
        if '{"questions"' in text:
            n = int(re.search(r"Write (\d+) questions", text)[1])
            return json.dumps({"questions": [f"Why is matter {i} of note?" for i in range(n)]})
        if '{"answers"' in text:
            article = re.search(r"<article [^>]*>\n(.*?)\n</article", text, re.DOTALL)[1]
            sentences = [s for s in re.split(r"(?<=\.)\s+", article) if len(s.split()) > 8]
            silent = number % 100 >= 100 * share_answering
            return json.dumps({"answers": [] if silent else [sentences[number % len(sentences)]]})
        if '{"groups"' in text:
            result = re.findall(r"^<answer \w+ (\d+)>", text, re.MULTILINE)
            n = len(result)
            return json.dumps({"groups": [list(range(1, n)), [n]] if n > 1 else [[1]]})
        return json.dumps({"invalid": [], "diverse": True})

    return answer


def at_once(text: str):
    """Answer the prompts of the pipeline by article: every article answers every question."""
    if '{"questions": [{' in text:
        n = int(re.search(r"at most (\d+), those first", text)[1])
        requests = [f"Why is matter {chr(97 + i)} of note?" for i in range(n)]
        fields = {"kind": "rivals", "answers": [{"answer": "It is so.", "articles": [1, 2]}]}
        return {"questions": [{"question": question, **fields} for question in requests]}
    if '{"answers": [{' in text:
        words = re.search(r"<article [^>]*>\n(.*?)\n</article", text, re.DOTALL)[1].split()
        listed = re.search(r"<questions [^>]*>\n(.*?)\n</questions", text, re.DOTALL)[1]
        n = len(re.findall(r"^\d+\. ", listed, re.MULTILINE))
        parts = [words[i * len(words) // n : (i + 1) * len(words) // n][:25] for i in range(n)]
        fields = {"speaker": None, "stance": "endorses", "gloss": None}
        quotes = enumerate(map(" ".join, parts), 1)
        return {"answers": [{"question": i, "quote": quote, **fields} for i, quote in quotes]}
    if '"articles": [{' in text:
        n = len(re.findall(r"^<article ", text, re.MULTILINE))
        return {"articles": [{"article": i, "says": [], "added": []} for i in range(1, n + 1)]}
    return {"sorted": [sorted_by_one(*item) for item in TO_QUESTION.findall(text)]}


def sorted_by_one(number, lines):
    numbers = [int(n) for n in re.findall(r"^(\d+)\. \(", lines, re.MULTILINE)]
    groups = [
        {"label": f"so {n}", "answers": members, "disputed_by": []}
        for n, members in enumerate((numbers[:-1], numbers[-1:]))
    ]
    return {"question": int(number), "groups": groups, "rivals": [[1, 2]], "invalid": []}


def building(tmp_path, server, *more):
    first, *_ = read_json(example_path("clusters.json"))
    clusters = tmp_path / "clusters.json"
    clusters.write_text(json.dumps([first]))
    server_options = ("--backend", "openai:m", "--base-url", server.v1)
    options = ("--cache", tmp_path / "cache", "-o", tmp_path / "refs.jsonl", "--max-unscored", "1")
    return [clusters, *server_options, *options, *more]


@pytest.mark.local_model
@pytest.mark.parametrize(
    "pipeline", [("--pipeline", "paper", "--consolidation", "llm"), (), ("--complete",)]
)
def test_plan_is_exact_if_every_article_answers(tmp_path, server, pipeline):
    server.answer = newsroom(1.0)
    same = building(tmp_path, server, *pipeline)
    before = planned(tmp_path, same)
    assert server.calls == []
    run("build", *same)
    assert before["calls"] == len(server.calls)
    assert before["input_tokens"] == pytest.approx(received_tokens(server), rel=0.1)
    assert planned(tmp_path, same)["calls"] == 0


@pytest.mark.local_model
@pytest.mark.parametrize("filters", [(), ("--consensus-filter", "--merge-same-sources")])
def test_build_never_exceeds_the_plan_and_filters_only_reduce_checks(tmp_path, server, filters):
    """Six articles in ten answer. The newsroom's largest group has all answers but one.

    So the consensus filter drops every question, and no call that checks one is left.
    """
    server.answer = newsroom(0.6)
    same = building(tmp_path, server, "--pipeline", "paper", *filters)
    before = planned(tmp_path, same)
    run("build", *same)
    checks = sum('"diverse"' in str(call.body["messages"]) for call in server.calls)
    (assumption,) = [text for text in before["assumes"] if "off the" in text]
    max_checks = int(re.search(r"off the (\d+) ", assumption)[1])
    assert before["calls"] - max_checks == len(server.calls) - checks
    assert checks <= max_checks
    assert before["input_tokens"] == pytest.approx(received_tokens(server), rel=0.1)


@pytest.mark.local_model
def test_cascade_plan_counts_items_left_by_the_local_scorer(tmp_path, server):
    thresholds, references = tmp_path / "thresholds.json", tmp_path / "references.json"
    rows = read_json(example_path("references.json"))
    few = [row | {"question_answers": row["question_answers"][:2]} for row in rows]
    references.write_text(json.dumps(few))
    same = [*arguments(tmp_path, "likert", references=references), "--base-url", server.v1]
    same += ["--cascade", thresholds]
    counts = []
    for low, high in ((1.0, 5.0), (2.5, 3.0), (3.0, 3.0)):
        thresholds.write_text(json.dumps({"low": low, "high": high}))
        counts.append(planned(tmp_path, same)["calls"])
    # Six summaries: all are asked about, then some, then none.
    assert counts[0] == 6
    assert 0 < counts[1] < 6
    assert counts[2] == 0
    thresholds.write_text(json.dumps({"low": 2.5, "high": 3.0}))
    run("judge", *same)
    assert len(server.calls) == counts[1]


def test_plan_accepts_every_option_of_the_planned_commands(tmp_path):
    """But for what neither changes a call nor makes sense before one."""
    options = {
        name: set(re.findall(r"(--[a-z][a-z-]*)", run(*name.split(), "--help").output))
        for name in ("build", "judge", "batch plan")
    }
    assert (options["build"] | options["judge"]) - options["batch plan"] == {
        "--plan"
    }  # what it does


def test_unbuildable_clusters_raise_the_error_of_build(tmp_path):
    first = {"eid": "e", "articles": [{"aid": "a", "content": "It rained on Monday."}]}
    (tmp_path / "clusters.json").write_text(json.dumps([first]))
    refused = run("batch", "plan", tmp_path / "clusters.json", "--backend", "openai:m", code=1)
    assert "one article; a reference needs at least 2 that differ" in str(refused.exception)


def test_the_embedded_default_has_nothing_to_plan(tmp_path):
    args = ["--references", example_path("references.json")]
    args += ["--summaries", example_path("summaries.jsonl")]
    args += ["--aspect", "coverage", "--protocol", "likert"]
    assert planned(tmp_path, args)["calls"] == 0


def test_plan_needs_clusters_or_summaries():
    assert "clusters" in run("batch", "plan", code=2).output


def test_token_counts_follow_the_estimation_rules():
    """1.034 times: "The" 1, "representatives" 1 + 11 // 8 = 2, "1234" 2, "?!" 1; 6.2, so 6."""
    assert count_tokens("The representatives 1234 ?!") == 6
    assert count_tokens("") == 0


def test_batch_contains_the_calls_and_its_results_are_used_by_the_run(tmp_path, server):
    calls, results = tmp_path / "calls.jsonl", tmp_path / "results.jsonl"
    same = [*arguments(tmp_path, "likert"), "--base-url", server.v1]
    report = planned(tmp_path, same, "--batch", calls)
    rows = read_rows(calls)
    assert len(rows) == report["calls"]
    assert {row["url"] for row in rows} == {"/v1/chat/completions"}
    assert all(row["body"]["model"] == "m" and row["body"]["messages"] for row in rows)

    def result(row):
        message = {"role": "assistant", "content": "Verdict: 4"}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        usage = {"prompt_tokens": 9, "completion_tokens": 3}
        body = {"model": "m-1", "choices": choices, "usage": usage}
        response = {"status_code": 200, "body": body}
        return {"custom_id": row["custom_id"], "response": response, "error": None}

    answered = [result(row) for row in rows]
    answered[0]["response"]["status_code"] = 500
    results.write_text("\n".join(map(json.dumps, answered)))
    output = run("batch", "load", results, "--cache", tmp_path / "cache").output
    assert f"{len(rows) - 1} replies stored, 1 line without a reply" in output
    run("judge", *same)
    assert len(server.calls) == 1, "only what the batch failed to answer is asked"
    assert planned(tmp_path, same, "--batch", calls)["calls"] == 0
    assert calls.read_text() == ""
    values = [
        json.loads(line)["value"] for line in (tmp_path / "out.jsonl").read_text().splitlines()
    ]
    assert values.count(4.0) == len(rows) - 1


def test_only_complete_batch_replies_are_kept(tmp_path):
    def reply(text, reason="stop", **message):
        return {"choices": [{"message": {"content": text, **message}, "finish_reason": reason}]}

    half = '{"reasoning": "84 people", "verdict": 1'
    bodies = {
        "whole": (200, reply("Verdict: 4")),
        "cut off": (200, reply(half, "length")),
        "broken off": (200, reply(half, None)),
        "aborted": (200, reply(half, "abort")),
        "out of resources": (200, reply(half, "insufficient_system_resource")),
        "stopped": (200, reply(half, "SAFETY")),
        "refused": (200, reply(None, refusal="no")),
        "refused in a part": (200, reply([{"type": "refusal", "refusal": "no"}])),
        "an error": (200, {"error": {"code": 429, "message": "slow"}}),
        "no choices": (200, {"choices": None}),
        "nothing": (200, None),
        "filtered": (400, {"error": {"code": "content_filter", "message": "no"}}),
    }
    rows = [
        {"custom_id": name, "response": {"status_code": status, "body": body}, "error": None}
        for name, (status, body) in bodies.items()
    ]
    results = tmp_path / "results.jsonl"
    results.write_text("\n".join(map(json.dumps, rows)))
    result = run("batch", "load", results, "--cache", tmp_path / "cache").output
    assert "2 replies stored, 10 lines without a reply" in result
    cache = ReplyCache(tmp_path / "cache")
    assert {key for key, _ in cache.items()} == {"whole", "cut off"}
    cache.close()


def test_invalid_results_file_is_named_with_its_line(tmp_path):
    broken = tmp_path / "results.jsonl"
    broken.write_text('{"custom_id": "x"}\n')
    result = invoke("batch", "load", broken, "--cache", tmp_path / "c")
    assert result.exception is not None
    assert "results.jsonl:1" in str(result.exception)


@pytest.mark.parametrize(("kind", "n"), [("", 20), ("3 ", 3), ("60 ", 60), ("61 ", 60)])
def test_planned_questions_follow_the_option_within_bounds(kind, n):
    request = CompletionRequest(
        target=ModelRef(provider="openai", model="m"),
        messages=(Message(role="user", content=f"Of 5.</article x>\nWrite {kind}questions."),),
        response_schema={"properties": {"questions": {"items": {"type": "string"}}}},
    )
    assert len(json.loads(simulated_reply(request))["questions"]) == n


@pytest.mark.parametrize(("n", "groups"), [(1, [[1]]), (2, [[1], [2]]), (5, [[1, 3, 5], [2, 4]])])
def test_plan_assumes_two_groups_containing_every_answer(n, groups):
    lines = "\n".join(f"{i}. (outlet) said so" for i in range(1, n + 1))
    more = "\n".join(f"{i}. (outlet) said so" for i in range(n + 1, n + 3))
    fences = (("2", lines), ("7", more))
    text = "\n".join(f"<answers x to question {q}>\n{items}\n</answers x>" for q, items in fences)
    request = CompletionRequest(
        target=ModelRef(provider="openai", model="m"),
        messages=(Message(role="user", content=f"Sort these.\n{text}\n"),),
        response_schema={"properties": {"sorted": {"items": {"type": "object"}}}},
    )
    first, second = json.loads(simulated_reply(request))["sorted"]
    assert (first["question"], second["question"]) == (2, 7)
    assert [item["answers"] for item in first["groups"]] == groups
    assert [item["answers"] for item in second["groups"]] == [[n + 1], [n + 2]]
    assert (first["invalid"], first["rivals"]) == ([], [[1, 2]] if n > 1 else [])
