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

stored = opt.with_options(model=opt.options_of(Model, only=("cache", "store")))


def opened_cache(model: Model) -> AbstractContextManager[AnyCache]:
    """Open the cache of `model`'s options; it is closed after the block."""
    from fairjudge.engine.models import open_cache, print_warning

    return closing(open_cache(model.cache_folder, store=model.address, warn=print_warning))


@app.command()
@stored
def stats(*, model: Model, json_file: opt.Json = None) -> None:
    """Show where the cache is, and how much it holds."""
    with opened_cache(model) as opened:
        figures = asdict(opened.stats())
    if json_file != "-":
        say(
            f"{figures['path']}: {pluralize(figures['n_entries'], 'reply', 'replies')}, "
            f"{figures['size_bytes'] / 1e6:.1f} MB, "
            f"{figures['n_quarantined']} set aside as damaged"
        )
    display.write_json(json_file, figures | {"path": str(figures["path"])})


@app.command()
@stored
def verify(*, model: Model, json_file: opt.Json = None) -> None:
    """Read every row; set aside and list damaged and foreign rows. Exit code 1 if there are any."""
    with opened_cache(model) as opened:
        report = opened.verify()
    if json_file != "-":
        say(
            f"{pluralize(report.n_sound, 'sound reply', 'sound replies')}, "
            f"{len(report.refused)} refused"
        )
        for line in report.refused:
            say(f"  {line}")
    display.write_json(json_file, asdict(report))
    if report.refused:
        raise typer.Exit(1)


@app.command("export")
@stored
def export_(
    exported: Annotated[
        Path, Opt("JSONL to write; .gz compresses.", metavar="FILE", argument=True, panel="Output")
    ],
    *,
    model: Model,
) -> None:
    """Write every valid reply to a file, to share or to archive."""
    from fairjudge.cache.files import export_cache

    with opened_cache(model) as opened:
        n_written = export_cache(opened, exported)
    say(f"{pluralize(n_written, 'reply', 'replies')} written to {exported}")


@app.command("import")
@stored
def import_(
    file: Annotated[Path, Opt("JSONL from 'fairjudge cache export'.", argument=True)],
    *,
    model: Model,
) -> None:
    """Add the replies of an exported file; existing replies are kept."""
    from fairjudge.cache.files import import_cache

    with opened_cache(model) as opened:
        report = import_cache(opened, file)
    say(f"{pluralize(report.n_added, 'reply', 'replies')} added, {report.n_known} known before")


@app.command()
@stored
def clear(
    *,
    model: Model,
    yes: Annotated[bool, Opt("Do not ask for confirmation.", short="-y")] = False,
) -> None:
    """Delete every reply. Asks for confirmation, since they cost money to get again."""
    with opened_cache(model) as opened:
        if not yes:
            usage = opened.stats()
            typer.confirm(
                f"Delete {pluralize(usage.n_entries, 'reply', 'replies')} from {usage.path}?",
                abort=True,
            )
        say(f"{pluralize(opened.clear(), 'reply', 'replies')} deleted")
