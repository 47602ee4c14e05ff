"""Summaries written by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fairjudge.api.blocking import blocking
from fairjudge.api.results import Records
from fairjudge.domain import Summary
from fairjudge.options.checking import checks_arguments
from fairjudge.options.models import Model, as_model

if TYPE_CHECKING:
    from fairjudge.engine.models import RunCost
    from fairjudge.run.summaries import SummarizeOutcome


@dataclass(frozen=True, slots=True, repr=False)
class Summaries(Records[Summary]):
    """The summaries that `summarize` wrote, as a sequence; ``outcome.failed`` has the failures."""

    outcome: SummarizeOutcome

    @property
    def _records(self) -> tuple[Summary, ...]:
        return self.outcome.summaries

    @property
    def spent(self) -> RunCost | None:
        """Requests, tokens and cost of the model."""
        return self.outcome.spent

    def to_dict(self) -> dict[str, Any]:
        """Return counts and reasons as plain values: what ``fairjudge summarize --json`` writes."""
        return self.outcome.to_dict()

    def __repr__(self) -> str:
        return f"Summaries({len(self)} of {len(self) + len(self.outcome.failed)})"


@checks_arguments
async def asummarize(
    clusters: object,
    *,
    model: Model | str,
    run: str | Path | None = None,
    strategy: Literal["direct", "extract", "differences"] = "direct",
    fair_attribute: str | None = None,
    fair_wording: Literal["sources", "length", "undefined"] = "sources",
    fair_labels: Literal["shown", "hidden"] = "shown",
    focus: str | None = None,
    instruction: str | None = None,
    kind: Literal["news", "reviews", "tweets", "debates", "documents"] = "news",
    prompts: Sequence[str] = (),
    n_sentences: int | None = None,
    n_words: int | None = None,
    temperature: float = 0.0,
    sweeps: Sequence[str] = (),
    system: str | None = None,
) -> Summaries:
    """Summarize each cluster.

    ``await asummarize(...)`` in code that awaits; ``summarize(...)`` in other code, notebooks too.

    Parameters
    ----------
    clusters
        A path, or a list of clusters or dicts.
    model : Model or str
        Who writes; a language model.
    run : path, optional
        Run folder, to be resumed by the same call.
    strategy : {"direct", "extract", "differences"}
        One call a cluster; extracts of each article first; only what sources say differently.
    fair_attribute : str, optional
        Ask for room in proportion for every value of this attribute of the articles.
    fair_wording : {"sources", "length", "undefined"}
        In proportion to the number of sources, to the length of their texts, or fairly.
    fair_labels : {"shown", "hidden"}
        Whether the prompt shows the value of each source.
    focus, instruction : str, optional
        The topic or claim that summaries are to be about; your own words at the end of the prompt.
    kind : {"news", "reviews", "tweets", "debates", "documents"}
        What the texts are.
    prompts : list of paths
        Prompts of your own; of several one is drawn for each cluster.
    n_sentences, n_words : int, optional
        Wanted length in sentences and in words, 1 or more.
    temperature : float
        Of sampling, from 0 to 2.
    sweeps : list of str
        Variants to write too, such as ``["temperature=0.5,1"]``.
    system : str, optional
        Name of the resulting system; by default model-strategy.

    Returns
    -------
    Summaries
        One summary a cluster and variant; ``outcome.failed`` has the clusters without one.

    Raises
    ------
    FairJudgeError
        If an argument or the model cannot be used. Clusters that fail are outcomes.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.summarize("clusters.jsonl", model="openai:gpt-4o-mini")  # doctest: +SKIP
    """
    from fairjudge.api.progress import bars
    from fairjudge.datasets import read_clusters
    from fairjudge.options.checking import options_from_arguments
    from fairjudge.options.summarizing import SummarizeOptions
    from fairjudge.run.summaries import summarize_loaded

    options = options_from_arguments(SummarizeOptions, locals(), "summarize")
    chosen_model = as_model(model)
    with bars(chosen_model.progress) as progress_bars:
        outcome = await summarize_loaded(
            read_clusters(clusters),
            options=options,
            model=progress_bars.with_retry_bar(chosen_model),
            run_folder=None if run is None else Path(run),
            progress=progress_bars.counter("summarizing"),
        )
    return Summaries(outcome)


summarize = blocking(asummarize)
