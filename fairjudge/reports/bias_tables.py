"""Tables of the ``bias`` commands, from their JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairjudge.bias.entity_analysis import ENTITIES
from fairjudge.bias.measures import BiasMeasure, BiasMeasures
from fairjudge.bias.representation import DISTINGUISHABILITY
from fairjudge.bias.word_lists import WORDS
from fairjudge.reports.figures import (
    Json,
    bounds,
    interval,
    share_in_percent,
    tally,
    undefined_reason,
)
from fairjudge.reports.row_tables import hidden_note, keyed_rows, nested_rows, table
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.counting import pluralize

_SHOWN_NAMES = 10
_SHOWN_ORIGINALS = 3
_INTERVAL_NOTE = (
    "Intervals: 95 %, over original documents; 'by assignment': over the assignments within them."
)
_BOUND_NOTE = (
    ">=: all or none of a group are named, so the odds ratio is undefined; exact bound at 95 %."
)
_SCORE_COLUMNS = "system: {system} | score> {score:interval} | by assignment> {assignment}"


def words_tables(report: Json) -> Iterator[TextTable]:
    """Yield one table per measure, and the shares of each group."""
    other_reference = "uniform" if report["reference"] == "source" else "source"
    details = {"inclusion": f" | vs {other_reference}> {{against_{other_reference}[value]:number}}"}
    for measure in table_measures(report, WORDS):
        yield _scores(report, measure, f"{details.get(measure.key, '')} | summaries> {{n}}")
    yield table(
        "Shares of identifiers",
        "system: {system} | group: {group} | n> {n_summary}"
        " | summaries %> {summary:share} | reference %> {reference:share}"
        " | difference (points)> {difference:points}"
        " | p> {difference:holm}",
        nested_rows(report["systems"], "system", "by_group", "group"),
        notes=["n: identifiers in summaries. p: of no difference, corrected over groups (Holm)."],
    )


def entities_tables(report: Json) -> Iterator[TextTable]:
    """Yield one table per measure, then odds ratios and sizes."""
    for measure in table_measures(report, ENTITIES):
        if measure.key == "inclusion":
            yield _inclusion(report, measure)
        elif measure.key == "hallucination":
            yield _hallucination(report, measure)
        else:
            yield _scores(report, measure, " | summaries> {n}")
    yield from _odds(report)
    yield from _sizes(report)


def table_measures(report: Json, measures: BiasMeasures[Any]) -> list[BiasMeasure[Any]]:
    """Return the measures that tables show, without those that the JSON lacks (earlier versions).

    In ``bias distinguishability`` each representation has its own values.
    """
    if measures is DISTINGUISHABILITY:
        results: list[Json] = [entry["score"] for entry in representations(report)]
        keys = {key for result in results for key in result} | {"score"}
    else:
        keys = {key for system in report["systems"].values() for key in system}
    return [measure for measure in measures.shown if measure.key in keys]


def _scores(report: Json, measure: BiasMeasure[Any], extra_columns: str) -> TextTable:
    """Return the table of one measure, with `extra_columns`."""
    return table(
        (measure.title or measure.label).format(**report),
        _SCORE_COLUMNS + extra_columns,
        _with_assignment(report["systems"], measure.key),
        notes=(
            f"Score: {measure.note}" if measure.note else "",
            _INTERVAL_NOTE,
            *_notes(report, "score", measure.key),
        ),
    )


def _inclusion(report: Json, measure: BiasMeasure[Any]) -> TextTable:
    groups = report["groups"]
    headers = ("score", "by assignment", *(f"p({group})" for group in groups), "no group", "n")
    rows = tuple(
        (
            row["system"],
            _score_or_bound(row["score"]),
            row["assignment"],
            *(number(row["by_group"][group]["value"]) for group in groups),
            str(row["n_ungrouped"]),
            str(row["n"]),
        )
        for row in _with_assignment(report["systems"], measure.key)
    )
    has_bound = any(score.startswith(">=") for _, score, *_ in rows)
    return TextTable(
        title=measure.label,
        columns=columns("system", *headers, numbers=headers),
        rows=rows,
        notes=(
            f"Score: {measure.note} n: summaries; no group: people without a known group.",
            _INTERVAL_NOTE,
            *((_BOUND_NOTE,) if has_bound else ()),
            *_notes(report, "inclusion", measure.key),
        ),
    )


def _sizes(report: Json) -> Iterator[TextTable]:
    """Yield the lengths and name counts of summaries, if the report has them."""
    rows = [
        {"system": system, "n": figures["n"], **figures["sizes"]}
        for system, figures in report["systems"].items()
        if "sizes" in figures
    ]
    if rows:
        yield table(
            "Words and names of a summary",
            "system: {system} | summaries> {n} | words> {words[mean]:number.1}"
            " | sd of words> {words[deviation]:number.1} | names> {names[mean]:number}"
            " | sd of names> {names[deviation]:number} | made up %> {made_up:share}",
            rows,
        )


def _score_or_bound(score: Json) -> str:
    """Return the score, or its lower bound if the odds of a group are 0 or infinite."""
    lower_bound = score.get("at_least")
    return interval(score) if lower_bound is None else f">= {number(lower_bound)}"


def _odds(report: Json) -> Iterator[TextTable]:
    """Yield the odds ratio of each pair of groups, if the report has exact bounds."""
    rows = [
        {
            **pair,
            "system": system,
            "named": ", ".join(_named_count(figures["by_group"][pair[side]]) for side in _SIDES),
        }
        for system, figures in report["systems"].items()
        for pair in figures["odds_ratios"]
        if "exact" in pair
    ]
    if rows:
        yield table(
            "Odds of inclusion, group to other group; 1 is unbiased",
            "system: {system} | group: {group} | other: {other} | named> {named}"
            " | ratio> {row:interval}"
            " | p> {row:holm} | exact bounds> {exact_bounds} | exact p> {exact[p_holm]:p}",
            rows,
            notes=(
                "Named: of all people of the group, then of the other group. "
                "Exact: conditional on the number of people named in each original (95 %); valid "
                "for few documents, and if all or none of a group are named. p: corrected over "
                "pairs of groups (Holm).",
            ),
            exact_bounds=lambda pair: _exact_bounds(pair["exact"]),
        )


_SIDES = ("group", "other")


def _named_count(share: Json) -> str:
    """Return the number of named people of a group and their total: ``"3 of 7"``."""
    if share["value"] is None:
        return "-"
    return f"{round(share['value'] * share['n'])} of {share['n']}"


def _exact_bounds(exact: Json) -> str:
    if exact["p_value"] is None:
        return "-"
    low, high = exact["low"], exact["high"]
    return f"{ratio(low or 0.0)}, {'unbounded' if high is None else ratio(high)}"


def ratio(value: float) -> str:
    """Return a ratio with two decimals; ratios below 0.1 with two significant digits."""
    return f"{value:.2g}" if 0.0 < value < 0.1 else number(value)


def _hallucination(report: Json, measure: BiasMeasure[Any]) -> TextTable:
    systems = report["systems"]
    return table(
        measure.label,
        f"{_SCORE_COLUMNS} | names> {{n_names}} | aligned> {{n_aligned}}"
        " | made up> {n_hallucinated} | unknown> {n_unknown}",
        _with_assignment(systems, measure.key),
        notes=(
            f"Score: {measure.note} unknown: made-up people whose name suggests no group.",
            *_hallucination_notes(systems),
        ),
    )


def _hallucination_notes(systems: Mapping[str, Json]) -> Iterator[str]:
    for system, figures in systems.items():
        reason = undefined_reason(figures["hallucination"])
        if reason and (figures["n_hallucinated"] or "by_group" not in figures["hallucination"]):
            yield f"{system}: no score: {reason}."
        names = [
            f"{name['name']} ({name['group'] or 'unknown'}) {name['n']}"
            for name in figures["hallucinated"][:_SHOWN_NAMES]
        ]
        if names:
            yield f"{system}, made up most often: {', '.join(names)}"


def distinguishability_tables(report: Json) -> Iterator[TextTable]:
    """Yield the measures by system and representation, and the most predictive originals."""
    rows = list(representations(report))
    for measure in table_measures(report, DISTINGUISHABILITY):
        is_score = measure.key == "score"
        note = f"Score: {measure.note}" if measure.note and not is_score else ""
        yield table(
            measure.label,
            "system: {system} | vectors: {vectors} | score> {measure:interval} | summaries> {n}"
            + (" | by group: {groups}" if is_score else ""),
            [{**row, "measure": representation_measure(row["score"], measure)} for row in rows],
            notes=(note, *(_score_notes(report, measure, rows) if is_score else ())),
        )
    originals = [
        {**row, "original": original, "score": score}
        for row in rows
        for original, score in list(row["score"].get("by_original", {}).items())[:_SHOWN_ORIGINALS]
        if score > 0
    ]
    if originals:
        yield table(
            "Originals whose summaries predict the group best",
            "system: {system} | vectors: {vectors} | original: {original} | score> {score:number}",
            originals,
            notes=(f"The first {_SHOWN_ORIGINALS} of each; --json has all. Read their summaries.",),
        )


def representations(report: Json) -> Iterator[Json]:
    """Yield one row per system and representation, with its JSON as ``score``."""
    for system, figures in report["systems"].items():
        for name in ("counts", "dense"):
            if (score := figures[name]) is not None:
                shares = score["by_group"].items()
                groups = ", ".join(f"{group} {interval(share)}" for group, share in shares)
                row = {"system": system, "vectors": name, "n": figures["n"]}
                yield {**row, "score": score, "groups": groups}


def representation_measure(result: Json, measure: BiasMeasure[Any]) -> Json | None:
    """Return a measure of one representation from its JSON; None if it lacks the measure."""
    return result if measure.key == "score" else result.get(measure.key)


def _score_notes(report: Json, measure: BiasMeasure[Any], rows: Sequence[Json]) -> Iterator[str]:
    yield f"Score: {measure.note} Intervals: 95 %, over original documents."
    yield from _notes(report, "score", "counts")
    for row in rows:
        if exclusions := row["score"]["left_out"]:
            yield f"{row['system']}, {row['vectors']}: without a comparison: {tally(exclusions)}"


def quality_tables(report: Json) -> Iterator[TextTable]:
    """Yield mean scores by group of inputs, and the differences between groups."""
    names = "system: {system} | judge: {judge} | aspect: {aspect}"
    exclusions = tally(report["left_out"])
    yield table(
        "Quality by group of inputs",
        f"{names} | inputs: {{group}} | originals> {{n}} | mean> {{mean:interval}}",
        [
            {**group_of_scores, "group": group, "mean": scores, "n": scores.get("n", 0)}
            for group_of_scores in report["groups"]
            for group, scores in group_of_scores["quality"]["by_group"].items()
        ],
        notes=(
            "local: groups mixed in each input; the others: all people of an input in one group. "
            "Means over originals; Student's intervals, 95 %.",
            f"Judgements excluded: {exclusions}." if exclusions else "",
        ),
    )
    yield table(
        "Differences within originals",
        f"{names} | inputs: {{group}} | less: {{other}} | originals> {{n}}"
        " | difference> {difference:interval} | p (Holm)> {p_holm:p}",
        [
            {**group_of_scores, **pair, "n": pair["difference"].get("n", 0)}
            for group_of_scores in report["groups"]
            for pair in group_of_scores["quality"]["differences"]
        ],
    )


def _with_assignment(systems: Mapping[str, Json], key: str) -> Iterator[Json]:
    """Yield one row per system with the measure, with its interval over assignments."""
    for row in keyed_rows(systems, "system"):
        if (score := row.get(key)) is not None:
            yield {**row, "score": score, "assignment": bounds(score.get("over_assignments", {}))}


def _notes(report: Json, name: str, key: str) -> Iterator[str]:
    """Yield the report's notes, exclusions, and the reason if a system lacks the score `key`."""
    yield from report["notes"]
    for system, figures in report["systems"].items():
        if figures["excluded"]:
            n = pluralize(figures["excluded"], "summary", "summaries")
            yield f"{system}: {n} excluded: {tally(figures['excluded_by_reason'])}"
        if reason := undefined_reason(figures[key]):
            yield f"{system}: no {name}: {reason}."


