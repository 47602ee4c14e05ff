"""NuggetBank v3 (AutoARGUE, RAGTIME, AutoJudge): questions, answers, and documents that give each.

A nugget is a question, each of its answers a group, a document an article; the claims of a bank are
groups of one question, which is its title. What has no place in a reference is kept under
``nuggetbank``, and what a bank has no place for under ``metadata.fairjudge`` (see
`fairjudge.exporting.nuggetbank`), so that neither loses anything on the way to the other and back.

Source: PyPI ``autojudge-base`` 1.0.0, ``nugget_data/nugget_data.py`` and, for lists in the place of
objects and ``metadata.topic_id``, ``nugget_data/ragtime26``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from fairjudge.domain import Reference
from fairjudge.errors import InputError
from fairjudge.importing.records import Entry, make
from fairjudge.importing.sources import Source, given, items, mapping, text, text_or_none

Json: TypeAlias = Mapping[str, Any]
PEER, OURS = "nuggetbank", "fairjudge"
"""Where a reference keeps what is the bank's alone, and where a bank's metadata keep ours."""
VERSION = "v3"
NO_DOCUMENT: Json = {"aid": "no-document", "title": "no document named", "content": ""}
"""The article under which answers stand that name no document."""


def recognises(source: Source) -> bool:
    """Say whether the first row has a bank of questions or of claims."""
    return not {"nugget_bank", "claim_bank"}.isdisjoint(source.first)


def read(source: Source) -> Iterator[Entry]:
    """Yield a reference for each bank."""
    seen: set[str] = set()
    for line, row in source.records():
        with source.at(line):
            found = _reference(row)
            if found.eid in seen:
                raise InputError(f"a second bank of topic {found.eid!r}", field="query_id")
            seen.add(found.eid)
            yield found


def question_id(question: str) -> str:
    """Return the id that NuggetBank gives to a question, or a claim, without one."""
    return hashlib.md5(question.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def articles_of(questions: Iterable[Json]) -> list[Json]:
    """Return an article without text for each that `questions` name, in order."""
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
    kept, ours = _parted(row)
    metadata = mapping(row, "metadata")
    eid = given(row, "query_id") or given(metadata, "topic_id", "query_id")
    eid = eid or question_id(text(row, "title_query"))
    questions = [_question(nugget, eid) for nugget in _listed(row, "nugget_bank", "question")]
    if claims := list(_listed(row, "claim_bank", "claim")):
        questions.append(_question_of_claims(claims, text_or_none(row, "title_query") or eid, eid))
    kept = _without(kept, "nugget_bank", "claim_bank", "query_id")
    if ours is not None:
        kept = _unusual(kept, {"format_version": VERSION, "title_query": eid})
    fields = {"eid": eid, **(ours or {}), "question_answers": questions}
    fields["articles"] = _articles(ours or {}, questions)
    return make(Reference, {**fields, **({PEER: kept} if kept or ours is None else {})})


def _articles(ours: Json, questions: Iterable[Json]) -> list[Json]:
    """Return the articles that our part of a bank lists, and what else its answers name."""
    known = list(items(ours, "articles"))
    aids = {one.get("aid") for one in known}
    return [*known, *(one for one in articles_of(questions) if one["aid"] not in aids)]


def _question(nugget: Json, eid: str) -> dict[str, Any]:
    kept, ours = _parted(nugget)
    words = text(nugget, "question")
    answers = list(_listed(nugget, "answers", "answer"))
    kept = _unusual(kept, {"question_id": question_id(words), "query_id": eid})
    aggregator = kept.pop("aggregator_type", None) if ours is None else None
    kept.pop("aggregator_type", None)
    fields = _groups(answers, importance=nugget.get("importance"))
    peer = _kept_of(kept, ("question", "answers"), fields.pop("kept"))
    return {
        "question": words,
        **fields,
        **({} if aggregator is None else {"aggregator_type": aggregator}),
        **(ours or {}),
        **({PEER: peer} if peer else {}),
    }


def _question_of_claims(claims: Sequence[Json], title: str, eid: str) -> dict[str, Any]:
    rows = [{**claim, "answer": text(claim, "claim")} for claim in claims]
    fields = _groups(rows, importance=None)
    kept = [
        _unusual(_without(one, "claim"), {"claim_id": question_id(row["answer"]), "query_id": eid})
        for one, row in zip(fields.pop("kept"), rows, strict=True)
    ]
    return {"question": title, **fields, PEER: {"claims": kept}}


def _groups(answers: Sequence[Json], *, importance: object) -> dict[str, Any]:
    """Return the lists of a question with one entry a group; ``kept`` is what is left of each."""
    parted = [_parted(answer) for answer in answers]
    ours = [found or {} for _, found in parted]
    groups = [_wordings(answer) for answer in answers]
    own = [importance if one.get("importance") is None else one["importance"] for one in answers]
    fields: dict[str, Any] = {"answer_groups": groups}
    labels = [
        one["label"] if "label" in one else "" if "unlabelled" in one else _label(answer, group)
        for one, answer, group in zip(ours, answers, groups, strict=True)
    ]
    if any(labels) or any("label" in one for one in ours):
        fields["group_labels"] = labels
    if any("sources" in one for one in ours):
        fields["group_sources"] = [one.get("sources", {}) for one in ours]
    weights = [one.get("weight", _number(said)) for one, said in zip(ours, own, strict=True)]
    if weights and None not in weights:
        fields["group_weights"] = weights
    words = [said if said in ("vital", "okay") else None for said in own]
    if any(words) or any("importance" in one for one in ours):
        fields["group_importance"] = words
    return {**fields, "kept": [_rest(kept) for kept, _ in parted]}


def _wordings(answer: Json) -> Sequence[Json]:
    """Return an answer of ours for each document; its words, or the answer's where it has none."""
    words = text(answer, "answer")
    found = []
    for reference in _listed(answer, "references", "doc_id"):
        kept, ours = _parted(reference)
        said = text_or_none(reference, "text")
        rest = _without(kept, "doc_id", "text")
        found.append(
            {
                "aid": text(reference, "doc_id"),
                "answer": words if said is None else said,
                **(ours or {}),
                **({PEER: rest} if rest else {}),
            }
        )
    nobody = [{"aid": NO_DOCUMENT["aid"], "answer": words}]
    return found or ([] if "empty" in (_parted(answer)[1] or {}) else nobody)


