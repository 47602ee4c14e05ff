"""Scales: the possible answers of a judge, the instruction how to answer, and the values.

A scale contains everything that depends on the set of answers: the instruction in the prompt, the
JSON schema of the reply, the tokens that identify an answer, and its value. Replies are parsed by
`fairjudge.parsing`.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from fairjudge.domain import Order, ProtocolName, Verdict
from fairjudge.errors import InputError, error_location
from fairjudge.files import read_toml
from fairjudge.ports import Question
from fairjudge.prompting import json_object

Position: TypeAlias = Literal["first", "second", "tie"]
"""A pairwise verdict in terms of the first and second summary in the prompt."""
ScaleKind: TypeAlias = Literal["number", "choice", "pair"]

_SURROUNDING_CHARACTERS = " \t\r\n\"'`*_.,:;()[]{}<>▁ĠĊ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One answer of a scale: its text, value and meaning.

    ``value`` is a number, or a position on a pairwise scale. ``aliases`` are other words that
    are parsed as this answer.
    """

    answer: str
    value: float | Position
    anchor: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A closed set of answers, in ascending order of value; hashable.

    By ``kind``, answers are numbers, words (or letters) with numeric values, or positions. There
    are two or more levels; those of a pair are ``first``, ``second`` and optionally ``tie``.
    ``fractions`` is whether a number between two levels (3.5 on 1 to 5) is accepted; otherwise it
    is off the scale. Numbers are never rounded. ``instruction`` replaces the generated first
    sentence of `prompt_line`.

    `InputError`, with the field, for fewer than two levels, a duplicate answer or alias, and values
    that do not ascend or do not fit the kind.
    """

    name: str
    kind: ScaleKind
    levels: tuple[Level, ...]
    fractions: bool = False
    instruction: str = ""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def label(self) -> str:
        """The name with a hash of the whole scale, for signatures."""
        return f"{self.name}@{hashlib.sha256(repr(self).encode()).hexdigest()[:8]}"

    @property
    def answers(self) -> tuple[str, ...]:
        """The canonical answers, in order."""
        return tuple(level.answer for level in self.levels)

    @property
    def protocol(self) -> ProtocolName:
        """The protocol of judgements on this scale."""
        if self.kind == "pair":
            return "pairwise"
        return "binary" if {level.value for level in self.levels} == {0.0, 1.0} else "likert"

    @property
    def answer_lines(self) -> str:
        """The possible answers: one sentence, then one line per level with a description."""
        lines = [self.instruction or _instruction(self)]
        lines += [f"- {level.answer}: {level.anchor}" for level in self.levels if level.anchor]
        return "\n".join(lines)

    @property
    def prompt_line(self) -> str:
        """The instruction how to answer: the possible answers, then the JSON form."""
        return f"{self.answer_lines}\n{_FORM}"

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of a reply: first the reasoning, then the verdict, one of the answers."""
        verdict = {"type": "string", "enum": list(self.answers)}
        return json_object({"reasoning": {"type": "string"}, "verdict": verdict})

    @property
    def nullable_schema(self) -> dict[str, Any]:
        """`schema` with a verdict that may be null."""
        verdict = {"type": ["string", "null"], "enum": [*self.answers, None]}
        return json_object({"reasoning": {"type": "string"}, "verdict": verdict})

    @property
    def has_distinct_first_tokens(self) -> bool:
        """Whether the first token of each answer identifies it.

        False if one answer is a prefix of another, as "1" is of "10".
        """
        words = [answer.casefold() for answer in self.answers]
        pairs = itertools.permutations(words, 2)
        return not any(longer.startswith(shorter) for longer, shorter in pairs)

    def answer_of_token(self, token: str) -> str | None:
        """Return the answer that a token equals or is a prefix of, or None.

        Surrounding white space, quotes and brackets are ignored. A prefix must have at least two
        characters and must not be shared with another answer.
        """
        bare = token.strip(_SURROUNDING_CHARACTERS).casefold()
        if not bare:
            return None
        words = {w.casefold(): lv.answer for lv in self.levels for w in (lv.answer, *lv.aliases)}
        if bare in words:
            return words[bare]
        candidates = {answer for word, answer in words.items() if word.startswith(bare)}
        return candidates.pop() if len(bare) > 1 and len(candidates) == 1 else None

    def question(self, name: str, text: str) -> Question:
        """Return the question to a decision model whose options are the answers of this scale."""
        kind: Literal["predicate", "choice", "score"] = "choice"
        if self.kind == "number":
            kind = "score"
        elif set(self.answers) == {"yes", "no"}:
            kind = "predicate"
        descriptions = {level.answer: level.anchor or level.answer for level in self.levels}
        return Question(name=name, kind=kind, text=text, options=descriptions)


