"""The records that a report's script looks through, as compact JSON.

Judgements are columns, not objects: names that repeat stand once, in ``names``, and rows point to
them. The scripts `fairjudge/reports/*.js` read this and nothing else.
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

_CODED = (
    "eid", "system", "system_b", "aspect", "protocol", "unit", "judge", "unscored", "scored_by",
    "order", "signature",
)  # fmt: skip
_PLAIN = ("value", "raw")
_KNOWN = {*_CODED, *_PLAIN, "system_a", "probabilities"}
_DIGITS = 12
"""Of a hash in an address: enough for a million judgements."""
_EVIDENCE = ("checklist", "statements", "sources")
"""Fields of what a value is made of."""
_LabelKey: TypeAlias = tuple[str, str | None, str | None, str, str]


def browse_data(
    inputs: Inputs,
    uncovered: Sequence[Mapping[str, Any]],
    *,
    disagreements: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any] | None:
    """Return what the script needs, None where no record was read.

    `uncovered` are the answers left out that ``audit covered`` lists, `disagreements` what
    ``calibrate`` lists, each with its judge.
    """
    judged = {row.eid for row in inputs.judgements}
    clusters = _clusters_to_show(inputs)
    with_texts = article_characters(inputs) <= MAX_ARTICLE_CHARACTERS
    if not inputs.judgements and not clusters and not uncovered:
        return None
    return {
        "judgements": _columns(inputs),
        "clusters": {cluster.eid: _cluster(cluster, with_texts=with_texts) for cluster in clusters},
        "summaries": _texts([s for s in inputs.summaries.values() if s.eid in judged]),
        "sentences": _sentences(inputs),
        "uncovered": list(uncovered),
        "disagreements": _with_places(disagreements, inputs.judgements),
    }


MAX_ARTICLE_CHARACTERS = 5_000_000
"""A page with more text of articles would open slowly; they are left out of it then."""


def article_characters(inputs: Inputs) -> int:
    """Return how much text the articles of the clusters that are shown have."""
    return sum(
        len(article.content)
        for cluster in _clusters_to_show(inputs)
        for article in cluster.articles
    )


def _clusters_to_show(inputs: Inputs) -> list[Cluster]:
    judged = {row.eid for row in inputs.judgements}
    return [cluster for cluster in inputs.clusters.values() if cluster.eid in judged or not judged]


def _with_places(
    disagreements: Sequence[Mapping[str, Any]], rows: Sequence[Judgement]
) -> list[dict[str, Any]]:
    """Return the disagreements that have a judgement of their own, with its place."""
    places: dict[tuple[Any, ...], int] = {}
    for place, row in enumerate(rows):
        systems = sorted(filter(None, (row.system, row.system_a, row.system_b)))
        key = (row.judge, row.aspect, row.protocol, row.eid, *systems, row.unit)
        places.setdefault(key, place)
    places_of_disagreements = []
    for disagreement in disagreements:
        systems = sorted(filter(None, (disagreement["system_a"], disagreement["system_b"])))
        group = (disagreement[name] for name in ("judge", "aspect", "protocol", "eid"))
        at = places.get((*group, *systems, disagreement["unit"]))
        if at is not None:
            names = ("judged", "people", "gap", "causes")
            places_of_disagreements.append(
                {"place": at, **{name: disagreement[name] for name in names}}
            )
    return places_of_disagreements


def _columns(inputs: Inputs) -> dict[str, Any]:
    rows, labels = inputs.judgements, _by_item(inputs.labels)
    names: dict[str, list[Any]] = {}
    columns: dict[str, list[Any]] = {}
    for column in _CODED:
        values = [_coded(row, column) for row in rows]
        names[column] = list(dict.fromkeys(values))
        places = {value: place for place, value in enumerate(names[column])}
        columns[column] = [places[value] for value in values]
    for column in _PLAIN:
        columns[column] = [getattr(row, column) for row in rows]
    columns["more"] = [_extra_fields(row) for row in rows]
    columns["labels"] = [_labels_of(row, labels) for row in rows]
    columns["address"] = list(inputs.addresses) or addresses(rows)
    return {"n": len(rows), "names": names, "columns": columns}


def addresses(rows: Sequence[Judgement]) -> list[str]:
    """Return what names each judgement by its content, wherever it stands in the files.

    Judgements that are alike in all of it are numbered. `rows` have their judges' own names: a page
    renames judges by what else it holds, so that an address made from those names would be its own.
    """
    counts: dict[str, int] = defaultdict(int)
    out = []
    for row in rows:
        systems = (row.system, row.system_a, row.system_b, row.order)
        content = (row.judge, row.signature, row.aspect, row.protocol, row.eid, *systems, row.unit)
        text = json.dumps([*content, row.repeat, row.variant], ensure_ascii=False)
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
        counts[digest] += 1
        out.append(digest if counts[digest] == 1 else f"{digest}-{counts[digest]}")
    return out


def _coded(row: Judgement, column: str) -> Any:
    if column == "system":
        return row.system if row.system is not None else row.system_a
    return getattr(row, column)


def _extra_fields(row: Judgement) -> dict[str, Any] | None:
    """Return what a judgement has beside the fields of every judgement."""
    extra = {name: value for name, value in (row.model_extra or {}).items() if name not in _KNOWN}
    repetition = {"repeat": row.repeat, "variant": row.variant}
    extra |= {name: value for name, value in repetition.items() if value is not None}
    whole = row.to_json() if any(getattr(row, name, None) for name in _EVIDENCE) else {}
    extra |= {name: whole[name] for name in _EVIDENCE if whole.get(name)}
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
    """Return the human labels of the item; of a pair, in either order of its systems."""
    first = row.system or row.system_a
    labels_of_item = list(labels.get((row.eid, first, row.system_b, row.aspect, row.unit), ()))
    if row.system_b is not None:
        turned = labels.get((row.eid, row.system_b, first, row.aspect, row.unit), ())
        labels_of_item += [[annotator, SWAPPED.get(value, value)] for annotator, value in turned]
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
    """Return each judged summary's sentences with the closest passage, but for coverage.

    A sentence is ``[text, aid, passage, likeness]``, or ``[text]`` where no passage is like it.
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
    out: dict[str, dict[str, list[list[Any]]]] = {}
    for eid, systems in systems_by_cluster.items():
        systems_with_text = [s for s in systems if (eid, s) in inputs.summaries]
        if not systems_with_text:
            continue
        cluster = inputs.clusters.get(eid)
        articles = () if cluster is None else cluster.articles
        finder = PassageFinder([article.content for article in articles])
        out[eid] = {
            system: [
                _sentence(text, finder, [article.aid for article in articles])
                for text in sentence_texts(inputs.summaries[eid, system].text)
            ]
            for system in systems_with_text
        }
    return out


def _sentence(text: str, finder: PassageFinder, aids: Sequence[str]) -> list[Any]:
    passage = finder.closest(text)
    if passage is None:
        return [text]
    return [text, aids[passage.article], passage.text, round(passage.likeness, 3)]
