"""Split summaries into atomic content units (coverage fairness A.1; FairSumm E)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fairjudge.datasets import Loaded, write_jsonl
from fairjudge.domain import Summary, Unscored
from fairjudge.engine.coroutines import run_to_end
from fairjudge.engine.models import open_models
from fairjudge.engine.runs import check_writable
from fairjudge.options.models import Model
from fairjudge.parsing import read_list, without_bullet
from fairjudge.parsing.outcomes import complete_or_unscored, is_cut_off, with_cut_off
from fairjudge.ports import Backend, CompletionRequest, ModelRef
from fairjudge.prompting import STRING, Fenced, json_array, json_object, load_template, render
from fairjudge.text.scripts import UNSPACED
from fairjudge.text.statements import statement_texts
from fairjudge.text.tokens import words

SplitBy: TypeAlias = Literal["llm", "sentences"]

_SCHEMA = json_object({"units": json_array(STRING)})
_LEAST_SHARE = 0.5
"""Minimum share of a summary's longer words in its units; below it, facts are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSplit:
    """A summary's units; ``why`` is the reason if an LLM's units were replaced by sentences."""

    units: tuple[str, ...]
    split_by: SplitBy
    why: str | None = None


def split_file(
    summaries: Loaded[Summary], output: Path, *, model: Model
) -> tuple[tuple[Summary, UnitSplit], ...]:
    """Split the summaries, and write ``{eid, system, units, split_by}`` per line to `output`."""
    loaded = summaries.records
    check_writable(output)

    async def split_all() -> list[UnitSplit]:
        async with open_models(model) as models:
            llm = models.llm
            return await asyncio.gather(
                *(
                    split_units(
                        summary.text,
                        backend=None if llm is None else llm.backend,
                        target=None if llm is None else llm.target,
                        **model.sampling,
                    )
                    for summary in loaded
                )
            )

    splits = run_to_end(split_all())
    rows: list[dict[str, Any]] = [
        {
            "eid": summary.eid,
            "system": summary.system,
            "units": list(split.units),
            "split_by": split.split_by,
            **({"why": split.why} if split.why else {}),
        }
        for summary, split in zip(loaded, splits, strict=True)
    ]
    write_jsonl(output, rows)
    return tuple(zip(loaded, splits, strict=True))


async def split_units(
    text: str,
    *,
    backend: Backend | None,
    target: ModelRef | None,
    seed: int | None = None,
    max_output_tokens: int = 2048,
) -> UnitSplit:
    """Split `text` into units with an LLM (few-shot prompt), or without one into sentences.

    If the reply is unusable or has less than half of the summary's longer words (missing facts, or
    another text), the sentences are returned, with the reason. An empty text has no units.
    """
    sentences = statement_texts(text)
    if backend is None or target is None or not sentences:
        return UnitSplit(units=sentences, split_by="sentences")
    fields: dict[str, str | Fenced] = {
        "summary": Fenced("summary", (text,)),
        "answer_format": 'Reply with JSON alone: {"units": ["...", "..."]}',
    }
    request = CompletionRequest(
        target=target,
        messages=render(load_template("judge", "units"), fields),
        response_schema=_SCHEMA,
        seed=seed,
        max_output_tokens=max_output_tokens,
    )
    reply = await complete_or_unscored(backend, request)
    if isinstance(reply, Unscored):
        why = f"{reply.reason}: {reply.detail}"
    elif is_cut_off(reply):
        why = with_cut_off(Unscored(reason="unparseable", detail="not all units")).detail
    elif not (units := read_units(reply.text)):
        why = "no unit in the reply"
    elif _share_of_words(text, units) < _LEAST_SHARE:
        why = "the units lose too much of it"
    else:
        return UnitSplit(units=units, split_by="llm")
    return UnitSplit(units=sentences, split_by="sentences", why=why)


def read_units(reply: str) -> tuple[str, ...]:
    """Return the distinct units of a reply, as JSON or one per line."""
    items = read_list(reply, "units") or ()
    units = (" ".join(without_bullet(u).split()) for u in items if isinstance(u, str))
    return tuple(dict.fromkeys(u for u in units if any(c.isalnum() for c in u) and u[-1] != ":"))


def _share_of_words(text: str, units: tuple[str, ...]) -> float:
    words = _longer_words(text)
    return len(words & _longer_words(" ".join(units))) / len(words) if words else 1.0


def _longer_words(text: str) -> set[str]:
    all_words = words(text.casefold())
    return {word for word in all_words if len(word) > 3 or UNSPACED.match(word)}
