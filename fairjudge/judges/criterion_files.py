"""Read a custom criterion from a TOML file: aspect, and a rule or a prompt and its scale."""

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

    ``rule`` states the criterion in a few sentences. Beside a ``prompt`` it serves to judge the
    criterion together with others; without one, the released prompt for rules has it.
    """

    aspect: str
    prompt: Path | None = None
    scale: Path | None = None
    rule: str | None = None

    @property
    def alone(self) -> dict[str, Path | str | None]:
        """Options by which it is judged alone: prompt and scale, or the rule without a prompt."""
        rule = None if self.prompt else self.rule
        return {"prompt": self.prompt, "scale": self.scale, "rule": rule}

    @property
    def protocol(self) -> ProtocolName:
        """The protocol of its scale; without one, likert."""
        return "likert" if self.scale is None else load_scale(self.scale).protocol


def read_criterion_file(path: Path) -> CriterionFile:
    """Read ``aspect``, ``rule``, and the paths ``prompt`` and ``scale`` from the TOML file `path`.

    A rule suffices, and so are prompt and scale. Raises `InputError` if the file cannot be read,
    if a field is missing, unknown or not a text, or if a named file does not exist.
    """
    table = read_toml(path)
    for field in sorted(table.keys() - _FIELDS):
        raise InputError(f"unknown field; known are {sorted(_FIELDS)}", path=path, field=field)
    needed = {"aspect", *(() if "rule" in table else _PATHS)}
    for field in sorted(needed | table.keys()):
        if not isinstance(table.get(field), str) or not table[field].strip():
            problem = "expected a text"
            if field in _PATHS and field not in table:
                problem += ", or a 'rule' in place of prompt and scale"
            raise InputError(problem, path=path, field=field)
    paths = {field: path.parent / table[field] for field in _PATHS if field in table}
    for field, file in paths.items():
        if not file.is_file():
            raise InputError(f"there is no file {table[field]!r}", path=path, field=field)
    if "prompt" in paths and "scale" not in paths:
        raise InputError("a prompt of your own needs a scale beside it", path=path, field="scale")
    return CriterionFile(aspect=table["aspect"], rule=table.get("rule"), **paths)
