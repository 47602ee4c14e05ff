"""From labels to a decision: one sentence in terminal, page, JSON and Python."""

from __future__ import annotations

import json
import random
from html import unescape
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.reports.figures import interval


def _write(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def files(cli):
    """Six systems a point apart on 30 documents, two annotators who nearly agree, and a judge that
    knows the systems and guesses within them."""
    rng = random.Random(0)
    judged, labels = [], []
    for document in range(30):
        for system in range(6):
            where = {"eid": f"d{document:02}", "system": f"s{system}", "aspect": "coverage"}
            truth = 0.6 * system + rng.gauss(0, 3)
            own = {"protocol": "likert", "judge": "j", "scored_by": "llm"}
            guess = 3 + 0.15 * system + rng.gauss(0, 0.8)
            judged.append({**where, **own, "value": min(5, max(1, round(guess)))})
            for name in ("ann", "ben"):
                value = min(5, max(1, round(1.5 + truth / 2 + rng.gauss(0, 0.3))))
                labels.append({**where, "annotator": name, "value": value})
    _write("judged.jsonl", judged)
    _write("labels.jsonl", labels)
    _write("seven.jsonl", [row for row in judged if row["eid"] < "d07"])
    return judged


def test_a_report_ends_in_a_decision(cli, files):
    result = cli("calibrate", "judged.jsonl", "--labels", "labels.jsonl", "--json", "out.json",
               "--html", "page.html", code=0)  # fmt: skip
    (group,) = json.loads(Path("out.json").read_text("utf-8"))["groups"]
    answers = {item["question"]: item["answer"] for item in group["decisions"]}
    assert answers["rank_systems"] in {"yes", "too few to tell"}
    assert answers["score_items"] == "no"
    assert answers["replace_annotator"] == "too few to tell"
    sentence = (
        f"rank systems: {answers['rank_systems']}; score single summaries: no; "
        "replace an annotator: too few to tell"
    )
    python = fj.calibrate("judged.jsonl", "labels.jsonl")
    page = unescape(Path("page.html").read_text("utf-8"))
    for text in (result.out, page, repr(python)):
        assert sentence in " ".join(text.split())
    figure_text = interval(group["decisions"][1]["figure"])
    # The figure of a decision stands where the decision does.
    for text in (result.out, page, repr(python.decisions())):
        assert figure_text in " ".join(text.split())
    last = result.out[result.out.index("may the judge be used to ...") :]
    assert "Largest disagreements" not in last
    assert "cost per item unknown" in last.casefold()
    assert [row["needed"] for row in python.decisions()][2].startswith("3 annotators with 30")


def test_seven_documents_give_no_decision(cli, files):
    result = cli("calibrate", "seven.jsonl", "--labels", "labels.jsonl", code=0)
    text = " ".join(result.out.split())
    assert "rank systems: too few to tell; score single summaries: too few to tell" in text
