"""LLMBar's judged pairs, each in both orders, with the correct answer.

Source: princeton-nlp/LLMBar, ``Dataset/**/evaluators/<judge>/<prompt>/result.json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fairjudge.domain import Order, Verdict
from fairjudge.errors import InputError
from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label
from fairjudge.importing.sources import Json, Source, fingerprint, items, mapping, text
from fairjudge.scales import Level, Scale, likert

ASPECT = "instruction_following"
_ORDERS: Mapping[str, Order] = {"swap = False": "ab", "swap = True": "ba"}
_WINNERS: Mapping[str, Verdict] = {"1": "a", "2": "b"}
_RATINGS = likert([""] * 11, low=0)
_PAIR = ("output_1", "output_2")
OUTPUTS = Scale(
    name="pairwise-outputs",
    kind="pair",
    levels=(
        Level(answer="Output (a)", value="first", aliases=("(a)",)),
        Level(answer="Output (b)", value="second", aliases=("(b)",)),
    ),
)
"""``Output (a)`` or ``Output (b)``, the answers in LLMBar's prompts."""


def recognises(source: Source) -> bool:
    """Return whether rows have two outputs, the number of the better one, and results by order."""
    first = source.first
    return {*_PAIR, "label", "results"} <= first.keys() and isinstance(first["results"], list)


def read(source: Source) -> Iterator[Entry]:
    """Yield the correct answer, and the verdict in each order or the rating of each output.

    Of prompts with several rounds only the last round is read.
    """
    judge = judge_name(source.path)
    pair = {"system_a": _PAIR[0], "system_b": _PAIR[1]}
    for line, row in source.records():
        with source.locate_errors(line):
            eid = fingerprint(text(row, "input"), *(text(row, output) for output in _PAIR))
            label = _WINNERS.get(text(row, "label"))
            if label is None:
                raise InputError(f"expected 1 or 2, not {row['label']!r}", field="label")
            item: dict[str, Any] = {"eid": eid, "aspect": ASPECT}
            yield make_label(**item, **pair, annotator="llmbar", value=label)
            rounds = list(items(row, "results"))
            if not rounds:
                raise InputError("must not be empty", field="results")
            for _ in range(2 * len(rounds[:-1])):
                yield Skipped(line=line, why="a result of an earlier round")
            last_round, item = rounds[-1], {**item, "line": line, "judge": judge}
            if "score_1" in last_round:
                yield from _ratings(last_round, item)
            else:
                yield from _verdicts(last_round, {**item, **pair})


def judge_name(path: Path) -> str:
    """Return the names of the judge's and the prompt's folders, else the file's name."""
    if path.name.split(".")[0] == "result":
        return f"{path.parent.parent.name}/{path.parent.name}"
    return path.name.removesuffix(".gz").removesuffix(".json")


def _verdicts(results: Json, item: Json) -> Iterator[RecordedJudgement]:
    for name, order in _ORDERS.items():
        entry = mapping(results, name)
        yield RecordedJudgement(
            **item,
            order=order,
            **_reply(entry, "completion"),
            scale=OUTPUTS,
            value=_WINNERS.get(str(entry.get("winner"))),
        )


def _ratings(results: Json, item: Json) -> Iterator[RecordedJudgement]:
    for name, system in zip(("score_1", "score_2"), _PAIR, strict=True):
        yield RecordedJudgement(**item, system=system, **_reply(results, name), scale=_RATINGS)


def _reply(results: Json, name: str) -> dict[str, Any]:
    """Return the reply, and whether it was cut off, from a list of reply and finish reason."""
    completion = results.get(name)
    if not (isinstance(completion, list) and completion and isinstance(completion[0], str)):
        return {}
    return {"reply": completion[0], "cut_off": completion[1:2] == ["length"]}
