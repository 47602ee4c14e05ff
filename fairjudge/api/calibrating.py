"""How far a judge can be trusted: agreement with people, and calibrated scores."""

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

    One that cannot be had is an `Undefined`, which says why.
    """


@dataclass(frozen=True, repr=False)
class Calibration(CommandResult):
    """What `calibrate` found, one group a judge, aspect and protocol.

    ``analysis.groups`` has every figure of every group.
    """

    analysis: Analysis
    kind = "calibrate"

    @property
    def groups(self) -> tuple[GroupReport, ...]:
        """The figures of each judge, aspect and protocol."""
        return self.analysis.groups

    @property
    def agreement(self) -> Agreement:
        """Agreement with people over all items, where one judge, aspect and protocol was judged.

        Raises
        ------
        ConfigurationError
            If there are several: see ``groups``, or the table ``agreements()``.
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
        """Return every correlation with people: a row a group, level and statistic.

        Levels are pooled over items, averaged over documents, between systems, and over summaries.
        """
        from fairjudge.reports.figures import interval

        rows = tuple(
            {
                "judge": group.joined.judge,
                "aspect": group.joined.aspect,
                "protocol": group.joined.protocol,
                "level": level,
                "statistic": name,
                **_ends(figure),
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
        """Return what judges and juries may be used for: to rank, score items, replace a person.

        ``answer`` is yes, no, too few to tell, or cannot tell; ``figure`` with its ``rule`` says
        why, ``needed`` what would have to be known, ``cost`` what the judgements took.
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
        """Return the ways of judging side by side, as DiverseSumm's Table 5: a row each.

        ``kendall`` is over summaries; ``mark`` is ``"best"``, or ``"cheaper"`` for what takes fewer
        requests and is not significantly behind; ``behind`` and ``adjusted_p_value`` are the test.
        """
        from fairjudge.reports.protocol_tables import protocols_table

        tables = self.to_dict()["protocols"]
        rows = tuple(
            {"aspect": table["aspect"], **row} for table in tables for row in table["rows"]
        )
        return Table(rows, protocols_table(tables))

    @property
    def juries(self) -> tuple[JuryReport, ...]:
        """The juries that all judges of an aspect make, fitted on labels: ``fitted``, ``figures``.

        ``figures`` has the jury beside its members, their mean and the best single one, and how
        many independent judges they are worth.
        """
        return self.analysis.juries

    @property
    def fitted_juries(self) -> tuple[FittedJury, ...]:
        """The juries that could be fitted, to be used on other judgements."""
        fits = (jury.fitted for jury in self.juries)
        return tuple(fit for fit in fits if not isinstance(fit, Undefined))

    @cached_property
    def _fitted(self) -> tuple[list[Calibrator | FittedJury], list[str]]:
        from fairjudge.analysis.calibrating import fitted_calibrators

        return fitted_calibrators(self.analysis)

    @property
    def not_calibrated(self) -> tuple[str, ...]:
        """The groups whose scores `apply` leaves unchanged, each with the reason."""
        return tuple(self._fitted[1])

    @property
    def calibrators(self) -> tuple[Calibrator | FittedJury, ...]:
        """The curves from the judge's scores to people's, one a group that has one; then juries."""
        return tuple(self._fitted[0])

    def apply(
        self,
        result: JudgeResult | Sequence[Any],
        *,
        summaries: object = None,
        clusters: object = None,
    ) -> JudgeResult:
        """Return `result` with calibrated values; each own value is kept as ``uncalibrated``.

        Rows of groups in `not_calibrated` stay as they are. A fitted jury's rows stand before the
        others; `summaries` and `clusters` are for its covariates, which count as missing without.
        Values are on the scale of the labels.

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
        """Write the calibrators to JSON, for `read_calibrators` and ``calibrate apply``.

        Raises
        ------
        ConfigurationError
            If no group has a calibrator; the message says why.
        InputError
            If the file cannot be written.
        """
        from fairjudge.analysis.calibrating import write_calibrators

        write_calibrators(Path(path), self.calibrators, refused=self.not_calibrated)

    def to_dict(self, *, list_unmatched: bool = False, **names: str) -> dict[str, Any]:
        """Return what ``fairjudge calibrate --json`` writes.

        Parameters
        ----------
        list_unmatched
            Name all unmatched items, not only count them.
        **names
            Of what was read, such as files, for the signature.
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
            "Judgements, .jsonl or .json, of one protocol or of several; also run folders and "
            "what 'judge --json' wrote, which record the cost.",
            argument=True,
        ),
    ],
    labels: Annotated[object, Opt("Human labels: .jsonl, .json or .csv.", reader=read_labels)],
    *,
    annotators: Annotators = "*",
    label_scale: LabelScale = None,
    method: Annotated[
        CalibratorName, Opt("Curve from the judge's score to the human score.")
    ] = "isotonic",
    summaries: Annotated[
        object | None,
        Opt("Summaries, for baselines and groups by length.", reader=read_summaries),
    ] = None,
    clusters: Annotated[
        object | None,
        Opt("Clusters, for lead overlap and groups by outlet.", reader=read_clusters),
    ] = None,
    support: Annotated[
        bool,
        Opt(
            "Given --summaries and --clusters: support by the embedded default (extra "
            "[local], no LLM) as one more baseline; takes minutes for a hundred documents."
        ),
    ] = False,
    families: Annotated[
        Mapping[str, str] | Sequence[tuple[str, str]],
        Opt(
            "Compare errors between families of systems too: a name and a shell pattern of "
            "system names, such as 'openai=gpt-*'. Repeatable; the first match counts.",
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
            "Covariates of juries, and of regressions for means from few labels, beside the "
            "judges' scores: length (of --summaries), and words shared with --clusters: overlap "
            "(articles), lead (their leads), answers (of references). Several: length,overlap.",
            metavar="NAME,...",
        ),
    ] = (),
    strata: Annotated[
        str | None,
        Opt(
            "An attribute of the clusters' articles, or outlet: labelled documents are weighted "
            "so that its values have the same shares as among all judged documents."
        ),
    ] = None,
    n_resamples: Resamples = 2000,
    seed: Seed = 0,
    n_disagreements: Annotated[
        int,
        Opt(
            "Number of items in the JSON on which judge and people differ most, with both reasons.",
            ge=0,
        ),
    ] = 20,
) -> Calibration:
    """Measure judges against people: agreement, errors, and a curve to people's scores.

    Parameters
    ----------
    judgements
        A `JudgeResult`, a path, or a list of judgements or dicts; of one judge or several. Also a
        list of results, paths, run folders and files of ``judge --json``, which record the cost.
    labels
        A path, or a list of labels or dicts, one a person and item.
    method : {"isotonic", "logistic", "linear", "ordinal"}
        The curve.
    annotators
        Patterns of the names whose labels are taken, such as ``"expert*"``.
    label_scale : (float, float), optional
        Lowest and highest label, where the labels do not tell it.
    summaries, clusters : optional
        For baselines by length and lead overlap, and errors by length, outlet and attribute.
    support : bool
        Given both: the embedded judge's support is one more baseline (extra ``local``); it takes
        minutes for a hundred documents.
    families
        Families of systems whose errors are compared: a shell pattern of system names by the
        family's name, such as ``{"openai": "gpt-*"}``; the first match counts.
    margin : float
        Cost margin of the alternative annotator test, from 0 to 1 (Calderon et al. 2025: 0.2 for
        experts, 0.15 for skilled annotators, 0.1 for a crowd).
    covariates : {"length", "overlap", "lead", "answers"}, several
        Covariates of juries, and of regressions for means from few labels, beside the judges'
        scores: its length, and words shared with the cluster's articles, with their leads, with the
        reference's answers. As a list, or with commas between.
    strata : str, optional
        An attribute of the clusters' articles, or ``"outlet"``: means weigh labelled documents so
        that its values have the shares that they have among all judged documents.
    n_disagreements : int
        Items on which judge and people differ most, to be listed with both reasons; 0 or more.
    n_resamples, seed
        Of the bootstrap over documents.

    Returns
    -------
    Calibration
        Agreement, errors (in units of the labels) and calibrators, one group a judge, aspect,
        protocol and unit, with tables, figures and JSON.

    Raises
    ------
    FairJudgeError
        If an argument cannot be used, or nothing was both judged and labelled.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.calibrate("judgements.jsonl", "labels.jsonl")  # doctest: +SKIP
    >>> report.agreement.spearman  # doctest: +SKIP
    """
    from fairjudge.analysis.label_lines import naming_lines
    from fairjudge.calibration.agreement import Resampling
    from fairjudge.calibration.analysis import analyse
    from fairjudge.calibration.baselines import covariate_names
    from fairjudge.calibration.settings import Settings
    from fairjudge.records.matching import join_samples
    from fairjudge.scores.settings import separate_settings

    if support and (summaries is None or clusters is None):
        raise ConfigurationError("support: needs summaries and clusters")
    covariate_list = covariate_names(
        covariates, has_summaries=summaries is not None, has_clusters=clusters is not None
    )
    if strata is not None and clusters is None:
        raise ConfigurationError("strata: needs clusters")
    judged, requests = rows_and_requests(judgements)
    texts: Sequence[Summary] = ()
    if summaries is not None:
        names, loaded = ("summary", "judged item"), read_summaries(summaries)
        texts, _ = join_samples(loaded, judged, names=names, complete=(), path=loaded.path)
    sources = () if clusters is None else read_clusters(clusters).records
    people = read_labels(labels)
    with naming_lines(people):
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


def _ends(figure: Estimate | Undefined) -> dict[str, Any]:
    return {end: getattr(figure, end, None) for end in ("value", "low", "high", "why")}
