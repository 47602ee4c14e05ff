"""What a judge may be used for: rank systems, score single items, replace an annotator.

Each question has one figure with an interval, held against `THRESHOLD`: yes where the whole
interval is at or above it, no where it is below, otherwise too few to tell.

* Rank systems: Kendall's tau-b of systems' mean scores and mean labels, documents resampled.
* Score single items: tau-b over items.
  Both must also be significantly above those of the best baseline for a yes.
  tau-b is the share of pairs in people's order less that in the reverse order, so that 0.5 is three
  of four pairs in people's order; ties of one side count as half.
* Replace an annotator: the winning rate of the alternative annotator test (Calderon et al. 2025),
  between the share of annotators that the judge beats and one less the share that it loses to.

Before all of them: a judge that gave one value to all items is of no use for any of the three, on
however few documents; where people gave all items one label, no judge can be told from another.

The systems are taken as they are: no others are inferred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from fairjudge.calibration.agreement import Agreement, kendall
from fairjudge.calibration.baseline_gains import BaselineGain, SystemsGain
from fairjudge.calibration.constancy import Constant
from fairjudge.calibration.replaceability import (
    FEWEST_ANNOTATORS,
    FEWEST_ITEMS,
    AlternativeAnnotatorTest,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.bootstrap import FEW_DOCUMENTS
from fairjudge.stats.levels import FEWEST_RANKED
from fairjudge.stats.multiplicity import benjamini_yekutieli
from fairjudge.text.counting import pluralize

Question: TypeAlias = Literal["rank_systems", "score_items", "replace_annotator"]
Answer: TypeAlias = Literal["yes", "no", "too few to tell", "cannot tell"]

THRESHOLD = 0.5
_ALPHA = 0.05
_MOST_TIMES = 100
"""Times as many documents from which the number is not worth saying."""
_RULE = "yes if the whole interval is at or above 0.5, no if it is below"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to one question.

    ``figure`` is what was measured, named by ``measure``, and ``rule`` how the answer follows from
    it. ``reason`` says what else decided; ``needed`` what would have to be known for a yes or a no,
    and is empty where there is one.
    """

    question: Question
    answer: Answer
    measure: str
    figure: Estimate | Undefined
    rule: str
    reason: str = ""
    needed: str = ""


def decide(
    agreement: Agreement | Undefined,
    *,
    over_baselines: BaselineGain | Undefined,
    replaceability: AlternativeAnnotatorTest | Undefined,
    n_documents: int,
    constant: Constant | None = None,
    in_camps: bool = False,
) -> tuple[Decision, ...]:
    """Return the answers to the three questions, in their order.

    `constant` is the side that gave all items one value; `in_camps` says that the annotators are in
    two camps, so that their mean label stands for neither.
    """
    systems, items = kendall(agreement, "system"), kendall(agreement, "summary")
    n_systems = systems.n if isinstance(systems, Estimate) else 0
    of_systems = (
        f"Kendall's tau-b over {pluralize(n_systems, 'system') if n_systems else 'systems'}"
    )
    ranks = _of_correlation("rank_systems", of_systems, systems, n_documents)
    scores = _of_correlation("score_items", "Kendall's tau-b over items", items, n_documents)
    if isinstance(over_baselines, BaselineGain):
        scores = _beside_baseline(
            scores, over_baselines, "Spearman's correlations", n_documents=n_documents
        )
        if isinstance(over_baselines.systems, SystemsGain) and n_systems >= FEWEST_RANKED:
            ranks = _beside_baseline(
                ranks,
                over_baselines.systems,
                "Kendall's tau-b over systems",
                n_documents=n_documents,
            )
    if 0 < n_systems < FEWEST_RANKED:
        ranks = replace(ranks, answer="too few to tell", needed=f"{FEWEST_RANKED} systems or more")
    decisions = [ranks, scores, _of_test(replaceability, n_documents)]
    if constant is not None:
        return tuple(_of_constant(decision, constant) for decision in decisions)
    if n_documents < FEW_DOCUMENTS:
        enough = f"{FEW_DOCUMENTS} labelled documents or more"
        decisions = [
            replace(decision, answer="too few to tell", needed=decision.needed or enough)
            for decision in decisions
        ]
    if in_camps:
        reason = "annotators are in two camps, and their mean label stands for neither"
        needed = "labels of one camp (--annotators)"
        decisions = [
            replace(decision, answer="cannot tell", reason=reason, needed=needed)
            for decision in decisions
        ]
    return tuple(decisions)


def never_ranks(*, n_systems: int, n_documents: int) -> str:
    """Return why no judge can be shown to rank these systems as people do; empty if one can."""
    few = [
        f"{pluralize(n, noun)} (it takes {fewest})"
        for n, noun, fewest in (
            (n_systems, "system", FEWEST_RANKED),
            (n_documents, "labelled document", FEW_DOCUMENTS),
        )
        if n < fewest
    ]
    if not few:
        return ""
    return f"too few to tell whether a judge ranks systems as people do: {' and '.join(few)}"


def _of_constant(decision: Decision, constant: Constant) -> Decision:
    reason = constant.in_words()
    if constant.who == "people":
        needed = "items with different labels"
        return replace(decision, answer="cannot tell", reason=reason, needed=needed)
    return replace(decision, answer="no", reason=reason, needed="")


