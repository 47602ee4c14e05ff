"""Fairness of the summaries in a file: scorer, measures and report put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Literal, TypeVar

from fairjudge.analysis.supporting import SUPPORT_SCORERS, Progress, Units, model_supports
from fairjudge.datasets import (
    BadLine,
    Loaded,
    check_summaries,
    read_clusters,
    read_json,
    read_judgements,
    read_records,
    read_summaries,
)
from fairjudge.datasets.supports import (
    SUPPORTS,
    UNITS,
    VALUE_SCORES,
    VALUE_SHARES,
    write_supports,
)
from fairjudge.domain import Cluster, Summary
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.fairness.coverage_report import CoverageOptions, CoverageReport, report_coverage
from fairjudge.fairness.distributions import Target
from fairjudge.fairness.proportional_report import (
    ProportionalOptions,
    ProportionalReport,
    ValueScores,
    report_proportional,
)
from fairjudge.fairness.support import Support
from fairjudge.fairness.values import LabelledCorpus, label_corpus
from fairjudge.fairness.verdicts import supports_from_judgements
from fairjudge.text.printable import counted
from fairjudge.text.tokens import Normaliser, TermMaker


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessInput:
    """The files and the attribute that a fairness command reads."""

    clusters: Path
    summaries: Path
    attribute: str
    bins: tuple[float, ...] = ()
    skip_bad: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerChoice:
    """A scorer as written on the command line: a name, and a model or file after a colon."""

    name: str
    argument: str | None

    def __str__(self) -> str:
        return self.name if self.argument is None else f"{self.name}:{self.argument}"

    def path(self) -> Path:
        """Return the argument as a file."""
        if not self.argument:
            raise ConfigurationError(f"scorer {self.name!r} needs a file: {self.name}:FILE")
        return Path(self.argument)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    clusters: Loaded[Cluster]
    summaries: Loaded[Summary]
    corpus: LabelledCorpus

    @property
    def bad_lines(self) -> tuple[BadLine, ...]:
        return (*self.clusters.bad, *self.summaries.bad)


ReportT = TypeVar("ReportT", CoverageReport, ProportionalReport)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[ReportT]):
    """What a fairness command found, and the lines that it left out."""

    report: ReportT
    bad_lines: tuple[BadLine, ...]


def parse_scorer(text: str, known: Sequence[str]) -> ScorerChoice:
    """Read ``name`` or ``name:argument``."""
    name, colon, argument = text.partition(":")
    if name not in known:
        raise ConfigurationError(f"unknown scorer {name!r}; choose one of {', '.join(known)}")
    return ScorerChoice(name=name, argument=argument if colon else None)


COVERAGE_SCORERS = ("embedding", "entailment", "matrix", "judgements")
PROPORTIONAL_SCORERS = ("unigrams", "bert_score", "bart_score", "matrix")


def coverage_fairness(
    source: FairnessInput,
    *,
    scorer: ScorerChoice,
    options: CoverageOptions,
    max_words: int,
    human: Path | None,
    save_supports: Path | None,
    progress: Progress,
    units: Path | None = None,
) -> Outcome[CoverageReport]:
    """Score how far documents support the summaries, and measure who is covered.

    With `units`, which ``fairjudge split`` writes, p(d, s) is of these instead of sentences.
    """
    loaded = _load(source)
    supports, name = _supports(
        loaded,
        scorer,
        source,
        options=options,
        max_words=max_words,
        units=units,
        progress=progress,
    )
    if save_supports is not None:
        write_supports(save_supports, supports)
    people = () if human is None else read_records(human, SUPPORTS, skip_bad=source.skip_bad)
    report = report_coverage(
        loaded.corpus,
        loaded.summaries.records,
        supports,
        options=replace(options, scorer=name),
        human=[record.read() for record in people],
    )
    return Outcome(report=report, bad_lines=loaded.bad_lines)


def proportional_fairness(
    source: FairnessInput,
    *,
    scorer: ScorerChoice,
    options: ProportionalOptions,
    human: Path | None = None,
    progress: Progress,
) -> Outcome[ProportionalReport]:
    """Measure whether each value has its share of the summaries."""
    loaded = _load(source)
    scores, name = _value_scores(loaded, scorer, source, progress)
    report = report_proportional(
        loaded.corpus,
        loaded.summaries.records,
        options=replace(options, scorer=name),
        scores=scores,
        human=None
        if human is None
        else {
            (row.eid, row.system): row.shares
            for row in read_records(human, VALUE_SHARES, skip_bad=source.skip_bad)
        },
    )
    return Outcome(report=report, bad_lines=loaded.bad_lines)


def read_terms(name: Literal["own", "nltk"]) -> TermMaker:
    """Return what turns texts into terms."""
    if name == "own":
        return Normaliser()
    from fairjudge.scorers.nltk_terms import load_nltk_terms

    return load_nltk_terms()


def read_target(text: str) -> Target:
    """Return ``"ratio"``, ``"equal"``, or the shares by value in a JSON file."""
    if text == "ratio":
        return "ratio"
    if text == "equal":
        return "equal"
    try:
        shares = read_json(text)
    except InputError as error:
        problem = f"expected 'ratio', 'equal' or a JSON file of shares by value: {error.problem}"
        raise InputError(problem, path=text) from None
    if not isinstance(shares, dict) or not all(map(_is_number, shares.values())):
        raise InputError("expected one object: value to share", path=text)
    try:
        return {value: float(share) for value, share in shares.items()}
    except OverflowError:
        raise InputError("a share is beyond all numbers", path=text) from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _load(source: FairnessInput) -> _Loaded:
    clusters = read_clusters(source.clusters, skip_bad=source.skip_bad)
    summaries = read_summaries(source.summaries, skip_bad=source.skip_bad)
    check_summaries(summaries, clusters)
    corpus = label_corpus(clusters.records, attribute=source.attribute, bins=source.bins)
    return _Loaded(clusters=clusters, summaries=summaries, corpus=corpus)


def _supports(
    loaded: _Loaded,
    scorer: ScorerChoice,
    source: FairnessInput,
    *,
    options: CoverageOptions,
    max_words: int,
    units: Path | None,
    progress: Progress,
) -> tuple[list[Support], str]:
    """Return the supports and what made them, for the signature."""
    if units is not None and scorer.name not in SUPPORT_SCORERS:
        raise ConfigurationError(f"--units are scored by {' or '.join(SUPPORT_SCORERS)} alone")
    if scorer.name == "matrix":
        records = read_records(scorer.path(), SUPPORTS, skip_bad=source.skip_bad)
        return [record.read() for record in records], f"matrix:{scorer.path().name}"
    if scorer.name == "judgements":
        judged = read_judgements(scorer.path(), skip_bad=source.skip_bad)
        supports = supports_from_judgements(loaded.clusters.records, judged.records)
        judges = "+".join(sorted({judgement.judge for judgement in judged}))
        return supports, f"judgements:{judges}"
    return model_supports(
        loaded.corpus,
        loaded.clusters,
        loaded.summaries.records,
        name=scorer.name,
        model=scorer.argument,
        max_words=max_words,
        progress=progress,
        units=None if units is None else _read_units(units, loaded, skip_bad=source.skip_bad),
        between_units=options.variant == "released",
    )


def _read_units(path: Path, loaded: _Loaded, *, skip_bad: bool) -> Units:
    """Read the units; every summary must have some, or some would be in sentences unnoticed."""
    found = {
        (row.eid, row.system): row.units for row in read_records(path, UNITS, skip_bad=skip_bad)
    }
    missing = [s for s in loaded.summaries if s.text.strip() and not found.get((s.eid, s.system))]
    if missing:
        first = missing[0]
        raise InputError(
            f"no units here for {counted(len(missing), 'summary', 'summaries')}, such as that of "
            f"{first.system!r} on {first.eid!r}; split the same summaries",
            path=path,
        )
    return found


def _value_scores(
    loaded: _Loaded, scorer: ScorerChoice, source: FairnessInput, progress: Progress
) -> tuple[ValueScores | None, str]:
    """Return the scores by value, None for unigrams, and what made them."""
    if scorer.name == "matrix":
        records = read_records(scorer.path(), VALUE_SCORES, skip_bad=source.skip_bad)
        scores: ValueScores = {(r.eid, r.system): r.scores for r in records}
        return scores, f"matrix:{scorer.path().name}"
    return value_scores_of(loaded.corpus, loaded.summaries.records, scorer, progress)


def value_scores_of(
    corpus: LabelledCorpus, summaries: Sequence[Summary], scorer: ScorerChoice, progress: Progress
) -> tuple[ValueScores | None, str]:
    """Score summaries against the text of each value by a model; None for unigrams."""
    if scorer.name == "unigrams":
        return None, "unigrams"
    from fairjudge.scorers.value_scores import load_value_scorer, value_scores

    kind: Literal["bert_score", "bart_score"] = (
        "bert_score" if scorer.name == "bert_score" else "bart_score"
    )
    model = load_value_scorer(kind, scorer.argument)
    count = progress(len(corpus.sets))
    found = value_scores(corpus, summaries, scorer=model, on_set=count)
    return found, f"{scorer.name}:{model.fingerprint}"
