"""From judging through labelling to ``calibrate``, on the bundled example, as users do it."""

from __future__ import annotations

import shutil

import pytest
from annotation_tools import Annotator, rows, serve
from cli_tools import finish, start, write_jsonl
from json_files import read_json

from fairjudge.annotation.items import build_items
from fairjudge.annotation.tasks import label_task
from fairjudge.datasets import example_path, read_references, read_summaries
from fairjudge.judges.tasks import JudgingPlan, plan_tasks
from fairjudge.text.sentences import sentence_texts

GRANULAR = {"coverage": ("qa_pair", "summary"), "faithfulness": ("articles", "sentence")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("references.json", "summaries.jsonl"):
        shutil.copyfile(example_path(name), tmp_path / name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    return tmp_path


def judge_by_hand(folder, aspect) -> None:
    """Write a judgement of every unit that ``fairjudge judge`` asks about in this aspect."""
    reference_unit, text_unit = GRANULAR[aspect]
    plan = JudgingPlan(
        aspect=aspect, protocol="binary", reference_unit=reference_unit, text_unit=text_unit
    )
    tasks = plan_tasks(
        list(read_references(folder / "references.json")),
        list(read_summaries(folder / "summaries.jsonl")),
        plan,
        split_sentences=sentence_texts,
    )
    judgements = [
        {
            "eid": task.eid,
            "system": task.systems[0],
            "aspect": aspect,
            "protocol": "binary",
            "unit": task.unit,
            "judge": "hand",
            "value": n % 2,
            "probabilities": {"yes": 0.1 + 0.8 * (n % 2), "no": 0.9 - 0.8 * (n % 2)},
        }
        for n, task in enumerate(tasks)
    ]
    write_jsonl(folder / "judgements.jsonl", judgements)


def calibrated(folder) -> dict:
    command = ("calibrate", "judgements.jsonl", "--labels", "labels.jsonl", "--json", "found.json")
    result = finish(start(*command, "--resamples", "100", cwd=folder))
    assert result.code == 0, result.err
    (group,) = read_json(folder / "found.json")["groups"]
    return group


@pytest.mark.parametrize("aspect", ["coverage", "faithfulness"])
def test_every_label_matches_its_judgement(folder, aspect):
    judge_by_hand(folder, aspect)
    server = serve(folder, "--overlap", "0", task=aspect)
    ann = Annotator(server.url, "ann")
    n_labelled = 0
    while ann.position is not None:
        ann.label(n_labelled % 3 > 0)
        n_labelled += 1
    server.interrupt()
    task = label_task(aspect)
    items = build_items(
        task,
        list(read_references(folder / "references.json")),
        list(read_summaries(folder / "summaries.jsonl")),
    )
    assert n_labelled == len(items) == len(rows(folder / "labels.jsonl"))
    group = calibrated(folder)
    assert group["n_items"] == n_labelled
    assert group["n_unscored"] == 0


def test_active_labels_have_probabilities_used_by_calibrate(folder):
    judge_by_hand(folder, "coverage")
    draw = ("--active", "judgements.jsonl", "--budget", "60", "--overlap", "0")
    server = serve(folder, *draw)
    ann = Annotator(server.url, "ann")
    while ann.position is not None:
        ann.label(ann.position % 2)
    server.interrupt()
    labels = rows(folder / "labels.jsonl")
    assert 0 < len(labels) < 117
    assert all(0.0 < row["probability"] <= 1.0 for row in labels)
    group = calibrated(folder)
    assert group["n_items"] == len(labels)
    # The classical mean is the mean weighed by 1 / probability, system by system.
    for estimate in group["ppi"]:
        if estimate["kind"] != "mean":
            continue
        own = [row for row in labels if row["system"] == estimate["system"]]
        weights = [1 / row["probability"] for row in own]
        mean = sum(w * row["value"] for w, row in zip(weights, own, strict=True)) / sum(weights)
        assert estimate["classical"]["value"] == pytest.approx(mean)


def test_agreement_of_two_annotators_matches_calibrate(folder):
    judge_by_hand(folder, "faithfulness")
    server = serve(folder, "--overlap", "1", task="faithfulness")
    for name in ("ann", "bo"):
        annotator = Annotator(server.url, name)
        while annotator.position is not None:
            annotator.label("dam" in annotator.page.text.split('class="statement"')[1][:300])
    server.interrupt()
    group = calibrated(folder)
    assert group["human"]["pooled"]["alpha_nominal"]["value"] == 1.0
