"""Fairness measures of values: `fairjudge.fairness.coverage` and ``.proportionality``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from fairjudge.analysis.fairness import (
    ScorerChoice,
    parse_scorer,
    read_target,
    read_terms,
)
from fairjudge.api.fairness_options import Bins, Clusters
from fairjudge.api.fairness_results import CoverageFairness, ProportionalFairness
from fairjudge.api.judging import JudgeResult
from fairjudge.api.progress import bars
from fairjudge.datasets import (
    Loaded,
    match_summaries,
    read_clusters,
    read_judgements,
    read_records,
    read_summaries,
)
from fairjudge.datasets._problems import describe
from fairjudge.domain import Record, Reference
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.fairness.choices import CoverageVariant
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import Opt, Seed
from fairjudge.options.models import Model, as_model
from fairjudge.records.matching import Match, join_samples, with_ids_of
from fairjudge.text.counting import pluralize

R = TypeVar("R", bound=Record)
if TYPE_CHECKING:
    from fairjudge.analysis.support_files import ValueScoreRecord
    from fairjudge.analysis.supporting import Units
    from fairjudge.domain import Cluster, Judgement, Summary
    from fairjudge.fairness.distributions import Target
    from fairjudge.fairness.proportional_report import ValueScores
    from fairjudge.fairness.share_error import HumanShares
    from fairjudge.fairness.support import Support
    from fairjudge.fairness.values import LabelledCorpus

COVERAGE_SCORERS = ("embedding", "entailment", "matrix", "judgements")
PROPORTIONAL_SCORERS = ("unigrams", "bert_score", "bart_score", "matrix", "people")


def read_scorer(text: str | Path, *, skip_bad: bool = False) -> ScorerChoice | Loaded[Any] | Model:
    """Return what a scorer's name stands for: a model, or the scores or judgements of a file."""
    name = str(text).partition(":")[0]
    if name not in COVERAGE_SCORERS:
        return as_model(text, argument="scorer")
    choice = parse_scorer(str(text), COVERAGE_SCORERS)
    match choice.name:
        case "matrix":
            return read_supports(choice.path(), skip_bad=skip_bad)
        case "judgements":
            return read_judgements(choice.path(), skip_bad=skip_bad)
        case _:
            return choice


def read_value_scorer(
    text: str | Path, *, skip_bad: bool = False
) -> str | Loaded[ValueScoreRecord]:
    """Return the scores by value of ``matrix:FILE``, and the name of any other scorer."""
    from fairjudge.analysis.support_files import VALUE_SCORES

    choice = parse_scorer(str(text), PROPORTIONAL_SCORERS)
    if choice.name != "matrix":
        return str(text)
    return read_records(choice.path(), VALUE_SCORES, skip_bad=skip_bad)


def read_supports(given: object, *, skip_bad: bool = False) -> Loaded[Any]:
    """Return how far documents support summaries, by people or an earlier run."""
    from fairjudge.analysis.support_files import SUPPORTS

    return read_records(given, SUPPORTS, skip_bad=skip_bad, argument="human")


def read_shares(given: object, *, skip_bad: bool = False) -> Loaded[Any]:
    """Return how people share out summaries among the values."""
    from fairjudge.analysis.support_files import VALUE_SHARES

    return read_records(given, VALUE_SHARES, skip_bad=skip_bad, argument="human")


def read_units(given: object, *, skip_bad: bool = False) -> Loaded[Any]:
    """Return the units of summaries, as ``fairjudge fairness split`` writes them."""
    from fairjudge.analysis.support_files import UNITS

    return read_records(given, UNITS, skip_bad=skip_bad, argument="units")


