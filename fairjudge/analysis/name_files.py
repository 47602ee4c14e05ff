"""Read the names and words of bias measures: the census, name and word lists."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from fairjudge.bias.assignments import NameList, Names
from fairjudge.bias.forms import Gender
from fairjudge.datasets._source import read_bytes, read_json
from fairjudge.errors import InputError, error_location

CENSUS_FILES: Mapping[Gender, str] = {"female": "dist.female.first", "male": "dist.male.first"}
"""File names of the 1990 US census by gender, in the order of the report."""


def read_census(folder: str | Path) -> dict[str, dict[str, float]]:
    """Read the 1990 census' first names: maps gender to capitalised name to percent."""
    return {gender: _frequencies(Path(folder) / file) for gender, file in CENSUS_FILES.items()}


def popular_names(census: Mapping[str, Mapping[str, float]], n: int) -> Names:
    """Return the `n` most frequent names of each gender that are rare for the other gender.

    Rare is at most half as frequent, as in the classification of names.
    """
    lists = []
    for gender, names in census.items():
        other_lists = [other for key, other in census.items() if key != gender]
        clear_names = tuple(
            name
            for name, frequency in sorted(names.items(), key=lambda pair: (-pair[1], pair[0]))
            if all(frequency >= 2.0 * other.get(name, 0.0) for other in other_lists)
        )
        lists.append(
            NameList(group=gender, gender=cast("Gender", gender), first_names=clear_names[:n])
        )
    return Names(lists)


def read_name_lists(path: str | Path) -> Names:
    """Read name lists: ``[{"group", "gender", "first_names": [...], "last_names"?: [...]}]``."""
    value = read_json(path)
    if not isinstance(value, list):
        raise InputError("expected a list of name lists", path=path)
    with error_location(path=path):
        return Names([_name_list(entry, place) for place, entry in enumerate(value)])


def read_word_lists(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read word lists: ``{"<group>": ["word", ...], ...}``."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError("expected an object of group names and word lists", path=path)
    return {group: _strings(words, str(group), path) for group, words in value.items()}


def read_lookup(path: str | Path) -> dict[str, str]:
    """Read the groups of known people: ``{"<full name>": "<group>", ...}``."""
    value = read_json(path)
    if not isinstance(value, dict) or not all(isinstance(group, str) for group in value.values()):
        raise InputError("expected an object of full names and groups", path=path)
    return value


def _frequencies(path: Path) -> dict[str, float]:
    frequencies: dict[str, float] = {}
    for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), 1):
        columns = line.split()
        if not columns:
            continue
        try:
            name, frequency = columns[0], float(columns[1])
        except (IndexError, ValueError):
            raise InputError(
                "expected a name and its frequency, as in the census' files", path=path, line=number
            ) from None
        frequencies[name.capitalize()] = frequency
    return frequencies


def _name_list(entry: Any, index: int) -> NameList:
    field = f"list {index + 1}"
    if not isinstance(entry, dict) or not isinstance(entry.get("group"), str):
        raise InputError("expected an object with 'group' and 'first_names'", field=field)
    if entry.get("gender") not in ("female", "male"):
        raise InputError("expected 'gender' to be 'female' or 'male'", field=field)
    return NameList(
        group=entry["group"],
        gender=entry["gender"],
        first_names=_strings(entry.get("first_names"), f"{field}.first_names"),
        last_names=_strings(entry.get("last_names", []), f"{field}.last_names"),
    )


def _strings(value: Any, field: str, path: str | Path | None = None) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InputError("expected a list of strings", path=path, field=field)
    return tuple(value)
