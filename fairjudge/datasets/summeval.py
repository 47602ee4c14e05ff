"""Read SummEval's own layout: one line a summary, with every expert's and crowd worker's ratings.

Source: Fabbri et al. 2021, ``model_annotations.aligned.jsonl`` and, with the articles joined in,
``model_annotations.aligned.paired.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fairjudge.datasets._loading import Kind
from fairjudge.datasets.given import read_records
from fairjudge.domain import Article, Cluster, Id, Label, Record, Summary, Text, Value
from fairjudge.errors import InputError


class _Line(Record):
    id: Id
    model_id: Id
    decoded: Text
    expert_annotations: tuple[Mapping[str, Value], ...]
    turker_annotations: tuple[Mapping[str, Value], ...] = ()
    text: Text | None = None


_LINES = Kind(
    model=_Line,
    name="annotated summaries",
    fields="SummEval's 'id', 'model_id', 'decoded' and 'expert_annotations'",
    unique=lambda line: {"id": line.id, "model_id": line.model_id},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummEval:
    """What such a file holds; ``clusters`` is empty where the articles were not joined in."""

    clusters: tuple[Cluster, ...]
    summaries: tuple[Summary, ...]
    labels: tuple[Label, ...]


def read_summeval(path: str | Path) -> SummEval:
    """Read the articles (one a cluster), the summaries, and each rating as a label.

    Annotators are ``expert1`` onwards and ``turker1`` onwards, in the order of the file.

    Raises
    ------
    InputError
        As for every reader; and where lines of one ``id`` differ in their article.
    """
    loaded = read_records(path, _LINES)
    texts: dict[str, str] = {}
    for line, number in zip(loaded.records, loaded.lines, strict=True):
        if line.text is not None and texts.setdefault(line.id, line.text) != line.text:
            problem = f"the article of {line.id!r} is not the one of an earlier line"
            raise InputError(problem, path=path, line=number, field="text")
    return SummEval(
        clusters=tuple(_cluster(eid, text) for eid, text in texts.items()),
        summaries=tuple(
            Summary(eid=line.id, system=line.model_id, text=line.decoded) for line in loaded.records
        ),
        labels=tuple(label for line in loaded.records for label in _labels(line)),
    )


def _cluster(eid: str, text: str) -> Cluster:
    return Cluster(eid=eid, articles=(Article(aid="0", content=text),))


def _labels(line: _Line) -> Iterator[Label]:
    groups = {"expert": line.expert_annotations, "turker": line.turker_annotations}
    for group, people in groups.items():
        for number, ratings in enumerate(people, start=1):
            for aspect, value in ratings.items():
                yield Label(
                    eid=line.id,
                    system=line.model_id,
                    aspect=aspect,
                    annotator=f"{group}{number}",
                    value=value,
                )
