"""Decisions on a judge's uses: to rank systems, score single items, or replace an annotator.

Each question is decided by one estimate with an interval, compared with `THRESHOLD`: yes if the
whole interval is at or above it, no if the whole interval is below, otherwise too few to tell.

* Rank systems: Kendall's tau-b of systems' mean scores and mean labels, resampled over documents.
* Score single items: tau-b over items.
* Replace an annotator: the winning rate of the alternative annotator test (Calderon et al. 2025).
  Its bounds are the share of annotators that the judge beats, and 1 minus the share it loses to.

For the first two, a yes also requires a tau-b significantly above the best baseline's. tau-b is the
share of pairs in the human order minus the share in the reverse order, so that 0.5 means three of
four pairs in the human order; one-sided ties count half.

A judge that gave one value to all items gets no for all three questions, however few the documents.
If all items have the same label, the questions cannot be decided.

Decisions are about the systems in the data, not about a population of systems.
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
    MIN_ANNOTATORS,
    MIN_ITEMS,
    AlternativeAnnotatorTest,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.bootstrap import FEW_DOCUMENTS
from fairjudge.stats.levels import MIN_RANKED
from fairjudge.stats.multiplicity import benjamini_yekutieli
from fairjudge.text.counting import pluralize

Question: TypeAlias = Literal["rank_systems", "score_items", "replace_annotator"]
Answer: TypeAlias = Literal["yes", "no", "too few to tell", "cannot tell"]

THRESHOLD = 0.5
_ALPHA = 0.05
_MAX_FACTOR = 100
"""Maximum factor by which more documents are recommended in numbers."""
_RULE = "yes if the whole interval is at or above 0.5, no if it is below"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to one question.

    ``figure`` is the estimate, ``measure`` its name, and ``rule`` how the answer follows from it.
    ``reason`` is any other reason for the answer. ``needed`` describes the data required for a yes
    or a no; it is empty if the answer is one of these.
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
    """Return the decisions on the three questions, in the order of the module's docstring.

    `constant` is the side that gave all items one value. `in_camps` is true if annotators form two
    camps, so that their mean label represents neither.
    """
    system_tau, item_tau = kendall(agreement, "system"), kendall(agreement, "summary")
    n_systems = system_tau.n if isinstance(system_tau, Estimate) else 0
    system_measure = (
        f"Kendall's tau-b over {pluralize(n_systems, 'system') if n_systems else 'systems'}"
    )
    ranking_decision = _decide_by_correlation(
        "rank_systems", system_measure, system_tau, n_documents
    )
    scoring_decision = _decide_by_correlation(
        "score_items", "Kendall's tau-b over items", item_tau, n_documents
    )
    if isinstance(over_baselines, BaselineGain):
        scoring_decision = _compare_with_baseline(
            scoring_decision, over_baselines, "Spearman's correlations", n_documents=n_documents
        )
        if isinstance(over_baselines.systems, SystemsGain) and n_systems >= MIN_RANKED:
            ranking_decision = _compare_with_baseline(
                ranking_decision,
                over_baselines.systems,
                "Kendall's tau-b over systems",
                n_documents=n_documents,
            )
    if 0 < n_systems < MIN_RANKED:
        ranking_decision = replace(
            ranking_decision, answer="too few to tell", needed=f"{MIN_RANKED} systems or more"
        )
    decisions = [
        ranking_decision,
        scoring_decision,
        _decide_by_annotator_test(replaceability, n_documents),
    ]
    if constant is not None:
        return tuple(_decide_for_constant(decision, constant) for decision in decisions)
    if n_documents < FEW_DOCUMENTS:
        documents_needed_text = f"{FEW_DOCUMENTS} labelled documents or more"
        decisions = [
            replace(
                decision, answer="too few to tell", needed=decision.needed or documents_needed_text
            )
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


def reason_ranking_is_undecidable(*, n_systems: int, n_documents: int) -> str:
    """Return why there are too few systems or documents to decide on ranking; "" if enough."""
    shortages = [
        f"{pluralize(n, noun)} (it takes {minimum})"
        for n, noun, minimum in (
            (n_systems, "system", MIN_RANKED),
            (n_documents, "labelled document", FEW_DOCUMENTS),
        )
        if n < minimum
    ]
    if not shortages:
        return ""
    return f"too few to tell whether a judge ranks systems as people do: {' and '.join(shortages)}"


def _decide_for_constant(decision: Decision, constant: Constant) -> Decision:
    reason = constant.in_words()
    if constant.who == "people":
        needed = "items with different labels"
        return replace(decision, answer="cannot tell", reason=reason, needed=needed)
    return replace(decision, answer="no", reason=reason, needed="")


def documents_needed(
    estimate: Estimate, *, n_documents: int, threshold: float = THRESHOLD
) -> int | None:
    """Return the number of documents at which the interval excludes `threshold`, if value is true.

    The half-width shrinks with the square root of the number of documents: N = n (h / d)^2, with h
    the distance from the value to its bound and d the distance to `threshold`. None without an
    interval, or if N exceeds n by more than the factor `_MAX_FACTOR`.
    """
    if estimate.low is None or estimate.high is None:
        return None
    distance = abs(estimate.value - threshold)
    half_width = (
        estimate.value - estimate.low
        if estimate.value >= threshold
        else estimate.high - estimate.value
    )
    if half_width > distance * _MAX_FACTOR**0.5:
        return None
    return max(FEW_DOCUMENTS, n_documents + 1, ceil(n_documents * (half_width / distance) ** 2))


def _decide_by_correlation(
    question: Question, measure: str, estimate: Estimate | Undefined, n_documents: int
) -> Decision:
    answer = _answer_from_interval(estimate)
    needed = (
        _describe_documents_needed(estimate, n_documents) if answer == "too few to tell" else ""
    )
    return Decision(
        question=question,
        answer=answer,
        measure=measure,
        figure=estimate,
        rule=_RULE,
        needed=needed,
    )


def _answer_from_interval(estimate: Estimate | Undefined) -> Answer:
    if isinstance(estimate, Undefined) or estimate.low is None or estimate.high is None:
        return "too few to tell"
    if estimate.low >= THRESHOLD:
        return "yes"
    return "no" if estimate.high < THRESHOLD else "too few to tell"


def _describe_documents_needed(
    estimate: Estimate | Undefined, n_documents: int, *, threshold: float = THRESHOLD
) -> str:
    if isinstance(estimate, Undefined):
        return f"other labels or judgements: {estimate.why}"
    needed = documents_needed(estimate, n_documents=n_documents, threshold=threshold)
    if needed is None:
        return f"more than {pluralize(_MAX_FACTOR * n_documents, 'labelled document')}"
    answer = "yes" if estimate.value >= threshold else "no"
    return (
        f"about {pluralize(needed, 'labelled document')}, were {estimate.value:.2f} true: the "
        f"answer would then be {answer}"
    )


def _compare_with_baseline(
    decision: Decision, baseline_gain: BaselineGain | SystemsGain, measure: str, *, n_documents: int
) -> Decision:
    """Withdraw a yes if the best baseline is not significantly worse than the judge.

    A baseline that orders the systems exactly as the judge does, on all resamples, makes the answer
    "too few to tell" instead of "no".
    """
    gain = baseline_gain.gain
    if decision.answer == "no" or isinstance(gain, Undefined):
        return decision
    if gain.low is None or gain.high is None or gain.low > 0.0:
        return decision
    baseline = baseline_gain.best.replace("_", " ")
    if decision.answer != "yes":
        if not decision.needed.endswith("yes"):
            return decision
        return replace(decision, needed=f"{decision.needed} if also above '{baseline}'")
    verb = "does" if gain.high < 0.0 else "may do"
    reason = (
        f"the baseline '{baseline}' {verb} as well: difference of {measure} "
        f"{gain.value:.2f} [{gain.low:.2f}, {gain.high:.2f}]"
    )
    if gain.high < 0.0 or (gain.high == 0.0 and decision.question == "score_items"):
        return replace(decision, answer="no", reason=reason)
    needed = (
        f"systems that '{baseline}' does not order as people do"
        if gain.value == 0.0 and decision.question == "rank_systems"
        else _describe_documents_needed(gain, n_documents, threshold=0.0)
    )
    return replace(decision, answer="too few to tell", reason=reason, needed=needed)


def _decide_by_annotator_test(
    test: AlternativeAnnotatorTest | Undefined, n_documents: int
) -> Decision:
    """Compare the interval of the winning rate with `THRESHOLD`."""
    estimate: Estimate | Undefined
    needed = ""
    if isinstance(test, Undefined):
        estimate = test
        needed = f"{MIN_ANNOTATORS} annotators with {MIN_ITEMS} items that another labelled"
    else:
        p_values = [comparison.p_value for comparison in test.annotators]
        is_lost = benjamini_yekutieli([1.0 - p_value for p_value in p_values]) < _ALPHA
        estimate = Estimate(
            value=test.winning_rate,
            low=test.winning_rate,
            high=1.0 - float(is_lost.mean()),
            n=len(test.annotators),
            method="share of annotators beaten, to one less the share lost to",
        )
        if _answer_from_interval(estimate) == "too few to tell":
            needed = _describe_documents_for_test(p_values, n_documents)
    return Decision(
        question="replace_annotator",
        answer=_answer_from_interval(estimate),
        measure="alternative annotator test: winning rate",
        figure=estimate,
        rule=_RULE,
        needed=needed,
    )


def _describe_documents_for_test(p_values: Sequence[float], n_documents: int) -> str:
    """Describe how many documents would decide the alternative annotator test.

    z statistics grow with the square root of the number of documents; the strictest level in
    Benjamini and Yekutieli's procedure is alpha / (1 + 1/2 + ... + 1/m).
    """
    z = -ndtri(np.clip(np.asarray(p_values), 1e-12, 1.0 - 1e-12))
    m = z.size
    critical_z = -float(ndtri(_ALPHA / np.sum(1.0 / np.arange(1, m + 1))))
    # Yes needs significant wins against half of the annotators, no significant losses to more.
    wins = np.sort(z[z > 0.0])[::-1]
    losses = np.sort(-z[z < 0.0])[::-1]
    min_wins, min_losses = ceil(m / 2), m // 2 + 1
    if wins.size >= min_wins:
        weakest, answer = wins[min_wins - 1], "yes"
    elif losses.size >= min_losses:
        weakest, answer = losses[min_losses - 1], "no"
    else:
        return "more labelled documents"
    factor = (critical_z / weakest) ** 2
    if factor > _MAX_FACTOR:
        return f"more than {pluralize(_MAX_FACTOR * n_documents, 'labelled document')}"
    needed = max(FEW_DOCUMENTS, n_documents + 1, ceil(n_documents * factor))
    documents = pluralize(needed, "labelled document")
    return (
        f"about {documents}, if the differences to annotators are as estimated: the answer would "
        f"then be {answer}"
    )
