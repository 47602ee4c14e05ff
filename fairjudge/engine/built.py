"""The outcome of a build for each cluster: its record joined with the cluster's articles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fairjudge.domain import Cluster, Reference
from fairjudge.records.folder import RunStore, reject_foreign_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltCluster:
    """One cluster's outcome.

    ``unused`` lists the excluded articles with their reasons; ``why_none`` is the reason why there
    are no questions, or None; ``problems`` are failed calls; ``dropped_answers`` are counts by
    reason; ``doubtful`` are labels that the validation did not find in every answer of their group
    (``question``, 0-based ``group``, ``aids``).
    """

    reference: Reference
    n_articles: int
    unused: tuple[tuple[str, str], ...]
    dropped: tuple[tuple[str, str], ...]
    dropped_answers: tuple[tuple[str, int], ...]
    problems: tuple[str, ...]
    n_steps: int
    why_none: str | None
    doubtful: tuple[Mapping[str, Any], ...] = ()

    @property
    def n_used(self) -> int:
        """Number of articles with an answer in the reference."""
        return self.n_articles - len(self.unused)

    def to_json(self) -> dict[str, Any]:
        """Return the used and the unused articles, questions and answers as JSON."""
        unused, reference = dict(self.unused), self.reference
        return {
            "eid": reference.eid,
            "n_articles": self.n_articles,
            "used": [article.aid for article in reference.articles if article.aid not in unused],
            "unused": [{"aid": aid, "why": why} for aid, why in self.unused],
            "questions": [
                {
                    "question": question.question,
                    "n_sources": len(
                        {answer.aid for group in question.answer_groups for answer in group}
                    ),
                    "n_groups": len(question.answer_groups),
                    "n_answers": sum(map(len, question.answer_groups)),
                    **({"kind": question.kind} if question.kind else {}),
                }
                for question in reference.question_answers
            ],
            "dropped": [{"question": question, "why": why} for question, why in self.dropped],
            "dropped_answers": dict(self.dropped_answers),
            "problems": list(self.problems),
            **({"doubtful_labels": list(map(dict, self.doubtful))} if self.doubtful else {}),
            "why_no_questions": self.why_none,
        }


class BuildBook:
    """The finished and the pending `clusters` of an open run, read from `run` once.

    ``done`` maps ``eid`` to records, ``n_attempts`` to the number of earlier attempts;
    ``signature`` is that of the last builder, or None.
    """

    ROWS: ClassVar[str] = "references"

    def __init__(self, run: RunStore, clusters: Sequence[Cluster]) -> None:
        self.run = run
        self._clusters = clusters
        with reject_foreign_rows(run):
            rows = list(run.read(self.ROWS))
            self.done = {row["eid"]: row for row in rows if not row["retry"]}
            self.n_attempts = Counter(row["eid"] for row in rows)
            signatures = [row["signature"] for row in self.done.values() if "signature" in row]
        self.signature: str | None = signatures[-1] if signatures else None

    def pending(self) -> list[Cluster]:
        """Return the clusters that are not built yet."""
        return [cluster for cluster in self._clusters if cluster.eid not in self.done]

    def record(self, row: dict[str, Any]) -> None:
        """Append the record of one cluster to the run."""
        self.run.append(self.ROWS, row)
        self.done[row["eid"]] = row

    def built(self) -> tuple[BuiltCluster, ...]:
        """Return the outcome of each cluster, in input order; no cluster may be pending."""
        with reject_foreign_rows(self.run):
            return tuple(
                join_outcome(self.done[cluster.eid], cluster) for cluster in self._clusters
            )


def n_by_reason(dropped: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of dropped answers by reason."""
    counts: Counter[str] = Counter()
    for row in dropped:
        counts[row["why"]] += row["n"]
    return dict(sorted(counts.items()))


def join_outcome(row: dict[str, Any], cluster: Cluster) -> BuiltCluster:
    """Join a build's record with its cluster, whose articles get the key ``used``."""
    used, unused = _answering_articles(row), _unused_articles(row, cluster)
    with_text = [article for article in cluster.articles if article.content.strip()]
    reference = cluster.to_json()
    reference["articles"] = [
        article.to_json() | {"used": article.aid in used}
        for article in with_text or cluster.articles
    ]
    reference["question_answers"] = row.get("question_answers", [])
    dropped = [(question["question"], question["why"]) for question in row.get("dropped", [])]
    dropped_answers = row.get("dropped_answers", {})
    reference["meta"] = {
        "signature": row.get("signature", ""),
        "unused": [{"aid": aid, "why": why} for aid, why in unused],
        "dropped_questions": [{"question": question, "why": why} for question, why in dropped],
        **({"dropped_answers": dropped_answers} if dropped_answers else {}),
        **({"doubtful_labels": row["doubtful"]} if row.get("doubtful") else {}),
        **({"why_no_questions": row["why_none"]} if row["why_none"] else {}),
    }
    return BuiltCluster(
        reference=Reference.model_validate(reference),
        n_articles=len(cluster.articles),
        unused=unused,
        dropped=tuple(dropped),
        dropped_answers=tuple(dropped_answers.items()),
        problems=tuple(row.get("problems", [])),
        n_steps=row.get("n_steps", 0),
        why_none=row["why_none"],
        doubtful=tuple(row.get("doubtful", ())),
    )


def _unused_articles(row: Mapping[str, Any], cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """Return (article id, reason) of each article without an answer in the reference."""
    kept_aids, used = frozenset(row["kept_aids"]), _answering_articles(row)
    reason = "no question was left"
    if kept_aids:
        reason = f"answers fewer questions than the {len(kept_aids)} kept"
    silent = dict.fromkeys(kept_aids, "answers no question of the reference")
    reasons = {**silent, **dict(row["skipped"])}
    aids = [article.aid for article in cluster.articles if article.aid not in used]
    return tuple((aid, reasons.get(aid, reason)) for aid in aids)


def _answering_articles(row: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(
        answer["aid"]
        for question in row.get("question_answers", [])
        for group in question["answer_groups"]
        for answer in group
    )
