"""Read a custom criterion from a TOML file: aspect, prompt and scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairjudge.errors import InputError
from fairjudge.files import read_toml

_NEEDED = {"aspect", "prompt", "scale"}
_FIELDS = _NEEDED | {"rule"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionFile:
    """The content of a criterion file; its paths are relative to the file's folder.

    ``rule`` states the criterion in a few sentences, for judging it together with others.
    """

    aspect: str
    prompt: Path
    scale: Path
    rule: str | None = None


def read_criterion_file(path: Path) -> CriterionFile:
    """Read ``aspect``, ``prompt`` (a template) and ``scale`` (a scale's TOML) from `path`.

    ``rule`` is optional. Raises `InputError` if the file cannot be read, if a field is missing,
    unknown or not a text, or if a named file does not exist.
    """
    table = read_toml(path)
    for field in sorted(table.keys() - _FIELDS):
        raise InputError(f"unknown field; known are {sorted(_FIELDS)}", path=path, field=field)
    for field in sorted(_NEEDED | table.keys()):
        if not isinstance(table.get(field), str) or not table[field].strip():
            raise InputError("expected a text", path=path, field=field)
    for field in ("prompt", "scale"):
        if not (path.parent / table[field]).is_file():
            raise InputError(f"there is no file {table[field]!r}", path=path, field=field)
    return CriterionFile(
        aspect=table["aspect"],
        prompt=path.parent / table["prompt"],
        scale=path.parent / table["scale"],
        rule=table.get("rule"),
    )
