"""Options that several commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

if TYPE_CHECKING:
    from fairjudge.stores.address import StoreAddress

Output: TypeAlias = Annotated[
    Path,
    typer.Option("-o", "--output", help="File to write; .gz compresses, - is standard output."),
]
Backend: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Who answers: 'local' (embedded, no LLM, no key) or provider:model, such as "
        "openai:gpt-4o-mini. 'fairjudge backends' lists them."
    ),
]
Backends: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--backend",
        help="Who judges: 'local' (default: embedded, no LLM, no key) or provider:model, such as "
        "openai:gpt-4o-mini. Several make a jury. 'fairjudge backends' lists them.",
    ),
]
BaseUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Server to use instead of the provider's own, e.g. http://localhost:8000/v1."
    ),
]
Run: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Run folder (manifest, checkpoints, records). The same command with the same folder "
        "resumes. By default one under the cache folder, found again by the same command."
    ),
]
CacheDir: TypeAlias = Annotated[
    Path | None,
    typer.Option("--cache", help="Folder of the reply cache; by default under your cache folder."),
]
Store: TypeAlias = Annotated[
    str | None,
    typer.Option(
        envvar="FAIRJUDGE_STORE",
        metavar="URL",
        help="Keep replies, checkpoints and runs in a PostgreSQL database that several machines "
        "share: postgresql://user@host:port/database. --run is then a name.",
    ),
]
Engine: TypeAlias = Annotated[
    Literal["local", "ray"],
    typer.Option(
        help="Work in this process, or on the Ray cluster of RAY_ADDRESS (or of this machine)."
    ),
]
Concurrency: TypeAlias = Annotated[
    int, typer.Option(min=1, max=4096, help="Most model calls in flight at once.")
]
Seed: TypeAlias = Annotated[
    int | None, typer.Option(help="Passed to the model where it takes one; part of the cache key.")
]
MaxCost: TypeAlias = Annotated[
    float | None, typer.Option(min=0, help="Stop calling before this many US dollars are spent.")
]
MaxCalls: TypeAlias = Annotated[
    int | None, typer.Option(min=0, help="Stop calling after this many paid calls.")
]
MaxUnscored: TypeAlias = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Exit with 3 if a larger share than this is unscored."),
]
SkipBad: TypeAlias = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out bad lines, counted and listed, and go on.")
]
Json: TypeAlias = Annotated[
    str | None,
    typer.Option("--json", help="Also write the table's numbers as JSON; - is standard output."),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")]
EntailmentModel: TypeAlias = Annotated[
    str, typer.Option(help="Entailment model by hub id or folder, for --fallback entailment.")
]
EmbeddingModel: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Sentence encoder by hub id or folder, instead of the packaged all-MiniLM-L6-v2."
    ),
]


def store_address(url: str | None) -> StoreAddress | None:
    """Return the address of --store."""
    from fairjudge.stores.address import StoreAddress

    return None if not url else StoreAddress(url)


def check_targets(output: Path, json_file: str | None) -> None:
    """Refuse, before any work is done for it, a report that cannot be written.

    Raises
    ------
    InputError
        If the folder of `json_file` does not exist, or it is a folder itself.
    typer.BadParameter
        If records and report are both to go to standard output.
    """
    if json_file is None:
        return
    if json_file == "-":
        if str(output) == "-":
            raise typer.BadParameter(
                "records and report cannot both go to standard output", param_hint="--json"
            )
        return
    from fairjudge.errors import InputError

    if not Path(json_file).parent.is_dir():
        raise InputError("the folder for this report does not exist", path=json_file)
    if Path(json_file).is_dir():
        raise InputError("expected a file to write, this is a folder", path=json_file)
