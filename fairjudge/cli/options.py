"""Options that several commands share, declared once."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from fairjudge.run.models import ModelOptions
    from fairjudge.stores.address import StoreAddress

R = TypeVar("R")

Output: TypeAlias = Annotated[
    Path,
    typer.Option("-o", "--output", help="File to write; .gz compresses, - is standard output."),
]
Backend: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Model: 'local' (bundled, no LLM, no API key) or provider:model, such as "
        "openai:gpt-4o-mini. 'fairjudge backends' lists the providers."
    ),
]
Backends: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--backend",
        help="Model that judges: 'local' (default: bundled, no LLM, no API key) or provider:model, "
        "such as openai:gpt-4o-mini; repeat for a jury. 'fairjudge backends' lists the providers.",
    ),
]
BaseUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Base URL of the API instead of the provider's own, e.g. http://localhost:8000/v1."
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
    typer.Option("--cache", help="Folder of the response cache; by default a user cache folder."),
]
Store: TypeAlias = Annotated[
    str | None,
    typer.Option(
        envvar="FAIRJUDGE_STORE",
        metavar="URL",
        help="Keep responses, checkpoints and runs in a PostgreSQL database shared by several "
        "machines: postgresql://user@host:port/database. --run is then a name.",
    ),
]
Engine: TypeAlias = Annotated[
    Literal["local", "ray"],
    typer.Option(
        help="Run in this process, or on the Ray cluster of RAY_ADDRESS (or of this machine)."
    ),
]
Concurrency: TypeAlias = Annotated[
    int,
    typer.Option(
        min=1, max=4096, help="Maximum concurrent requests; reduced for a while after a 429."
    ),
]
Timeout: TypeAlias = Annotated[
    float, typer.Option(min=0.001, help="Timeout of one request, in seconds.")
]
MaxWait: TypeAlias = Annotated[
    float,
    typer.Option(
        min=0,
        help="Longest Retry-After to wait for, in seconds; an item for which the server asks for "
        "more is left without a result.",
    ),
]
Seed: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Passed to models that take a seed; part of the cache key."),
]
MaxOutputTokens: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Maximum tokens of one reply, reasoning tokens included; by default 1024 for "
        "verdicts and summaries, 2048 for units, and 2048 to 8000 for the steps of a build.",
    ),
]
MaxCost: TypeAlias = Annotated[
    float | None, typer.Option(min=0, help="Maximum cost of the requests, in US dollars.")
]
MaxCalls: TypeAlias = Annotated[
    int | None,
    typer.Option(min=0, help="Maximum number of requests to the model, retries included."),
]
Rpm: TypeAlias = Annotated[
    int | None, typer.Option("--rpm", min=1, help="Maximum requests per minute.")
]
Tpm: TypeAlias = Annotated[
    int | None,
    typer.Option("--tpm", min=1, help="Maximum tokens per minute, of prompts and replies."),
]
Prices: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Your own prices (TOML: [[price]] with model, input and output in US dollars per "
        "million tokens, date, source, and where they differ cached_input, cache_write); they hold "
        "at any --base-url."
    ),
]
MaxUnscored: TypeAlias = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Exit with 3 if a larger share than this is unscored."),
]
SkipBad: TypeAlias = Annotated[
    bool,
    typer.Option("--skip-bad", help="Skip invalid lines; they are counted and listed."),
]
LabelScale: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="LOW-HIGH",
        help="The labels' scale, such as 0-100; by default the usual one that holds most of them. "
        "A label off it is an error.",
    ),
]
Json: TypeAlias = Annotated[
    str | None,
    typer.Option("--json", help="Also write the table's numbers as JSON; - is standard output."),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Hide the progress bars.")]
EntailmentModel: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Entailment model by hub id or folder, for --fallback and --cascade-scorer, instead "
        "of the package's own."
    ),
]
EmbeddingModel: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Sentence encoder by hub id or folder, instead of the packaged all-MiniLM-L6-v2."
    ),
]


def label_scale(text: str | None) -> tuple[float, float] | None:
    """Return what --label-scale says."""
    if text is None:
        return None
    match = re.fullmatch(r"(-?\d{1,6}(?:\.\d{1,6})?)-(\d{1,6}(?:\.\d{1,6})?)", text, re.ASCII)
    low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not low < high:
        raise typer.BadParameter(
            f"expected LOW-HIGH such as 1-5, got {text!r}", param_hint="--label-scale"
        )
    return low, high


def store_address(url: str | None) -> StoreAddress | None:
    """Return the address of --store."""
    from fairjudge.stores.address import StoreAddress

    return StoreAddress(url) if url else None


def taking(**bundles: Callable[..., Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Give a command the options that functions declare, and call it with what they return.

    ``@taking(model=models)`` puts the parameters of `models` in place of the command's parameter
    ``model``, so that several commands take the same options without repeating them. A function
    that declares options may take those of another in the same way.
    """

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        declared = {name: _parameters(bundle) for name, bundle in bundles.items()}

        @functools.wraps(command)
        def called(**given: Any) -> R:
            for name, bundle in bundles.items():
                own = {one.name: given.pop(one.name) for one in declared[name]}
                given[name] = bundle(**own)
            return command(**given)

        every = [
            parameter for own in _parameters(command) for parameter in declared.get(own.name, [own])
        ]
        called.__dict__["__signature__"] = inspect.Signature(every)
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
        return called

    return decorate


