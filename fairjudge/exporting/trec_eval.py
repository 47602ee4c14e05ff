"""A leaderboard in trec_eval's format: ``run measure topic value``; topic ``all`` is the mean.

Source: PyPI ``autojudge-base`` 1.0.0, ``leaderboard/leaderboard.py`` (format ``tot``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

from fairjudge.domain import Judgement
from fairjudge.errors import InputError
from fairjudge.exporting.targets import ExportResult, Request

ALL = "all"


def write(request: Request) -> tuple[Iterator[bytes], ExportResult]:
    """Return one line per system, measure and cluster, and one for the mean over clusters.

    A measure's name is its aspect, with protocol, unit kind or judge if there are several.
    Judgements of one system and cluster, such as repeats and parts, are averaged.
    """
    rows = request.judgements
    if any(row.system is None for row in rows):
        raise InputError("a leaderboard has one score per system; these are judgements of pairs")
    scored_rows = [row for row in rows if isinstance(row.value, int | float)]
    names = _measures(scored_rows)
    values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, name in zip(scored_rows, names, strict=True):
        values[str(row.system), name][row.eid].append(float(row.value or 0))
    lines = [
        line
        for (system, name), topics in sorted(values.items())
        for line in _lines(system, name, {eid: fmean(scores) for eid, scores in topics.items()})
    ]
    result = ExportResult(n_rows=len(lines), n_left_out=len(rows) - len(scored_rows))
    return map(str.encode, lines), result


def _lines(system: str, measure: str, topics: dict[str, float]) -> Iterator[str]:
    if ALL in topics:
        raise InputError(f"a leaderboard's topic {ALL!r} is the mean; rename the cluster")
    for name in (system, measure, *topics):
        if not name.split() == [name]:
            raise InputError(f"trec_eval's format allows no spaces; rename {name!r}")
    for eid, value in {**topics, ALL: fmean(topics.values())}.items():
        yield f"{system}\t{measure}\t{eid}\t{value!r}\n"


def _measures(rows: Sequence[Judgement]) -> list[str]:
    """Return each row's measure name: its aspect, with further fields if needed to be unique."""
    parts = [(row.aspect, row.protocol, _kind(row.unit), row.judge) for row in rows]
    distinct = defaultdict[tuple[str, int], set[str]](set)
    for key in parts:
        for index, part in enumerate(key):
            distinct[key[0], index].add(part)
    return [
        "-".join(
            "_".join(part.split())
            for index, part in enumerate(key)
            if index == 0 or len(distinct[key[0], index]) > 1
        )
        for key in parts
    ]


def _kind(unit: str) -> str:
    """Return the kind of a unit, without its index; units of other tools are parts."""
    kind, colon, _ = unit.partition(":")
    return kind if colon or unit == "summary" else "part"
