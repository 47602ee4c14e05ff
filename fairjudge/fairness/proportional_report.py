"""From clusters and summaries to the measures of Proportional Representation, by system."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

from fairjudge.domain import Estimate, Summary, Undefined
from fairjudge.fairness._reporting import (
    Report,
    SystemReport,
    measured_systems,
    split_outcomes,
)
from fairjudge.fairness.distributions import (
    TEMPERATURE,
    Target,
    ValueDistribution,
    check_target,
    softmax_distribution,
    target_shares,
    unigram_distribution,
)
from fairjudge.fairness.measures import SampleNumbers, by_rows
from fairjudge.fairness.proportional import PROPORTIONAL, Proportional, proportional
from fairjudge.fairness.share_error import (
    HumanShares,
    corrected_shares,
    people_distribution,
    share_sensitivity,
)
from fairjudge.fairness.shares import TAU, Shares, collect
from fairjudge.fairness.values import Exclusion, LabelledCorpus, LabelledSet
from fairjudge.records.signature import signature
from fairjudge.stats.resampling import Resampling, generator
from fairjudge.text.tokens import Normaliser, Runs, TermMaker

ValueScores: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""A neural score of each (eid, system)'s summary against each value's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProportionalOptions:
    """All that can change the numbers.

    ``scorer`` names what made the scores, such as ``"bert_score:roberta-large"``; it only enters
    the signature. ``temperature`` matters for scores alone.
    """

    target: Target = "ratio"
    tau: float = TAU
    scorer: str = "unigrams"
    temperature: float = TEMPERATURE
    normaliser: TermMaker = field(default_factory=Normaliser)
    released: bool = False
    """Count as the authors' code: a share of exactly tau times the wanted one is too little, and a
    summary without a term of any value is shared by all alike."""
    seed: int = 0
    n_resamples: int = 2000
    level: float = 0.95
    error_rate: float | None = None
    """Assumed part of a summary given to wrong values, for a sensitivity band; None for none."""

    def shares(self, distributions: Sequence[ValueDistribution]) -> Shares:
        """Lay samples out as matrices with the wanted shares of these options."""
        return collect(distributions, target=self.target, tau=self.tau, at_most=self.released)


_BETWEEN = " || "
"""Between documents: no letters, so that no term comes of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProportionalSample:
    """One summary that takes part; ``wanted`` is p_g over the values of its distribution.

    ``numbers`` has its number by each measure that is a mean over samples.
    """

    distribution: ValueDistribution
    wanted: tuple[float, ...]
    numbers: SampleNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProportional(SystemReport[ProportionalSample]):
    """One system.

    ``measures`` cover every sample, those whose documents share one value among them: such a
    summary is fair by definition, and the published figures count it. ``several_values`` leaves
    these ``n_one_value`` samples out. ``novel_terms`` is the mean share of a summary's terms that
    no document has (FairSumm, appendix J): what no measure of terms can give to a value.
    """

    measures: Proportional | Undefined
    several_values: Proportional | Undefined
    n_one_value: int
    novel_terms: Estimate | Undefined


ProportionalReport: TypeAlias = Report[SystemProportional]


def report_proportional(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    *,
    options: ProportionalOptions,
    scores: ValueScores | None = None,
    human_shares: HumanShares | None = None,
    human: HumanShares | None = None,
) -> ProportionalReport:
    """Measure every system that has a summary of a cluster.

    Parameters
    ----------
    scores
        For neural matching; unigrams where None. A summary without scores is ``unscored``.
    human_shares
        p_y of the summaries themselves, by people, in place of any scorer; a summary without is
        ``unscored``.
    human
        Shares by people, for a random part of the summaries.

    Raises
    ------
    InputError
        A target or shares by people that do not fit the attribute, or as `measured_systems`.
    """
    check_target(options.target, corpus.values)
    measure = partial(
        _system,
        terms={
            documents.eid: source_terms(documents, options.normaliser) for documents in corpus.sets
        },
        options=options,
        scores=scores,
        human_shares=human_shares,
        human=human,
    )
    systems, notes = measured_systems(corpus, summaries, measure)
    return Report(
        attribute=corpus.attribute,
        systems=systems,
        notes=notes,
        signature=_signature(corpus, options),
    )


def source_terms(labelled: LabelledSet, normaliser: TermMaker) -> dict[str, tuple[str, ...]]:
    """Return the terms of each value's documents; documents without a value are left out.

    Documents are joined as the authors join them: where a document has no full stop at its end,
    that matters to a tokenizer that looks for sentences.
    """
    texts: dict[str, list[str]] = {value: [] for value in labelled.values}
    for text, label in zip(labelled.texts, labelled.labels, strict=True):
        if label is not None:
            texts[label].append(text)
    if isinstance(normaliser, Runs):  # no run goes from one document into the next
        return {
            value: tuple(term for text in value_texts for term in normaliser.terms(text))
            for value, value_texts in texts.items()
        }
    return {
        value: normaliser.terms(_BETWEEN.join(value_texts)) for value, value_texts in texts.items()
    }


