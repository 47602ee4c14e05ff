"""``fairjudge data import``: convert files of other tools and recorded replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.errors import InputError
from fairjudge.options.declaring import Opt
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.domain import Judgement
    from fairjudge.reports.next_commands import NextCommand

Records: TypeAlias = Mapping[str, Sequence[Any]]
"""Records by kind."""
_MAX_LINES = 20


def import_(
    recorded: Annotated[
        Path,
        Opt(
            "File written by another tool, or recorded replies (.jsonl, .csv).",
            metavar="FILE",
            argument=True,
        ),
    ],
    *,
    output: Annotated[
        Path | None,
        Opt("Write judgements to this file; .gz compresses, - is standard output.", short="-o"),
    ] = None,
    labels_file: Annotated[
        Path | None,
        Opt("Also write human labels to this file, if any.", flag="--labels", panel="Output"),
    ] = None,
    references_file: Annotated[
        Path | None,
        Opt(
            "Write references (nugget banks, key points) to this file.",
            flag="--references",
            panel="Output",
        ),
    ] = None,
    summaries_file: Annotated[
        Path | None,
        Opt(
            "Write summaries (the reports of TREC runs) to this file.",
            flag="--summaries",
            panel="Output",
        ),
    ] = None,
    clusters_file: Annotated[
        Path | None,
        Opt(
            "Write clusters (documents contained in TREC runs) to this file.",
            flag="--clusters",
            panel="Output",
        ),
    ] = None,
    articles: Annotated[
        Path | None, Opt("Clusters with the texts of the articles that references cite by id.")
    ] = None,
    tool: Annotated[
        str | None,
        Opt(
            "Tool that wrote the file. Default: recognised by content.",
            flag="--from",
            metavar="NAME",
        ),
    ] = None,
    protocol: Annotated[
        Literal["likert", "binary", "pairwise"] | None,
        Opt("Format of the verdicts in recorded replies; required for them."),
    ] = None,
    scale: Annotated[
        str | None, Opt("Scale of recorded ratings: a range such as 1-5, or a scale file (.toml).")
    ] = None,
    answers: Annotated[
        str | None,
        Opt(
            "Answer words, comma-separated, for the values 1 to n in this order; for pairs: "
            "first, second, tie. Without --protocol: words of a tool's verbal feedback.",
            flag="--options",
        ),
    ] = None,
    stars: Annotated[bool, Opt("Recorded ratings are one to five stars.")] = False,
    mapping: Annotated[
        list[str] | None,
        Opt("Column names that differ from ours: FIELD=COLUMN,...", flag="--map"),
    ] = None,
    judge: Annotated[str | None, Opt("Name of the judge. Default: as in the file.")] = None,
    repeats: Annotated[
        Literal["keep", "last"],
        Opt("For items judged more than once: keep all judgements, or only the last."),
    ] = "keep",
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    r"""Convert files of other tools, or recorded replies, to judgements, labels or references.

    The tool that wrote a file is recognised by content (docs/formats.md lists the tools). Errors of
    a grader count as unscored; replies are read with the parser of live runs.

        fairjudge data import logs/run.eval -o judgements.jsonl --labels labels.jsonl

        fairjudge data import bank.jsonl --references references.jsonl

    Recorded replies of any judge need --protocol. The reply is in the column 'response' or 'raw'.
    For pairs, a true value in the column 'swapped' (or order "ba") means that system_b was shown
    first.

        fairjudge data import replies.jsonl -o judgements.jsonl \
            --protocol likert --scale 1-5
    """
    from fairjudge.datasets import read_clusters
    from fairjudge.importing import scale_from_options

    files = {
        "judgements": output,
        "labels": labels_file,
        "references": references_file,
        "summaries": summaries_file,
        "clusters": clusters_file,
    }
    targets = {kind: path for kind, path in files.items() if path is not None}
    opt.check_targets(next(iter(targets.values()), None), json_file)
    if not targets:
        flags = ", ".join(f"{flag} for {kind}" for kind, flag in _FLAGS.items())
        raise typer.BadParameter(f"pass an output file: {flags}")
    if protocol is not None:
        if tool is not None or output is None or len(targets) > 1:
            raise typer.BadParameter(
                "--protocol only applies to recorded replies: use -o alone, without --from"
            )
        arguments: dict[str, Any] = {
            "protocol": protocol,
            "scale": scale_from_options(protocol, scale=scale, answers=answers, with_stars=stars),
            "mapping": _pairs(mapping or []),
            "judge": judge,
            "repeats": repeats,
        }
        report, records = _from_replies(recorded, output, arguments, skip_bad=skip_bad)
    else:
        if scale or stars or mapping:
            raise typer.BadParameter("--scale, --stars and --map require --protocol")
        scale_of_words = (
            scale_from_options(_protocol_of(answers), answers=answers) if answers else None
        )
        arguments = {"tool": tool, "judge": judge, "repeats": repeats, "answers": scale_of_words}
        if articles is not None:
            arguments["articles"] = display.read(read_clusters, articles, skip_bad=skip_bad)
        report, records = _from_tool(recorded, {**arguments, "skip_bad": skip_bad}, targets)
    _print_report(report, targets)
    if json_file != "-" and Path("-") not in targets.values():
        for command in _next_commands(records, targets):
            say(str(command))
    display.write_json(json_file, report)
    if len(report["unscored"]) > max_unscored * report["n_judgements"]:
        raise typer.Exit(3)


_FLAGS = {
    "judgements": "-o",
    "labels": "--labels",
    "references": "--references",
    "summaries": "--summaries",
    "clusters": "--clusters",
}
"""The option of the output file, by kind of record."""


def _protocol_of(answers: str) -> Literal["binary", "likert"]:
    """Return the protocol of answer words: binary for yes and no, else likert (1 to n)."""
    words = {word.strip().casefold() for word in answers.split(",")}
    return "binary" if words in ({"yes", "no"}, {"true", "false"}) else "likert"


def _from_replies(
    path: Path, output: Path, arguments: dict[str, Any], *, skip_bad: bool
) -> tuple[dict[str, Any], Records]:
    from fairjudge.datasets import read_replies, write_records
    from fairjudge.importing import import_replies

    loaded = read_replies(path, skip_bad=skip_bad)
    result = import_replies(
        (record.to_json() for record in loaded), lines=loaded.lines, path=path, **arguments
    )
    write_records(output, result.judgements)
    report = {
        "tool": "replies",
        "n_replies": result.n_replies,
        "n_judgements": len(result.judgements),
        "unscored": _unscored(result.unscored),
        "repeated": [
            {**repetition.item, "line": repetition.line, "former": list(repetition.former)}
            for repetition in result.repeated
        ],
        "repeats": arguments["repeats"],
        "bad": [{"line": bad.line, "problem": bad.problem} for bad in loaded.bad],
    }
    return report, {"judgements": result.judgements}


def _from_tool(
    path: Path, arguments: dict[str, Any], targets: Mapping[str, Path]
) -> tuple[dict[str, Any], Records]:
    from fairjudge.datasets import write_records
    from fairjudge.importing import import_file

    imported_file = import_file(path, **arguments)
    records = {kind: rows for kind, rows in imported_file.records().items() if rows}
    if "judgements" in records and "judgements" not in targets:
        raise InputError("also contains judgements; write them with -o", path=path)
    if not records.keys() & targets.keys():
        kinds, flags = " and ".join(records), " and ".join(map(_FLAGS.__getitem__, records))
        target_flags = ", ".join(map(_FLAGS.__getitem__, targets))
        raise InputError(f"only contains {kinds}: use {flags}, not {target_flags}", path=path)
    for kind in records.keys() & targets.keys():
        write_records(targets[kind], records[kind])
    report = {
        "tool": imported_file.tool,
        "n_rows": imported_file.n_rows,
        **{f"n_{kind}": len(rows) for kind, rows in imported_file.records().items()},
        "n_reread": imported_file.n_reread,
        "unscored": _unscored(imported_file.unscored),
        "skipped": [{"line": row.line, "problem": row.why} for row in imported_file.skipped],
    }
    return report, {kind: rows for kind, rows in records.items() if kind in targets}


def _next_commands(records: Records, targets: Mapping[str, Path]) -> Iterator[NextCommand]:
    """Yield the commands that continue with the `records` written to `targets`."""
    from fairjudge.reports.next_commands import Data, commands_after_import, label_protocols

    paths = {kind: targets[kind] for kind, rows in records.items() if rows}
    if not paths:
        return
    judgements: Sequence[Judgement] = records.get("judgements", ())
    data = Data(
        folder=next(iter(paths.values())).parent,
        clusters=paths.get("clusters"),
        references=paths.get("references"),
        summaries=[paths["summaries"]] if "summaries" in paths else [],
        labels=paths.get("labels"),
        label_protocols=label_protocols(records.get("labels", ())),
        has_several_articles=any(
            len(cluster.articles) > 1 for cluster in records.get("clusters", ())
        ),
    )
    yield from commands_after_import(
        data,
        paths.get("judgements"),
        list(dict.fromkeys(judgement.aspect for judgement in judgements)),
        is_paired=any(judgement.system_a is not None for judgement in judgements),
    )


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = [part.partition("=") for text in texts for part in text.split(",") if part.strip()]
    for field, equals, column in pairs:
        if not (equals and field.strip() and column.strip()):
            raise typer.BadParameter(f"expected field=column, not {field!r}", param_hint="--map")
    return {field.strip(): column.strip() for field, _, column in pairs}


def _unscored(rows: Any) -> list[dict[str, Any]]:
    return [
        {
            "line": line,
            **{k: v for k, v in row.to_json().items() if k in _ITEM and v is not None},
            "reason": row.unscored,
            "detail": (row.model_extra or {}).get("detail", ""),
        }
        for line, row in rows
    ]


_NAMES = {
    "labels": ("human label", "human labels"),
    "references": ("reference", "references"),
    "summaries": ("summary", "summaries"),
    "clusters": ("cluster", "clusters"),
}
_ITEM = ("eid", "system", "system_a", "system_b", "order", "aspect", "unit")


def _print_report(report: dict[str, Any], targets: Mapping[str, Path]) -> None:
    """Print what was read, unscored, repeated or excluded, on standard error."""
    unscored = report["unscored"]
    reasons = Counter(row["reason"] for row in unscored)
    counts = ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items()))
    if report["tool"] == "replies":
        n_read = pluralize(report["n_replies"], "reply", "replies")
    else:
        n_read = f"{report['tool']}: {pluralize(report['n_rows'], 'row')}"
    output = targets.get("judgements")
    if n := report["n_judgements"]:
        text = f"{pluralize(n, 'judgement')} written to {output}; {len(unscored)} unscored"
    else:
        text = "no judgement" + (f"; {output} is not written" if output else "")
    lines = [f"{n_read}, {text}" + (f" ({counts})" if counts else "")]
    rows = [f"  line {row['line']}: {row['reason']}: {row['detail']}" for row in unscored]
    is_replies = report["tool"] == "replies"
    notes = _notes_of_replies(report) if is_replies else _notes_of_tool(report, targets)
    say("\n".join([*lines, *_first_lines(rows), *notes]), err=True)


def _notes_of_replies(report: dict[str, Any]) -> list[str]:
    lines = []
    if report["repeated"]:
        outcome = "numbered by 'repeat'"
        if report["repeats"] != "keep":
            n_former = sum(len(item["former"]) for item in report["repeated"])
            outcome = f"{pluralize(n_former, 'earlier reply', 'earlier replies')} excluded"
        lines.append(f"judged repeatedly: {pluralize(len(report['repeated']), 'item')}, {outcome}")
    bad = report["bad"]
    return lines + _first_lines([f"  line {row['line']} skipped: {row['problem']}" for row in bad])


def _notes_of_tool(report: dict[str, Any], targets: Mapping[str, Path]) -> list[str]:
    lines = []
    for kind, (singular, plural) in _NAMES.items():
        if n := report[f"n_{kind}"]:
            outcome = f"not written; {_FLAGS[kind]} FILE writes them"
            if kind in targets:
                outcome = f"written to {targets[kind]}"
            lines.append(f"{pluralize(n, singular, plural)} {outcome}")
    if report["n_reread"]:
        n = pluralize(report["n_reread"], "reply", "replies")
        lines.append(f"{n} read differently from the tool: see 'tool_value'")
    reasons = Counter(row["problem"] for row in report["skipped"])
    return lines + _first_lines(
        [f"  {pluralize(n, 'row')} skipped: {reason}" for reason, n in reasons.items()]
    )


def _first_lines(lines: list[str]) -> list[str]:
    n_hidden = len(lines) - _MAX_LINES
    return (
        [*lines[:_MAX_LINES], f"  ... and {n_hidden} more (see --json)"] if n_hidden > 0 else lines
    )