def _label(answer: Json, group: Sequence[Json]) -> str:
    """Return the label of a group whose wordings are other words than the answer's own."""
    return "" if all(one["answer"] == answer["answer"] for one in group) else answer["answer"]


def _listed(row: Json, name: str, key: str) -> Iterator[Json]:
    """Yield the objects under `name`, of a list or by their `key`; a text alone is its `key`."""
    found = row.get(name)
    if isinstance(found, Mapping):
        items = [
            {key: word, **one} if isinstance(one, Mapping) else one for word, one in found.items()
        ]
    elif found is None or isinstance(found, list):
        items = [{key: one} if isinstance(one, str) else one for one in found or ()]
    else:
        raise InputError("expected a list or an object", field=name)
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise InputError("expected an object", field=f"{name}[{index}]")
        yield item


def _parted(row: Json) -> tuple[dict[str, Any], Json | None]:
    """Return what `row` says without what is ours, and what is ours, None where nothing is."""
    kept = {name: value for name, value in row.items() if value is not None}
    metadata = dict(mapping(row, "metadata"))
    if OURS not in metadata:
        return kept, None
    ours = mapping(metadata, OURS)
    del metadata[OURS]
    return {**kept, "metadata": metadata} if metadata else _without(kept, "metadata"), ours


def _kept_of(kept: Json, known: Sequence[str], answers: Sequence[Json]) -> dict[str, Any]:
    rest = _without(kept, *known)
    return {**rest, "answers": [*answers]} if any(answers) else rest


def _rest(kept: Json) -> dict[str, Any]:
    """Return what of an answer has no other place: its importance has one if it is a word."""
    rest = _without(kept, "answer", "references")
    return _without(rest, "importance") if rest.get("importance") in ("vital", "okay") else rest


def _without(row: Json, *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _unusual(row: Json, usual: Json) -> dict[str, Any]:
    """Return `row` without the fields that have the value that is put in where they are missing."""
    return {name: value for name, value in row.items() if usual.get(name) != value}


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return value
    return None
