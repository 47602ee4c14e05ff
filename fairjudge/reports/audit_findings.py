"""Findings of audits of a judge, in sentences (`fairjudge audit`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from statistics import fmean

from fairjudge.reports.evidence_tables import (
    LEFT_OUT,
    by_judge,
    how_left_out,
    judged_by,
    n_left_out,
    wrong_in_words,
)
from fairjudge.reports.figures import (
    MAX_NAMED,
    Json,
    interval,
    negated,
    percent,
    protocol_of,
    significant_sign,
    significant_words,
    tally,
    who_in,
)
from fairjudge.reports.findings import MUCH_UNSCORED, together
from fairjudge.stats.leaders import leaders
from fairjudge.text.counting import percentage, pluralize

_STEADY = 90.0
"""Percent of pairs with the same verdict both ways from which a judge is called steady."""
_KEPT = 95.0
"""Percent of cases from which a check counts as kept."""
_MANY_FLIPS = 0.1


def position_findings(report: Json) -> Iterator[str]:
    """Yield sentences on position bias, for each judge and aspect."""
    for group in report["groups"]:
        difference, consistency = group["first_minus_second"], group["consistency"]
        if difference["value"] is None:
            yield f"{who_in(group)}: position bias not estimated: {difference['why']}."
            continue
        does = "shows no significant position bias"
        if side := significant_sign(difference):
            place = "first" if side > 0 else "second"
            by = interval(difference if side > 0 else negated(difference), digits=1)
            does = f"prefers the summary shown {place}, by {by} points"
        yield (
            f"{who_in(group)} {does}; the verdict is the same both ways for "
            f"{percent(consistency)} % of {pluralize(group['n_pairs'], 'pair')}."
        )
        if consistency.get("value") is not None and consistency["value"] < _STEADY:
            yield "Next: ask both orders of every pair, and take what they disagree on as ties."


def verbosity_findings(report: Json) -> Iterator[str]:
    """Yield sentences on preference for longer versions of summaries."""
    for group in report["groups"]:
        does = significant_words(
            group["original_minus_extended"],
            above="prefers summaries as they were written to longer ones",
            below="prefers summaries made longer",
            neither="shows no significant preference between the summary and its longer version",
        )
        yield (
            f"{who_in(group)} ({group['probe']}) {does}: longer first for "
            f"{percent(group['extended'])} % of {pluralize(group['n'], 'summary', 'summaries')}."
        )
    if any(significant_sign(group["original_minus_extended"]) < 0 for group in report["groups"]):
        yield "Next: compare systems at equal length, by 'fairjudge audit length'."


def length_findings(report: Json) -> Iterator[str]:
    """Yield sentences on the effect of length in pairs."""
    for group in report["groups"]:
        if group["why"]:
            yield f"{who_in(group)}: effect of length not estimated: {group['why']}."
            continue
        effect = group["length_effect"]
        does = significant_words(
            effect,
            above="favours longer summaries",
            below="favours shorter summaries",
            neither="shows no significant effect of length",
        )
        yield f"{who_in(group)} {does}: {interval(effect)} log-odds for a typical difference."


def parse_findings(report: Json) -> Iterator[str]:
    """Yield the number of judgements without a score."""
    for group in report["groups"]:
        n, n_all = group["n_unscored"], group["n_judgements"]
        group_name = f"{group['judge']} in {group['aspect']}, {protocol_of(group)}"
        if not n:
            yield f"{group_name}: every one of {pluralize(n_all, 'judgement')} has a score."
        else:
            share = f"{n} of {pluralize(n_all, 'judgement')} ({percentage(n / n_all)})"
            yield f"{group_name}: {share} without a score: {tally(group['unscored'])}."
        if n > MUCH_UNSCORED * n_all:
            yield "Next: read some of these replies in the report before you use the scores."


def covered_findings(report: Json) -> Iterator[str]:
    """Yield which systems leave out the most and the fewest groups of answers."""
    for groups, says in _by_judge(report, judged_by):
        yield from _balanced(groups, says)
        judge = {group["system"]: group for group in groups if group["n"]}
        n_missing = {system: n_left_out(group) for system, group in judge.items()}
        if len(judge) > 1 and len({*n_missing.values()}) == 1:
            system, n = next(iter(n_missing.items()))
            yield (
                f"All {pluralize(len(judge), 'system')} leave out {n} of "
                f"{pluralize(judge[system]['n'], 'group')} of answers{says}."
            )
            continue
        fewest = leaders({system: -n for system, n in n_missing.items()})
        extremes = ((leaders(n_missing), "the most, "), (fewest, "the fewest, "))
        for systems, rank in extremes[: len(judge)]:
            group, alone = judge[systems[0]], len(systems) == 1
            yield (
                f"{together(systems)} {'leaves' if alone else 'leave'} out "
                f"{rank if len(judge) > 1 else ''}{n_missing[systems[0]]} of "
                f"{pluralize(group['n'], 'group')} of answers"
                f"{_of_outlets(group) if alone else ''}{says}."
            )
        yield from filter(None, map(wrong_in_words, judge.values()))


def _by_judge(
    report: Json, name: Callable[[Json], str] = itemgetter("judge")
) -> Iterator[tuple[list[Json], str]]:
    """Yield the groups of each judge, and what names the judge where there are several."""
    judges = by_judge(report["groups"])
    for groups in judges:
        yield groups, f", says {name(groups[0])}" if len(judges) > 1 else ""


def _balanced(judge: Sequence[Json], says: str) -> Iterator[str]:
    """Yield how far the first and the last system by balance cover the least covered sources."""
    by_system = {
        group["system"]: [fmean(source[which] for source in sources) for which in ("value", "mean")]
        for group in judge
        if (sources := group.get("least_covered"))
    }
    ordered = sorted(by_system, key=lambda system: -by_system[system][0])
    for system in dict.fromkeys([*ordered[:1], *ordered[-1:]]):
        least, mean = by_system[system]
        yield (
            f"{system} covers {least:.2f} of what the half of the sources that it covers least "
            f"says, and {mean:.2f} of all{says}."
        )


def _of_outlets(group: Json) -> str:
    counts = Counter(
        name
        for row in group["uncovered"]
        if how_left_out(row) == LEFT_OUT
        for name in dict.fromkeys(str(voice["name"]) for voice in row["voices"])
    )
    outlets = ", ".join(name for name, _ in counts.most_common(MAX_NAMED))
    return f", most often those of {outlets}" if outlets else ""


def statement_findings(report: Json) -> Iterator[str]:
    """Yield how many statements of each system are supported."""
    for groups, says in _by_judge(report):
        for group in sorted(groups, key=lambda group: -(group["share"]["value"] or 0.0)):
            names = {"contradicted": "contradicted", "absent": "in no article", "grave": "grave"}
            counts = tally({name: group[name] for name in names}, names)
            yield (
                f"{group['system']}: {group['supported']} of "
                f"{pluralize(group['n_statements'], 'statement')} supported"
                f"{', ' + counts if counts else ''}{says}."
            )


def citation_findings(report: Json) -> Iterator[str]:
    """Yield the shares of sentences supported by the cited and by swapped articles."""
    for groups, says in _by_judge(report):
        for group in groups:
            sentences = pluralize(group["n_sentences"], "sentence")
            yield (
                f"{group['system']}: a share of {interval(group['borne_out'])} of {sentences} is "
                f"supported by what it cites{says}."
            )
            swapped = group["swapped"]
            if swapped is None or swapped["difference"].get("value") is None:
                continue
            does = significant_words(
                swapped["difference"],
                above="supports them significantly less often",
                below="supports them significantly more often: do not rely on this share",
                neither="supports them not significantly less often: do not rely on this share",
            )
            yield (
                f"In the place of what sentences of {group['system']} cite, another article of the "
                f"cluster {does} ({interval(swapped['swapped'])} against "
                f"{interval(swapped['as_cited'])})."
            )


def order_findings(report: Json) -> Iterator[str]:
    """Yield the effect of the place of articles, or of groups of answers."""
    of_groups = report["aspect"] == "coverage"
    where = {1: "first", -1: "last"}.get(significant_sign(report["first_minus_last"]))
    figure = f"first minus last {interval(report['first_minus_last'])}"
    figure += " (share covered)." if of_groups else " points."
    moved = "group" if of_groups else "article"
    if where is None:
        yield f"No effect of the {moved}'s place is shown: {figure}"
    elif of_groups:
        yield f"Groups listed {where} are covered more often than the same ones elsewhere: {figure}"
    else:
        yield f"What the article shown {where} is rated higher: {figure}"
    if significant_sign(report["changed"]) > 0:
        noun = "verdicts" if of_groups else "ratings"
        yield (
            f"Shuffling the {moved}s changes {interval(report['changed'])} of the {noun} (share)."
        )


def metamorphic_findings(report: Json) -> Iterator[str]:
    """Yield which consistency (metamorphic) tests a judge passes."""
    checks = [check for check in report["checks"] if check["kept"].get("value") is not None]
    failures = [
        f"{check['name']} ({percent(check['kept'])} % passed)"
        for check in checks
        if check["kept"]["value"] < _KEPT
    ]
    judge = f"{report['judge']} in {report['aspect']}"
    if not checks:
        yield f"{judge}: no check could be made."
    elif failures:
        yield f"{judge} fails consistency (metamorphic) tests: {', '.join(failures)}."
    else:
        yield (
            f"{judge} passes every consistency (metamorphic) test, each in {_KEPT:.0f} % of the "
            "cases or more."
        )


def stability_findings(report: Json) -> Iterator[str]:
    """Yield how often a verdict changes when it is asked for again."""
    for group in report["groups"]:
        if group["why"]:
            yield f"{who_in(group)}: stability not estimated: {group['why']}."
            continue
        flips = group["flips"]
        if flips.get("value") is not None:
            yield (
                f"{who_in(group)} gives an item another verdict when asked again with probability "
                f"{interval(flips)}."
            )
            if flips["value"] > _MANY_FLIPS:
                yield "Next: judge with --repeats 3 and take the mean, or a lower temperature."
