"""Replies in the manner of many judges, honest and hostile, and what a person reads in each.

The expectations in ``replies.jsonl`` were written before the reader was run on any of them. Those
marked "held" were kept back until it stood, those marked "third" were written after that. "-" is
unscored with any reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from json_files import read_rows

from fairjudge.domain import Unscored
from fairjudge.parsing import read_verdict
from fairjudge.scales import Scale, binary, likert, options, pairwise, stars

SCALES: dict[str, Scale] = {
    "likert": likert(),
    "likert10": likert([""] * 10),
    "stars": stars(),
    "binary": binary(),
    "pair": pairwise(),
    "letters": options("ABCDE"),
    "words": options(["not_supported", "partially_supported", "supported"]),
}
ROWS = read_rows(Path(__file__).with_name("replies.jsonl"))
LEFT_UNSCORED = {
    "Summary 2 is not worse; it is better.",
    "4-star summary.",
    "Not really, no.",
    "3\n\n1\n2",
    "This summary is poor: 2 out of 5 at best.",
    "Let me think. A 3 would be too harsh and a 5 too generous. 4 it is.",
    "I would call it partially supported, since the date is missing.",
    "No, the correct answer would be yes only if the date matched.",
    "While Summary 1 is concise, Summary 2 covers more answers.",
    "Both cover the same number of answers.",
    "Score: (4 + 2) / 2 = 3",
    "Verdict: <3>",
    "**Answer:** $4$",
    "There is nothing between them: tie.",
}
"""Replies that a person reads and the reader does not: a wrong verdict would be worse."""


@pytest.mark.parametrize("row", ROWS, ids=[str(number) for number in range(1, len(ROWS) + 1)])
def test_reply_matches_human_reading(row):
    reply, verdict = row["reply"], row["verdict"]
    records = read_verdict(reply, SCALES[row["scale"]], aspect=row.get("aspect", ""))
    if reply in LEFT_UNSCORED:
        assert isinstance(records, Unscored), reply
    elif isinstance(records, Unscored):
        assert verdict in {"-", records.reason}, reply
        assert records.raw == reply
    else:
        assert records == verdict, reply
