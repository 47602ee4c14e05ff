"""Planning counts what a run then asks, and batch files carry the same calls."""

from __future__ import annotations

import json

import pytest
from stub_server import StubServer
from typer.testing import CliRunner

from fairjudge.backends.planning import count_tokens
from fairjudge.cli._main import app
from fairjudge.datasets import example_path

runner = CliRunner()


def run(*args, code=0):
    result = runner.invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    made = StubServer()
    made.answer = lambda call: "Fine.\nVerdict: " + ("1" if "Verdict" in str(call.body) else "?")
    yield made
    made.close()


def arguments(tmp_path, *protocol):
    return [
        *("--references", example_path("references.json")),
        *("--summaries", example_path("summaries.jsonl")),
        *("--aspect", "coverage", "--protocol", *protocol),
        *("--backend", "openai:m", "--cache", tmp_path / "cache"),
        *("-o", tmp_path / "out.jsonl"),
    ]


def planned(tmp_path, arguments, *rest):
    run("plan", *arguments, *rest, "--json", tmp_path / "plan.json")
    return json.loads((tmp_path / "plan.json").read_text())


@pytest.mark.parametrize(
    "protocol", [("likert",), ("pairwise",), ("binary", "--reference-unit", "qa_pair")]
)
def test_a_plan_counts_the_calls_that_the_run_makes(tmp_path, server, protocol):
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
    both = planned(tmp_path, same, "--backend", "openai:other", "--max-calls", once)
    assert both["calls"] == 2 * once
    assert [row["model"] for row in both["models"]] == ["openai:m", "openai:other"]
    assert both["over"] == ["max_calls"]


def test_cost_is_tokens_times_the_published_price_and_unknown_where_there_is_none(tmp_path, server):
    """gpt-4o-mini in prices.toml: 0.15 and 0.60 US dollars for a million tokens."""
    args = arguments(tmp_path, "likert")
    args[args.index("openai:m")] = "openai:gpt-4o-mini"
    report = planned(tmp_path, args)
    expected = (report["input_tokens"] * 0.15 + report["output_tokens"] * 0.60) / 1e6
    assert report["cost_usd"] == pytest.approx(expected)
    assert planned(tmp_path, arguments(tmp_path, "likert"))["cost_usd"] is None


@pytest.mark.local_model
def test_building_is_planned_as_if_every_article_answered(tmp_path, server):
    """Questions once for the seed and once for the rest, and every question to every article."""
    clusters = example_path("clusters.json")
    args = [clusters, "--backend", "openai:m", "--base-url", server.v1, "--questions", "4"]
    report = planned(tmp_path, args, "--cache", tmp_path / "cache")
    articles = sum(len(c["articles"]) for c in json.loads(clusters.read_text()))
    assert report["calls"] >= 4 * articles
    assert report["input_tokens"] > 0
    assert server.calls == []


def test_the_embedded_default_has_nothing_to_plan(tmp_path):
    args = ["--references", example_path("references.json")]
    args += ["--summaries", example_path("summaries.jsonl"), "--protocol", "likert"]
    assert planned(tmp_path, args)["calls"] == 0


def test_plan_needs_clusters_or_summaries():
    assert "clusters" in run("plan", code=2).output


def test_token_counts_follow_the_rules_of_the_estimate():
    """1.034 times: "The" 1, "representatives" 1 + 11 // 8 = 2, "1234" 2, "?!" 1; 6.2, so 6."""
    assert count_tokens("The representatives 1234 ?!") == 6
    assert count_tokens("") == 0


def test_a_batch_holds_the_calls_and_its_results_serve_the_run(tmp_path, server):
    calls, results = tmp_path / "calls.jsonl", tmp_path / "results.jsonl"
    same = [*arguments(tmp_path, "likert"), "--base-url", server.v1]
    report = planned(tmp_path, same, "--batch", calls)
    rows = [json.loads(line) for line in calls.read_text().splitlines()]
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
    said = run("load-batch", results, "--cache", tmp_path / "cache").output
    assert f"{len(rows) - 1} replies stored, 1 lines without one" in said
    run("judge", *same)
    assert len(server.calls) == 1, "only what the batch failed to answer is asked"
    values = [
        json.loads(line)["value"] for line in (tmp_path / "out.jsonl").read_text().splitlines()
    ]
    assert values.count(4.0) == len(rows) - 1


def test_a_broken_results_file_is_named_with_its_line(tmp_path):
    broken = tmp_path / "results.jsonl"
    broken.write_text('{"custom_id": "x"}\n')
    result = runner.invoke(app, ["load-batch", str(broken), "--cache", str(tmp_path / "c")])
    assert result.exception is not None
    assert "results.jsonl:1" in str(result.exception)
