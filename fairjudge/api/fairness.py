"""Fairness measures: `fairjudge.fairness.coverage` and ``.proportionality``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fairjudge.analysis.fairness import (
    ScorerChoice,
    parse_scorer,
    read_target,
    read_terms,
)
from fairjudge.api.fairness_inputs import (
    PROPORTIONAL_SCORERS,
    Joins,
    check_takes_units,
    human_shares,
    read_inputs,
    read_scorer,
    read_shares,
    read_supports,
    read_units,
    read_value_scorer,
    supports_of_scorer,
    units_of_summaries,
    value_scores,
)
from fairjudge.api.fairness_options import Attribute, Bins, Clusters, Summaries
from fairjudge.api.fairness_results import CoverageFairness, ProportionalFairness
from fairjudge.api.judging import JudgeResult
from fairjudge.api.progress import bars
from fairjudge.datasets import (
    Loaded,
)
from fairjudge.errors import ConfigurationError
from fairjudge.fairness.choices import CoverageVariant
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import Opt, Seed
from fairjudge.options.models import Model

if TYPE_CHECKING:
    from fairjudge.fairness.distributions import Target
    from fairjudge.fairness.support import Support


@checks_arguments
def coverage(
    clusters: Clusters,
    summaries: Summaries,
    *,
    attribute: Attribute,
    bins: Bins = (),
    scorer: Annotated[
        JudgeResult | Sequence[Any] | Loaded[Any] | ScorerChoice | Model | str,
        Opt(
            "Scorer of the support of a sentence by a document: embedding[:MODEL] (cosine "
            "similarity), entailment[:MODEL] (probability; the packaged model, or a hub id or "
            "folder), matrix:FILE (precomputed scores), or judgements:FILE (a judge's verdicts "
            "per article).",
            reader=read_scorer,
            panel="Options",
        ),
    ] = "embedding",
    max_words: Annotated[
        int, Opt("Maximum words of a document chunk; 0: single sentences.", ge=0)
    ] = 100,
    variant: Annotated[
        CoverageVariant,
        Opt(
            "Definition of coverage and parity: that of the paper, or that of its authors' "
            "released code."
        ),
    ] = "paper",
    n_permutations: Annotated[
        int, Opt("Number of random permutations, if not all can be tested.", ge=1)
    ] = 5000,
    seed: Seed = 0,
    error_rate: Annotated[
        float | None, Opt("Assumed mean scorer error; adds a worst-case interval.", ge=0.0, le=1.0)
    ] = None,
    units: Annotated[
        object | None,
        Opt(
            "Content units of the summaries (one fact each), from 'fairjudge fairness split'. "
            "Default: sentences.",
            reader=read_units,
        ),
    ] = None,
    human: Annotated[
        object | None,
        Opt(
            "Human support annotations for a random sample of summaries (format of "
            "--save-supports); corrects the means by prediction-powered inference.",
            reader=read_supports,
        ),
    ] = None,
    progress: bool | None = None,
) -> CoverageFairness:
    """Measure whether summaries cover documents of every value of `attribute` equally.

    Source: Li et al. 2025 (coverage fairness), sections 4.1 (Equal Coverage, equations 3 to 5) and
    4.2 (Coverage Parity, equation 6).

    Parameters
    ----------
    clusters, summaries
        Paths, or lists of records or dicts; articles have ``attributes``.
    attribute
        Name of an attribute, such as ``"party"``.
    scorer
        The scores of how well an article is covered: a `JudgeResult` of checklists (mean over the
        article's answers; articles without answers are excluded); judgements of single articles
        (``reference_unit="article"``); a local `Model`, which compares embeddings of the article
        and the summary's sentences; or as on the command line ``"embedding:MODEL"``,
        ``"entailment:MODEL"``, ``"matrix:FILE"`` or ``"judgements:FILE"``.
    bins
        Increasing cut points that group a numeric attribute.
    max_words
        Maximum words of an article chunk for a local scorer; 0 for single sentences.
    units : optional
        Content units of every summary, from ``fairness split``, instead of sentences.
    human : optional
        Human support annotations for a random sample of summaries, in the format of
        `save_supports`; they correct the means by prediction-powered inference.
    variant : {"paper", "released"}
        Definition of the measures: that of the paper, or that of its authors' released code.
    n_permutations : int
        Number of random permutations, 1 or more, if not all can be tested.
    error_rate : float, optional
        Assumed mean error of the scorer, from 0 to 1; adds a worst-case interval.
    seed
        Random seed of all resampling.
    progress : bool, optional
        As `Model.progress`.

    Returns
    -------
    CoverageFairness
        Equal Coverage, R_EC, Coverage Parity (0 is fair for these) and any further measures by
        system. Equal Coverage and Coverage Parity are in the scorer's unit: a probability or share
        from 0 to 1, or a cosine similarity.

    Raises
    ------
    FairJudgeError
        If an argument is invalid, or all articles have the same value of `attribute`.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.fairness.coverage(
    ...     "clusters.json", "summaries.jsonl", attribute="outlet_type", scorer="local"
    ... )
    >>> [row["system"] for row in report.table()]
    ['one-sided', 'thorough', 'unfaithful']
    """
    from fairjudge.analysis.supporting import model_supports
    from fairjudge.fairness.coverage_report import CoverageOptions, report_coverage
    from fairjudge.fairness.values import label_corpus

    sources, texts = read_inputs(clusters, summaries)
    chosen = read_scorer(scorer) if isinstance(scorer, str) else scorer
    if isinstance(chosen, Model):
        progress = chosen.progress if progress is None else progress
        chosen = ScorerChoice(name="embedding", argument=chosen.local_embedding_model())
    if units is not None:
        check_takes_units(chosen)
    supports: Sequence[Support]
    joins = Joins(texts.records)
    if not isinstance(chosen, ScorerChoice):
        labelled, supports, made_by = supports_of_scorer(sources.records, chosen, joins)
        corpus = label_corpus(labelled, attribute=attribute, bins=tuple(bins))
    else:
        corpus = label_corpus(sources.records, attribute=attribute, bins=tuple(bins))
        with bars(progress) as progress_bars:
            supports, made_by = model_supports(
                corpus,
                sources,
                texts.records,
                name=chosen.name,
                model=chosen.argument,
                max_words=max_words,
                progress=progress_bars.counter("scoring clusters"),
                units=None if units is None else units_of_summaries(units, texts),
                between_units=variant == "released",
            )
    options = CoverageOptions(
        variant=variant,
        scorer=made_by,
        n_permutations=n_permutations,
        seed=seed,
        error_rate=error_rate,
    )
    people = () if human is None else read_supports(human)
    human_supports = joins.of(people, "human support")
    report = report_coverage(
        corpus,
        texts.records,
        supports,
        options=options,
        human=[record.to_support() for record in human_supports],
    )
    return CoverageFairness(report, supports, tuple(joins.matches))


@checks_arguments
def proportionality(
    clusters: Clusters,
    summaries: Summaries,
    *,
    attribute: Attribute,
    bins: Bins = (),
    scorer: Annotated[
        Loaded[Any] | str,
        Opt(
            "Scorer that attributes summaries to values: unigrams, bert_score[:MODEL], "
            "bart_score[:MODEL], matrix:FILE (precomputed scores by value), or people:FILE (human "
            "shares or facts, in the format of --human).",
            reader=read_value_scorer,
            panel="Options",
        ),
    ] = "unigrams",
    target: Annotated[
        str | Mapping[str, float],
        Opt(
            "Target shares: 'ratio' (as in the source), 'equal', or a JSON file of value to share."
        ),
    ] = "ratio",
    tau: Annotated[
        float, Opt("Fraction of its target share that a value must exceed (BUR).", ge=0.0, le=1.0)
    ] = 0.8,
    terms: Annotated[
        Literal["own", "nltk"],
        Opt(
            "Tokenization of unigrams: 'own' (stems, SMART stop words removed) or 'nltk' "
            "(reproduces the numbers of FairSumm's code exactly; needs the extra 'nltk' and its "
            "data)."
        ),
    ] = "own",
    ngrams: Annotated[
        int,
        Opt("With --scorer unigrams: length of the n-grams.", flag="--ngrams", ge=1, le=3),
    ] = 1,
    temperature: Annotated[
        float, Opt("Softmax temperature over scores, above 0; not used by unigrams.")
    ] = 0.1,
    seed: Seed = 0,
    error_rate: Annotated[
        float | None,
        Opt(
            "Assumed share of a summary attributed to wrong values; adds a worst-case interval.",
            ge=0.0,
            le=1.0,
        ),
    ] = None,
    human: Annotated[
        object | None,
        Opt(
            "Human attribution of a random sample of summaries to values: eid, system, and "
            "shares, or facts (a list of the values that each fact comes from); corrects the "
            "means by prediction-powered inference.",
            reader=read_shares,
        ),
    ] = None,
    progress: bool | None = None,
) -> ProportionalFairness:
    """Measure whether each value of `attribute` has its share of the summaries' words.

    Source: Zhang et al. 2024 (FairSumm), sections 3 to 5 (equations 1 to 4).

    Parameters
    ----------
    clusters, summaries, attribute, bins, seed, progress
        As in `coverage`.
    scorer
        The scorer that attributes summaries to values: ``"unigrams"``, ``"bert_score[:MODEL]"``,
        ``"bart_score[:MODEL]"``, ``"matrix:FILE"`` (precomputed scores by value), or
        ``"people:FILE"`` (human shares or facts, in the format of `human`).
    target
        Target shares: ``"ratio"`` (as in the source), ``"equal"``, shares by value, or a JSON file
        of them.
    tau : float
        Fraction of its target share, from 0 to 1, that a value must exceed (BUR).
    terms : {"own", "nltk"}
        Tokenization of unigrams: stems without SMART stop words, or that of FairSumm's code (extra
        ``nltk``, and its data).
    ngrams : int
        Length of the n-grams of ``"unigrams"``: 1, 2 or 3.
    temperature : float
        Softmax temperature over scores, above 0; not used by unigrams.
    human : optional
        Human attribution of a random sample of summaries to values (``eid``, ``system``,
        ``shares``); corrects the means by prediction-powered inference.
    error_rate : float, optional
        Assumed share of a summary attributed to wrong values, from 0 to 1; adds a worst-case
        interval.

    Returns
    -------
    ProportionalFairness
        BUR, UER, AUC, SOF (0 is fair for these) and any further measures by system. They are shares
        from 0 to 1 in `table()`, and percentages in the JSON and printed tables.

    Raises
    ------
    FairJudgeError
        If an argument is invalid, or all articles have the same value of `attribute`.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.fairness.proportionality(
    ...     "clusters.json", "summaries.jsonl", attribute="outlet_type"
    ... )
    >>> 0 <= report.table()[0]["bur"] <= 1
    True
    """
    from fairjudge.fairness.proportional_report import ProportionalOptions, report_proportional
    from fairjudge.fairness.values import label_corpus

    chosen_target: Target = read_target(target) if isinstance(target, str) else target
    if temperature <= 0.0:
        raise ConfigurationError(f"temperature: expected a number above 0, found {temperature!r}")
    normaliser = read_terms(terms, ngrams=ngrams)
    sources, texts = read_inputs(clusters, summaries)
    corpus = label_corpus(sources.records, attribute=attribute, bins=tuple(bins))
    joins = Joins(texts.records)
    attribution = None
    if isinstance(scorer, str) and scorer.startswith("people:"):
        path = parse_scorer(scorer, PROPORTIONAL_SCORERS).path()
        attribution, scores, made_by = human_shares(path, joins), None, f"people:{path.name}"
    else:
        scores, made_by = value_scores(corpus, texts.records, scorer, progress, joins)
    options = ProportionalOptions(
        target=chosen_target,
        tau=tau,
        scorer=made_by,
        normaliser=normaliser,
        temperature=temperature,
        released=terms == "nltk",
        seed=seed,
        error_rate=error_rate,
    )
    report = report_proportional(
        corpus,
        texts.records,
        options=options,
        scores=scores,
        human_shares=attribution,
        human=None if human is None else human_shares(human, joins),
    )
    return ProportionalFairness(report, tuple(joins.matches))
