"""Building references from clusters."""

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
    """The result of `build`: a sequence of references, one per cluster.

    ``outcome`` has the excluded articles and answers, the failed calls and the run.
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
        """Return counts and reasons as plain values, as in ``fairjudge build --json``."""
        return self.outcome.to_dict()

    def questions(self) -> Table:
        """Return the questions with their numbers of sources, groups and answers."""
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
        empty_clusters = [cluster for cluster in self.outcome.clusters if cluster.why_none]
        names = ("eid", "question", "sources", "groups", "answers")
        return table_of(
            "Questions that sources answer differently",
            rows,
            names,
            numbers=names[2:],
            notes=[f"{cluster.reference.eid}: {cluster.why_none}." for cluster in empty_clusters],
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

    Use ``await abuild(...)`` in async code, and ``build(...)`` elsewhere, including notebooks.

    Parameters
    ----------
    clusters
        A path, the result of `read_clusters`, or a list of clusters or dicts.
    model : Model or str
        The model that generates and answers questions. Replies are cached: repeating a call is
        free.
    run : path, optional
        Run folder; repeat the call to resume. By default under the cache folder.
    max_articles, n_questions : int, optional
        Maximum number of articles (at least 2) and of questions (at least 1) per cluster; by
        default chosen by the pipeline.
    facets : int
        Minimum number of questions: if fewer have conflicting answers, questions whose answers can
        all be true are added up to this number.
    min_sources : float
        Minimum share of sources, from 0 to 1, that must answer a question.
    consensus_filter, merge_same_sources : bool
        Filters of Discord Questions: drop questions with a majority group, and near-duplicates.
    pipeline : {"article", "paper"}
        One call per article for all questions, or one per question and article.
    context_tokens : int
        Maximum number of article tokens in the prompt that generates questions.
    consolidation : {"llm", "embedding"}, optional
        The method that groups answers by meaning.
    post_filter : bool
        With ``pipeline="paper"``: an LLM drops answers that do not address their question.
    complete : bool
        Read the articles a second time: add missed answers, and drop unsuitable passages.

    Returns
    -------
    fairjudge.References
        One reference per cluster, in the order of `clusters`; ``outcome`` lists exclusions and
        failures.

    Raises
    ------
    FairJudgeError
        If the clusters, the model or an option is invalid. Failed items raise no error: see
        ``outcome``.

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
    model_options = as_model(model)
    with bars(model_options.progress) as progress_bars:
        outcome = await build_loaded(
            read_clusters(clusters),
            options=options,
            model=progress_bars.with_retry_bar(model_options),
            run_folder=None if run is None else Path(run),
            progress=progress_bars,
        )
    return References(outcome)


build = blocking(abuild)
