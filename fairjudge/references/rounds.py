"""What a round of the pipeline by article decides without a model."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
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
from fairjudge.text.counting import pluralize

ASKED_FOR_ONE = 1.5
"""Questions asked for each that is wanted: about a third do not stay."""
SAME_PASSAGE = 0.8
"""Share of characters in common from which on two passages are the same."""


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
            n_articles = pluralize(len(question.expected), "article")
            why = f"expected to be answered by {n_articles} only"
        elif len(drop_near_duplicates([*known, question.text])) == len(drop_near_duplicates(known)):
            why = "nearly the same as another question"
        else:
            kept.append(question.text)
            continue
        if question.text not in earlier:
            dropped.append({"question": question.text, "why": why})
    return kept, dropped


def claim(found: Sequence[Found], *, taken: Sequence[Found] = ()) -> tuple[Found, ...]:
    """Return the answers that count: a passage of an article answers one question, once.

    `found` are answers of any articles to any questions, and those that count keep their order;
    `taken` ones count already, under other questions.

    Passages under two questions are the same if they have 80 % of the longer one's characters in
    common: a clause and the sentence around it may answer different questions. Under one question
    80 % of the shorter one's are enough: its point stands in the longer.

    Of passages that are the same, the one is kept whose question would lose the article without
    it; then the one whose question fewer articles answer; then the longer one; then the first. The
    model that quotes was told to name the best question itself, so that this settles only what it
    left open, and settles it for the voice that is easiest lost.
    """
    by_cell = Counter((one.index, one.answer.aid) for one in found)
    by_question = Counter(index for index, _ in by_cell)
    ranked = sorted(
        range(len(found)),
        key=lambda n: (
            by_cell[found[n].index, found[n].answer.aid] > 1,
            by_question[found[n].index],
            found[n].start - found[n].end,
            n,
        ),
    )
    earlier: dict[str, list[Found]] = defaultdict(list)
    for one in taken:
        earlier[one.answer.aid].append(one)
    held: dict[str, list[Found]] = defaultdict(list)
    kept: list[int] = []
    for n in ranked:
        one, aid = found[n], found[n].answer.aid
        if any(_same(one, other, one_question=False) for other in earlier[aid]):
            continue
        if not any(_same(one, o, one_question=one.index == o.index) for o in held[aid]):
            held[aid].append(one)
            kept.append(n)
    return tuple(found[n] for n in sorted(kept))


def _same(one: Found, other: Found, *, one_question: bool) -> bool:
    common = min(one.end, other.end) - max(one.start, other.start)
    lengths = one.end - one.start, other.end - other.start
    return common > 0 and common >= SAME_PASSAGE * (min(lengths) if one_question else max(lengths))


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
    places = {name: row[name] for name in _PLACES}
    return Found(answer=Answer.model_validate(_bare(row)), **places)


def without_places(question: QuestionAnswers) -> QuestionAnswers:
    """Return `question` as files have it."""
    row = question.to_json()
    row["answer_groups"] = [[_bare(answer) for answer in group] for group in row["answer_groups"]]
    return QuestionAnswers.model_validate(row)


def _bare(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in _PLACES}
