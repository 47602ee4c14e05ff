"""FastChat's MT-Bench: pairs in both orders, single ratings, and human votes.

Source: lm-sys/FastChat, ``fastchat/llm_judge/common.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairjudge.domain import Order, Verdict
from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label
from fairjudge.importing.sources import Json, Source, first_text, score, text, text_or_none
from fairjudge.scales import likert, pairwise

_FAILED = "$ERROR$"
"""FastChat's placeholder for a missing reply."""
_LETTERS = pairwise(("A", "B", "C"))
"""``[[A]]``, ``[[B]]`` or, for a tie, ``[[C]]``, the answers in FastChat's prompts."""
_RATINGS = likert([""] * 10)
_ORDERS: Mapping[str, Order] = {"g1": "ab", "g2": "ba"}
_WINNERS: Mapping[str, Verdict] = {
    "model_1": "a", "model_2": "b", "model_a": "a", "model_b": "b",
    "tie": "tie", "tie (bothbad)": "tie",
}  # fmt: skip


def recognises(source: Source) -> bool:
    """Return whether the rows are pairs, ratings or votes on questions."""
    keys = source.first.keys()
    return "question_id" in keys and any(
        fields <= keys
        for fields in (
            {"model_1", "g1_winner", "g2_winner"},
            {"model", "judgment", "score"},
            {"model_a", "model_b", "winner", "judge"},
        )
    )


def read(source: Source) -> Iterator[Entry]:
    """Yield both orders of a pair, a rating, or a vote; each turn is a separate aspect."""
    for line, row in source.records():
        with source.locate_errors(line):
            turn = first_text(row, "turn")
            common: dict[str, Any] = {
                "eid": text(row, "question_id"),
                "aspect": "quality" if turn is None else f"turn {turn}",
            }
            if "g1_winner" in row:
                yield from _pair(row, line, common)
            elif "winner" in row:
                yield _vote(row, line, common)
            else:
                yield _single(row, line, common)


def _pair(row: Json, line: int, common: Json) -> Iterator[RecordedJudgement]:
    for game, order in _ORDERS.items():
        reply = _reply(row, f"{game}_judgment")
        yield RecordedJudgement(
            line=line,
            **common,
            system_a=text(row, "model_1"),
            system_b=text(row, "model_2"),
            order=order,
            judge=_judge(row),
            **reply,
            scale=_LETTERS,
            value=_WINNERS.get(str(row.get(f"{game}_winner"))),
        )


def _single(row: Json, line: int, common: Json) -> RecordedJudgement:
    reply, value = _reply(row, "judgment"), score(row.get("score"))
    return RecordedJudgement(
        line=line,
        **common,
        system=text(row, "model"),
        judge=_judge(row),
        **reply,
        scale=_RATINGS,
        value=None if value is None or value < 0 else value,  # -1: no rating was found
    )


def _reply(row: Json, name: str) -> dict[str, Any]:
    reply = text_or_none(row, name)
    failure = {"unscored": "backend", "detail": "FastChat received no reply from the judge"}
    return {"reply": reply, **(failure if reply == _FAILED else {})}


def _vote(row: Json, line: int, common: Json) -> Entry:
    value = _WINNERS.get(text(row, "winner"))
    if value is None:
        return Skipped(line=line, why=f"unknown winner {row['winner']!r}")
    pair = {"system_a": text(row, "model_a"), "system_b": text(row, "model_b")}
    return make_label(**common, **pair, annotator=_judge(row), value=value)


def _judge(row: Json) -> str:
    """Return the judge's name; a list of model and prompt is joined by a slash."""
    judge = row.get("judge")
    if isinstance(judge, list) and judge:
        return "/".join(map(str, judge))
    return text(row, "judge")
