"""Runs of TREC's report tasks, one report per summary; `fairjudge.importing.trec_run` reads them.

The sentences are those of ``citations`` if these make up the text, else the sentences of the text,
each with the articles that it cites.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairjudge.datasets.writers import json_line
from fairjudge.domain import Summary
from fairjudge.exporting.targets import ExportResult
from fairjudge.importing.trec_run import PEER
from fairjudge.text.quoting import find_quote
from fairjudge.text.statements import split_statements


def write(summaries: Sequence[Summary]) -> tuple[Iterator[bytes], ExportResult]:
    """Return one report per line."""
    return map(json_line, map(to_report, summaries)), ExportResult(n_rows=len(summaries))


def to_report(summary: Summary) -> dict[str, Any]:
    """Convert a summary to a report; the default team is FairJudge."""
    extra = summary.model_extra or {}
    peer = dict(extra.get(PEER, {}))
    sentences_key = peer.pop("sentences", "responses")
    references = peer.get("references") if sentences_key == "answer" else None
    sentences = _sentences(summary)
    metadata = {
        "team_id": "fairjudge",
        **peer.pop("metadata", {}),
        "run_id": summary.system,
        peer.pop("topic", "topic_id"): summary.eid,
    }
    cited_sentences = [_with_citations(sentence, references) for sentence in sentences]
    report = {"metadata": metadata, sentences_key: cited_sentences, **peer}
    if PEER not in extra:
        report["references"] = list(
            dict.fromkeys(aid for sentence in sentences for aid in sentence["articles"])
        )
    return report


def _sentences(summary: Summary) -> list[dict[str, Any]]:
    statements = summary.citations or ()
    if statements and " ".join(statement.text for statement in statements) == summary.text:
        return [statement.to_json() for statement in statements]
    spans = [
        (find_quote(statement.text, summary.text), statement.articles) for statement in statements
    ]
    sentences = []
    for sentence in split_statements(summary.text):
        articles = dict.fromkeys(
            aid
            for span, articles in spans
            if span is not None and sentence.start < span.end and span.start < sentence.end
            for aid in articles
        )
        sentences.append({"text": sentence.text.strip(), "articles": list(articles)})
    return sentences


def _with_citations(
    sentence: Mapping[str, Any], references: Sequence[str] | None
) -> dict[str, Any]:
    """Return a sentence of a run; citations are indices into `references` if these contain them."""
    fields = dict(sentence)
    articles, confidences = fields.pop("articles"), fields.pop("confidences", None)
    citations: Any = articles
    if confidences is not None:
        citations = dict(zip(articles, confidences, strict=True))
    elif references is not None and {*articles} <= {*references}:
        citations = [references.index(aid) for aid in articles]
    return {"text": fields.pop("text"), "citations": citations, **fields}
