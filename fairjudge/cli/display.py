"""What commands print when they are done: tables, counts, paths, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairjudge.cli.terminal import say
from fairjudge.reports.tables import TextTable, columns, number, print_table
from fairjudge.text.printable import shows_on_terminal

if TYPE_CHECKING:
    from fairjudge.app.building import BuildOutcome, Built
    from fairjudge.app.judging import JudgeOutcome
    from fairjudge.app.models import Spent
    from fairjudge.app.summaries import SummarizeOutcome

_MOST_NAMED = 8
"""How many skipped articles or problems are named; the JSON and the run folder have all."""


def write_json(target: str | None, value: Mapping[str, Any]) -> None:
    """Write `value` where ``--json`` says, if it says anything."""
    if target is None:
        return
    text = json.dumps(value, indent=1, ensure_ascii=shows_on_terminal(target)) + "\n"
    if target == "-":
        typer.echo(text, nl=False)
        return
    from fairjudge.errors import InputError
    from fairjudge.records import write_atomically

    try:
        write_atomically(Path(target), text)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=target) from None


def report(
    found: Mapping[str, Any],
    json_file: str | None,
    *,
    table: Callable[[Mapping[str, Any]], None],
) -> None:
    """Show `found` by `table`, unless its JSON goes to standard output, and write the JSON."""
    if json_file != "-":
        table(found)
    write_json(json_file, found)


def finish(n_unscored: int, n_all: int, *, most: float, what: str = "items") -> None:
    """End with exit code 3 where more than the share `most` is without a result."""
    if n_all and n_unscored / n_all > most:
        say(
            f"{n_unscored} of {n_all} {what} without a result ({n_unscored / n_all:.1%}): more "
            f"than --max-unscored {most:.0%}",
            err=True,
        )
        raise typer.Exit(3)


def built(outcome: BuildOutcome, *, output: Path, json_file: str | None) -> None:
    """Show what ``build`` made."""
    _skipped(outcome.bad_lines)
    if str(output) != "-" and json_file != "-":
        for one in outcome.clusters:
            print_table(_cluster_table(one))
        _tail(output, outcome.run, outcome.spent)
    write_json(
        json_file,
        {
            "clusters": [_cluster_json(one) for one in outcome.clusters],
            "signature": outcome.signature,
            "left_out": list(outcome.bad_lines),
            "spent": spent_json(outcome.spent),
        },
    )


def _cluster_table(one: Built) -> TextTable:
    reference = one.reference
    n_kept = len(reference.articles)
    rows = [
        (
            question.question,
            str(len({answer.aid for group in question.answer_groups for answer in group})),
            str(len(question.answer_groups)),
            str(sum(map(len, question.answer_groups))),
        )
        for question in reference.question_answers
    ]
    notes = []
    if one.skipped:
        notes.append(f"Left out: {_named([f'{aid} ({why})' for aid, why in one.skipped])}")
    if one.why_none:
        notes.append(f"No question: {one.why_none}")
    if one.problems:
        notes.append(f"Without a result: {_named(list(one.problems))}")
    return TextTable(
        title=f"{reference.eid}: {n_kept} of {one.n_articles} articles kept, "
        f"{len(reference.question_answers)} questions",
        columns=columns(
            "question", "sources", "groups", "answers", numbers=("sources", "groups", "answers")
        ),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _named(items: Sequence[str]) -> str:
    more = len(items) - _MOST_NAMED
    return ", ".join(items[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _cluster_json(one: Built) -> dict[str, Any]:
    return {
        "eid": one.reference.eid,
        "n_articles": one.n_articles,
        "kept": [article.aid for article in one.reference.articles],
        "skipped": [{"aid": aid, "why": why} for aid, why in one.skipped],
        "questions": [
            {
                "question": question.question,
                "n_sources": len({a.aid for group in question.answer_groups for a in group}),
                "n_groups": len(question.answer_groups),
                "n_answers": sum(map(len, question.answer_groups)),
            }
            for question in one.reference.question_answers
        ],
        "dropped": [{"question": question, "why": why} for question, why in one.dropped],
        "problems": list(one.problems),
        "why_no_questions": one.why_none,
    }


def judged(outcome: JudgeOutcome, *, output: Path, json_file: str | None) -> None:
    """Show what ``judge`` found."""
    _skipped(outcome.bad_lines)
    if str(output) != "-" and json_file != "-":
        print_table(_leaderboard(outcome))
        if outcome.without_tasks:
            say(f"Nothing to judge in clusters {_named(list(outcome.without_tasks))}")
        _tail(output, outcome.run, outcome.spent)
    write_json(
        json_file,
        {
            "aspect": outcome.plan.aspect,
            "protocol": outcome.plan.protocol,
            "reference_unit": outcome.plan.reference_unit,
            "text_unit": outcome.plan.text_unit,
            "n_judgements": len(outcome.judgements),
            "n_unscored": outcome.n_unscored,
            "systems": {score.system: _score_json(score) for score in outcome.scores},
            "signature": outcome.signature,
            "left_out": list(outcome.bad_lines),
            "spent": spent_json(outcome.spent),
        },
    )


_MEANING = {
    "likert": "mean rating, {low:g} to {high:g}",
    "binary": "share of yes, 0 to 1",
    "pairwise": "win rate, 0 to 1; a tie is half a win",
}


def _leaderboard(outcome: JudgeOutcome) -> TextTable:
    bounded = outcome.n_unscored > 0
    heads = ("score", *(("worst", "best") if bounded else ()), "clusters", "judged", "unscored")
    rows = [
        (
            score.system,
            number(_or_none(score.mean)),
            *([number(_or_none(score.low)), number(_or_none(score.high))] if bounded else []),
            str(score.n_clusters),
            str(score.n_judged),
            str(score.n_unscored),
        )
        for score in outcome.scores
    ]
    low, high = outcome.scale_range
    notes = [f"Score: {_MEANING[outcome.plan.protocol].format(low=low, high=high)}."]
    if bounded:
        reasons = ", ".join(f"{n} {reason}" for reason, n in outcome.unscored_reasons.items())
        notes.append(
            f"Unscored: {reasons}. Worst and best: the mean if every unscored item stood at the "
            "bottom or the top of the scale."
        )
    if any(judgement.scored_by == "embedding" for judgement in outcome.judgements):
        notes.append(
            "Scored by embedding: wording compared with wording, no language model. It misses "
            "paraphrase and plausible errors; calibrate before trusting the level."
        )
    return TextTable(
        title=f"{outcome.plan.aspect}, {outcome.plan.protocol}, against "
        f"{outcome.plan.reference_unit}",
        columns=columns("system", *heads, numbers=heads),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _or_none(value: object) -> float | None:
    return value if isinstance(value, float | int) else None


def _score_json(score: Any) -> dict[str, Any]:
    return {
        "mean": _or_none(score.mean),
        "worst": _or_none(score.low),
        "best": _or_none(score.high),
        "n_clusters": score.n_clusters,
        "n_judged": score.n_judged,
        "n_unscored": score.n_unscored,
    }


def summarized(outcome: SummarizeOutcome, *, output: Path, json_file: str | None) -> None:
    """Show what ``summarize`` wrote."""
    _skipped(outcome.bad_lines)
    failures = [
        {"eid": one.eid, "system": one.system, "reason": one.why.reason, "detail": one.why.detail}
        for one in outcome.failed
    ]
    written = outcome.n_by_system()
    if str(output) != "-" and json_file != "-":
        for system, n in written.items():
            say(f"{n} summaries by {system}")
        if failures:
            several = len(written) > 1
            named = [
                f"{row['eid']}{' by ' + str(row['system']) if several else ''} "
                f"({row['reason']}: {row['detail']})"
                for row in failures
            ]
            say(f"Without a summary: {_named(named)}")
        _tail(output, outcome.run, outcome.spent)
    write_json(
        json_file,
        {
            "system": next(iter(outcome.systems)),
            "n_summaries": len(outcome.summaries),
            "systems": {
                system: {
                    "n_summaries": written[system],
                    "change": setting.change,
                    "temperature": setting.temperature,
                    "sentences": setting.wishes.n_sentences,
                    "words": setting.wishes.n_words,
                    "fair": setting.wishes.fair_attribute,
                }
                for system, setting in outcome.systems.items()
            },
            "failed": failures,
            "left_out": list(outcome.bad_lines),
            "spent": spent_json(outcome.spent),
        },
    )


def spent_json(spent: Spent | None) -> dict[str, Any] | None:
    """Return what was spent as JSON; null for the embedded default."""
    if spent is None:
        return None
    return {
        "n_calls": spent.n_calls,
        "n_cached": spent.n_cached,
        "cost_usd": spent.cost_usd,
        "retries": dict(spent.retries),
    }


def _skipped(bad: Sequence[str]) -> None:
    """Name on standard error what ``--skip-bad`` left out."""
    if bad:
        say(f"Left out {len(bad)} bad lines:", err=True)
        for line in bad[:_MOST_NAMED]:
            say(f"  {line}", err=True)
        if len(bad) > _MOST_NAMED:
            say(f"  and {len(bad) - _MOST_NAMED} more", err=True)


def _tail(output: Path, run: Path | str, spent: Spent | None) -> None:
    if spent is not None:
        cost = "unknown" if spent.cost_usd is None else f"{spent.cost_usd:.4f} US dollars"
        say(f"Calls: {spent.n_calls}, from the cache: {spent.n_cached}, cost: {cost}")
    say(f"Written: {output}")
    say(f"Run folder: {run}" if isinstance(run, Path) else f"Run: {run}")
