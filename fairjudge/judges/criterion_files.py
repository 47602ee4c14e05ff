"""Read a custom criterion from a TOML file: an aspect with a rule, or with a prompt and a scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairjudge.domain import ProtocolName
from fairjudge.errors import InputError
from fairjudge.files import read_toml
from fairjudge.scales import load_scale

_PATHS = ("prompt", "scale")
_FIELDS = {"aspect", "rule", *_PATHS}


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionFile:
    """The content of a criterion file; its paths are relative to the file's folder.

    ``rule`` is the criterion in a few sentences. Without a ``prompt`` it is used in the released
    prompt for rules; with one it is used only when several criteria are judged together.
    """

    aspect: str
    prompt: Path | None = None
    scale: Path | None = None
    rule: str | None = None

    @property
    def single_options(self) -> dict[str, Path | str | None]:
        """Options for judging only this criterion: prompt and scale, or a rule if no prompt."""
        rule = None if self.prompt else self.rule
        return {"prompt": self.prompt, "scale": self.scale, "rule": rule}

    @property
    def protocol(self) -> ProtocolName:
        """The protocol of the scale; likert if there is none."""
        return "likert" if self.scale is None else load_scale(self.scale).protocol


def read_criterion_file(path: Path) -> CriterionFile:
    """Read ``aspect``, ``rule``, and the paths ``prompt`` and ``scale`` from the TOML file `path`.

    Either a rule, or a prompt with a scale, is required. Raises `InputError` if the file cannot be
    read, if a field is missing, unknown or not a text, or if a referenced file does not exist.
    """
    table = read_toml(path)
    for field in sorted(table.keys() - _FIELDS):
        raise InputError(f"unknown field; expected {sorted(_FIELDS)}", path=path, field=field)
    required_fields = {"aspect", *(() if "rule" in table else _PATHS)}
    for field in sorted(required_fields | table.keys()):
        if not isinstance(table.get(field), str) or not table[field].strip():
            problem = "expected a text"
            if field in _PATHS and field not in table:
                problem += ", or a 'rule' instead of prompt and scale"
            raise InputError(problem, path=path, field=field)
    paths = {field: path.parent / table[field] for field in _PATHS if field in table}
    for field, file in paths.items():
        if not file.is_file():
            raise InputError(f"there is no file {table[field]!r}", path=path, field=field)
    if "prompt" in paths and "scale" not in paths:
        raise InputError("a custom prompt also requires a scale", path=path, field="scale")
    return CriterionFile(aspect=table["aspect"], rule=table.get("rule"), **paths)
