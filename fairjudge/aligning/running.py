"""Improving a judge's prompt from people's labels: candidates, development, one sealed test."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairjudge.aligning.audits import audits_of, grouping_of, opened_report
from fairjudge.aligning.candidates import (
    Candidate,
    anchors_messages,
    anchors_request,
    few_shot,
    other_scales,
    read_anchors,
    reworded,
    scale_text,
)
from fairjudge.aligning.decision import PartName, choose, gain_of, why_barred
from fairjudge.aligning.items import Sides, sides_of
from fairjudge.aligning.material import AlignMaterial, AlignOptions
from fairjudge.aligning.record import (
    AlignRecord,
    Opening,
    check_sealed,
    read_record,
    write_record,
)
from fairjudge.domain import Judgement, Unscored
from fairjudge.engine.models import Llm, Models, RunCost, open_models, total_cost
from fairjudge.engine.progress import Progress, no_progress
from fairjudge.engine.runs import digest, make_folder, record_cost, record_spending
from fairjudge.errors import ConfigurationError, RunError
from fairjudge.judges.criteria import Criterion
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.parsing.outcomes import complete_or_unscored
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.folder import RunFolder, RunStore, write_atomically
from fairjudge.run.judges import criterion_of
from fairjudge.run.judging import judge_material
from fairjudge.run.material import check_material
from fairjudge.text.counting import pluralize

_ANCHORS = "anchors"
"""Rows of sets of anchors that a model wrote, so that no later start asks for others."""
_SIDES = "old"
_MAX_FAILED = 0.05
"""Share of a part's judgements that may lack a reply; above it nothing is decided."""
_ANCHORS_TOKENS = 2048
Counters = Callable[[str], Progress]
"""Called with a label; returns the `Progress` of a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignOutcome:
    """Result of ``fairjudge calibrate align``: its JSON, cost and files."""

    report: Mapping[str, Any]
    spent: RunCost | None
    folder: Path


async def align_loaded(
    material: AlignMaterial,
    *,
    options: AlignOptions,
    model: Model,
    folder: Path | None = None,
    progress: Counters = lambda _what: no_progress,
) -> AlignOutcome:
    """Try candidates on development, and the best of them on the sealed test, once.

    Candidates, runs and ``align.json`` are kept in ``folder``; by default one under the cache,
    named by the labelled items, so that a test that was opened is found again.
    """
    where = folder or model.cache_folder / "runs" / f"align-{material.sha256[:12]}"
    make_folder(where)
    opened = RunFolder(where, identity={"command": "align"})
    with opened as run, record_spending(run, model):
        work = _Work(
            material=material,
            options=options,
            model=model,
            folder=where,
            run=run,
            progress=progress,
        )
        report = await work.report()
        return AlignOutcome(report=report, spent=total_cost(work.spent), folder=where)


@dataclass(slots=True, kw_only=True)
class _Work:
    material: AlignMaterial
    options: AlignOptions
    model: Model
    folder: Path
    run: RunStore
    progress: Counters
    spent: list[RunCost | None] = field(default_factory=list)

    async def report(self) -> dict[str, Any]:
        """Run the remaining steps and return the outcome."""
        record = read_record(self.folder)
        self._check_sealed(record, test=self.material.sha256_of("test"))
        candidates, unusable = await self._candidates()
        for candidate in candidates:
            write_candidate(candidate, self.folder / "candidates", self.options.judging.aspect)
        opening = self._opening(candidates)
        self._check_sealed(record, test=opening.test, candidates=opening.candidates)
        sides = await self._compared(candidates, "development")
        gains = {name: gain_of(side.paired) for name, side in sides.items()}
        barred = {name: why_barred(side.paired) for name, side in sides.items()}
        chosen = choose({name: gain for name, gain in gains.items() if barred[name] is None})
        base = {
            "aspect": self.options.judging.aspect,
            "protocol": self.options.judging.plan().protocol,
            "judge": self.model.target,
            "parts": self.material.sizes(),
            "joins": [self.material.joined.to_json()],
            "candidates": [
                {"name": candidate.name, "kind": candidate.kind, "about": candidate.about}
                | {"development": asdict(gains[candidate.name]), "barred": barred[candidate.name]}
                | {"chosen": candidate.name == chosen}
                for candidate in candidates
            ],
            "unusable": unusable,
            "chosen": chosen,
            "folder": str(self.folder),
        }
        if chosen is None:
            self._keep(None)
            closed = {"decision": None, "audits": None, "n_opened": 0}
            return {"kept": False, "opened": False, **base, **closed, "criterion": None}
        best = next(candidate for candidate in candidates if candidate.name == chosen)
        opening = opening.model_copy(update={"chosen": chosen})
        report, n_opened = await self._opened(record, opening, best, sides[chosen])
        is_kept = bool(report["decision"]["kept"])
        criterion = self._keep(best if is_kept else None)
        tested = {"n_opened": n_opened, "criterion": None if criterion is None else str(criterion)}
        return {"kept": is_kept, "opened": True, **base, **report, **tested}

    async def _candidates(self) -> tuple[tuple[Candidate, ...], list[str]]:
        """Return the candidates, and those that could not be made."""
        base, kinds = base_criterion(self.options.judging), self.options.kinds
        async with open_models(self.model) as models:
            llm = writing_llm(models)
            sets = await self._anchors(base, llm, models) if "anchors" in kinds else ()
        candidates = tuple(made_of(base, self.options, self.material, sets))
        missing = self.options.rewordings - len(sets) if "anchors" in kinds else 0
        why = [f"{pluralize(missing, 'set')} of anchors could not be read"] if missing > 0 else []
        if not candidates:
            raise RunError(f"no candidate to try: {'; '.join(why) or 'nothing was asked for'}")
        return candidates, why

    async def _anchors(
        self, base: Criterion, llm: Llm, models: Models
    ) -> tuple[tuple[str, ...], ...]:
        """Return the recorded anchor sets, or request them from the model."""
        items, n_sets = self.material.rated(), self.options.rewordings
        messages = anchors_messages(base, items, n_sets=n_sets)
        key = _sha256([[m.content for m in messages], self.model.identity()])
        for row in self.run.read(_ANCHORS):
            if row["key"] == key:
                return tuple(map(tuple, row["sets"]))
        request = anchors_request(
            messages, target=llm.target, **{"max_output_tokens": _ANCHORS_TOKENS, **llm.sampling}
        )
        with record_cost(self.run, self.model, models.cost):
            reply = await complete_or_unscored(llm.backend, request)
        self.spent.append(models.cost())
        if isinstance(reply, Unscored):
            raise RunError(
                f"no anchors were written ({reply.reason}: {reply.detail}); the same command asks "
                "again, and --try examples or --try scale does without them"
            )
        sets = read_anchors(reply.text, base=base, limit=n_sets)
        self.run.append(_ANCHORS, {"key": key, "sets": sets})
        return sets

    async def _compared(self, candidates: Iterable[Candidate], part: PartName) -> dict[str, Sides]:
        """Judge a part by the old prompt and by each candidate, and join both to the labels."""
        old, labels = await self._judged(None, part), self.material.labels_of(part)
        reading = self.options.reading
        return {
            candidate.name: sides_of(old, await self._judged(candidate, part), labels, reading)
            for candidate in candidates
        }

    async def _opened(
        self, record: AlignRecord, opening: Opening, candidate: Candidate, development: Sides
    ) -> tuple[Mapping[str, Any], int]:
        """Open the test, unless it was opened for this; return its report and all openings."""
        self._check_sealed(
            record, test=opening.test, candidates=opening.candidates, chosen=opening.chosen
        )
        n_opened = len(record.before(opening)) + 1
        earlier = record.find(opening)
        opening = earlier or opening
        former = opening.report
        attributes = self.material.attributes
        if former is not None and former["audits"].get("attributes") == sorted(attributes):
            return former, n_opened
        if former is None:
            write_record(self.folder, record.with_opening(opening))  # before a word of it is read
        (test,) = (await self._compared([candidate], "test")).values()
        grouping = grouping_of(self.material.summaries_of("test"), attributes)
        level, seed = self.options.level, self.options.seed
        if former is None:
            report = opened_report(development, test, grouping, seed=seed, level=level)
        else:  # other groups of what is judged already: the decision stays the one that was made
            report = {**former, "audits": audits_of(development, test, grouping, level=level)}
        opened = opening.model_copy(update={"report": report})
        write_record(self.folder, record.with_opening(opened))
        return report, n_opened

    async def _judged(self, candidate: Candidate | None, part: PartName) -> Sequence[Judgement]:
        """Judge a part by a candidate, or by the old prompt where there is none."""
        name = _SIDES if candidate is None else candidate.name
        options = self.options.judging
        if candidate is not None:
            options = using(options, self.folder / "candidates", candidate.name)
        identity = {
            "judging": self._judging(),
            "candidate": None if candidate is None else candidate.sha256,
            "model": self.model.identity(),
            "sources": digest(self.material.sources.records),
            "summaries": digest(self.material.summaries_of(part)),
        }
        outcome = await judge_material(
            check_material(
                self.material.sources, self.material.loaded_summaries(part), options=options
            ),
            model=self.model,
            run_folder=self.folder / "runs" / f"{part}-{name}-{_sha256(identity)[:12]}",
            progress=self.progress(f"{part}: {name}"),
        )
        self.spent.append(outcome.spent)
        _check_answered(outcome.judgements, part=part, name=name)
        return outcome.judgements

    def _check_sealed(self, record: AlignRecord, **known: str) -> None:
        documents = self.material.parts["test"]
        check_sealed(record, documents, reopen=self.options.reopen, **known)

    def _opening(self, candidates: Sequence[Candidate]) -> Opening:
        """Return the opening of this test for one of `candidates`, which is still to be chosen."""
        tried = {
            "judging": self._judging(),
            "model": self.model.identity(),
            "candidates": [candidate.sha256 for candidate in candidates],
            "development": self.material.sha256_of("development"),
            "deciding": [self.options.level, self.options.reading.scale],
            "sources": digest(self.material.sources.records),
        }
        return Opening(
            when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            test=self.material.sha256_of("test"),
            documents=self.material.parts["test"],
            candidates=_sha256(tried),
            names=tuple(candidate.name for candidate in candidates),
            chosen="",
        )

    def _judging(self) -> dict[str, str]:
        """Return the identity of the old judge, with its own files by content."""
        base = base_criterion(self.options.judging)
        settings = replace(self.options.judging, prompt=None, scale=None).identity()
        prompt = {"prompt": base.template.sha256, "scale": repr(base.scale)}
        return {name: str(value) for name, value in settings.items()} | prompt

    def _keep(self, candidate: Candidate | None) -> Path | None:
        """Write the criterion that is kept, if any, to the top of the folder."""
        path = self.folder / "kept.toml"
        if candidate is None:
            path.unlink(missing_ok=True)
            return None
        text = criterion_text(candidate, self.options.judging.aspect, folder="candidates/")
        write_atomically(path, text)
        return path


def base_criterion(judging: JudgeOptions) -> Criterion:
    """Return the prompt and the scale that are to be improved."""
    plan = judging.plan()
    if PROTOCOLS[plan.protocol].itemized:
        raise ConfigurationError("align improves prompts of --protocol likert, binary or pairwise")
    return criterion_of(plan, judging)


def writing_llm(models: Models) -> Llm:
    """Return the model that judges and writes."""
    if models.llm is None or models.llm.decides is not None:
        raise ConfigurationError("align needs a model that reads a prompt: name one by --backend")
    return models.llm


def made_of(
    base: Criterion,
    options: AlignOptions,
    material: AlignMaterial,
    sets: Sequence[Sequence[str]],
) -> Iterable[Candidate]:
    """Yield the candidates of `options`, each wording once; `sets` are the anchors."""
    every = [*reworded(base, sets)]
    if "examples" in options.kinds:
        every += few_shot(base, material.rated())
    if "scale" in options.kinds:
        every += other_scales(base)
    yield from {candidate.sha256: candidate for candidate in every}.values()


def using(judging: JudgeOptions, folder: Path, name: str) -> JudgeOptions:
    """Return `judging` with the prompt and the scale of the candidate `name` in `folder`."""
    scale = folder / f"{name}.scale.toml"
    return replace(judging, rule=None, prompt=folder / f"{name}.md", scale=scale)


def write_candidate(candidate: Candidate, folder: Path, aspect: str) -> None:
    """Write template, scale and criterion of `candidate`: ``fairjudge judge`` takes them."""
    make_folder(folder)
    write_atomically(folder / f"{candidate.name}.md", candidate.prompt)
    write_atomically(folder / f"{candidate.name}.scale.toml", scale_text(candidate.scale))
    write_atomically(folder / f"{candidate.name}.toml", criterion_text(candidate, aspect))


def criterion_text(candidate: Candidate, aspect: str, *, folder: str = "") -> str:
    """Return the criterion file of `candidate`; its prompt and scale are in `folder`."""
    criterion = {
        "aspect": aspect,
        "prompt": f"{folder}{candidate.name}.md",
        "scale": f"{folder}{candidate.name}.scale.toml",
    }
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in criterion.items())


def _check_answered(rows: Sequence[Judgement], *, part: str, name: str) -> None:
    """Raise an error where another start could still obtain missing judgements."""
    why = Counter(row.unscored for row in rows)
    failed = why["backend"]
    if why["budget"] or failed > _MAX_FAILED * len(rows):
        reasons = ", ".join(f"{reason}: {why[reason]}" for reason in ("budget", "backend"))
        raise RunError(
            f"{part}, {name}: {pluralize(why['budget'] + failed, 'judgement')} of {len(rows)} got "
            f"no reply ({reasons}); no candidate was chosen; run the same command to resume"
        )


def _sha256(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
