"""Positions of answers in articles, and repeated questions, which have mostly the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Answer, QuestionAnswers
from fairjudge.references.ports import LocatedAnswer

SAME_WORDS = 0.5
"""Minimum overlap of equal passages, as a share of the longer passage."""
MIN_REPETITION = 0.5
"""Minimum share of a question's memberships in another question to count as its repetition."""
_POSITION_KEYS = ("index", "start", "end")


def with_positions(item: LocatedAnswer) -> dict[str, Any]:
    """Return an answer as JSON, with the index of its question and its position."""
    return item.answer.to_json() | {name: getattr(item, name) for name in _POSITION_KEYS}


def without_positions(question: QuestionAnswers) -> QuestionAnswers:
    """Return `question` without the keys of `with_positions`, as in files."""
    row = question.to_json()
    row["answer_groups"] = [
        [_without_position_keys(answer) for answer in group] for group in row["answer_groups"]
    ]
    return QuestionAnswers.model_validate(row)


def _without_position_keys(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in _POSITION_KEYS}


def drop_equal_answers(answers: Iterable[LocatedAnswer]) -> tuple[LocatedAnswer, ...]:
    """Return `answers` without repetitions: equal question, article, position and gloss."""
    by_key: dict[tuple[object, ...], LocatedAnswer] = {}
    for item in answers:
        by_key[item.index, item.answer.aid, item.start, item.end, item.answer.gloss] = item
    return tuple(by_key.values())


def drop_repetitions(
    questions: Sequence[QuestionAnswers],
) -> tuple[list[QuestionAnswers], list[dict[str, str]]]:
    """Return the questions without repetitions, and the dropped questions with the reason.

    Questions with rivals have priority, then those with most memberships (an article in a group).
    A question is dropped if the share `MIN_REPETITION` of its memberships is in a question of
    higher priority. The order does not change; answers need their positions (`with_positions`).
    """
    order = sorted(
        range(len(questions)),
        key=lambda n: (questions[n].kind != "rivals", -_n_memberships(questions[n]), n),
    )
    kept_indices: list[int] = []
    dropped = []
    for n in order:
        original = next(
            (
                m
                for m in kept_indices
                if repetition_share(questions[n], questions[m]) >= MIN_REPETITION
            ),
            None,
        )
        if original is None:
            kept_indices.append(n)
        else:
            reason = f"its answers are those to {questions[original].question!r}"
            dropped.append({"question": questions[n].question, "why": reason})
    return [questions[n] for n in sorted(kept_indices)], dropped


def repetition_share(question: QuestionAnswers, other_question: QuestionAnswers) -> float:
    """Return the share of a question's memberships that are also in another question, in [0, 1].

    The groups of both questions are matched one to one (linear assignment) to maximise the number
    of common memberships (an article is in both groups with the same passage). Equal passages in
    unmatched groups do not count.
    """
    from scipy.optimize import linear_sum_assignment

    n = _n_memberships(question)
    if not n:
        return 0.0
    common: NDArray[np.int_] = np.array(
        [
            [_n_common(group, other_group) for other_group in other_question.answer_groups]
            for group in question.answer_groups
        ]
    ).reshape(len(question.answer_groups), len(other_question.answer_groups))
    rows, columns = linear_sum_assignment(common, maximize=True)
    return float(common[rows, columns].sum()) / n


def _n_memberships(question: QuestionAnswers) -> int:
    return sum(len({answer.aid for answer in group}) for group in question.answer_groups)


def _n_common(group: Sequence[Answer], other_group: Sequence[Answer]) -> int:
    return len({a.aid for a in group for b in other_group if a.aid == b.aid and _same_words(a, b)})


def _same_words(a: Answer, b: Answer) -> bool:
    (start, end), (other_start, other_end) = _position(a), _position(b)
    common = min(end, other_end) - max(start, other_start)
    longer = max(end - start, other_end - other_start)
    return common > 0 and common >= SAME_WORDS * longer


def _position(answer: Answer) -> tuple[int, int]:
    extra = answer.model_extra or {}
    return extra["start"], extra["end"]
