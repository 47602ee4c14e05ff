"""NuggetBank v3: one bank per reference, which `fairjudge.importing.nuggetbank` reads back.

A group of answers is one answer of the bank: its label, or else its first wording. The articles
that contain it are its references, with their wordings. ``aggregator_type`` is AND, since coverage
requires every group, including rivals. Values without a field in a bank (stances, weights, kinds,
rivals, titles and outlets of articles) are under ``metadata.fairjudge``; articles' texts are
omitted.
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
"""Per-group list of a question to the field of an answer in the bank."""
_EMPTY_ANSWER = "-"


def write(references: Sequence[Reference]) -> tuple[Iterator[bytes], ExportResult]:
    """Return one bank per line."""
    return map(json_line, map(to_bank, references)), ExportResult(n_rows=len(references))


def to_bank(reference: Reference) -> dict[str, Any]:
    """Convert a reference to a bank."""
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
            key = ids.unique_id(question.question, number)
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
    answers = _answers(question, row, peer_answers, question_importance=peer.get("importance"))
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
    """Return the groups of a question as claims."""
    claims = _answers(question, row, row[PEER]["claims"], question_importance=None)
    return {
        key: {"claim": claim.pop("answer"), "claim_id": question_id(key), "query_id": eid, **claim}
        for key, claim in claims.items()
    }


def _answers(
    question: QuestionAnswers,
    row: Json,
    rows: Sequence[Json] | None,
    *,
    question_importance: object,
) -> dict[str, Any]:
    """Return the groups as answers; `question_importance` is the default of their importance."""
    ids = Ids()
    answers = {}
    for index, group in enumerate(question.groups()):
        values = {
            bank_field: row[name][index]
            for name, bank_field in _LISTS.items()
            if row.get(name) is not None
        }
        wordings = row["answer_groups"][index]
        text = group.label or next((wording["answer"] for wording in wordings), "") or _EMPTY_ANSWER
        answer = {**_answer(wordings, text), **dict(*(rows or ())[index : index + 1])}
        fairjudge_fields = _implicit_fields(values, text, wordings, answer, question_importance)
        if values.get("importance") not in (None, question_importance):
            answer["importance"] = values["importance"]
        answers[ids.unique_id(text, index)] = _with_ours(answer, fairjudge_fields or None)
    return answers


def _answer(wordings: Sequence[Json], text: str) -> dict[str, Any]:
    """Return an answer with the documents that contain it."""
    references = [
        _reference(wording, text) for wording in wordings if wording["aid"] != NO_DOCUMENT["aid"]
    ]
    return {"answer": text, **({"references": references} if references else {})}


def _reference(wording: Json, text: str) -> dict[str, Any]:
    own_fields = {
        name: value for name, value in wording.items() if name not in ("aid", "answer", PEER)
    }
    text_field = {} if wording["answer"] == text else {"text": wording["answer"]}
    reference = {"doc_id": wording["aid"], **text_field, **wording.get(PEER, {})}
    return _with_ours(reference, own_fields or None)


def _implicit_fields(
    group: Json, text: str, wordings: Sequence[Json], answer: Json, question_importance: object
) -> dict[str, Any]:
    """Return the fields of a group that an importer cannot infer from the answer."""
    label = text if any(wording["answer"] != text for wording in wordings) else None
    inferred_fields = {"label": label, "weight": answer.get("importance", question_importance)}
    own_fields = {
        name: value
        for name, value in group.items()
        if name != "importance" and (name not in inferred_fields or value != inferred_fields[name])
    }
    if "label" not in group and label is not None:
        own_fields["unlabelled"] = True
    if "importance" in group and group["importance"] is None and question_importance is None:
        own_fields["importance"] = None
    return own_fields if wordings else {**own_fields, "empty": True}


def _with_ours(row: Mapping[str, Any], fields: Json | None) -> dict[str, Any]:
    """Add FairJudge's fields to the metadata of `row`."""
    if fields is None:
        return dict(row)
    return {**row, "metadata": {**row.get("metadata", {}), OURS: fields}}
