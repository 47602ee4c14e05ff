"""Improve a judge's prompt with human labels: candidates, development, one held-out test."""

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
    reworded_candidates,
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
"""Key of recorded anchor sets, so that later runs do not request new ones."""
_SIDES = "old"
_MAX_FAILED = 0.05
"""Maximum share of a part's judgements without a reply."""
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
    """Evaluate candidates on development, and the best one, once, on the held-out test.

    Candidates, runs and ``align.json`` are stored in ``folder``. The default is a folder in the
    cache named after the labelled items, so that earlier uses of the test are found.
    """
    where = folder or model.cache_folder / "runs" / f"align-{material.sha256[:12]}"
    make_folder(where)
    run_folder = RunFolder(where, identity={"command": "align"})
    with run_folder as run, record_spending(run, model):
        work = _Work(
            material=material,
            options=options,
            model=model,
            folder=where,
            run=run,
            progress=progress,
        )
        report = await work.run_remaining()
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

    async def run_remaining(self) -> dict[str, Any]:
        """Run the remaining steps and return the report."""
        record = read_record(self.folder)
        self._check_sealed(record, test=self.material.sha256_of("test"))
        candidates, unusable = await self._candidates()
        for candidate in candidates:
            write_candidate(candidate, self.folder / "candidates", self.options.judging.aspect)
        opening = self._opening(candidates)
        self._check_sealed(record, test=opening.test, candidates=opening.candidates)
        sides_by_name = await self._compare_sides(candidates, "development")
        gains = {name: gain_of(side.paired) for name, side in sides_by_name.items()}
        barred = {name: why_barred(side.paired) for name, side in sides_by_name.items()}
        chosen_name = choose({name: gain for name, gain in gains.items() if barred[name] is None})
        base = {
            "aspect": self.options.judging.aspect,
            "protocol": self.options.judging.plan().protocol,
            "judge": self.model.target,
            "parts": self.material.sizes(),
            "joins": [self.material.joined.to_json()],
            "candidates": [
                {"name": candidate.name, "kind": candidate.kind, "about": candidate.about}
                | {"development": asdict(gains[candidate.name]), "barred": barred[candidate.name]}
                | {"chosen": candidate.name == chosen_name}
                for candidate in candidates
            ],
            "unusable": unusable,
            "chosen": chosen_name,
            "folder": str(self.folder),
        }
        if chosen_name is None:
            self._keep(None)
            outcome = {"decision": None, "audits": None, "n_opened": 0}
            return {"kept": False, "opened": False, **base, **outcome, "criterion": None}
        best = next(candidate for candidate in candidates if candidate.name == chosen_name)
        opening = opening.model_copy(update={"chosen": chosen_name})
        report, n_opened = await self._run_test(record, opening, best, sides_by_name[chosen_name])
        is_kept = bool(report["decision"]["kept"])
        criterion = self._keep(best if is_kept else None)
        test_fields = {
            "n_opened": n_opened,
            "criterion": None if criterion is None else str(criterion),
        }
        return {"kept": is_kept, "opened": True, **base, **report, **test_fields}

    async def _candidates(self) -> tuple[tuple[Candidate, ...], list[str]]:
        """Return the candidates, and problems with making others."""
        base, kinds = base_criterion(self.options.judging), self.options.kinds
        async with open_models(self.model) as models:
            llm = writing_llm(models)
            sets = await self._anchors(base, llm, models) if "anchors" in kinds else ()
        candidates = tuple(make_candidates(base, self.options, self.material, sets))
        n_missing = self.options.rewordings - len(sets) if "anchors" in kinds else 0
        problems = (
            [f"{pluralize(n_missing, 'set')} of anchors could not be read"] if n_missing > 0 else []
        )
        if not candidates:
            raise RunError(f"no candidate to try: {'; '.join(problems) or 'nothing was asked for'}")
        return candidates, problems

    async def _anchors(
        self, base: Criterion, llm: Llm, models: Models
    ) -> tuple[tuple[str, ...], ...]:
        """Return the recorded anchor sets, or request them from the model."""
        items, n_sets = self.material.rated(), self.options.rewordings
        messages = anchors_messages(base, items, n_sets=n_sets)
        key = _sha256([[message.content for message in messages], self.model.identity()])
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
                f"no reply with anchors ({reply.reason}: {reply.detail}); rerun the command to try "
                "again, or use --try examples or --try scale, which need no anchors"
            )
        sets = read_anchors(reply.text, base=base, limit=n_sets)
        self.run.append(_ANCHORS, {"key": key, "sets": sets})
        return sets

    async def _compare_sides(
        self, candidates: Iterable[Candidate], part: PartName
    ) -> dict[str, Sides]:
        """Judge a part with the old prompt and each candidate, and join both with the labels."""
        old, labels = await self._judge_part(None, part), self.material.labels_of(part)
        reading = self.options.reading
        return {
            candidate.name: sides_of(old, await self._judge_part(candidate, part), labels, reading)
            for candidate in candidates
        }

    async def _run_test(
        self, record: AlignRecord, opening: Opening, candidate: Candidate, development: Sides
    ) -> tuple[Mapping[str, Any], int]:
        """Run the test, unless it is recorded; return its report and the number of uses."""
        self._check_sealed(
            record, test=opening.test, candidates=opening.candidates, chosen=opening.chosen
        )
        n_opened = len(record.other_openings(opening)) + 1
        recorded_opening = record.find(opening)
        opening = recorded_opening or opening
        recorded_report = opening.report
        attributes = self.material.attributes
        if recorded_report is not None and recorded_report["audits"].get("attributes") == sorted(
            attributes
        ):
            return recorded_report, n_opened
        if recorded_report is None:
            write_record(self.folder, record.with_opening(opening))  # before the test is used
        (test,) = (await self._compare_sides([candidate], "test")).values()
        grouping = grouping_of(self.material.summaries_of("test"), attributes)
        level, seed = self.options.level, self.options.seed
        if recorded_report is None:
            report = opened_report(development, test, grouping, seed=seed, level=level)
        else:  # only the audit groups differ: keep the recorded decision
            report = {
                **recorded_report,
                "audits": audits_of(development, test, grouping, level=level),
            }
        completed_opening = opening.model_copy(update={"report": report})
        write_record(self.folder, record.with_opening(completed_opening))
        return report, n_opened

    async def _judge_part(self, candidate: Candidate | None, part: PartName) -> Sequence[Judgement]:
        """Judge a part with a candidate, or with the old prompt if it is None."""
        name = _SIDES if candidate is None else candidate.name
        options = self.options.judging
        if candidate is not None:
            options = with_candidate(options, self.folder / "candidates", candidate.name)
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
        """Return the opening of this test for one of `candidates`, to be chosen later."""
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
        """Return the identity of the old judge, with its files by content."""
        base = base_criterion(self.options.judging)
        settings = replace(self.options.judging, prompt=None, scale=None).identity()
        prompt = {"prompt": base.template.sha256, "scale": repr(base.scale)}
        return {name: str(value) for name, value in settings.items()} | prompt

    def _keep(self, candidate: Candidate | None) -> Path | None:
        """Write the kept candidate's criterion to ``kept.toml``, or remove the file if None."""
        path = self.folder / "kept.toml"
        if candidate is None:
            path.unlink(missing_ok=True)
            return None
        text = criterion_text(candidate, self.options.judging.aspect, folder="candidates/")
        write_atomically(path, text)
        return path


