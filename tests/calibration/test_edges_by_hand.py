"""Edges of the figures of calibration, each worked out by hand."""

import numpy as np
import pytest
from builders import make_label

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.analysis import Settings, analyse
from fairjudge.calibration.calibration_report import equal_size_bins
from fairjudge.calibration.drawn_ppi import PartlyLabelled, drawn_mean
from fairjudge.calibration.estimates import system_estimates
from fairjudge.calibration.items import JoinedItems, join
from fairjudge.calibration.length import control_length
from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.calibration.samples import MAX_SYSTEMS_IN_PAIRS
from fairjudge.calibration.scales import infer_scale, is_off_scale, rescale
from fairjudge.calibration.temperature import DistributionReport, distribution_report
from fairjudge.domain import Judgement, Label, Summary, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats.clustered import clustered_mean, influence_variance, t_p_value
from fairjudge.stats.multiplicity import benjamini_hochberg, holm


def test_bins_have_equal_size_and_keep_ties_together():
    # ten scores in five bins: the middles of their ranks are 0.05, 0.15 ... of all, times 5
    assert equal_size_bins(np.arange(10.0), 5).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    # equal scores stay together: 8 of 11 are 0, whose middle is 4/11; 1, 2, 3 are 8.5/11 and up
    scores = np.array([0.0] * 8 + [1.0, 2.0, 3.0])
    assert equal_size_bins(scores, 3).tolist() == [0] * 0 + [0] * 8 + [1, 1, 1]
    assert equal_size_bins(np.array([5.0, 5.0]), 3).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("values", "protocol", "scale"),
    [
        ([0, 1, 1], "binary", (0, 1)),
        ([1, 1, 1], "binary", (0, 1)),
        ([1, 1, 1], "likert", (1, 5)),
        ([1, 2, 3, 4, 0], "likert", (1, 5)),  # exactly a fifth lies off
        ([1, 2, 3, 0], "likert", (0, 10)),  # a quarter does
        ([0, 0, 1], "likert", (0, 1)),
        ([], "likert", (1, 5)),
        ([200, 300], "likert", (200, 300)),
        ([0.5], "pairwise", (-1, 1)),
    ],
)
def test_scale_of_values_by_hand(values, protocol, scale):
    assert infer_scale(np.array(values, dtype=float), protocol) == scale


def test_values_beyond_the_endpoints_are_off_scale():
    assert is_off_scale(np.array([0.9, 1.0, 5.0, 5.1]), (1, 5)).tolist() == [
        True,
        False,
        False,
        True,
    ]


def test_scales_are_mapped_linearly():
    values = np.array([1.0, 2.0, 5.0])
    assert rescale(values, (1, 5), (0, 1)).tolist() == [0.0, 0.25, 1.0]
    assert rescale(values, (1, 5), (1, 5)) is values
    assert rescale(values, (2, 2), (0, 1)) is values  # one point has no line


@pytest.mark.parametrize(("difference", "p"), [(0.0, 1.0), (1.0, 0.125), (-0.2, 0.125)])
def test_p_value_of_equal_documents_is_from_the_sign_flip_test(difference, p):
    assert t_p_value(difference, 0.0, 3) == p


def test_p_values_lie_from_0_to_1():
    for bad in ([-0.1, 0.5], [0.5, 1.1], [-0.1], [1.1]):
        with pytest.raises(StatisticsError, match=r"p-values must lie in \[0, 1\]"):
            holm(bad)
        with pytest.raises(StatisticsError, match=r"p-values must lie in \[0, 1\]"):
            benjamini_hochberg(bad)
    assert holm([0.0, 1.0]).tolist() == [0.0, 1.0]


def test_variance_of_two_documents():
    # sums by document 3 and -1: (9 + 1) x 2 / (2 - 1)
    influence = np.array([1.0, 2.0, -1.0])
    assert influence_variance(influence, np.array([0, 0, 1]), 2) == 20.0
    assert influence_variance(influence, np.array([0, 0, 0]), 1) == 0.0


def test_rounding_residue_of_equal_documents_is_ignored():
    # both documents have the mean 2/3, whose sums of residuals are 0 but for rounding
    estimate = clustered_mean([1.0, 1.0, 0.0] * 2, ["a"] * 3 + ["b"] * 3, null=0.0)
    assert estimate.low == estimate.high == estimate.value
    assert estimate.p_value == 0.5  # of two sign flips in four