Summaries: TypeAlias = Annotated[object, Opt("Summaries: eid, system, text.", reads=read_summaries)]
Attribute: TypeAlias = Annotated[
    str, Opt("Name of the articles' attribute, such as sentiment or party.")
]


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
            "Scorer of how well a document supports a sentence: embedding[:MODEL] (cosine "
            "similarity), entailment[:MODEL] (a probability; the packaged support model, or "
            "another by hub id or folder), matrix:FILE (given numbers), or judgements:FILE "
            "(a judge's verdicts by article).",
            reads=read_scorer,
            panel="Options",
        ),
    ] = "embedding",
    max_words: Annotated[
        int, Opt("Words of a document chunk; 0 for single sentences.", ge=0)
    ] = 100,
    variant: Annotated[
        CoverageVariant,
        Opt(
            "How coverage and parity are computed: as the paper defines them, or as its "
            "authors' code does."
        ),
    ] = "paper",
    n_permutations: Annotated[
        int, Opt("Random permutations, where there are too many to test all.", ge=1)
    ] = 5000,
    seed: Seed = 0,
    error_rate: Annotated[
        float | None, Opt("Assumed scorer error, for a worst-case band.", ge=0.0, le=1.0)
    ] = None,
    units: Annotated[
        object | None,
        Opt(
            "Units of the summaries by 'fairjudge fairness split', one fact each; without them the "
            "summaries' sentences are the units.",
            reads=read_units,
        ),
    ] = None,
    human: Annotated[
        object | None,
        Opt(
            "Supports by people for a random part of the summaries, in the format of "
            "--save-supports; corrects the means by prediction-powered inference.",
            reads=read_supports,
        ),
    ] = None,
    progress: bool | None = None,
) -> CoverageFairness:
    """Measure whether summaries cover documents of every value of `attribute` alike.

    Parameters
    ----------
    clusters, summaries
        Paths, or lists of records or dicts; articles carry ``attributes``.
    attribute
        Such as ``"party"``.
    scorer
        What says how far an article is covered: a `JudgeResult` of checklists (the mean over the
        article's own answers; articles that answer nothing are excluded); judgements of single
        articles (``reference_unit="article"``); a local `Model`, whose embeddings compare the
        article with the summary's sentences; or as on the command line ``"embedding:MODEL"``,
        ``"entailment:MODEL"``, ``"matrix:FILE"`` or ``"judgements:FILE"``.
    bins
        Increasing cut points that group a numeric attribute.
    max_words
        Words of a chunk of an article, for a local scorer; 0 for single sentences.
    units : optional
        Content units of every summary, as ``fairness split`` writes them, in place of sentences.
    human : optional
        Supports by people for a random part of the summaries, in the format of `save_supports`;
        they correct the means by prediction-powered inference.
    variant : {"paper", "released"}
        As the paper defines the measures, or as its authors' code does.
    n_permutations : int
        Random permutations, where there are too many to test all.
    error_rate : float, optional
        Assumed mean error of the scorer, for a worst-case band.
    seed
        Of all resampling.
    progress : bool, optional
        As `Model.progress`.

    Raises
    ------
    FairJudgeError
        If an argument cannot be used.

    Examples
    --------
    >>> import fairjudge as fj
    >>> found = fj.fairness.coverage(
    ...     "clusters.json", "summaries.jsonl", attribute="outlet_type", scorer="local"
    ... )
    >>> [row["system"] for row in found.table()]
    ['one-sided', 'thorough', 'unfaithful']
    """
    from fairjudge.analysis.supporting import model_supports
    from fairjudge.fairness.coverage_report import CoverageOptions, report_coverage
    from fairjudge.fairness.values import label_corpus

    sources, texts = _checked(clusters, summaries, attribute)
    chosen = read_scorer(scorer) if isinstance(scorer, str) else scorer
    if isinstance(chosen, Model):
        progress = chosen.progress if progress is None else progress
        chosen = ScorerChoice(name="embedding", argument=chosen.local())
    if units is not None:
        check_takes_units(chosen)
    labelled: Sequence[Cluster] = sources.records
    supports: Sequence[Support] = ()
    made_by = ""
    joins = _Joins(texts.records)
    if not isinstance(chosen, ScorerChoice):
        labelled, supports, made_by = _supports_of_scorer(labelled, chosen, joins)
    corpus = label_corpus(labelled, attribute=attribute, bins=tuple(bins))
    if isinstance(chosen, ScorerChoice):
        with bars(progress) as progress_bars:
            supports, made_by = model_supports(
                corpus,
                sources,
                texts.records,
                name=chosen.name,
                model=chosen.argument,
                max_words=max_words,
                progress=progress_bars.counter("scoring clusters"),
                units=None if units is None else _units(units, texts),
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
        human=[record.read() for record in human_supports],
    )
    return CoverageFairness(report, supports, tuple(joins.found))


