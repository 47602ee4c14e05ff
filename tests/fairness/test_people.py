"""Fairness as people see it: shares and facts, leanings, and the temperature of a scorer."""

import json

import numpy as np
import pytest
from scipy.stats import pearsonr

import fairjudge as fj
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.fairness.coverage_parity import contributions
from fairjudge.fairness.equal_coverage import coverage_by_value
from fairjudge.fairness.people_alignment import (
    MeasuredSample,
    compare_groups,
    compare_summaries,
    majority,
)
from fairjudge.fairness.shares import Shares
from fairjudge.stats.resampling import Resampling


def drawing(seed=0, n=2000):
    return Resampling(rng=np.random.default_rng(seed), n_resamples=n)


def sample(value, **differences):
    return MeasuredSample(value=value, differences=differences)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["pos", "pos", "fair"], "pos"),
        (["pos", "neg", "fair"], "fair"),
        (["pos", "pos", "neg", "neg"], "fair"),
        (["pos", "fair"], "fair"),
        (["neg"], "neg"),
        (["fair", "fair", "neg"], "fair"),
    ],
)
def test_majority_of_annotators_by_hand(labels, expected):
    assert majority(labels) == expected


def test_agreement_of_measures_with_people_by_hand():
    people = {1: "pos", 2: "neg", 3: "fair", 4: "pos", 5: "fair", 6: "neg"}
    first = {
        1: sample(0.2, pos=0.1, neg=-0.1),  # right
        2: sample(0.4, pos=0.2, neg=-0.2),  # wrong
        3: sample(0.1, pos=0.0, neg=0.0),  # .1 of .4: .25
        4: sample(0.1, pos=0.1, neg=0.0),  # right, as the second is
        5: sample(0.2, pos=0.0, neg=0.0),  # .5
        6: sample(0.1, pos=0.1, neg=0.1),  # a tie says nothing
    }
    second = {
        1: sample(50.0, pos=-1.0, neg=1.0),  # wrong
        2: sample(10.0, pos=-1.0, neg=1.0),  # right
        3: sample(40.0, pos=0.0, neg=0.0),  # 40 of 50: .8
        4: sample(10.0, pos=1.0, neg=0.0),
        5: sample(25.0, pos=0.0, neg=0.0),  # .5, as near
        6: sample(10.0, pos=1.0, neg=0.0),
        7: sample(99.0, pos=1.0, neg=0.0),  # nobody was asked
    }
    result = compare_summaries(people, first, second, resampling=drawing())
    assert (result.n, result.first, result.second, result.neither) == (6, 2, 1, 3)
    assert result.difference.value == pytest.approx(1 / 6)
    few = compare_summaries({1: "pos"}, first, second, resampling=drawing())
    assert (few.difference.value, few.difference.p_value) == (1.0, None)


def test_agreement_rate_of_the_paper_is_significant():
    # 17 of 25 against 8: the paper has p < .05 by paired bootstrap; one-sided it is .03
    people = dict.fromkeys(range(25), "pos")
    right, wrong = sample(1.0, pos=1.0, neg=0.0), sample(1.0, pos=0.0, neg=1.0)
    first = {n: right if n < 17 else wrong for n in people}
    second = {n: wrong if n < 17 else right for n in people}
    result = compare_summaries(people, first, second, resampling=drawing(n=5000))
    assert (result.first, result.second) == (17, 8)
    # Binomial(25, 17/25) at 12.5 or fewer: .036 a side
    assert result.difference.p_value == pytest.approx(0.072, abs=0.02)


def test_difference_intervals_have_nominal_coverage():
    rng = np.random.default_rng(8)
    right, wrong = sample(1.0, pos=1.0, neg=0.0), sample(1.0, pos=0.0, neg=1.0)
    n_held = 0
    for place in range(400):
        people = dict.fromkeys(range(60), "pos")
        first, second = (
            {n: right if hit else wrong for n, hit in enumerate(rng.random(60) < chance)}
            for chance in (0.7, 0.5)
        )
        result = compare_summaries(people, first, second, resampling=drawing(place, 500)).difference
        n_held += result.low <= 0.2 <= result.high
    assert 0.92 <= n_held / 400 <= 0.975  # 95 %, and two standard deviations of 400 draws


def test_groups_by_hand():
    # All lean to pos. c_pos is above c_neg in all: parity finds pos in all groups. Only neg lacks
    # what it should have, so SOF finds pos too; with the shortfalls turned about, neg.
    leanings = ["pos"] * 6
    covered = coverage_by_value(np.array([[0.1], [0.5]]), ["neg", "pos"])
    parts = contributions([covered] * 6)

    def shares(summary_shares):
        expected = np.full((6, 2), 0.5)
        return Shares(
            values=("neg", "pos"), targets=expected, actual=np.tile([summary_shares], (6, 1))
        )

    same = compare_groups(leanings, parts, shares([0.3, 0.7]), resampling=drawing(n=300))
    assert (same.n_groups, same.first, same.second) == (300, 1.0, 1.0)
    turned = compare_groups(leanings, parts, shares([0.7, 0.3]), resampling=drawing(n=300))
    assert (turned.first, turned.second) == (1.0, 0.0)
    # fair summaries lean nowhere: no group counts
    nobody = compare_groups(["fair"] * 6, parts, shares([0.7, 0.3]), resampling=drawing(n=300))
    assert (nobody.n_groups, nobody.first) == (0, None)


