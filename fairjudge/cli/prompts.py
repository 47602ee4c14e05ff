"""``fairjudge prompts``: list, show and lock prompt templates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli.application import Application
from fairjudge.options.declaring import Opt

app = Application(help="List, show and lock prompt templates.")


@app.command("list")
def list_() -> None:
    """List all templates with their version, hash and purpose."""
    from fairjudge.prompting import released_templates
    from fairjudge.reports.tables import TextTable, columns, print_table

    rows = tuple(
        (f"{t.task}/{t.name}.v{t.version}", t.sha256[:8], t.about) for t in released_templates()
    )
    headers = columns("prompt", "hash", "purpose")
    print_table(TextTable(title=f"{len(rows)} prompts", columns=headers, rows=rows))


@app.command()
def show(
    name: Annotated[
        str, Opt("Name, such as judge/coverage-single.v3; without .v3 the newest.", argument=True)
    ],
) -> None:
    """Print a template verbatim."""
    from fairjudge.errors import PromptError
    from fairjudge.prompting import load_template

    task, _, version_text = name.partition("/")
    base, dot, version = version_text.partition(".v")
    if dot and not version.isdigit():
        raise PromptError(f"{version!r} is not a version: write {task}/{base}.v1")
    template = load_template(task, base, int(version) if dot else None)
    for role, body in template.parts:
        typer.echo(f"## {role}\n\n{body}\n")


@app.command()
def lock(
    folder: Annotated[Path, Opt("The prompts folder of a source checkout.", argument=True)] = Path(
        "prompts"
    ),
) -> None:
    """Record the hashes of new templates; fail if a locked template was changed."""
    from fairjudge.errors import PromptError
    from fairjudge.prompting import lock_new_templates

    if not folder.is_dir():
        raise PromptError(f"{folder}: no such folder; run this in a source checkout")
    added = lock_new_templates(folder)
    for name in added:
        typer.echo(f"locked {name}")
    typer.echo(f"{len(added)} new, the others unchanged")
