"""Validation of a measure on pseudo-summaries of known fairness (FairSumm, appendix C)."""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.domain import Summary
from fairjudge.fairness.values import LabelledCorpus, LabelledSet

Sampling: TypeAlias = Literal["biased", "balanced"]


def pseudo_summaries(
    corpus: LabelledCorpus, *, n_documents: int, rng: np.random.Generator
) -> list[Summary]:
    """Make a ``biased`` and a ``balanced`` pseudo-summary of each set with several values.

    Both join `n_documents` source documents (or as many as there are). The biased one takes them
    from one randomly drawn value; the balanced one keeps the source's shares of documents, by
    largest remainder. A sound measure finds the biased ones far less fair.
    """
    pseudo = []
    for labelled in corpus.sets:
        if labelled.exclusion is None:
            for sampling in ("biased", "balanced"):
                chosen = _choose(labelled, sampling, n_documents, rng)
                text = "\n".join(labelled.texts[place] for place in sorted(chosen))
                pseudo.append(Summary(eid=labelled.eid, system=sampling, text=text))
    return pseudo


def _choose(
    labelled: LabelledSet, sampling: Sampling, n_documents: int, rng: np.random.Generator
) -> list[int]:
    places = {
        value: [i for i, label in enumerate(labelled.labels) if label == value]
        for value in labelled.values
    }
    if sampling == "biased":
        value = labelled.values[int(rng.integers(len(labelled.values)))]
        quota = Counter({value: n_documents})
    else:
        quota = apportion({value: len(rows) for value, rows in places.items()}, n_documents)
    return [
        int(place)
        for value, rows in places.items()
        for place in rng.permutation(rows)[: quota[value]]
    ]


def apportion(sizes: dict[str, int], seats: int) -> Counter[str]:
    """Share `seats` in proportion to `sizes` by largest remainder; ties go to the larger size."""
    total = sum(sizes.values())
    seats = min(seats, total)
    quota = Counter({value: seats * size // total for value, size in sizes.items()})
    seats_left = seats - quota.total()
    by_remainder = sorted(
        sizes, key=lambda value: (-(seats * sizes[value] % total), -sizes[value], value)
    )
    quota.update(by_remainder[:seats_left])
    return quota
