"""``fairjudge convert``: data in any layout to clusters, references, summaries and labels."""

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
        Opt("Folder for clusters.jsonl, summaries.jsonl, ...", flag="--output", short="-o"),
    ],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    r"""Convert data in other layouts to clusters, references, summaries and labels.

    The layout is recognised by content: Multi-News, WCEP, SummEval, SummHay, DiverseSumm, reviews,
    tables, nested JSON, Label Studio, folders of text files, Parquet, data sets on disk;
    docs/your-data.md shows each. It prints what was recognised, what was left out, and the next
    commands. Map columns with --map where their names are not recognised; --values has the numbers
    of ratings in words.

        fairjudge convert test.src test.tgt -o data

        fairjudge convert reviews.csv -o data --group product \
            --map content=opinion --attribute stars
    """
    opt.check_targets(None, json_file)
    converted: Converted = conversion(skip_bad=skip_bad)
    _check_inputs_stay([Path(file.path) for file in converted.files], folder, converted)
    paths = converted.write(folder)
    following, *later = converted.next_commands(folder)
    if json_file != "-":
        for file in converted.files:
            say(f"{file.path}: {file.layout}")
            if file.unused:
                say(f"  columns ignored: {', '.join(file.unused)}")
        for path, count in zip(paths, converted.counts().values(), strict=True):
            say(f"{path}: {count}")
        for path in _old_files(folder, converted):
            say(f"Warning: {path} is of an earlier conversion; this one has nothing of its kind")
        for why, n in converted.left_out.items():
            say(f"Excluded {pluralize(n, 'time')}: {why}")
        for warning in converted.command_line_warnings:
            say(f"Warning: {warning}")
        if converted.too_few_to_rank:
            say(f"Note: {converted.too_few_to_rank}")
        for command in (following, *later):
            say(str(command))
    report = {
        "written": list(map(str, paths)),
        "next": following.command,
        "later": {command.purpose: command.command for command in later},
    }
    display.write_json(json_file, converted.to_json() | report)


def _old_files(folder: Path, converted: Converted) -> list[Path]:
    """Return the files of other kinds in `folder`, which the commands named as next may take."""
    from fairjudge.converting.records import KINDS

    paths = [folder / f"{kind}.jsonl" for kind in KINDS if kind not in converted.records()]
    return [path for path in paths if path.exists()]


def _check_inputs_stay(inputs: list[Path], folder: Path, converted: Converted) -> None:
    for kind in converted.records():
        path = folder / f"{kind}.jsonl"
        for source in inputs:
            if path.exists() and source.exists() and path.samefile(source):
                raise InputError(f"-o would overwrite the input {source}", path=path)
