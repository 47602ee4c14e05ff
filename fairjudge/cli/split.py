"""``fairjudge split``: summaries to atomic content units."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import options as opt


def split(
    summaries: Annotated[Path, typer.Argument(help="Summaries: eid, system, text.")],
    *,
    output: opt.Output,
    backend: opt.Backend = "local",
    cache: opt.CacheDir = None,
    store: opt.Store = None,
    concurrency: opt.Concurrency = 8,
    base_url: opt.BaseUrl = None,
    seed: opt.Seed = None,
    max_cost: opt.MaxCost = None,
    max_calls: opt.MaxCalls = None,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Split summaries to atomic content units, one fact each, by an LLM; locally to sentences.

    Where the LLM's units cannot be read or lose much of the summary, its sentences are written,
    and 'split_by' and 'why' say so.
    """
    from fairjudge.app.models import ModelOptions
    from fairjudge.app.splitting import split_file

    found = split_file(
        summaries,
        output,
        model=ModelOptions(
            backend=backend,
            base_url=base_url,
            cache=cache,
            store=opt.store_address(store),
            concurrency=concurrency,
            seed=seed,
            max_cost=max_cost,
            max_calls=max_calls,
        ),
        skip_bad=skip_bad,
    )
    n_units = sum(len(one.units) for _, one in found)
    n_left = sum(one.why is not None for _, one in found)
    said = f"{len(found)} summaries, {n_units} units written to {output}"
    typer.echo(said + (f"; {n_left} left as sentences" if n_left else ""), err=True)
