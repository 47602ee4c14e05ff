"""Summarize every cluster of a file."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.datasets import Loaded, read_clusters, write_records
from fairjudge.domain import Cluster, Summary, Unscored
from fairjudge.engine.coroutines import run_to_end
from fairjudge.engine.models import Llm, open_models
from fairjudge.engine.progress import Progress, no_progress
from fairjudge.engine.runs import (
    RunOutcome,
    bad_lines,
    check_writable,
    digest,
    open_run,
    record_cost,
)
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.options.models import Model
from fairjudge.options.summarizing import SummarizeOptions
from fairjudge.records.folder import RunStore, reject_foreign_rows
from fairjudge.records.schema import with_schema
from fairjudge.run.sweeping import Setting, settings_of
from fairjudge.summaries.requirements import has_attribute
from fairjudge.summaries.writing import Summarizer, read_prompt
from fairjudge.text.usable import ArticleLeftOut, articles_left_out

_ROWS = "summaries"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedSummary:
    """A summary that could not be written, with the reason."""

    eid: str
    system: str
    why: Unscored

    def to_json(self) -> dict[str, str]:
        """Return the cluster, the system and the reason."""
        return {
            "eid": self.eid,
            "system": self.system,
            "reason": self.why.reason,
            "detail": self.why.detail,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeOutcome(RunOutcome):
    """Result of ``fairjudge summarize``; ``systems`` has the command's base setting first.

    ``articles_left_out`` are unusable and in no prompt.
    """

    summaries: tuple[Summary, ...]
    failed: tuple[FailedSummary, ...]
    systems: Mapping[str, Setting]
    articles_left_out: tuple[ArticleLeftOut, ...] = ()

    def n_by_system(self) -> dict[str, int]:
        """Return the number of summaries by system."""
        counts = Counter(summary.system for summary in self.summaries)
        return {system: counts[system] for system in self.systems}

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``fairjudge summarize --json``."""
        n_by_system = self.n_by_system()
        return with_schema(
            {
                "system": next(iter(self.systems)),
                "n_summaries": len(self.summaries),
                "systems": {
                    system: {"n_summaries": n_by_system[system], **setting.to_json()}
                    for system, setting in self.systems.items()
                },
                "failed": [failed.to_json() for failed in self.failed],
                "left_out": list(self.bad_lines),
                "articles_left_out": [article.to_json() for article in self.articles_left_out],
                "spent": self.spent and self.spent.to_json(),
            }
        )


def summarize_file(
    path: Path,
    output: Path,
    *,
    options: SummarizeOptions,
    model: Model,
    run: Path | None,
    skip_bad: bool,
    progress: Progress,
) -> SummarizeOutcome:
    """Summarize the clusters in `path` and write them to `output`; see `summarize_loaded`."""
    check_writable(output)
    outcome = run_to_end(
        summarize_loaded(
            read_clusters(path, skip_bad=skip_bad),
            options=options,
            model=model,
            run_folder=run,
            progress=progress,
        )
    )
    write_records(output, outcome.summaries)
    return outcome


async def summarize_loaded(
    loaded: Loaded[Cluster],
    *,
    options: SummarizeOptions,
    model: Model,
    run_folder: Path | None = None,
    progress: Progress = no_progress,
) -> SummarizeOutcome:
    """Summarize the clusters `loaded`, resuming the run in `run_folder`.

    A summary that cannot be written is a `FailedSummary`; it raises no error.
    """
    if model.llm is None:
        raise ConfigurationError("summaries need an LLM: pass one with --backend provider:model")
    check_requirements(loaded, options)
    run_store = _open(run_folder, loaded, options, model)
    async with open_models(model) as models:
        summarizers = _summarizers(models.llm, options)
        work = [(summarizer, cluster) for summarizer in summarizers.values() for cluster in loaded]
        advance = progress(len(work))
        with run_store as run, record_cost(run, model, models.cost):
            with reject_foreign_rows(run):
                rows = map(Summary.model_validate, run.read(_ROWS))
                stored_summaries = {(row.eid, row.system): row for row in rows}
            if stored_summaries:
                models.note_earlier_reply()

            async def write(summarizer: Summarizer, cluster: Cluster) -> Summary | FailedSummary:
                earlier = stored_summaries.get((cluster.eid, summarizer.name))
                summary = await summarizer.summarize(cluster) if earlier is None else earlier
                advance(1)
                if isinstance(summary, Unscored):
                    return FailedSummary(eid=cluster.eid, system=summarizer.name, why=summary)
                if earlier is None:
                    run.append(_ROWS, summary.to_json())
                return summary

            outcomes = await asyncio.gather(
                *(write(summarizer, cluster) for summarizer, cluster in work)
            )
        return SummarizeOutcome(
            summaries=tuple(outcome for outcome in outcomes if isinstance(outcome, Summary)),
            failed=tuple(outcome for outcome in outcomes if isinstance(outcome, FailedSummary)),
            systems=dict(zip(summarizers, settings_of(options), strict=True)),
            articles_left_out=articles_left_out(loaded),
            bad_lines=bad_lines(loaded),
            spent=models.cost(),
            run=run.display_name,
            was_finished=all(
                (c.eid, summarizer.name) in stored_summaries for summarizer, c in work
            ),
        )


def _open(
    folder: Path | None, loaded: Loaded[Cluster], options: SummarizeOptions, model: Model
) -> RunStore:
    """Return the run of these clusters, options and model, not yet locked."""
    settings = settings_of(options)
    prompts = sorted(
        {
            read_prompt(prompt).label
            for setting in settings
            for prompt in setting.requirements.prompts
        }
    )
    return open_run(
        folder,
        command="summarize",
        model=model,
        identity={
            "options": options.identity() | ({"prompt": prompts} if prompts else {}),
            "model": model.identity(),
            "clusters": digest(loaded.records),
        },
    )


def check_requirements(loaded: Loaded[Cluster], options: SummarizeOptions) -> None:
    """Reject invalid prompts, and attributes that no article of the file has."""
    for setting in settings_of(options):
        _check_attribute(loaded, setting.requirements.fair_attribute)
        for prompt in setting.requirements.prompts:
            read_prompt(prompt)


def _check_attribute(loaded: Loaded[Cluster], attribute: str | None) -> None:
    """Reject an attribute that no article of the file has."""
    if attribute is None or any(has_attribute(c.articles, attribute) for c in loaded):
        return
    names = sorted({name for c in loaded for article in c.articles for name in article.attributes})
    available = f"there are: {', '.join(names)}" if names else "no article has any"
    raise InputError(
        f"no article has the attribute {attribute!r} of --fair; {available}",
        path=loaded.path,
        field="attributes",
    )


def _summarizers(llm: Llm | None, options: SummarizeOptions) -> dict[str, Summarizer]:
    """Return one summarizer per setting, by the name of its system."""
    if llm is None:
        raise ConfigurationError("summaries need an LLM")

    def make(setting: Setting, system: str | None) -> Summarizer:
        return Summarizer(
            backend=llm.backend,
            target=llm.target,
            strategy=options.strategy,
            requirements=setting.requirements,
            temperature=setting.temperature,
            system=system,
            **llm.sampling,
        )

    settings = settings_of(options)
    base_name = make(settings[0], options.system).name
    return {setting.name(base_name): make(setting, setting.name(base_name)) for setting in settings}
