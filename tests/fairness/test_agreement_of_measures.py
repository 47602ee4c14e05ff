"""Correlations between any two fairness reports, runs of terms, and bounds that count ties."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

import fairjudge as fj
from fairjudge.analysis.fairness_compare import FairnessReport, agreement_of
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.fairness.distributions import ValueDistribution
from fairjudge.fairness.share_error import share_sensitivity
from fairjudge.fairness.shares import collect
from fairjudge.text.tokens import Normaliser, Runs


def report(kind, numbers, systems=("s",)):
    """Each of `numbers` is a sample's numbers by name."""
    return FairnessReport(
        name=kind,
        report={
            "measure": kind,
            "systems": {name: {} for name in systems},
            "samples": [
                {"eid": str(n), "system": "s", **fields} for n, fields in enumerate(numbers)
            ],
        },
    )


RNG = np.random.default_rng(4)
COVERED = [{"equal_coverage": x, "unfair": x > 0.5} for x in RNG.random(30)]
SHARED = [
    {"unfair": bool(x > 0.4), "uer": 100 * x, "auc": 100 * (x**2 + noise)}
    for x, noise in RNG.random((30, 2))
]


def test_coverage_and_proportional_measures_per_summary():
    result = agreement_of(report("coverage", COVERED), report("proportional", SHARED), seed=0)
    assert set(result) == {f"equal_coverage with {key}" for key in ("bur", "uer", "auc")}
    x = [item["equal_coverage"] for item in COVERED]
    for key, name in (("uer", "uer"), ("auc", "auc"), ("bur", "unfair")):
        theirs = spearmanr(x, [item[name] for item in SHARED]).statistic
        assert result[f"equal_coverage with {key}"].rho.value == pytest.approx(theirs)


def test_measures_within_one_report_match_table_9():
    result = agreement_of(report("proportional", SHARED), None, seed=0, correlation="pearson")
    assert set(result) == {"bur with uer", "bur with auc", "uer with auc"}
    theirs = pearsonr([item["uer"] for item in SHARED], [item["auc"] for item in SHARED]).statistic
    assert result["uer with auc"].rho.value == pytest.approx(theirs)
    low, high = result["uer with auc"].rho.low, result["uer with auc"].rho.high
    assert low < theirs < high


def test_two_share_scorers_are_compared_per_summary_and_per_system():
    def shares(shift):
        first = report("proportional", [{**row, "uer": row["uer"] + shift} for row in SHARED])
        systems = {f"s{n}": {"sof": {"value": float(n + shift)}} for n in range(6)}
        return FairnessReport(name="x", report={**first.report, "systems": systems})

    result = agreement_of(shares(0), shares(3), seed=0)
    assert set(result) == {"bur", "uer", "auc", "sof"}
    assert result["uer"].rho.value == pytest.approx(1.0)
    assert result["sof"].rho.value == pytest.approx(1.0)
    assert result["sof"].rho.p_value < 0.05


@pytest.mark.parametrize("second_lacks_it", [False, True])
def test_measure_missing_from_an_earlier_report_is_omitted(second_lacks_it):
    def shares(*lacking):
        rows = [{key: x for key, x in row.items() if key not in lacking} for row in SHARED]
        return report("proportional", rows)

    pair = (shares("auc"), shares()) if second_lacks_it else (shares(), shares("auc"))
    assert set(agreement_of(*pair, seed=0)) == {"bur", "uer"}
    alone = agreement_of(shares("auc"), None, seed=0)
    assert set(alone) == {"bur with uer"}
    result = agreement_of(report("coverage", COVERED), shares("auc"), seed=0)
    assert set(result) == {f"equal_coverage with {key}" for key in ("bur", "uer")}


def test_other_report_types_raise():
    with pytest.raises(InputError, match="'fairjudge fairness coverage --json' or 'proportional"):
        agreement_of(report("words", []), None, seed=0)


def test_term_sequences_by_hand():
    runs = Runs(Normaliser(stop_words=frozenset(), stemmer=None), 2)
    assert runs.terms("Slow food, slow service") == ("slow food", "food slow", "slow service")
    assert runs.terms("Slow") == ()
    assert runs.fingerprint != runs.single.fingerprint


