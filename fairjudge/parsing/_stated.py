"""An answer that a reply states, and how plainly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from fairjudge.parsing._answers import Answer


class Rank(IntEnum):
    """How plainly a reply says that an answer is its verdict; the plainest counts."""

    MENTIONED = 1
    """It speaks of a score: "earning a 4", "4/5"."""
    NAMED = 2
    """A line names a quality and rates it: "Fluency: 4"."""
    SAID = 3
    """"I'd give it a 4", "the score is 4"."""
    RATED = 4
    """"Fluency score: 4"."""
    STATED = 5
    """"Score: 4", or a reply that begins or ends with an answer alone."""
    FINAL = 6
    """A form that was asked for (JSON, tags), or a label that says verdict, final or overall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An answer that may be the verdict; ``revises`` says that it takes back those before it."""

    answer: Answer
    rank: Rank
    revises: bool = False


def several(answer: Answer, end: int) -> Answer:
    """Return that `answer` is one of several, which end at `end`."""
    return replace(answer, end=end, value=None, problem="several")
