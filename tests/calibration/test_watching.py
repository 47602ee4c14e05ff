"""What several looks say: verdicts, and whether the judge moved or the systems did."""

from __future__ import annotations

import numpy as np
import pytest

from fairjudge.calibration.watching import Look, document_means, watch
from fairjudge.domain import Undefined


def look(
    change: np.ndarray, shift: np.ndarray | float = 0.0, live: np.ndarray | None = None
) -> Look:
    names = [f"d{i}" for i in range(len(change))]
    moved = np.broadcast_to(shift, change.shape)
    return Look(
        agreement=dict(zip(names, change.tolist(), strict=True)),
        shift=dict(zip(names, moved.tolist(), strict=True)),
        live={} if live is None else {f"n{i}": v for i, v in enumerate(live.tolist())},
    )


def noise(rng: np.random.Generator, n: int = 60) -> np.ndarray:
    return rng.choice([-1.0, 0.0, 0.0, 0.0, 1.0], size=n)


@pytest.mark.parametrize("sequence", ["spending", "betting"])
def test_drop_is_detected_and_earlier_checks_are_not_worse(sequence):
    rng = np.random.default_rng(0)
    looks = [look(noise(rng)) for _ in range(4)]
    before = watch(looks, margin=0.05, planned=52, sequence=sequence)
    assert before.verdict == "cannot tell"
    assert before.first_worse is None
    fallen = np.where(np.arange(60) < 42, -1.0, 0.0)
    result = watch([*looks, look(fallen)], margin=0.05, planned=52, sequence=sequence)
    assert (result.verdict, result.moved, result.first_worse) == ("worse", "judge", 5)
    later = watch([*looks, look(fallen), look(noise(rng))], margin=0.05, planned=52)
    assert (later.verdict, later.first_worse) == ("cannot tell", 5)


@pytest.mark.parametrize(
    ("shift", "drop", "moved"),
    [
        (0.0, 0.0, "neither"),
        (-0.3, 0.0, "judge"),  # new summaries fall with the anchors
        (0.0, 0.4, "systems"),
        (-0.3, 0.4, "judge and systems"),
    ],
)
def test_anchors_separate_judge_drift_from_system_changes(shift, drop, moved):
    rng = np.random.default_rng(1)
    at_first = look(np.zeros(60), 0.05 * rng.normal(size=60), rng.uniform(0.5, 1.0, size=80))
    moves = shift + 0.05 * rng.normal(size=60)
    now = look(np.zeros(60), moves, np.clip(rng.uniform(0.5, 1.0, size=80) + shift - drop, 0, 1))
    result = watch([at_first, now], margin=0.05, planned=52)
    assert result.moved == moved


def test_few_documents_or_missing_sides_give_cannot_tell():
    few = watch([look(-np.ones(4))], margin=0.05, planned=52)
    assert few.verdict == "cannot tell"
    assert isinstance(few.systems, Undefined)  # nothing to compare new summaries with
    empty = watch([Look(agreement={}, shift={}, live={})], margin=0.05, planned=52)
    assert (empty.verdict, empty.moved) == ("cannot tell", "neither")


def test_documents_have_equal_weight():
    assert document_means([1.0, 0.0, 1.0], ["a", "a", "b"]) == {"a": 0.5, "b": 1.0}