REPLY_FORM = "json"
"""The reply format that `Scale.prompt_line` requests; part of signatures."""
_FORM = (
    'Reply with JSON alone: {"reasoning": "...", "verdict": "..."}. "reasoning" gives your reasons '
    'in a few sentences; "verdict" is your answer alone, one of those above, in quotation marks.'
)


def _instruction(scale: Scale) -> str:
    if scale.kind == "number":
        low, high = scale.answers[0], scale.answers[-1]
        return f"Answer with one whole number from {low} (lowest) to {high} (highest)."
    *first, last = (f'"{answer}"' for answer in scale.answers)
    return f"Answer with {', '.join(first)} or {last}."


def _check(scale: Scale) -> None:
    if len(scale.levels) < 2:
        raise InputError("a scale needs two or more levels", field="levels")
    _check_words_are_unique(scale.levels)
    values = [level.value for level in scale.levels]
    if scale.kind == "pair":
        if sorted(map(str, values)) not in (["first", "second"], ["first", "second", "tie"]):
            raise InputError(
                f'expected the values "first", "second" and "tie" once each, not {values!r}',
                field="levels.value",
            )
        return
    numbers = [value for value in values if isinstance(value, int | float)]
    is_ascending = all(low < high for low, high in itertools.pairwise(numbers))
    if len(numbers) < len(values) or not is_ascending:
        raise InputError(f"expected ascending numbers, not {values!r}", field="levels.value")
    for level in scale.levels if scale.kind == "number" else ():
        number = re.fullmatch(r"-?\d{1,6}(\.\d{1,6})?", level.answer, re.ASCII)
        if number is None or float(level.answer) != level.value:
            raise InputError(
                f"answer {level.answer!r} of a number scale must be its value {level.value!r}",
                field="levels.answer",
            )


def _check_words_are_unique(levels: tuple[Level, ...]) -> None:
    values: set[str] = set()
    for level in levels:
        for word in {level.answer.casefold(), *(alias.casefold() for alias in level.aliases)}:
            if not word.strip() or word in values:
                raise InputError(f"{word!r} is empty or belongs to two answers", field="levels")
            values.add(word)


def verdict_from_lead(lead: float, margin: float) -> Verdict:
    """Return "a" if `lead` >= `margin`, "b" if `lead` <= -`margin`, else "tie"."""
    if abs(lead) < margin:
        return "tie"
    return "a" if lead > 0 else "b"


NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip
LIKERT_ANCHORS = (
    "does not meet the criterion at all",
    "meets it in small part",
    "meets it in about half",
    "meets it for the most part",
    "meets it fully",
)


def likert(
    anchors: Sequence[str] = LIKERT_ANCHORS, *, low: int = 1, fractions: bool = True
) -> Scale:
    """Return a number scale from `low` upwards, with one level per anchor.

    Some judges answer "3.5" despite the instruction; with `fractions` such numbers are accepted.
    """
    levels = tuple(
        Level(
            answer=str(number),
            value=float(number),
            anchor=anchor,
            aliases=NUMBER_WORDS[number : number + 1],
        )
        for number, anchor in enumerate(anchors, low)
    )
    name = f"likert-{low}-{low + len(levels) - 1}"
    return Scale(name=name, kind="number", levels=levels, fractions=fractions)


def stars(n: int = 5) -> Scale:
    """Return a number scale of 1 to `n` stars; "Four stars" and star symbols are parsed too."""
    scale = likert([""] * n)
    return replace(
        scale, name=f"stars-{n}", instruction=f"Answer with a number of stars, 1 to {n}."
    )


def binary(*, yes: str = "", no: str = "") -> Scale:
    """Return the scale of yes (1) and no (0), with a description of each."""
    return Scale(
        name="binary",
        kind="choice",
        levels=(
            Level(answer="no", value=0.0, anchor=no, aliases=("false", "0")),
            Level(answer="yes", value=1.0, anchor=yes, aliases=("true", "1")),
        ),
    )


def options(answers: Sequence[str], *, anchors: Sequence[str] = ()) -> Scale:
    """Return a scale of letters or words with values 1 to n, in ascending order."""
    descriptions = [*anchors, *[""] * (len(answers) - len(anchors))]
    levels = tuple(
        Level(answer=answer, value=float(value), anchor=anchor)
        for value, (answer, anchor) in enumerate(zip(answers, descriptions, strict=True), 1)
    )
    return Scale(name=f"options-{'-'.join(answers)}", kind="choice", levels=levels)


