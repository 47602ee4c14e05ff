"""Answer consolidation on NAnCo by its published protocol (Laban et al. 2022, section 4).

Questions Q2, Q3, Q5 and Q6 choose the threshold: the mean of the four best. Q4, Q7, Q8 and Q9 test
it. The figure is the balanced accuracy over all pairs of answers to a question (same group or not),
averaged over questions.

How choices were made: signals, weights, normalisation and partitioner were chosen on the four
development questions, leaving one out at a time, and on six invented ones written for the purpose
(invented_answers.json, in NAnCo's form; not used for the threshold), because four are few. The test
questions were scored after everything was fixed.

Measured once everything was fixed (test average over pairs): contextual 0.799, plain cosine 0.705;
by the partition instead of the pair scores 0.766 and 0.689. The best published figure is 0.813.

    python benchmarks/nanco.py [FOLDER] [--json FILE] [--development-only] [--embedding-model M]

FOLDER holds nanco.json (default: ../shared/data/nanco beside the project).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from _machine import describe_machine
from numpy.typing import NDArray

from fairjudge.protocols import Embedder
from fairjudge.references.consolidation import Scorer, equivalence, partition
from fairjudge.scorers.embedding import load_embedder

DEVELOPMENT = ("Q2", "Q3", "Q5", "Q6")
TEST = ("Q4", "Q7", "Q8", "Q9")
SCORERS: tuple[Scorer, ...] = ("cosine", "contextual")
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "nanco"
INVENTED = Path(__file__).with_name("invented_answers.json")

PUBLISHED = {
    "STS-BertB": 0.733,
    "STS-MPNet": 0.730,
    "MNLI entailment": 0.580,
    "VitaminC": 0.588,
    "QuIP": 0.741,
    "Salesforce/qa_consolidation": 0.813,
}
"""Test averages of Discord Questions (Laban et al. 2022); it states no figure a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One question with its answers and the adjudicated group of each."""

    qid: str
    question: str
    answers: tuple[str, ...]
    contexts: tuple[str, ...]
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Balanced accuracies of one question, 0 to 1; `best` is with its own best threshold."""

    qid: str
    question: str
    n_answers: int
    threshold: float
    pairs: float
    groups: float
    best: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One scorer: its threshold, and a row a question (development rows are leave-one-out)."""

    scorer: Scorer
    threshold: float
    development: tuple[Row, ...]
    invented: tuple[Row, ...]
    test: tuple[Row, ...]


def read(path: Path) -> dict[str, Labelled]:
    """Read questions in NAnCo's form, by the qid that stands in their answers."""
    records = json.loads(path.read_text(encoding="utf-8"))
    questions = [
        Labelled(
            qid=record["answers"][0]["qid"],
            question=record["question"],
            answers=tuple(answer["Answer"] for answer in record["answers"]),
            contexts=tuple(answer["Paragraph"] for answer in record["answers"]),
            groups=tuple(answer["cluster_global"] for answer in record["answers"]),
        )
        for record in records
    ]
    return {question.qid: question for question in questions}


def balanced_accuracy(same: NDArray[np.bool_], said: NDArray[np.bool_]) -> float:
    """Return the mean of the shares of same and of different pairs that are said right."""
    return float((said[same].mean() + (~said[~same]).mean()) / 2)


