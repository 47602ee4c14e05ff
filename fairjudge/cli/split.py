"""``fairjudge fairness split``: summaries to atomic content units."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model
from fairjudge.text.counting import pluralize


@opt.with_options(model=opt.options_of(Model, without=opt.LOCAL))
def split(
    summaries: Annotated[Path, Opt("Summaries: eid, system, text.", argument=True)],
    *,
    output: opt.Output,
    model: Model,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Split summaries to atomic content units, one fact each, by an LLM; locally to sentences.

    Where the LLM's units cannot be read or lose much of the summary, its sentences are written,
    and 'split_by' and 'why' say so.
    """
    from fairjudge.datasets import read_summaries
    from fairjudge.run.splitting import split_file

    units = split_file(
        display.read(read_summaries, summaries, skip_bad=skip_bad),
        output,
        model=model,
    )
    n_units = sum(len(row.units) for _, row in units)
    n_left = sum(row.why is not None for _, row in units)
    n_summaries = pluralize(len(units), "summary", "summaries")
    sentence = f"{n_summaries}, {pluralize(n_units, 'unit')} written to {output}"
    say(sentence + (f"; {n_left} left as sentences" if n_left else ""), err=True)
