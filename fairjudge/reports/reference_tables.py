"""What a build made, what people's labels did to references, and answers beside people's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from fairjudge.domain import Undefined
from fairjudge.records.results import to_json
from fairjudge.references.validating import ValidatedReferences
from fairjudge.reports.figures import Json, first_items
from fairjudge.reports.row_tables import rows_of, table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize

_MAX_NAMED = 8


def validated_json(result: ValidatedReferences) -> dict[str, Any]:
    """Return the counts; the references are written to their own file."""
    alpha = result.alpha
    why = alpha.why if isinstance(alpha, Undefined) else None
    return {
        "clusters": to_json(result.clusters),
        "alpha": alpha if why is None else None,
        "why_no_alpha": why,
        "n_labels": result.n_labels,
        "n_unmatched": result.n_unmatched,
    }


def validated_findings(report: Json) -> Iterator[str]:
    """Say how many questions are left, and which clusters have none."""
    clusters = report["clusters"]
    n = _totals(clusters)
    split = n["n_split"]
    evenly = f", {split} as annotators were evenly split" if split else ""
    yield (
        f"{n['n_questions']} of {pluralize(n['n_questions_before'], 'question')} kept; "
        f"{n['n_invalid']} of {pluralize(n['n_groups_before'], 'group')} of answers removed as "
        f"invalid{evenly}."
    )
    if empty := _without_question(clusters):
        names = ", ".join(empty[:_MAX_NAMED])
        yield f"Without a question: {pluralize(len(empty), 'cluster')} ({names})."
    if report["n_unmatched"]:
        yield f"{pluralize(report['n_unmatched'], 'labelled answer')} are not in the references."


def _without_question(clusters: Sequence[Json]) -> list[str]:
    return [str(cluster["eid"]) for cluster in clusters if not cluster["n_questions"]]


def validated_tables(report: Json) -> Iterator[TextTable]:
    """Yield the counts of each cluster, and why questions went."""
    alpha, clusters = report["alpha"], report["clusters"]
    rows = [*clusters, {"eid": "all", **_totals(clusters)}] if len(clusters) > 1 else clusters
    empty = _without_question(clusters)
    yield table(
        "References before and after people's labels",
        "cluster: {eid} | questions before> {n_questions_before} | after> {n_questions}"
        " | groups before> {n_groups_before} | after> {n_groups} | invalid> {n_invalid}"
        " | split> {n_split} | unlabelled> {n_unlabelled}",
        rows,
        notes=[
            f"Krippendorff's alpha of the labels: {alpha:.2f}."
            if alpha is not None
            else f"Krippendorff's alpha of the labels: none; {report['why_no_alpha']}.",
            f"Clusters without a question: {len(empty)}." if empty else "",
            f"Answers with a label that are not in the references: {report['n_unmatched']}."
            if report["n_unmatched"]
            else "",
        ],
    )
    dropped = [
        {"eid": cluster["eid"], **question}
        for cluster in clusters
        for question in cluster["dropped"]
    ]
    if dropped:
        spec = "cluster: {eid} | question: {question} | why: {why}"
        yield table("Questions removed", spec, dropped)


def _totals(clusters: Sequence[Json]) -> Counter[str]:
    totals = Counter[str]()
    for cluster in clusters:
        totals.update({name: n for name, n in cluster.items() if name.startswith("n_")})
    return totals


def recall_tables(report: Json) -> Iterator[TextTable]:
    """Yield recall and precision of answers."""
    without = report["n_questions_without"]
    yield table(
        "Answers against people's, article by article",
        ": {what} | share> {row:interval} | answers> {n}",
        rows_of({name: report[name] for name in ("recall", "precision")}, "what"),
        n=lambda row: row.get("n", "-"),
        notes=[
            f"{pluralize(report['n_questions'], 'question')} of people's"
            + (f", of which {without} were not asked: their answers count as missed." if without
               else ".")
        ],
    )  # fmt: skip


def built_findings(report: Json) -> Iterator[str]:
    """Yield how many questions were built, and which clusters or steps have no result."""
    clusters = report["clusters"]
    n_questions = sum(len(cluster["questions"]) for cluster in clusters)
    empty = [cluster["eid"] for cluster in clusters if not cluster["questions"]]
    yield f"{pluralize(n_questions, 'question')} on {pluralize(len(clusters), 'cluster')}."
    if empty:
        yield f"Without a question: {first_items(empty)}; coverage needs one."
    n_problems = sum(len(cluster["problems"]) for cluster in clusters)
    if n_problems:
        steps = pluralize(n_problems, "step")
        yield f"{steps} without a result; the same command asks for these again."
