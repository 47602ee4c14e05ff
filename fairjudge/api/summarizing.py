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
    """A sequence of the summaries from `summarize`; ``outcome.failed`` has the failures."""

    outcome: SummarizeOutcome

    @property
    def _records(self) -> tuple[Summary, ...]:
        return self.outcome.summaries

    @property
    def spent(self) -> RunCost | None:
        """Requests, tokens and cost of the model."""
        return self.outcome.spent

    def to_dict(self) -> dict[str, Any]:
        """Return counts and reasons as plain values, as in ``fairjudge summarize --json``."""
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

    Use ``await asummarize(...)`` in async code, and ``summarize(...)`` elsewhere, with notebooks.

    Parameters
    ----------
    clusters
        A path, or a list of clusters or dicts.
    model : Model or str
        The LLM that writes.
    run : path, optional
        Run folder; repeat the call to resume.
    strategy : {"direct", "extract", "differences"}
        One call per cluster; first extract sentences of each article; only the differences between
        sources.
    fair_attribute : str, optional
        Ask for proportional representation of every value of this article attribute.
    fair_wording : {"sources", "length", "undefined"}
        Proportional to the number of sources or to the length of their texts, or "fairly" without a
        definition.
    fair_labels : {"shown", "hidden"}
        Whether the prompt shows the value of each source.
    focus, instruction : str, optional
        Topic or claim to summarize the articles on; your own instruction, added at the end of the
        prompt.
    kind : {"news", "reviews", "tweets", "debates", "documents"}
        Kind of the texts.
    prompts : list of paths
        Your own prompts; one is drawn at random for each cluster.
    n_sentences, n_words : int, optional
        Requested length in sentences and in words, 1 or more.
    temperature : float
        Sampling temperature, from 0 to 2.
    sweeps : list of str
        Variants to write as well, such as ``["temperature=0.5,1"]``.
    system : str, optional
        Name of the resulting system; by default MODEL-STRATEGY.

    Returns
    -------
    Summaries
        One summary per cluster and variant; ``outcome.failed`` has the clusters without one.

    Raises
    ------
    FairJudgeError
        If an argument or the model is invalid. Failed clusters raise no error: see ``outcome``.

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
    model_options = as_model(model)
    with bars(model_options.progress) as progress_bars:
        outcome = await summarize_loaded(
            read_clusters(clusters),
            options=options,
            model=progress_bars.with_retry_bar(model_options),
            run_folder=None if run is None else Path(run),
            progress=progress_bars.counter("summarizing"),
        )
    return Summaries(outcome)


summarize = blocking(asummarize)
