"""Judging summaries, and the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from fairjudge.api.results import Records
from fairjudge.api.tables import Table, table_of
from fairjudge.domain import Cluster, Judgement, ProtocolName
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import Opt, Resamples, Seed
from fairjudge.options.models import Model, as_model

if TYPE_CHECKING:
    from fairjudge.api.cascading import Cascade
    from fairjudge.engine.models import RunCost
    from fairjudge.judges.asking import (
        AskedAspect,
        DerivedProtocol,
        Fallback,
        GuaranteedThreshold,
        Preset,
        ReferenceUnit,
        TextUnit,
        Thresholds,
    )
    from fairjudge.options.judging import JudgeOptions
    from fairjudge.run.judged import JudgeReport
    from fairjudge.scores.juries import JuryRule
    from fairjudge.scores.missing import Missing

_SLICES = {
    "outlet": "coverage by outlet",
    "question": "coverage by question",
    "weight": "coverage by weight of groups",
    "kind": "coverage by kind of question",
}


@dataclass(frozen=True, repr=False)
class JudgeResult(Records[Judgement]):
    """A sequence of judgements, with tables computed from them.

    ``references`` are the references of the judgements (clusters for balance), if any. ``spent``
    has the requests and cost, None for a local model. ``report`` is the report of the run, None for
    imported or calibrated judgements.
    """

    judgements: tuple[Judgement, ...]
    references: tuple[Cluster, ...] = ()
    spent: RunCost | None = None
    signature: str = ""
    run: Path | str | None = None
    n_not_applicable: int = 0
    report: JudgeReport | None = field(default=None, compare=False)

    @property
    def _records(self) -> tuple[Judgement, ...]:
        return self.judgements

    @property
    def n_unscored(self) -> int:
        """The number of judgements without a value; their ``unscored`` is the reason."""
        return sum(row.unscored is not None for row in self.judgements)

    @property
    def missing(self) -> Missing:
        """Items without a score, by kind: failed, refused, or not applicable (nothing to judge)."""
        from fairjudge.scores.missing import count_missing

        rows = [row for row in self.judgements if "derived_from" not in (row.model_extra or {})]
        return count_missing(rows, n_not_applicable=self.n_not_applicable)

    @property
    def without_probabilities(self) -> Mapping[str, int]:
        """Counts of values without the requested token probabilities, by reason."""
        from fairjudge.scores.missing import without_probabilities

        return without_probabilities(self.judgements)

    @checks_arguments
    def leaderboard(self, *, seed: Seed = 0, n_resamples: Resamples = 2000) -> Table:
        """Return the systems, best first, with 95 % bootstrap intervals over documents.

        Parameters
        ----------
        seed, n_resamples
            Random seed and number of resamples of the bootstrap.

        Returns
        -------
        Table
            One row per system (and judge, protocol and unit if there are several): ``best_rank``
            and ``worst_rank``, the ranks compatible with the intervals (None without intervals);
            ``mean`` (on the scale of the protocol: 1 to 5 for ``"likert"``, 0 to 1 for others; a
            tie of a pair is 0.5) and ``behind``, the difference from the first system, each with
            ``_low`` and ``_high``; ``significant`` for that difference; ``n_clusters``,
            ``n_unscored``, ``n_judged``; ``worst`` and ``best``, the mean if all unscored items had
            the lowest or highest score; ``ranked``, False for systems scored on fewer than 90 % of
            the clusters. Pairs of an incomplete design also have ``strength``, by which systems
            are ranked. The terminal and HTML pages show the same table.

        Raises
        ------
        ConfigurationError
            If `seed` is below 0, or `n_resamples` below 100.
        """
        from fairjudge.reports.leaderboard_table import combined_table, flat_rows, leaderboard_parts
        from fairjudge.reports.parts import figures_in
        from fairjudge.scores.leaderboards import leaderboards

        boards = leaderboards(self.judgements, seed=seed, n_resamples=n_resamples)
        rows = tuple(
            {
                "judge": board.judge,
                "aspect": board.aspect,
                "protocol": board.protocol_label,
                "unit": board.unit,
                **row,
            }
            for board in boards
            for row in flat_rows(board)
        )
        return Table(rows, combined_table(boards), tuple(figures_in(leaderboard_parts(boards))))

    def left_out(self, system: str | None = None) -> Table:
        """Return the voices that `system`, or each system, leaves out.

        Returns
        -------
        Table
            One row per voice: ``system``, ``eid``, ``question``, ``outlet``, ``speaker``, ``says``
            and ``value`` (0: not covered, 0.5: partly covered).

        Raises
        ------
        InputError
            If there are no coverage checklists; judge with ``protocol="checklist"``.
        ConfigurationError
            If `system` was not judged.
        """
        groups = self._covered["groups"]
        systems = sorted({group["system"] for group in groups})
        if system is not None and system not in systems:
            raise ConfigurationError(f"system: no {system!r}; there are: {', '.join(systems)}")
        rows = tuple(
            {
                "system": group["system"],
                "eid": answer["eid"],
                "question": answer["question"],
                "outlet": voice["outlet"],
                "speaker": voice["speaker"],
                "says": answer["label"] or voice["answer"],
                "value": answer["value"],
            }
            for group in groups
            if system in (None, group["system"])
            for answer in sorted(group["uncovered"], key=lambda answer: answer["value"])
            for voice in answer["voices"]
        )
        title = "Voices left out" if system is None else f"Voices that {system} leaves out"
        names = ("outlet", "says", "question", "eid")
        return table_of(title, rows, names if system else ("system", *names))

    def contradicted(self) -> Table:
        """Return the groups of answers that summaries contradict.

        Returns
        -------
        Table
            One row per group and system: ``system``, ``eid``, ``question``, ``says`` (answer) and
            ``words`` (the contradicting words of the summary).

        Raises
        ------
        InputError
            As `left_out`.
        """
        rows = tuple(
            {
                "system": group["system"],
                "eid": answer["eid"],
                "question": answer["question"],
                "says": answer["answer"],
                "words": answer["words"],
            }
            for group in self._covered["groups"]
            for answer in group["contradicted"]
        )
        names = ("system", "says", "words", "eid")
        return table_of("Groups of answers that are contradicted", rows, names)

    def unsupported(self) -> Table:
        """Return the statements that articles contradict or do not support, most severe first.

        Returns
        -------
        Table
            One row per statement: ``system``, ``eid``, ``sentence`` (from 0), ``statement``,
            ``verdict``, ``grave`` (severe), ``articles`` (outlets) and ``quote`` (of the articles).

        Raises
        ------
        InputError
            If there are no faithfulness checklists; judge with ``protocol="checklist"``.
        """
        from fairjudge.auditing.statements import statements_report

        rows = tuple(
            {"system": group["system"], **error, "articles": ", ".join(error["articles"])}
            for group in statements_report(self.judgements, self.references)["groups"]
            for error in group["errors"]
        )
        names = ("system", "statement", "verdict", "articles", "quote")
        return table_of("Statements that articles do not support", rows, names)

    def coverage_by(self, what: Literal["outlet", "question", "weight", "kind"]) -> Table:
        """Return the share of answers that systems cover, by outlet, question, weight or kind.

        ``"weight"`` compares weightings of the groups of answers; ``"kind"`` separates questions
        whose answers exclude each other (rivals) from those whose answers do not (facets).

        Returns
        -------
        Table
            One row per outlet (or question, ...) and system: ``value`` in [0, 1], with ``low`` and
            ``high`` if there are enough clusters.

        Raises
        ------
        InputError
            As `left_out`.
        ConfigurationError
            If `what` is none of these.
        """
        if what not in _SLICES:
            raise ConfigurationError(f"what: expected {' or '.join(_SLICES)}, found {what!r}")
        rows = tuple(
            {what: name, "system": group["system"]}
            | {end: share.get(end) for end in ("value", "low", "high")}
            for group in self._covered["groups"]
            for name, share in group["slices"].get(_SLICES[what], {}).items()
        )
        return table_of(f"Coverage by {what}", rows, (what, "system", "value"))

    @cached_property
    def _covered(self) -> dict[str, Any]:
        from fairjudge.auditing.reports import covered_report

        if not self.references:
            raise InputError("these judgements have no references: judge with fairjudge.Judge")
        return covered_report(self.judgements, self.references)

    def to_dict(self) -> dict[str, Any]:
        """Return findings and results as plain values, as in ``fairjudge judge --json``.

        Raises
        ------
        InputError
            If the judgements were imported or calibrated, and so are not from a run of a judge.
        """
        if self.report is None:
            raise InputError("these judgements are not from a run: judge with fairjudge.Judge")
        return self.report.to_dict()

    def __repr__(self) -> str:
        return f"{self.leaderboard()}" if self.judgements else "JudgeResult without judgements"

    def _repr_html_(self) -> str:
        return self.leaderboard()._repr_html_()


_INPUTS = (str, Path, JudgeResult)


def inputs_of(inputs: object) -> list[object]:
    """Return the elements of a list of paths or results; any other value is a single input."""
    if isinstance(inputs, list | tuple) and inputs and isinstance(inputs[0], _INPUTS):
        return list(inputs)
    return [inputs]


def clusters_of(
    judgements: object, clusters: object | None, *, read: Callable[[Any], Iterable[Cluster]]
) -> tuple[Cluster, ...]:
    """Return `clusters`, read by `read`, or by default the references of a `JudgeResult`."""
    if clusters is not None:
        return tuple(read(clusters))
    return judgements.references if isinstance(judgements, JudgeResult) else ()


class Judge:
    """A judge: call it to judge summaries, or use ``await judge.arun(...)`` in async code.

    Parameters
    ----------
    model : Model, str, or several
        The model that judges; several form a jury, share the budget of the first, and the result
        has each verdict.
    aspect : str
        ``"coverage"``, ``"faithfulness"`` or ``"balance"``; with an LLM also
        ``"relevance"``, ``"coherence"``, ``"fluency"``, ``"consistency"``, ``"quality"``,
        or the name of your own criterion with ``rule``, or ``prompt`` and ``scale``.
    protocol : {"likert", "binary", "pairwise", "checklist", "ranking"}, optional
        By default that of the preset. A checklist judges whether each group of answers is covered.
    preset : {"recommended", "paper", "budget", "granular"}, optional
        Protocols and units recommended by DiverseSumm (Table 5), or by us.
    jury : {"mean", "median", "majority"}
        How the verdicts of several models are combined.
    reference_unit : {"article", "articles", "qa_pairs", "qa_pair"}, optional
        The evidence in one request: one article or all, all questions or one.
    text_unit : {"summary", "sentence"}, optional
        Judge whole summaries, or each sentence.
    rule : str, optional
        Your own criterion in one or two sentences; ``aspect`` is its name. Rated from 1 to 5 unless
        ``protocol`` or ``scale`` is set.
    prompt, scale : path, optional
        Your own prompt template and scale (TOML).
    fallback : {"entailment", "embedding", "none"}
        The local scorer for items that the judge leaves unscored.
    cascade : optional
        A result of `cascade`, its file, or two thresholds: the local scorer ``cascade_scorer``
        (``"embedding"`` or ``"entailment"``) judges the items on which it is certain.
    derive : list of {"likert", "pairwise"}
        Protocols for which to derive further judgements from checklists.
    temperature : float, optional
        Sampling temperature, from 0 to 2; by default 0, or 1 with several ``samples``.
    samples, repeats : int
        Number of replies per request, whose mean is the score, and of judgements per item; 1 to
        100.
    prompt_variants : int
        Judge every item with this many equivalent wordings of the built-in prompt, 1 to 3.
    paraphrases : list of paths
        Your own wordings of the prompt, with which every item is also judged.
    token_probabilities : bool
        Score by the probabilities of the answer tokens if the backend returns them.
    groups_per_call : int
        Maximum number of answer groups per checklist request; 1 to 500.
    together : list of AskedAspect
        Aspects to judge in the same request (`fairjudge.judges.asking.AskedAspect`).

    Raises
    ------
    ConfigurationError
        If an option does not exist, or options cannot be combined.

    Examples
    --------
    >>> import fairjudge as fj
    >>> judge = fj.Judge("local", aspect="coverage", protocol="checklist")
    >>> result = judge("references.jsonl", "summaries.jsonl")  # doctest: +SKIP
    >>> result.leaderboard()  # doctest: +SKIP
    """

    @checks_arguments
    def __init__(
        self,
        model: Model | str | Sequence[Model | str],
        *,
        aspect: str,
        protocol: ProtocolName | None = None,
        preset: Preset | None = None,
        jury: JuryRule = "mean",
        reference_unit: ReferenceUnit | None = None,
        text_unit: TextUnit | None = None,
        rule: str | None = None,
        prompt: str | Path | None = None,
        scale: str | Path | None = None,
        fallback: Fallback = "none",
        cascade: Cascade | str | Path | tuple[float, float] | None = None,
        cascade_scorer: Literal["embedding", "entailment"] = "embedding",
        derive: Sequence[DerivedProtocol] = (),
        temperature: float | None = None,
        samples: int = 1,
        repeats: int = 1,
        prompt_variants: int = 1,
        paraphrases: Sequence[str | Path] = (),
        token_probabilities: bool = False,
        groups_per_call: int = 25,
        together: Sequence[AskedAspect] = (),
    ) -> None:
        from fairjudge.options.checking import options_from_arguments
        from fairjudge.options.judging import JudgeOptions
        from fairjudge.scores.juries import JuryRule

        thresholds = None if cascade is None else _thresholds(cascade)
        options = options_from_arguments(JudgeOptions, locals() | {"cascade": thresholds}, "Judge")
        models = model if isinstance(model, Sequence) and not isinstance(model, str) else (model,)
        if not models or jury not in get_args(JuryRule):
            rules = ", ".join(map(repr, get_args(JuryRule)))
            raise ConfigurationError(
                f"Judge: expected models and a jury of {rules}, got {model!r}, {jury!r}"
            )
        self.models = tuple(map(as_model, models))
        self.jury: JuryRule = jury
        self.options: JudgeOptions = options
        self.options.plan()

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.models))
        return f"Judge({names}, aspect={self.options.aspect!r})"

    def __call__(
        self,
        references: object,
        summaries: object,
        *,
        run: str | Path | None = None,
        limit: int | None = None,
    ) -> JudgeResult:
        """Judge `summaries` against `references`.

        Parameters
        ----------
        references
            A result of `build`, a path, or a list of references or dicts; or clusters if the aspect
            needs no questions.
        summaries
            A path, or a list of summaries or dicts with ``eid``, ``system`` and ``text``.
        run : path, optional
            Run folder; repeat the call to resume. By default under the cache folder.
        limit : int, optional
            Judge only the first `limit` items; repeat the call without it to judge the rest.

        Returns
        -------
        JudgeResult
            One judgement per system and cluster (or pair, ranking, question, article or sentence,
            depending on protocol and units), those of a jury first; failed items have ``unscored``
            instead of ``value``.

        Raises
        ------
        FairJudgeError
            If an argument or the model is invalid. Failed items are unscored judgements.
        """
        from fairjudge.engine.coroutines import run_to_end

        return run_to_end(self.arun(references, summaries, run=run, limit=limit))

    @checks_arguments
    async def arun(
        self,
        references: object,
        summaries: object,
        *,
        run: str | Path | None = None,
        limit: Annotated[int | None, Opt(ge=1)] = None,
    ) -> JudgeResult:
        """Judge in async code; see `__call__`."""
        from fairjudge.api.progress import bars
        from fairjudge.datasets import read_clusters, read_references, read_summaries
        from fairjudge.run.judged import judge_report
        from fairjudge.run.jury import judge_by
        from fairjudge.run.material import check_material

        options = self.options
        sources = (
            read_references(references)
            if options.needs_questions
            else read_clusters(references, argument="references")
        )
        with bars(self.models[0].progress) as progress_bars:
            outcome = await judge_by(
                [progress_bars.with_retry_bar(model) for model in self.models],
                check_material(sources, (read_summaries(summaries),), options=options, limit=limit),
                rule=self.jury,
                run_folder=None if run is None else Path(run),
                progress=progress_bars.counter("judging"),
            )
        # The run may be deleted before its report is used: read its judgements now.
        outcome = replace(outcome, judgements=tuple(outcome.judgements))
        return JudgeResult(
            judgements=outcome.all_judgements,
            references=outcome.references,
            spent=outcome.spent,
            signature=outcome.signature,
            run=outcome.run,
            n_not_applicable=outcome.n_missing,
            report=judge_report(outcome, options),
        )


def _thresholds(thresholds: Any) -> Thresholds | GuaranteedThreshold:
    from fairjudge.api.cascading import Cascade
    from fairjudge.judges.cascades import read_cascade

    match thresholds:
        case Cascade():
            return thresholds.low, thresholds.high
        case str() | Path():
            return read_cascade(Path(thresholds))
        case (int() | float() as low, int() | float() as high):
            return float(low), float(high)
        case _:
            raise ConfigurationError(
                "cascade: expected a result of fairjudge.cascade, a path or two thresholds, "
                f"found {type(thresholds).__name__}"
            )
