"""Arguments paired with key points: with human labels, and with those of the other stance."""

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
"""Number of test topics in the training file; the learning curve uses the topics of `dev`."""
TOPIC_CAP = 200
"""Maximum matches per topic, so that topics have similar weight."""
UNMATCHED = OTHER_STANCE = 0.75
"""Number of unmatched pairs per match, of the same stance and of the other stance."""


def key_points(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield whether an argument supports a key point: matched, unmatched, or of the other stance.

    The proportions are 4 : 3 : 3 if a topic has enough pairs. An unmatched key point of the same
    stance is unsupported; a key point of the other stance is contradicted.
    """
    topics: dict[str, list[Row]] = defaultdict(list)
    for row in topic_rows(split, folder=folder):
        topics[row["topic"]].append(row)
    for topic, arguments in sorted(topics.items()):
        draw = random.Random(f"key points {topic} {seed}")
        matches = [row for row in arguments if row["match"]]
        matches = draw.sample(matches, k=min(TOPIC_CAP, len(matches)))
        non_matches = [row for row in arguments if not row["match"]]
        non_matches = draw.sample(
            non_matches, k=min(round(UNMATCHED * len(matches)), len(non_matches))
        )
        for row in (*matches, *non_matches):
            label = SUPPORTED if row["match"] else UNSUPPORTED
            yield _example(row["key_point"], row, label)
        for _ in range(round(OTHER_STANCE * len(matches))):
            row = draw.choice(arguments)
            if other_points := sorted(
                {o["key_point"] for o in arguments if o["stance"] != row["stance"]}
            ):
                yield _example(draw.choice(other_points), row, CONTRADICTED)


def topic_rows(split: Split, *, folder: Path = DATA) -> list[Row]:
    """Return the human labels of the topics of a split."""
    if split == "calibrate":
        return rows("key_points_dev", folder=folder)
    by_topic = rows("key_points", folder=folder)
    test = sorted({row["topic"] for row in by_topic}, key=share)[:TEST_TOPICS]
    return [row for row in by_topic if (row["topic"] in test) == (split == "test")]


def _example(key_point: str, row: Row, label: int) -> Example:
    topic = row["topic"]
    return Example("points", key_point, row["argument"], label, f"key points: {topic}", topic)
