"""Summarizing every cluster of a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from fairjudge.app.models import ModelOptions, Spent, open_models
from fairjudge.app.runs import Run, bad_lines, check_writable, digest, open_run
from fairjudge.datasets import Loaded, read_clusters, write_records
from fairjudge.domain import Cluster, Summary, Unscored
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.summarizing import Strategy, Summarizer, Wishes, has_attribute

_ROWS = "summaries"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeOptions:
    """How summaries are written; see the help of ``fairjudge summarize``."""

    strategy: Strategy = "direct"
    wishes: Wishes = Wishes()  # noqa: RUF009  # frozen
    temperature: float = 0.0
    system: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeOutcome:
    """What ``fairjudge summarize`` did; ``failed`` pairs an ``eid`` with its reason."""

    summaries: tuple[Summary, ...]
    failed: tuple[tuple[str, Unscored], ...]
    system: str
    bad_lines: tuple[str, ...]
    spent: Spent | None
    run: Path | str


def summarize_file(
    path: Path,
    output: Path,
    *,
    options: SummarizeOptions,
    model: ModelOptions,
    run: Path | None,
    skip_bad: bool,
    progress: Callable[[int], Callable[[int], None]],
) -> SummarizeOutcome:
    """Summarize the clusters in `path` and write the summaries to `output`.

    Raises
    ------
    FairJudgeError
        If the file, the backend or the run folder cannot be used. Clusters that fail are outcomes.
    """
    loaded = read_clusters(path, skip_bad=skip_bad)
    check_writable(output)
    if model.target is None:
        raise ConfigurationError("summaries need an LLM: give one by --backend provider:model")
    _check_attribute(loaded, options.wishes.fair_attribute)
    identity = {
        "options": asdict(options),
        "model": model.identity(),
        "clusters": digest(loaded.records),
    }
    opened = open_run(
        run,
        cache_folder=model.cache_folder,
        command="summarize",
        identity=identity,
        store=model.store,
    )
    outcome = asyncio.run(
        _summarize(loaded, options=options, model=model, opened=opened, progress=progress)
    )
    write_records(output, outcome.summaries)
    return replace(outcome, bad_lines=bad_lines(loaded))


def _check_attribute(loaded: Loaded[Cluster], attribute: str | None) -> None:
    """Refuse an attribute that no article of the file has."""
    if attribute is None or any(has_attribute(c.articles, attribute) for c in loaded):
        return
    known = sorted({name for c in loaded for article in c.articles for name in article.attributes})
    there = f"there are: {', '.join(known)}" if known else "no article has any"
    raise InputError(
        f"no article has the attribute {attribute!r} of --fair; {there}",
        path=loaded.path,
        field="attributes",
    )


async def _summarize(
    loaded: Loaded[Cluster],
    *,
    options: SummarizeOptions,
    model: ModelOptions,
    opened: Run,
    progress: Callable[[int], Callable[[int], None]],
) -> SummarizeOutcome:
    async with open_models(model) as models:
        if models.llm is None:
            raise ConfigurationError("summaries need an LLM")
        summarizer = Summarizer(
            backend=models.llm.backend,
            target=models.llm.target,
            strategy=options.strategy,
            wishes=options.wishes,
            temperature=options.temperature,
            seed=models.llm.seed,
            system=options.system,
        )
        advance = progress(len(loaded))
        with opened as run:
            kept = {row["eid"]: Summary.model_validate(row) for row in run.read(_ROWS)}

            async def one(cluster: Cluster) -> Summary | Unscored:
                if cluster.eid not in kept:
                    written = await summarizer.summarize(cluster)
                    if isinstance(written, Unscored):
                        advance(1)
                        return written
                    run.append(_ROWS, written.to_json())
                    kept[cluster.eid] = written
                advance(1)
                return kept[cluster.eid]

            written = await asyncio.gather(*map(one, loaded.records))
        pairs = list(zip(loaded.records, written, strict=True))
        return SummarizeOutcome(
            summaries=tuple(found for _, found in pairs if isinstance(found, Summary)),
            failed=tuple((c.eid, found) for c, found in pairs if isinstance(found, Unscored)),
            system=summarizer.name,
            bad_lines=(),
            spent=models.spent(),
            run=run.shown,
        )
