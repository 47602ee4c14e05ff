"""Calibration of judges: agreement with human labels, and calibrated scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from fairjudge.api.calibration_inputs import read_family, rows_and_requests, support_by_summary
from fairjudge.api.judging import JudgeResult
from fairjudge.api.results import CommandResult
from fairjudge.api.tables import Table
from fairjudge.calibration.choices import CalibratorName
from fairjudge.datasets import read_clusters, read_judgements, read_labels, read_summaries
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import ConfigurationError
from fairjudge.options.checking import as_names, checks_arguments
from fairjudge.options.declaring import Annotators, LabelScale, Opt, Resamples, Seed
from fairjudge.reports.tables import TextTable, columns

if TYPE_CHECKING:
    from fairjudge.calibration.analysis import Analysis, GroupReport
    from fairjudge.calibration.calibrators import Calibrator
    from fairjudge.calibration.juries import FittedJury
    from fairjudge.calibration.jury_report import JuryReport
    from fairjudge.domain import Summary

_LEVELS = {
    "pooled": "pooled",
    "per_document": "within documents",
    "system": "between systems",
    "summary": "over summaries",
}


class Agreement(SimpleNamespace):
    """Statistics by name, such as ``kendall``, ``spearman``, ``pearson``: each an `Estimate`.

    A statistic that cannot be computed is an `Undefined` with the reason.
    """


@dataclass(frozen=True, repr=False)
class Calibration(CommandResult):
    """The result of `calibrate`, one group per judge, aspect and protocol.

    ``analysis.groups`` has all results of each group.
    """

    analysis: Analysis
    kind = "calibrate"

    @property
    def groups(self) -> tuple[GroupReport, ...]:
        """The results of each judge, aspect and protocol."""
        return self.analysis.groups

    @property
    def agreement(self) -> Agreement:
        """Agreement with the labels over all items, if there is one judge, aspect and protocol.

        Raises
        ------
        ConfigurationError
            If there are several; use ``groups`` or the table ``agreements()``.
        """
        if len(self.groups) != 1:
            raise ConfigurationError(
                f"agreement: there are {len(self.groups)} judges, aspects or protocols; "
                "see agreements() or groups"
            )
        correlations = self.groups[0].agreement
        names = ("kendall", "spearman", "pearson")
        if isinstance(correlations, Undefined):
            return Agreement(**dict.fromkeys(names, correlations))
        return Agreement(**correlations["pooled"])

    def agreements(self) -> Table:
        """Return all correlations with the labels, one row per group, level and statistic.

        Levels: pooled over items, averaged over documents, between systems, and over summaries.
        """
        from fairjudge.reports.figures import interval

        rows = tuple(
            {
                "judge": group.joined.judge,
                "aspect": group.joined.aspect,
                "protocol": group.joined.protocol,
                "level": level,
                "statistic": name,
                **_estimate_fields(figure),
            }
            for group in self.groups
            if not isinstance(group.agreement, Undefined)
            for level, figures in group.agreement.items()
            for name, figure in figures.items()
        )
        text_table = TextTable(
            title="Agreement with people, 95 % intervals over documents",
            columns=columns("judge", "aspect", "level", "statistic", "value", numbers=("value",)),
            rows=tuple(
                (
                    row["judge"],
                    row["aspect"],
                    _LEVELS.get(row["level"], row["level"]),
                    row["statistic"],
                    interval(row),
                )
                for row in rows
            ),
        )
        return Table(rows, text_table)

    def decisions(self) -> Table:
        """Return which uses judges and juries are fit for: rank, score items, replace a person.

        ``answer`` is yes, no, too few to tell, or cannot tell; ``figure`` and ``rule`` give the
        reason, ``needed`` the data that is missing, and ``cost`` the cost of the judgements.
        """
        from fairjudge.reports.decision_tables import decisions_table, with_juries

        groups = with_juries(self.to_dict())
        names = ("judge", "aspect", "protocol", "unit", "cost")
        rows = tuple(
            {**{name: group[name] for name in names}, **decision}
            for group in groups
            for decision in group["decisions"]
        )
        return Table(rows, decisions_table(groups))

    def protocols(self) -> Table:
        """Return a comparison of protocols, one row per protocol (DiverseSumm, Table 5).

        ``kendall`` is over summaries. ``mark`` is ``"best"``, or ``"cheaper"`` for protocols with
        fewer requests that are not significantly worse; ``behind`` and ``adjusted_p_value`` are the
        difference and p-value of this test.
        """
        from fairjudge.reports.protocol_tables import protocols_table

        tables = self.to_dict()["protocols"]
        rows = tuple(
            {"aspect": table["aspect"], **row} for table in tables for row in table["rows"]
        )
        return Table(rows, protocols_table(tables))

    @property
    def juries(self) -> tuple[JuryReport, ...]:
        """The juries of all judges of an aspect, fitted on labels: ``fitted``, ``figures``.

        ``figures`` compares the jury with its members, their mean and the best member, and has the
        effective number of independent judges.
        """
        return self.analysis.juries

    @property
    def fitted_juries(self) -> tuple[FittedJury, ...]:
        """The juries that could be fitted, for use on other judgements."""
        fits = (jury.fitted for jury in self.juries)
        return tuple(fit for fit in fits if not isinstance(fit, Undefined))

    @cached_property
    def _fitted(self) -> tuple[list[Calibrator | FittedJury], list[str]]:
        from fairjudge.analysis.calibrating import fitted_calibrators

        return fitted_calibrators(self.analysis)

    @property
    def not_calibrated(self) -> tuple[str, ...]:
        """The groups whose scores `apply` does not change, each with the reason."""
        return tuple(self._fitted[1])

    @property
    def calibrators(self) -> tuple[Calibrator | FittedJury, ...]:
        """The calibration curves of groups that have one, followed by juries."""
        return tuple(self._fitted[0])

    def apply(
        self,
        result: JudgeResult | Sequence[Any],
        *,
        summaries: object = None,
        clusters: object = None,
    ) -> JudgeResult:
        """Return `result` with calibrated values; ``uncalibrated`` has the original values.

        Groups in `not_calibrated` are unchanged. Rows of a fitted jury come first; `summaries` and
        `clusters` provide its covariates, which are missing otherwise. Values are on the scale of
        the labels.

        Raises
        ------
        InputError
            If `result`, `summaries` or `clusters` cannot be read.
        """
        from fairjudge.analysis.calibrating import apply_to

        rows = result.judgements if isinstance(result, JudgeResult) else read_judgements(result)
        applied = apply_to(
            self.calibrators,
            rows,
            summaries=() if summaries is None else read_summaries(summaries),
            clusters=() if clusters is None else read_clusters(clusters).records,
        ).judgements
        if isinstance(result, JudgeResult):
            return replace(result, judgements=applied, report=None)
        return JudgeResult(applied)

    def save(self, path: str | Path) -> None:
        """Write the calibrators to a JSON file, for `read_calibrators` and ``calibrate apply``.

        Raises
        ------
        ConfigurationError
            If no group has a calibrator; the message has the reasons.
        InputError
            If the file cannot be written.
        """
        from fairjudge.analysis.calibrating import write_calibrators

        write_calibrators(Path(path), self.calibrators, refused=self.not_calibrated)

    def to_dict(self, *, list_unmatched: bool = False, **names: str) -> dict[str, Any]:
        """Return the JSON that ``fairjudge calibrate --json`` writes.

        Parameters
        ----------
        list_unmatched
            List all unmatched items instead of only counting them.
        **names
            Names of the inputs, such as files, for the signature.
        """
        from fairjudge import __version__
        from fairjudge.calibration.to_json import analysis_json
        from fairjudge.reports.kinds import with_findings

        settings = self.analysis.settings
        signature = {
            **names,
            "annotators": list(settings.annotators),
            "calibrator": settings.calibrator,
            "interval": settings.resampling.method,
            "resamples": settings.resampling.n_resamples,
            "seed": settings.seed,
            "judged_by": sorted({group.joined.judge for group in self.groups}),
            "version": __version__,
        }
        report = analysis_json(self.analysis, signature=signature, list_all=list_unmatched)
        return with_findings(self.kind, report)


Margin: TypeAlias = Annotated[
    float,
    Opt(
        "Cost margin of the alternative annotator test: 0.2 for experts, 0.15 for skilled "
        "annotators, 0.1 for a crowd.",
        ge=0.0,
        le=1.0,
    ),
]


@checks_arguments
def calibrate(
    judgements: Annotated[
        object,
        Opt(
            "Judgements (.jsonl or .json) of one or several protocols; also run folders and the "
            "--json output of 'judge', which contain the cost.",
            argument=True,
        ),
    ],
    labels: Annotated[object, Opt("Human labels (.jsonl, .json or .csv).", reader=read_labels)],
    *,
    annotators: Annotators = "*",
    label_scale: LabelScale = None,
    method: Annotated[
        CalibratorName, Opt("Model of the curve from judge scores to human scores.")
    ] = "isotonic",
    summaries: Annotated[
        object | None,
        Opt("Summaries, for length baselines and errors by length.", reader=read_summaries),
    ] = None,
    clusters: Annotated[
        object | None,
        Opt("Clusters, for lead-overlap baselines and errors by outlet.", reader=read_clusters),
    ] = None,
    support: Annotated[
        bool,
        Opt(
            "With --summaries and --clusters: also use the local model's support score (extra "
            "[local], no LLM) as a baseline; takes minutes for a hundred documents."
        ),
    ] = False,
    families: Annotated[
        Mapping[str, str] | Sequence[tuple[str, str]],
        Opt(
            "Also compare errors between families of systems: a name and a shell pattern of "
            "system names, such as 'openai=gpt-*'. Repeatable; the first match applies.",
            flag="--family",
            metavar="NAME=PATTERN",
            parse=read_family,
            repeatable=True,
        ),
    ] = (),
    margin: Margin = 0.2,
    covariates: Annotated[
        str | Sequence[str],
        Opt(
            "Covariates, besides the judges' scores, of juries and of regressions for means from "
            "few labels. length: of --summaries. overlap, lead, answers: words shared with the "
            "articles, their leads or the reference answers of --clusters. Comma-separated.",
            metavar="NAME,...",
        ),
    ] = (),
    strata: Annotated[
        str | None,
        Opt(
            "Post-stratification: weight labelled documents so that the values of this article "
            "attribute (or 'outlet') have the same shares as among all judged documents."
        ),
    ] = None,
    n_resamples: Resamples = 2000,
    seed: Seed = 0,
    n_disagreements: Annotated[
        int,
        Opt(
            "Number of largest disagreements between judge and labels to list in the JSON.",
            ge=0,
        ),
    ] = 20,
) -> Calibration:
    """Compare judges with human labels: agreement, errors, and calibration curves.

    Parameters
    ----------
    judgements
        A `JudgeResult`, a path, or a list of judgements or dicts, of one or several judges. Also a
        list of results, paths, run folders and files of ``judge --json``, which contain the cost.
    labels
        A path, or a list of labels or dicts, one per annotator and item.
    method : {"isotonic", "logistic", "linear", "ordinal"}
        The model of the calibration curve.
    annotators
        Patterns of annotator names to include, such as ``"expert*"``.
    label_scale : (float, float), optional
        Lowest and highest label, if it cannot be inferred from the labels.
    summaries, clusters : optional
        For baselines by length and lead overlap, and errors by length, outlet and attribute.
    support : bool
        With both: also use the local judge's support as a baseline (extra ``local``); takes
        minutes for a hundred documents.
    families
        Families of systems whose errors are compared: shell patterns of system names by family
        name, such as ``{"openai": "gpt-*"}``; the first match applies.
    margin : float
        Cost margin of the alternative annotator test, from 0 to 1 (Calderon et al. 2025: 0.2 for
        experts, 0.15 for skilled annotators, 0.1 for a crowd).
    covariates : {"length", "overlap", "lead", "answers"}, several
        Covariates, besides the judges' scores, of juries and of regressions for means from few
        labels: length, and words shared with the articles, their leads or the reference answers.
        A list, or a comma-separated string.
    strata : str, optional
        An attribute of the articles, or ``"outlet"``: labelled documents are weighted so that its
        values have the same shares as among all judged documents (post-stratification).
    n_disagreements : int
        Number of largest disagreements between judge and labels to list; 0 or more.
    n_resamples, seed
        Number of resamples and random seed of the bootstrap over documents.

    Returns
    -------
    Calibration
        Agreement, errors (in units of the labels) and calibrators, one group per judge, aspect,
        protocol and unit, with tables, plots and JSON.

    Raises
    ------
    FairJudgeError
        If an argument is invalid, or no item was both judged and labelled.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.calibrate("judgements.jsonl", "labels.jsonl")  # doctest: +SKIP
    >>> report.agreement.spearman  # doctest: +SKIP
    """
    from fairjudge.analysis.label_lines import locate_label_errors
    from fairjudge.calibration.agreement import Resampling
    from fairjudge.calibration.analysis import analyse
    from fairjudge.calibration.baselines import covariate_names
    from fairjudge.calibration.settings import Settings
    from fairjudge.records.matching import join_samples
    from fairjudge.scores.settings import separate_settings

    if support and (summaries is None or clusters is None):
        raise ConfigurationError("support: requires summaries and clusters")
    covariate_list = covariate_names(
        covariates, has_summaries=summaries is not None, has_clusters=clusters is not None
    )
    if strata is not None and clusters is None:
        raise ConfigurationError("strata: requires clusters")
    judged, requests = rows_and_requests(judgements)
    texts: Sequence[Summary] = ()
    if summaries is not None:
        names, loaded = ("summary", "judged item"), read_summaries(summaries)
        texts, _ = join_samples(loaded, judged, names=names, complete=(), path=loaded.path)
    sources = () if clusters is None else read_clusters(clusters).records
    people = read_labels(labels)
    with locate_label_errors(people):
        return Calibration(
            analyse(
                separate_settings(judged),
                people,
                settings=Settings(
                    annotators=as_names(annotators),
                    resampling=Resampling(n_resamples=n_resamples),
                    calibrator=method,
                    epsilon=margin,
                    label_scale=None if label_scale is None else (label_scale[0], label_scale[1]),
                    n_disagreements=n_disagreements,
                    covariates=covariate_list,
                    strata=strata,
                    families=tuple(families.items() if isinstance(families, Mapping) else families),
                    seed=seed,
                ),
                summaries=texts,
                clusters=sources,
                support=support_by_summary(texts, sources) if support else None,
                costs=requests,
            )
        )


def _estimate_fields(figure: Estimate | Undefined) -> dict[str, Any]:
    return {end: getattr(figure, end, None) for end in ("value", "low", "high", "why")}
