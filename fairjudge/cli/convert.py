"""``fairjudge convert``: convert data to clusters, references, summaries and labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fairjudge.api import converting
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.errors import InputError
from fairjudge.options.declaring import Opt
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.converting.records import Converted


@opt.with_options(conversion=opt.call_of(converting.convert))
def convert(
    *,
    conversion: opt.Call[Any],
    folder: Annotated[
        Path,
        Opt("Output folder (clusters.jsonl, summaries.jsonl, ...).", flag="--output", short="-o"),
    ],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    r"""Convert data in other layouts to clusters, references, summaries and labels.

    The layout is recognised by content: Multi-News, WCEP, SummEval, SummHay, DiverseSumm, reviews,
    tables, nested JSON, Label Studio, folders of text files, Parquet, data sets on disk;
    docs/your-data.md describes each. Prints the recognised layouts, what was excluded, and the next
    commands. Use --map for columns whose names are not recognised, and --values for ratings in
    words.

        fairjudge convert test.src test.tgt -o data

        fairjudge convert reviews.csv -o data --group product \
            --map content=opinion --attribute stars
    """
    opt.check_targets(None, json_file)
    result: Converted = conversion(skip_bad=skip_bad)
    _check_inputs_not_overwritten([Path(file.path) for file in result.files], folder, result)
    paths = result.write(folder)
    next_command, *later_commands = result.next_commands(folder)
    if json_file != "-":
        for file in result.files:
            say(f"{file.path}: {file.layout}")
            if file.unused:
                say(f"  columns ignored: {', '.join(file.unused)}")
        for path, count in zip(paths, result.counts().values(), strict=True):
            say(f"{path}: {count}")
        for path in _old_files(folder, result):
            say(f"Warning: {path} is from an earlier conversion; this one contains no such records")
        for reason, n in result.left_out.items():
            say(f"Excluded {pluralize(n, 'time')}: {reason}")
        for warning in result.command_line_warnings:
            say(f"Warning: {warning}")
        if result.too_few_to_rank:
            say(f"Note: {result.too_few_to_rank}")
        for command in (next_command, *later_commands):
            say(str(command))
    report = {
        "written": list(map(str, paths)),
        "next": next_command.command,
        "later": {command.purpose: command.command for command in later_commands},
    }
    display.write_json(json_file, result.to_json() | report)


def _old_files(folder: Path, result: Converted) -> list[Path]:
    """Return files of other record kinds in `folder`, which the next commands may read."""
    from fairjudge.converting.records import KINDS

    paths = [folder / f"{kind}.jsonl" for kind in KINDS if kind not in result.records()]
    return [path for path in paths if path.exists()]


def _check_inputs_not_overwritten(inputs: list[Path], folder: Path, result: Converted) -> None:
    for kind in result.records():
        path = folder / f"{kind}.jsonl"
        for source in inputs:
            if path.exists() and source.exists() and path.samefile(source):
                raise InputError(f"-o would overwrite the input {source}", path=path)
