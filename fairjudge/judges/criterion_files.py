"""A criterion of one's own from one small TOML file: aspect, prompt and scale, no code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairjudge.errors import InputError
from fairjudge.files import read_toml

_NEEDED = {"aspect", "prompt", "scale"}
_FIELDS = _NEEDED | {"rule"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionFile:
    """What the file names; both paths are taken from the file's own folder.

    ``rule`` says in a few sentences what is asked, for judging it together with others.
    """

    aspect: str
    prompt: Path
    scale: Path
    rule: str | None = None


def read_criterion_file(path: Path) -> CriterionFile:
    """Read ``aspect``, ``prompt`` (a template) and ``scale`` (a scale's TOML) from `path`.

    ``rule`` may be missing. `InputError` where the file cannot be read, a field is missing, unknown
    or no text, or a file is not there.
    """
    found = read_toml(path)
    for field in sorted(found.keys() - _FIELDS):
        raise InputError(f"unknown field; known are {sorted(_FIELDS)}", path=path, field=field)
    for field in sorted(_NEEDED | found.keys()):
        if not isinstance(found.get(field), str) or not found[field].strip():
            raise InputError("expected a text", path=path, field=field)
    for field in ("prompt", "scale"):
        if not (path.parent / found[field]).is_file():
            raise InputError(f"there is no file {found[field]!r}", path=path, field=field)
    return CriterionFile(
        aspect=found["aspect"],
        prompt=path.parent / found["prompt"],
        scale=path.parent / found["scale"],
        rule=found.get("rule"),
    )
