"""Data sets with layouts of their own: SummEval, as published and on the Hub, and SummHay.

Sources: Yale-LILY/SummEval, ``model_annotations.aligned.paired.jsonl``; the Hub's
``mteb/summeval``; salesforce/summary-of-a-haystack, README.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairjudge.converting.layouts import Layout
from fairjudge.converting.records import Entry, Kind
from fairjudge.converting.texts import articles_of, cluster, summary
from fairjudge.datasets._problems import validate_record
from fairjudge.domain import Label, Reference
from fairjudge.errors import InputError
from fairjudge.importing import summeval
from fairjudge.importing.records import Skipped, make_label
from fairjudge.importing.sources import Json, Source, items, score, text
from fairjudge.text.counting import pluralize

_ASPECTS = ("coherence", "consistency", "fluency", "relevance")
_ALL: frozenset[Kind] = frozenset({"clusters", "summaries", "labels"})


def layout_of(source: Source) -> Layout | None:
    """Return how the rows are read, where they are of one of these data sets."""
    keys = source.first.keys()
    if summeval.recognises(source):
        paired = "text" in keys
        return Layout(
            name="SummEval" if paired else "SummEval, without its articles (unpaired)",
            gives=_ALL if paired else _ALL - {"clusters"},
            entries=lambda: _summeval(source),
            unused=lambda: tuple(name for name in ("references", "filepath") if name in keys),
        )
    if {"machine_summaries", "text", *_ASPECTS} <= keys:
        return Layout(
            name="SummEval, an article per row",
            gives=_ALL,
            entries=lambda: _summeval_by_article(source),
            unused=lambda: ("human_summaries",) if "human_summaries" in keys else (),
        )
    if {"subtopics", "documents"} <= keys:
        return Layout(
            name="SummHay, a topic per row: a subtopic with the documents that hold its insights "
            "is a reference",
            gives=frozenset({"references", "summaries"}),
            entries=lambda: _summhay(source),
        )
    return None


def _summeval(source: Source) -> Iterator[Entry]:
    for line, row in source.records():
        with source.locate_errors(line):
            eid = text(row, "id")
            if isinstance(row.get("text"), str):
                yield cluster(eid, articles_of(row["text"], split=None))
            yield summary(eid, text(row, "model_id"), row.get("decoded"))
    for entry in summeval.read(source):
        if isinstance(entry, Label | Skipped):
            yield entry


def _summeval_by_article(source: Source) -> Iterator[Entry]:
    for line, row in source.records():
        with source.locate_errors(line):
            eid = text(row, "id")
            yield cluster(eid, articles_of(row["text"], split=None))
            texts = _list(row, "machine_summaries")
            for number, content in enumerate(texts, 1):
                yield summary(eid, f"system-{number}", content)
            for aspect in _ASPECTS:
                rated = _list(row, aspect)
                if len(rated) != len(texts):
                    of = pluralize(len(texts), "summary", "summaries")
                    raise InputError(f"{len(rated)} ratings of {of}", field=aspect)
                for number, rating in enumerate(rated, 1):
                    value = score(rating)
                    if value is None:
                        yield Skipped(line=line, why=f"a rating of {aspect!r} that is no number")
                        continue
                    item = {"eid": eid, "system": f"system-{number}", "aspect": aspect}
                    yield make_label(**item, annotator="experts", value=value)


def _list(row: Json, name: str) -> list[Any]:
    value = row.get(name)
    if not isinstance(value, list):
        raise InputError("expected a list", field=name)
    return value


def _summhay(source: Source) -> Iterator[Entry]:
    """Yield a reference a subtopic: its insights are the groups of answers to its question."""
    for line, topic in source.records():
        with source.locate_errors(line):
            documents = list(items(topic, "documents"))
            for subtopic in items(topic, "subtopics"):
                eid = text(subtopic, "subtopic_id")
                yield _reference(eid, subtopic, documents)
                summaries = subtopic.get("summaries")
                for system, lines in (summaries if isinstance(summaries, dict) else {}).items():
                    if lines:
                        yield summary(eid, system, lines)


def _reference(eid: str, subtopic: Json, documents: list[Json]) -> Entry:
    insights = {
        text(insight, "insight_id"): text(insight, "insight")
        for insight in items(subtopic, "insights")
    }
    holding = {
        insight: [
            text(document, "document_id")
            for document in documents
            if insight in (document.get("insights_included") or ())
        ]
        for insight in insights
    }
    holders = {insight: aids for insight, aids in holding.items() if aids}
    used = {aid for aids in holders.values() for aid in aids}
    if not holders:
        return Skipped(line=0, why="a subtopic whose insights stand in no document")
    return validate_record(
        Reference,
        {
            "eid": eid,
            "articles": [
                {"aid": text(document, "document_id"), "content": text(document, "document_text")}
                for document in documents
                if text(document, "document_id") in used
            ],
            "question_answers": [
                {
                    "question": str(subtopic.get("query") or subtopic.get("subtopic") or ""),
                    "answer_groups": [
                        [{"aid": aid, "answer": insights[insight]} for aid in aids]
                        for insight, aids in holders.items()
                    ],
                    "group_labels": [insights[insight] for insight in holders],
                }
            ],
        },
    )
