"""NuggetBank v3 (AutoARGUE, RAGTIME, AutoJudge): questions with answers and their documents.

A nugget is a question, each of its answers a group, a document an article; the claims of a bank are
groups of one question, its title. Fields without an equivalent in a reference are kept under
``nuggetbank``, and fields without an equivalent in a bank under ``metadata.fairjudge`` (see
`fairjudge.exporting.nuggetbank`), so that a round trip in either direction loses nothing.

Source: PyPI ``autojudge-base`` 1.0.0, ``nugget_data/nugget_data.py`` and, for lists in the place of
objects and ``metadata.topic_id``, ``nugget_data/ragtime26``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fairjudge.datasets._problems import validate_record
from fairjudge.domain import Reference
from fairjudge.errors import InputError
from fairjudge.importing.records import Entry
from fairjudge.importing.sources import (
    Json,
    Source,
    first_text,
    items,
    mapping,
    text,
    text_or_none,
)

PEER, OURS = "nuggetbank", "fairjudge"
"""Keys of the bank's own fields in a reference, and of FairJudge's fields in a bank's metadata."""
VERSION = "v3"
NO_DOCUMENT: Json = {"aid": "no-document", "title": "no document named", "content": ""}
"""The article of answers without a document."""


def recognises(source: Source) -> bool:
    """Return whether the first row has a bank of questions or of claims."""
    return not {"nugget_bank", "claim_bank"}.isdisjoint(source.first)


def read(source: Source) -> Iterator[Entry]:
    """Yield a reference per bank."""
    eids: set[str] = set()
    for line, row in source.records():
        with source.locate_errors(line):
            reference = _reference(row)
            if reference.eid in eids:
                raise InputError(f"a second bank of topic {reference.eid!r}", field="query_id")
            eids.add(reference.eid)
            yield reference


