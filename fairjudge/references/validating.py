"""References as people left them: answers they call invalid are gone, and questions checked again.

DiverseSumm, section 3.2 and B.2: an answer is valid where it addresses its question and an article
supports it. Section 3.1 compares question answering by recall and precision against people.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

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
    """What labels did to one cluster; ``dropped`` are questions, each with the reason."""

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
class Validated:
    """References without invalid answers; one without a question left has none."""

    references: tuple[Reference, ...]
    clusters: tuple[ValidatedCluster, ...]
    alpha: float | Undefined
    n_labels: int
    n_unmatched: int


def apply_validity(
    references: Sequence[Reference], labels: Iterable[Label], *, validity: Validity | None = None
) -> Validated:
    """Drop the groups of answers that most annotators call invalid, then check each question again.

    A group on which annotators are split half and half is not shown to be valid, and goes too; one
    without a label stays. A question stays where enough of the sources still answer it, two at
    least, and enough groups are left. Groups and questions that stay are numbered anew.

    Raises
    ------
    InputError
        No label is of an answer's validity, or none is of an answer of these references.
    """
    given = [label for label in labels if label.aspect == VALIDITY and not label.adjudicated]
    if not given:
        raise InputError(
            f"no label is of the aspect {VALIDITY!r}, as 'annotate --task answers' writes them",
            field="aspect",
        )
    said: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for label in given:
        if isinstance(label.value, str) or not 0.0 <= label.value <= 1.0:
            raise InputError(f"expected 1 (valid) or 0, got {label.value!r}", field="value")
        said[label.eid, label.unit][label.annotator].append(float(label.value))
    shares = {item: fmean(map(fmean, some.values())) for item, some in said.items()}
    known = {
        (reference.eid, f"answer:{q}.{g}")
        for reference in references
        for q, question in enumerate(reference.question_answers)
        for g, _ in enumerate(question.answer_groups)
    }
    if not known & shares.keys():
        raise InputError(
            "no label is of an answer of these references: give the file that was labelled",
            field="unit",
        )
    found = [_validated(reference, shares, validity or Validity()) for reference in references]
    return Validated(
        references=tuple(reference for reference, _ in found),
        clusters=tuple(cluster for _, cluster in found),
        alpha=_alpha(said),
        n_labels=len(given),
        n_unmatched=len(shares.keys() - known),
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
        questions.append(_of_groups(question, keep))
    worth = {article.aid for article in worth_reading(reference.articles)}
    n_sources = len(worth.union(*map(answering_aids, before))) if before else len(worth)
    kept, dropped = split_valid(questions, n_sources, validity, at_least=LEAST_SOURCES)
    return (
        reference.model_copy(update={"question_answers": tuple(kept)}),
        ValidatedCluster(
            eid=reference.eid,
            n_questions_before=len(before),
            n_questions=len(kept),
            n_groups_before=sum(len(one.answer_groups) for one in before),
            n_groups=sum(len(one.answer_groups) for one in kept),
            n_invalid=counts["invalid"],
            n_split=counts["split"],
            n_unlabelled=counts["unlabelled"],
            dropped=tuple(dropped),
        ),
    )


def _of_groups(question: QuestionAnswers, keep: Sequence[bool]) -> QuestionAnswers:
    """Return `question` with the groups that are kept; equal answers may stand in two groups."""
    places = iter([kept for group, kept in zip(question.answer_groups, keep, strict=True)
                   for _ in group])  # fmt: skip
    return keep_answers(question, lambda _: next(places))


def _alpha(said: Mapping[tuple[str, str], Mapping[str, Sequence[float]]]) -> float | Undefined:
    names = sorted({who for some in said.values() for who in some})
    ratings = np.zeros((len(said), len(names)))
    present = np.zeros(ratings.shape, dtype=bool)
    for row, some in enumerate(said.values()):
        for who, values in some.items():
            ratings[row, names.index(who)] = fmean(values)
            present[row, names.index(who)] = True
    return krippendorff_alpha(ratings, present, level="nominal")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAgreement:
    """How far answers are those that people gave to the same questions, in [0, 1].

    ``recall`` is over people's answers, ``precision`` over the others; intervals are over clusters.
    """

    recall: Estimate | Undefined
    precision: Estimate | Undefined
    n_questions: int
    n_questions_without: int


def compare_answers(
    references: Sequence[Reference], people: Sequence[Reference], *, least_overlap: float = 0.5
) -> AnswerAgreement:
    """Compare answers article by article to people's, question by question.

    Two answers of one article agree where the F1 of their words is `least_overlap` or more, or one
    holds all words of the other: answers are near-verbatim spans. Questions meet by their words.
    Questions that people did not ask are left out; those that are missing have no answer found.

    Raises
    ------
    InputError
        No question of people's is asked in the references.
    """
    own = {(one.eid, _key(q.question)): q for one in references for q in one.question_answers}
    hits: list[tuple[str, bool]] = []
    right: list[tuple[str, bool]] = []
    n_questions = n_without = 0
    for reference in people:
        for question in reference.question_answers:
            n_questions += 1
            found = own.get((reference.eid, _key(question.question)))
            n_without += found is None
            theirs, ours = _answers(question), [] if found is None else _answers(found)
            for answers, others, out in ((theirs, ours, hits), (ours, theirs, right)):
                out += [
                    (reference.eid, any(_same(one, other, least_overlap) for other in others))
                    for one in answers
                ]
    if n_without == n_questions:
        raise InputError("no question of people's is asked in these references")
    return AnswerAgreement(
        recall=_share(hits),
        precision=_share(right),
        n_questions=n_questions,
        n_questions_without=n_without,
    )


def _share(rows: Sequence[tuple[str, bool]]) -> Estimate | Undefined:
    return clustered_wilson([float(hit) for _, hit in rows], [eid for eid, _ in rows])


def _answers(question: QuestionAnswers) -> list[Answer]:
    return [answer for group in question.answer_groups for answer in group]


def _key(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def _same(one: Answer, other: Answer, least_overlap: float) -> bool:
    if one.aid != other.aid:
        return False
    a, b = Counter(_key(one.answer)), Counter(_key(other.answer))
    shared = (a & b).total()
    if not shared:
        return False
    f1 = 2 * shared / (a.total() + b.total())
    return f1 >= least_overlap or shared == min(a.total(), b.total())
