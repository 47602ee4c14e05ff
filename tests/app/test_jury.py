"""Juries: what several judges' rows become."""

from __future__ import annotations

import json

import pytest
from stub_server import StubServer
from typer.testing import CliRunner

from fairjudge.app.jury import jury_rows
from fairjudge.cli._main import app
from fairjudge.datasets import example_path
from fairjudge.domain import Judgement


def row(judge, value=None, *, eid="e", **rest):
    return Judgement(
        eid=eid,
        system="s",
        aspect="coverage",
        protocol="likert",
        judge=judge,
        value=value,
        signature=f"judge:{judge}",
        **rest,
    )


def test_members_are_kept_and_unscored_ones_take_no_part():
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


def test_an_even_split_of_numbers_has_no_majority():
    (got,) = jury_rows([[row("x", 2)], [row("y", 5)]], rule="majority")
    assert (got.value, got.unscored) == (None, "unparseable")
    assert "evenly split" in got.model_extra["detail"]


def test_distributions_are_averaged_where_all_have_one():
    one = row("x", 1, probabilities={"1": 1.0, "2": 0.0})
    two = row("y", 2, probabilities={"1": 0.5, "2": 0.5})
    assert jury_rows([[one], [two]], rule="mean")[0].probabilities == {"1": 0.75, "2": 0.25}
    assert jury_rows([[one], [row("y", 2)]], rule="mean")[0].probabilities is None


def test_other_items_are_refused():
    with pytest.raises(ValueError, match="same items"):
        jury_rows([[row("x", 2)], [row("y", 2, eid="f")]], rule="mean")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    made = StubServer()
    yield made
    made.close()


def test_several_backends_make_a_jury(tmp_path, server):
    """The two models always answer 2 and 5: every rating of the jury is 3.5."""
    server.answer = lambda call: "Verdict: 2" if call.body["model"] == "low" else "Verdict: 5"
    output = tmp_path / "out.jsonl"
    args = ["judge", "--references", example_path("references.json")]
    args += ["--summaries", example_path("summaries.jsonl"), "--aspect", "coverage"]
    args += ["--protocol", "likert", "--backend", "openai:low", "--backend", "openai:high"]
    args += ["--base-url", server.v1, "--cache", tmp_path / "cache", "-o", output]
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    by_judge = {}
    for each in rows:
        by_judge.setdefault(each["judge"], set()).add(each["value"])
    assert by_judge == {
        "jury-mean(openai:low,openai:high)": {3.5},
        "openai:low": {2.0},
        "openai:high": {5.0},
    }
