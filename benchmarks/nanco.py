"""Answer consolidation on NAnCo by its published protocol (Laban et al. 2022, section 4).

The threshold is the mean of the best thresholds of Q2, Q3, Q5 and Q6; Q4, Q7, Q8 and Q9 test it.
The metric is the balanced accuracy over all pairs of answers to a question (same group or not),
averaged over questions.

Signals, weights, normalisation and partitioner were chosen on the four development questions
(leave-one-out), and on six invented questions (invented_answers.json, in NAnCo's format; not used
for the threshold), since four are few. The test questions were scored after all choices were final.

Final test averages over pairs: contextual 0.799, plain cosine 0.705; with the partition instead of
the pair scores 0.766 and 0.689. The best published result is 0.813.

    python benchmarks/nanco.py [FOLDER] [--json FILE] [--development-only] [--embedding-model M]
        [--backend PROVIDER:MODEL [--base-url URL] [--cache FOLDER] [--concurrency N]
        [--timeout SECONDS]]

With --backend a language model groups the answers with the prompt of `fairjudge build`. There is no
threshold, so `pairs` and `groups` are both the result of the partition. Answers that the model
labels invalid, which a build leaves out, remain in their groups.

FOLDER contains nanco.json (default: ../shared/data/nanco beside the project).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import numpy as np
from _data import DATA
from _figures import balanced_accuracy
from _machine import describe_machine
from numpy.typing import NDArray

from fairjudge.domain import Answer, Unscored
from fairjudge.engine.models import open_models
from fairjudge.errors import ConfigurationError
from fairjudge.options.models import Model
from fairjudge.ports import Embedder, TrainedModels
from fairjudge.references.asker import Asker
from fairjudge.references.embedded import equivalence, partition, sentence_around
from fairjudge.references.grouping import LlmGrouper
from fairjudge.references.ports import AnswerSet
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import load_trained_models
from fairjudge.text.folding import folded_key

DEVELOPMENT = ("Q2", "Q3", "Q5", "Q6")
TEST = ("Q4", "Q7", "Q8", "Q9")
OWN_LABELS = 1.0
"""What stands for a threshold where a model groups: it gives no scores to cut."""
INVENTED = Path(__file__).with_name("invented_answers.json")

PUBLISHED = {
    "STS-BertB": {"Q4": 0.542101, "Q7": 0.804275, "Q8": 0.607563, "Q9": 0.978528},
    "STS-MPNet": {"Q4": 0.706304, "Q7": 0.775066, "Q8": 0.695238, "Q9": 0.743152},
    "MNLI entailment": {"Q4": 0.497609, "Q7": 0.574490, "Q8": 0.500000, "Q9": 0.748466},
    "VitaminC": {"Q4": 0.512246, "Q7": 0.578128, "Q8": 0.500000, "Q9": 0.759860},
    "QuIP": {"Q4": 0.594928, "Q7": 0.723267, "Q8": 0.704762, "Q9": 0.939641},
    "Salesforce/qa_consolidation": {"Q4": 0.659130, "Q7": 0.888872, "Q8": 0.752381, "Q9": 0.951475},
}
"""Test figures a question, as printed in NAnCo.ipynb of the repository salesforce/discord_questions
(Laban et al. 2022); their averages are those of the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One question with its answers and the adjudicated group of each."""

    qid: str
    question: str
    answers: tuple[str, ...]
    contexts: tuple[str, ...]
    groups: tuple[int, ...]


Score: TypeAlias = Callable[[Labelled], NDArray[np.float64]]
"""Scores the pairs of a question's n answers: shape (n, n)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Balanced accuracies of one question, 0 to 1; `best` uses the question's best threshold."""

    qid: str
    question: str
    n_answers: int
    threshold: float
    pairs: float
    groups: float
    best: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A scorer's threshold, and one row per question (leave-one-out on development questions)."""

    scorer: str
    threshold: float
    development: tuple[Row, ...]
    invented: tuple[Row, ...]
    test: tuple[Row, ...]


def read(path: Path) -> dict[str, Labelled]:
    """Read questions in NAnCo's format, by the qid in their answers."""
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


