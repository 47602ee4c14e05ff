"""`import fairjudge as fj`: values in, values out, against a server on loopback."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_tools import cluster, summary

import fairjudge as fj

SYSTEMS = ("system-a", "system-b")


@pytest.fixture
def model(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    return fj.Model("openai:stub", base_url=f"{server.url}/v1", cache="cache", timeout=60)


def summary_rows():
    return [summary(system) for system in SYSTEMS]


def test_every_public_name_is_imported_lazily():
    assert [name for name in fj.__all__ if getattr(fj, name, None) is None] == []
    heavy = ("pydantic", "numpy", "torch", "langgraph", "rich", "typer")
    code = f"import sys, fairjudge; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fj.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fj.fairness.nothing  # noqa: B018


def test_from_clusters_to_a_report(model, server):
    references = fj.build([cluster()], model=model)
    assert len(references) == 1
    assert references[0].question_answers
    assert references.questions()[0]["sources"] >= 2
    result = fj.Judge(model, aspect="coverage", protocol="checklist")(references, summary_rows())
    assert [row.system for row in result] == list(SYSTEMS)
    board = result.leaderboard(n_resamples=100)
    assert {row["system"] for row in board} == set(SYSTEMS)
    assert "system-a" in str(board)
    assert "<table" in board._repr_html_()
    assert result.left_out().shown.title == "Voices left out"
    page = fj.report(references, result, summaries=summary_rows())
    assert "system-a" in page.html
    n_calls = len(server.calls)
    again = fj.Judge(model, aspect="coverage", protocol="checklist")(references, summary_rows())
    assert len(server.calls) == n_calls
    assert again.judgements == result.judgements


def test_budget_is_shared_by_all_runs_of_a_model(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    model = fj.Model("openai:stub", base_url=f"{server.url}/v1", cache="cache", max_calls=3)
    judge = fj.Judge(model, aspect="faithfulness", protocol="likert")
    first = judge([cluster()], [summary("one"), summary("two")])
    second = judge([cluster()], [summary("three"), summary("four")])
    assert len(server.calls) == 3
    assert first.n_unscored == 0
    assert second.n_unscored == 1
    assert {row.unscored for row in second} == {None, "budget"}


def test_api_works_inside_a_running_loop_and_has_async_variants(model):
    judge = fj.Judge(model, aspect="faithfulness", protocol="likert")

    async def cell():
        built = fj.build([cluster()], model=model)
        awaited = await fj.abuild([cluster()], model=model)
        assert awaited[0] == built[0]
        return judge(built, summary_rows()), await judge.arun(built, summary_rows())

    blocking, awaited = asyncio.run(cell())
    assert blocking.judgements == awaited.judgements


def test_summarize_returns_summaries(model):
    result = fj.summarize([cluster()], model=model, system="mine", n_words=40)
    assert [item.system for item in result] == ["mine"]
    result.save("made.jsonl")
    assert len(fj.read_summaries("made.jsonl")) == 1


def judged(values):
    return [
        {
            "eid": f"e{n}",
            "system": "s",
            "aspect": "coverage",
            "protocol": "likert",
            "judge": "j",
            "value": value,
        }
        for n, value in enumerate(values)
    ]


def labelled(values):
    return [
        {"eid": f"e{n}", "system": "s", "aspect": "coverage", "annotator": "ann", "value": value}
        for n, value in enumerate(values)
    ]


def test_a_judge_is_calibrated_and_its_scores_replaced():
    scores = [1, 2, 3, 4, 5] * 6
    people = [max(1, score - 1) for score in scores]
    report = fj.calibrate(judged(scores), labelled(people), method="linear", n_resamples=200)
    assert report.agreement.spearman.value > 0.9
    assert isinstance(report.agreement.pearson, fj.Estimate)
    applied = report.apply(judged(scores))
    assert applied[4].value < 5
    assert applied[4].model_extra["uncalibrated"] == 5
    report.save("calibrator.json")
    assert len(fj.read_calibrators("calibrator.json")) == 1
    applied.save("calibrated.jsonl")
    assert len(fj.read_judgements("calibrated.jsonl")) == 30
    assert "spearman" in str(report.agreements())
    assert "calibr" in fj.report(report).html.casefold()
    with pytest.raises(fj.FairJudgeError, match="method: expected 'isotonic'"):
        fj.calibrate(judged(scores), labelled(people), method="isotone")


def test_fairness_of_values_from_python():
    articles = [
        {"aid": str(n), "title": f"T{n}", "content": text, "attributes": {"party": party}}
        for n, (party, text) in enumerate(
            [("a", "The tax was cut by half."), ("b", "Schools lost all their money.")]
        )
    ]
    clusters = [{"eid": f"e{n}", "articles": articles} for n in range(4)]
    summaries = [
        {"eid": f"e{n}", "system": "s", "text": "The tax was cut by half."} for n in range(4)
    ]
    shares = fj.fairness.proportionality(clusters, summaries, attribute="party")
    assert shares.table()[0]["bur"] == 1.0
    verdicts = [
        {
            "eid": f"e{n}",
            "system": "s",
            "aspect": "faithfulness",
            "protocol": "binary",
            "judge": "j",
            "unit": f"article:{aid}",
            "value": float(aid == "0"),
        }
        for n in range(4)
        for aid in ("0", "1")
    ]
    result = fj.fairness.coverage(clusters, summaries, attribute="party", scorer=verdicts)
    assert result.table()[0]["equal_coverage"] == pytest.approx(0.5)
    assert "Equal Coverage" in str(result)
    assert result.to_dict()["measure"] == "coverage"
    assert "party" in fj.report(result, shares).html
    with pytest.raises(fj.FairJudgeError, match="is an LLM; pass a JudgeResult"):
        fj.fairness.coverage(clusters, summaries, attribute="party", scorer=fj.Model("openai:m"))


def test_audits_return_results():
    rows = [
        {
            "eid": f"e{n}",
            "system_a": "x",
            "system_b": "y",
            "aspect": "coverage",
            "protocol": "pairwise",
            "judge": "j",
            "order": order,
            "value": "a" if order == "ab" else "b",
        }
        for n in range(4)
        for order in ("ab", "ba")
    ]
    assert fj.audit.position(rows)["groups"][0]["judge"] == "j"
    assert fj.audit.parse(rows)["groups"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fj.read_clusters("nowhere.jsonl"), "nowhere.jsonl"),
        (lambda: fj.build(3), "clusters: expected a path, a list of clusters or a data frame"),
        (lambda: fj.build([{"eid": "e"}]), "clusters:1: field 'articles': missing"),
        (lambda: fj.build([]), "clusters: holds no clusters"),
        (lambda: fj.build([cluster()], n_question=3), "did you mean 'n_questions'"),
        (
            lambda: fj.build([cluster()], model=4),
            "model: expected a fairjudge.Model, a string",
        ),
        (lambda: fj.Judge("local", aspect="coverage", temprature=1), "'temperature'"),
        (lambda: fj.calibrate([1], []), "judgements:1: expected an object"),
        (lambda: fj.report(3), "report: value 1 is a int"),
        (fj.report, "nothing to report on"),
    ],
)
def test_errors_name_the_argument_and_what_was_expected(call, message):
    with pytest.raises(fj.FairJudgeError) as error:
        call()
    assert message in str(error.value)


class Frame:
    """What a pandas data frame looks like from outside."""

    columns = ("eid", "system", "text", "note")

    def __init__(self, rows):
        self._rows = rows

    def to_dict(self, how):
        assert how == "records"
        return self._rows


def test_a_data_frame_is_read_without_its_empty_cells():
    from fairjudge.datasets import read_summaries

    rows = [{"eid": "e", "system": "s", "text": "T.", "note": float("nan")}]
    assert read_summaries(Frame(rows)).records[0].model_extra == {}


def test_records_are_accepted_and_have_a_short_repr():
    Path("s.jsonl").write_text(json.dumps({"eid": "e", "system": "s", "text": "T."}) + "\n")
    from fairjudge.datasets import read_summaries

    loaded = fj.read_summaries("s.jsonl")
    assert read_summaries(loaded) is loaded
    assert repr(loaded) == "Loaded('s.jsonl', 1 record)"