def test_term_sequences_do_not_cross_documents():
    clusters = [{
        "eid": "e",
        "articles": [
            {"aid": "1", "content": "great pasta here", "attributes": {"s": "pos"}},
            {"aid": "2", "content": "soup cold today", "attributes": {"s": "pos"}},
            {"aid": "3", "content": "rude waiter shouted", "attributes": {"s": "neg"}},
        ],
    }]  # fmt: skip
    # "pasta soup" stands nowhere: of pos and neg, only "rude waiter" is matched
    summaries = [{"eid": "e", "system": "x", "text": "Pasta soup rude waiter."}]
    call = {"attribute": "s", "ngrams": 2}
    sample = fj.fairness.proportionality(clusters, summaries, **call).to_dict()["samples"][0]
    assert dict(zip(sample["values"], sample["summary"], strict=True)) == {"neg": 1.0, "pos": 0.0}
    with pytest.raises(ConfigurationError, match="ngrams"):
        fj.fairness.proportionality(clusters, summaries, attribute="s", ngrams=4)


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_softmax_temperature_by_hand(tmp_path, temperature):
    clusters = [{
        "eid": "e",
        "articles": [
            {"aid": value, "content": "some words", "attributes": {"s": value}} for value in "ab"
        ],
    }]  # fmt: skip
    summaries = [{"eid": "e", "system": "x", "text": "Words."}]
    scores = tmp_path / "scores.jsonl"
    scores.write_text('{"eid": "e", "system": "x", "scores": {"a": 0.3, "b": 0.1}}\n')
    result = fj.fairness.proportionality(
        clusters, summaries, attribute="s", scorer=f"matrix:{scores}", temperature=temperature
    )
    share = 1 / (1 + np.exp(-0.2 / temperature))
    assert result.to_dict()["samples"][0]["summary"] == pytest.approx([share, 1 - share])
    with pytest.raises(ConfigurationError, match="temperature"):
        fj.fairness.proportionality(clusters, summaries, attribute="s", temperature=0.0)


@pytest.mark.parametrize("inclusive", [False, True])
def test_bur_bounds_treat_a_share_of_exactly_tau_like_bur(inclusive):
    def bounds(summary, error_rate, tau=0.8):
        first = ValueDistribution(values=("a", "b"), source=(0.5, 0.5), summary=summary)
        result = share_sensitivity(
            [first], collect([first], tau=tau, inclusive=inclusive), error_rate=error_rate
        )
        return (result.bands["bur"].low, result.bands["bur"].high)

    # a has exactly .8 of .5
    assert bounds((0.4, 0.6), 0.0) == ((1.0, 1.0) if inclusive else (0.0, 0.0))
    assert bounds((0.4, 0.6), 0.01) == (0.0, 1.0)
    # .1 may be moved: to exactly .4 from .3, or from .5
    assert bounds((0.3, 0.7), 0.1) == ((1.0, 1.0) if inclusive else (0.0, 1.0))
    assert bounds((0.5, 0.5), 0.1) == ((0.0, 1.0) if inclusive else (0.0, 0.0))
    # at tau = 1 never can both have more than their share
    assert bounds((0.5, 0.5), 0.1, tau=1.0) == ((1.0, 1.0) if inclusive else (0.0, 1.0))


def test_bur_bounds_contain_bur_of_shifted_shares():
    rng = np.random.default_rng(6)
    for _ in range(200):
        source, summary = rng.dirichlet(np.ones(3), size=2).round(1)
        if min(source) <= 0 or min(source.sum(), summary.sum()) < 0.99 or summary.sum() > 1.01:
            continue
        rate = float(rng.choice([0.1, 0.2]))
        first = ValueDistribution(
            values=("a", "b", "c"), source=tuple(source), summary=tuple(summary)
        )
        shares = collect([first], tau=0.5, inclusive=True)
        band = share_sensitivity([first], shares, error_rate=rate).bands["bur"]
        moved = summary + rate * (rng.dirichlet(np.ones(3), 300) - rng.dirichlet(np.ones(3), 300))
        remaining = moved[(moved >= 0).all(axis=1)]
        verdicts = (remaining <= 0.5 * source + 1e-12).any(axis=1)
        assert band.low <= verdicts.min(initial=1)
        assert band.high >= verdicts.max(initial=0)
