"""The one record that every reader of another tool's files gives, and what becomes of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ValidationError

from fairjudge.domain import (
    Judgement,
    Label,
    Order,
    ProtocolName,
    ScoredBy,
    Unscored,
    UnscoredReason,
    Verdict,
)
from fairjudge.errors import InputError
from fairjudge.importing.repeats import last_places, number_repeats, without_repeat
from fairjudge.parsing import PARSER_VERSION, read_verdict
from fairjudge.scales import Scale, to_verdict
from fairjudge.signature import signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One judgement as another tool recorded it.

    Parameters
    ----------
    line : int
        Where it stands: the line of its row, or the number of its sample or test, from 1.
    system, pair : str, (str, str)
        What was judged: one of the two. ``order`` says which of a pair was shown first.
    reply : str, optional
        The judge's reply, word for word.
    scale : Scale, optional
        What the judge was asked for, where that is known: then `reply` is read by our parser.
        Without one `value` counts, which is the tool's own reading.
    value : float or Verdict, optional
        What the tool made of it; None where it has nothing.
    cut_off : bool
        Whether the limit on its tokens ended the reply.
    unscored : str, optional
        Why there is no score: the grader's own error, which is never a low score.
    protocol : str, optional
        Of a single item; by default that of `scale`, else ``binary`` where all values of the same
        judge and aspect are 0 or 1, and ``likert`` otherwise.
    extra : mapping
        Other fields to keep.
    """

    line: int
    eid: str
    aspect: str
    judge: str
    system: str | None = None
    pair: tuple[str, str] | None = None
    order: Order | None = None
    unit: str = "summary"
    reply: str | None = None
    scale: Scale | None = None
    value: float | Verdict | None = None
    unscored: UnscoredReason | None = None
    detail: str = ""
    cut_off: bool = False
    protocol: ProtocolName | None = None
    probabilities: Mapping[str, float] | None = None
    scored_by: ScoredBy = "llm"
    repeat: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A place in a file that holds no judgement and no label, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """A person's label, and where it stands."""

    line: int
    label: Label


def label_row(line: int, **fields: Any) -> LabelRow:
    """Return the label with `fields`.

    Raises
    ------
    InputError
        They are no label.
    """
    try:
        label = Label.model_validate({k: v for k, v in fields.items() if v is not None})
    except ValidationError as error:
        raise _invalid(error, line) from error
    return LabelRow(line=line, label=label)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile:
    """What another tool's file held.

    ``lines`` gives the place of each judgement, ``n_reread`` how many replies our parser read to
    another value than the tool did: theirs stands beside ours as ``tool_value``.
    """

    tool: str
    judgements: tuple[Judgement, ...]
    lines: tuple[int, ...]
    labels: tuple[Label, ...]
    skipped: tuple[Skipped, ...]
    n_reread: int

    @property
    def n_rows(self) -> int:
        """Places in the file: each is a judgement, a label, or skipped."""
        return len(self.judgements) + len(self.labels) + len(self.skipped)

    @property
    def unscored(self) -> tuple[tuple[int, Judgement], ...]:
        """The judgements without a score, each with its place."""
        pairs = zip(self.lines, self.judgements, strict=True)
        return tuple((line, found) for line, found in pairs if found.unscored is not None)


