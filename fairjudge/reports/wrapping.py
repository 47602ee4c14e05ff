"""Lines of a table's cell: breaks stand between words, never within an interval or a percentage."""

from __future__ import annotations

import re

_BOUND = r"[-+]?(?:[\d.,]*\d|inf)"
_INTERVAL = rf"\[{_BOUND}, {_BOUND}\]\S*"
_VALUE = rf"{_BOUND}(?: %)?"
_COMPARED = rf"(?:=|<=?|>=?) {_VALUE}\S*"
_SHARE = rf"\(?{_VALUE}(?: \({_BOUND}-{_BOUND}\))?\S*"
_PARTS = re.compile(rf"{_COMPARED}|{_INTERVAL}|{_SHARE}|\S+")
_UNITS = re.compile(rf"(?:\S+ )?{_COMPARED}|(?:{_VALUE} )?{_INTERVAL}|{_SHARE}|\S+")
_BOUNDS = re.compile(rf"{_BOUND}, {_BOUND}")


def pieces(cell: str, *, is_number: bool) -> list[str]:
    """Return what no line may break: words, and figures with their units and intervals.

    A column of numbers may have a value and its interval on two lines.
    """
    if _BOUNDS.fullmatch(cell):
        return [cell]
    return (_PARTS if is_number else _UNITS).findall(cell)


def wrapped(cell: str, width: int, *, is_number: bool) -> str:
    """Return `cell` in lines of at most `width` columns of a terminal, longer pieces whole."""
    from rich.cells import cell_len

    lines: list[str] = []
    for paragraph in cell.splitlines():
        line = ""
        for piece in pieces(paragraph, is_number=is_number):
            longer = f"{line} {piece}" if line else piece
            if line and cell_len(longer) > width:
                lines.append(line)
                longer = piece
            line = longer
        lines.append(line)
    return "\n".join(lines)
