"""Where answers stand while references are built, and which questions rest on the same words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Answer, QuestionAnswers
from fairjudge.references.ports import Found

SAME_WORDS = 0.5
"""Share of the longer passage that two have in common, from which on they are the same words."""
REPEATED = 0.7
"""Share of a question's memberships that are another's, from which on it is that other one."""
_PLACES = ("index", "start", "end")


def with_places(found: Found) -> dict[str, Any]:
    """Return an answer as JSON, with the question it is to and where it stands."""
    return found.answer.to_json() | {"index": found.index, "start": found.start, "end": found.end}


def without_places(question: QuestionAnswers) -> QuestionAnswers:
    """Return `question` as files have it."""
    row = question.to_json()
    row["answer_groups"] = [[_bare(answer) for answer in group] for group in row["answer_groups"]]
    return QuestionAnswers.model_validate(row)


def _bare(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in _PLACES}


def distinct(found: Iterable[Found]) -> tuple[Found, ...]:
    """Return `found` without what repeats an answer: the same words, meant the same."""
    seen = {(one.index, one.answer.aid, one.start, one.end, one.answer.gloss): one for one in found}
    return tuple(seen.values())


def drop_repeated(
    questions: Sequence[QuestionAnswers],
) -> tuple[list[QuestionAnswers], list[dict[str, str]]]:
    """Return the questions that say something of their own, and why each other does not stay.

    The most divided come first: those with rivals, then those with most memberships (an article in
    a group). One goes where `REPEATED` of its memberships are those of a question kept before it.
    Those kept stay in the order given; answers must hold their places.
    """
    order = sorted(
        range(len(questions)),
        key=lambda n: (questions[n].kind != "rivals", -_n_memberships(questions[n]), n),
    )
    kept: list[int] = []
    dropped = []
    for n in order:
        other = next((m for m in kept if repeats(questions[n], questions[m]) >= REPEATED), None)
        if other is None:
            kept.append(n)
        else:
            why = f"its answers are those to {questions[other].question!r}"
            dropped.append({"question": questions[n].question, "why": why})
    return [questions[n] for n in sorted(kept)], dropped


def repeats(question: QuestionAnswers, other: QuestionAnswers) -> float:
    """Return the share of a question's memberships that are another's, in [0, 1].

    Each group of `question` is matched with one of `other`, each with another one, so that most
    memberships are the same: the article stands in both groups, by the same words. Answers that
    share a sentence and are sorted otherwise are thus not the same.
    """
    from scipy.optimize import linear_sum_assignment

    n = _n_memberships(question)
    if not n:
        return 0.0
    common: NDArray[np.int_] = np.array(
        [
            [_n_common(group, theirs) for theirs in other.answer_groups]
            for group in question.answer_groups
        ]
    ).reshape(len(question.answer_groups), len(other.answer_groups))
    rows, columns = linear_sum_assignment(common, maximize=True)
    return float(common[rows, columns].sum()) / n


def _n_memberships(question: QuestionAnswers) -> int:
    return sum(len({answer.aid for answer in group}) for group in question.answer_groups)


def _n_common(group: Sequence[Answer], other: Sequence[Answer]) -> int:
    return len({a.aid for a in group for b in other if a.aid == b.aid and _same_words(a, b)})


def _same_words(a: Answer, b: Answer) -> bool:
    (start, end), (other_start, other_end) = _place(a), _place(b)
    common = min(end, other_end) - max(start, other_start)
    longer = max(end - start, other_end - other_start)
    return common > 0 and common >= SAME_WORDS * longer


def _place(answer: Answer) -> tuple[int, int]:
    extra = answer.model_extra or {}
    return extra["start"], extra["end"]
