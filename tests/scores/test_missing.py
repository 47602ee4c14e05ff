"""Items without a score, by kind; the counts are made up by hand."""

from pathlib import Path
from typing import get_args

import pytest

from fairjudge.domain import UNSCORED_REASONS, Judgement, UnscoredReason
from fairjudge.scores.missing import count_missing, reason_counts

FORMATS = Path(__file__).parents[2] / "docs" / "formats.md"


def rows(*reasons: str | None) -> list[Judgement]:
    of = {"system": "s", "aspect": "coverage", "protocol": "likert", "judge": "j"}
    return [
        Judgement.model_validate(
            of | {"eid": f"e{n}", "value": None if reason else 3, "unscored": reason}
        )
        for n, reason in enumerate(reasons)
    ]


def test_kinds_are_disjoint_and_sum_to_the_total():
    result = count_missing(
        rows(None, "refused", "backend", "budget", "unparseable", "empty_input", None),
        n_not_applicable=3,
    )
    assert result.to_json() == {
        "n_items": 10, "failed": 3, "refused": 1, "not_applicable": 4, "asked_again": 2,
        "reasons": {
            "not applicable": 3, "refused": 1, "backend": 1, "budget": 1, "unparseable": 1,
            "empty_input": 1,
        },
    }  # fmt: skip
    assert (result.n, result.n_lost, result.n_judged) == (8, 5, result.n_items - 3)


@pytest.mark.parametrize("n", [0, 2])
def test_no_missing_scores_give_no_note(n):
    result = count_missing(rows(*[None] * n))
    assert (result.n, result.in_words(), result.n_items) == (0, "", n)


def test_every_reason_is_declared_and_described_on_the_page():
    assert UNSCORED_REASONS.keys() == {*get_args(UnscoredReason)}
    rows = [
        f"| `{reason}` | {info.description} | {info.kind} |"
        for reason, info in UNSCORED_REASONS.items()
    ]
    assert "| `unscored` | why | counted as |\n|---|---|---|\n" + "\n".join(rows) + "\n\n" in (
        FORMATS.read_text("utf-8")
    )


def test_counts_describe_too_long_prompts():
    assert reason_counts({"too_long": 2, "refused": 1}) == "2 prompt too long, 1 refused"
