"""A dry run of ``fairjudge calibrate align``: its real requests, with simulated replies."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fairjudge.aligning.candidates import (
    anchors_messages,
    anchors_request,
    read_anchors,
    stand_ins,
)
from fairjudge.aligning.decision import PartName
from fairjudge.aligning.material import AlignMaterial, AlignOptions
from fairjudge.aligning.running import (
    base_criterion,
    make_candidates,
    with_candidate,
    write_candidate,
    writing_llm,
)
from fairjudge.engine.models import Llm, Models
from fairjudge.judges.criteria import Criterion
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.run.judges import make_judge
from fairjudge.run.material import check_material
from fairjudge.run.planning import READABLE, SHORT, Plan, ask_all, planned, summed

_ASSUMES = (
    READABLE,
    SHORT,
    "new anchors are as long as the current ones; the longest candidate is tested",
)


async def plan_align(
    material: AlignMaterial,
    *,
    options: AlignOptions,
    model: Model,
    seconds_per_call: float,
) -> Plan:
    """Return the requests that ``fairjudge calibrate align`` would send, without cached ones."""
    old, base = options.judging, base_criterion(options.judging)
    with tempfile.TemporaryDirectory() as folder:
        async with planned(model) as (models, planner):
            sets = await _stand_ins(base, writing_llm(models), options, material)
            candidates = tuple(make_candidates(base, options, material, sets))
            judges = []
            for candidate in candidates:
                write_candidate(candidate, Path(folder), old.aspect)
                judges.append(with_candidate(old, Path(folder), candidate.name))
            for judging in (old, *judges):
                await _ask(models, material, judging, "development")
            lengths = [
                len(candidate.prompt) + len(candidate.scale.prompt_line) for candidate in candidates
            ]
            for judging in (old, judges[lengths.index(max(lengths))]):
                await _ask(models, material, judging, "test")
            return summed(planner, model, seconds_per_call, assumes=_ASSUMES)


async def _stand_ins(
    base: Criterion, llm: Llm, options: AlignOptions, material: AlignMaterial
) -> tuple[tuple[str, ...], ...]:
    """Return cached anchor sets, or placeholders from the current anchors."""
    if "anchors" not in options.kinds:
        return ()
    messages = anchors_messages(base, material.rated(), n_sets=options.rewordings)
    reply = await llm.backend.complete(anchors_request(messages, target=llm.target, **llm.sampling))
    anchors = read_anchors(reply.text, base=base, limit=options.rewordings)
    return anchors or stand_ins(base, options.rewordings)


async def _ask(
    models: Models, material: AlignMaterial, judging: JudgeOptions, part: PartName
) -> None:
    tasks = check_material(material.sources, material.loaded_summaries(part), options=judging).tasks
    await ask_all(make_judge(models, judging, plan=judging.plan(), tasks=tasks), tasks)