def test_estimate_needs_two_labelled_items():
    def sample(n):
        return PartlyLabelled(
            human=np.array([1.0, 0.0])[:n],
            judged=np.array([1.0, 0.5])[:n],
            inclusion_probabilities=np.array([0.5, 0.5])[:n],
            documents=["a", "b"][:n],
            rest=np.array([0.5, 0.5]),
            rest_documents=["c", "d"],
        )

    assert not isinstance(drawn_mean(sample(2)), Undefined)
    assert drawn_mean(sample(1)) == Undefined(why="1 labelled item: at least 2 are needed")


def judged(eid, system, value=3.0, **more):
    return Judgement(
        eid=eid, system=system, aspect="coverage", protocol="likert", judge="j", value=value, **more
    )


def labelled(eid, system, value=3.0):
    return make_label(eid=eid, system=system, value=value)


def joined(judgements, labels) -> JoinedItems:
    (item,) = join(judgements, labels)
    return item


@pytest.mark.parametrize(("more", "n_pairs"), [(0, 190), (1, 0)])
def test_all_pairs_of_at_most_20_systems_are_compared(more, n_pairs):
    where = [(f"d{d}", f"s{s:02}") for d in range(2) for s in range(MAX_SYSTEMS_IN_PAIRS + more)]
    group = joined([judged(*item) for item in where], [labelled(*item) for item in where])
    kinds = [estimate.kind for estimate in system_estimates(group, level=0.95)]
    assert kinds.count("mean") == 20 + more
    assert kinds.count("difference") == n_pairs


def test_pair_has_two_different_systems():
    def verdicts(second):
        return Comparisons(
            wins=np.array([1.0, 0.0]),
            system_a=("a", "a"),
            system_b=("b", second),
            positions=np.array([1.0, -1.0]),
            documents=("d", "e"),
        )

    control_length(verdicts("b"), [1.0, -1.0])
    with pytest.raises(StatisticsError, match="two different systems"):
        control_length(verdicts("a"), [1.0, -1.0])


def test_probabilities_are_compared_with_labels_equal_to_a_level():
    sure = {"1": 0.1, "2": 0.2, "3": 0.7}
    nothing = dict.fromkeys(sure, 0.0)
    by_name = {"d0": sure, "d1": sure, "d2": None, "d3": nothing, "d4": sure}
    labels = [labelled(eid, "s", 2.5 if eid == "d4" else 3.0) for eid in by_name]

    def report(*documents):
        rows = [judged(eid, "s", probabilities=by_name[eid]) for eid in documents]
        return distribution_report(joined(rows, labels), rng=np.random.default_rng(0))

    result = report(*by_name)
    assert isinstance(result, DistributionReport)
    # one has no probabilities, one gives 0 to all, and one label lies between two levels
    assert (result.n, result.n_left_out, result.levels) == (2, 3, (1.0, 2.0, 3.0))
    assert report("d3", "d4") == Undefined(
        why="no item has both probabilities and a label on one of the levels"
    )


def test_errors_are_grouped_by_length_only_for_single_summaries():
    quick = Settings(resampling=Resampling(n_resamples=20))
    texts = {("d0", "s"): "one", ("d1", "s"): "one two", ("d2", "s"): "one two three four"}
    where = [*texts, ("d3", "s")]  # of which there is no text
    summaries = [Summary(eid=e, system=s, text=text) for (e, s), text in texts.items()]
    rows, labels = [judged(*item) for item in where], [labelled(*item) for item in where]
    (group,) = analyse(rows, labels, settings=quick, summaries=summaries).groups
    assert sum(item.n for item in group.fairness["length"]) == 3
    pairs = [
        Judgement(
            eid=e, system_a=s, system_b="t", order=order, aspect="coverage", protocol="pairwise",
            judge="j", value="a",
        )
        for e, s in texts
        for order in ("ab", "ba")
    ]  # fmt: skip
    items = [
        Label(eid=e, system_a=s, system_b="t", aspect="coverage", annotator="p", value="a")
        for e, s in texts
    ]
    (group,) = analyse(pairs, items, settings=quick, summaries=summaries).groups
    assert "length" not in group.fairness
