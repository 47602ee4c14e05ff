"""Results as JSON: one form of a figure, and one where there is no value."""

import json
from dataclasses import dataclass

from fairjudge.domain import Estimate, Undefined
from fairjudge.records.results import COUNT_ONLY, figure, to_json

SHARE = Estimate(value=0.25, low=0.125, high=None, level=0.95, n=8, method="wilson")
NOTHING = {"value": None, "low": None, "high": None, "why": "no pairs"}


@dataclass(frozen=True)
class Inner:
    share: Estimate | Undefined
    names: tuple[str, ...] = ("a", "b")


@dataclass(frozen=True)
class Outer:
    by_level: dict[int, Inner | Undefined]
    tau: float = 0.8


def test_estimate_has_bounds_and_sample_size():
    by_name = {"value": 0.25, "low": 0.125, "high": None, "level": 0.95, "n": 8, "n_excluded": 0,
             "method": "wilson"}  # fmt: skip
    assert figure(SHARE) == by_name
    assert figure(SHARE, times=100.0, keep=COUNT_ONLY) == {
        "value": 25.0, "low": 12.5, "high": None, "n": 8
    }  # fmt: skip


def test_p_value_is_always_shown_if_present():
    tested = Estimate(value=0.5, low=0.0, high=1.0, level=0.95, n=8, method="t", p_value=0.04)
    assert figure(tested, keep=())["p_value"] == 0.04
    assert "p_value" not in figure(SHARE, keep=())


def test_missing_value_has_one_form_at_every_depth():
    none = Undefined(why="no pairs")
    assert to_json(none) == figure(none) == NOTHING
    assert to_json(Inner(none)) == {"share": NOTHING, "names": ["a", "b"]}
    assert to_json(Outer({3: none})) == {"by_level": {"3": NOTHING}, "tau": 0.8}


def test_scaling_applies_to_estimates_not_plain_numbers():
    result = to_json(Outer({1: Inner(SHARE)}), times=100.0, keep=())
    assert result == json.loads(json.dumps(result))
    assert result["tau"] == 0.8
    assert result["by_level"]["1"]["share"] == {"value": 25.0, "low": 12.5, "high": None}
