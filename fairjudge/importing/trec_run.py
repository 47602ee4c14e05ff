"""Runs of TREC's report tasks (RAG, RAGTIME, DRAGUN, RAG4Reports), with a report per topic.

A report is a summary of its topic, its sentences joined by spaces; ``citations`` lists the
sentences with the documents that they cite. Documents included in a run become clusters.

Source: PyPI ``autojudge-base`` 1.0.0, ``report.py`` and ``report_sentences.py``; for RAG 24 and 25
the ``answer``, whose citations are indices in ``references``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairjudge.datasets._problems import validate_record
from fairjudge.domain import Cluster, Summary
from fairjudge.errors import InputError
from fairjudge.importing.records import Entry
from fairjudge.importing.sources import (
    Json,
    Source,
    first_text,
    items,
    mapping,
    non_null_fields,
    text,
)

PEER = "trec_run"
"""Key of the run's own fields in a summary."""
_IDS = ("topic_id", "narrative_id", "request_id")


def recognises(source: Source) -> bool:
    """Return whether the first row is a run's report with sentences."""
    first = source.first
    metadata = first["metadata"] if isinstance(first.get("metadata"), dict) else first
    sentences = first.get("responses", first.get("answer"))
    return isinstance(sentences, list) and "run_id" in metadata and not {*_IDS}.isdisjoint(metadata)


def read(source: Source) -> Iterator[Entry]:
    """Yield a summary per report, and a cluster per topic with documents."""
    reports: set[tuple[str, str]] = set()
    documents: dict[str, dict[str, Json]] = {}
    for line, row in source.records():
        with source.locate_errors(line):
            summary = _summary(row)
            if (summary.eid, summary.system) in reports:
                raise InputError(f"a second report on {summary.eid!r} by {summary.system!r}")
            reports.add((summary.eid, summary.system))
            topic_documents = documents.setdefault(summary.eid, {})
            for article in _documents(row):
                topic_documents.setdefault(article["aid"], article)
            yield summary
    for eid, articles in documents.items():
        if articles:
            yield validate_record(Cluster, {"eid": eid, "articles": list(articles.values())})


def _summary(row: Json) -> Summary:
    metadata = mapping(row, "metadata") or row
    name = "responses" if row.get("responses") is not None else "answer"
    sentences = [
        {
            "text": text(sentence, "text"),
            **_citation_fields(sentence, row),
            **_extra_fields(sentence, "text", "citations"),
        }
        for sentence in items(row, name)
    ]
    if not sentences:
        raise InputError("missing", field=name)
    eid = first_text(metadata, *_IDS)
    if eid is None:
        raise InputError("missing", field=_IDS[0])
    peer = {
        "metadata": _extra_fields(metadata, "run_id", *_IDS) if metadata is not row else {},
        **non_null_fields(row, "references", "ranking"),
        **(_extra_fields(row, name, *_IDS, "run_id", "references") if metadata is row else {}),
        **({"sentences": name} if name == "answer" else {}),
        "topic": next(id_field for id_field in _IDS if metadata.get(id_field) is not None),
    }
    defaults = {"metadata": {}, "topic": _IDS[0]}
    peer_fields = {key: value for key, value in peer.items() if defaults.get(key) != value}
    return validate_record(
        Summary,
        {
            "eid": eid,
            "system": text(metadata, "run_id"),
            "text": " ".join(sentence["text"] for sentence in sentences),
            "citations": sentences,
            **({PEER: peer_fields} if peer_fields else {}),
        },
    )


def _citation_fields(sentence: Json, row: Json) -> dict[str, Any]:
    """Return the documents that a sentence cites, and their confidences, sorted descending."""
    citations = sentence.get("citations")
    if isinstance(citations, Mapping):
        if not all(isinstance(confidence, int | float) for confidence in citations.values()):
            raise InputError("expected a number for each document", field="citations")
        aids = sorted(citations, key=lambda aid: -citations[aid])
        return {"articles": aids, "confidences": [citations[aid] for aid in aids]}
    if not isinstance(citations, list | None):
        raise InputError("expected a list or an object", field="citations")
    return {"articles": [_document(citation, row) for citation in citations or ()]}


def _document(citation: object, row: Json) -> str:
    if isinstance(citation, str) and citation:
        return citation
    field_value = row.get("references")
    references = field_value if isinstance(field_value, list) else []
    if (
        isinstance(citation, int)
        and not isinstance(citation, bool)
        and 0 <= citation < len(references)
    ):
        return str(references[citation])
    raise InputError(f"no document {citation!r} among the references", field="citations")


def _documents(row: Json) -> Iterator[dict[str, Any]]:
    for aid, document in mapping(row, "documents").items():
        if not isinstance(document, Mapping):
            raise InputError("expected an object", field=f"documents.{aid}")
        yield {
            "aid": aid,
            "content": document.get("text") or "",
            **{name: value for name in ("title", "url") if (value := first_text(document, name))},
        }


def _extra_fields(row: Json, *names: str) -> dict[str, Any]:
    excluded_names = {*names, "documents", "metadata"}
    return {
        name: value
        for name, value in row.items()
        if name not in excluded_names and value is not None
    }
