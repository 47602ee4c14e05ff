"""The Overall score, against the published tables."""

import pytest

from fairjudge.domain import Undefined
from fairjudge.fairness.overall_score import overall

DATA_SETS = ("Amazon", "MITweet", "Article Bias", "SemEval", "News Stance")
# Table 3 of the coverage fairness paper: R_EC by data set, and the printed Overall score.
TABLE_3 = {
    "GPT-3.5": (0.127, 0.050, 0.210, 0.103, 0.433, 0.517),
    "GPT-4": (0.103, 0.067, 0.187, 0.147, 0.380, 0.469),
    "Llama2-7b": (0.127, 0.090, 0.236, 0.083, 0.427, 0.686),
    "Llama2-13b": (0.107, 0.080, 0.239, 0.087, 0.315, 0.441),
    "Llama2-70b": (0.090, 0.057, 0.177, 0.137, 0.308, 0.224),
    "Mistral-7b": (0.127, 0.082, 0.193, 0.115, 0.334, 0.526),
    "Mixtral-8x7b": (0.117, 0.097, 0.172, 0.128, 0.372, 0.549),
    "Gemma": (0.101, 0.047, 0.200, 0.090, 0.407, 0.264),
    "Claude3-haiku": (0.110, 0.063, 0.174, 0.093, 0.500, 0.411),
    "Claude3-sonnet": (0.107, 0.070, 0.174, 0.120, 0.401, 0.401),
}


def test_table_3_is_reproduced():
    scores = {
        name: {system: row[place] for system, row in TABLE_3.items()}
        for place, name in enumerate(DATA_SETS)
    }
    # COOP and PEGASUS have no Overall score in the paper, and do not move the others' scale.
    scores["Amazon"]["COOP"] = 0.204
    scores["MITweet"]["PEGASUS"] = 0.104
    result = overall(scores)
    for system, row in TABLE_3.items():
        # the printed inputs are rounded to three digits
        assert result[system].value == pytest.approx(row[-1], abs=0.0045)
    assert min(TABLE_3, key=lambda system: result[system].value) == "Llama2-70b"
    assert result["COOP"].why == "no score on MITweet, Article Bias, SemEval, News Stance"


def test_by_hand():
    # x: a 0, b 1, c .25; y: a 1, b 0, c .5. Averages .5, .5, .375
    result = overall({"x": {"a": 1.0, "b": 5.0, "c": 2.0}, "y": {"a": 0.8, "b": 0.4, "c": 0.6}})
    assert {s: e.value for s, e in result.items()} == pytest.approx(
        {"a": 0.5, "b": 0.5, "c": 0.375}
    )


def test_data_set_with_equal_scores_is_ignored():
    result = overall({"x": {"a": 1.0, "b": 1.0}, "y": {"a": 0.0, "b": 2.0}})
    assert result["b"].value == 1.0
    assert result["b"].normalised == {"y": 1.0}
    alone = overall({"x": {"a": 1.0}})
    assert isinstance(alone["a"], Undefined)
    assert overall({}) == {}


def test_system_without_scores_has_a_reason():
    result = overall({"x": {"a": 1.0, "b": None, "c": 3.0}, "y": {"a": 2.0, "b": None, "c": None}})
    assert (result["b"].why, result["c"].why) == ("no score on x, y", "no score on y")
    assert result["a"].why == "no data set tells the systems apart"


def test_highest_score_is_scaled_to_0_if_higher_is_fairer():
    scores = {"x": {"a": 1.0, "b": 5.0, "c": 2.0}, "y": {"a": 0.8, "b": 0.4, "c": 0.6}}
    # x: a 1, b 0, c .75; y: a 0, b 1, c .5
    result = overall(scores, direction="higher")
    assert result["c"].normalised == pytest.approx({"x": 0.75, "y": 0.5})
    values = {system: score.value for system, score in result.items()}
    assert values == pytest.approx({"a": 0.5, "b": 0.5, "c": 0.625})
    unscaled = overall(scores, scaling="none", direction="higher")
    assert unscaled == overall(scores, scaling="none")
    assert unscaled["c"].normalised == {"x": 2.0, "y": 0.6}


# FairSumm's Table 10 on Yelp: BUR, UER by N-gramScore, BERTScore, BARTScore; printed averages.
TABLE_10 = {
    "Alpaca": ((34.47, 38.73, 58.93), 44.04, (3.71, 5.52, 6.11), 5.11),
    "llama-2-chat 7B": ((16.67, 47.60, 61.00), 41.76, (2.71, 3.09, 4.97), 3.59),
    "llama-2-chat 13B": ((21.80, 29.40, 57.40), 36.20, (3.02, 2.81, 4.76), 3.53),
}


def test_unscaled_mean_of_three_scorers_matches_fairsumm_table_2():
    scorers = ("ngram", "bert", "bart")
    for values, printed in ((0, 1), (2, 3)):
        scores = {
            name: {system: row[values][place] for system, row in TABLE_10.items()}
            for place, name in enumerate(scorers)
        }
        result = overall(scores, scaling="none")
        for system, row in TABLE_10.items():
            assert result[system].value == pytest.approx(row[printed], abs=0.0051)
            assert result[system].normalised == dict(zip(scorers, row[values], strict=True))


def test_equal_scores_count_without_scaling():
    result = overall({"one": {"a": 2.0, "b": 2.0}, "other": {"a": 1.0, "b": 3.0}}, scaling="none")
    assert {name: score.value for name, score in result.items()} == {"a": 1.5, "b": 2.5}
