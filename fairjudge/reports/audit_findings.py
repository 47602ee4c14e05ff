"""Findings of audits of a judge, in sentences (`fairjudge audit`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from statistics import fmean

from fairjudge.reports.evidence_tables import (
    OMITTED,
    count_omitted,
    judge_in_words,
    omission_kind,
    split_by_judge,
    wrong_in_words,
)
from fairjudge.reports.figures import (
    MAX_NAMED,
    Json,
    interval,
    judge_and_aspect,
    negate,
    percent,
    protocol_in_words,
    significant_sign,
    significant_words,
    tally,
)
from fairjudge.reports.findings import MUCH_UNSCORED, join_names
from fairjudge.stats.leaders import leaders
from fairjudge.text.counting import percentage, pluralize

_MIN_CONSISTENCY = 90.0
"""Minimum percentage of pairs with the same verdict in both orders to call a judge consistent."""
_MIN_PASSED = 95.0
"""Minimum percentage of cases to count a check as passed."""
_MANY_FLIPS = 0.1


def position_findings(report: Json) -> Iterator[str]:
    """Yield sentences on position bias, for each judge and aspect."""
    for group in report["groups"]:
        difference, consistency = group["first_minus_second"], group["consistency"]
        if difference["value"] is None:
            yield f"{judge_and_aspect(group)}: position bias not estimated: {difference['why']}."
            continue
        predicate = "shows no significant position bias"
        if side := significant_sign(difference):
            place = "first" if side > 0 else "second"
            points = interval(difference if side > 0 else negate(difference), digits=1)
            predicate = f"prefers the summary shown {place}, by {points} points"
        yield (
            f"{judge_and_aspect(group)} {predicate}; the verdict is the same in both orders for "
            f"{percent(consistency)} % of {pluralize(group['n_pairs'], 'pair')}."
        )
        if consistency.get("value") is not None and consistency["value"] < _MIN_CONSISTENCY:
            yield "Next: judge every pair in both orders, and count disagreements as ties."


def verbosity_findings(report: Json) -> Iterator[str]:
    """Yield sentences on preference for longer versions of summaries."""
    for group in report["groups"]:
        predicate = significant_words(
            group["original_minus_extended"],
            above="prefers the original version of summaries",
            below="prefers the longer version of summaries",
            neither="shows no significant preference between the summary and its longer version",
        )
        yield (
            f"{judge_and_aspect(group)} ({group['probe']}) {predicate}: the longer one wins for "
            f"{percent(group['extended'])} % of {pluralize(group['n'], 'summary', 'summaries')}."
        )
    if any(significant_sign(group["original_minus_extended"]) < 0 for group in report["groups"]):
        yield "Next: compare systems at equal length, with 'fairjudge audit length'."


def length_findings(report: Json) -> Iterator[str]:
    """Yield sentences on the effect of length in pairs."""
    for group in report["groups"]:
        if group["why"]:
            yield f"{judge_and_aspect(group)}: effect of length not estimated: {group['why']}."
            continue
        effect = group["length_effect"]
        predicate = significant_words(
            effect,
            above="favours longer summaries",
            below="favours shorter summaries",
            neither="shows no significant effect of length",
        )
        typical_effect = f"{interval(effect)} log-odds for a typical difference"
        yield f"{judge_and_aspect(group)} {predicate}: {typical_effect}."


def parse_findings(report: Json) -> Iterator[str]:
    """Yield the number of judgements without a score."""
    for group in report["groups"]:
        n, n_all = group["n_unscored"], group["n_judgements"]
        group_name = f"{group['judge']} in {group['aspect']}, {protocol_in_words(group)}"
        if not n:
            yield f"{group_name}: every one of {pluralize(n_all, 'judgement')} has a score."
        else:
            share = f"{n} of {pluralize(n_all, 'judgement')} ({percentage(n / n_all)})"
            yield f"{group_name}: {share} without a score: {tally(group['unscored'])}."
        if n > MUCH_UNSCORED * n_all:
            yield "Next: read some of these replies in the report before you use the scores."


def covered_findings(report: Json) -> Iterator[str]:
    """Yield the systems that omit the most and the fewest groups of answers."""
    for groups, attribution in _groups_by_judge(report, judge_in_words):
        yield from _balance_sentences(groups, attribution)
        groups_by_system = {group["system"]: group for group in groups if group["n"]}
        n_missing = {system: count_omitted(group) for system, group in groups_by_system.items()}
        if len(groups_by_system) > 1 and len({*n_missing.values()}) == 1:
            system, n = next(iter(n_missing.items()))
            yield (
                f"All {pluralize(len(groups_by_system), 'system')} leave out {n} of "
                f"{pluralize(groups_by_system[system]['n'], 'group')} of answers{attribution}."
            )
            continue
        fewest = leaders({system: -n for system, n in n_missing.items()})
        extremes = ((leaders(n_missing), "the most, "), (fewest, "the fewest, "))
        for systems, rank in extremes[: len(groups_by_system)]:
            group, is_single = groups_by_system[systems[0]], len(systems) == 1
            yield (
                f"{join_names(systems)} {'leaves' if is_single else 'leave'} out "
                f"{rank if len(groups_by_system) > 1 else ''}{n_missing[systems[0]]} of "
                f"{pluralize(group['n'], 'group')} of answers"
                f"{_outlet_clause(group) if is_single else ''}{attribution}."
            )
        yield from filter(None, map(wrong_in_words, groups_by_system.values()))


def _groups_by_judge(
    report: Json, judge_name: Callable[[Json], str] = itemgetter("judge")
) -> Iterator[tuple[list[Json], str]]:
    """Yield the groups of each judge, and a clause with its name if there are several judges."""
    judges = split_by_judge(report["groups"])
    for groups in judges:
        yield groups, f", according to {judge_name(groups[0])}" if len(judges) > 1 else ""


def _balance_sentences(groups: Sequence[Json], attribution: str) -> Iterator[str]:
    """Yield the coverage of the least covered sources by the first and last system by balance."""
    by_system = {
        group["system"]: [fmean(source[key] for source in sources) for key in ("value", "mean")]
        for group in groups
        if (sources := group.get("least_covered"))
    }
    systems = sorted(by_system, key=lambda system: -by_system[system][0])
    for system in dict.fromkeys([*systems[:1], *systems[-1:]]):
        least_mean, mean = by_system[system]
        yield (
            f"{system} covers {least_mean:.2f} of the statements of its least covered half of "
            f"sources, and {mean:.2f} of all{attribution}."
        )


def _outlet_clause(group: Json) -> str:
    counts = Counter(
        name
        for row in group["uncovered"]
        if omission_kind(row) == OMITTED
        for name in dict.fromkeys(str(voice["name"]) for voice in row["voices"])
    )
    outlets = ", ".join(name for name, _ in counts.most_common(MAX_NAMED))
    return f", most often those of {outlets}" if outlets else ""


def statement_findings(report: Json) -> Iterator[str]:
    """Yield the number of supported statements of each system."""
    for groups, attribution in _groups_by_judge(report):
        for group in sorted(groups, key=lambda group: -(group["share"]["value"] or 0.0)):
            names = {"contradicted": "contradicted", "absent": "in no article", "grave": "severe"}
            counts = tally({name: group[name] for name in names}, names)
            yield (
                f"{group['system']}: {group['supported']} of "
                f"{pluralize(group['n_statements'], 'statement')} supported"
                f"{', ' + counts if counts else ''}{attribution}."
            )


def citation_findings(report: Json) -> Iterator[str]:
    """Yield the shares of sentences supported by the cited and by swapped articles."""
    for groups, attribution in _groups_by_judge(report):
        for group in groups:
            sentences = pluralize(group["n_sentences"], "sentence")
            yield (
                f"{group['system']}: a share of {interval(group['borne_out'])} of {sentences} is "
                f"supported by the cited articles{attribution}."
            )
            swaps = group["swapped"]
            if swaps is None or swaps["difference"].get("value") is None:
                continue
            predicate = significant_words(
                swaps["difference"],
                above="significantly lower",
                below="significantly higher, so do not rely on this share",
                neither="not significantly lower, so do not rely on this share",
            )
            yield (
                f"{group['system']}: with other articles of the cluster in place of the cited ones "
                f"the share is {predicate} ({interval(swaps['swapped'])} against "
                f"{interval(swaps['as_cited'])})."
            )


def order_findings(report: Json) -> Iterator[str]:
    """Yield the effect of the position of articles, or of groups of answers."""
    is_coverage = report["aspect"] == "coverage"
    position = {1: "first", -1: "last"}.get(significant_sign(report["first_minus_last"]))
    effect = f"first minus last {interval(report['first_minus_last'])}"
    effect += " (share covered)." if is_coverage else " points."
    noun = "group" if is_coverage else "article"
    if position is None:
        yield f"No significant effect of the {noun}'s position: {effect}"
    elif is_coverage:
        yield f"Groups are covered more often when listed {position}: {effect}"
    else:
        yield f"Articles are rated higher when shown {position}: {effect}"
    if significant_sign(report["changed"]) > 0:
        value_name = "verdicts" if is_coverage else "ratings"
        yield (
            f"Shuffling the {noun}s changes a share of {interval(report['changed'])} of the "
            f"{value_name}."
        )


def metamorphic_findings(report: Json) -> Iterator[str]:
    """Yield the consistency (metamorphic) tests that a judge fails, or that it passes all."""
    checks = [check for check in report["checks"] if check["kept"].get("value") is not None]
    failures = [
        f"{check['name']} ({percent(check['kept'])} % passed)"
        for check in checks
        if check["kept"]["value"] < _MIN_PASSED
    ]
    judge = f"{report['judge']} in {report['aspect']}"
    if not checks:
        yield f"{judge}: no check could be run."
    elif failures:
        yield f"{judge} fails consistency (metamorphic) tests: {', '.join(failures)}."
    else:
        yield (
            f"{judge} passes every consistency (metamorphic) test, each in at least "
            f"{_MIN_PASSED:.0f} % of the cases."
        )


def stability_findings(report: Json) -> Iterator[str]:
    """Yield the probability that a repeated judgement has another verdict."""
    for group in report["groups"]:
        if group["why"]:
            yield f"{judge_and_aspect(group)}: stability not estimated: {group['why']}."
            continue
        flips = group["flips"]
        if flips.get("value") is not None:
            yield (
                f"{judge_and_aspect(group)} changes its verdict on an item when asked again with "
                f"probability {interval(flips)}."
            )
            if flips["value"] > _MANY_FLIPS:
                yield "Next: judge with --repeats 3 and take the mean, or a lower temperature."
