"""Findings and tables of builds, of references validated by labels, and of answers' recall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from fairjudge.domain import Undefined
from fairjudge.records.results import to_json
from fairjudge.references.validating import ValidatedReferences
from fairjudge.reports.figures import Json, first_items
from fairjudge.reports.row_tables import keyed_rows, table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize

_MAX_NAMED = 8


def validated_json(result: ValidatedReferences) -> dict[str, Any]:
    """Return the counts of a validation as JSON; the references are in their own file."""
    alpha = result.alpha
    reason = alpha.why if isinstance(alpha, Undefined) else None
    return {
        "clusters": to_json(result.clusters),
        "alpha": alpha if reason is None else None,
        "why_no_alpha": reason,
        "n_labels": result.n_labels,
        "n_unmatched": result.n_unmatched,
    }


def validated_findings(report: Json) -> Iterator[str]:
    """Yield the numbers of remaining questions and answers, and the clusters without a question."""
    clusters = report["clusters"]
    totals = _totals(clusters)
    n_split = totals["n_split"]
    split_clause = f", {n_split} as annotators were evenly split" if n_split else ""
    yield (
        f"{totals['n_questions']} of {pluralize(totals['n_questions_before'], 'question')} kept; "
        f"{totals['n_invalid']} of {pluralize(totals['n_groups_before'], 'group')} of answers "
        f"removed as invalid{split_clause}."
    )
    if empty_clusters := _without_question(clusters):
        names = ", ".join(empty_clusters[:_MAX_NAMED])
        yield f"Without a question: {pluralize(len(empty_clusters), 'cluster')} ({names})."
    if report["n_unmatched"]:
        yield f"{pluralize(report['n_unmatched'], 'labelled answer')} are not in the references."


def _without_question(clusters: Sequence[Json]) -> list[str]:
    return [str(cluster["eid"]) for cluster in clusters if not cluster["n_questions"]]


def validated_tables(report: Json) -> Iterator[TextTable]:
    """Yield the counts per cluster, and the reasons for removed questions."""
    alpha, clusters = report["alpha"], report["clusters"]
    rows = [*clusters, {"eid": "all", **_totals(clusters)}] if len(clusters) > 1 else clusters
    empty_clusters = _without_question(clusters)
    yield table(
        "References before and after validation by human labels",
        "cluster: {eid} | questions before> {n_questions_before} | after> {n_questions}"
        " | groups before> {n_groups_before} | after> {n_groups} | invalid> {n_invalid}"
        " | split> {n_split} | unlabelled> {n_unlabelled}",
        rows,
        notes=[
            f"Krippendorff's alpha of the labels: {alpha:.2f}."
            if alpha is not None
            else f"Krippendorff's alpha of the labels: none; {report['why_no_alpha']}.",
            f"Clusters without a question: {len(empty_clusters)}." if empty_clusters else "",
            f"Answers with a label that are not in the references: {report['n_unmatched']}."
            if report["n_unmatched"]
            else "",
        ],
    )
    removed_questions = [
        {"eid": cluster["eid"], **question}
        for cluster in clusters
        for question in cluster["dropped"]
    ]
    if removed_questions:
        spec = "cluster: {eid} | question: {question} | why: {why}"
        yield table("Questions removed", spec, removed_questions)


def _totals(clusters: Sequence[Json]) -> Counter[str]:
    totals = Counter[str]()
    for cluster in clusters:
        totals.update({name: n for name, n in cluster.items() if name.startswith("n_")})
    return totals


def recall_tables(report: Json) -> Iterator[TextTable]:
    """Yield recall and precision of answers."""
    without = report["n_questions_without"]
    yield table(
        "Answers against human answers, per article",
        ": {what} | share> {row:interval} | answers> {n}",
        keyed_rows({name: report[name] for name in ("recall", "precision")}, "what"),
        n=lambda row: row.get("n", "-"),
        notes=[
            f"{pluralize(report['n_questions'], 'human question')}"
            + (f", of which {without} were not asked: their answers count as missed." if without
               else ".")
        ],
    )  # fmt: skip


def built_findings(report: Json) -> Iterator[str]:
    """Yield the number of questions built, and the clusters and steps without a result."""
    clusters = report["clusters"]
    n_questions = sum(len(cluster["questions"]) for cluster in clusters)
    empty = [cluster["eid"] for cluster in clusters if not cluster["questions"]]
    yield f"{pluralize(n_questions, 'question')} on {pluralize(len(clusters), 'cluster')}."
    if empty:
        yield f"Without a question: {first_items(empty)}; coverage needs one."
    n_problems = sum(len(cluster["problems"]) for cluster in clusters)
    if n_problems:
        steps = pluralize(n_problems, "step")
        yield f"{steps} without a result; rerun the command to repeat these."
