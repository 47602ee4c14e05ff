"""References from clusters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairjudge.api.blocking import blocking
from fairjudge.api.results import Records
from fairjudge.api.tables import Table, table_of
from fairjudge.domain import Reference
from fairjudge.options.checking import checks_arguments
from fairjudge.options.models import Model, as_model

if TYPE_CHECKING:
    from fairjudge.engine.models import RunCost
    from fairjudge.options.building import Consolidation, Pipeline
    from fairjudge.run.building import BuildOutcome


@dataclass(frozen=True, slots=True, repr=False)
class References(Records[Reference]):
    """What `build` made: a sequence of references, one a cluster.

    ``outcome`` has the articles and answers that were left out, the failed calls and the run.
    """

    outcome: BuildOutcome

    @property
    def _records(self) -> tuple[Reference, ...]:
        return tuple(cluster.reference for cluster in self.outcome.clusters)

    @property
    def spent(self) -> RunCost | None:
        """Requests, tokens and cost of the model; None for the local model."""
        return self.outcome.spent

    def to_dict(self) -> dict[str, Any]:
        """Return counts and reasons as plain values: what ``fairjudge build --json`` writes."""
        return self.outcome.to_dict()

    def questions(self) -> Table:
        """Return the questions with how many sources, groups and answers each has."""
        rows = tuple(
            {
                "eid": cluster.reference.eid,
                "question": question.question,
                "sources": len({a.aid for group in question.answer_groups for a in group}),
                "groups": len(question.answer_groups),
                "answers": sum(map(len, question.answer_groups)),
            }
            for cluster in self.outcome.clusters
            for question in cluster.reference.question_answers
        )
        without = [cluster for cluster in self.outcome.clusters if cluster.why_none]
        names = ("eid", "question", "sources", "groups", "answers")
        return table_of(
            "Questions that sources answer differently",
            rows,
            names,
            numbers=names[2:],
            notes=[f"{cluster.reference.eid}: {cluster.why_none}." for cluster in without],
        )

    def __repr__(self) -> str:
        return str(self.questions())

    def _repr_html_(self) -> str:
        return self.questions()._repr_html_()


@checks_arguments
async def abuild(
    clusters: object,
    *,
    model: Model | str = "local",
    run: str | Path | None = None,
    max_articles: int | None = None,
    n_questions: int | None = None,
    facets: int = 1,
    min_sources: float = 0.3,
    consensus_filter: bool = False,
    merge_same_sources: bool = False,
    pipeline: Pipeline = "article",
    context_tokens: int = 100_000,
    consolidation: Consolidation | None = None,
    post_filter: bool = True,
    complete: bool = False,
) -> References:
    """Build references: questions that sources answer differently, with each source's answers.

    ``await abuild(...)`` in code that awaits; ``build(...)`` in other code, notebooks too.

    Parameters
    ----------
    clusters
        A path, what `read_clusters` returned, or a list of clusters or dicts.
    model : Model or str
        Who writes and answers; the same call again costs nothing (it is in the cache).
    run : path, optional
        Run folder, to be resumed by the same call; by default one under the cache.
    max_articles, n_questions : int, optional
        Articles kept (2 or more), and questions asked for (1 or more), at most; by default what the
        pipeline needs.
    facets : int
        Number of questions up to which those whose answers can all be true fill up.
    min_sources : float
        Minimum share of sources, from 0 to 1, that must answer a question.
    consensus_filter, merge_same_sources : bool
        Discord Questions' filters: of questions that one group decides, and of double ones.
    pipeline : {"article", "paper"}
        One call an article for all questions, or one for each question and article.
    context_tokens : int
        Maximum number of tokens of articles in the prompt that writes questions.
    consolidation : {"llm", "embedding"}, optional
        Who groups answers by meaning.
    post_filter : bool
        With ``pipeline="paper"``: an LLM drops answers that do not address their question.
    complete : bool
        Read the articles once more: for answers that were missed, and passages to drop.

    Returns
    -------
    fairjudge.References
        One reference a cluster, in the order of `clusters`, with ``outcome`` for what was left out
        and what failed.

    Raises
    ------
    FairJudgeError
        If the clusters, the model or an option cannot be used. Failed items are outcomes.

    Examples
    --------
    >>> import fairjudge as fj
    >>> references = fj.build(fj.example_path("clusters.json"), model="local")  # doctest: +SKIP
    """
    from fairjudge.api.progress import bars
    from fairjudge.datasets import read_clusters
    from fairjudge.options.building import BuildOptions
    from fairjudge.options.checking import options_from_arguments
    from fairjudge.run.building import build_loaded

    options = options_from_arguments(BuildOptions, locals(), "build")
    chosen_model = as_model(model)
    with bars(chosen_model.progress) as progress_bars:
        outcome = await build_loaded(
            read_clusters(clusters),
            options=options,
            model=progress_bars.with_retry_bar(chosen_model),
            run_folder=None if run is None else Path(run),
            progress=progress_bars,
        )
    return References(outcome)


build = blocking(abuild)
