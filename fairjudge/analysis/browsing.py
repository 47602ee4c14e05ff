"""Compact JSON of the records shown by a report's script.

Judgements are stored as columns; repeated values are stored once in ``names`` and referenced by
index. It is the only input of the scripts `fairjudge/reports/*.js`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

from fairjudge.analysis.report_inputs import Inputs
from fairjudge.domain import SWAPPED, Cluster, Judgement, Label, Reference, Summary
from fairjudge.text.closest import PassageFinder
from fairjudge.text.sentences import sentence_texts

_INDEXED_COLUMNS = (
    "eid", "system", "system_b", "aspect", "protocol", "unit", "judge", "unscored", "scored_by",
    "order", "signature",
)  # fmt: skip
_PLAIN_COLUMNS = ("value", "raw")
_KNOWN = {*_INDEXED_COLUMNS, *_PLAIN_COLUMNS, "system_a", "probabilities"}
_DIGITS = 12
"""Digits of a hash in an address: enough for a million judgements."""
_EVIDENCE = ("checklist", "statements", "sources")
"""Fields with the evidence for a value."""
_LabelKey: TypeAlias = tuple[str, str | None, str | None, str, str]


def browse_data(
    inputs: Inputs,
    uncovered: Sequence[Mapping[str, Any]],
    *,
    disagreements: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any] | None:
    """Return the data for the script, or None if there are no records.

    `uncovered` are the uncovered answers listed by ``audit covered``, `disagreements` the items
    listed by ``calibrate``, each with its judge.
    """
    judged_eids = {row.eid for row in inputs.judgements}
    clusters = _clusters_to_show(inputs)
    with_texts = article_characters(inputs) <= MAX_ARTICLE_CHARACTERS
    if not inputs.judgements and not clusters and not uncovered:
        return None
    return {
        "judgements": _columns(inputs),
        "clusters": {cluster.eid: _cluster(cluster, with_texts=with_texts) for cluster in clusters},
        "summaries": _texts(
            [summary for summary in inputs.summaries.values() if summary.eid in judged_eids]
        ),
        "sentences": _sentences(inputs),
        "uncovered": list(uncovered),
        "disagreements": _with_indices(disagreements, inputs.judgements),
    }


MAX_ARTICLE_CHARACTERS = 5_000_000
"""Maximum total length of the articles in a page; above it their texts are omitted."""


def article_characters(inputs: Inputs) -> int:
    """Return the total length of the articles of the displayed clusters."""
    return sum(
        len(article.content)
        for cluster in _clusters_to_show(inputs)
        for article in cluster.articles
    )


def _clusters_to_show(inputs: Inputs) -> list[Cluster]:
    judged_eids = {row.eid for row in inputs.judgements}
    return [
        cluster
        for cluster in inputs.clusters.values()
        if cluster.eid in judged_eids or not judged_eids
    ]


def _with_indices(
    disagreements: Sequence[Mapping[str, Any]], rows: Sequence[Judgement]
) -> list[dict[str, Any]]:
    """Return the disagreements that have a judgement, with its index."""
    indices: dict[tuple[Any, ...], int] = {}
    for index, row in enumerate(rows):
        systems = sorted(filter(None, (row.system, row.system_a, row.system_b)))
        key = (row.judge, row.aspect, row.protocol, row.eid, *systems, row.unit)
        indices.setdefault(key, index)
    results = []
    for disagreement in disagreements:
        systems = sorted(filter(None, (disagreement["system_a"], disagreement["system_b"])))
        group = (disagreement[name] for name in ("judge", "aspect", "protocol", "eid"))
        judgement_index = indices.get((*group, *systems, disagreement["unit"]))
        if judgement_index is not None:
            names = ("judged", "people", "gap", "causes")
            results.append(
                {"place": judgement_index, **{name: disagreement[name] for name in names}}
            )
    return results


def _columns(inputs: Inputs) -> dict[str, Any]:
    rows, labels = inputs.judgements, _by_item(inputs.labels)
    names: dict[str, list[Any]] = {}
    columns: dict[str, list[Any]] = {}
    for column in _INDEXED_COLUMNS:
        values = [_column_value(row, column) for row in rows]
        names[column] = list(dict.fromkeys(values))
        index_by_value = {value: index for index, value in enumerate(names[column])}
        columns[column] = [index_by_value[value] for value in values]
    for column in _PLAIN_COLUMNS:
        columns[column] = [getattr(row, column) for row in rows]
    columns["more"] = [_extra_fields(row) for row in rows]
    columns["labels"] = [_labels_of(row, labels) for row in rows]
    columns["address"] = list(inputs.addresses) or addresses(rows)
    return {"n": len(rows), "names": names, "columns": columns}


def addresses(rows: Sequence[Judgement]) -> list[str]:
    """Return a stable address of each judgement, a hash of its content.

    Judgements with the same content are numbered. `rows` must have the original names of the
    judges: a page renames judges depending on its other content.
    """
    counts: dict[str, int] = defaultdict(int)
    result = []
    for row in rows:
        systems = (row.system, row.system_a, row.system_b, row.order)
        content = (row.judge, row.signature, row.aspect, row.protocol, row.eid, *systems, row.unit)
        text = json.dumps([*content, row.repeat, row.variant], ensure_ascii=False)
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
        counts[digest] += 1
        result.append(digest if counts[digest] == 1 else f"{digest}-{counts[digest]}")
    return result


def _column_value(row: Judgement, column: str) -> Any:
    if column == "system":
        return row.system if row.system is not None else row.system_a
    return getattr(row, column)


def _extra_fields(row: Judgement) -> dict[str, Any] | None:
    """Return the optional fields of a judgement, or None."""
    extra = {name: value for name, value in (row.model_extra or {}).items() if name not in _KNOWN}
    repetition = {"repeat": row.repeat, "variant": row.variant}
    extra |= {name: value for name, value in repetition.items() if value is not None}
    record = row.to_json() if any(getattr(row, name, None) for name in _EVIDENCE) else {}
    extra |= {name: record[name] for name in _EVIDENCE if record.get(name)}
    if row.probabilities is not None:
        extra["probabilities"] = dict(row.probabilities)
    return extra or None


def _by_item(labels: Sequence[Label]) -> dict[_LabelKey, list[list[Any]]]:
    labels_by_item: dict[_LabelKey, list[list[Any]]] = defaultdict(list)
    for label in labels:
        key = (label.eid, label.system or label.system_a, label.system_b, label.aspect, label.unit)
        labels_by_item[key].append([label.annotator, label.value])
    return labels_by_item


def _labels_of(
    row: Judgement, labels: Mapping[_LabelKey, list[list[Any]]]
) -> list[list[Any]] | None:
    """Return the human labels of the item; for a pair, in either order of its systems."""
    first = row.system or row.system_a
    labels_of_item = list(labels.get((row.eid, first, row.system_b, row.aspect, row.unit), ()))
    if row.system_b is not None:
        swapped_labels = labels.get((row.eid, row.system_b, first, row.aspect, row.unit), ())
        labels_of_item += [
            [annotator, SWAPPED.get(value, value)] for annotator, value in swapped_labels
        ]
    return labels_of_item or None


def _cluster(cluster: Cluster, *, with_texts: bool) -> dict[str, Any]:
    questions = cluster.question_answers if isinstance(cluster, Reference) else ()
    return {
        "articles": {
            article.aid: [
                article.domain or article.title or f"article {article.aid}",
                article.title,
                article.content if with_texts else "",
            ]
            for article in cluster.articles
        },
        "questions": [
            [
                question.question,
                [
                    [[answer.aid, answer.answer] for answer in group]
                    for group in question.answer_groups
                ],
            ]
            for question in questions
        ],
    }


def _texts(summaries: Sequence[Summary]) -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for summary in summaries:
        texts[summary.eid][summary.system] = summary.text
    return texts


def _sentences(inputs: Inputs) -> dict[str, dict[str, list[list[Any]]]]:
    """Return the sentences of each judged summary with the closest passage, except for coverage.

    A sentence is ``[text, aid, passage, likeness]``, or ``[text]`` without a similar passage.
    """
    systems_by_cluster: dict[str, list[str]] = defaultdict(list)
    for row in inputs.judgements:
        for system in (row.system, row.system_a, row.system_b):
            if (
                row.aspect != "coverage"
                and system is not None
                and system not in systems_by_cluster[row.eid]
            ):
                systems_by_cluster[row.eid].append(system)
    sentences: dict[str, dict[str, list[list[Any]]]] = {}
    for eid, systems in systems_by_cluster.items():
        systems_with_text = [system for system in systems if (eid, system) in inputs.summaries]
        if not systems_with_text:
            continue
        cluster = inputs.clusters.get(eid)
        articles = () if cluster is None else cluster.articles
        finder = PassageFinder([article.content for article in articles])
        sentences[eid] = {
            system: [
                _sentence(text, finder, [article.aid for article in articles])
                for text in sentence_texts(inputs.summaries[eid, system].text)
            ]
            for system in systems_with_text
        }
    return sentences


def _sentence(text: str, finder: PassageFinder, aids: Sequence[str]) -> list[Any]:
    passage = finder.closest(text)
    if passage is None:
        return [text]
    return [text, aids[passage.article], passage.text, round(passage.similarity, 3)]
