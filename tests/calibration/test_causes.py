"""What the widest gaps have in common, counted beside all items."""

from __future__ import annotations

from fairjudge.calibration.disagreements import count_causes, find_causes
from fairjudge.calibration.items import join
from fairjudge.domain import Judgement, Label

WHERE = {"system": "s", "aspect": "coverage"}


def judged(n: int, value: float | None, **more: object) -> Judgement:
    unscored = None if value is not None else "refused"
    return Judgement.model_validate(
        {**WHERE, "eid": f"d{n}", "protocol": "likert", "judge": "j", "value": value,
         "unscored": unscored, **more}
    )  # fmt: skip


def label(n: int, value: float, annotator: str = "p") -> Label:
    return Label(eid=f"d{n}", annotator=annotator, value=value, **WHERE)


def causes(rows, labels, words=None):
    (joined,) = join(rows, labels)
    result = find_causes(joined, rows, words=words or {})
    return {key[0]: items for key, items in result.items()}


def test_each_cause_is_derived_from_the_records():
    reason = "x" * 50
    rows = [
        judged(0, 5, raw=reason),
        judged(1, 5, raw="Verdict: 5"),
        judged(2, 5, raw=reason, repeat=0),
        judged(2, None, raw=reason, repeat=1),
        judged(3, 4, raw=reason, fallback_for="refused"),
        *(judged(4, value, raw=reason, repeat=n) for n, value in enumerate((1, 2, 3))),
        judged(5, 3, raw=reason),
        judged(6, 2.5, scored_by="embedding"),
    ]
    labels = [*(label(n, 3) for n in range(7)), label(0, 1, "q"), label(5, 4, "q")]
    result = causes(rows, labels)
    assert result == {
        "d0": ("people_differ",),  # 3 and 1 on 1 to 5
        "d1": ("no_reason",),
        "d2": ("partly_unscored",),
        "d3": ("filled_in",),
        "d4": ("judge_unsure",),
        "d5": (),
        "d6": (),
    }


def test_shortest_and_longest_thirds_are_marked():
    rows = [judged(n, 1 + n % 5, raw="x" * 50) for n in range(6)]
    words = {(f"d{n}", "s"): 100 * n for n in range(6)}
    result = causes(rows, [label(n, 3) for n in range(6)], words)
    assert [result[f"d{n}"] for n in range(6)] == [
        ("short",), ("short",), (), (), ("long",), ("long",),
    ]  # fmt: skip


def test_pair_following_position_has_cause_position():
    pair = {"eid": "d", "system_a": "x", "system_b": "y", "aspect": "coverage", "judge": "j",
            "protocol": "pairwise", "unscored": None, "raw": "x" * 50}  # fmt: skip
    orders = [("ab", "a"), ("ba", "b")]
    rows = [Judgement.model_validate({**pair, "order": o, "value": v, "flipped": True})
            for o, v in orders]  # fmt: skip
    labels = [Label(eid="d", system_a="x", system_b="y", aspect="coverage", annotator="p",
                    value="a")]  # fmt: skip
    assert causes(rows, labels) == {"d": ("judge_unsure", "position")}
    assert causes(rows[:1], labels) == {"d": ("position", "one_order")}


def test_causes_are_counted_among_listed_and_all_items():
    by_name = {(f"d{n}", "s", "", "summary"): ("long",) if n < 4 else () for n in range(10)}
    (cause,) = count_causes(by_name, list(by_name)[:3])
    assert (cause.cause, cause.n_listed, cause.listed, cause.n_all, cause.all) == (
        "long",
        3,
        3,
        4,
        10,
    )
