"""Verdicts on several criteria in one reply: each by its name, and no other's."""

from __future__ import annotations

import pytest

from fairjudge.domain import Unscored
from fairjudge.parsing import read_verdicts
from fairjudge.scales import binary, likert

SCALES = {"faithfulness": likert(), "coverage": likert()}


def verdicts(reply: str, *, cut_off: bool = False) -> tuple[object, object]:
    """Return both verdicts, the reason where one is missing."""
    records = read_verdicts(reply, SCALES, cut_off=cut_off)
    items = [item.reason if isinstance(item, Unscored) else item for item in records.values()]
    return items[0], items[1]


@pytest.mark.parametrize(
    "reply",
    [
        '{"faithfulness": {"reasoning": "All 5 are fine.", "verdict": "4"},'
        ' "coverage": {"reasoning": "covers 5 of 12 answers", "verdict": "2"}}',
        'Here:\n```json\n{"faithfulness": 4, "coverage": "2"}\n```',
        '{"scores": {"Faithfulness": 4, "Coverage_score": 2}, "overall": 1}',
        "**Faithfulness**: 4/5 - mostly.\n**Coverage**: I count 3 of 8. Rating: 2\n\nOverall: 5",
        "### Faithfulness\nReasons here.\nVerdict: 4\n\n### Coverage\n3 of 9.\nVerdict: 2\n",
        "| Criterion | Score |\n|---|---|\n| Faithfulness | 4 |\n| Coverage | 2 |",
        "<faithfulness>4</faithfulness>\n<coverage>2</coverage>",
        "1. Faithfulness (1-5): 4\n2. Coverage (1-5): 2",
        "Faithfulness: little is wrong.\nCoverage: half is missing.\n\nFinal verdicts:\n"
        "- Faithfulness: 4\n- Coverage: 2",
        "<think>Faithfulness: 1</think>Faithfulness: 4\nCoverage: 2",
    ],
)
def test_each_verdict_is_read_by_its_name(reply):
    assert verdicts(reply) == (4, 2)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Faithfulness: 4", (4, "unparseable")),
        ('{"faithfulness": 9, "coverage": 3}', ("off_scale", 3)),
        ('{"faithfulness": 4, "coverage": null}', (4, "unparseable")),
        ("Overall score: 4", ("unparseable", "unparseable")),
        ("Verdict: 4", ("unparseable", "unparseable")),
        ("Faithfulness: 4\nCoverage: 2\nFaithfulness: 2", ("unparseable", 2)),
        ('{"faithfulness": {"reasoning": "says \\"coverage\\": 4", "verdict": "5"}}',
         (5, "unparseable")),
        ("I'm sorry, but I can't help with that.", ("refused", "refused")),
        ("", ("unparseable", "unparseable")),
    ],
)  # fmt: skip
def test_missing_verdict_affects_only_its_criterion(reply, expected):
    assert verdicts(reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        '{"faithfulness": {"reasoning": "x", "verdict": "5"}, "coverage": {"reasoning": "covers',
        "Faithfulness: 5\nCoverage: 1",  # the beginning of "1.5", it may be
    ],
)
def test_truncated_reply_keeps_finished_verdicts(reply):
    assert verdicts(reply, cut_off=True) == (5, "unparseable")


def test_criteria_have_separate_scales():
    scales = {"plain style": binary(), "style": likert()}
    reply = '{"plain_style": {"verdict": "yes"}, "style": {"verdict": "3"}}'
    assert read_verdicts(reply, scales) == {"plain style": 1.0, "style": 3.0}
    assert read_verdicts("Plain style: no\nStyle: 2", scales) == {"plain style": 0.0, "style": 2.0}


def test_name_with_another_as_prefix_is_matched_fully():
    scales = {"style": likert(), "style guide": likert()}
    records = read_verdicts("Style guide: 4\nStyle: 2", scales)
    assert records == {"style": 2, "style guide": 4}
