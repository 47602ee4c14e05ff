"""What the fairness measures are given: read, checked, and joined with the summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fairjudge.analysis.fairness import ScorerChoice, parse_scorer
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
from fairjudge.domain import Record, Reference
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.options.models import Model, as_model
from fairjudge.records.matching import Match, harmonize_ids, join_samples
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.analysis.support_files import ValueScoreRecord
    from fairjudge.analysis.supporting import Units
    from fairjudge.domain import Cluster, Judgement, Summary
    from fairjudge.fairness.proportional_report import ValueScores
    from fairjudge.fairness.share_error import HumanShares
    from fairjudge.fairness.support import Support
    from fairjudge.fairness.values import LabelledCorpus


R = TypeVar("R", bound=Record)


COVERAGE_SCORERS = ("embedding", "entailment", "matrix", "judgements")


PROPORTIONAL_SCORERS = ("unigrams", "bert_score", "bart_score", "matrix", "people")


def read_scorer(text: str | Path, *, skip_bad: bool = False) -> ScorerChoice | Loaded[Any] | Model:
    """Return the scorer of a name: a model, or the scores or judgements of a file."""
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


def read_supports(supports: object, *, skip_bad: bool = False) -> Loaded[Any]:
    """Return how far documents support summaries, by people or an earlier run."""
    from fairjudge.analysis.support_files import SUPPORTS

    return read_records(supports, SUPPORTS, skip_bad=skip_bad, argument="human")


def read_shares(shares: object, *, skip_bad: bool = False) -> Loaded[Any]:
    """Return how people share out summaries among the values."""
    from fairjudge.analysis.support_files import VALUE_SHARES

    return read_records(shares, VALUE_SHARES, skip_bad=skip_bad, argument="human")


def read_units(units: object, *, skip_bad: bool = False) -> Loaded[Any]:
    """Return the units of summaries, as ``fairjudge fairness split`` writes them."""
    from fairjudge.analysis.support_files import UNITS

    return read_records(units, UNITS, skip_bad=skip_bad, argument="units")


class Joins:
    """Joins of files with the summaries, by eid and system; ``matches`` has the result of each."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        self._summaries = summaries
        self.matches: list[Match[tuple[str, str]]] = []

    def of(self, rows: Iterable[R], name: str) -> tuple[R, ...]:
        """Return `rows` with the summaries' ids; `name` is what errors call one of them.

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
        self.matches.append(join)
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


def supports_of_scorer(
    clusters: Sequence[Cluster], scorer: object, joins: Joins
) -> tuple[Sequence[Cluster], list[Support], str]:
    """Return the supports that `scorer` holds, with the clusters that they are about."""
    from fairjudge.fairness.support import SupportRecord

    if isinstance(scorer, Loaded) and all(isinstance(record, SupportRecord) for record in scorer):
        records = joins.of(scorer, "support")
        return (
            clusters,
            [record.to_support() for record in records],
            f"matrix:{Path(scorer.path).name}",
        )
    rows = joins.of(read_judgements(scorer, argument="scorer"), "judgement")
    references = scorer.references if isinstance(scorer, JudgeResult) else ()
    labelled, supports = _supports_of_judgements(clusters, rows, references)
    return labelled, supports, "judgements:" + "+".join(sorted({row.judge for row in rows}))


def _supports_of_judgements(
    clusters: Sequence[Cluster], rows: Sequence[Judgement], references: Sequence[Cluster]
) -> tuple[Sequence[Cluster], list[Support]]:
    from fairjudge.fairness.verdicts import (
        clusters_with_answers,
        supports_from_checklists,
        supports_from_judgements,
        without_stubs,
    )

    questions = [reference for reference in references if isinstance(reference, Reference)]
    if questions and any(row.checklist for row in rows):
        return clusters_with_answers(clusters, questions), supports_from_checklists(questions, rows)
    return without_stubs(clusters), supports_from_judgements(clusters, rows)


def units_of_summaries(unit_rows: object, summaries: Loaded[Summary]) -> Units:
    """Read the units; every summary must have some, or some would be in sentences unnoticed."""
    records = read_units(unit_rows)
    units_by_summary = {
        (row.eid, row.system): row.units for row in harmonize_ids(records, summaries)
    }
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


def human_shares(shares: object, joins: Joins) -> HumanShares:
    """Read how people share out summaries among the values, joined with the summaries."""
    from fairjudge.analysis.support_files import shares_of_people

    return shares_of_people(joins.of(read_shares(shares), "human share"))


def value_scores(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    scorer: Loaded[Any] | str,
    progress: bool | None,  # noqa: FBT001  # as `Model.progress`
    joins: Joins,
) -> tuple[ValueScores | None, str]:
    """Return the scores by value, None for unigrams, and what made them."""
    from fairjudge.analysis.support_files import VALUE_SCORES
    from fairjudge.analysis.value_scores import value_scores_of

    chosen = read_value_scorer(scorer) if isinstance(scorer, str) else scorer
    if isinstance(chosen, str):
        with bars(progress) as progress_bars:
            choice = parse_scorer(chosen, PROPORTIONAL_SCORERS)
            return value_scores_of(corpus, summaries, choice, progress_bars.counter("scoring sets"))
    records = read_records(chosen, VALUE_SCORES, argument="scorer")
    scores = {(record.eid, record.system): record.scores for record in joins.of(records, "score")}
    return scores, f"matrix:{Path(records.path).name}"


def read_inputs(clusters: object, summaries: object) -> tuple[Loaded[Cluster], Loaded[Summary]]:
    """Read clusters and their summaries."""
    sources = read_clusters(clusters)
    return sources, match_summaries(read_summaries(summaries), sources)