def annotated_table(counts: Mapping[str, int], *, output: str) -> TextTable:
    """Return the counts of people in the file written by ``bias annotate``."""
    return table(
        "Annotated people",
        "documents> {n_documents} | without people> {n_without_people} | names> {n_names}"
        " | people> {n_people}",
        [counts],
        notes=(f"Written: {output}",),
    )


def inputs_tables(report: Json, *, limit: int = 10) -> Iterator[TextTable]:
    """Yield counts of documents per group and attribute, and the words associated with each group.

    Tables of attributes and words have at most `limit` rows.
    """
    documents, identifiers = report["documents"], report["identifiers"]
    yield table(
        "Bias of the inputs",
        "group: {group} | documents> {documents} | identifiers> {n} | share %> {share:share}",
        [{**identifiers[group], "group": group, "documents": n} for group, n in documents.items()],
        notes=(
            f"{pluralize(report['n'], 'article')}; without a majority group: "
            f"{report['n_tied']}; excluded for lack of text: {report['excluded']}.",
            *report["notes"],
        ),
    )
    for name, counts in report.get("by_attribute", {}).items():
        if len(counts) > 1:
            yield _counts_table(name, counts, limit=limit)
    for group, words in report["words"].items():
        yield table(
            f"Words of documents that mention {group} words most",
            "word: {word} | here> {n_group} | others> {n_others} | z> {z:number} | q> {q_value:p}",
            words[:limit],
        )


def _counts_table(name: str, counts: Sequence[Json], *, limit: int) -> TextTable:
    """Return the number of texts per value of an attribute, and the groups that they mention."""
    groups = list(counts[0]["identifiers"])
    headers = ("documents", "identifiers", *(f"{group} %" for group in groups))
    note = hidden_note(counts, limit)
    return TextTable(
        title=f"Inputs by {name}",
        columns=columns(name, *headers, numbers=headers),
        rows=tuple(
            (
                count["value"],
                str(count["n"]),
                str(sum(identifier["n"] for identifier in count["identifiers"].values())),
                *(share_in_percent(count["identifiers"][group]["share"]) for group in groups),
            )
            for count in counts[:limit]
        ),
        notes=(note,) if note else (),
    )
