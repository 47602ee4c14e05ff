"""Do intervals of the table of protocols hold the truth as often as they say.

People label four answers a summary, judges say yes or no to each, or rate the whole; documents
differ in how good their summaries are. Truths come from a population of 20,000 documents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import kendalltau

from fairjudge.calibration.agreement import Resampling, judge_agreement
from fairjudge.calibration.items import join
from fairjudge.calibration.protocol_table import protocol_tables
from fairjudge.domain import Judgement, Label

DATA_SETS = 300
LOW, HIGH = 0.912, 0.988
"""Three standard errors around 95 % of `DATA_SETS`."""
SYSTEMS = "stu"


def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People's labels and yes or no of a judge, (n, 3, 4), and ratings of another, (n, 3)."""
    level = rng.beta(4, 4, size=(n, 1, 1))
    quality = np.clip(level + rng.normal(0, 0.2, size=(n, 3, 1)), 0, 1)
    labels = (rng.random((n, 3, 4)) < quality).astype(int)
    yes = np.where(rng.random(labels.shape) < 0.8, labels, 1 - labels)
    rating = np.clip(np.rint(1 + 4 * quality[..., 0] + rng.normal(0, 0.7, size=(n, 3))), 1, 5)
    return labels, yes, rating


def taus(labels: np.ndarray, yes: np.ndarray, rating: np.ndarray) -> list[float]:
    human = labels.mean(axis=2).ravel()
    return [float(kendalltau(item.ravel(), human).statistic) for item in (yes.mean(axis=2), rating)]


def rows(
    labels: np.ndarray, yes: np.ndarray, rating: np.ndarray
) -> tuple[list[Judgement], Sequence[Label]]:
    of = {"aspect": "coverage", "judge": "j"}
    judged, answers = [], []
    for (d, s, g), value in np.ndenumerate(labels):
        item = {"eid": f"d{d}", "system": SYSTEMS[s], "unit": f"answer:0.{g}"}
        judged.append(Judgement(**item, **of, protocol="binary", value=int(yes[d, s, g])))
        answers.append(Label(**item, aspect="coverage", annotator="ann", value=int(value)))
    for (d, s), value in np.ndenumerate(rating):
        item = {"eid": f"d{d}", "system": SYSTEMS[s]}
        judged.append(Judgement(**item, **of, protocol="likert", value=int(value)))
    return judged, answers


@pytest.mark.slow
def test_correlations_over_summaries_and_their_difference():
    rng = np.random.default_rng(5)
    binary, likert = taus(*draw(rng, 20_000))
    resampling = Resampling(n_resamples=400)
    hits = np.zeros(3)
    for _ in range(DATA_SETS):
        groups = join(*rows(*draw(rng, 30)))
        measured = [
            (joined, judge_agreement(joined, resampling=resampling, rng=rng)) for joined in groups
        ]
        (table,) = protocol_tables(measured, {}, resampling=resampling, rng=rng)
        by_name = {row.group.protocol: row for row in table.rows}
        second = next(row for row in table.rows if row.behind is not None)
        gap = likert - binary if second.group.protocol == "binary" else binary - likert
        hits += [
            estimate.low <= truth <= estimate.high
            for estimate, truth in (
                (by_name["binary"].kendall, binary),
                (by_name["likert"].kendall, likert),
                (second.behind, gap),
            )
        ]
    assert (hits / DATA_SETS >= LOW).all()
    assert (hits / DATA_SETS <= HIGH).all()