_FOR_TYPES = (
    "BiasOptions",
    "BuildOptions",
    "CoverageOptions",
    "FairnessInput",
    "JudgeOptions",
    "ModelOptions",
    "ProportionalOptions",
    "StoreAddress",
)
"""Commands import these for type checkers alone: to import them here would slow every command."""


def _parameters(declaring: Callable[..., Any]) -> list[inspect.Parameter]:
    names = dict.fromkeys(_FOR_TYPES, Any)
    hints = get_type_hints(declaring, localns=names, include_extras=True)
    return [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(declaring).parameters.items()
    ]


def models(
    *,
    cache: CacheDir = None,
    store: Store = None,
    concurrency: Concurrency = 8,
    base_url: BaseUrl = None,
    timeout: Timeout = 300.0,
    max_wait: MaxWait = 120.0,
    seed: Seed = None,
    max_output_tokens: MaxOutputTokens = None,
    max_cost: MaxCost = None,
    max_calls: MaxCalls = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    prices: Prices = None,
) -> ModelOptions:
    """Return what all that calls models has in common."""
    from fairjudge.run.models import ModelOptions

    return ModelOptions(
        cache=cache,
        store=store_address(store),
        concurrency=concurrency,
        base_url=base_url,
        timeout_seconds=timeout,
        max_wait_seconds=max_wait,
        seed=seed,
        max_output_tokens=max_output_tokens,
        max_cost=max_cost,
        max_calls=max_calls,
        rpm=rpm,
        tpm=tpm,
        prices=prices,
    )


@taking(model=models)
def one_model(
    *, backend: Backend = "local", embedding_model: EmbeddingModel = None, model: ModelOptions
) -> ModelOptions:
    """Return the options of the one model of a command."""
    return replace(model, backend=backend, embedding_model=embedding_model)


@taking(model=models)
def judges(
    *,
    backend: Backends = None,
    embedding_model: EmbeddingModel = None,
    entailment_model: EntailmentModel = None,
    engine: Engine = "local",
    model: ModelOptions,
) -> Sequence[ModelOptions]:
    """Return the options of each model that judges: several are a jury."""
    shared = replace(
        model, embedding_model=embedding_model, entailment_model=entailment_model, engine=engine
    )
    return [replace(shared, backend=name) for name in backend or ["local"]]


def check_targets(output: Path | None, json_file: str | None) -> None:
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
