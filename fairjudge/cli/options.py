"""Options that several commands share, declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

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
Concurrency: TypeAlias = Annotated[
    int,
    typer.Option(
        min=1, max=4096, help="Most model calls at once; fewer for a while after a server's 429."
    ),
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
Rpm: TypeAlias = Annotated[
    int | None, typer.Option("--rpm", min=1, help="Most requests to the model in any minute.")
]
Tpm: TypeAlias = Annotated[
    int | None,
    typer.Option("--tpm", min=1, help="Most tokens (prompts and replies) in any minute."),
]
Timeout: TypeAlias = Annotated[
    float, typer.Option("--timeout", min=0.1, help="Seconds to wait for one whole reply.")
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


def _calling(
    *,
    cache: CacheDir = None,
    concurrency: Concurrency = 8,
    base_url: BaseUrl = None,
    seed: Seed = None,
    max_cost: MaxCost = None,
    max_calls: MaxCalls = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout_seconds: Timeout = 300.0,
) -> None:
    """Declare the options of whatever calls models, by the names that `ModelOptions` has."""


def with_model(command: Callable[..., None]) -> Callable[..., None]:
    """Give `command` the options of `_calling` in place of its parameter ``model``.

    It is called with one `fairjudge.app.models.ModelOptions`; the backend it sets itself.
    """
    own, shared = _parameters(command), _parameters(_calling)
    place = [parameter.name for parameter in own].index("model")

    @functools.wraps(command)
    def called(**given: Any) -> None:
        from fairjudge.app.models import ModelOptions

        model = ModelOptions(**{one.name: given.pop(one.name) for one in shared})
        command(**given, model=model)

    every = [*own[:place], *shared, *own[place + 1 :]]
    called.__dict__["__signature__"] = inspect.Signature(every)
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
    return called


def _parameters(command: Callable[..., None]) -> list[inspect.Parameter]:
    # Commands import the class for type checkers alone: to import it here would slow all of them.
    names = {"ModelOptions": Any}
    hints = get_type_hints(command, localns=names, include_extras=True)
    return [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(command).parameters.items()
    ]


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
