"""Juries: what several judges' rows become."""

from __future__ import annotations

import pytest
from builders import make_judgement
from invoking import invoke
from json_files import read_json, read_rows
from stub_server import Reply

from fairjudge.datasets import example_path
from fairjudge.domain import Judgement
from fairjudge.errors import ConfigurationError, RunError
from fairjudge.run.jury import jury_rows


def row(judge, value=None, **fields):
    return make_judgement(judge=judge, value=value, signature=f"judge:{judge}", **fields)


def test_members_are_kept_and_unscored_ones_ignored():
    """Of 2, 5 and a refusal: mean 3.5; of the refusals alone: refused."""
    rows = jury_rows(
        [
            [row("x", 2), row("x", unscored="refused", eid="f")],
            [row("y", 5), row("y", unscored="refused", eid="f")],
            [row("z", unscored="refused"), row("z", unscored="backend", eid="f")],
        ],
        rule="mean",
    )
    assert (rows[0].value, rows[0].judge) == (3.5, "jury-mean(x,y,z)")
    assert rows[0].model_extra["members"] == {"x": 2.0, "y": 5.0, "z": None}
    assert rows[0].model_extra["n_scored"] == 2
    assert (rows[1].value, rows[1].unscored) == (None, "refused")


@pytest.mark.parametrize(
    ("votes", "value", "split", "agreement"),
    [
        ((1, 0), 0.5, True, 0.0),  # half a yes, as a pair's tie is half a win
        ((1, 0, 0), 0.0, False, 2 / 3),
        ((2, 5), 3.5, True, 0.0),
        ((1, 1, 5, 5, 2), 3.0, True, 0.0),  # 1 and 5 are the most frequent, 2 is not
        ((4,), 4.0, False, 1.0),
    ],
)
def test_tied_votes_give_a_tie(votes, value, split, agreement):
    """By hand: the mean of the values that most members gave."""
    rows = [[row(f"j{place}", vote)] for place, vote in enumerate(votes)]
    (vote,) = jury_rows(rows, rule="majority")
    assert (vote.value, vote.unscored) == (value, None)
    assert vote.model_extra["split"] is split
    assert vote.model_extra["agreement"] == pytest.approx(agreement)
    assert list(vote.model_extra["members"].values()) == list(votes)


def test_split_pair_votes_are_a_tie_and_means_report_no_split():
    def pair(judge, value):
        return Judgement(
            eid="e",
            system_a="s",
            system_b="t",
            order="ab",
            aspect="coverage",
            protocol="pairwise",
            judge=judge,
            value=value,
        )

    (vote,) = jury_rows([[pair("x", "a")], [pair("y", "b")]], rule="majority")
    assert (vote.value, vote.model_extra["split"]) == ("tie", True)
    (vote,) = jury_rows([[pair("x", "b")], [pair("y", "tie")], [pair("z", "b")]], rule="majority")
    assert (vote.value, vote.model_extra["split"]) == ("b", False)
    (vote,) = jury_rows([[row("x", 2)], [row("y", 5)]], rule="mean")
    assert vote.model_extra["split"] is False


def test_distributions_are_averaged_if_all_members_have_one():
    first = row("x", 1, probabilities={"1": 1.0, "2": 0.0})
    two = row("y", 2, probabilities={"1": 0.5, "2": 0.5})
    assert jury_rows([[first], [two]], rule="mean")[0].probabilities == {"1": 0.75, "2": 0.25}
    assert jury_rows([[first], [row("y", 2)]], rule="mean")[0].probabilities is None


def test_judgements_of_other_items_raise():
    with pytest.raises(ValueError, match="same items"):
        jury_rows([[row("x", 2)], [row("y", 2, eid="f")]], rule="mean")


