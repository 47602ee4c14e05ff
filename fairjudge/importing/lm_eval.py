"""lm-evaluation-harness's samples: one judgement per metric, document and filter.

Source: EleutherAI/lm-evaluation-harness, ``lm_eval/evaluator.py`` and
``loggers/evaluation_tracker.py``: ``<out>/<model>/samples_<task>_<date>.jsonl``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fairjudge.importing.records import Entry, RecordedJudgement, Skipped
from fairjudge.importing.sources import Json, Source, first_text, score, text

_FIELDS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip
_BYPASS = "bypass"
"""The metric of runs with --predict_only; its value is not a score."""
_NAME = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl?(?:\.gz)?")


def recognises(source: Source) -> bool:
    """Return whether the rows are documents with responses."""
    return {"doc_id", "doc", "resps", "filtered_resps"} <= source.first.keys()


def read(source: Source) -> Iterator[Entry]:
    """Yield each metric of each row; with several filters, the aspect includes the filter."""
    rows = list(source.records())
    filters = {first_text(row, "filter") for _, row in rows}
    system, task = source.path.parent.name or "model", _task(source.path)
    for line, row in rows:
        with source.locate_errors(line):
            metric_names = row.get("metrics")
            metrics = (
                metric_names
                if isinstance(metric_names, list)
                else [k for k in row if k not in _FIELDS]
            )
            if not metrics:
                yield Skipped(line=line, why="the row has no metric")
            for metric in map(str, metrics):
                aspect = f"{metric},{first_text(row, 'filter')}" if len(filters) > 1 else metric
                value = row.get(metric)
                is_bypass = metric == _BYPASS
                if not is_bypass and isinstance(value, list | dict):
                    yield Skipped(line=line, why=f"metric {metric!r} is not a number")
                    continue
                yield RecordedJudgement(
                    line=line,
                    eid=text(row, "doc_id"),
                    system=system,
                    aspect=aspect,
                    judge=f"lm-eval/{task}",
                    value=None if is_bypass else score(value),
                    detail=(
                        "lm-eval did not score the responses (--predict_only)"
                        if is_bypass
                        else f"metric {metric!r} has no number"
                    ),
                    scored_by="code",
                    extra=_response(row),
                )


def _task(path: Path) -> str:
    match = _NAME.fullmatch(path.name)
    return match["task"] if match else path.name.partition(".")[0]


def _response(row: Json) -> dict[str, str]:
    """Return the model's response if it is a single text."""
    responses = row.get("filtered_resps")
    if isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return {"response": responses} if isinstance(responses, str) else {}
