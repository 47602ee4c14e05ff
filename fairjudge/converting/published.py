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
    """Return the layout of rows of one of these data sets, else None."""
    keys = source.first.keys()
    if summeval.recognises(source):
        has_articles = "text" in keys
        return Layout(
            name="SummEval" if has_articles else "SummEval, without its articles (unpaired)",
            kinds=_ALL if has_articles else _ALL - {"clusters"},
            entries=lambda: _summeval(source),
            unused=lambda: tuple(name for name in ("references", "filepath") if name in keys),
        )
    if {"machine_summaries", "text", *_ASPECTS} <= keys:
        return Layout(
            name="SummEval, one article per row",
            kinds=_ALL,
            entries=lambda: _summeval_by_article(source),
            unused=lambda: ("human_summaries",) if "human_summaries" in keys else (),
        )
    if {"subtopics", "documents"} <= keys:
        return Layout(
            name="SummHay, one topic per row: each subtopic, with the documents that contain its "
            "insights, is a reference",
            kinds=frozenset({"references", "summaries"}),
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
                ratings = _list(row, aspect)
                if len(ratings) != len(texts):
                    n_texts = pluralize(len(texts), "summary", "summaries")
                    raise InputError(f"{len(ratings)} ratings of {n_texts}", field=aspect)
                for number, rating in enumerate(ratings, 1):
                    value = score(rating)
                    if value is None:
                        yield Skipped(line=line, why=f"a rating of {aspect!r} that is not a number")
                        continue
                    item = {"eid": eid, "system": f"system-{number}", "aspect": aspect}
                    yield make_label(**item, annotator="experts", value=value)


def _list(row: Json, name: str) -> list[Any]:
    value = row.get(name)
    if not isinstance(value, list):
        raise InputError("expected a list", field=name)
    return value


def _summhay(source: Source) -> Iterator[Entry]:
    """Yield one reference per subtopic; its insights are the answer groups of its question."""
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
    aids_by_insight = {
        insight: [
            text(document, "document_id")
            for document in documents
            if insight in (document.get("insights_included") or ())
        ]
        for insight in insights
    }
    used_insights = {insight: aids for insight, aids in aids_by_insight.items() if aids}
    used = {aid for aids in used_insights.values() for aid in aids}
    if not used_insights:
        return Skipped(line=0, why="a subtopic whose insights are in no document")
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
                        for insight, aids in used_insights.items()
                    ],
                    "group_labels": [insights[insight] for insight in used_insights],
                }
            ],
        },
    )
