"""``fairjudge cache``: manage the response cache."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.cache.files import AnyCache

app = Application(help="Manage the cache of model responses.")

with_store_options = opt.with_options(model=opt.options_of(Model, only=("cache", "store")))


def open_model_cache(model: Model) -> AbstractContextManager[AnyCache]:
    """Open the cache of `model`; it is closed after the block."""
    from fairjudge.engine.models import open_cache, print_warning

    return closing(open_cache(model.cache_folder, store=model.address, warn=print_warning))


@app.command()
@with_store_options
def stats(*, model: Model, json_file: opt.Json = None) -> None:
    """Show the cache's folder, number of replies and size."""
    with open_model_cache(model) as cache:
        figures = asdict(cache.stats())
    if json_file != "-":
        say(
            f"{figures['path']}: {pluralize(figures['n_entries'], 'reply', 'replies')}, "
            f"{figures['size_bytes'] / 1e6:.1f} MB, "
            f"{figures['n_quarantined']} damaged and moved aside"
        )
    display.write_json(json_file, figures | {"path": str(figures["path"])})


@app.command()
@with_store_options
def verify(*, model: Model, json_file: opt.Json = None) -> None:
    """Read every row; move damaged and foreign rows aside, list them, and exit with code 1."""
    with open_model_cache(model) as cache:
        report = cache.verify()
    if json_file != "-":
        say(
            f"{pluralize(report.n_sound, 'valid reply', 'valid replies')}, "
            f"{len(report.refused)} rejected"
        )
        for line in report.refused:
            say(f"  {line}")
    display.write_json(json_file, asdict(report))
    if report.refused:
        raise typer.Exit(1)


@app.command("export")
@with_store_options
def export_(
    exported: Annotated[
        Path, Opt("JSONL to write; .gz compresses.", metavar="FILE", argument=True, panel="Output")
    ],
    *,
    model: Model,
) -> None:
    """Write all valid replies to a file, to share or archive them."""
    from fairjudge.cache.files import export_cache

    with open_model_cache(model) as cache:
        n_written = export_cache(cache, exported)
    say(f"{pluralize(n_written, 'reply', 'replies')} written to {exported}")


@app.command("import")
@with_store_options
def import_(
    file: Annotated[Path, Opt("JSONL from 'fairjudge cache export'.", argument=True)],
    *,
    model: Model,
) -> None:
    """Add the replies of an exported file; existing replies are not changed."""
    from fairjudge.cache.files import import_cache

    with open_model_cache(model) as cache:
        report = import_cache(cache, file)
    say(f"{pluralize(report.n_added, 'reply', 'replies')} added, {report.n_known} existed")


@app.command()
@with_store_options
def clear(
    *,
    model: Model,
    yes: Annotated[bool, Opt("Do not ask for confirmation.", short="-y")] = False,
) -> None:
    """Delete all replies, after confirmation (they cost money to request again)."""
    with open_model_cache(model) as cache:
        if not yes:
            usage = cache.stats()
            typer.confirm(
                f"Delete {pluralize(usage.n_entries, 'reply', 'replies')} from {usage.path}?",
                abort=True,
            )
        say(f"{pluralize(cache.clear(), 'reply', 'replies')} deleted")
