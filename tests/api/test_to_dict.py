"""What a run of a judge, a build and a summarizer found: in Python what the commands write."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from cli_tools import article, cluster, journalist, reference, text_of, write_jsonl

import fairjudge as fj
from fairjudge.errors import InputError
from fairjudge.judges.asking import AskedAspect
from fairjudge.records.schema import report_text

EIDS = [f"bridge{n}" for n in range(6)]
SYSTEMS = ("plain", "long", "odd")
NO_ANSWER = "I would rather not say."
TOGETHER = (AskedAspect(aspect="coverage"), AskedAspect(aspect="faithfulness"))


def answer(call) -> str:
    """Answer as the journalist does, pairs too; one summary is never scored."""
    text = text_of(call)
    if f"odd says of {EIDS[0]}" in text or NO_ANSWER in text:  # asked again, it says so again
        return NO_ANSWER
    if '"tie"' in text:
        return f"Verdict: {int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2 + 1}"
    return journalist(call)


def summary(system: str, eid: str) -> dict[str, str]:
    """Return a summary unlike that of any other cluster: no prompt is sent twice."""
    text = f"The bridge is closed. {system} says of {eid} that the rain did it."
    return {"eid": eid, "system": system, "text": text}


@pytest.fixture(autouse=True)
def inputs(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    server.answer = answer
    stub = {"aid": "stub", "content": "Subscribe now."}
    rows = [reference(eid) for eid in EIDS]
    rows[0]["articles"].append(stub)
    write_jsonl(Path("references.jsonl"), rows)
    write_jsonl(Path("summaries.jsonl"), [summary(item, eid) for eid in EIDS for item in SYSTEMS])
    few = {"eid": "few", "articles": [article("one"), stub]}  # no question: one article with news
    write_jsonl(Path("clusters.jsonl"), [cluster("bridge"), cluster("dam"), few])


def model(server, name="stub-model"):
    return fj.Model(f"openai:{name}", base_url=server.v1, cache="cache-of-python")


def by_command(cli, server, *arguments, models=("stub-model",)) -> str:
    """Return the text of the JSON that a command writes, from a cache of its own."""
    backends = [word for name in models for word in ("--backend", f"openai:{name}")]
    result = cli(
        *arguments, *backends, "--base-url", server.v1, "-o", "out.jsonl", "--json", "found.json"
    )
    assert result.code in {0, 3}, result.err  # 3: more unscored than --max-unscored
    return Path("found.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "words", "holds"),
    [
        pytest.param({"protocol": "likert"}, (), {"missing", "findings"}, id="likert"),
        pytest.param({"protocol": "pairwise"}, (), {"systems"}, id="pairwise"),
        pytest.param(
            {"protocol": "checklist", "derive": ("likert",)},
            ("--derive", "likert"),
            {"covered", "derived"},
            id="checklist",
        ),
        pytest.param(
            {"protocol": "likert", "repeats": 2, "temperature": 0.7},
            ("--repeats", "2", "--temperature", "0.7"),
            {"stability"},
            id="repeats",
        ),
        pytest.param(
            {"protocol": "likert", "together": TOGETHER},
            ("--aspect", "faithfulness", "--together"),
            {"together"},
            id="together",
        ),
    ],
)
def test_judge_result_matches_the_json_of_the_command(cli, server, options, words, holds):
    inputs = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
    how = ("--aspect", "coverage", "--protocol", options["protocol"], *words)
    text = by_command(cli, server, "judge", *inputs, *how)
    result = fj.Judge(model(server), aspect="coverage", **options)(
        "references.jsonl", "summaries.jsonl"
    )
    shutil.rmtree(result.run)  # what was found outlives the run
    assert report_text(result.to_dict()) == text
    data = json.loads(text)
    assert holds <= set(data)
    assert next(iter(data.items())) == ("schema", 1)
    assert data["spent"]["n_calls"] > 0
    systems = data["together"][0]["systems"] if "together" in data else data["systems"]
    assert systems["odd"]["n_unscored"] > 0


def test_jury_result_matches_the_json_of_the_command(cli, server):
    inputs = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
    options = ("--aspect", "faithfulness", "--protocol", "likert")
    text = by_command(cli, server, "judge", *inputs, *options, models=("one", "two"))
    models = [model(server, name) for name in ("one", "two")]
    result = fj.Judge(models, aspect="faithfulness", protocol="likert")(
        "references.jsonl", "summaries.jsonl"
    )
    assert report_text(result.to_dict()) == text
    data = json.loads(text)
    assert data["n_judgements"] == 3 * len(EIDS) * len(SYSTEMS)
    assert [item["aid"] for item in data["articles_left_out"]] == ["stub"]


def test_build_result_matches_the_json_of_the_command(cli, server):
    text = by_command(cli, server, "build", "clusters.jsonl")
    result = fj.build("clusters.jsonl", model=model(server)).to_dict()
    assert report_text(result) == text
    assert result["findings"]
    assert [bool(item["why_no_questions"]) for item in result["clusters"]] == [False, False, True]
    assert {"aid": "stub", "why": result["clusters"][2]["unused"][-1]["why"]} in result["clusters"][
        2
    ]["unused"]


def test_summarize_result_matches_the_json_of_the_command(cli, server):
    server.answer = lambda call: "" if "paper dam" in text_of(call) else journalist(call)
    words = ("--system", "mine", "--words", "40", "--sweep", "temperature=0.5")
    text = by_command(cli, server, "summarize", "clusters.jsonl", *words)
    result = fj.summarize(
        "clusters.jsonl", model=model(server), system="mine", n_words=40,
        sweeps=["temperature=0.5"],
    ).to_dict()  # fmt: skip
    assert report_text(result) == text
    assert {item["eid"] for item in result["failed"]} == {"dam"}
    assert result["systems"]["mine+temperature=0.5"]["temperature"] == 0.5


def test_missing_judge_results_are_omitted(server):
    """Imported judgements have no run, and a run's figures are not those of calibrated values."""
    judge = fj.Judge(model(server), aspect="coverage", protocol="likert")
    result = judge("references.jsonl", "summaries.jsonl")
    labels = [
        {**row.to_json(), "annotator": "ann", "value": row.value} for row in result if row.value
    ]
    calibrated = fj.calibrate(result, labels, method="linear", n_resamples=100).apply(result)
    for report in (calibrated, fj.JudgeResult(result.judgements)):
        with pytest.raises(InputError, match=r"judge with fairjudge\.Judge"):
            report.to_dict()
    assert replace(result, report=None) == result
