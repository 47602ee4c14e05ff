"""Items without a score, by kind; the counts are made up by hand."""

import pytest

from fairjudge.domain import Judgement
from fairjudge.scores.missing import count_missing


def rows(*reasons: str | None) -> list[Judgement]:
    of = {"system": "s", "aspect": "coverage", "protocol": "likert", "judge": "j"}
    return [
        Judgement.model_validate(
            of | {"eid": f"e{n}", "value": None if reason else 3, "unscored": reason}
        )
        for n, reason in enumerate(reasons)
    ]


def test_kinds_are_distinguished_and_together_are_all():
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
def test_nothing_missing_says_nothing(n):
    result = count_missing(rows(*[None] * n))
    assert (result.n, result.in_words(), result.n_items) == (0, "", n)