def base_criterion(judging: JudgeOptions) -> Criterion:
    """Return the prompt and the scale to improve."""
    plan = judging.plan()
    if PROTOCOLS[plan.protocol].itemized:
        raise ConfigurationError("align improves prompts of --protocol likert, binary or pairwise")
    return criterion_of(plan, judging)


def writing_llm(models: Models) -> Llm:
    """Return the model that judges and writes anchors."""
    if models.llm is None or models.llm.decides is not None:
        raise ConfigurationError("align needs an LLM: pass one with --backend")
    return models.llm


def make_candidates(
    base: Criterion,
    options: AlignOptions,
    material: AlignMaterial,
    sets: Sequence[Sequence[str]],
) -> Iterable[Candidate]:
    """Yield the distinct candidates for `options`, with anchor sets `sets`."""
    candidates = [*reworded_candidates(base, sets)]
    if "examples" in options.kinds:
        candidates += few_shot(base, material.rated())
    if "scale" in options.kinds:
        candidates += other_scales(base)
    yield from {candidate.sha256: candidate for candidate in candidates}.values()


def with_candidate(judging: JudgeOptions, folder: Path, name: str) -> JudgeOptions:
    """Return `judging` with prompt and scale of the candidate `name` in `folder`."""
    scale = folder / f"{name}.scale.toml"
    return replace(judging, rule=None, prompt=folder / f"{name}.md", scale=scale)


def write_candidate(candidate: Candidate, folder: Path, aspect: str) -> None:
    """Write template, scale and criterion of `candidate`, to be used by ``fairjudge judge``."""
    make_folder(folder)
    write_atomically(folder / f"{candidate.name}.md", candidate.prompt)
    write_atomically(folder / f"{candidate.name}.scale.toml", scale_text(candidate.scale))
    write_atomically(folder / f"{candidate.name}.toml", criterion_text(candidate, aspect))


def criterion_text(candidate: Candidate, aspect: str, *, folder: str = "") -> str:
    """Return the criterion file of `candidate`, with prompt and scale in `folder`."""
    criterion = {
        "aspect": aspect,
        "prompt": f"{folder}{candidate.name}.md",
        "scale": f"{folder}{candidate.name}.scale.toml",
    }
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in criterion.items())


def _check_answered(rows: Sequence[Judgement], *, part: str, name: str) -> None:
    """Raise an error if too many judgements are missing that another run could obtain."""
    n_by_reason = Counter(row.unscored for row in rows)
    n_failed = n_by_reason["backend"]
    if n_by_reason["budget"] or n_failed > _MAX_FAILED * len(rows):
        reasons = ", ".join(f"{reason}: {n_by_reason[reason]}" for reason in ("budget", "backend"))
        raise RunError(
            f"{part}, {name}: {pluralize(n_by_reason['budget'] + n_failed, 'judgement')} of "
            f"{len(rows)} got no reply ({reasons}); no candidate was chosen; run the same command "
            "to resume"
        )


def _sha256(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