@pytest.fixture
def server(stub, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    return stub


def command(tmp_path, server, *backends):
    options = [part for name in backends for part in ("--backend", f"openai:{name}")]
    return [
        *("judge", "--references", example_path("references.json")),
        *("--summaries", example_path("summaries.jsonl")),
        *("--aspect", "coverage", "--protocol", "likert"),
        *(*options, "--base-url", server.v1),
        *("--cache", tmp_path / "cache", "-o", tmp_path / "out.jsonl"),
    ]


def low_and_high(call):
    return "Verdict: 2" if call.body["model"] == "low" else "Verdict: 5"


def rows_by_judge(tmp_path):
    rows = read_rows(tmp_path / "out.jsonl")
    by_name = {}
    for row in rows:
        by_name.setdefault(row["judge"], []).append(row)
    return by_name


def test_several_backends_form_a_jury(tmp_path, server):
    """The two models always answer 2 and 5: every rating of the jury is 3.5."""
    server.answer = low_and_high
    result = invoke(*command(tmp_path, server, "low", "high"))
    assert result.exit_code == 0, result.output
    by_judge = rows_by_judge(tmp_path)
    assert {judge: {row["value"] for row in rows} for judge, rows in by_judge.items()} == {
        "jury-mean(openai:low,openai:high)": {3.5},
        "openai:low": {2.0},
        "openai:high": {5.0},
    }


def test_call_limit_applies_to_the_whole_jury(tmp_path, server):
    """Six summaries and two members are twelve calls; eight are allowed."""
    server.answer = low_and_high
    limited = command(tmp_path, server, "low", "high")
    result = invoke(*limited, "--max-calls", "8", "--json", tmp_path / "report.json")
    assert result.exit_code == 3, result.output
    assert len(server.calls) == 8
    assert read_json(tmp_path / "report.json")["spent"]["n_calls"] == 8
    by_judge = rows_by_judge(tmp_path)
    unscored = {judge: [row["unscored"] for row in rows] for judge, rows in by_judge.items()}
    assert unscored["openai:low"] == [None] * 6
    assert sorted(map(str, unscored["openai:high"])) == ["None"] * 2 + ["budget"] * 4
    # The same command, allowed more, asks only for what is missing.
    assert invoke(*limited).exit_code == 0
    assert len(server.calls) == 12


PRICE = """
[[price]]
model = "openai:{model}"
input = 1000.0
output = 1000.0
date = 2026-01-01
source = "test"
"""


def test_cost_limit_applies_to_the_whole_jury(tmp_path, server):
    """A thousandth of a dollar a token; the server counts 11 tokens in and 7 out: 0.018 a call.

    Before a call the most that it may cost is set aside: a token for three bytes of the prompt and
    8 a message, and 1,024 for the reply. That and 7.5 calls' price is allowed: six calls of the
    first member and two of the second are begun while as much is left.
    """
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICE.format(model="low") + PRICE.format(model="high"))
    server.answer = lambda call: Reply(text=low_and_high(call), input_tokens=11, output_tokens=7)
    report = tmp_path / "report.json"
    limited = [*command(tmp_path, server, "low", "high"), "--prices", prices]
    other = [tmp_path / "other" if part == tmp_path / "cache" else part for part in limited]
    assert invoke(*other).exit_code == 0
    messages = [[m["content"] for m in call.body["messages"]] for call in server.calls]
    server.calls.clear()
    largest = (
        max(sum(len(m.encode()) // 3 + 8 for m in message) + 1024 for message in messages) / 1000
    )
    most = largest + 0.018 * 7.5
    result = invoke(*limited, "--concurrency", "1", "--max-cost", most, "--json", report)
    assert result.exit_code == 3, result.output
    spent = read_json(report)["spent"]
    assert 8 <= len(server.calls) < 12, "shorter prompts than the longest may still be asked"
    assert spent["n_calls"] == len(server.calls)
    assert spent["cost_usd"] == pytest.approx(0.018 * len(server.calls))
    assert spent["cost_usd"] <= most


def test_member_with_unknown_price_raises_before_any_call(tmp_path, server):
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICE.format(model="low"))
    limited = [*command(tmp_path, server, "low", "high"), "--prices", prices, "--max-cost", "1"]
    result = invoke(*limited)
    assert isinstance(result.exception, ConfigurationError)
    assert "openai:high" in str(result.exception)
    assert server.calls == []


def test_run_folder_of_other_members_raises_and_names_them(tmp_path, server):
    server.answer = low_and_high
    folder = ("--run", tmp_path / "mine")
    assert invoke(*command(tmp_path, server, "low", "high"), *folder).exit_code == 0
    n_calls = len(server.calls)
    for other, difference in (
        (command(tmp_path, server, "low", "third"), "openai:low and openai:high there, now"),
        (command(tmp_path, server, "high", "low"), "members ("),
        (command(tmp_path, server, "low"), "members (openai:low and openai:high there"),
        ([*command(tmp_path, server, "low", "high"), "--jury", "median"], "jury ('mean' there"),
    ):
        result = invoke(*other, *folder)
        assert result.exit_code == 1
        assert isinstance(result.exception, RunError)
        assert difference in str(result.exception)
    assert len(server.calls) == n_calls
    assert invoke(*command(tmp_path, server, "low", "high"), *folder).exit_code == 0
    assert len(server.calls) == n_calls
