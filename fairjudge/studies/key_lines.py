"""Line numbers and names of the keys of a study file, for error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""Names of tables and keys, outermost first; tables of an array have 0-based indices."""

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


def find_line(text: str, key_path: Sequence[str | int]) -> int | None:
    """Return the 1-based line of the key at `place`, or else of the innermost table around it.

    None if the file has neither.
    """
    lines = dict(_key_lines(text))
    prefix = tuple(key_path)
    while prefix and prefix not in lines:
        prefix = prefix[:-1]
    return lines.get(prefix)


def _key_lines(text: str) -> Iterator[tuple[KeyPath, int]]:
    table: KeyPath = ()
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


def find_message_line(message: str, file_text: str) -> int | None:
    """Return the line of the key in a message such as ``"[[judge]] who: no option 'x'"``.

    Without a key of the table in the message, the line of the table's header; None if the message
    does not begin with a table, or several tables match.
    """
    match = _TABLE.match(message)
    if match is None:
        return None
    kind, number, name, text_after_table = match.groups()
    lines, tables = file_text.splitlines(), dict[KeyPath, list[tuple[str, int]]]()
    for key_path, line in _key_lines(file_text):
        if (line_of_header := _HEADER.match(lines[line - 1])) is not None:
            if line_of_header[2] == kind:
                tables[key_path] = [("", line)]
        elif key_path[:-1] in tables:
            tables[key_path[:-1]].append((str(key_path[-1]), line))
    candidates = list(tables.values())
    if number is not None:
        candidates = candidates[int(number) - 1 : int(number)]
    elif name is not None and len(candidates) > 1:
        candidates = [
            keys for keys in candidates if any(f'"{name}"' in lines[line - 1] for _, line in keys)
        ]
    if len(candidates) != 1:
        return None
    (_, header), *keys = candidates[0]
    words = re.findall(r"[\w.-]+", text_after_table)
    return next((line for word in words for key, line in keys if key == word), header)


def flags_to_keys(message: str) -> str:
    """Replace command-line flags in `message` by keys of a study file."""
    message = _IN_PYTHON.sub("", message)
    return _FLAG.sub(lambda flag: _KEYS.get(flag[0]) or flag[0][2:].replace("-", "_"), message)
