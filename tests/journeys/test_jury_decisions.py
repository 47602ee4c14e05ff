"""A study of several judges ends in what their jury may be used for, as that of one judge does."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from cli_tools import cluster, text_of, write_jsonl
from json_files import read_json, read_rows

import fairjudge as fj

N_CLUSTERS, SYSTEMS = 24, ("a", "b", "c", "d", "e", "f")
STUDY = """\
[data]
clusters = "clusters.jsonl"
summaries = "summaries.jsonl"
labels = "labels.jsonl"

[models.strict]
backend = "openai:strict"
base_url = "{url}"

[models.mild]
backend = "openai:mild"
base_url = "{url}"

[[judge]]
name = "strict"
model = "strict"
aspect = "faithfulness"
protocol = "likert"

[[judge]]
name = "mild"
model = "mild"
aspect = "faithfulness"
protocol = "likert"
{more}
[calibrate]
resamples = 300
"""
USES = ("rank systems", "score single summaries", "replace an annotator")


@pytest.fixture
def study_file(server) -> Path:
    """Write a study of two judges who see the quality, each with an error of its own."""
    rng = random.Random(4)
    eids = [f"story{n}" for n in range(N_CLUSTERS)]
    quality = {
        (eid, system): min(5, max(1, 1.5 + 0.6 * place + rng.gauss(0, 0.6)))
        for eid in eids
        for place, system in enumerate(SYSTEMS)
    }

    def rate(call) -> str:
        eid, system = re.search(r"The paper (\w) tells of (\w+)\.", text_of(call)).group(2, 1)
        own = random.Random(f"{call.body['model']} {eid} {system}").gauss(0, 0.5)
        return f"Verdict: {min(5, max(1, round(quality[eid, system] + own)))}"

    server.answer = rate
    write_jsonl(Path("clusters.jsonl"), [cluster(eid) for eid in eids])
    rows = [
        {"eid": eid, "system": system, "text": f"The paper {system} tells of {eid}."}
        for eid, system in quality
    ]
    write_jsonl(Path("summaries.jsonl"), rows)
    labels = [
        {
            "eid": eid,
            "system": system,
            "aspect": "faithfulness",
            "annotator": annotator,
            "value": min(5, max(1, round(value + rng.gauss(0, 0.7)))),
        }
        for (eid, system), value in quality.items()
        for annotator in ("ann", "ben", "cas")
    ]
    write_jsonl(Path("labels.jsonl"), labels)
    path = Path("study.toml")
    path.write_text(STUDY.format(url=server.v1, more=""))
    return path


def test_study_of_two_judges_reports_the_decision_on_their_jury(cli, study_file, server):
    result = cli("study", study_file, code=0)
    (jury,) = read_json("study/calibration.json")["juries"]
    answers = {item["question"]: item["answer"] for item in jury["decisions"]}
    # Both judges see the order of six systems, whose means are .6 apart, on 24 documents.
    assert answers["rank_systems"] == "yes"
    assert [*answers] == ["rank_systems", "score_items", "replace_annotator"]
    text = "; ".join(f"{use}: {answer}" for use, answer in zip(USES, answers.values(), strict=True))
    sentence = f"jury of 2 judges, fitted on labels, faithfulness: {text}."
    assert f"- {sentence}" in " ".join(result.out.split()).replace(" - ", "\n- ")
    assert f"jury of 2 judges, fitted on labels, faithfulness, against humans: {text}" in " ".join(
        Path("study/report.html").read_text().split()
    )

    files = ("study/judgements/strict.jsonl", "study/judgements/mild.jsonl")
    result = cli("calibrate", *files, "--labels", "labels.jsonl", "--resamples", "300", code=0)
    tables = result.out[result.out.index("jury of 2 judges, fitted on labels, faithfulness: may") :]
    assert all(use in tables for use in USES)
    calibration = fj.calibrate([*files], "labels.jsonl", n_resamples=300).decisions()
    of_jury = [row for row in calibration if row["judge"] == "jury of 2 judges, fitted on labels"]
    assert {row["question"]: row["answer"] for row in of_jury} == answers


def test_jury_of_one_table_gets_a_decision_like_a_judge(cli, study_file, server):
    """``model = ["strict", "mild"]``: the mean of both is a judge of its own."""
    more = '\n[[judge]]\nname = "both"\nmodel = ["strict", "mild"]\naspect = "faithfulness"\n'
    text = STUDY.format(url=server.v1, more=f'{more}protocol = "likert"\n')
    without_strict = (
        text[: text.index('[[judge]]\nname = "strict"')]
        + text[text.index('[[judge]]\nname = "both') :]
    )
    study_file.write_text(without_strict)
    result = cli("study", study_file, code=0)
    groups = read_json("study/calibration.json")["groups"]
    (jury,) = [group for group in groups if group["judge"].startswith("jury-mean(")]
    assert [item["question"] for item in jury["decisions"]] == [
        "rank_systems",
        "score_items",
        "replace_annotator",
    ]
    assert "jury-mean(openai:strict,openai:mild) against humans" in " ".join(result.out.split())


def test_too_few_documents_also_apply_to_a_jury(cli, study_file, server):
    """On 8 documents the jury's own decisions are withheld, as a judge's are."""
    rows = read_rows("labels.jsonl")
    by_name = {f"story{n}" for n in range(8)}
    write_jsonl(Path("labels.jsonl"), [row for row in rows if row["eid"] in by_name])
    assert cli("study", study_file).code == 0
    (jury,) = read_json("study/calibration.json")["juries"]
    answers = {item["answer"] for item in jury["decisions"]}
    assert answers == {"too few to tell"}
    assert all(
        "labelled documents" in item["needed"] or item["needed"] for item in jury["decisions"]
    )
