"""Export targets: the formats that judgements, references and summaries can be written in."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from fairjudge.datasets.writers import write_bytes
from fairjudge.domain import (
    AnswerGroup,
    Judgement,
    Record,
    Reference,
    Summary,
    replace_lone_surrogates,
)
from fairjudge.errors import InputError

TARGETS = {
    "csv": "flat:write_csv",
    "parquet": "flat:write_parquet",
    "inspect-scores": "inspect_scores:write",
    "otel": "otel:write",
    "label-studio": "label_studio:write",
    "trec-eval": "trec_eval:write",
    "nuggetizer-assignments": "nuggetizer:write_assignments",
}
"""Name of a target to the function that writes judgements, ``"module:function"``."""
REFERENCE_TARGETS = {
    "nuggetbank": "nuggetbank:write",
    "nuggetizer": "nuggetizer:write",
    "argkp": "argkp:write",
}
SUMMARY_TARGETS = {"trec-run": "trec_run:write"}
"""The same for references and for summaries."""
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Input of an export; ``texts`` maps (eid, system) to a summary's text."""

    judgements: Sequence[Judgement]
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    references: dict[str, Reference] = field(default_factory=dict)
    observed_unix_nano: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    """Result of an export; the format cannot represent ``n_left_out`` judgements."""

    n_rows: int
    n_left_out: int = 0


Writer: TypeAlias = Callable[[Request], tuple[Iterable[bytes], ExportResult]]
"""Returns the file's content in parts, and the counts of rows."""


def export_judgements(
    judgements: Iterable[Judgement],
    path: str | Path,
    *,
    to: str,
    summaries: Iterable[Summary] = (),
    references: Iterable[Reference] = (),
    observed_unix_nano: int = 0,
) -> ExportResult:
    """Write judgements for another tool.

    Parameters
    ----------
    judgements : iterable of Judgement
        At least one.
    path : str or Path
        The file to write; ``.gz`` compresses it (except Parquet), ``-`` is standard output.
    to : str
        One of `TARGETS`.
    summaries : iterable of Summary
        For Label Studio and nuggetizer: the judged texts.
    references : iterable of Reference
        For nuggetizer's assignments: the groups that checklists refer to.
    observed_unix_nano : int
        For OpenTelemetry: time of the events in nanoseconds since 1970; 0 if unknown.

    Returns
    -------
    ExportResult
        Number of rows written, and of judgements that the format cannot represent.

    Raises
    ------
    InputError
        If the target is unknown, there are no judgements, the format cannot represent them or the
        path cannot be written to.
    MissingExtraError
        If the target is Parquet and pyarrow is not installed.
    """
    if to not in TARGETS:
        raise InputError(f"no target {to!r}; choose from {', '.join(TARGETS)}", field="--to")
    rows = tuple(judgements)
    if not rows:
        raise InputError("there are no judgements to export")
    request = Request(
        judgements=rows,
        texts={(summary.eid, summary.system): summary.text for summary in summaries},
        references={reference.eid: reference for reference in references},
        observed_unix_nano=observed_unix_nano,
    )
    writer: Writer = _function(TARGETS[to])
    parts, result = writer(request)
    write_bytes(path, parts)
    return result


def export_records(records: Iterable[R], path: str | Path, *, to: str) -> ExportResult:
    """Write references, or summaries, for another tool.

    Parameters
    ----------
    records
        References, or summaries.
    path
        The file to write, as in `export_judgements`.
    to
        One of `REFERENCE_TARGETS` or `SUMMARY_TARGETS`.

    Raises
    ------
    InputError
        If the format cannot represent the records, or the path cannot be written to.
    """
    writer: Callable[[Sequence[R]], tuple[Iterable[bytes], ExportResult]]
    writer = _function({**REFERENCE_TARGETS, **SUMMARY_TARGETS}[to])
    parts, result = writer(tuple(records))
    write_bytes(path, parts)
    return result


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(f"fairjudge.exporting.{module}"), function)


def csv_line(cells: Iterable[Any]) -> bytes:
    """Return a line of CSV in UTF-8; None is an empty cell."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(map(replace_lone_surrogates, cells))
    return text.getvalue().encode()


def group_text(group: AnswerGroup) -> str:
    """Return the text of a group of answers: its label, or else its first answer."""
    return group.label or next((answer.answer for answer in group.answers), "")


def extra_text(judgement: Judgement, name: str) -> str | None:
    """Return an extra field of a judgement, or None if it is empty or not a string."""
    value = (judgement.model_extra or {}).get(name)
    return value if isinstance(value, str) and value else None


def select(
    judgements: Iterable[Judgement],
    *,
    aspect: str | None = None,
    system: str | None = None,
    judge: str | None = None,
) -> Iterator[Judgement]:
    """Yield the judgements of an aspect, a system (either of a pair) and a judge; None for all."""
    for judgement in judgements:
        systems = {judgement.system, judgement.system_a, judgement.system_b}
        if (
            (aspect is None or judgement.aspect == aspect)
            and (system is None or system in systems)
            and (judge is None or judgement.judge == judge)
        ):
            yield judgement
