"""Apply validity labels to references, and compare question answering with human answers.

DiverseSumm, section 3.2 and B.2: an answer is valid if it addresses its question and an article
supports it. Section 3.1 measures question answering by recall and precision against human answers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from fairjudge.calibration.items import rating_table
from fairjudge.domain import Answer, Estimate, Label, QuestionAnswers, Reference, Undefined
from fairjudge.errors import InputError
from fairjudge.references.steps import (
    MIN_SOURCES,
    Validity,
    answering_aids,
    keep_answers,
    split_valid,
)
from fairjudge.stats.agreement import krippendorff_alpha
from fairjudge.stats.intervals import clustered_wilson
from fairjudge.text.tokens import words
from fairjudge.text.usable import worth_reading

VALIDITY = "validity"
"""The aspect of labels from ``annotate --task answers``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedCluster:
    """The effect of labels on one cluster; ``dropped`` are dropped questions with the reason."""

    eid: str
    n_questions_before: int
    n_questions: int
    n_groups_before: int
    n_groups: int
    n_invalid: int
    n_split: int
    n_unlabelled: int
    dropped: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedReferences:
    """References without invalid answers; a reference may have no questions left."""

    references: tuple[Reference, ...]
    clusters: tuple[ValidatedCluster, ...]
    alpha: float | Undefined
    n_labels: int
    n_unmatched: int


def apply_validity(
    references: Sequence[Reference], labels: Iterable[Label], *, validity: Validity | None = None
) -> ValidatedReferences:
    """Drop the answer groups that most annotators reject, then check each question again.

    A group on which annotators are evenly split is also dropped; a group without labels is kept. A
    question is kept if enough sources (at least two) still answer it and enough groups remain. The
    remaining groups and questions are renumbered.

    Raises
    ------
    InputError
        If there is no label of the aspect ``validity``, or no label of these references.
    """
    validity_labels = [
        label for label in labels if label.aspect == VALIDITY and not label.adjudicated
    ]
    if not validity_labels:
        raise InputError(
            f"no label has the aspect {VALIDITY!r}; collect labels with 'annotate --task answers'",
            field="aspect",
        )
    values_by_item: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for label in validity_labels:
        if isinstance(label.value, str) or not 0.0 <= label.value <= 1.0:
            raise InputError(f"expected 1 (valid) or 0, got {label.value!r}", field="value")
        values_by_item[label.eid, label.unit][label.annotator].append(float(label.value))
    means_by_item = {
        item: {annotator: fmean(values) for annotator, values in by_annotator.items()}
        for item, by_annotator in values_by_item.items()
    }
    shares = {item: fmean(means.values()) for item, means in means_by_item.items()}
    _, ratings, mask = rating_table(list(means_by_item.values()))
    known_items = {
        (reference.eid, f"answer:{q}.{g}")
        for reference in references
        for q, question in enumerate(reference.question_answers)
        for g, _ in enumerate(question.answer_groups)
    }
    if not known_items & shares.keys():
        raise InputError(
            "no label refers to an answer of these references: pass the annotated file",
            field="unit",
        )
    results = [_validate(reference, shares, validity or Validity()) for reference in references]
    return ValidatedReferences(
        references=tuple(reference for reference, _ in results),
        clusters=tuple(cluster for _, cluster in results),
        alpha=krippendorff_alpha(ratings, mask, level="nominal"),
        n_labels=len(validity_labels),
        n_unmatched=len(shares.keys() - known_items),
    )


