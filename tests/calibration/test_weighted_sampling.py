"""Means of items sampled with unequal probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.calibration.drawn_ppi import PartlyLabelled, drawn_mean, inclusion_probabilities_of
from fairjudge.calibration.estimates import system_estimates
from fairjudge.calibration.items import join
from fairjudge.calibration.ppi import PpiMean
from fairjudge.domain import Estimate, Judgement, Label, Undefined
from fairjudge.errors import StatisticsError


def sample(human, judged, chances, rest, documents=None, rest_documents=None) -> PartlyLabelled:
    return PartlyLabelled(
        human=np.array(human, dtype=float),
        judged=np.array(judged, dtype=float),
        inclusion_probabilities=np.array(chances, dtype=float),
        documents=documents or [f"d{n}" for n in range(len(human))],
        rest=np.array(rest, dtype=float),
        rest_documents=rest_documents or [f"r{n}" for n in range(len(rest))],
    )


def test_mean_by_hand():
    # Weights 1/0.5 and 1/0.25, normalised: 1/3 and 2/3. Residuals Y - f are 1 and 0, so the
    # correction is 1/3; the judge's mean over all four is (0 + 1 + 1 + 0) / 4 = 1/2.
    estimate = drawn_mean(sample([1, 1], [0, 1], [0.5, 0.25], [1, 0]), tuning=1.0)
    assert isinstance(estimate, PpiMean)
    assert estimate.ppi_plus.value == pytest.approx(1 / 3 + 1 / 2)
    # Without the judge: 1/3 x 1 + 2/3 x 1.
    assert estimate.classical.value == pytest.approx(1.0)
    assert estimate.naive.value == pytest.approx(0.5)


def test_variance_by_hand():
    # Influences with lambda 1: of each labelled item w (Y - f - 1/3), so 2/9 and -2/9, as the
    # jackknife has them: over 1 - w, so 1/3 and -2/3, times the root of 1 - 1/2; and of each item
    # (f - 1/2) / 4. A t with one degree of freedom (12.7062) as two documents are labelled.
    estimate = drawn_mean(sample([1, 1], [0, 1], [0.5, 0.25], [1, 0]), tuning=1.0)
    assert isinstance(estimate, PpiMean)
    root = np.sqrt(1 / 2)
    squares = (root / 3 - 1 / 8) ** 2 + (-2 * root / 3 + 1 / 8) ** 2 + 2 * (1 / 8) ** 2
    assert estimate.ppi.high is not None
    half = estimate.ppi.high - estimate.ppi.value
    assert half == pytest.approx(12.7062047 * np.sqrt(squares), rel=1e-6)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=20),
    st.floats(0.05, 1.0),
)
def test_only_ratios_of_probabilities_matter(pairs, factor):
    human, judged = zip(*pairs, strict=True)
    chances = np.linspace(0.3, 1.0, len(pairs))
    first = drawn_mean(sample(human, judged, chances, [0.2, 0.9]), tuning=0.7)
    two = drawn_mean(sample(human, judged, chances * factor, [0.2, 0.9]), tuning=0.7)
    assert isinstance(first, PpiMean)
    assert isinstance(two, PpiMean)
    assert two.ppi_plus.value == pytest.approx(first.ppi_plus.value)
    assert two.ppi_plus.low == pytest.approx(first.ppi_plus.low)


def test_equal_probabilities_without_judge_give_the_classical_mean():
    human = [0, 1, 1, 0, 1, 1]
    estimate = drawn_mean(sample(human, [0] * 6, [0.4] * 6, [0] * 4), tuning=0.0)
    assert isinstance(estimate, PpiMean)
    # s^2 / n with n - 1: variance 8/36 x 6/5 / 6.
    assert estimate.classical.value == pytest.approx(4 / 6)
    assert estimate.classical.high is not None
    half = estimate.classical.high - estimate.classical.value
    assert half == pytest.approx(2.5705818 * np.sqrt(8 / 36 * 6 / 5 / 6), rel=1e-6)


def test_difference_matches_means_and_accounts_for_shared_documents():
    first = sample([1, 1, 0, 1], [1, 1, 0, 0], [0.5, 0.5, 1, 1], [1], documents=list("abcd"))
    second = sample([1, 1, 0, 0], [1, 1, 0, 0], [0.5, 0.5, 1, 1], [1], documents=list("abcd"))
    apart = sample([1, 1, 0, 0], [1, 1, 0, 0], [0.5, 0.5, 1, 1], [1], documents=list("efgh"))
    result = drawn_mean(first, second, tuning=1.0)
    other = drawn_mean(first, apart, tuning=1.0)
    means = [drawn_mean(item, tuning=1.0) for item in (first, second)]
    assert isinstance(result, PpiMean)
    assert isinstance(other, PpiMean)
    assert result.ppi.value == pytest.approx(means[0].ppi.value - means[1].ppi.value)
    assert result.ppi.value == pytest.approx(other.ppi.value)
    # In shared documents the two means move together, so their difference is surer.
    assert result.classical.high - result.classical.low < other.classical.high - other.classical.low


@pytest.mark.parametrize(
    "labelled",
    [
        sample([1], [1], [0.5], [1, 0]),
        sample([1, 0], [1, 0], [0.5, 0.5], [1], documents=["same", "same"]),
    ],
)
def test_too_few_labels_are_undefined(labelled):
    assert isinstance(drawn_mean(labelled), Undefined)


def test_zero_probability_raises():
    with pytest.raises(StatisticsError, match="probabilities"):
        sample([1, 0], [1, 0], [0.0, 0.5], [])


def test_incomplete_or_conflicting_probabilities_are_undefined():
    first = frozenset({0.5})
    none: frozenset[float | None] = frozenset({None})
    assert inclusion_probabilities_of("ab", {"a": none, "b": none}) is None
    assert isinstance(inclusion_probabilities_of("ab", {"a": first, "b": none}), Undefined)
    assert isinstance(inclusion_probabilities_of("a", {"a": frozenset({0.5, 0.6})}), Undefined)
    result = inclusion_probabilities_of("ab", {"a": first, "b": frozenset({0.25})})
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [0.5, 0.25]


def judged(system: str, n: int, value: float) -> Judgement:
    return Judgement(
        eid=f"e{n}", system=system, aspect="coverage", protocol="binary", judge="j", value=value
    )


def labelled(system: str, n: int, value: float, probability: float | None) -> Label:
    row = {"eid": f"e{n}", "system": system, "aspect": "coverage", "annotator": "ann"}
    return Label(**row, value=value, probability=probability)


def test_calibrate_weights_by_the_probabilities_in_the_labels():
    judgements = [judged(system, n, n % 2) for system in "ab" for n in range(8)]
    labels = [
        labelled("a", 0, 1, 0.25),
        labelled("a", 1, 1, 0.5),
        labelled("a", 2, 0, 1.0),
        labelled("b", 0, 1, 0.5),
        labelled("b", 1, 0, 0.5),
    ]
    (joined,) = join(judgements, labels)
    assert any("unequal probabilities" in note for note in joined.notes)
    first, second, difference = system_estimates(joined, level=0.95)
    # Weights 4, 2, 1 of 7.
    assert isinstance(first.classical, Estimate)
    assert first.classical.value == pytest.approx(6 / 7)
    assert isinstance(second.classical, Estimate)
    assert second.classical.value == pytest.approx(1 / 2)
    assert isinstance(difference.classical, Estimate)
    assert difference.classical.value == pytest.approx(6 / 7 - 1 / 2)


def test_labels_with_missing_probabilities_give_no_mean():
    judgements = [judged("a", n, n % 2) for n in range(8)]
    labels = [labelled("a", 0, 1, 0.25), labelled("a", 1, 1, None), labelled("a", 2, 0, 0.5)]
    (joined,) = join(judgements, labels)
    (estimate,) = system_estimates(joined, level=0.95)
    assert isinstance(estimate.ppi, Undefined)
    assert isinstance(estimate.classical, Undefined)
    assert isinstance(estimate.naive, Estimate)


@pytest.mark.slow
def test_difference_intervals_cover_if_systems_share_documents():
    """Nominal 95 % over 800 runs: within three standard errors (0.8 % each) of the simulation.

    Two systems on 120 shared documents of 6 items; documents shift both systems' answers alike,
    and the judge is drawn from by its own uncertainty. The true difference is 0.
    """
    rng = np.random.default_rng(3)
    hits = []
    for _ in range(800):
        shift = np.repeat(0.8 * rng.standard_normal(120), 6)
        documents = np.repeat(np.arange(120), 6)
        sides = []
        for _ in range(2):
            logits = 2.0 * rng.standard_normal(shift.size)
            judged_here = 1.0 / (1.0 + np.exp(-logits))
            human = (rng.random(shift.size) < 1.0 / (1.0 + np.exp(-logits - shift))).astype(float)
            size = np.sqrt(judged_here * (1.0 - judged_here))
            chances = np.minimum(1.0, 150 * (0.25 / size.size + 0.75 * size / size.sum()))
            is_drawn = rng.random(size.size) < chances
            sides.append(
                PartlyLabelled(
                    human=human[is_drawn],
                    judged=judged_here[is_drawn],
                    inclusion_probabilities=chances[is_drawn],
                    documents=documents[is_drawn].tolist(),
                    rest=judged_here[~is_drawn],
                    rest_documents=documents[~is_drawn].tolist(),
                )
            )
        result = drawn_mean(*sides)
        assert isinstance(result, PpiMean)
        hits.append(result.ppi_plus.low <= 0.0 <= result.ppi_plus.high)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.024)