def question_id(question: str) -> str:
    """Return NuggetBank's default id of a question or claim."""
    return hashlib.md5(question.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def articles_of(questions: Iterable[Json]) -> list[Json]:
    """Return an article without text for each id in `questions`, in order."""
    aids = dict.fromkeys(
        answer["aid"]
        for question in questions
        for group in question["answer_groups"]
        for answer in group
    )
    return [
        NO_DOCUMENT if aid == NO_DOCUMENT["aid"] else {"aid": aid, "content": ""} for aid in aids
    ]


def _reference(row: Json) -> Reference:
    if row.get("nugget_bank") is None and row.get("claim_bank") is None:
        raise InputError("expected a bank of questions or of claims", field="nugget_bank")
    peer, our_fields = _split_fields(row)
    metadata = mapping(row, "metadata")
    eid = first_text(row, "query_id") or first_text(metadata, "topic_id", "query_id")
    eid = eid or question_id(text(row, "title_query"))
    questions = [
        _question(nugget, eid) for nugget in _listed_objects(row, "nugget_bank", "question")
    ]
    if claims := list(_listed_objects(row, "claim_bank", "claim")):
        questions.append(_question_of_claims(claims, text_or_none(row, "title_query") or eid, eid))
    peer = _drop_fields(peer, "nugget_bank", "claim_bank", "query_id")
    if our_fields is not None:
        peer = _drop_defaults(peer, {"format_version": VERSION, "title_query": eid})
    fields = {"eid": eid, **(our_fields or {}), "question_answers": questions}
    fields["articles"] = _articles(our_fields or {}, questions)
    return validate_record(
        Reference, {**fields, **({PEER: peer} if peer or our_fields is None else {})}
    )


def _articles(fields: Json, questions: Iterable[Json]) -> list[Json]:
    """Return the articles in the bank's FairJudge fields, then others that answers refer to."""
    articles = list(items(fields, "articles"))
    aids = {article.get("aid") for article in articles}
    return [
        *articles,
        *(article for article in articles_of(questions) if article["aid"] not in aids),
    ]


def _question(nugget: Json, eid: str) -> dict[str, Any]:
    peer_fields, our_fields = _split_fields(nugget)
    words = text(nugget, "question")
    answers = list(_listed_objects(nugget, "answers", "answer"))
    peer_fields = _drop_defaults(peer_fields, {"question_id": question_id(words), "query_id": eid})
    aggregator = peer_fields.pop("aggregator_type", None)
    fields = _groups(answers, importance=nugget.get("importance"))
    peer, peer_answers = _drop_fields(peer_fields, "question", "answers"), fields.pop("kept")
    peer |= {"answers": peer_answers} if any(peer_answers) else {}
    return {
        "question": words,
        **fields,
        **({} if aggregator is None or our_fields is not None else {"aggregator_type": aggregator}),
        **(our_fields or {}),
        **({PEER: peer} if peer else {}),
    }


def _question_of_claims(claims: Sequence[Json], title: str, eid: str) -> dict[str, Any]:
    rows = [{**claim, "answer": text(claim, "claim")} for claim in claims]
    fields = _groups(rows, importance=None)
    peer_claims = [
        _drop_defaults(
            _drop_fields(peer, "claim"), {"claim_id": question_id(row["answer"]), "query_id": eid}
        )
        for peer, row in zip(fields.pop("kept"), rows, strict=True)
    ]
    return {"question": title, **fields, PEER: {"claims": peer_claims}}


def _groups(answers: Sequence[Json], *, importance: object) -> dict[str, Any]:
    """Return a question's lists with one entry per group; ``kept`` has the bank's other fields."""
    split_answers = [_split_fields(answer) for answer in answers]
    ours = [our_fields or {} for _, our_fields in split_answers]
    groups = [_wordings(answer) for answer in answers]
    importances = [importance if a.get("importance") is None else a["importance"] for a in answers]
    fields: dict[str, Any] = {"answer_groups": groups}
    labels = [
        our.get("label", "" if "unlabelled" in our else _label(answer, group))
        for our, answer, group in zip(ours, answers, groups, strict=True)
    ]
    if any(labels) or any("label" in our for our in ours):
        fields["group_labels"] = labels
    if any("sources" in our for our in ours):
        fields["group_sources"] = [our.get("sources", {}) for our in ours]
    numbers = map(_number, importances)
    weights = [our.get("weight", number) for our, number in zip(ours, numbers, strict=True)]
    if weights and None not in weights:
        fields["group_weights"] = weights
    words = [value if value in ("vital", "okay") else None for value in importances]
    if any(words) or any("importance" in our for our in ours):
        fields["group_importance"] = words
    return {**fields, "kept": [_extra_fields(peer) for peer, _ in split_answers]}


def _wordings(answer: Json) -> Sequence[Json]:
    """Return an answer per document, with the document's passage or else the answer's text."""
    words = text(answer, "answer")
    wordings = []
    for reference in _listed_objects(answer, "references", "doc_id"):
        peer, our_fields = _split_fields(reference)
        passage = text_or_none(reference, "text")
        extra = _drop_fields(peer, "doc_id", "text")
        wordings.append(
            {
                "aid": text(reference, "doc_id"),
                "answer": words if passage is None else passage,
                **(our_fields or {}),
                **({PEER: extra} if extra else {}),
            }
        )
    default_wordings = [{"aid": NO_DOCUMENT["aid"], "answer": words}]
    return wordings or ([] if "empty" in (_split_fields(answer)[1] or {}) else default_wordings)


def _label(answer: Json, group: Sequence[Json]) -> str:
    """Return the answer's text as the label, or "" if all wordings equal it."""
    return (
        "" if all(wording["answer"] == answer["answer"] for wording in group) else answer["answer"]
    )


def _listed_objects(row: Json, name: str, key: str) -> Iterator[Json]:
    """Yield the objects under `name`, a list or an object by `key`; a text is the `key` alone."""
    value = row.get(name)
    if isinstance(value, Mapping):
        items = [
            {key: word, **item} if isinstance(item, Mapping) else item
            for word, item in value.items()
        ]
    elif value is None or isinstance(value, list):
        items = [{key: item} if isinstance(item, str) else item for item in value or ()]
    else:
        raise InputError("expected a list or an object", field=name)
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise InputError("expected an object", field=f"{name}[{index}]")
        yield item


def _split_fields(row: Json) -> tuple[dict[str, Any], Json | None]:
    """Return `row` without FairJudge's fields, and these fields, None if there are none."""
    peer = {name: value for name, value in row.items() if value is not None}
    metadata = dict(mapping(row, "metadata"))
    if OURS not in metadata:
        return peer, None
    our_fields = mapping(metadata, OURS)
    del metadata[OURS]
    return {**peer, "metadata": metadata} if metadata else _drop_fields(
        peer, "metadata"
    ), our_fields


def _extra_fields(peer: Json) -> dict[str, Any]:
    """Return the fields of an answer without an equivalent in a group."""
    extra = _drop_fields(peer, "answer", "references")
    return (
        _drop_fields(extra, "importance") if extra.get("importance") in ("vital", "okay") else extra
    )


def _drop_fields(row: Json, *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _drop_defaults(row: Json, defaults: Json) -> dict[str, Any]:
    """Return `row` without fields that equal their value in `defaults`."""
    return {name: value for name, value in row.items() if defaults.get(name) != value}


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return value
    return None
