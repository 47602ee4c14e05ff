"""SummEval's annotations: the ratings of every summary by experts and crowd workers.

Source: Yale-LILY/SummEval, ``model_annotations.aligned.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.importing.records import Entry, Skipped, make_label
from fairjudge.importing.sources import Source, items, score, text

_GROUPS = {"expert": "expert_annotations", "turker": "turker_annotations"}


def recognises(source: Source) -> bool:
    """Return whether the rows are annotated summaries."""
    return {"id", "model_id", "decoded", "expert_annotations"} <= source.first.keys()


def read(source: Source) -> Iterator[Entry]:
    """Yield each rating as a label; annotators are numbered in the order of the file."""
    for line, row in source.records():
        with source.locate_errors(line):
            item = {"eid": text(row, "id"), "system": text(row, "model_id")}
            for group, field in _GROUPS.items():
                for number, ratings in enumerate(items(row, field), 1):
                    for aspect, rating in ratings.items():
                        value = score(rating)
                        if value is None:
                            yield Skipped(
                                line=line, why=f"the rating of {aspect!r} is not a number"
                            )
                            continue
                        annotator = f"{group}{number}"
                        yield make_label(**item, aspect=aspect, annotator=annotator, value=value)
