"""REALSumm and PyrXSum: human labels of the reference's units in each summary.

Source: ZhangShiyue/Lite2-3Pyramid, ``data/*``: a folder with ``SCUs.txt`` (one document per line,
its units separated by tabs), ``labels/<system>.label`` (1 or 0 per unit), and optional ``ids.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fairjudge.datasets._source import read_lines
from fairjudge.errors import InputError
from fairjudge.importing.records import Entry, Skipped, make_label
from fairjudge.importing.sources import Source
from fairjudge.text.counting import pluralize

_UNITS, _LABELS, _IDS = "SCUs.txt", "labels", "ids.txt"
_VALUES = {"0": 0, "1": 1}


def recognises(source: Source) -> bool:
    """Return whether the folder has units and labels."""
    return (source.path / _UNITS).is_file() and (source.path / _LABELS).is_dir()


def read(source: Source) -> Iterator[Entry]:
    """Yield each label; ``unit`` is ``scu:<i>``, from 0, and ``text`` the text of the unit."""
    folder = source.path
    units = [line.split("\t") for line in read_lines(folder / _UNITS)]
    eids = _eids(folder, len(units))
    for path in sorted((folder / _LABELS).glob("*.label")):
        rows = read_lines(path)
        if len(rows) != len(units):
            n_documents = pluralize(len(units), "document")
            problem = f"expected {n_documents} as in {_UNITS}, found {len(rows)}"
            raise InputError(problem, path=path)
        for line, (eid, row, document_units) in enumerate(zip(eids, rows, units, strict=True), 1):
            marks = row.split("\t")
            try:
                _check(marks, document_units)
                labels = [
                    make_label(
                        eid=eid,
                        system=path.stem,
                        aspect="coverage",
                        unit=f"scu:{number}",
                        annotator="people",
                        value=_VALUES[mark],
                        text=words,
                    )
                    for number, (mark, words) in enumerate(zip(marks, document_units, strict=True))
                ]
            except InputError as error:
                if not source.skip_bad:
                    raise InputError(error.problem, path=path, line=line) from None
                yield Skipped(line=line, why=f"{path.name}: {error.problem}")
                continue
            yield from labels


def _check(marks: Sequence[str], units: Sequence[str]) -> None:
    if len(marks) != len(units):
        raise InputError(f"expected {pluralize(len(units), 'label')}, found {len(marks)}")
    invalid_mark = next((mark for mark in marks if mark not in _VALUES), None)
    if invalid_mark is not None:
        raise InputError(f"expected 0 or 1, not {invalid_mark[:20]!r}")


def _eids(folder: Path, n_documents: int) -> list[str]:
    if not (folder / _IDS).is_file():
        return [str(number) for number in range(n_documents)]
    eids = read_lines(folder / _IDS)
    if len(eids) != n_documents or len({*eids}) != n_documents or not all(eids):
        raise InputError(
            f"expected {n_documents} distinct ids, one per line of {_UNITS}", path=folder / _IDS
        )
    return eids
