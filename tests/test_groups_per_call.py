"""The comparison of checklists by groups per call, on runs and labels written by hand."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from benchmarks.groups_per_call import N_SECTIONS, lines, sample, verdicts
from fairjudge.datasets import read_references, read_summaries


def test_sample_contains_all_insights_and_labels(tmp_path):
    rows = [
        {"eid": f"subject{s}", "topic": "data/topic_ships.json", "system": f"writer{w}",
         "unit_id": f"u{s}.{u}", "unit": f"Insight {u} of {s}.", "text": f"Text {w} on {s}.",
         "covered": float((u + w) % 2)}
        for s in range(4) for w in range(2) for u in range(5)
    ]  # fmt: skip
    data = tmp_path / "labels.jsonl.gz"
    data.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    assert sample(data, tmp_path / "out", n_texts=6, seed=0) == 5 * N_SECTIONS
    (reference,) = read_references(tmp_path / "out/references.jsonl").records
    (summary,) = read_summaries(tmp_path / "out/summaries.jsonl").records
    assert [
        len(question_answer.answer_groups) for question_answer in reference.question_answers
    ] == [5] * 4
    insights = [
        [group[0].answer for group in question_answer.answer_groups]
        for question_answer in reference.question_answers
    ]
    for label in map(json.loads, (tmp_path / "out/labels.jsonl").read_text().splitlines()):
        question, group = map(int, label["unit"].removeprefix("answer:").split("."))
        (covered,) = (
            row["covered"] for row in rows
            if row["unit"] == insights[question][group] and row["text"] in summary.text
        )  # fmt: skip
        assert label["value"] == covered


def test_agreement_between_sizes_and_with_people_by_hand(tmp_path):
    """Of four groups the sizes say one otherwise; people agree with the small size on all."""
    runs = {}
    for size, covered in ((5, [1, 0, 0.5, 0]), (60, [1, 0, 0.5, 1])):
        entries = [{"unit": f"answer:{g}.0", "covered": c} for g, c in enumerate(covered)]
        of = {"eid": "e", "system": "s", "aspect": "coverage", "protocol": "checklist"}
        row = {**of, "judge": "j", "value": float(np.mean(covered)), "checklist": entries}
        (tmp_path / f"{size}.jsonl").write_text(json.dumps(row) + "\n")
        runs[size] = verdicts(tmp_path / f"{size}.jsonl")
    people = {
        ("e", f"answer:{g}.0"): {"value": v, "document": f"d{g}"}
        for g, v in enumerate([1.0, 0.0, 0.5, 0.0])
    }
    printed = {
        line.strip().rsplit("  ", 1)[0].strip(): line.split() for line in lines(runs, people)
    }
    values = {name: float(cells[-3]) for name, cells in printed.items() if "[" in " ".join(cells)}
    assert values["5 and 60: same verdict"] == pytest.approx(0.75)
    assert values["60 minus 5: covered"] == pytest.approx(0.25)
    assert values["60: agrees with people in three levels"] == pytest.approx(0.75)
    assert values["60 minus 5: agrees in full"] == pytest.approx(-0.25)
