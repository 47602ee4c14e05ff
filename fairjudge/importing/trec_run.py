"""Runs of TREC's tasks of reports (RAG, RAGTIME, DRAGUN, RAG4Reports): a report a topic.

A report is a summary of its topic, its sentences joined by spaces; each sentence stands among the
``citations``, with the documents that it cites. Documents that a run brings along are clusters.

Source: PyPI ``autojudge-base`` 1.0.0, ``report.py`` and ``report_sentences.py``; of RAG 24 and 25
the ``answer``, whose citations are places in ``references``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from fairjudge.domain import Cluster, Summary
from fairjudge.errors import InputError
from fairjudge.importing.records import Entry, make
from fairjudge.importing.sources import Source, given, items, mapping, present, text

Json: TypeAlias = Mapping[str, Any]
PEER = "trec_run"
"""Where a summary keeps what is the run's alone."""
_IDS = ("topic_id", "narrative_id", "request_id")


def recognises(source: Source) -> bool:
    """Say whether the first row is a report of sentences, by a run."""
    first = source.first
    about = first["metadata"] if isinstance(first.get("metadata"), dict) else first
    said = first.get("responses", first.get("answer"))
    return isinstance(said, list) and "run_id" in about and not {*_IDS}.isdisjoint(about)


def read(source: Source) -> Iterator[Entry]:
    """Yield a summary for each report, and a cluster for each topic with documents."""
    seen: set[tuple[str, str]] = set()
    documents: dict[str, dict[str, Json]] = {}
    for line, row in source.records():
        with source.at(line):
            found = _summary(row)
            if (found.eid, found.system) in seen:
                raise InputError(f"a second report on {found.eid!r} by {found.system!r}")
            seen.add((found.eid, found.system))
            of_topic = documents.setdefault(found.eid, {})
            for article in _documents(row):
                of_topic.setdefault(article["aid"], article)
            yield found
    for eid, articles in documents.items():
        if articles:
            yield make(Cluster, {"eid": eid, "articles": list(articles.values())})


def _summary(row: Json) -> Summary:
    about = mapping(row, "metadata") or row
    name = "responses" if row.get("responses") is not None else "answer"
    sentences = [
        {"text": text(one, "text"), **_cited(one, row), **_rest(one, "text", "citations")}
        for one in items(row, name)
    ]
    if not sentences:
        raise InputError("missing", field=name)
    eid = given(about, *_IDS)
    if eid is None:
        raise InputError("missing", field=_IDS[0])
    peer = {
        "metadata": _rest(about, "run_id", *_IDS) if about is not row else {},
        **present(row, "references", "ranking"),
        **(_rest(row, name, *_IDS, "run_id", "references") if about is row else {}),
        **({"sentences": name} if name == "answer" else {}),
        "topic": next(one for one in _IDS if about.get(one) is not None),
    }
    usual = {"metadata": {}, "topic": _IDS[0]}
    kept = {key: said for key, said in peer.items() if usual.get(key) != said}
    return make(
        Summary,
        {
            "eid": eid,
            "system": text(about, "run_id"),
            "text": " ".join(one["text"] for one in sentences),
            "citations": sentences,
            **({PEER: kept} if kept else {}),
        },
    )


def _cited(sentence: Json, row: Json) -> dict[str, Any]:
    """Return the documents that a sentence cites, the first first, and how sure of each it is."""
    said = sentence.get("citations")
    if isinstance(said, Mapping):
        if not all(isinstance(one, int | float) for one in said.values()):
            raise InputError("expected a number for each document", field="citations")
        ranked = sorted(said, key=lambda one: -said[one])
        return {"articles": ranked, "confidences": [said[one] for one in ranked]}
    if said is None or not isinstance(said, list):
        if said is not None:
            raise InputError("expected a list or an object", field="citations")
        return {"articles": []}
    return {"articles": [_document(one, row) for one in said]}


def _document(cited: object, row: Json) -> str:
    if isinstance(cited, str) and cited:
        return cited
    listed = row.get("references")
    known = listed if isinstance(listed, list) else []
    if isinstance(cited, int) and not isinstance(cited, bool) and 0 <= cited < len(known):
        return str(known[cited])
    raise InputError(f"no document {cited!r} among the references", field="citations")


def _documents(row: Json) -> Iterator[dict[str, Any]]:
    for aid, document in mapping(row, "documents").items():
        if not isinstance(document, Mapping):
            raise InputError("expected an object", field=f"documents.{aid}")
        yield {
            "aid": aid,
            "content": document.get("text") or "",
            **{name: said for name in ("title", "url") if (said := given(document, name))},
        }


def _rest(row: Json, *names: str) -> dict[str, Any]:
    known = {*names, "documents", "metadata"}
    return {name: said for name, said in row.items() if name not in known and said is not None}
