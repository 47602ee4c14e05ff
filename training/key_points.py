"""Arguments beside key points, as people matched them, and beside those of the other stance."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from training.data import (
    CONTRADICTED,
    DATA,
    SUPPORTED,
    UNSUPPORTED,
    Example,
    Row,
    Split,
    rows,
    share,
)

TEST_TOPICS = 2
"""Topics of the training file that are only measured on; the curve has the topics of `dev`."""
TOPIC_CAP = 200
"""Most matches of a topic, so that no topic weighs much more than another."""
UNMATCHED = OTHER_STANCE = 0.75
"""Arguments beside a key point that they do not make, of one stance and of the other, a match."""


def key_points(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield whether an argument supports a key point: matched, unmatched, or of the other stance.

    They are as 4 to 3 to 3 where a topic has enough of them. What people matched with no key point
    of its own stance says nothing of it; a key point of the other stance counts as contradicted.
    """
    topics: dict[str, list[Row]] = defaultdict(list)
    for row in topic_rows(split, folder=folder):
        topics[row["topic"]].append(row)
    for topic, arguments in sorted(topics.items()):
        draw = random.Random(f"key points {topic} {seed}")
        matched = [row for row in arguments if row["match"]]
        matched = draw.sample(matched, k=min(TOPIC_CAP, len(matched)))
        unmatched = [row for row in arguments if not row["match"]]
        unmatched = draw.sample(unmatched, k=min(round(UNMATCHED * len(matched)), len(unmatched)))
        for row in (*matched, *unmatched):
            label = SUPPORTED if row["match"] else UNSUPPORTED
            yield _example(row["key_point"], row, label)
        for _ in range(round(OTHER_STANCE * len(matched))):
            row = draw.choice(arguments)
            if others := sorted(
                {o["key_point"] for o in arguments if o["stance"] != row["stance"]}
            ):
                yield _example(draw.choice(others), row, CONTRADICTED)


def topic_rows(split: Split, *, folder: Path = DATA) -> list[Row]:
    """Return people's labels of the topics of a split."""
    if split == "calibrate":
        return rows("key_points_dev", folder=folder)
    by_topic = rows("key_points", folder=folder)
    test = sorted({row["topic"] for row in by_topic}, key=share)[:TEST_TOPICS]
    return [row for row in by_topic if (row["topic"] in test) == (split == "test")]


def _example(key_point: str, row: Row, label: int) -> Example:
    topic = row["topic"]
    return Example("points", key_point, row["argument"], label, f"key points: {topic}", topic)
