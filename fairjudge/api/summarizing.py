"""Summaries written by a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from fairjudge.api.blocking import blocking
from fairjudge.api.tables import to_pandas
from fairjudge.domain import Summary
from fairjudge.options.checking import checks_arguments
from fairjudge.options.models import Model, as_model

if TYPE_CHECKING:
    from fairjudge.engine.models import Spent
    from fairjudge.run.summaries import SummarizeOutcome


@dataclass(frozen=True, slots=True, repr=False)
class Summaries(Sequence[Summary]):
    """What `summarize` wrote, as a sequence; ``outcome.failed`` says what it could not."""

    outcome: SummarizeOutcome

    def __len__(self) -> int:
        return len(self.outcome.summaries)

    @overload
    def __getitem__(self, place: int) -> Summary: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Summary]: ...
    def __getitem__(self, place: int | slice) -> Summary | Sequence[Summary]:
        return self.outcome.summaries[place]

    def __iter__(self) -> Iterator[Summary]:
        return iter(self.outcome.summaries)

    @property
    def spent(self) -> Spent | None:
        """What was asked of the model."""
        return self.outcome.spent

    def to_dict(self) -> dict[str, Any]:
        """Return counts and reasons as plain values: what ``fairjudge summarize --json`` writes."""
        return self.outcome.to_dict()

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``, one row a summary."""
        return to_pandas([one.to_json() for one in self])

    def save(self, path: str | Path) -> None:
        """Write the summaries to a .json or .jsonl file."""
        from fairjudge.datasets import write_records

        write_records(path, self.outcome.summaries)

    def __repr__(self) -> str:
        return f"Summaries({len(self)} of {len(self) + len(self.outcome.failed)})"


@checks_arguments
async def asummarize(
    clusters: object,
    *,
    model: Model | str,
    run: str | Path | None = None,
    **options: Any,
) -> Summaries:
    """Summarize each cluster.

    ``await asummarize(...)`` in code that awaits; ``summarize(...)`` in other code, notebooks too.

    Parameters
    ----------
    clusters
        A path, or a list of clusters or dicts.
    run : path, optional
        Run folder, to be resumed by the same call.
    **options
        As the options of ``fairjudge summarize``: ``strategy`` (``"direct"``, one call a cluster;
        ``"extract"``, extracts of each article first; ``"differences"``, only what sources say
        differently), ``temperature``, ``n_sentences``, ``n_words``, ``fair_attribute`` with
        ``fair_wording`` and ``fair_labels``, ``focus``, ``instruction``, ``kind`` (what the texts
        are), ``prompts`` (files), ``sweeps`` (variants, such as ``["temperature=0.5,1"]``), and
        ``system``, what the summaries' own ``system`` says.

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
    from fairjudge.options.checking import checked
    from fairjudge.options.summarizing import SummarizeOptions
    from fairjudge.run.summaries import summarize_loaded

    asked = as_model(model)
    with bars(asked.progress) as shown:
        outcome = await summarize_loaded(
            read_clusters(clusters),
            options=checked(SummarizeOptions, options, "summarize"),
            model=shown.with_retry_bar(asked),
            run_folder=None if run is None else Path(run),
            progress=shown.counter("summarizing"),
        )
    return Summaries(outcome)


summarize = blocking(asummarize)