def pairwise(
    answers: Sequence[str] = ("1", "2", "tie"), *, tie: str = "neither is better"
) -> Scale:
    """Return a pairwise scale: first, second and optionally tie, described by `tie`.

    1 and A, 2 and B, and C and "tie" are aliases of each other unless another answer uses them.
    """
    kinds: tuple[tuple[Position, str, tuple[str, ...]], ...] = (
        ("first", "the first summary is better", ("1", "A", "first")),
        ("second", "the second summary is better", ("2", "B", "second")),
        ("tie", tie, ("tie", "C")),
    )
    words = {answer.casefold() for answer in answers}
    levels = tuple(
        Level(
            answer=answer,
            value=position,
            anchor=anchor,
            aliases=tuple(word for word in aliases if word.casefold() not in words),
        )
        for answer, (position, anchor, aliases) in zip(answers, kinds, strict=False)
    )
    return Scale(name=f"pairwise-{'-'.join(answers)}", kind="pair", levels=levels)


def to_verdict(position: Position, order: Order) -> Verdict:
    """Convert a position in the prompt to a verdict on ``system_a`` and ``system_b``."""
    if position == "tie":
        return "tie"
    return "a" if (position == "first") == (order == "ab") else "b"


_REQUIRED = object()
_SCALE_FIELDS: Mapping[str, tuple[type, object]] = {
    "levels": (list, _REQUIRED),
    "kind": (str, _REQUIRED),
    "name": (str, _REQUIRED),
    "fractions": (bool, False),
    "instruction": (str, ""),
}
"""The type and the default of each field of a scale's file."""
_LEVEL_FIELDS: Mapping[str, tuple[type, object]] = {
    "aliases": (list, []),
    "answer": (str, _REQUIRED),
    "value": (object, None),
    "anchor": (str, ""),
}


def load_scale(path: str | Path) -> Scale:
    """Read a scale from a small TOML file.

    Fields: ``name``, ``kind`` ("number", "choice" or "pair"), optional ``fractions`` and
    ``instruction``, and one ``[[levels]]`` table per answer with ``answer``, ``value`` and
    optional ``anchor`` and ``aliases``. `InputError`, with file and field, if the file cannot be
    read, is not TOML, or has an invalid field.
    """
    with error_location(path=path):
        return _from_toml(read_toml(Path(path)))


def _from_toml(data: Mapping[str, Any]) -> Scale:
    fields = _read_fields(data, _SCALE_FIELDS, prefix="")
    if fields["kind"] not in get_args(ScaleKind):
        raise InputError(
            f'expected "number", "choice" or "pair", not {fields["kind"]!r}', field="kind"
        )
    levels = tuple(_level(table, number) for number, table in enumerate(fields["levels"], 1))
    return Scale(**{**fields, "levels": levels})


def _level(table: object, number: int) -> Level:
    prefix = f"levels[{number}]."
    if not isinstance(table, Mapping):
        raise InputError("expected a [[levels]] table", field=f"levels[{number}]")
    fields = _read_fields(table, _LEVEL_FIELDS, prefix=prefix)
    if not all(isinstance(alias, str) for alias in fields["aliases"]):
        raise InputError("expected a list of strings", field=f"{prefix}aliases")
    value = _value(fields["value"], field=f"{prefix}value")
    return Level(**{**fields, "value": value, "aliases": tuple(fields["aliases"])})


def _value(value: object, *, field: str) -> float | Position:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    if value in get_args(Position):
        return cast("Position", value)
    raise InputError(f'expected a number, "first", "second" or "tie", not {value!r}', field=field)


def _read_fields(
    table: Mapping[str, Any], fields: Mapping[str, tuple[type, object]], *, prefix: str
) -> dict[str, Any]:
    """Return the `fields` of `table` with defaults, after checking their types."""
    for field in sorted(table.keys() - fields):
        raise InputError(f"unknown field; expected one of {sorted(fields)}", field=prefix + field)
    values = {field: table.get(field, default) for field, (_, default) in fields.items()}
    for field, (kind, _) in fields.items():
        if not isinstance(values[field], kind):
            value = "missing" if field not in table else repr(table[field])
            raise InputError(f"expected {kind.__name__}, found {value}", field=prefix + field)
    return values
