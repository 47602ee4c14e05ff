"""Judge by one model or by a jury; the verdicts of all members are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import fsum
from pathlib import Path
from typing import Any

from fairjudge.datasets import write_records
from fairjudge.domain import Judgement, Undefined, Unscored
from fairjudge.engine.coroutines import run_to_end
from fairjudge.engine.models import print_warning, total_cost
from fairjudge.engine.progress import Progress, no_progress
from fairjudge.engine.runs import check_writable, open_run, record_spending
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import GuaranteedThreshold
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.run.judging import JudgeOutcome, check_priced, judge_material
from fairjudge.run.material import Material, read_material
from fairjudge.scores.aggregate import system_scores, with_pair_verdicts
from fairjudge.scores.juries import JuryRule, jury
from fairjudge.scores.ratings import rating_of
from fairjudge.text.model_families import own_family_warning


def judge_files(
    references: Path,
    summaries: Path | Sequence[Path],
    output: Path,
    *,
    options: JudgeOptions,
    models: Sequence[Model],
    rule: JuryRule = "mean",
    run: Path | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
    progress: Progress = no_progress,
) -> JudgeOutcome:
    """Judge files of summaries, as if they were one, and write judgements; see `judge_by`."""
    check_writable(output)
    material = read_material(references, summaries, options=options, skip_bad=skip_bad, limit=limit)
    outcome = run_to_end(judge_by(models, material, rule=rule, run_folder=run, progress=progress))
    write_records(output, chain(outcome.judgements, outcome.derived))
    return outcome


async def judge_by(
    models: Sequence[Model],
    material: Material,
    *,
    rule: JuryRule = "mean",
    run_folder: Path | None = None,
    progress: Progress = no_progress,
) -> JudgeOutcome:
    """Judge the tasks of `material` by one model, or by several as a jury; see `judge_material`.

    The members of a jury judge one after the other, each in its own run folder, ``member-<n>`` in
    the jury's. The jury's judgements come first, and the scores are the jury's. All members share
    the budget of the first: items not judged when it is spent are unscored.
    """
    systems = [summary.system for summary in material.written]
    for member in models:
        if warning := own_family_warning(member.target, systems):
            print_warning(f"{warning}; 'calibrate --family' measures by how much")
    if len(models) == 1:
        return await judge_material(
            material, model=models[0], run_folder=run_folder, progress=progress
        )
    check_members(models, material.options)
    names = [member.target for member in models]
    members = [member.with_budget(models[0].budget) for member in models]
    opened = open_run(
        run_folder,
        command="judge",
        model=members[0],
        identity={
            **material.identity(),
            "members": names,
            "jury": rule,
            "model": [member.identity() for member in members],
        },
    )
    with opened as folder, record_spending(folder, members[0]):
        outcomes = [
            await judge_material(
                material,
                model=member,
                run_folder=folder.path / f"member-{number}",
                progress=progress,
            )
            for number, member in enumerate(members, 1)
        ]
    return _outcome_of_jury(outcomes, rule=rule, run=folder.display_name)


def _outcome_of_jury(
    outcomes: Sequence[JudgeOutcome], *, rule: JuryRule, run: Path | str
) -> JudgeOutcome:
    """Return the outcome of a jury in `run`, from those of its members."""
    rows = with_pair_verdicts(jury_rows([outcome.judgements for outcome in outcomes], rule=rule))
    judgements = (*rows, *(row for outcome in outcomes for row in outcome.judgements))
    return replace(
        outcomes[0],
        judgements=judgements,
        ratings=tuple(map(rating_of, judgements)),
        derived=(
            *jury_rows([outcome.derived for outcome in outcomes], rule=rule),
            *(row for outcome in outcomes for row in outcome.derived),
        ),
        scores=system_scores(rows, scale_range=outcomes[0].scale_range),
        signature=rows[0].signature,
        was_finished=all(outcome.was_finished for outcome in outcomes),
        spent=total_cost(outcome.spent for outcome in outcomes),
        run=run,
        costs=tuple(cost for outcome in outcomes for cost in outcome.costs),
    )


def check_members(models: Sequence[Model], options: JudgeOptions) -> None:
    """Reject invalid combinations of models, and unknown prices if the cost is limited."""
    names = [member.target for member in models]
    if len(models) > 1 and options.together:
        raise ConfigurationError("--together needs one --backend: a jury judges one aspect per run")
    if len(models) > 1 and isinstance(options.cascade, GuaranteedThreshold):
        raise ConfigurationError("--cascade with a guarantee needs one --backend, the better judge")
    if len(set(names)) < len(names):
        raise ConfigurationError(f"a jury needs different judges, not {', '.join(names)}")
    check_priced([member.with_budget(models[0].budget) for member in models])


def jury_rows(members: Sequence[Sequence[Judgement]], *, rule: JuryRule) -> tuple[Judgement, ...]:
    """Return the jury's judgement of every item, from the members' judgements in the same order."""
    return tuple(_row(rows, rule) for rows in zip(*members, strict=True))


def _row(members: Sequence[Judgement], rule: JuryRule) -> Judgement:
    first = members[0]
    if any(_item(row) != _item(first) for row in members):
        raise ValueError("the members of a jury must judge the same items in the same order")
    values: dict[str, Any] = {
        row.judge: row.value if row.unscored is None else Unscored(reason=row.unscored)
        for row in members
    }
    verdict = jury(values, rule=rule)
    # The most frequent reason; in a tie, that of the first member.
    reason = Counter(str(row.unscored) for row in members).most_common(1)[0][0]
    fields: dict[str, Any] = {
        **_item(first),
        "judge": f"jury-{rule}({','.join(row.judge for row in members)})",
        "value": None if isinstance(verdict.value, Undefined) else verdict.value,
        "unscored": reason if isinstance(verdict.value, Undefined) else None,
        "raw": None,
        "scored_by": first.scored_by if len({row.scored_by for row in members}) == 1 else "llm",
        "probabilities": _mean_probabilities(members),
        "signature": f"rule:{rule};" + ";".join(row.signature for row in members),
        "members": {row.judge: row.value for row in members},
        "n_scored": verdict.n_scored,
        "agreement": None if isinstance(verdict.agreement, Undefined) else verdict.agreement,
        "split": verdict.split,
    }
    reasons = {row.judge: row.without_probabilities for row in members if row.unscored is None}
    if derived_from := (first.model_extra or {}).get("derived_from"):
        fields["derived_from"] = derived_from
    if text := "; ".join(f"{judge}: {reason}" for judge, reason in reasons.items() if reason):
        fields["without_probabilities"] = text
    return Judgement.model_validate(fields)


def _item(row: Judgement) -> dict[str, Any]:
    names = (
        "eid", "system", "system_a", "system_b", "order", "aspect", "protocol", "unit", "repeat",
        "variant",
    )  # fmt: skip
    return {name: getattr(row, name) for name in names if getattr(row, name) is not None}


def _mean_probabilities(members: Sequence[Judgement]) -> Mapping[str, float] | None:
    """Return the mean distribution of the candidates members; None unless all of them have one."""
    candidates = [row.probabilities for row in members if row.unscored is None]
    distributions = [distribution for distribution in candidates if distribution is not None]
    if not distributions or len(distributions) < len(candidates):
        return None
    n = len(distributions)
    return {
        answer: fsum(distribution.get(answer, 0.0) for distribution in distributions) / n
        for answer in dict.fromkeys(chain.from_iterable(distributions))
    }
