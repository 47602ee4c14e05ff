"""A jury: several judges on the same questions, each verdict kept, and what they say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Any

from fairjudge.app.judging import JudgeOptions, JudgeOutcome, digests, judge_files
from fairjudge.app.models import ModelOptions, Spent
from fairjudge.app.runs import check_writable, open_run
from fairjudge.backends.budgeting import Budget
from fairjudge.datasets import write_records
from fairjudge.domain import Judgement, Undefined, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.aggregate import system_scores, with_pair_verdicts
from fairjudge.judges.juries import JuryRule, jury


def judge_with_jury(
    references: Path,
    summaries: Path,
    output: Path,
    *,
    options: JudgeOptions,
    members: Sequence[ModelOptions],
    rule: JuryRule,
    run: Path | None,
    skip_bad: bool,
    progress: Callable[[int], Callable[[int], None]],
) -> JudgeOutcome:
    """Let every member judge, one after the other, and write the jury's rows before theirs.

    Each member has its own run folder, ``member-<n>`` within the jury's. What the first member's
    options allow to be spent is for all of them together: where it ends, the items that the later
    members had yet to judge are unscored. The outcome's scores are the jury's.

    Raises
    ------
    FairJudgeError
        As `judge_files`; and where one backend is named twice.
    """
    names = _names(members)
    budget = _common_budget(members)
    check_writable(output)
    opened = open_run(
        run,
        cache_folder=members[0].cache_folder,
        command="judge",
        store=members[0].store,
        identity={
            **digests(references, summaries, options=options, skip_bad=skip_bad),
            "members": names,
            "jury": rule,
            "model": [member.identity() for member in members],
        },
    )
    with opened as folder:
        outcomes = [
            judge_files(
                references,
                summaries,
                output,
                options=options,
                model=member,
                run=folder.path / f"member-{place}",
                skip_bad=skip_bad,
                progress=progress,
                budget=budget,
            )
            for place, member in enumerate(members, 1)
        ]
    rows = with_pair_verdicts(jury_rows([one.judgements for one in outcomes], rule=rule))
    judgements = (*rows, *(row for one in outcomes for row in one.judgements))
    write_records(output, judgements)
    return replace(
        outcomes[0],
        judgements=judgements,
        scores=system_scores(rows, scale_range=outcomes[0].scale_range),
        signature=rows[0].signature,
        spent=_together([one.spent for one in outcomes]),
        run=folder.shown,
    )


def _names(members: Sequence[ModelOptions]) -> list[str]:
    names = [member.backend for member in members]
    if len(set(names)) < len(names):
        raise ConfigurationError(f"a jury needs different judges; given were {', '.join(names)}")
    return names


def _common_budget(members: Sequence[ModelOptions]) -> Budget:
    """Return what the first member may spend, for all of them; each must have a price."""
    budget = members[0].budget()
    for target in filter(None, (member.target for member in members)):
        budget.check_priced(target)
    return budget


def jury_rows(members: Sequence[Sequence[Judgement]], *, rule: JuryRule) -> tuple[Judgement, ...]:
    """Return the jury's judgement of every item, from the members' judgements in the same order.

    Raises
    ------
    ValueError
        If the members' items differ.
    """
    return tuple(_row(each, rule) for each in zip(*members, strict=True))


def _row(members: Sequence[Judgement], rule: JuryRule) -> Judgement:
    first = members[0]
    if any(_item(row) != _item(first) for row in members):
        raise ValueError("the members of a jury must judge the same items in the same order")
    verdict = jury({row.judge: _said(row) for row in members}, rule=rule)
    fields: dict[str, Any] = {
        **_item(first),
        "judge": f"jury-{rule}({','.join(row.judge for row in members)})",
        "value": None if isinstance(verdict.value, Undefined) else verdict.value,
        "unscored": _why(members) if isinstance(verdict.value, Undefined) else None,
        "raw": None,
        "scored_by": first.scored_by if len({row.scored_by for row in members}) == 1 else "llm",
        "probabilities": _mean_probabilities(members),
        "signature": f"rule:{rule};" + ";".join(row.signature for row in members),
        "members": {row.judge: row.value for row in members},
        "n_scored": verdict.n_scored,
        "agreement": None if isinstance(verdict.agreement, Undefined) else verdict.agreement,
        "split": verdict.split,
    }
    return Judgement.model_validate(fields)


def _item(row: Judgement) -> dict[str, Any]:
    names = ("eid", "system", "system_a", "system_b", "order", "aspect", "protocol", "unit")
    return {name: getattr(row, name) for name in names if getattr(row, name) is not None}


def _said(row: Judgement) -> Any:
    return row.value if row.unscored is None else Unscored(reason=row.unscored)


def _why(members: Sequence[Judgement]) -> str:
    """Return the members' most frequent reason, the first member's among equals."""
    return Counter(str(row.unscored) for row in members).most_common(1)[0][0]


def _scored(members: Sequence[Judgement]) -> list[Judgement]:
    return [row for row in members if row.unscored is None]


def _mean_probabilities(members: Sequence[Judgement]) -> Mapping[str, float] | None:
    """Return the mean of the scored members' distributions, where all of them have one."""
    given = [row.probabilities for row in _scored(members)]
    found = [one for one in given if one is not None]
    if not found or len(found) < len(given):
        return None
    answers = list(dict.fromkeys(answer for one in found for answer in one))
    return {answer: fsum(one.get(answer, 0.0) for one in found) / len(found) for answer in answers}


def _together(spent: Sequence[Spent | None]) -> Spent | None:
    paid = [one for one in spent if one is not None]
    if not paid:
        return None
    costs = [one.cost_usd for one in paid]
    retries: Counter[str] = Counter()
    for one in paid:
        retries.update(one.retries)
    return Spent(
        retries=dict(retries),
        n_calls=sum(one.n_calls for one in paid),
        n_cached=sum(one.n_cached for one in paid),
        cost_usd=None if None in costs else fsum(cost for cost in costs if cost is not None),
    )
