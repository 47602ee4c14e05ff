"""What a round of the pipeline by article decides without a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fairjudge.domain import Answer, QuestionAnswers
from fairjudge.references.ports import Found, Question
from fairjudge.references.steps import (
    Validity,
    answering_aids,
    drop_near_duplicates,
    split_valid,
)

ASKED_FOR_ONE = 1.5
"""Questions asked for each that is wanted: about a third do not stay."""


def how_many_to_ask(n_wanted: int) -> int:
    """Return for how many questions to ask, where `n_wanted` are to stay."""
    return math.ceil(ASKED_FOR_ONE * n_wanted)


def asked_otherwise(
    written: Sequence[Question], earlier: Sequence[str], *, least: float
) -> tuple[list[str], list[dict[str, str]]]:
    """Return the questions worth asking, and why each other is not.

    Left out are those nearly the same as another or an `earlier` one, and those that their own
    writer expects fewer than `least` articles to answer.
    """
    kept: list[str] = []
    dropped: list[dict[str, str]] = []
    for question in written:
        known = [*earlier, *kept]
        if question.expected is not None and len(question.expected) < least:
            n = len(question.expected)
            why = f"expected to be answered by {n} article{'s' * (n != 1)} only"
        elif len(drop_near_duplicates([*known, question.text])) == len(drop_near_duplicates(known)):
            why = "nearly the same as another question"
        else:
            kept.append(question.text)
            continue
        if question.text not in earlier:
            dropped.append({"question": question.text, "why": why})
    return kept, dropped


def split_by_share(
    questions: Sequence[QuestionAnswers], n_sources: int, validity: Validity
) -> tuple[list[QuestionAnswers], list[dict[str, str]]]:
    """Split questions by whether sources enough answer them; groups there are none yet."""
    by_share = Validity(min_source_share=validity.min_source_share, min_groups=1)
    return split_valid(questions, n_sources, by_share)


def best_first(questions: Sequence[QuestionAnswers]) -> list[QuestionAnswers]:
    """Return `questions` with those that most articles answer first, ties in the order given."""
    return sorted(questions, key=lambda question: -len(answering_aids(question)))


def with_places(found: Found) -> dict[str, Any]:
    """Return an answer as JSON, with the question it is to and where it stands."""
    return found.answer.to_json() | {"index": found.index, "start": found.start, "end": found.end}


_PLACES = ("index", "start", "end")


def found_in(row: dict[str, Any]) -> Found:
    """Return what `with_places` made `row` of."""
    answer = {name: value for name, value in row.items() if name not in _PLACES}
    places = {name: row[name] for name in _PLACES}
    return Found(answer=Answer.model_validate(answer), **places)


def without_places(question: QuestionAnswers) -> QuestionAnswers:
    """Return `question` as files have it."""
    row = question.to_json()
    row["answer_groups"] = [
        [found_in(answer).answer.to_json() for answer in group] for group in row["answer_groups"]
    ]
    return QuestionAnswers.model_validate(row)
