"""The one record that every reader of another tool's files gives, and what becomes of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import ValidationError

from fairjudge.domain import (
    Cluster,
    Judgement,
    Label,
    Order,
    ProtocolName,
    Record,
    Reference,
    ScoredBy,
    Summary,
    Unscored,
    UnscoredReason,
    Verdict,
)
from fairjudge.errors import InputError
from fairjudge.parsing import PARSER_VERSION, read_verdict
from fairjudge.records.signature import signature
from fairjudge.scales import Scale, to_verdict

Repeats: TypeAlias = Literal["keep", "last"]
R = TypeVar("R", bound=Record)
_ITEM = (
    "eid", "system", "system_a", "system_b", "order", "aspect", "protocol", "unit", "judge",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One judgement as another tool recorded it.

    Parameters
    ----------
    line : int
        Where it stands: the line of its row, or the number of its sample or test, from 1.
    system, system_a, system_b : str
        What was judged: one, or a pair, of which ``order`` says which was shown first.
    reply : str, optional
        The judge's reply, word for word.
    scale : Scale, optional
        What the judge was asked for, where that is known: then `reply` is read by our parser.
        Without one `value` counts, which is the tool's own reading.
    protocol : str, optional
        Where the tool's values alone would not tell it.
    value : float or Verdict, optional
        What the tool made of it; None where it has nothing.
    cut_off : bool
        Whether the limit on its tokens ended the reply.
    unscored : str, optional
        Why there is no score: the grader's own error, which is never a low score.
    extra : mapping
        Other fields to keep.
    """

    line: int
    eid: str
    aspect: str
    judge: str
    system: str | None = None
    system_a: str | None = None
    system_b: str | None = None
    order: Order | None = None
    unit: str = "summary"
    reply: str | None = None
    scale: Scale | None = None
    protocol: ProtocolName | None = None
    value: float | Verdict | None = None
    unscored: UnscoredReason | None = None
    detail: str = ""
    cut_off: bool = False
    probabilities: Mapping[str, float] | None = None
    scored_by: ScoredBy = "llm"
    repeat: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A place in a file that holds nothing that we have a place for, and why."""

    line: int
    why: str


Entry: TypeAlias = Recorded | Label | Reference | Summary | Cluster | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Judgements, and the place of each."""

    judgements: tuple[Judgement, ...]
    lines: tuple[int, ...]

    @property
    def unscored(self) -> tuple[tuple[int, Judgement], ...]:
        """The judgements without a score, each with its place."""
        pairs = zip(self.lines, self.judgements, strict=True)
        return tuple((line, found) for line, found in pairs if found.unscored is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile(Placed):
    """What another tool's file held; ``clusters`` are documents without questions.

    ``n_reread`` counts the replies that our parser read to another value than the tool did: theirs
    stands beside ours as ``tool_value``.
    """

    tool: str
    labels: tuple[Label, ...]
    skipped: tuple[Skipped, ...]
    n_reread: int
    references: tuple[Reference, ...] = ()
    summaries: tuple[Summary, ...] = ()
    clusters: tuple[Cluster, ...] = ()

    def records(self) -> dict[str, tuple[Record, ...]]:
        """Return what was found, by kind."""
        return {
            "judgements": self.judgements,
            "labels": self.labels,
            "references": self.references,
            "summaries": self.summaries,
            "clusters": self.clusters,
        }

    @property
    def n_rows(self) -> int:
        """Places in the file: each is a record of a kind, or skipped."""
        return sum(map(len, self.records().values())) + len(self.skipped)


def make(model: type[R], fields: Mapping[str, Any]) -> R:
    """Return the record with `fields`; one that does not fit is an `InputError` that names it."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise _invalid(error) from error


def make_label(**fields: Any) -> Label:
    """Return the label with those `fields` that are not None."""
    return make(Label, {k: v for k, v in fields.items() if v is not None})


def make_judgement(fields: Mapping[str, Any], *, source: str, scale: Scale | None) -> Judgement:
    """Return the judgement with `fields`; `scale` is that by which our parser read the reply."""
    signed = signature(
        {
            "judge": str(fields["judge"]),
            "source": source,
            "scale": scale.label if scale else None,
            "parser": PARSER_VERSION if scale else None,
        }
    )
    return make(Judgement, {**fields, "signature": signed})


def scored(outcome: float | Verdict | Unscored) -> dict[str, Any]:
    """Return the fields of a judgement that say what came out."""
    if isinstance(outcome, Unscored):
        return {"value": None, "unscored": outcome.reason, "detail": outcome.detail}
    return {"value": outcome, "unscored": None}


def order_of(value: object, *, field: str) -> Order:
    """Return which of a pair was shown first."""
    if value not in ("ab", "ba"):
        raise InputError(f'expected "ab" or "ba", not {value!r}', field=field)
    return "ba" if value == "ba" else "ab"


def _invalid(error: ValidationError) -> InputError:
    first = error.errors(include_url=False, include_input=False)[0]
    return InputError(first["msg"], field=".".join(map(str, first["loc"])) or None)


def assemble(
    entries: Iterable[Entry], *, tool: str, judge: str | None = None, repeats: Repeats = "keep"
) -> ImportedFile:
    """Return what `entries` hold by kind, in their order; `judge` renames the judges.

    With `repeats` ``"last"``, judgements of an item that has a later one are skipped.
    """
    rows = tuple(entries)
    recorded = [row for row in rows if isinstance(row, Recorded)]
    protocols = _protocols(recorded)
    made = [_judgement(one, tool=tool, judge=judge, protocols=protocols) for one in recorded]
    kept, judged = settle_repeats(made, repeats)
    former = [
        Skipped(line=recorded[at].line, why="the item was judged again")
        for at in sorted({*range(len(made))} - {*kept})
    ]
    return ImportedFile(
        tool=tool,
        judgements=judged,
        lines=tuple(recorded[at].line for at in kept),
        labels=tuple(row for row in rows if isinstance(row, Label)),
        skipped=(*(row for row in rows if isinstance(row, Skipped)), *former),
        n_reread=sum(map(_read_otherwise, judged)),
        references=tuple(row for row in rows if isinstance(row, Reference)),
        summaries=tuple(row for row in rows if isinstance(row, Summary)),
        clusters=tuple(row for row in rows if type(row) is Cluster),
    )


def _read_otherwise(judgement: Judgement) -> bool:
    tools = (judgement.model_extra or {}).get("tool_value")
    return tools is not None and tools != judgement.value


def _protocols(recorded: Iterable[Recorded]) -> Mapping[tuple[str, str], ProtocolName]:
    """Tell binary judges from graded ones by all values that they gave on an aspect."""
    values: dict[tuple[str, str], set[object]] = defaultdict(set)
    for one in recorded:
        if one.value is not None:
            values[one.judge, one.aspect].add(one.value)
    return {key: "binary" if found <= {0, 1} else "likert" for key, found in values.items()}


def _judgement(
    recorded: Recorded,
    *,
    tool: str,
    judge: str | None,
    protocols: Mapping[tuple[str, str], ProtocolName],
) -> Judgement:
    read = recorded.scale is not None and bool(recorded.reply) and recorded.unscored is None
    optional = {
        "system": recorded.system,
        "system_a": recorded.system_a,
        "system_b": recorded.system_b,
        "order": recorded.order,
        "probabilities": dict(recorded.probabilities) if recorded.probabilities else None,
        "repeat": recorded.repeat,
        "tool_value": recorded.value if read else None,
    }
    fields = {
        **recorded.extra,
        "eid": recorded.eid,
        "aspect": recorded.aspect,
        "unit": recorded.unit,
        "protocol": _protocol(recorded, protocols),
        "judge": judge or recorded.judge,
        **scored(_outcome(recorded)),
        "raw": recorded.reply,
        "scored_by": recorded.scored_by,
        **{name: value for name, value in optional.items() if value is not None},
    }
    try:
        return make_judgement(
            fields, source=f"imported:{tool}", scale=recorded.scale if read else None
        )
    except InputError as error:
        raise InputError(error.problem, line=recorded.line, field=error.field) from error


def _protocol(
    recorded: Recorded, protocols: Mapping[tuple[str, str], ProtocolName]
) -> ProtocolName:
    if recorded.protocol is not None:
        return recorded.protocol
    if recorded.system_a is not None:
        return "pairwise"
    if recorded.scale is not None:
        return recorded.scale.protocol
    return protocols.get((recorded.judge, recorded.aspect), "likert")


def _outcome(recorded: Recorded) -> float | Verdict | Unscored:
    if recorded.unscored is not None:
        return Unscored(reason=recorded.unscored, detail=recorded.detail)
    if recorded.scale is not None and recorded.reply:
        read = read_verdict(
            recorded.reply, recorded.scale, aspect=recorded.aspect, cut_off=recorded.cut_off
        )
        return to_verdict(read, recorded.order or "ab") if isinstance(read, str) else read
    if recorded.value is None:
        return Unscored(reason="unparseable", detail=recorded.detail or "no reply and no value")
    return recorded.value


def item_of(found: Judgement) -> tuple[tuple[str, str], ...]:
    """Return what was judged and by whom: two judgements of one item agree in all of it."""
    return tuple((name, value) for name in _ITEM if (value := getattr(found, name)) is not None)


def settle_repeats(
    found: Sequence[Judgement], repeats: Repeats
) -> tuple[tuple[int, ...], tuple[Judgement, ...]]:
    """Return the places in `found` of those that stay, in their new order, and these.

    ``"keep"`` numbers them; ``"last"`` leaves each item's last one, in the order of the first ones.
    """
    if repeats == "keep":
        return tuple(range(len(found))), _numbered(found)
    last = tuple({item_of(judgement): at for at, judgement in enumerate(found)}.values())
    return last, tuple(_without_repeat(found[at]) for at in last)


def _numbered(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Give each judgement of an item that has several its ``repeat``, from 0.

    An item all of whose judgements have a ``repeat`` of their own, each another, keeps them.
    """
    keys = list(map(item_of, judgements))
    times = Counter(keys)
    own = {(key, one.repeat) for key, one in zip(keys, judgements, strict=True)}
    counter = Counter(key for key, repeat in own if repeat is not None)
    next_one: Counter[tuple[tuple[str, str], ...]] = Counter()
    numbered = []
    for key, one in zip(keys, judgements, strict=True):
        if times[key] > 1 and counter[key] < times[key]:
            numbered.append(one.model_copy(update={"repeat": next_one[key]}))
            next_one[key] += 1
        else:
            numbered.append(one)
    return tuple(numbered)


def _without_repeat(judgement: Judgement) -> Judgement:
    fields = {name: value for name, value in judgement.to_json().items() if name != "repeat"}
    return Judgement.model_validate(fields)
