"""What ``fairjudge align`` would ask, before it asks: its real requests, over stand-ins."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fairjudge.judges.candidates import (
    Candidate,
    anchors_messages,
    anchors_request,
    read_anchors,
    stand_ins,
)
from fairjudge.judges.criteria import Criterion
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.run.align_files import using, write_candidate
from fairjudge.run.align_material import AlignMaterial, AlignOptions, PartName
from fairjudge.run.aligning import base_criterion, made_of, writing_llm
from fairjudge.run.judges import make_judge
from fairjudge.run.material import check_material
from fairjudge.run.models import Llm, Models, open_models
from fairjudge.run.planning import READABLE, SHORT, Plan, planning, summed

_AT_ONCE = 256
_ASSUMES = (
    READABLE,
    SHORT,
    "anchors are as long as today's; the longest candidate is the one whose test is opened",
)


async def plan_align(
    material: AlignMaterial,
    *,
    options: AlignOptions,
    model: Model,
    seconds_per_call: float,
) -> Plan:
    """Return what ``fairjudge align`` would ask the model, less what the cache holds.

    Raises
    ------
    FairJudgeError
        As the command itself would.
    """
    base = base_criterion(options.judging)
    with planning(model) as planner, tempfile.TemporaryDirectory() as scratch:
        async with open_models(replace(model, planner=planner)) as models:
            sets = await _stand_ins(base, writing_llm(models), options, material)
            candidates = tuple(made_of(base, options, material, sets))
            for one in candidates:
                write_candidate(one, Path(scratch), options.judging.aspect)
            longest = max(candidates, key=_length)
            for judging in _judges(options.judging, Path(scratch), candidates):
                await _ask(models, material, judging, "development")
            for judging in _judges(options.judging, Path(scratch), [longest]):
                await _ask(models, material, judging, "test")
        return summed(planner, model, seconds_per_call, assumes=_ASSUMES)


def _length(candidate: Candidate) -> int:
    return len(candidate.prompt) + len(candidate.scale.prompt_line)


def _judges(
    old: JudgeOptions, folder: Path, candidates: Sequence[Candidate]
) -> Sequence[JudgeOptions]:
    return [old, *(using(old, folder, one.name) for one in candidates)]


async def _stand_ins(
    base: Criterion, llm: Llm, options: AlignOptions, material: AlignMaterial
) -> tuple[tuple[str, ...], ...]:
    """Return the anchors that the cache holds, or today's with a mark that tells them apart."""
    if "anchors" not in options.kinds:
        return ()
    messages = anchors_messages(base, material.rated(), n_sets=options.rewordings)
    reply = await llm.backend.complete(anchors_request(messages, target=llm.target, **llm.sampling))
    known = read_anchors(reply.text, base=base, limit=options.rewordings)
    return known or stand_ins(base, options.rewordings)


async def _ask(
    models: Models, material: AlignMaterial, judging: JudgeOptions, part: PartName
) -> None:
    tasks = check_material(material.sources, material.loaded_summaries(part), options=judging).tasks
    judge = make_judge(models, judging, plan=judging.plan(), tasks=tasks)
    for start in range(0, len(tasks), _AT_ONCE):
        await asyncio.gather(*(judge.ask(task) for task in tasks[start : start + _AT_ONCE]))
