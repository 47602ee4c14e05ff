"""The records that readers of other tools' files yield, and their conversion to judgements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from fairjudge.datasets._problems import validate_record
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
from fairjudge.errors import InputError, error_location
from fairjudge.parsing import PARSER_VERSION, read_verdict
from fairjudge.records.signature import signature
from fairjudge.scales import Scale, to_verdict

Repeats: TypeAlias = Literal["keep", "last"]
_ITEM = (
    "eid", "system", "system_a", "system_b", "order", "aspect", "protocol", "unit", "judge",
)  # fmt: skip

_TOOL_FIELDS = (
    "eid", "system", "system_a", "system_b", "order", "aspect", "unit", "scored_by", "repeat",
)  # fmt: skip
"""Fields copied from the tool's record to the judgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedJudgement:
    """One judgement by another tool.

    Parameters
    ----------
    line : int
        The line of its row, or the number of its sample or test, from 1.
    system, system_a, system_b : str
        The judged system, or pair of systems, with ``order`` for the one shown first.
    reply : str, optional
        The judge's verbatim reply.
    scale : Scale, optional
        The scale of the judge's prompt, if known: then `reply` is parsed by FairJudge. Without it,
        `value` is used, which is the tool's own reading.
    protocol : str, optional
        Required if it does not follow from the scale or the values.
    value : float or Verdict, optional
        The tool's own value; None if it has none.
    cut_off : bool
        Whether the reply reached the token limit.
    unscored : str, optional
        The reason for a missing score; an error of the grader is never a low score.
    extra : mapping
        Further fields of the judgement.
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
    """A row of a file that is not imported, and the reason."""

    line: int
    why: str


Entry: TypeAlias = RecordedJudgement | Label | Reference | Summary | Cluster | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedJudgements:
    """Judgements with their line numbers."""

    judgements: tuple[Judgement, ...]
    lines: tuple[int, ...]

    @property
    def unscored(self) -> tuple[tuple[int, Judgement], ...]:
        """The judgements without a score, each with its line."""
        pairs = zip(self.lines, self.judgements, strict=True)
        return tuple(
            (line, judgement) for line, judgement in pairs if judgement.unscored is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile(NumberedJudgements):
    """The records of another tool's file; ``clusters`` are documents without questions.

    ``n_reread`` is the number of replies that FairJudge parsed to another value than the tool,
    whose value is kept as ``tool_value``.
    """

    tool: str
    labels: tuple[Label, ...]
    skipped: tuple[Skipped, ...]
    n_reread: int
    references: tuple[Reference, ...] = ()
    summaries: tuple[Summary, ...] = ()
    clusters: tuple[Cluster, ...] = ()

    def records(self) -> dict[str, tuple[Record, ...]]:
        """Return the records by kind."""
        kinds = ("judgements", "labels", "references", "summaries", "clusters")
        return {kind: getattr(self, kind) for kind in kinds}

    @property
    def n_rows(self) -> int:
        """Number of rows in the file: records of all kinds, and skipped ones."""
        return sum(map(len, self.records().values())) + len(self.skipped)


def make_label(**fields: Any) -> Label:
    """Return the label with the `fields` that are not None."""
    return validate_record(Label, {k: v for k, v in fields.items() if v is not None})


def make_judgement(fields: Mapping[str, Any], *, source: str, scale: Scale | None) -> Judgement:
    """Return the judgement with `fields`; `scale` is given if FairJudge parsed the reply."""
    judgement_signature = signature(
        {
            "judge": str(fields["judge"]),
            "source": source,
            "scale": scale.label if scale else None,
            "parser": PARSER_VERSION if scale else None,
        }
    )
    return validate_record(Judgement, {**fields, "signature": judgement_signature})


def outcome_fields(outcome: float | Verdict | Unscored) -> dict[str, Any]:
    """Return the fields of a judgement with this outcome."""
    if isinstance(outcome, Unscored):
        return {"value": None, "unscored": outcome.reason, "detail": outcome.detail}
    return {"value": outcome, "unscored": None}


def parse_order(value: object, *, field: str) -> Order:
    """Return `value` if it is an order, else raise `InputError`."""
    if value not in ("ab", "ba"):
        raise InputError(f'expected "ab" or "ba", not {value!r}', field=field)
    return "ba" if value == "ba" else "ab"


def assemble(
    entries: Iterable[Entry], *, tool: str, judge: str | None = None, repeats: Repeats = "keep"
) -> ImportedFile:
    """Return `entries` as records by kind, in order, with `judge` as the judges' name if given.

    With `repeats` ``"last"``, only the last judgement of an item is kept.
    """
    all_entries = tuple(entries)
    recorded_judgements = [entry for entry in all_entries if isinstance(entry, RecordedJudgement)]
    protocols = _protocols(recorded_judgements)
    judgements = [
        _judgement(entry, tool=tool, judge=judge, protocols=protocols)
        for entry in recorded_judgements
    ]
    kept_indices, kept_judgements = resolve_repeats(judgements, repeats)
    skipped_repeats = [
        Skipped(line=recorded_judgements[index].line, why="the item was judged again")
        for index in sorted({*range(len(judgements))} - {*kept_indices})
    ]
    return ImportedFile(
        tool=tool,
        judgements=kept_judgements,
        lines=tuple(recorded_judgements[index].line for index in kept_indices),
        labels=tuple(entry for entry in all_entries if isinstance(entry, Label)),
        skipped=(*(entry for entry in all_entries if isinstance(entry, Skipped)), *skipped_repeats),
        n_reread=sum(map(_differs_from_tool, kept_judgements)),
        references=tuple(entry for entry in all_entries if isinstance(entry, Reference)),
        summaries=tuple(entry for entry in all_entries if isinstance(entry, Summary)),
        clusters=tuple(entry for entry in all_entries if type(entry) is Cluster),
    )


def _differs_from_tool(judgement: Judgement) -> bool:
    tool_value = (judgement.model_extra or {}).get("tool_value")
    return tool_value is not None and tool_value != judgement.value


def _protocols(
    recorded_judgements: Iterable[RecordedJudgement],
) -> Mapping[tuple[str, str], ProtocolName]:
    """Return the protocol of each judge and aspect: binary if all its values are 0 or 1."""
    values: dict[tuple[str, str], set[object]] = defaultdict(set)
    for judgement in recorded_judgements:
        if judgement.value is not None:
            values[judgement.judge, judgement.aspect].add(judgement.value)
    return {key: "binary" if observed <= {0, 1} else "likert" for key, observed in values.items()}


def _judgement(
    record: RecordedJudgement,
    *,
    tool: str,
    judge: str | None,
    protocols: Mapping[tuple[str, str], ProtocolName],
) -> Judgement:
    is_parsed = record.scale is not None and bool(record.reply) and record.unscored is None
    tool_fields = {name: getattr(record, name) for name in _TOOL_FIELDS}
    tool_fields |= {"tool_value": record.value if is_parsed else None}
    tool_fields |= {"probabilities": dict(record.probabilities or {}) or None}
    fields = {
        **record.extra,
        **{name: value for name, value in tool_fields.items() if value is not None},
        "protocol": _protocol(record, protocols),
        "judge": judge or record.judge,
        **outcome_fields(_outcome(record)),
        "raw": record.reply,
    }
    with error_location(line=record.line):
        return make_judgement(
            fields, source=f"imported:{tool}", scale=record.scale if is_parsed else None
        )


def _protocol(
    record: RecordedJudgement, protocols: Mapping[tuple[str, str], ProtocolName]
) -> ProtocolName:
    if record.protocol is not None:
        return record.protocol
    if record.system_a is not None:
        return "pairwise"
    if record.scale is not None:
        return record.scale.protocol
    return protocols.get((record.judge, record.aspect), "likert")


def _outcome(record: RecordedJudgement) -> float | Verdict | Unscored:
    if record.unscored is not None:
        return Unscored(reason=record.unscored, detail=record.detail)
    if record.scale is not None and record.reply:
        outcome = read_verdict(
            record.reply, record.scale, aspect=record.aspect, cut_off=record.cut_off
        )
        return to_verdict(outcome, record.order or "ab") if isinstance(outcome, str) else outcome
    if record.value is None:
        return Unscored(reason="unparseable", detail=record.detail or "no reply and no value")
    return record.value


def item_of(judgement: Judgement) -> tuple[tuple[str, str], ...]:
    """Return the identity of the judged item and judge, equal for repeated judgements."""
    return tuple((name, value) for name in _ITEM if (value := getattr(judgement, name)) is not None)


def resolve_repeats(
    judgements: Sequence[Judgement], repeats: Repeats
) -> tuple[tuple[int, ...], tuple[Judgement, ...]]:
    """Return the indices of the kept judgements, in their new order, and these judgements.

    ``"keep"`` numbers repeats; ``"last"`` keeps each item's last one, in the order of the first.
    """
    if repeats == "keep":
        return tuple(range(len(judgements))), _number_repeats(judgements)
    last_indices = tuple(
        {item_of(judgement): index for index, judgement in enumerate(judgements)}.values()
    )
    return last_indices, tuple(_without_repeat(judgements[index]) for index in last_indices)


def _number_repeats(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Return `judgements` with ``repeat`` from 0 for items with several judgements.

    An item whose judgements all have distinct ``repeat`` numbers keeps them.
    """
    keys = list(map(item_of, judgements))
    n_judgements = Counter(keys)
    stated_repeats = {
        (key, judgement.repeat) for key, judgement in zip(keys, judgements, strict=True)
    }
    n_stated = Counter(key for key, repeat in stated_repeats if repeat is not None)
    n_before: Counter[tuple[tuple[str, str], ...]] = Counter()
    result = list(judgements)
    for index, key in enumerate(keys):
        if n_judgements[key] > 1 and n_stated[key] < n_judgements[key]:
            result[index] = judgements[index].model_copy(update={"repeat": n_before[key]})
            n_before[key] += 1
    return tuple(result)


def _without_repeat(judgement: Judgement) -> Judgement:
    fields = {name: value for name, value in judgement.to_json().items() if name != "repeat"}
    return Judgement.model_validate(fields)
