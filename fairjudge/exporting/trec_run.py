"""Runs of TREC's report tasks: a report a summary, which `fairjudge.importing.trec_run` reads back.

The sentences are those of ``citations`` where they make up the text, else those of the text, each
with what is cited of it.
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
    """Return one report a line."""
    return map(json_line, map(report_of, summaries)), ExportResult(n_rows=len(summaries))


def report_of(summary: Summary) -> dict[str, Any]:
    """Convert a summary to a report; the default team is FairJudge."""
    extra = summary.model_extra or {}
    peer = dict(extra.get(PEER, {}))
    name = peer.pop("sentences", "responses")
    listed = peer.get("references") if name == "answer" else None
    split = _sentences(summary)
    about = {
        "team_id": "fairjudge",
        **peer.pop("metadata", {}),
        "run_id": summary.system,
        peer.pop("topic", "topic_id"): summary.eid,
    }
    sentences = [_cited(sentence, listed) for sentence in split]
    report = {"metadata": about, name: sentences, **peer}
    if PEER not in extra:
        report["references"] = list(dict.fromkeys(aid for s in split for aid in s["articles"]))
    return report


def _sentences(summary: Summary) -> list[dict[str, Any]]:
    cited = summary.citations or ()
    if cited and " ".join(statement.text for statement in cited) == summary.text:
        return [statement.to_json() for statement in cited]
    spans = [(find_quote(statement.text, summary.text), statement.articles) for statement in cited]
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


def _cited(sentence: Mapping[str, Any], listed: Sequence[str] | None) -> dict[str, Any]:
    """Return a sentence as a run has it: places among the documents `listed` where these count."""
    fields = dict(sentence)
    articles, confidences = fields.pop("articles"), fields.pop("confidences", None)
    citations: Any = articles
    if confidences is not None:
        citations = dict(zip(articles, confidences, strict=True))
    elif listed is not None and {*articles} <= {*listed}:
        citations = [listed.index(aid) for aid in articles]
    return {"text": fields.pop("text"), "citations": citations, **fields}