class _Joins:
    """Joins of files with the summaries, by eid and system; ``found`` has what each came to."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        self._summaries = summaries
        self.found: list[Match[tuple[str, str]]] = []

    def of(self, rows: Iterable[R], name: str) -> tuple[R, ...]:
        """Return `rows` with the summaries' ids; `name` says what one of them is.

        Raises
        ------
        InputError
            None is of a summary.
        """
        path = rows.path if isinstance(rows, Loaded) else None
        records = tuple(rows)
        if not records:
            return records
        joined, join = join_samples(records, self._summaries, names=(name, "summary"), path=path)
        self.found.append(join)
        return joined


def check_takes_units(scorer: object) -> None:
    """Refuse a scorer of which units cannot be asked.

    Raises
    ------
    ConfigurationError
        If it is no model.
    """
    from fairjudge.analysis.supporting import SUPPORT_SCORERS

    if not isinstance(scorer, ScorerChoice) or scorer.name not in SUPPORT_SCORERS:
        raise ConfigurationError(f"--units are scored by {' or '.join(SUPPORT_SCORERS)} alone")


def _supports_of_scorer(
    clusters: Sequence[Cluster], scorer: object, joins: _Joins
) -> tuple[Sequence[Cluster], list[Support], str]:
    """Return the supports that `scorer` holds, with the clusters that they are about."""
    from fairjudge.fairness.support import SupportRecord

    if isinstance(scorer, Loaded) and all(isinstance(record, SupportRecord) for record in scorer):
        records = joins.of(scorer, "support")
        return clusters, [record.read() for record in records], f"matrix:{Path(scorer.path).name}"
    rows = joins.of(read_judgements(scorer, argument="scorer"), "judgement")
    references = scorer.references if isinstance(scorer, JudgeResult) else ()
    labelled, supports = _judged(clusters, rows, references)
    return labelled, supports, "judgements:" + "+".join(sorted({row.judge for row in rows}))


def _judged(
    clusters: Sequence[Cluster], rows: Sequence[Judgement], references: Sequence[Cluster]
) -> tuple[Sequence[Cluster], list[Support]]:
    from fairjudge.fairness.verdicts import (
        answering,
        supports_from_checklists,
        supports_from_judgements,
        without_stubs,
    )

    questions = [reference for reference in references if isinstance(reference, Reference)]
    if questions and any(row.checklist for row in rows):
        return answering(clusters, questions), supports_from_checklists(questions, rows)
    return without_stubs(clusters), supports_from_judgements(clusters, rows)


def _units(unit_rows: object, summaries: Loaded[Summary]) -> Units:
    """Read the units; every summary must have some, or some would be in sentences unnoticed."""
    records = read_units(unit_rows)
    units_by_summary = {(row.eid, row.system): row.units for row in with_ids_of(records, summaries)}
    missing = [
        summary
        for summary in summaries
        if summary.text.strip() and not units_by_summary.get((summary.eid, summary.system))
    ]
    if missing:
        first = missing[0]
        raise InputError(
            f"no units here for {pluralize(len(missing), 'summary', 'summaries')}, such as that of "
            f"{first.system!r} on {first.eid!r}; split the same summaries",
            path=records.path,
        )
    return units_by_summary


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
            "How summaries are attributed to values: unigrams, bert_score[:MODEL], "
            "bart_score[:MODEL], matrix:FILE (given scores by value), or people:FILE (shares or "
            "facts by people, as for --human).",
            reads=read_value_scorer,
            panel="Options",
        ),
    ] = "unigrams",
    target: Annotated[
        str | Mapping[str, float],
        Opt("Wanted shares: 'ratio' (as in the source), 'equal', or a JSON file."),
    ] = "ratio",
    tau: Annotated[
        float, Opt("Part of its share that a value must reach (BUR).", ge=0.0, le=1.0)
    ] = 0.8,
    terms: Annotated[
        Literal["own", "nltk"],
        Opt(
            "What unigrams are: stems without SMART's stop words, or all as in the code of "
            "FairSumm's authors, for their figures to the last digit (extra 'nltk', and its data)."
        ),
    ] = "own",
    ngrams: Annotated[
        int,
        Opt("Length of the n-grams that the scorer unigrams matches.", flag="--ngrams", ge=1, le=3),
    ] = 1,
    temperature: Annotated[
        float, Opt("Temperature of the softmax over scores, above 0; not used by unigrams.")
    ] = 0.1,
    seed: Seed = 0,
    error_rate: Annotated[
        float | None,
        Opt(
            "Assumed part of a summary given to wrong values, for a worst-case band.",
            ge=0.0,
            le=1.0,
        ),
    ] = None,
    human: Annotated[
        object | None,
        Opt(
            "Attribution of a random part of the summaries to the values by people: eid, "
            "system, shares, or facts, a list of the values that each fact comes from; corrects "
            "the means by prediction-powered inference.",
            reads=read_shares,
        ),
    ] = None,
    progress: bool | None = None,
) -> ProportionalFairness:
    """Measure whether each value of `attribute` has its share of the summaries' words.

    Parameters
    ----------
    clusters, summaries, attribute, bins, seed, progress
        As in `coverage`.
    scorer
        How summaries are attributed to values: ``"unigrams"``, ``"bert_score[:MODEL]"``,
        ``"bart_score[:MODEL]"``, ``"matrix:FILE"`` (given scores by value), or ``"people:FILE"``
        (shares or facts by people, in the format of `human`).
    target
        The wanted shares: ``"ratio"`` (as in the source), ``"equal"``, shares by value, or a JSON
        file of them.
    tau : float
        Part of its share that a value must reach (BUR).
    terms : {"own", "nltk"}
        What unigrams are: stems without SMART's stop words, or all as in the code of FairSumm's
        authors (extra ``nltk``, and its data).
    ngrams : int
        How many terms in a row are matched, for ``"unigrams"``: 1, 2 or 3.
    temperature : float
        Temperature of the softmax over scores, above 0; not used by unigrams.
    human : optional
        How people share out a random part of the summaries among the values (``eid``, ``system``,
        ``shares``); corrects the means by prediction-powered inference.
    error_rate : float, optional
        Assumed part of a summary given to wrong values, for a worst-case band.

    Raises
    ------
    FairJudgeError
        If an argument cannot be used.

    Examples
    --------
    >>> import fairjudge as fj
    >>> found = fj.fairness.proportionality(
    ...     "clusters.json", "summaries.jsonl", attribute="outlet_type"
    ... )
    >>> 0 <= found.table()[0]["bur"] <= 1
    True
    """
    from fairjudge.fairness.proportional_report import ProportionalOptions, report_proportional
    from fairjudge.fairness.values import label_corpus

    chosen_target: Target = read_target(target) if isinstance(target, str) else target
    if temperature <= 0.0:
        raise ConfigurationError(f"temperature: expected a number above 0, found {temperature!r}")
    normaliser = read_terms(terms, ngrams=ngrams)
    sources, texts = _checked(clusters, summaries, attribute)
    corpus = label_corpus(sources.records, attribute=attribute, bins=tuple(bins))
    joins = _Joins(texts.records)
    attribution = None
    if isinstance(scorer, str) and scorer.startswith("people:"):
        path = parse_scorer(scorer, PROPORTIONAL_SCORERS).path()
        attribution, scores, made_by = _human_shares(path, joins), None, f"people:{path.name}"
    else:
        scores, made_by = _value_scores(corpus, texts.records, scorer, progress, joins)
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
        given=attribution,
        human=None if human is None else _human_shares(human, joins),
    )
    return ProportionalFairness(report, tuple(joins.found))


def _human_shares(shares: object, joins: _Joins) -> HumanShares:
    from fairjudge.analysis.support_files import shares_of_people

    return shares_of_people(joins.of(read_shares(shares), "human share"))


def _value_scores(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    scorer: Loaded[Any] | str,
    progress: bool | None,  # noqa: FBT001  # as `Model.progress`
    joins: _Joins,
) -> tuple[ValueScores | None, str]:
    """Return the scores by value, None for unigrams, and what made them."""
    from fairjudge.analysis.fairness import value_scores_of
    from fairjudge.analysis.support_files import VALUE_SCORES

    chosen = read_value_scorer(scorer) if isinstance(scorer, str) else scorer
    if isinstance(chosen, str):
        with bars(progress) as progress_bars:
            choice = parse_scorer(chosen, PROPORTIONAL_SCORERS)
            return value_scores_of(corpus, summaries, choice, progress_bars.counter("scoring sets"))
    records = read_records(chosen, VALUE_SCORES, argument="scorer")
    scores = {(record.eid, record.system): record.scores for record in joins.of(records, "score")}
    return scores, f"matrix:{Path(records.path).name}"


def given_value_scores(
    clusters: object,
    summaries: object,
    *,
    attribute: str,
    bins: Sequence[float],
    scorer: Any,
    human: object,
    progress: bool | None,
) -> tuple[LabelledCorpus, Sequence[Summary], ValueScores, HumanShares]:
    """Return what scores by value and shares by people are about, and both.

    Raises
    ------
    ConfigurationError
        The scorer gives no scores.
    """
    from fairjudge.fairness.values import label_corpus

    sources, texts = _checked(clusters, summaries, attribute)
    corpus = label_corpus(sources.records, attribute=attribute, bins=tuple(bins))
    joins = _Joins(texts.records)
    scores, made_by = _value_scores(corpus, texts.records, scorer, progress, joins)
    if scores is None:
        raise ConfigurationError(f"scorer: {made_by} has no softmax, and so no temperature")
    return corpus, texts.records, scores, _human_shares(human, joins)


def _checked(
    clusters: object, summaries: object, attribute: object
) -> tuple[Loaded[Cluster], Loaded[Summary]]:
    if not isinstance(attribute, str):
        raise ConfigurationError(f"attribute: expected text, found {describe(attribute)}")
    sources = read_clusters(clusters)
    return sources, match_summaries(read_summaries(summaries), sources)
