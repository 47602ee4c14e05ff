"""A study of a judge with known noise, for tests of pages that show calibration."""

from __future__ import annotations

import numpy as np

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.analysis import Settings, analyse
from fairjudge.calibration.to_json import analysis_json
from fairjudge.domain import Judgement, Label, Summary

EVIL = "<script>alert('1')</script>\"><img src=x onerror=y>"


def judged(eid, system, value, judge):
    return Judgement(
        eid=eid, system=system, aspect="coverage", protocol="likert", judge=judge, value=value
    )


def study(judge="j", *, noise=0.5, systems=("s0", "s1", "<b>s2</b>"), constant=False):
    """Return the report on a judge with bias 1 and noise `noise`, on 40 documents by systems."""
    rng = np.random.default_rng(0)
    judgements, labels, summaries = [], [], []
    for d in range(40):
        for s, system in enumerate(systems):
            quality = 2.5 + 0.5 * s + rng.normal()
            score = 3 if constant else int(np.clip(round(quality + 1 + noise * rng.normal()), 1, 5))
            judgements.append(judged(f"d{d}", system, score, judge))
            words = " ".join(["word"] * int(rng.integers(5, 60)))
            summaries.append(Summary(eid=f"d{d}", system=system, text=words))
            labels += [
                Label(
                    eid=f"d{d}",
                    system=system,
                    aspect="coverage",
                    annotator=f"expert{k}",
                    value=int(np.clip(round(quality + 0.5 * rng.normal()), 1, 5)),
                )
                for k in range(3)
            ]
    settings = Settings(resampling=Resampling(n_resamples=100))
    analysis = analyse(judgements, labels, settings=settings, summaries=summaries)
    return analysis_json(analysis, signature={"judged_by": [judge]}, list_all=False)
