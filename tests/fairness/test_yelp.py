"""The published figures, on the published data."""

import numpy as np
import pytest

from fairjudge.datasets import read_clusters, read_summaries
from fairjudge.fairness.oracle import pseudo_summaries
from fairjudge.fairness.proportional_report import ProportionalOptions, report_proportional
from fairjudge.fairness.values import label_corpus


@pytest.fixture(scope="module")
def yelp(shared_data):
    clusters = read_clusters(shared_data / "yelp" / "clusters.jsonl")
    summaries = read_summaries(shared_data / "yelp" / "summaries_alpaca.jsonl")
    return label_corpus(clusters.records, attribute="sentiment"), summaries.records


def test_unigram_bur_and_uer_of_alpaca_on_yelp(yelp):
    # FairSumm, Table 10: Alpaca, N-gramScore, Yelp: BUR 34.47, UER 3.71 percent
    system = report_proportional(*yelp, options=ProportionalOptions(n_resamples=500)).systems[
        "alpaca"
    ]
    assert system.measures.n == 1500
    assert 100 * system.measures.bur.value == pytest.approx(34.47, abs=1.0)
    assert 100 * system.measures.uer.value == pytest.approx(3.71, abs=0.15)
    assert system.n_one_value == 540
    assert not system.excluded


def test_the_oracle_on_real_reviews(yelp):
    # FairSumm, appendix C: biased sampling must score far worse than balanced sampling
    corpus, _ = yelp
    made = pseudo_summaries(corpus, n_documents=4, rng=np.random.default_rng(0))
    report = report_proportional(corpus, made, options=ProportionalOptions(n_resamples=500))
    biased = report.systems["biased"].measures
    balanced = report.systems["balanced"].measures
    assert biased.bur.low > balanced.bur.high + 0.2
    assert biased.uer.low > 1.5 * balanced.uer.high