def documents_needed(
    estimate: Estimate, *, n_documents: int, against: float = THRESHOLD
) -> int | None:
    """Return on how many documents the interval would leave `against` out, were the value true.

    The half-width on that side shrinks with the square root of the documents: N = n (h / d)^2, with
    h the distance of the value from its bound and d that from `against`. None where that is more
    than `_MOST_TIMES` as many, or there is no interval.
    """
    if estimate.low is None or estimate.high is None:
        return None
    apart = abs(estimate.value - against)
    half = (
        estimate.value - estimate.low
        if estimate.value >= against
        else estimate.high - estimate.value
    )
    if half > apart * _MOST_TIMES**0.5:
        return None
    return max(FEW_DOCUMENTS, n_documents + 1, ceil(n_documents * (half / apart) ** 2))


def _of_correlation(
    question: Question, measure: str, figure: Estimate | Undefined, n_documents: int
) -> Decision:
    answer = _answer(figure)
    needed = _more_documents(figure, n_documents) if answer == "too few to tell" else ""
    return Decision(
        question=question, answer=answer, measure=measure, figure=figure, rule=_RULE, needed=needed
    )


def _answer(figure: Estimate | Undefined) -> Answer:
    if isinstance(figure, Undefined) or figure.low is None or figure.high is None:
        return "too few to tell"
    if figure.low >= THRESHOLD:
        return "yes"
    return "no" if figure.high < THRESHOLD else "too few to tell"


def _more_documents(
    figure: Estimate | Undefined, n_documents: int, *, against: float = THRESHOLD
) -> str:
    if isinstance(figure, Undefined):
        return f"other labels or judgements: {figure.why}"
    needed = documents_needed(figure, n_documents=n_documents, against=against)
    if needed is None:
        return f"more than {pluralize(_MOST_TIMES * n_documents, 'labelled document')}"
    answer = "yes" if figure.value >= against else "no"
    return (
        f"about {pluralize(needed, 'labelled document')}, were {figure.value:.2f} true: the answer "
        f"would then be {answer}"
    )


def _beside_baseline(
    decision: Decision, over: BaselineGain | SystemsGain, measure: str, *, n_documents: int
) -> Decision:
    """Withdraw a yes where a baseline may do as well, and what would make one.

    A baseline that orders systems just as the judge does, on all resamples, is no reason for a no:
    of these systems nothing can be told.
    """
    gain = over.gain
    if decision.answer == "no" or isinstance(gain, Undefined):
        return decision
    if gain.low is None or gain.high is None or gain.low > 0.0:
        return decision
    baseline = over.best.replace("_", " ")
    if decision.answer != "yes":
        if not decision.needed.endswith("yes"):
            return decision
        return replace(decision, needed=f"{decision.needed} if also above '{baseline}'")
    as_well = "does" if gain.high < 0.0 else "may do"
    reason = (
        f"the baseline '{baseline}' {as_well} as well: difference of {measure} "
        f"{gain.value:.2f} [{gain.low:.2f}, {gain.high:.2f}]"
    )
    if gain.high < 0.0 or (gain.high == 0.0 and decision.question == "score_items"):
        return replace(decision, answer="no", reason=reason)
    needed = (
        f"systems that '{baseline}' does not order as people do"
        if gain.value == 0.0 and decision.question == "rank_systems"
        else _more_documents(gain, n_documents, against=0.0)
    )
    return replace(decision, answer="too few to tell", reason=reason, needed=needed)


def _of_test(test: AlternativeAnnotatorTest | Undefined, n_documents: int) -> Decision:
    """Hold the possible winning rates against the half that the test asks for."""
    figure: Estimate | Undefined
    needed = ""
    if isinstance(test, Undefined):
        figure = test
        needed = f"{FEWEST_ANNOTATORS} annotators with {FEWEST_ITEMS} items that another labelled"
    else:
        p_values = [comparison.p_value for comparison in test.annotators]
        lost = benjamini_yekutieli([1.0 - p_value for p_value in p_values]) < _ALPHA
        figure = Estimate(
            value=test.winning_rate,
            low=test.winning_rate,
            high=1.0 - float(lost.mean()),
            n=len(test.annotators),
            method="share of annotators beaten, to one less the share lost to",
        )
        if _answer(figure) == "too few to tell":
            needed = _documents_of_test(p_values, n_documents)
    return Decision(
        question="replace_annotator",
        answer=_answer(figure),
        measure="alternative annotator test: winning rate",
        figure=figure,
        rule=_RULE,
        needed=needed,
    )


def _documents_of_test(p_values: Sequence[float], n_documents: int) -> str:
    """Say on how many documents half of the annotators would be beaten, or more lost to.

    A test's z grows with the square root of the documents; the strictest one of Benjamini and
    Yekutieli's procedure is at alpha / (1 + 1/2 + ... + 1/m).
    """
    z = -ndtri(np.clip(np.asarray(p_values), 1e-12, 1.0 - 1e-12))
    m = z.size
    critical = -float(ndtri(_ALPHA / np.sum(1.0 / np.arange(1, m + 1))))
    # At least half of the annotators on one side must be significant; else the other side wins.
    wins = np.sort(z[z > 0.0])[::-1]
    losses = np.sort(-z[z < 0.0])[::-1]
    fewest_wins, fewest_losses = ceil(m / 2), m // 2 + 1
    if wins.size >= fewest_wins:
        least, answer = wins[fewest_wins - 1], "yes"
    elif losses.size >= fewest_losses:
        least, answer = losses[fewest_losses - 1], "no"
    else:
        return "more labelled documents"
    factor = (critical / least) ** 2
    if factor > _MOST_TIMES:
        return f"more than {pluralize(_MOST_TIMES * n_documents, 'labelled document')}"
    needed = max(FEW_DOCUMENTS, n_documents + 1, ceil(n_documents * factor))
    documents = pluralize(needed, "labelled document")
    return (
        f"about {documents}, if the differences to annotators are as estimated: the answer would "
        f"then be {answer}"
    )
