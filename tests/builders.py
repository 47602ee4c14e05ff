"""Builders of tasks, judgements and labels with defaults for irrelevant fields."""

from __future__ import annotations

from typing import Any

from fairjudge.domain import Judgement, JudgeTask, Label


def make_task(*texts: str, **fields: Any) -> JudgeTask:
    """Return a task on one summary, or on a pair of summaries."""
    defaults = {"eid": "e", "systems": ("s", "t")[: len(texts)], "texts": texts, "unit": "summary"}
    defaults |= {"aspect": "faithfulness", "protocol": "likert"}
    return JudgeTask(**defaults | fields)


def make_judgement(**fields: Any) -> Judgement:
    """Return a rating of a summary, or a preference if there is a field `system_a`."""
    rating, pair = {"protocol": "likert", "system": "s"}, {"protocol": "pairwise"}
    defaults = {"eid": "e", "aspect": "coverage", "judge": "j"}
    return Judgement(**defaults | (pair if "system_a" in fields else rating) | fields)


def make_label(**fields: Any) -> Label:
    """Return a human label of a summary, or of a pair if there is a field `system_a`."""
    system = {} if "system_a" in fields else {"system": "s"}
    return Label(**{"eid": "e", "aspect": "coverage", "annotator": "p"} | system | fields)
