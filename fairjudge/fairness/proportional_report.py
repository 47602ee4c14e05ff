"""The measures of Proportional Representation of each system, from clusters and summaries."""

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
    measure_systems,
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
from fairjudge.fairness.measures import SampleNumbers, rows_from_columns
from fairjudge.fairness.proportional import PROPORTIONAL, Proportional, proportional
from fairjudge.fairness.share_error import (
    HumanShares,
    correct_shares,
    people_distribution,
    share_sensitivity,
)
from fairjudge.fairness.shares import TAU, Shares, collect
from fairjudge.fairness.values import Exclusion, LabelledCorpus, LabelledSet
from fairjudge.records.signature import signature
from fairjudge.stats.resampling import Resampling, generator
from fairjudge.text.tokens import Normaliser, Runs, TermMaker

ValueScores: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""Maps (eid, system) to a neural score of the summary against each value's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProportionalOptions:
    """Options that affect the results.

    ``scorer`` is the name of what computed the scores, such as ``"bert_score:roberta-large"``; it
    only affects the signature. ``temperature`` only applies to neural scores.
    """

    target: Target = "ratio"
    tau: float = TAU
    scorer: str = "unigrams"
    temperature: float = TEMPERATURE
    normaliser: TermMaker = field(default_factory=Normaliser)
    released: bool = False
    """Follow the authors' code: a share of exactly tau times the target is under-represented, and a
    summary that matches no value has equal shares of all values."""
    seed: int = 0
    n_resamples: int = 2000
    level: float = 0.95
    error_rate: float | None = None
    """Assumed share of a summary attributed to wrong values, for a sensitivity band, or None."""

    def shares(self, distributions: Sequence[ValueDistribution]) -> Shares:
        """Return the samples as matrices, with the target shares of these options."""
        return collect(distributions, target=self.target, tau=self.tau, inclusive=self.released)


_BETWEEN = " || "
"""Separator between documents; without letters, so that it adds no term."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProportionalSample:
    """One included summary; ``targets`` is p_g over the values of its distribution.

    ``numbers`` has its value for each measure that is a mean over samples.
    """

    distribution: ValueDistribution
    targets: tuple[float, ...]
    numbers: SampleNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProportional(SystemReport[ProportionalSample]):
    """The results of one system.

    ``measures`` are over all samples, including those whose documents all have the same value:
    their summaries are fair by definition, and the published results include them.
    ``several_values`` excludes these ``n_one_value`` samples. ``novel_terms`` is the mean share of
    a summary's terms that occur in no document (FairSumm, appendix J), so that they cannot be
    attributed to a value.
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
        Scores for neural matching; None for unigrams. A summary without scores is ``unscored``.
    human_shares
        Human labels of p_y, used instead of a scorer; a summary without them is ``unscored``.
    human
        Human labels of p_y for a random sample of the summaries, to correct the scorer.

    Raises
    ------
    InputError
        A target or human shares that do not match the attribute's values, or as `measure_systems`.
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
    systems, notes = measure_systems(corpus, summaries, measure)
    return Report(
        attribute=corpus.attribute,
        systems=systems,
        notes=notes,
        signature=_signature(corpus, options),
    )


def source_terms(labelled_set: LabelledSet, normaliser: TermMaker) -> dict[str, tuple[str, ...]]:
    """Return the terms of each value's documents; documents without a value are excluded.

    Documents are joined as in the authors' code: the separator affects sentence tokenization where
    a document does not end with a full stop.
    """
    texts: dict[str, list[str]] = {value: [] for value in labelled_set.values}
    for text, label in zip(labelled_set.texts, labelled_set.labels, strict=True):
        if label is not None:
            texts[label].append(text)
    if isinstance(normaliser, Runs):  # no run crosses documents
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
        return people_distribution(shares, human_shares[key], sample_name=f"{system!r} for {eid!r}")

    distributions_by_eid, exclusions = split_outcomes(
        {documents.eid: distribution(documents.eid) for documents in sets}
    )
    all_distributions = list(distributions_by_eid.values())
    shares = options.shares(all_distributions)
    several_value_shares = options.shares(
        [sample for sample in all_distributions if len(sample.values) > 1]
    )
    resampling = Resampling(
        rng=generator(options.seed, system), n_resamples=options.n_resamples, level=options.level
    )

    n_one_value = len(shares.targets) - len(several_value_shares.targets)
    n_excluded = len(exclusions)
    return SystemProportional(
        measures=proportional(shares, resampling=resampling, n_excluded=n_excluded),
        several_values=proportional(
            several_value_shares, resampling=resampling, n_excluded=n_excluded + n_one_value
        ),
        n_one_value=n_one_value,
        novel_terms=resampling.with_stream("novel terms").mean(
            [
                _novel_share(
                    labelled_set,
                    terms[labelled_set.eid],
                    texts[labelled_set.eid],
                    options.normaliser,
                )
                for labelled_set in sets
                if labelled_set.eid in distributions_by_eid
            ],
            n_excluded=n_excluded,
        ),
        corrected=None
        if human is None
        else correct_shares(
            system, distributions_by_eid, human, collect_shares=options.shares, level=options.level
        ),
        sensitivity=None
        if options.error_rate is None
        else share_sensitivity(all_distributions, shares, error_rate=options.error_rate),
        samples=_samples(distributions_by_eid, shares),
        excluded=exclusions,
    )


def _novel_share(
    labelled_set: LabelledSet,
    terms_by_value: Mapping[str, Sequence[str]],
    text: str,
    normaliser: TermMaker,
) -> float:
    """Return the share of a summary's terms (with repeats) that occur in no document."""
    unlabelled_terms = (
        normaliser.terms(document)
        for document, label in zip(labelled_set.texts, labelled_set.labels, strict=True)
        if label is None
    )
    source_terms = set(itertools.chain(*terms_by_value.values(), *unlabelled_terms))
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
    values = [value for value, terms in source.items() if terms]
    if scores is not None and any(value not in scores for value in values):
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
    distributions: Mapping[str, ValueDistribution], shares: Shares
) -> dict[str, ProportionalSample]:
    rows = zip(
        distributions.items(),
        shares.targets,
        rows_from_columns(PROPORTIONAL.by_sample(shares, len(distributions)), len(distributions)),
        strict=True,
    )
    column = {value: index for index, value in enumerate(shares.values)}
    return {
        eid: ProportionalSample(
            distribution=distribution,
            targets=tuple(targets[[column[value] for value in distribution.values]].tolist()),
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
