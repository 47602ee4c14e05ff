"""Judging summaries, and what came of it."""

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
    """Judgements, as a sequence, with the tables that rest on them.

    ``references`` are what was judged against, where it was references or the aspect is balance.
    ``spent`` is what was asked of the model, None for the local one. ``report`` is what the run
    found, None for judgements that were imported or calibrated.
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
        """How many judgements have no value; each says why in ``unscored``."""
        return sum(row.unscored is not None for row in self.judgements)

    @property
    def missing(self) -> Missing:
        """Items without a score, by kind: failed, refused, or not applicable (nothing to judge)."""
        from fairjudge.scores.missing import count_missing

        rows = [row for row in self.judgements if "derived_from" not in (row.model_extra or {})]
        return count_missing(rows, n_not_applicable=self.n_not_applicable)

    @property
    def without_probabilities(self) -> Mapping[str, int]:
        """Values that do not come from the token probabilities asked for, by the reason why."""
        from fairjudge.scores.missing import without_probabilities

        return without_probabilities(self.judgements)

    @checks_arguments
    def leaderboard(self, *, seed: Seed = 0, n_resamples: Resamples = 2000) -> Table:
        """Return the systems, best first, with 95 % bootstrap intervals over documents.

        Parameters
        ----------
        seed, n_resamples
            Of the bootstrap.

        Returns
        -------
        Table
            One row a system (and judge, protocol and unit where there are several): ``best_rank``
            and ``worst_rank`` that the intervals allow (None where there are none), ``mean`` (on
            the scale of the protocol: 1 to 5 for ``"likert"``, 0 to 1 for the others, where a tie
            of a pair is 0.5) and ``behind`` the first, each with ``_low`` and ``_high``,
            ``significant`` for that difference, ``n_clusters``, ``n_unscored``, ``n_judged``,
            ``worst`` and ``best`` (the mean if unscored items stood at the ends of the scale),
            ``ranked``: False for systems scored on fewer than 90 % of the clusters. Pairs of an
            incomplete design also have ``strength``, by which they are ranked. The terminal and
            pages show the same table.

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
        """Return the voices that `system`, or each one, leaves out.

        Returns
        -------
        Table
            One row a voice: ``system``, ``eid``, ``question``, ``outlet``, ``speaker``, ``says``
            and ``value`` (0 not covered, 0.5 in part).

        Raises
        ------
        InputError
            If the judgements do not tell: judge coverage with ``protocol="checklist"``.
        ConfigurationError
            If no such system was judged.
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
            One row a group and system: ``system``, ``eid``, ``question``, ``says`` (the answer) and
            ``words`` (those of the summary that contradict it).

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
        """Return the statements that articles contradict or do not have, gravest first.

        Returns
        -------
        Table
            One row a statement: ``system``, ``eid``, ``sentence`` (from 0), ``statement``,
            ``verdict``, ``grave``, ``articles`` (outlets, joined) and ``quote`` (their words).

        Raises
        ------
        InputError
            If the judgements do not tell: judge faithfulness with ``protocol="checklist"``.
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
        """Return the share of each outlet's answers, or of each question's, that systems cover.

        ``"weight"`` has groups of answers weighted by each way of weighting, ``"kind"`` questions
        whose answers exclude each other (rivals) and those whose answers do not (facets).

        Returns
        -------
        Table
            One row an outlet (or question) and system: ``value`` in [0, 1], with ``low`` and
            ``high`` where there are enough clusters.

        Raises
        ------
        InputError
            As `left_out`.
        ConfigurationError
            If `what` is neither.
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
            raise InputError("these judgements came without references: judge with fairjudge.Judge")
        return covered_report(self.judgements, self.references)

    def to_dict(self) -> dict[str, Any]:
        """Return findings and figures as plain values: what ``fairjudge judge --json`` writes.

        Raises
        ------
        InputError
            If the judgements were imported or calibrated: they come from no run of a judge.
        """
        if self.report is None:
            raise InputError("these judgements are not a judge's own: judge with fairjudge.Judge")
        return self.report.to_dict()

    def __repr__(self) -> str:
        return f"{self.leaderboard()}" if self.judgements else "JudgeResult of no judgements"

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
    """Return the clusters that were given, by `read`, else those of a `JudgeResult`."""
    if clusters is not None:
        return tuple(read(clusters))
    return judgements.references if isinstance(judgements, JudgeResult) else ()


class Judge:
    """A judge: calling it judges summaries; ``await judge.arun(...)`` does where a loop runs.

    Parameters
    ----------
    model : Model, str, or several
        Who judges; several are a jury, on the budget of the first, and each verdict is kept.
    aspect : str
        ``"coverage"``, ``"faithfulness"`` or ``"balance"``; with an LLM also
        ``"relevance"``, ``"coherence"``, ``"fluency"``, ``"consistency"``, ``"quality"``,
        or the name of your own criterion with ``rule``, or ``prompt`` and ``scale``.
    protocol : {"likert", "binary", "pairwise", "checklist", "ranking"}, optional
        By default the preset's. A checklist says for each group of answers whether it is covered.
    preset : {"recommended", "paper", "budget", "granular"}, optional
        Rows of DiverseSumm's Table 5, or what is recommended today.
    jury : {"mean", "median", "majority"}
        What several models say together.
    reference_unit : {"article", "articles", "qa_pairs", "qa_pair"}, optional
        The evidence of one question to the judge: one article or all, all questions or one.
    text_unit : {"summary", "sentence"}, optional
        Whole summaries, or their sentences.
    rule : str, optional
        Your own criterion in a sentence or two, under the name of ``aspect``; rated 1 to 5 unless
        ``protocol`` or ``scale`` says otherwise.
    prompt, scale : path, optional
        Your own prompt template and scale (TOML).
    fallback : {"entailment", "embedding", "none"}
        The local scorer that fills in what the judge leaves unscored.
    cascade : optional
        What `cascade` returned, its file, or two thresholds: a local scorer, ``cascade_scorer``
        (``"embedding"`` or ``"entailment"``), answers what it is sure of.
    derive : list of {"likert", "pairwise"}
        Also give what checklists say under these protocols.
    temperature : float, optional
        Of sampling, from 0 to 2; 0 by default, 1 with several ``samples``.
    samples, repeats : int
        Replies to each question, whose mean is the score; judgements of each item. 1 to 100.
    prompt_variants : int
        Judge every item with this many wordings of the built-in prompt, 1 to 3.
    paraphrases : list of paths
        Wordings of your own, by which every item is judged too.
    token_probabilities : bool
        Score by the probabilities of the answers' tokens where the backend gives them.
    groups_per_call : int
        Groups of answers that one request of a checklist asks about, at most; 1 to 500.
    together : list of AskedAspect
        Other aspects to judge in the same request (`fairjudge.judges.asking.AskedAspect`).

    Raises
    ------
    ConfigurationError
        If an option does not exist, or options do not go together.

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
        several = model if isinstance(model, Sequence) and not isinstance(model, str) else (model,)
        if not several or jury not in get_args(JuryRule):
            rules = ", ".join(map(repr, get_args(JuryRule)))
            raise ConfigurationError(
                f"Judge: expected a model or more and a jury of {rules}, found {model!r}, {jury!r}"
            )
        self.models = tuple(map(as_model, several))
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
            What `build` returned, a path, or a list of references or dicts; plain clusters suffice
            where the aspect needs no questions.
        summaries
            A path, or a list of summaries or dicts with ``eid``, ``system`` and ``text``.
        run : path, optional
            Run folder, to be resumed by the same call; by default one under the cache.
        limit : int, optional
            Judge only the first `limit` items; the same call without it resumes from there.

        Returns
        -------
        JudgeResult
            One judgement a system and cluster (or pair, ranking, question, article or sentence,
            as protocol and units say), those of a jury first; items that failed have ``unscored``
            in place of ``value``.

        Raises
        ------
        FairJudgeError
            If an argument or the model cannot be used. Items that fail are unscored judgements.
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
        """Judge where an event loop is running; see `__call__`."""
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
        # A run may be gone when its report is asked for: its judgements are read here, once.
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
                "cascade: expected what fairjudge.cascade returned, a path or two thresholds, "
                f"found {type(thresholds).__name__}"
            )