def _system(
    system: str,
    sets: Sequence[LabelledSet],
    texts: Mapping[str, str],
    *,
    terms: Mapping[str, Mapping[str, tuple[str, ...]]],
    options: ProportionalOptions,
    scores: ValueScores | None,
    human_shares: HumanShares | None,
    human: HumanShares | None,
) -> SystemProportional:
    def distribution(eid: str) -> ValueDistribution | Exclusion:
        key, source, text = (eid, system), terms[eid], texts[eid]
        if human_shares is None:
            scores_by_value = None if scores is None else scores.get(key, {})
            return _distribution(source, text, options, scores_by_value)
        if key not in human_shares:
            return "unscored" if text.strip() else "empty_summary"
        shares = _distribution(source, text, options, dict.fromkeys(source, 0.0))
        if not isinstance(shares, ValueDistribution):
            return shares
        return people_distribution(shares, human_shares[key], where=f"{system!r} for {eid!r}")

    measured, excluded = split_outcomes(
        {documents.eid: distribution(documents.eid) for documents in sets}
    )
    distributions = list(measured.values())
    shares = options.shares(distributions)
    several = options.shares([own for own in distributions if len(own.values) > 1])
    resampling = Resampling(
        rng=generator(options.seed, system), n_resamples=options.n_resamples, level=options.level
    )

    n_one_value = len(shares.wanted) - len(several.wanted)
    n_excluded = len(excluded)
    return SystemProportional(
        measures=proportional(shares, resampling=resampling, n_excluded=n_excluded),
        several_values=proportional(
            several, resampling=resampling, n_excluded=n_excluded + n_one_value
        ),
        n_one_value=n_one_value,
        novel_terms=resampling.with_stream("novel terms").mean(
            [
                _novel_share(labelled, terms[labelled.eid], texts[labelled.eid], options.normaliser)
                for labelled in sets
                if labelled.eid in measured
            ],
            n_excluded=n_excluded,
        ),
        corrected=None
        if human is None
        else corrected_shares(
            system, measured, human, shares_of=options.shares, level=options.level
        ),
        sensitivity=None
        if options.error_rate is None
        else share_sensitivity(distributions, shares, error_rate=options.error_rate),
        samples=_samples(measured, shares),
        excluded=excluded,
    )


def _novel_share(
    labelled: LabelledSet,
    of_values: Mapping[str, Sequence[str]],
    text: str,
    normaliser: TermMaker,
) -> float:
    """Return the share of a summary's terms, each as often as it stands, that no document has."""
    unlabelled = (
        normaliser.terms(document)
        for document, label in zip(labelled.texts, labelled.labels, strict=True)
        if label is None
    )
    source_terms = set(itertools.chain(*of_values.values(), *unlabelled))
    summary_terms = normaliser.terms(text)
    return sum(term not in source_terms for term in summary_terms) / max(len(summary_terms), 1)


def _distribution(
    source: Mapping[str, tuple[str, ...]],
    text: str,
    options: ProportionalOptions,
    scores: Mapping[str, float] | None,
) -> ValueDistribution | Exclusion:
    summary = options.normaliser.terms(text)
    if not any(source.values()):
        return "no_text" if source else "no_values"
    if not (text.strip() if options.released else summary):
        return "empty_summary"
    present = [value for value, terms in source.items() if terms]
    if scores is not None and any(value not in scores for value in present):
        return "unscored"
    if scores is None:
        no_match: Literal["undefined", "uniform"] = "uniform" if options.released else "undefined"
        shares = unigram_distribution(source, summary, no_match=no_match)
    else:
        tokens = {value: len(terms) for value, terms in source.items()}
        shares = softmax_distribution(tokens, scores, temperature=options.temperature)
    if isinstance(shares, Undefined):
        return "no_support"
    if isinstance(target_shares(shares, options.target), Undefined):
        return "target_absent"
    return shares


def _samples(
    measured: Mapping[str, ValueDistribution], shares: Shares
) -> dict[str, ProportionalSample]:
    rows = zip(
        measured.items(),
        shares.wanted,
        by_rows(PROPORTIONAL.by_sample(shares, len(measured)), len(measured)),
        strict=True,
    )
    column = {value: place for place, value in enumerate(shares.values)}
    return {
        eid: ProportionalSample(
            distribution=distribution,
            wanted=tuple(targets[[column[value] for value in distribution.values]].tolist()),
            numbers=numbers,
        )
        for (eid, distribution), targets, numbers in rows
    }


def _signature(corpus: LabelledCorpus, options: ProportionalOptions) -> str:
    target = options.target
    target_shares = () if isinstance(target, str) else sorted(target.items())
    neural = not options.scorer.startswith(("unigrams", "people:"))
    return signature(
        {
            "measure": "proportional",
            "attribute": corpus.attribute,
            "scorer": options.scorer,
            "terms": options.normaliser.fingerprint,
            "variant": "released" if options.released else None,
            "target": ",".join(f"{v}={share:g}" for v, share in target_shares) or str(target),
            "tau": options.tau,
            "temperature": options.temperature if neural else None,
            "resamples": options.n_resamples,
            "seed": options.seed,
        }
    )
