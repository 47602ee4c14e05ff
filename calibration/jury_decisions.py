"""What a fitted jury may be used for, by the rules that hold for judges."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairjudge.calibration.agreement import (
    FEWEST_ITEMS,
    Resampling,
    baseline_agreement,
    judge_agreement,
)
from fairjudge.calibration.annotators import Camps, annotator_camps
from fairjudge.calibration.baseline_gains import baseline_gain
from fairjudge.calibration.decisions import Decision, decide
from fairjudge.calibration.items import Joined
from fairjudge.calibration.replaceability import alternative_annotator_test


def jury_decisions(
    joined: Joined,
    baselines: Mapping[str, Mapping[tuple[str, str], float]],
    *,
    epsilon: float,
    resampling: Resampling,
    rng: np.random.Generator,
) -> tuple[Decision, ...]:
    """Return the answers for a jury whose scores of held-out documents are those of `joined`.

    Empty where fewer than `FEWEST_ITEMS` items have such a score.
    """
    if len(joined.keys) < FEWEST_ITEMS:
        return ()
    agreement = judge_agreement(joined, resampling=resampling, rng=rng)
    found = baseline_agreement(joined, baselines, resampling=resampling, rng=rng)
    camps = annotator_camps(joined, resampling=resampling, rng=rng)
    return decide(
        agreement,
        over_baselines=baseline_gain(joined, found, baselines, resampling=resampling, rng=rng),
        replaceability=alternative_annotator_test(
            joined.judged,
            joined.ratings,
            joined.present,
            annotators=joined.annotators,
            epsilon=epsilon,
            documents=joined.documents,
        ),
        n_documents=len(set(joined.documents)),
        is_constant=np.unique(joined.judged).size == 1,
        in_camps=isinstance(camps, Camps) and camps.found,
    )
