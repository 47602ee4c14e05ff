"""``fairjudge cache``: manage the response cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.cache.files import AnyCache

app = Application(help="Manage the cache of model responses.", no_args_is_help=True)


@contextmanager
def _opened(folder: Path | None, store: str | None) -> Iterator[AnyCache]:
    from fairjudge.engine.models import open_cache

    cache = open_cache(
        folder,
        store=opt.store_address(store),
        warn=lambda message: say(f"warning: {message}", err=True),
    )
    try:
        yield cache
    finally:
        cache.close()


@app.command()
def stats(
    *, cache: opt.CacheDir = None, store: opt.Store = None, json_file: opt.Json = None
) -> None:
    """Show where the cache is, and how much it holds."""
    with _opened(cache, store) as opened:
        found = asdict(opened.stats())
    if json_file != "-":
        say(
            f"{found['path']}: {pluralize(found['n_entries'], 'reply', 'replies')}, "
            f"{found['size_bytes'] / 1e6:.1f} MB, "
            f"{found['n_quarantined']} set aside as damaged"
        )
    display.write_json(json_file, found | {"path": str(found["path"])})


@app.command()
def verify(
    *, cache: opt.CacheDir = None, store: opt.Store = None, json_file: opt.Json = None
) -> None:
    """Read every row; set aside what is damaged or not ours, and name it. Exit 1 if any is."""
    with _opened(cache, store) as opened:
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
def export_(
    exported: Annotated[
        Path, Opt("JSONL to write; .gz compresses.", metavar="FILE", argument=True, panel="Output")
    ],
    *,
    cache: opt.CacheDir = None,
    store: opt.Store = None,
) -> None:
    """Write every sound reply to a file, to share or to keep."""
    from fairjudge.cache.files import export_cache

    with _opened(cache, store) as opened:
        n_written = export_cache(opened, exported)
    say(f"{pluralize(n_written, 'reply', 'replies')} written to {exported}")


@app.command("import")
def import_(
    file: Annotated[Path, Opt("JSONL from 'fairjudge cache export'.", argument=True)],
    *,
    cache: opt.CacheDir = None,
    store: opt.Store = None,
) -> None:
    """Add the replies of an exported file; what the cache has already stays."""
    from fairjudge.cache.files import import_cache

    with _opened(cache, store) as opened:
        report = import_cache(opened, file)
    say(f"{pluralize(report.n_added, 'reply', 'replies')} added, {report.n_known} known before")


@app.command()
def clear(
    *,
    cache: opt.CacheDir = None,
    store: opt.Store = None,
    yes: Annotated[bool, Opt("Do not ask for confirmation.", short="-y")] = False,
) -> None:
    """Delete every reply. They cost money to get again: you are asked first."""
    with _opened(cache, store) as opened:
        if not yes:
            found = opened.stats()
            typer.confirm(
                f"Delete {pluralize(found.n_entries, 'reply', 'replies')} from {found.path}?",
                abort=True,
            )
        say(f"{pluralize(opened.clear(), 'reply', 'replies')} deleted")
