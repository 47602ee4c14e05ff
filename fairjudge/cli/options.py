"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

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

Clusters: TypeAlias = Annotated[Path, Opt("Clusters (JSON or JSONL, also .gz).", argument=True)]
References: TypeAlias = Annotated[
    Path, Opt("References (JSON or JSONL); or clusters, if the aspect needs no questions.")
]
Summaries: TypeAlias = Annotated[
    list[Path], Opt("Summaries (eid, system, text). Repeatable: all files are judged in one run.")
]
Jury: TypeAlias = Annotated[
    Literal["mean", "median", "majority"],
    Opt("With several --backend: how verdicts are combined; each is also kept.", panel="Judging"),
]
Output: TypeAlias = Annotated[
    Path,
    Opt("Output file; .gz compresses, - is standard output.", short="-o"),
]
Html: TypeAlias = Annotated[
    Path | None,
    Opt("Also write the result as a self-contained HTML page.", panel="Output"),
]
Figures: TypeAlias = Annotated[
    Path | None,
    Opt(
        "Also write every plot of the page to this folder, as SVG, PDF and PNG.",
        panel="Output",
    ),
]
Run: TypeAlias = Annotated[
    Path | None,
    Opt(
        "Run folder (manifest, checkpoints, records); rerun the command with the same folder to "
        "resume. Default: a folder under the cache folder, identified by the command.",
        panel="Storage",
    ),
]
SkipBad: TypeAlias = Annotated[
    bool,
    Opt("Skip invalid lines instead of failing; they are counted and listed.", panel="Input"),
]
Json: TypeAlias = Annotated[
    str | None,
    Opt(
        "Also write the results as JSON to this file; - is standard output.",
        flag="--json",
        panel="Output",
    ),
]
Limit: TypeAlias = Annotated[
    int | None,
    Opt(
        "Judge only the first N items, to try a command. Rerun the command without it to "
        "continue; no request is sent twice.",
        ge=1,
        panel="Limits",
    ),
]
Plan: TypeAlias = Annotated[
    bool,
    Opt("Only estimate requests, tokens and cost; send no requests.", panel="Limits"),
]
SecondsPerCall: TypeAlias = Annotated[
    float,
    Opt("Duration of a request assumed in plans, in seconds.", ge=0.0, panel="Limits"),
]
Quiet: TypeAlias = Annotated[bool, Opt("Hide the progress bars.", short="-q", panel="Output")]


LOCAL = ("embedding_model", "entailment_model", "engine")
"""The options of `Model` for local models."""
one_model = options_of(Model, without=("entailment_model", "engine"))


@with_options(arguments=fields_of(Model, repeatable={"target": "Repeatable, for a jury."}))
def judges(*, arguments: dict[str, Any]) -> Sequence[Model]:
    """Return the models that judge; several are a jury."""
    targets = arguments.pop("target") or ("local",)
    if arguments["price_input"] is not None and len(targets) > 1:
        raise typer.BadParameter(
            "one price for several backends; use a file of --prices for a price per backend",
            param_hint="--price-input",
        )
    return [Model(target, **arguments) for target in targets]


def check_local(command: str, *models: Model) -> None:
    """Check that the extra for the local models is installed if `models` contains one.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    from importlib.util import find_spec

    from fairjudge.errors import MissingExtraError

    if any(model.llm is None for model in models) and None in map(find_spec, _LOCAL_PACKAGES):
        raise MissingExtraError(f"'fairjudge {command}' without an LLM (--backend)", extra="local")


_LOCAL_PACKAGES = ("torch", "transformers", "spacy")


def check_targets(output: Path | None, json_file: str | None) -> None:
    """Check that the report can be written, before any work.

    Raises
    ------
    InputError
        If `json_file` is a folder, or its folder does not exist.
    typer.BadParameter
        If both records and report are written to standard output.
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
