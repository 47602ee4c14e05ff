"""Cascades: a cheap judge, and an expensive one for uncertain items only."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fairjudge.api.findings import Findings
from fairjudge.datasets import read_judgements, read_labels
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import Opt, Seed


@dataclass(frozen=True, slots=True, repr=False)
class Cascade(Findings):
    """Thresholds for ``Judge(..., cascade=...)``, with their savings and losses.

    ``figures`` has ``saved`` (percent of calls), ``error_added``, ``agreement_lost`` and
    ``kendall``, measured on held-out documents.
    """

    kind: str = field(default="cascade", init=False)

    @property
    def low(self) -> float:
        """The local score at or below which the LLM is not used."""
        return float(self.figures["low"])

    @property
    def high(self) -> float:
        """The local score at or above which the LLM is not used."""
        return float(self.figures["high"])

    def save(self, path: str | Path) -> None:
        """Write the thresholds to a JSON file, for ``fairjudge judge --cascade``."""
        from fairjudge.records.folder import write_output

        write_output(Path(path), json.dumps({"low": self.low, "high": self.high}) + "\n")


@checks_arguments
def cascade(
    local: Annotated[
        object,
        Opt(
            "Judgements by a local scorer (with --guarantee: by any judge).",
            reader=read_judgements,
        ),
    ],
    judged: Annotated[
        object, Opt("Judgements of the same items by the LLM.", reader=read_judgements)
    ],
    labels: Annotated[object, Opt("Human labels of the items.", reader=read_labels)],
    *,
    tolerance: Annotated[float, Opt("Maximum increase of the mean absolute error.", ge=0.0)] = 0.05,
    agreement_tolerance: Annotated[
        float, Opt("Maximum decrease of Kendall's tau-b with the labels.", ge=0.0)
    ] = 0.05,
    seed: Seed = 0,
) -> Cascade:
    """Fit the thresholds between which the LLM is used, from two judges' scores and labels.

    Parameters
    ----------
    local, judged
        Judgements of the same items by a local scorer and by the LLM: results, paths or lists.
    labels
        Human labels of the items.
    tolerance : float
        Maximum increase of the mean absolute error, in units of the labels; 0 or more.
    agreement_tolerance : float
        Maximum decrease of Kendall's tau-b with the labels; 0 or more.
    seed
        Random seed of the split into documents for fitting and for evaluation.

    Returns
    -------
    Cascade
        The thresholds ``low`` and ``high`` on the local score, with saved calls and lost agreement.

    Raises
    ------
    InputError
        If an input has several judges, aspects or protocols, or too few items are in all of them.

    Examples
    --------
    >>> import fairjudge as fj
    >>> def rows(judge, values):
    ...     row = {"system": "s", "aspect": "coverage", "protocol": "likert", "judge": judge}
    ...     return [row | {"eid": f"e{n}", "value": value} for n, value in enumerate(values)]
    >>> scores = [1, 2, 3, 4, 5] * 12
    >>> people = [row | {"annotator": "ann"} for row in rows("", scores)]
    >>> report = fj.cascade(rows("local", scores), rows("llm", scores), people)
    >>> report.figures["saved"]["value"]  # the local judge is always right
    100.0
    """
    from fairjudge.run.routing import cascade_report

    figures = cascade_report(
        local,
        judged,
        labels,
        tolerance=tolerance,
        agreement_tolerance=agreement_tolerance,
        seed=seed,
    )
    return Cascade(figures)
