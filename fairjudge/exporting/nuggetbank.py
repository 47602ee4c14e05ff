"""NuggetBank v3: a bank for each reference, which `fairjudge.importing.nuggetbank` reads back.

A group is an answer, named by its label or else by its first wording; the articles that give it are
references, with their wordings. ``aggregator_type`` is AND: coverage wants every group, also of
rivals. What a bank has no field for (stances, weights, kinds, rivals, the articles' titles and
outlets) stands under ``metadata.fairjudge``; the articles' texts do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairjudge.datasets.writers import json_line
from fairjudge.domain import QuestionAnswers, Reference
from fairjudge.exporting.targets import ExportResult
from fairjudge.importing.nuggetbank import (
    NO_DOCUMENT,
    OURS,
    PEER,
    VERSION,
    articles_of,
    question_id,
)
from fairjudge.importing.sources import Ids, Json

_LISTS = {
    "group_labels": "label",
    "group_sources": "sources",
    "group_weights": "weight",
    "group_importance": "importance",
}
"""List of a question to what it is called beside an answer."""
_NO_WORDS = "-"


def write(references: Sequence[Reference]) -> tuple[Iterator[bytes], ExportResult]:
    """Return one bank a line."""
    return map(json_line, map(bank_of, references)), ExportResult(n_rows=len(references))


def bank_of(reference: Reference) -> dict[str, Any]:
    """Return the bank of a reference."""
    row = reference.to_json()
    eid, questions, peer = row.pop("eid"), row.pop("question_answers"), row.pop(PEER, None)
    bank = {"query_id": eid, "title_query": eid, "format_version": VERSION, **(peer or {})}
    row["articles"] = [{**article, "content": ""} for article in row["articles"]]
    if peer is not None and row["articles"] == articles_of(questions):
        del row["articles"]
    ids, nuggets = Ids(), {}
    for number, (question, question_peer) in enumerate(
        zip(reference.question_answers, questions, strict=True)
    ):
        if "claims" in question_peer.get(PEER, {}):
            bank["claim_bank"] = _claims(question, question_peer, eid)
        else:
            key = ids.of(question.question, number)
            nuggets[key] = _nugget(question, question_peer, eid, from_bank=peer is not None)
    if nuggets or "claim_bank" not in bank:
        bank["nugget_bank"] = nuggets
    return _with_ours(bank, row or None)


def _nugget(question: QuestionAnswers, row: Json, eid: str, *, from_bank: bool) -> dict[str, Any]:
    peer = dict(row.get(PEER, {}))
    peer_answers = peer.pop("answers", None)
    own_fields = {
        name: value
        for name, value in row.items()
        if name not in ("question", "answer_groups", PEER, *_LISTS)
    }
    if from_bank:
        aggregator = own_fields.pop("aggregator_type", None)
    else:
        aggregator = own_fields.get("aggregator_type", "AND")
    answers = _answers(question, row, peer_answers, inherited=peer.get("importance"))
    nugget = {
        "question": question.question,
        "question_id": question_id(question.question),
        "query_id": eid,
        **({} if aggregator is None else {"aggregator_type": aggregator}),
        **peer,
        "answers": answers,
    }
    return _with_ours(nugget, (own_fields or None) if from_bank else own_fields)


def _claims(question: QuestionAnswers, row: Json, eid: str) -> dict[str, Any]:
    """Return the claims that the groups of a question are."""
    claims = _answers(question, row, row[PEER]["claims"], inherited=None)
    return {
        key: {"claim": claim.pop("answer"), "claim_id": question_id(key), "query_id": eid, **claim}
        for key, claim in claims.items()
    }


def _answers(
    question: QuestionAnswers, row: Json, rows: Sequence[Json] | None, *, inherited: object
) -> dict[str, Any]:
    """Return the answers that the groups are; `inherited` is the question's own importance."""
    ids = Ids()
    answers = {}
    for place, group in enumerate(question.groups()):
        values = {
            short: row[name][place] for name, short in _LISTS.items() if row.get(name) is not None
        }
        wordings = row["answer_groups"][place]
        words = group.label or next((wording["answer"] for wording in wordings), "") or _NO_WORDS
        answer = {**_named(wordings, words), **dict(*(rows or ())[place : place + 1])}
        ours = _unsaid(values, words, wordings, answer, inherited)
        if values.get("importance") not in (None, inherited):
            answer["importance"] = values["importance"]
        answers[ids.of(words, place)] = _with_ours(answer, ours or None)
    return answers


def _named(wordings: Sequence[Json], words: str) -> dict[str, Any]:
    """Return an answer with the documents that give it."""
    references = [
        _reference(wording, words) for wording in wordings if wording["aid"] != NO_DOCUMENT["aid"]
    ]
    return {"answer": words, **({"references": references} if references else {})}


def _reference(wording: Json, words: str) -> dict[str, Any]:
    own_fields = {
        name: value for name, value in wording.items() if name not in ("aid", "answer", PEER)
    }
    text = {} if wording["answer"] == words else {"text": wording["answer"]}
    reference = {"doc_id": wording["aid"], **text, **wording.get(PEER, {})}
    return _with_ours(reference, own_fields or None)


def _unsaid(
    group: Json, words: str, wordings: Sequence[Json], answer: Json, inherited: object
) -> dict[str, Any]:
    """Return what of a group an importer would not conclude from the answer."""
    label = words if any(wording["answer"] != words for wording in wordings) else None
    concluded = {"label": label, "weight": answer.get("importance", inherited)}
    own_fields = {
        name: value
        for name, value in group.items()
        if name != "importance" and (name not in concluded or value != concluded[name])
    }
    if "label" not in group and label is not None:
        own_fields["unlabelled"] = True
    if "importance" in group and group["importance"] is None and inherited is None:
        own_fields["importance"] = None
    return own_fields if wordings else {**own_fields, "empty": True}


def _with_ours(row: Mapping[str, Any], fields: Json | None) -> dict[str, Any]:
    """Add FairJudge's fields to the metadata of `row`."""
    if fields is None:
        return dict(row)
    return {**row, "metadata": {**row.get("metadata", {}), OURS: fields}}