def best_threshold(same: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the cut with the highest balanced accuracy, midway between neighbouring scores."""
    levels = np.unique(scores)
    cuts = (levels[:-1] + levels[1:]) / 2
    return float(max(cuts[::-1], key=lambda cut: balanced_accuracy(same, scores >= cut)))


def run(questions: dict[str, Labelled], embedder: Embedder, scorer: Scorer) -> Report:
    """Score every question, choose the threshold on the development ones, and test it."""
    matrices = {
        qid: equivalence(
            item.question, item.answers, contexts=item.contexts, embedder=embedder, scorer=scorer
        )
        for qid, item in questions.items()
    }
    best = {qid: best_threshold(*_pairs(item, matrices[qid])) for qid, item in questions.items()}
    threshold = float(np.mean([best[qid] for qid in DEVELOPMENT]))

    def row(qid: str, cut: float) -> Row:
        return _row(questions[qid], matrices[qid], cut, best[qid])

    return Report(
        scorer=scorer,
        threshold=threshold,
        development=tuple(
            row(qid, float(np.mean([best[other] for other in DEVELOPMENT if other != qid])))
            for qid in DEVELOPMENT
        ),
        invented=tuple(row(qid, threshold) for qid in questions if qid[0] == "I"),
        test=tuple(row(qid, threshold) for qid in TEST if qid in questions),
    )


def _pairs(
    item: Labelled, matrix: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    upper = np.triu_indices(len(item.answers), 1)
    labels = np.array(item.groups)
    return (labels[:, None] == labels[None, :])[upper], matrix[upper]


def _row(item: Labelled, matrix: NDArray[np.float64], cut: float, best: float) -> Row:
    same, scores = _pairs(item, matrix)
    label = np.empty(len(item.answers), dtype=int)
    for number, group in enumerate(partition(matrix, threshold=cut)):
        label[list(group)] = number
    together = (label[:, None] == label[None, :])[np.triu_indices(len(label), 1)]
    return Row(
        qid=item.qid,
        question=item.question,
        n_answers=len(item.answers),
        threshold=cut,
        pairs=balanced_accuracy(same, scores >= cut),
        groups=balanced_accuracy(same, together),
        best=balanced_accuracy(same, scores >= best),
    )


def show(reports: Sequence[Report]) -> None:
    """Print a table a scorer, then the published averages."""
    for report in reports:
        print(f"\n{report.scorer}: threshold {report.threshold:.3f}")
        print(f"{'':5}{'n':>4}{'cut':>7}{'pairs':>8}{'groups':>8}{'own cut':>9}  question")
        for title, rows in (
            ("leave-one-out", report.development),
            ("invented, at the development questions' threshold", report.invented),
            ("test", report.test),
        ):
            for row in rows:
                print(
                    f"{row.qid:5}{row.n_answers:4}{row.threshold:7.3f}{row.pairs:8.3f}"
                    f"{row.groups:8.3f}{row.best:9.3f}  {row.question}"
                )
            if rows:
                means = [np.mean([getattr(r, f) for r in rows]) for f in ("pairs", "groups")]
                print(f"{'mean':16}{means[0]:8.3f}{means[1]:8.3f}{'':11}{title}")
    print("\npublished test averages (Laban et al. 2022):")
    for name, value in PUBLISHED.items():
        print(f"  {name:30}{value:.3f}")
    print("pairs: by each pair's score; groups: by the partition; own cut: the question's best.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Answer consolidation on NAnCo.")
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--json", metavar="FILE", help="write the figures; - is standard output")
    parser.add_argument("--development-only", action="store_true", help="leave the test unscored")
    parser.add_argument("--embedding-model", metavar="MODEL")
    options = parser.parse_args(arguments)
    if not (options.folder / "nanco.json").is_file():
        print(f"no nanco.json in {str(options.folder)!r}", file=sys.stderr)
        return 1
    questions = read(options.folder / "nanco.json")
    if options.development_only:
        questions = {qid: questions[qid] for qid in DEVELOPMENT}
    questions |= read(INVENTED)
    embedder = load_embedder(options.embedding_model)
    reports = [run(questions, embedder, scorer) for scorer in SCORERS]
    facts = {
        "machine": describe_machine(),
        "embedder": embedder.fingerprint,
        "published": PUBLISHED,
    }
    if options.json != "-":
        show(reports)
        print(f"{embedder.fingerprint}; {describe_machine()}")
    if options.json:
        text = json.dumps({**facts, "reports": [asdict(report) for report in reports]}, indent=2)
        if options.json == "-":
            print(text)
        else:
            Path(options.json).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