def _validate(
    reference: Reference, shares: Mapping[tuple[str, str], float], validity: Validity
) -> tuple[Reference, ValidatedCluster]:
    questions_before = reference.question_answers
    counts: Counter[str] = Counter()
    questions = []
    for q, question in enumerate(questions_before):
        keep = []
        for g, _ in enumerate(question.answer_groups):
            share = shares.get((reference.eid, f"answer:{q}.{g}"))
            counts["unlabelled"] += share is None
            counts["split"] += share == 0.5
            counts["invalid"] += share is not None and share < 0.5
            keep.append(share is None or share > 0.5)
        questions.append(_with_groups(question, keep))
    aids = {article.aid for article in worth_reading(reference.articles)}
    n_sources = (
        len(aids.union(*map(answering_aids, questions_before))) if questions_before else len(aids)
    )
    valid, invalid = split_valid(questions, n_sources, validity, min_sources=MIN_SOURCES)
    return (
        reference.model_copy(update={"question_answers": tuple(valid)}),
        ValidatedCluster(
            eid=reference.eid,
            n_questions_before=len(questions_before),
            n_questions=len(valid),
            n_groups_before=sum(len(question.answer_groups) for question in questions_before),
            n_groups=sum(len(question.answer_groups) for question in valid),
            n_invalid=counts["invalid"],
            n_split=counts["split"],
            n_unlabelled=counts["unlabelled"],
            dropped=tuple(invalid),
        ),
    )


def _with_groups(question: QuestionAnswers, keep: Sequence[bool]) -> QuestionAnswers:
    """Return `question` with the groups selected by `keep`; equal answers may be in two groups."""
    flags = iter([is_kept for group, is_kept in zip(question.answer_groups, keep, strict=True)
                   for _ in group])  # fmt: skip
    return keep_answers(question, lambda _: next(flags))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAgreement:
    """Recall and precision of answers against human answers to the same questions, in [0, 1].

    ``recall`` is over human answers, ``precision`` over reference answers; intervals are over
    clusters.
    """

    recall: Estimate | Undefined
    precision: Estimate | Undefined
    n_questions: int
    n_questions_without: int


def compare_answers(
    references: Sequence[Reference],
    human_references: Sequence[Reference],
    *,
    min_overlap: float = 0.5,
) -> AnswerAgreement:
    """Compare the answers of each article with human answers, question by question.

    Two answers of one article agree if the F1 of their words is at least `min_overlap`, or if one
    contains all words of the other, since answers are near-verbatim spans. Questions are matched by
    their words. Questions without human answers are ignored; missing questions count as unanswered.

    Raises
    ------
    InputError
        If the references contain none of the human questions.
    """
    questions_by_key = {
        (reference.eid, _key(q.question)): q
        for reference in references
        for q in reference.question_answers
    }
    recall_hits: list[tuple[str, bool]] = []
    precision_hits: list[tuple[str, bool]] = []
    n_questions = n_without = 0
    for reference in human_references:
        for question in reference.question_answers:
            n_questions += 1
            reference_question = questions_by_key.get((reference.eid, _key(question.question)))
            n_without += reference_question is None
            human_answers = _answers(question)
            reference_answers = [] if reference_question is None else _answers(reference_question)
            recall_hits += _agreements(reference.eid, human_answers, reference_answers, min_overlap)
            precision_hits += _agreements(
                reference.eid, reference_answers, human_answers, min_overlap
            )
    if n_without == n_questions:
        raise InputError("these references contain none of the questions of the human answers")
    return AnswerAgreement(
        recall=_share(recall_hits),
        precision=_share(precision_hits),
        n_questions=n_questions,
        n_questions_without=n_without,
    )


def _share(rows: Sequence[tuple[str, bool]]) -> Estimate | Undefined:
    return clustered_wilson([float(hit) for _, hit in rows], [eid for eid, _ in rows])


def _agreements(
    eid: str, answers: Sequence[Answer], candidates: Sequence[Answer], min_overlap: float
) -> Iterator[tuple[str, bool]]:
    """Yield for each of `answers` whether one of `candidates` agrees with it."""
    for answer in answers:
        yield eid, any(_answers_agree(answer, candidate, min_overlap) for candidate in candidates)


def _answers(question: QuestionAnswers) -> list[Answer]:
    return [answer for group in question.answer_groups for answer in group]


def _key(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def _answers_agree(first: Answer, second: Answer, min_overlap: float) -> bool:
    if first.aid != second.aid:
        return False
    a, b = Counter(_key(first.answer)), Counter(_key(second.answer))
    n_common = (a & b).total()
    if not n_common:
        return False
    f1 = 2 * n_common / (a.total() + b.total())
    return f1 >= min_overlap or n_common == min(a.total(), b.total())