def assemble(
    entries: Iterable[Recorded | LabelRow | Skipped],
    *,
    tool: str,
    judge: str | None = None,
    repeats: Literal["keep", "last"] = "keep",
) -> ImportedFile:
    """Return the judgements and labels of `entries`, in their order; `judge` renames the judges.

    With `repeats` ``"last"``, judgements of an item that has a later one are skipped.

    Raises
    ------
    InputError
        A field cannot be part of a judgement; its line is named.
    """
    rows = tuple(entries)
    recorded = [row for row in rows if isinstance(row, Recorded)]
    protocols = _protocols(recorded)
    made = number_repeats(
        _judgement(one, tool=tool, judge=judge, protocols=protocols) for one in recorded
    )
    kept = last_places(made) if repeats == "last" else tuple(range(len(made)))
    judged = tuple(made[at] for at in kept)
    former = [
        Skipped(line=recorded[at].line, why="the item was judged again")
        for at in sorted({*range(len(made))} - {*kept})
    ]
    return ImportedFile(
        tool=tool,
        judgements=tuple(map(without_repeat, judged)) if repeats == "last" else judged,
        lines=tuple(recorded[at].line for at in kept),
        labels=tuple(row.label for row in rows if isinstance(row, LabelRow)),
        skipped=(*(row for row in rows if isinstance(row, Skipped)), *former),
        n_reread=sum(map(_read_otherwise, judged)),
    )


def _read_otherwise(one: Judgement) -> bool:
    tools = (one.model_extra or {}).get("tool_value")
    return tools is not None and tools != one.value


def _protocols(recorded: Iterable[Recorded]) -> Mapping[tuple[str, str], ProtocolName]:
    """Tell binary judges from graded ones by all values that they gave on an aspect."""
    values: dict[tuple[str, str], set[object]] = defaultdict(set)
    for one in recorded:
        if one.value is not None:
            values[one.judge, one.aspect].add(one.value)
    return {key: "binary" if found <= {0, 1} else "likert" for key, found in values.items()}


def _judgement(
    one: Recorded,
    *,
    tool: str,
    judge: str | None,
    protocols: Mapping[tuple[str, str], ProtocolName],
) -> Judgement:
    outcome = _outcome(one)
    read = one.scale is not None and bool(one.reply) and one.unscored is None
    named = judge or one.judge
    items: dict[str, Any] = (
        {"system": one.system}
        if one.pair is None
        else {"system_a": one.pair[0], "system_b": one.pair[1]}
    )
    optional = {
        "order": one.order,
        "probabilities": dict(one.probabilities) if one.probabilities else None,
        "repeat": one.repeat,
        "tool_value": one.value if read else None,
    }
    record = {
        **one.extra,
        "eid": one.eid,
        **items,
        "aspect": one.aspect,
        "unit": one.unit,
        "protocol": _protocol(one, protocols),
        "judge": named,
        **(
            {"value": None, "unscored": outcome.reason, "detail": outcome.detail}
            if isinstance(outcome, Unscored)
            else {"value": outcome, "unscored": None}
        ),
        "raw": one.reply,
        "scored_by": one.scored_by,
        **{name: value for name, value in optional.items() if value is not None},
        "signature": signature(
            {
                "judge": named,
                "source": f"imported:{tool}",
                "scale": one.scale.label if read and one.scale else None,
                "parser": PARSER_VERSION if read else None,
            }
        ),
    }
    try:
        return Judgement.model_validate(record)
    except ValidationError as error:
        raise _invalid(error, one.line) from error


def _invalid(error: ValidationError, line: int) -> InputError:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"])) or None
    return InputError(first["msg"], line=line, field=where)


def _protocol(one: Recorded, protocols: Mapping[tuple[str, str], ProtocolName]) -> ProtocolName:
    if one.pair is not None:
        return "pairwise"
    if one.protocol is not None:
        return one.protocol
    if one.scale is not None:
        return one.scale.protocol
    return protocols.get((one.judge, one.aspect), "likert")


def _outcome(one: Recorded) -> float | Verdict | Unscored:
    if one.unscored is not None:
        return Unscored(reason=one.unscored, detail=one.detail)
    if one.scale is not None and one.reply:
        read = read_verdict(one.reply, one.scale, aspect=one.aspect, cut_off=one.cut_off)
        return to_verdict(read, one.order or "ab") if isinstance(read, str) else read
    if one.value is None:
        return Unscored(reason="unparseable", detail=one.detail or "no reply and no value")
    return one.value
