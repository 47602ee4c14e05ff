"""Interchange with other tools: import recorded replies, and export records."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from fairjudge.api.judging import JudgeResult
from fairjudge.api.results import to_pandas
from fairjudge.api.tables import Table
from fairjudge.datasets import Loaded, read_replies, write_jsonl
from fairjudge.domain import Judgement, Record, Reference, Summary
from fairjudge.errors import ConfigurationError, InputError, needs_extra
from fairjudge.exporting.targets import (
    REFERENCE_TARGETS,
    SUMMARY_TARGETS,
    TARGETS,
    export_judgements,
    export_records,
)
from fairjudge.options.checking import checks_arguments
from fairjudge.records.folder import atomic_replacement, write_atomically

if TYPE_CHECKING:
    from fairjudge.domain import ProtocolName
    from fairjudge.scales import Scale


@checks_arguments
def import_replies(
    replies: object,
    *,
    protocol: ProtocolName = "likert",
    scale: Scale | str | Path | None = None,
    judge: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> JudgeResult:
    """Read recorded replies with the parser that live runs use.

    Parameters
    ----------
    replies
        A path (.jsonl, .json or .csv), a list of dicts, or a data frame, with ``eid``, ``system``
        (or ``system_a`` and ``system_b``), ``aspect`` and the reply under ``response``.
    protocol : {"likert", "binary", "pairwise"}
        Format of the verdicts.
    scale : optional
        A range such as ``"1-5"``, a scale file (.toml) or a `fairjudge.scales.Scale`.
    judge : str, optional
        Name of the judge; by default the field ``judge`` of the replies.
    columns : optional
        Names of fields in the replies, by our field names.

    Returns
    -------
    JudgeResult
        Replies that cannot be read are unscored, with a reason. Repeated judgements of an item are
        kept, numbered by ``repeat`` from 0.

    Raises
    ------
    InputError
        If a field is missing or invalid, or the scale does not match the protocol.

    Examples
    --------
    >>> import fairjudge as fj
    >>> row = {"eid": "e", "system": "s", "aspect": "coverage"}
    >>> replies = [row | {"response": "Most of it. Verdict: 4"}]
    >>> fj.import_replies(replies, scale="1-5", judge="elsewhere")[0].value
    4.0
    """
    from fairjudge.importing import import_replies as read
    from fairjudge.importing import scale_from_options
    from fairjudge.scales import Scale

    loaded = read_replies(replies)
    result = read(
        (record.to_json() for record in loaded),
        scale=(
            scale
            if isinstance(scale, Scale)
            else scale_from_options(protocol, scale=None if scale is None else str(scale))
        ),
        protocol=protocol,
        mapping=columns,
        judge=judge,
        lines=loaded.lines,
        path=loaded.path,
    )
    return JudgeResult(result.judgements)


Rows: TypeAlias = Sequence[Mapping[str, Any]]
Writer: TypeAlias = Callable[[Rows, Path], None]
R = TypeVar("R", bound=Record)


@checks_arguments
def export(value: object, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a result, references, summaries, findings or a table to a file.

    Parameters
    ----------
    value
        A result of `build`, a `Judge`, `summarize`, an audit or a method such as
        ``leaderboard()``, or a list of records or dicts.
    path
        Output file; its extension determines the format.
    format : {"csv", "json", "jsonl", "parquet", ...}, optional
        Format, if not that of the extension. Formats of other tools: ``"inspect-scores"``,
        ``"otel"`` or ``"label-studio"`` for judgements, ``"nuggetbank"`` for references,
        ``"trec-run"`` for summaries (docs/interchange.md). In CSV and Parquet, nested values are
        JSON strings.

    Raises
    ------
    ConfigurationError
        If `value` or the format is not supported, or pandas and pyarrow, which Parquet requires,
        are not installed.
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> import fairjudge as fj
    >>> summaries = fj.read_summaries("summaries.jsonl")
    >>> fj.export(summaries, "summaries.csv")
    >>> len(fj.read_summaries("summaries.csv"))
    6
    """
    target = Path(path)
    name = format or target.suffix.removeprefix(".").lower()
    formats = {**_WRITERS, **TARGETS, **REFERENCE_TARGETS, **SUMMARY_TARGETS}
    if name not in formats:
        names = ", ".join(map(repr, formats))
        raise ConfigurationError(f"format: expected one of {names}, found {name!r}")
    if name in TARGETS and (judgements := _records_of_kind(Judgement, value)):
        export_judgements(judgements, target, to=name)
        return
    kind = Reference if name in REFERENCE_TARGETS else Summary
    if name not in {*_WRITERS, *TARGETS} and (records := _records_of_kind(kind, value)):
        export_records(records, target, to=name)
        return
    if name not in _WRITERS:
        expected = "judgements" if name in TARGETS else f"{kind.__name__.lower()} records"
        raise ConfigurationError(f"value: only {expected} can be written as {name!r}")
    rows = _rows(value)
    try:
        _WRITERS[name](rows, target)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path=path) from None


def _records_of_kind(kind: type[R], value: object) -> tuple[R, ...]:
    rows = tuple(value) if isinstance(value, Sequence | Loaded) else ()
    return tuple(row for row in rows if isinstance(row, kind))


def _rows(value: object) -> list[Mapping[str, Any]]:
    as_table = getattr(value, "table", None) or getattr(value, "agreements", None)
    if as_table is not None:
        value = as_table()
    if isinstance(value, Table):
        return list(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        rows = list(value)
        if all(isinstance(row, Record | Mapping) for row in rows):
            return [row.to_json() if isinstance(row, Record) else row for row in rows]
    raise ConfigurationError(
        "value: expected a result, references, summaries, findings, a table or a list of records, "
        f"found {type(value).__name__}"
    )


def _flat(rows: Rows) -> list[dict[str, Any]]:
    """Return `rows` with all columns in each row and nested values as JSON strings."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: _cell(row.get(name)) for name in names} for row in rows]


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return value


def _json(rows: Rows, path: Path) -> None:
    write_atomically(path, json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n")


def _csv(rows: Rows, path: Path) -> None:
    flat = _flat(rows)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(flat[0]) if flat else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    write_atomically(path, text.getvalue())


def _parquet(rows: Rows, path: Path) -> None:
    frame = to_pandas(_uniform_columns(_flat(rows)))
    with atomic_replacement(path) as draft, needs_extra("Parquet", extra="parquet"):
        frame.to_parquet(draft, index=False)


def _uniform_columns(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return `rows` with one type per column; columns with text and numbers become text."""
    mixed_columns = {
        name
        for name in (rows[0] if rows else ())
        if len({isinstance(row[name], str) for row in rows if row[name] is not None}) > 1
    }
    return [
        {
            name: str(cell) if name in mixed_columns and cell is not None else cell
            for name, cell in row.items()
        }
        for row in rows
    ]


_WRITERS: Mapping[str, Writer] = {
    "csv": _csv,
    "json": _json,
    "jsonl": lambda rows, path: write_jsonl(path, rows),
    "parquet": _parquet,
}
"""Writers for any records and tables; `TARGETS` has the formats of judgements."""