CLUSTERS = [
    {
        "eid": f"e{n}",
        "articles": [
            {"aid": "1", "content": "great pasta", "attributes": {"s": "pos"}},
            {"aid": "2", "content": "cold soup", "attributes": {"s": "neg"}},
        ],
    }
    for n in range(8)
]
SUMMARIES = [{"eid": f"e{n}", "system": "x", "text": "Great pasta."} for n in range(8)]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_human_shares_and_facts_are_measured_like_scorer_output(tmp_path):
    rows = [
        # 3 facts of pos, 1 of neg, one of both, one made up: 4 to 2
        {"eid": "e0", "system": "x",
         "facts": [["pos"], ["pos"], ["pos"], ["neg"], ["pos", "neg"], []]},
        {"eid": "e1", "system": "x", "shares": {"pos": 1, "neg": 1}},
    ]  # fmt: skip
    scorer = f"people:{write(tmp_path / 'h.jsonl', rows[:1])}"
    result = fj.fairness.proportionality(CLUSTERS, SUMMARIES, attribute="s", scorer=scorer)
    (sample,) = result.to_dict()["samples"]
    assert dict(zip(sample["values"], sample["summary"], strict=True)) == pytest.approx(
        {"neg": 2 / 6, "pos": 4 / 6}
    )
    # p_x is a half each: neg has 1/3 < .8 / 2, UER (1/6) / 2
    assert sample["unfair"]
    assert sample["uer"] == pytest.approx(100 / 12)
    reasons = result.to_dict()["systems"]["x"]["excluded_by_reason"]
    assert reasons == {"unscored": 7}
    path = write(tmp_path / "b.jsonl", [{**rows[0], "shares": {"pos": 1}}])
    with pytest.raises(InputError, match="expected 'shares', 'facts', or"):
        fj.fairness.proportionality(CLUSTERS, SUMMARIES, attribute="s", scorer=f"people:{path}")


def test_temperature_with_best_agreement_with_people(tmp_path):
    rng = np.random.default_rng(3)
    gaps = rng.normal(0, 0.15, 8)
    scores = [
        {"eid": f"e{n}", "system": "x", "scores": {"pos": gap, "neg": 0.0}}
        for n, gap in enumerate(gaps)
    ]
    human = [
        {"eid": f"e{n}", "system": "x",
         "shares": {"pos": 1 / (1 + np.exp(-gap / 0.2)), "neg": 1 - 1 / (1 + np.exp(-gap / 0.2))}}
        for n, gap in enumerate(gaps)
    ]  # fmt: skip
    result = fj.fairness.temperature(
        CLUSTERS, SUMMARIES, attribute="s", scorer=f"matrix:{write(tmp_path / 'm.jsonl', scores)}",
        human=write(tmp_path / "h.jsonl", human), temperatures=[0.01, 0.2, 5.0],
    )  # fmt: skip
    assert result["best"] == 0.2
    by_temperature = {item["temperature"]: item["value"] for item in result["temperatures"]}
    assert by_temperature[0.2] == pytest.approx(1.0)
    sharp = 1 / (1 + np.exp(-gaps / 0.01))
    people = [item["shares"]["pos"] for item in human]
    theirs = pearsonr([*sharp, *(1 - sharp)], [*people, *(1 - np.array(people))]).statistic
    assert by_temperature[0.01] == pytest.approx(theirs)
    with pytest.raises(ConfigurationError, match="no softmax"):
        fj.fairness.temperature(CLUSTERS, SUMMARIES, attribute="s", scorer="unigrams", human=human)


def test_human_labels_are_compared_with_two_reports(tmp_path):
    # By support pos is covered better in all; by unigrams only pos is in the summary too.
    supports = [
        {"eid": f"e{n}", "system": "x", "aids": ["1", "2"], "units": ["u"],
         "support": [[0.8], [0.2]]}
        for n in range(8)
    ]  # fmt: skip
    coverage = fj.fairness.coverage(
        CLUSTERS, SUMMARIES, attribute="s",
        scorer=f"matrix:{write(tmp_path / 'm.jsonl', supports)}",
    )  # fmt: skip
    shares = fj.fairness.proportionality(CLUSTERS, SUMMARIES, attribute="s")
    leanings = [
        {"eid": f"e{n}", "system": "x", "leaning": "pos", "annotator": annotator}
        for n in range(6)
        for annotator in "ab"
    ]
    result = fj.fairness.people(coverage, shares, leanings=leanings)
    (system,) = result["systems"].values()
    assert (system["n"], system["leanings"]) == (6, {"pos": 6})
    assert system["summaries"]["neither"] == 6  # both agree
    assert system["groups"]["coverage_parity"] == system["groups"]["sof"] == 1.0
    assert "Coverage Parity" in str(result)
    with pytest.raises(InputError, match="no summary in both"):
        fj.fairness.people(coverage, shares, leanings=[leanings[0] | {"system": "y"}])
    with pytest.raises(InputError, match="fairness coverage"):
        fj.fairness.people(shares, coverage, leanings=leanings)
