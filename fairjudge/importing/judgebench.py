"""JudgeBench's judged pairs, each judged in both orders.

Source: ScalerLab/JudgeBench, ``outputs/*.jsonl``, ``run_judge.py`` and ``utils/judges.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairjudge.domain import SWAPPED, Order, Verdict
from fairjudge.importing.llmbar import OUTPUTS
from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label
from fairjudge.importing.sources import (
    Json,
    Source,
    first_text,
    items,
    mapping,
    non_null_fields,
    text,
    text_or_none,
)
from fairjudge.scales import Level, Scale

ASPECT = "correctness"
_PAIR = ("response_A", "response_B")
_DECISIONS: Mapping[str, Verdict] = {"A>B": "a", "B>A": "b", "A=B": "tie"}
_ORDERS: tuple[Order, ...] = ("ab", "ba")
_ARENA = Scale(
    name="pairwise-arena-hard",
    kind="pair",
    levels=(
        Level(answer="A>B", value="first", aliases=("A>>B",)),
        Level(answer="B>A", value="second", aliases=("B>>A",)),
        Level(answer="A=B", value="tie"),
    ),
)
"""``[[A>>B]]`` to ``[[B>>A]]``, the answers in Arena-Hard's prompts."""
_SCALES: Mapping[str, Scale] = {"arena_hard": _ARENA, "vanilla": OUTPUTS}
"""The scales of judges with these names; for others the tool's decision is used."""


def recognises(source: Source) -> bool:
    """Return whether the rows are JudgeBench's pairs with judgements."""
    return {*_PAIR, "pair_id", "label", "judgments"} <= source.first.keys()


def read(source: Source) -> Iterator[Entry]:
    """Yield the correct answer as a label, and the decision in each order."""
    for line, row in source.records():
        with source.locate_errors(line):
            item = {"eid": text(row, "pair_id"), "system_a": _PAIR[0], "system_b": _PAIR[1]}
            label = _DECISIONS.get(text(row, "label"))
            yield (
                Skipped(line=line, why=f"unknown label {row['label']!r}")
                if label is None
                else make_label(**item, aspect=ASPECT, annotator="judgebench", value=label)
            )
            for number, entry in enumerate(items(row, "judgments")):
                if number < len(_ORDERS):
                    yield _judgement(row, entry, item, line=line, order=_ORDERS[number])
                else:
                    yield Skipped(line=line, why="a third judgement, of neither order")


def _judgement(
    row: Json,
    entry: Json,
    item: Json,
    *,
    line: int,
    order: Order,
) -> RecordedJudgement:
    judgment = mapping(entry, "judgment")
    name = first_text(row, "judge_name") or "judge"
    model = first_text(judgment, "judge_model")
    decision = _DECISIONS.get(str(entry.get("decision")))
    # The file's decision is about the responses in the order shown.
    value = SWAPPED[decision] if decision is not None and order == "ba" else decision
    return RecordedJudgement(
        line=line,
        **item,
        order=order,
        aspect=ASPECT,
        judge=f"{name}/{model}" if model else name,
        reply=text_or_none(judgment, "response") or None,
        scale=_SCALES.get(name),
        value=value,
        scored_by="decision" if isinstance(judgment.get("scores"), list) else "llm",
        extra=non_null_fields(judgment, "scores"),
    )
