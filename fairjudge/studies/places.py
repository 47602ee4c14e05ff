"""Lines and names of the keys of a study file, for error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""Names of tables and keys from the outermost; tables of an array are counted from 0."""

_HEADER = re.compile(r"\s*(\[{1,2})\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
_TABLE = re.compile(r"\[{1,2}([\w.-]+)\]{1,2}(?: number (\d+)| ([\w.-]+))?(.*)", re.DOTALL)
_KEY = re.compile(r"""\s*(["']?)([\w.-]+)\1\s*=""")

_FLAG = re.compile(r"--backend(?: provider:model)?|--[a-z][a-z-]+")
_IN_PYTHON = re.compile(r" \([^()]* in Python\)")
_KEYS = {
    "--backend provider:model": "model, the name of a [models] table",
    "--backend": "model",
    "--fair": "fair_attribute",
}


def line_of(text: str, place: Sequence[str | int]) -> int | None:
    """Return the line, from 1, of the key at `place`, or of the table nearest to it.

    None where neither has a line of its own.
    """
    lines = dict(_places(text))
    key = tuple(place)
    while key and key not in lines:
        key = key[:-1]
    return lines.get(key)


def _places(text: str) -> Iterator[tuple[Place, int]]:
    table: Place = ()
    n_tables: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            name = header[2]
            table = tuple(part.strip(" \"'") for part in name.split("."))
            if header[1] == "[[":
                table = (*table, n_tables.get(name, 0))
                n_tables[name] = n_tables.get(name, 0) + 1
            yield table, number
        elif key := _KEY.match(line):
            yield (*table, *key[2].split(".")), number


def line_named_in(message: str, text: str) -> int | None:
    """Return the line that a message such as ``"[[judge]] who: no option 'x'"`` is about.

    That is the line of the first key of the table that the message names, else of the table.
    """
    match = _TABLE.match(message)
    if match is None:
        return None
    kind, number, name, location = match.groups()
    lines, tables = text.splitlines(), dict[Place, list[tuple[str, int]]]()
    for place, line in _places(text):
        if (line_of_header := _HEADER.match(lines[line - 1])) is not None:
            if line_of_header[2] == kind:
                tables[place] = [("", line)]
        elif place[:-1] in tables:
            tables[place[:-1]].append((str(place[-1]), line))
    candidates = list(tables.values())
    if number is not None:
        candidates = candidates[int(number) - 1 : int(number)]
    elif name is not None and len(candidates) > 1:
        candidates = [
            keys for keys in candidates if any(f'"{name}"' in lines[at - 1] for _, at in keys)
        ]
    if len(candidates) != 1:
        return None
    (_, header), *keys = candidates[0]
    words = re.findall(r"[\w.-]+", location)
    return next((line for word in words for key, line in keys if key == word), header)


def in_keys(message: str) -> str:
    """Return `message` with keys of a study file for the flags of a command line."""
    short = _IN_PYTHON.sub("", message)
    return _FLAG.sub(lambda flag: _KEYS.get(flag[0]) or flag[0][2:].replace("-", "_"), short)
