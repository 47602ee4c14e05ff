"""One answer counts under one question: who gets a passage that answers several."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from fairjudge.references.ports import Found

SAME = 0.8
"""Share of characters in common from which on two passages are the same."""


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
    return common > 0 and common >= SAME * (min(lengths) if one_question else max(lengths))
