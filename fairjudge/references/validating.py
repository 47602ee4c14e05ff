"""Apply validity labels to references, and compare question answering with people's.

DiverseSumm, section 3.2 and B.2: an answer is valid if it addresses its question and an article
supports it. Section 3.1 measures question answering by recall and precision against human answers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from fairjudge.calibration.items import ratings_of
from fairjudge.domain import Answer, Estimate, Label, QuestionAnswers, Reference, Undefined
from fairjudge.errors import InputError
from fairjudge.references.steps import (
    LEAST_SOURCES,
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
"""The aspect of labels of ``annotate --task answers``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedCluster:
    """The effect of labels on one cluster; ``dropped`` are questions with the reason."""

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

    A group on which annotators are evenly split is dropped too; one without a label is kept. A
    question is kept if enough sources, at least two, still answer it, and enough groups remain.
    The remaining groups and questions are renumbered.

    Raises
    ------
    InputError
        If there is no label of the aspect ``validity``, or none of an answer of these references.
    """
    validity_labels = [
        label for label in labels if label.aspect == VALIDITY and not label.adjudicated
    ]
    if not validity_labels:
        raise InputError(
            f"no label is of the aspect {VALIDITY!r}, as 'annotate --task answers' writes them",
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
    _, ratings, present = ratings_of(list(means_by_item.values()))
    known_items = {
        (reference.eid, f"answer:{q}.{g}")
        for reference in references
        for q, question in enumerate(reference.question_answers)
        for g, _ in enumerate(question.answer_groups)
    }
    if not known_items & shares.keys():
        raise InputError(
            "no label is of an answer of these references: give the file that was labelled",
            field="unit",
        )
    results = [_validated(reference, shares, validity or Validity()) for reference in references]
    return ValidatedReferences(
        references=tuple(reference for reference, _ in results),
        clusters=tuple(cluster for _, cluster in results),
        alpha=krippendorff_alpha(ratings, present, level="nominal"),
        n_labels=len(validity_labels),
        n_unmatched=len(shares.keys() - known_items),
    )


def _validated(
    reference: Reference, shares: Mapping[tuple[str, str], float], validity: Validity
) -> tuple[Reference, ValidatedCluster]:
    before = reference.question_answers
    counts: Counter[str] = Counter()
    questions = []
    for q, question in enumerate(before):
        keep = []
        for g, _ in enumerate(question.answer_groups):
            share = shares.get((reference.eid, f"answer:{q}.{g}"))
            counts["unlabelled"] += share is None
            counts["split"] += share == 0.5
            counts["invalid"] += share is not None and share < 0.5
            keep.append(share is None or share > 0.5)
        questions.append(_with_groups(question, keep))
    worth = {article.aid for article in worth_reading(reference.articles)}
    n_sources = len(worth.union(*map(answering_aids, before))) if before else len(worth)
    valid, dropped = split_valid(questions, n_sources, validity, at_least=LEAST_SOURCES)
    return (
        reference.model_copy(update={"question_answers": tuple(valid)}),
        ValidatedCluster(
            eid=reference.eid,
            n_questions_before=len(before),
            n_questions=len(valid),
            n_groups_before=sum(len(question.answer_groups) for question in before),
            n_groups=sum(len(question.answer_groups) for question in valid),
            n_invalid=counts["invalid"],
            n_split=counts["split"],
            n_unlabelled=counts["unlabelled"],
            dropped=tuple(dropped),
        ),
    )


def _with_groups(question: QuestionAnswers, keep: Sequence[bool]) -> QuestionAnswers:
    """Return `question` with the groups marked by `keep`; equal answers may be in two groups."""
    places = iter([is_kept for group, is_kept in zip(question.answer_groups, keep, strict=True)
                   for _ in group])  # fmt: skip
    return keep_answers(question, lambda _: next(places))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAgreement:
    """Recall and precision of answers against human answers to the same questions, in [0, 1].

    ``recall`` is over human answers, ``precision`` over the others; intervals are over clusters.
    """

    recall: Estimate | Undefined
    precision: Estimate | Undefined
    n_questions: int
    n_questions_without: int


def compare_answers(
    references: Sequence[Reference], people: Sequence[Reference], *, least_overlap: float = 0.5
) -> AnswerAgreement:
    """Compare the answers of each article with human answers, question by question.

    Two answers of one article agree if the F1 of their words is at least `least_overlap`, or if one
    has all words of the other: answers are near-verbatim spans. Questions are matched by their
    words. Questions that people did not ask are ignored; missing ones count as unanswered.

    Raises
    ------
    InputError
        If the references have none of the human questions.
    """
    own = {
        (reference.eid, _key(q.question)): q
        for reference in references
        for q in reference.question_answers
    }
    hits: list[tuple[str, bool]] = []
    right: list[tuple[str, bool]] = []
    n_questions = n_without = 0
    for reference in people:
        for question in reference.question_answers:
            n_questions += 1
            own_question = own.get((reference.eid, _key(question.question)))
            n_without += own_question is None
            human_answers = _answers(question)
            own_answers = [] if own_question is None else _answers(own_question)
            hits += _agreements(reference.eid, human_answers, own_answers, least_overlap)
            right += _agreements(reference.eid, own_answers, human_answers, least_overlap)
    if n_without == n_questions:
        raise InputError("these references have none of the questions that people validated")
    return AnswerAgreement(
        recall=_share(hits),
        precision=_share(right),
        n_questions=n_questions,
        n_questions_without=n_without,
    )


def _share(rows: Sequence[tuple[str, bool]]) -> Estimate | Undefined:
    return clustered_wilson([float(hit) for _, hit in rows], [eid for eid, _ in rows])


def _agreements(
    eid: str, answers: Sequence[Answer], others: Sequence[Answer], least_overlap: float
) -> Iterator[tuple[str, bool]]:
    """Yield for each of `answers` whether any of `others` agrees with it."""
    for answer in answers:
        yield eid, any(_answers_agree(answer, other, least_overlap) for other in others)


def _answers(question: QuestionAnswers) -> list[Answer]:
    return [answer for group in question.answer_groups for answer in group]


def _key(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def _answers_agree(answer: Answer, other: Answer, least_overlap: float) -> bool:
    if answer.aid != other.aid:
        return False
    a, b = Counter(_key(answer.answer)), Counter(_key(other.answer))
    shared = (a & b).total()
    if not shared:
        return False
    f1 = 2 * shared / (a.total() + b.total())
    return f1 >= least_overlap or shared == min(a.total(), b.total())
