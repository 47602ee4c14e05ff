"""Options that several commands share."""

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

Clusters: TypeAlias = Annotated[Path, Opt("Clusters: JSON or JSONL, .gz too.", argument=True)]
References: TypeAlias = Annotated[
    Path, Opt("References; plain clusters suffice where the aspect needs no questions.")
]
Summaries: TypeAlias = Annotated[
    list[Path], Opt("Summaries: eid, system, text. Repeatable: all are judged together.")
]
Jury: TypeAlias = Annotated[
    Literal["mean", "median", "majority"],
    Opt("Score of a jury of several --backend; each member's verdict is kept.", panel="Judging"),
]
Output: TypeAlias = Annotated[
    Path,
    Opt("File to write; .gz compresses, - is standard output.", short="-o"),
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
        "Judge only the first N items, to try a command. The same command without it "
        "continues; no request is sent twice.",
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


LOCAL = ("embedding_model", "entailment_model", "engine")
"""The options of `Model` that say how local models work."""
one_model = options_of(Model, without=("entailment_model", "engine"))


@with_options(given=fields_of(Model, several={"target": "Repeat for a jury."}))
def judges(*, given: dict[str, Any]) -> Sequence[Model]:
    """Return each model that judges: several are a jury."""
    targets = given.pop("target") or ("local",)
    if given["price_input"] is not None and len(targets) > 1:
        raise typer.BadParameter(
            "one price for several backends; give each its own in a file of --prices",
            param_hint="--price-input",
        )
    return [Model(target, **given) for target in targets]


def check_local(command: str, *models: Model) -> None:
    """Check first of all that the extra for the local models is installed, where they are used.

    Raises
    ------
    MissingExtraError
        One of `models` is the local backend, and its packages are not installed.
    """
    from importlib.util import find_spec

    from fairjudge.errors import MissingExtraError

    if any(model.llm is None for model in models) and None in map(find_spec, _LOCAL_PACKAGES):
        raise MissingExtraError(f"'fairjudge {command}' without an LLM (--backend)", extra="local")


_LOCAL_PACKAGES = ("torch", "transformers", "spacy")


def check_targets(output: Path | None, json_file: str | None) -> None:
    """Check before any work that the report can be written.

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
