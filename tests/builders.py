"""Tasks, judgements and labels with the fields that a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from fairjudge.domain import Judgement, JudgeTask, Label


def make_task(*texts: str, **fields: Any) -> JudgeTask:
    """Return a task on one summary, or on two that are compared."""
    defaults = {"eid": "e", "systems": ("s", "t")[: len(texts)], "texts": texts, "unit": "summary"}
    defaults |= {"aspect": "faithfulness", "protocol": "likert"}
    return JudgeTask(**defaults | fields)


def make_judgement(**fields: Any) -> Judgement:
    """Return a rating of a summary, or a preference where `system_a` is given."""
    rating, pair = {"protocol": "likert", "system": "s"}, {"protocol": "pairwise"}
    defaults = {"eid": "e", "aspect": "coverage", "judge": "j"}
    return Judgement(**defaults | (pair if "system_a" in fields else rating) | fields)


def make_label(**fields: Any) -> Label:
    """Return a person's label of a summary, or of a pair where `system_a` is given."""
    system = {} if "system_a" in fields else {"system": "s"}
    return Label(**{"eid": "e", "aspect": "coverage", "annotator": "p"} | system | fields)
