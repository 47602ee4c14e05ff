"""Options that several commands share, declared once."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import typer

from fairjudge.options.declaring import Declared, declared
from fairjudge.options.models import Model

if TYPE_CHECKING:
    from fairjudge.records.address import StoreAddress

R = TypeVar("R")
T = TypeVar("T")

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
        help="Keep responses, checkpoints and runs in a PostgreSQL database shared between "
        "machines: postgresql://user@host:port/database. --run is then a name.",
    ),
]
Engine: TypeAlias = Annotated[
    Literal["local", "ray"],
    typer.Option(
        help="Run in this process, or on the Ray cluster of RAY_ADDRESS (or of this machine)."
    ),
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Seed of all resampling.")]
Resamples: TypeAlias = Annotated[int, typer.Option(min=100, help="Bootstrap resamples.")]
Level: TypeAlias = Annotated[
    float, typer.Option(min=0.5, max=0.999, help="Confidence of intervals.")
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
    from fairjudge.records.address import StoreAddress

    return StoreAddress(url) if url else None


def with_options(**bundles: Callable[..., Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Give a command the options that others declare, and call it with what is made of them.

    ``@with_options(model=models)`` puts the parameters of `models` in place of its parameter
    ``model``, so that several commands take the same options without repeating them. A bundle may
    take the options of another in the same way; `options_of` makes one of a dataclass.
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
        return _signed(called, every)

    return decorate


def options_of(kind: Callable[..., T]) -> Callable[..., T]:
    """Return the bundle of a dataclass whose fields are options; it makes one of them."""
    fields = fields_of(kind)
    return _signed(lambda **given: kind(**fields(**given)), _parameters(fields))


def fields_of(kind: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Return the bundle of those fields of a dataclass that are options; it makes a dict."""
    options = declared(kind)

    def by_name(**given: Any) -> dict[str, Any]:
        return {
            option.name: tuple(dict.fromkeys(given[option.name] or ()))
            if option.several
            else given[option.name]
            for option in options
        }

    return _signed(by_name, [_parameter(option) for option in options])


def _signed(
    function: Callable[..., R], parameters: Sequence[inspect.Parameter]
) -> Callable[..., R]:
    function.__dict__["__signature__"] = inspect.Signature(parameters)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function


def _parameter(option: Declared) -> inspect.Parameter:
    """Return the Typer parameter for an option."""
    hint, said = option.hint, option.opt
    more: dict[str, Any] = {"metavar": said.metavar}
    if option.several:
        (each, _) = get_args(hint)
        if get_origin(each) is Literal:  # of which Typer takes no list
            names = get_args(each)
            each, more = str, {"metavar": f"[{'|'.join(names)}]", "parser": _one_of(names)}
        hint = list[each] | None  # type: ignore[valid-type]
    elif {str, Path} <= set(get_args(hint)):  # text is for Python's callers
        hint = Path | None
    shown = typer.Option(
        *([said.flag] if said.flag else []),
        help=said.help or None,
        min=said.ge,
        max=said.le,
        **more,
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if option.several else option.default,
        annotation=Annotated[hint, shown],
    )


def _one_of(names: Sequence[str]) -> Callable[[str], str]:
    def parse(given: str) -> str:
        if given not in names:
            raise typer.BadParameter(f"{given!r} is not one of {', '.join(map(repr, names))}.")
        return given

    return parse


def _parameters(declaring: Callable[..., Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(declaring, include_extras=True)
    return [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(declaring).parameters.items()
    ]


@with_options(given=fields_of(Model))
def models(*, cache: CacheDir = None, store: Store = None, given: dict[str, Any]) -> Model:
    """Return what all that calls models has in common."""
    return Model(cache=cache, store=store or None, **given)


@with_options(model=models)
def one_model(
    *, backend: Backend = "local", embedding_model: EmbeddingModel = None, model: Model
) -> Model:
    """Return the one model of a command."""
    return replace(model, target=backend, embedding_model=embedding_model)


@with_options(model=models)
def judges(
    *,
    backend: Backends = None,
    embedding_model: EmbeddingModel = None,
    entailment_model: EntailmentModel = None,
    engine: Engine = "local",
    model: Model,
) -> Sequence[Model]:
    """Return each model that judges: several are a jury."""
    if model.price_input is not None and len(backend or ()) > 1:
        raise typer.BadParameter(
            "one price for several backends; give each its own in a file of --prices",
            param_hint="--price-input",
        )
    shared = replace(
        model, embedding_model=embedding_model, entailment_model=entailment_model, engine=engine
    )
    return [replace(shared, target=name) for name in backend or ["local"]]


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
