"""The unigram measures on 1,500 sets of Yelp reviews, compared with published results.

    python benchmarks/yelp_proportional.py FOLDER

FOLDER contains ``clusters.jsonl`` and ``summaries_alpaca.jsonl`` (FairSumm, Zhang et al. 2024).
Published for this system with unigram matching: BUR 34.47, UER 3.71 percent. Required: within 1.0
and 0.15 of these, and within 20 s on 2 cores. The rows show the effect of each preprocessing.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from _machine import describe_machine
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS as SKLEARN_STOP_WORDS

from fairjudge.datasets import read_clusters, read_summaries
from fairjudge.domain import Estimate
from fairjudge.fairness.proportional_report import ProportionalOptions, report_proportional
from fairjudge.fairness.values import label_corpus
from fairjudge.text.tokens import ENGLISH_STOP_WORDS, Normaliser, word_parts

SKLEARN = word_parts(SKLEARN_STOP_WORDS)
VARIANTS = {
    "default: SMART stop words, Porter": Normaliser(),
    "SMART, Snowball English": Normaliser(stemmer="english"),
    "SMART, whole words": Normaliser(stemmer=None),
    "scikit-learn's stop words, Porter": Normaliser(stop_words=SKLEARN),
    "SMART and scikit-learn's, Porter": Normaliser(stop_words=ENGLISH_STOP_WORDS | SKLEARN),
    "no stop words, Porter": Normaliser(stop_words=frozenset()),
}


def percent(figure: object) -> str:
    """Return value and interval in percent."""
    if not isinstance(figure, Estimate) or figure.low is None or figure.high is None:
        return "-"
    low, high = 100 * figure.low, 100 * figure.high
    return f"{100 * figure.value:6.2f} [{low:.2f}, {high:.2f}]"


def main(folder: Path) -> None:
    """Print one line per variant, for all sets and for those with several values."""
    print(describe_machine())
    start = time.perf_counter()
    clusters = read_clusters(folder / "clusters.jsonl").records
    summaries = read_summaries(folder / "summaries_alpaca.jsonl").records
    print(f"reading: {time.perf_counter() - start:.1f} s")
    print("published: BUR 34.47, UER 3.71")
    for name, normaliser in VARIANTS.items():
        start = time.perf_counter()
        corpus = label_corpus(clusters, attribute="sentiment")
        report = report_proportional(
            corpus, summaries, options=ProportionalOptions(normaliser=normaliser)
        )
        took = time.perf_counter() - start
        result = report.systems["alpaca"]
        for title, measures in (("", result.measures), ("  several values", result.several_values)):
            print(
                f"{title or name:36} n={getattr(measures, 'n', 0):5} "
                f"BUR {percent(getattr(measures, 'bur', None))} "
                f"UER {percent(getattr(measures, 'uer', None))}"
                + ("" if title else f"  {took:.1f} s")
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
