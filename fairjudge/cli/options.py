"""Options that several commands share, declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from fairjudge.cli.parameters import Call, call_of, fields_of, options_of, with_options
from fairjudge.options.declaring import (
    Annotators,
    LabelScale,
    Level,
    MaxUnscored,
    Opt,
    Resamples,
    Seed,
)
from fairjudge.options.models import Model

if TYPE_CHECKING:
    from fairjudge.records.address import StoreAddress

__all__ = [
    "Annotators",
    "Call",
    "LabelScale",
    "Level",
    "MaxUnscored",
    "Resamples",
    "Seed",
    "call_of",
    "fields_of",
    "options_of",
    "with_options",
]

Output: TypeAlias = Annotated[
    Path,
    Opt("File to write; .gz compresses, - is standard output.", short="-o"),
]
Backend: TypeAlias = Annotated[
    str,
    Opt(
        "Model: 'local' (bundled, no LLM, no API key) or provider:model, such as "
        "openai:gpt-4o-mini. 'fairjudge backends list' shows the providers.",
        panel="Model",
    ),
]
Backends: TypeAlias = Annotated[
    list[str] | None,
    Opt(
        "Model that judges: 'local' (default: bundled, no LLM, no API key) or provider:model, "
        "such as openai:gpt-4o-mini; repeat for a jury. 'fairjudge backends list' shows the "
        "providers.",
        flag="--backend",
        panel="Model",
    ),
]
Html: TypeAlias = Annotated[
    Path | None,
    Opt("Also write the result as one self-contained HTML page.", panel="Output"),
]
Figures: TypeAlias = Annotated[
    Path | None,
    Opt(
        "Folder for every plot of the page as SVG, PDF and PNG, with or without the page.",
        panel="Output",
    ),
]
Run: TypeAlias = Annotated[
    Path | None,
    Opt(
        "Run folder (manifest, checkpoints, records). The same command with the same folder "
        "resumes. By default one under the cache folder, found again by the same command.",
        panel="Storage",
    ),
]
CacheDir: TypeAlias = Annotated[
    Path | None,
    Opt("Folder of the response cache; by default a user cache folder.", panel="Storage"),
]
Store: TypeAlias = Annotated[
    str | None,
    Opt(
        "Keep responses, checkpoints and runs in a PostgreSQL database shared between "
        "machines: postgresql://user@host:port/database. --run is then a name.",
        metavar="URL",
        envvar="FAIRJUDGE_STORE",
        panel="Storage",
    ),
]
Engine: TypeAlias = Annotated[
    Literal["local", "ray"],
    Opt(
        "Run in this process, or on the Ray cluster of RAY_ADDRESS (or of this machine).",
        panel="Model",
    ),
]
SkipBad: TypeAlias = Annotated[
    bool,
    Opt("Skip invalid lines; they are counted and listed.", panel="Input"),
]
Json: TypeAlias = Annotated[
    str | None,
    Opt(
        "Also write the table's numbers as JSON; - is standard output.",
        flag="--json",
        panel="Output",
    ),
]
Limit: TypeAlias = Annotated[
    int | None,
    Opt(
        "Judge only the first N items, to try a command. The same command without it goes on "
        "from there; no request is sent twice.",
        ge=1,
        panel="Limits",
    ),
]
Plan: TypeAlias = Annotated[
    bool,
    Opt("Only estimate requests, tokens and cost; send no request.", panel="Limits"),
]
SecondsPerCall: TypeAlias = Annotated[
    float,
    Opt("Assumed duration of a request in a plan, in seconds.", ge=0.0, panel="Limits"),
]
Quiet: TypeAlias = Annotated[bool, Opt("Hide the progress bars.", short="-q", panel="Output")]
EntailmentModel: TypeAlias = Annotated[
    str | None,
    Opt(
        "Entailment model by hub id or folder, for --fallback and --cascade-scorer, instead "
        "of the package's own.",
        panel="Model",
    ),
]
EmbeddingModel: TypeAlias = Annotated[
    str | None,
    Opt(
        "Sentence encoder by hub id or folder, instead of the packaged all-MiniLM-L6-v2.",
        panel="Model",
    ),
]


def store_address(url: str | None) -> StoreAddress | None:
    """Return the address of --store."""
    from fairjudge.records.address import StoreAddress

    return StoreAddress(url) if url else None


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


def check_local(command: str, *models: Model) -> None:
    """Refuse, before anything else, to work without an LLM where the extra for it is missing.

    Raises
    ------
    MissingExtraError
        One of `models` is the local backend, and what it stands on is not installed.
    """
    from importlib.util import find_spec

    from fairjudge.errors import MissingExtraError

    if any(model.llm is None for model in models) and None in map(find_spec, _LOCAL_PACKAGES):
        raise MissingExtraError(f"'fairjudge {command}' without an LLM (--backend)", extra="local")


_LOCAL_PACKAGES = ("torch", "transformers", "spacy")


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
