"""``fairjudge import``: turn a judge's recorded replies to judgements."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say

_SHOWN = 20


def import_(
    responses: Annotated[
        Path, typer.Argument(help="Recorded replies: .jsonl, .json or .csv, one reply a record.")
    ],
    *,
    output: opt.Output,
    protocol: Annotated[
        Literal["likert", "binary", "pairwise"], typer.Option(help="What the judge was asked for.")
    ],
    scale: Annotated[
        str | None, typer.Option(help="Range of the ratings, such as 1-5, or a scale file (.toml).")
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            "--options",
            help="Answers, comma-separated: worth 1 to n in this order; for pairs first, second, "
            "tie.",
        ),
    ] = None,
    stars: Annotated[bool, typer.Option("--stars", help="One to five stars.")] = False,
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", help="field=column, comma-separated, where names differ."),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Who judged; by default the replies' own 'judge'.")
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    r"""Turn a judge's recorded replies to judgements, with the parser that live runs use.

    The reply stands in column 'response' or 'raw'. For pairs, a true 'swapped' column (or
    order "ba") says that system_b was shown first. Of an item judged twice the last reply counts.

        fairjudge import replies.jsonl -o judgements.jsonl \
            --protocol likert --scale 1-5
    """
    from fairjudge.datasets import read_replies, write_records
    from fairjudge.importing import import_replies, scale_from_options

    opt.check_targets(output, json_file)
    read_with = scale_from_options(protocol, scale=scale, answers=answers, with_stars=stars)
    loaded = read_replies(responses, skip_bad=skip_bad)
    imported = import_replies(
        (record.to_json() for record in loaded),
        scale=read_with,
        protocol=protocol,
        mapping=_pairs(mapping or []),
        judge=judge,
        lines=loaded.lines,
        path=responses,
    )
    write_records(output, imported.judgements)
    report = _report(imported, loaded)
    _say(report, output)
    display.write_json(json_file, report)
    if len(report["unscored"]) > max_unscored * len(imported.judgements):
        raise typer.Exit(3)


def _pairs(given: list[str]) -> dict[str, str]:
    pairs = [part.partition("=") for text in given for part in text.split(",") if part.strip()]
    for field, equals, column in pairs:
        if not (equals and field.strip() and column.strip()):
            raise typer.BadParameter(f"expected field=column, not {field!r}", param_hint="--map")
    return {field.strip(): column.strip() for field, _, column in pairs}


def _report(imported: Any, loaded: Any) -> dict[str, Any]:
    return {
        "n_replies": imported.n_replies,
        "n_judgements": len(imported.judgements),
        "unscored": [
            {
                "line": line,
                **{k: v for k, v in found.to_json().items() if k in _ITEM and v is not None},
                "reason": found.unscored,
                "detail": (found.model_extra or {}).get("detail", ""),
            }
            for line, found in imported.unscored
        ],
        "repeated": [
            {**each.item, "line": each.line, "former": list(each.former)}
            for each in imported.repeated
        ],
        "bad": [{"line": bad.line, "problem": bad.problem} for bad in loaded.bad],
    }


_ITEM = ("eid", "system", "system_a", "system_b", "order", "aspect", "unit")


def _say(report: dict[str, Any], output: Path) -> None:
    """Say on standard error what was read, left unscored, repeated or left out."""
    unscored, repeated = report["unscored"], report["repeated"]
    reasons = Counter(each["reason"] for each in unscored)
    counts = ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items()))
    read = f"{report['n_replies']} replies, {report['n_judgements']} judgements written to {output}"
    lines = [f"{read}; {len(unscored)} unscored" + (f" ({counts})" if counts else "")]
    lines += _some(
        [f"  line {each['line']}: {each['reason']}: {each['detail']}" for each in unscored]
    )
    if repeated:
        n = sum(len(each["former"]) for each in repeated)
        lines.append(f"{len(repeated)} items were judged again: {n} earlier replies do not count")
    lines += _some([f"  line {each['line']} left out: {each['problem']}" for each in report["bad"]])
    say("\n".join(lines), err=True)


def _some(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], f"  ... and {more} more (see --json)"] if more > 0 else lines