def best_threshold(same: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the threshold with the highest balanced accuracy, midway between adjacent scores."""
    levels = np.unique(scores)
    cuts = (levels[:-1] + levels[1:]) / 2
    return float(max(cuts[::-1], key=lambda cut: balanced_accuracy(same, scores >= cut)))


def by_cosine(embedder: Embedder) -> Score:
    """Return the cosine of the embeddings of every pair of answers."""

    def cosines(item: Labelled) -> NDArray[np.float64]:
        rows = embedder.embed(item.answers).astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        product: NDArray[np.float64] = rows @ rows.T
        return product

    return cosines


def by_context(embedder: Embedder) -> Score:
    """Return the `equivalence` score of every pair of answers."""
    return lambda item: equivalence(
        item.question, item.answers, contexts=item.contexts, embedder=embedder
    )


def p_same(question: str, answers: Sequence[str], *, models: TrainedModels) -> NDArray[np.float64]:
    """Return P(same) of all pairs of n answers, shape (n, n), symmetric; 1 for equal wording.

    Each pair of distinct wordings is compared once.
    """
    plain = [folded_key(answer) for answer in answers]
    wordings = dict(zip(plain, answers, strict=True))
    scores = np.eye(len(wordings))
    if len(wordings) > 1:
        upper = np.triu_indices(len(wordings), 1)
        pairs = combinations(wordings.values(), 2)
        scores[upper] = scores.T[upper] = models.same_answer([(question, a, b) for a, b in pairs])
    row = {key: number for number, key in enumerate(wordings)}
    order = [row[key] for key in plain]
    matrix: NDArray[np.float64] = scores[np.ix_(order, order)]
    return matrix


def by_trained_model(models: TrainedModels) -> Score:
    """Return P(same) of every pair of answers."""
    return lambda item: p_same(item.question, item.answers, models=models)


def run(questions: dict[str, Labelled], scorer: str, score: Score) -> Report:
    """Score every question, choose the threshold on the development questions, and test it."""
    matrices = {qid: score(item) for qid, item in questions.items()}
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


async def run_llm(questions: dict[str, Labelled], options: Model) -> Report:
    """Group every question's answers with a language model."""
    async with open_models(options) as models:
        if models.llm is None:
            raise ConfigurationError("grouping by a model needs --backend provider:model")
        asker = Asker(backend=models.llm.backend, target=models.llm.target, **models.llm.sampling)
        grouper = LlmGrouper(asker=asker)

        async def one(item: Labelled) -> Row:
            answers = tuple(_answers(item))
            answer_sets = [AnswerSet(index=0, answers=answers)]
            (answer_groups,) = await grouper.group(answer_sets, [item.question], ())
            if isinstance(answer_groups, Unscored) or answer_groups.problem:
                print(f"{item.qid}: {answer_groups}", file=sys.stderr)
            groups = () if isinstance(answer_groups, Unscored) else answer_groups.groups
            return _row(item, _together(groups, len(answers)), OWN_LABELS, OWN_LABELS)

        rows = await asyncio.gather(*(one(item) for item in questions.values()))
    by_qid = {row.qid: row for row in rows}
    return Report(
        scorer=str(options.llm),
        threshold=OWN_LABELS,
        development=tuple(by_qid[qid] for qid in DEVELOPMENT if qid in by_qid),
        invented=tuple(row for row in rows if row.qid[0] == "I"),
        test=tuple(by_qid[qid] for qid in TEST if qid in by_qid),
    )


def _answers(item: Labelled) -> list[Answer]:
    """Return the answers, each with its sentence, as shown to annotators."""
    rows = zip(item.answers, item.contexts, strict=True)
    glosses = [(text, sentence_around(text.strip(), context)) for text, context in rows]
    return [
        Answer(aid=str(n), answer=text, gloss=gloss if gloss != text.strip() else None)
        for n, (text, gloss) in enumerate(glosses)
    ]


def _together(groups: Sequence[Sequence[int]], n: int) -> NDArray[np.float64]:
    """Return 1 for pairs of answers in the same group, else 0; shape (n, n)."""
    same = np.eye(n)
    for group in groups:
        same[np.ix_(group, group)] = 1.0
    return same


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
    """Print one table per scorer, then the published averages."""
    for report in reports:
        print(f"\n{report.scorer}: threshold {report.threshold:.3f}")
        print(f"{'':5}{'n':>4}{'cut':>7}{'pairs':>8}{'groups':>8}{'own cut':>9}  question")
        for title, rows in (
            ("development", report.development),
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
    print("\npublished, by question and on average (Laban et al. 2022, its notebook):")
    print(f"  {'':28}" + "".join(f"{qid:>8}" for qid in TEST) + f"{'mean':>8}")
    for name, accuracies in PUBLISHED.items():
        figures = [accuracies[qid] for qid in TEST]
        print(f"  {name:28}" + "".join(f"{v:8.3f}" for v in (*figures, float(np.mean(figures)))))
    print("pairs: by each pair's score; groups: by the partition; own cut: the question's best.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Answer consolidation on NAnCo.")
    parser.add_argument("folder", nargs="?", type=Path, default=DATA / "nanco")
    parser.add_argument("--json", metavar="FILE", help="write the figures; - is standard output")
    parser.add_argument("--development-only", action="store_true", help="leave the test unscored")
    parser.add_argument("--embedding-model", metavar="MODEL")
    parser.add_argument("--backend", metavar="PROVIDER:MODEL", help="group by a language model")
    parser.add_argument("--base-url", metavar="URL")
    parser.add_argument("--cache", metavar="FOLDER", type=Path)
    parser.add_argument("--concurrency", metavar="N", type=int, default=8)
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=600.0)
    parser.add_argument("--invented", action="store_true", help="with --backend: these too")
    options = parser.parse_args(arguments)
    if not (options.folder / "nanco.json").is_file():
        print(f"no nanco.json in {str(options.folder)!r}", file=sys.stderr)
        return 1
    questions = read(options.folder / "nanco.json")
    if options.development_only:
        questions = {qid: questions[qid] for qid in DEVELOPMENT}
    if options.backend is None or options.invented:
        questions |= read(INVENTED)
    if options.backend is None:
        embedder = load_embedder(options.embedding_model)
        by = embedder.fingerprint
        trained = load_trained_models()
        scores = {
            "cosine": by_cosine(embedder),
            "contextual": by_context(embedder),
            "trained": by_trained_model(trained),
        }
        reports = [run(questions, name, score) for name, score in scores.items()]
        by = f"{by}; {trained.identity}"
    else:
        model = Model(
            target=options.backend,
            base_url=options.base_url,
            cache=options.cache,
            concurrency=options.concurrency,
            timeout=options.timeout,
        )
        by = options.backend
        reports = [asyncio.run(run_llm(questions, model))]
    facts = {"machine": describe_machine(), "grouped_by": by, "published": PUBLISHED}
    if options.json != "-":
        show(reports)
        print(f"{by}; {describe_machine()}")
    if options.json:
        text = json.dumps({**facts, "reports": [asdict(report) for report in reports]}, indent=2)
        if options.json == "-":
            print(text)
        else:
            Path(options.json).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
