"""What the figures of a command say in a few plain sentences, by rules; no arithmetic.

A sentence claims a direction only where the 95 % interval leaves 0 (or what the rule names) out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from fairjudge.records.matching import loss_finding
from fairjudge.records.schema import with_schema
from fairjudge.reports.align_tables import align_findings
from fairjudge.reports.check_tables import check_findings
from fairjudge.reports.covered_tables import (
    LEFT_OUT,
    by_judge,
    how_left_out,
    judged_by,
    n_left_out,
)
from fairjudge.reports.decision_tables import group_title, verdict
from fairjudge.reports.fairness_findings import (
    agreement_findings,
    changes_findings,
    chunk_size_findings,
    fairness_findings,
    oracle_findings,
    overall_findings,
    people_findings,
    temperature_findings,
)
from fairjudge.reports.figures import (
    Json,
    by_unit,
    interval,
    named,
    negated,
    p_value,
    percent,
    protocol_of,
    tally,
)
from fairjudge.reports.findings import MUCH_UNSCORED, compared, together
from fairjudge.reports.jury_tables import jury_findings
from fairjudge.reports.protocol_tables import protocol_findings
from fairjudge.reports.ranking_tables import together_findings
from fairjudge.reports.reference_tables import validated_findings
from fairjudge.reports.statement_tables import wrong_in_words
from fairjudge.scores.leaderboards import FEWEST_CLUSTERS
from fairjudge.stats.leaders import leaders
from fairjudge.text.counting import pluralize

_Rule = Callable[[Json], Iterator[str]]
_STEADY = 90.0
"""Percent of pairs with the same verdict both ways from which a judge is called steady."""
_KEPT = 95.0
"""Percent of cases from which a check counts as kept."""
_MANY_FLIPS = 0.1
_MAX_NAMED = 3


def findings_of(kind: str, report: Json) -> tuple[str, ...]:
    """Return what is worth knowing of the JSON of the command `kind`; none for other commands."""
    rule = _RULES.get(kind)
    return (*join_findings(report), *(() if rule is None else rule(report)))


def join_findings(report: Json) -> Iterator[str]:
    """Yield the joins of a report and of its groups that lost much, each loss once."""
    groups = report.get("groups", ())
    joins = [*report.get("joins", ()), *(group["join"] for group in groups if "join" in group)]
    yield from dict.fromkeys(filter(None, map(loss_finding, joins)))


def with_findings(kind: str, report: Json) -> dict[str, object]:
    """Return `report` as JSON that begins with its schema and findings, where `kind` has any."""
    found = findings_of(kind, report)
    return with_schema({"findings": list(found), **report} if found else report)


def _side(figure: Json) -> int:
    """Return 1 or -1 where the figure lies significantly above or below 0, else 0.

    Significantly: the whole interval does, and p is below 0.05 where there is a test.
    """
    low, high = figure.get("low"), figure.get("high")
    if low is None or high is None or figure.get("p_value", 0.0) >= 0.05:
        return 0
    return int(low > 0) - int(high < 0)


def _who(group: Json) -> str:
    return f"{group['judge']} in {group['aspect']}{by_unit(group)}"


def _position(report: Json) -> Iterator[str]:
    for group in report["groups"]:
        difference, same = group["first_minus_second"], group["consistency"]
        if difference["value"] is None:
            yield f"{_who(group)}: position bias not estimated: {difference['why']}."
            continue
        does = "shows no significant position bias"
        if side := _side(difference):
            place = "first" if side > 0 else "second"
            by = interval(difference if side > 0 else negated(difference), digits=1)
            does = f"prefers the summary shown {place}, by {by} points"
        yield (
            f"{_who(group)} {does}; the verdict is the same both ways for {percent(same)} % of "
            f"{pluralize(group['n_pairs'], 'pair')}."
        )
        if same.get("value") is not None and same["value"] < _STEADY:
            yield "Next: ask both orders of every pair, and take what they disagree on as ties."


def _verbosity(report: Json) -> Iterator[str]:
    for group in report["groups"]:
        side = _side(group["original_minus_extended"])
        does = {
            0: "shows no significant preference between the summary and its longer version",
            -1: "prefers summaries made longer",
            1: "prefers summaries as they were written to longer ones",
        }[side]
        yield (
            f"{_who(group)} ({group['probe']}) {does}: longer first for "
            f"{percent(group['extended'])} % of {pluralize(group['n'], 'summary', 'summaries')}."
        )
    if any(_side(group["original_minus_extended"]) < 0 for group in report["groups"]):
        yield "Next: compare systems at equal length, by 'fairjudge audit length'."


def _length(report: Json) -> Iterator[str]:
    for group in report["groups"]:
        if group["why"]:
            yield f"{_who(group)}: effect of length not estimated: {group['why']}."
            continue
        effect = group["length_effect"]
        does = {1: "favours longer summaries", -1: "favours shorter summaries"}.get(
            _side(effect), "shows no significant effect of length"
        )
        yield f"{_who(group)} {does}: {interval(effect)} log-odds for a typical difference."


def _parse(report: Json) -> Iterator[str]:
    for group in report["groups"]:
        n, n_all = group["n_unscored"], group["n_judgements"]
        who = f"{group['judge']} in {group['aspect']}, {protocol_of(group)}"
        if not n:
            yield f"{who}: every one of {pluralize(n_all, 'judgement')} has a score."
        else:
            share = f"{n} of {pluralize(n_all, 'judgement')} ({n / n_all:.0%})"
            yield f"{who}: {share} without a score: {tally(group['unscored'])}."
        if n > MUCH_UNSCORED * n_all:
            yield "Next: read some of these replies in the report before you use the scores."


def _covered(report: Json) -> Iterator[str]:
    judges = by_judge(report["groups"])
    for by_one in judges:
        says = f", says {judged_by(by_one[0])}" if len(judges) > 1 else ""
        yield from _balanced(by_one, says)
        judge = [group for group in by_one if group["n"]]
        if not judge:
            continue
        left_out = {group["system"]: (n_left_out(group), group) for group in judge}
        ordered = sorted(left_out, key=lambda system: -left_out[system][0])
        if len(ordered) > 1 and left_out[ordered[0]][0] == left_out[ordered[-1]][0]:
            n, group = left_out[ordered[0]]
            yield (
                f"All {pluralize(len(ordered), 'system')} leave out {n} of "
                f"{pluralize(group['n'], 'group')} of answers{says}."
            )
            continue
        counts = {system: n for system, (n, _) in left_out.items()}
        fewest = leaders({system: -n for system, n in counts.items()})
        for most, word in ((leaders(counts), "the most"), (fewest, "the fewest")):
            n, group = left_out[most[0]]
            leaves = "leaves" if len(most) == 1 else "leave"
            outlets = _of_outlets(group) if len(most) == 1 else ""
            yield (
                f"{together(most)} {leaves} out {word + ', ' if len(ordered) > 1 else ''}{n} of "
                f"{pluralize(group['n'], 'group')} of answers{outlets}{says}."
            )
            if len(ordered) == 1:
                break
        yield from filter(None, map(wrong_in_words, judge))


def _statements(report: Json) -> Iterator[str]:
    judges = by_judge(report["groups"])
    for by_one in judges:
        says = f", says {by_one[0]['judge']}" if len(judges) > 1 else ""
        for group in sorted(by_one, key=lambda group: -(group["share"]["value"] or 0.0)):
            wrong = {
                "contradicted": group["contradicted"],
                "in no article": group["absent"],
                "grave": group["grave"],
            }
            counts = ", ".join(f"{n} {name}" for name, n in wrong.items() if n)
            yield (
                f"{group['system']}: {group['supported']} of "
                f"{pluralize(group['n_statements'], 'statement')} supported"
                f"{', ' + counts if counts else ''}{says}."
            )


def _balanced(judge: Sequence[Json], says: str) -> Iterator[str]:
    """Yield how far the first and the last system by balance cover the least covered sources."""
    found = {
        group["system"]: [fmean(one[which] for one in some) for which in ("value", "mean")]
        for group in judge
        if (some := group.get("least_covered"))
    }
    ordered = sorted(found, key=lambda system: -found[system][0])
    for system in dict.fromkeys([*ordered[:1], *ordered[-1:]]):
        least, mean = found[system]
        yield (
            f"{system} covers {least:.2f} of what the half of the sources that it covers least "
            f"says, and {mean:.2f} of all{says}."
        )


def _of_outlets(group: Json) -> str:
    counts = Counter(
        name
        for one in group["uncovered"]
        if how_left_out(one) == LEFT_OUT
        for name in dict.fromkeys(str(voice["name"]) for voice in one["voices"])
    )
    named = ", ".join(name for name, _ in counts.most_common(_MAX_NAMED))
    return f", most often those of {named}" if named else ""


def _order(report: Json) -> Iterator[str]:
    where = {1: "first is rated higher", -1: "last is rated higher"}.get(
        _side(report["first_minus_last"])
    )
    figure = interval(report["first_minus_last"])
    if where is None:
        yield f"No effect of the article's place is shown: first minus last {figure} points."
    else:
        yield f"What the article shown {where}: first minus last {figure} points."
    if _side(report["changed"]) > 0:
        yield (
            f"Shuffling the articles changes {interval(report['changed'])} of the ratings (share)."
        )


def _checks(report: Json) -> Iterator[str]:
    judged = [check for check in report["checks"] if check["kept"].get("value") is not None]
    broken = [one for one in judged if one["kept"]["value"] < _KEPT]
    who = f"{report['judge']} in {report['aspect']}"
    if not judged:
        yield f"{who}: no check could be made."
    elif not broken:
        yield (
            f"{who} passes every consistency (metamorphic) test, each in {_KEPT:.0f} % of the "
            "cases or more."
        )
    else:
        named = ", ".join(f"{one['name']} ({percent(one['kept'])} % passed)" for one in broken)
        yield f"{who} fails consistency (metamorphic) tests: {named}."


def _stability(report: Json) -> Iterator[str]:
    for group in report["groups"]:
        if group["why"]:
            yield f"{_who(group)}: stability not estimated: {group['why']}."
            continue
        flips = group["flips"]
        if flips.get("value") is not None:
            yield (
                f"{_who(group)} gives an item another verdict when asked again with probability "
                f"{interval(flips)}."
            )
            if flips["value"] > _MANY_FLIPS:
                yield "Next: judge with --repeats 3 and take the mean, or a lower temperature."


def _rank(report: Json) -> Iterator[str]:
    for group in report["groups"]:
        if group["why"]:
            yield f"{_who(group)}: no ranking: {group['why']}."
            continue
        systems = group["systems"]
        level = [system["system"] for system in systems if system["rank"] == systems[0]["rank"]]
        others = systems[len(level) :]
        as_good = [one["system"] for one in others if one["best_rank"] in {None, 1}]
        if not others:
            yield f"{together(level)} tie for first place for {_who(group)}."
            yield from _place_helps(group)
            continue
        beyond = compared(as_good, by_rank=True)
        if group["separated"]:
            beyond = "by how much cannot be estimated: some system never loses"
        stands = "ranks first" if len(level) == 1 else "tie for first place"
        yield f"{together(level)} {stands} for {_who(group)}; {beyond}."
        yield from _place_helps(group)
    yield from together_findings(report)


def _place_helps(group: Json) -> Iterator[str]:
    if side := _side(group["position_effect"]):
        place = "first" if side > 0 else "second"
        yield f"Being shown {place} helps significantly; the ranking is adjusted for it."


def _words(report: Json) -> Iterator[str]:
    differences = {
        f"{system}: {group}": share["difference"]
        for system, found in report["systems"].items()
        for group, share in found["by_group"].items()
    }
    sentences = [
        f"{name} {'more' if difference['value'] > 0 else 'less'}"
        for name, difference in differences.items()
        if (p := difference.get("p_holm")) is not None and p < 0.05
    ]
    if all(difference["value"] is None for difference in differences.values()):
        yield "Inclusion of groups not estimated: no system has a value."
    elif sentences:
        listed = "; ".join(sentences[:_MAX_NAMED])
        yield f"Named significantly more or less than in the {report['reference']}: {listed}."
        if not report.get("controlled"):
            yield "On natural documents this mixes the summarizer with what these are about."
    elif all(difference.get("p_holm") is None for difference in differences.values()):
        yield _too_few("which groups are named more or less than elsewhere")
    else:
        yield f"No group is named significantly more or less than in the {report['reference']}."


def _entities(report: Json) -> Iterator[str]:
    systems = report["systems"]
    scored = {
        name: system["inclusion"]
        for name, system in systems.items()
        if system["inclusion"].get("value") is not None
    }
    if scored:
        most = leaders({name: found["value"] for name, found in scored.items()})
        has = "has" if len(most) == 1 else "share"
        bias = interval(scored[most[0]])
        yield f"{together(most)} {has} the largest inclusion bias, {bias}; 0 is unbiased."
    apart = {
        name: odds
        for name, system in systems.items()
        if name not in scored and (odds := _never_or_always(system))
    }
    yield from (f"{name} names {odds}." for name, odds in apart.items())
    reasons: dict[str, list[str]] = {}
    for name in systems.keys() - scored.keys() - apart.keys():
        reasons.setdefault(systems[name]["inclusion"].get("why") or "no figure", []).append(name)
    for reason, left in sorted(reasons.items()):
        yield f"No score of inclusion for {named(sorted(left), _MAX_NAMED)}: {reason}."
    made_up = {name: system["n_hallucinated"] for name, system in systems.items()}
    if worst := leaders(made_up):
        n = made_up[worst[0]]
        names = "names" if len(worst) == 1 else "name"
        yield (
            f"{together(worst)} {names} {pluralize(n, 'person', 'people')} whom the sources do "
            "not, the most."
            if n
            else "No system names people whom its sources do not."
        )


def _never_or_always(system: Json) -> str:
    """Say who is named without exception or never where odds therefore have no ratio."""
    pairs = [pair for pair in system["odds_ratios"] if _least_ratio(pair) > 1.0]
    if not pairs:
        return ""
    pair = max(pairs, key=_least_ratio)
    groups = (pair["group"], pair["other"])
    shown = sorted(groups, key=lambda group: -system["by_group"][group]["value"])
    more, less = (
        f"{n} of {pluralize(found['n'], 'person', 'people')} of group {group}"
        for group in shown
        if (found := system["by_group"][group])
        for n in [round(found["value"] * found["n"]) or "none"]
    )
    p = p_value(pair["exact"]["p_holm"])
    return (
        f"{more} and {less}: the odds ratio is at least {_least_ratio(pair):.3g} (exact 95 % "
        f"bound; p {p if p.startswith('<') else f'= {p}'})"
    )


def _least_ratio(pair: Json) -> float:
    """Return the least ratio of the odds of two groups, whichever comes first."""
    exact = pair.get("exact") or {}
    low, high = exact.get("low"), exact.get("high")
    return max(low or 0.0, 1.0 / high if high else 0.0)


def _too_few(what: str) -> str:
    return f"Fewer than {FEWEST_CLUSTERS} original documents are too few to test {what}."


def _distinguishability(report: Json) -> Iterator[str]:
    figures = {name: system["counts"] for name, system in report["systems"].items()}
    sentences = [
        f"{name} ({interval(figure)})"
        for name, figure in figures.items()
        if figure is not None and _side(figure) > 0
    ]
    if sentences:
        yield f"The group can be predicted significantly from summaries of: {', '.join(sentences)}."
    elif figures and all(
        figure is None or (figure.get("value") is not None and figure.get("low") is None)
        for figure in figures.values()
    ):
        yield _too_few("whether the group can be predicted")
    else:
        yield "From no system's summaries can the group be predicted significantly."


def _bias_quality(report: Json) -> Iterator[str]:
    sentences = [
        f"{one['system']}: {pair['group']} minus {pair['other']} {interval(pair['difference'])}"
        for one in report["groups"]
        for pair in one["quality"]["differences"]
        if pair["p_holm"] is not None and pair["p_holm"] < 0.05
    ]
    if sentences:
        yield f"Quality differs significantly by group of inputs: {'; '.join(sentences)}."
    else:
        yield "Quality does not differ significantly between groups of inputs."


def _compare(report: Json) -> Iterator[str]:
    for group in report["groups"]:
        judges = {1: "judges higher", -1: "judges lower"}.get(
            _side(group["shift"]), "judges neither significantly higher nor lower"
        )
        yield (
            f"In {group['aspect']} the second run {judges} (shift {interval(group['shift'])}); "
            f"the same value for a share of {interval(group['agreement'])} of "
            f"{pluralize(group['n_items'], 'item')}."
        )


def _calibrate(report: Json) -> Iterator[str]:
    yield from protocol_findings(report)
    yield from jury_findings(report)
    for group in report["groups"]:
        yield f"{group_title(group)}: {verdict(group)}."


def _build(report: Json) -> Iterator[str]:
    clusters = report["clusters"]
    n_questions = sum(len(cluster["questions"]) for cluster in clusters)
    empty = [cluster["eid"] for cluster in clusters if not cluster["questions"]]
    yield f"{pluralize(n_questions, 'question')} on {pluralize(len(clusters), 'cluster')}."
    if empty:
        yield f"Without a question: {named(empty, _MAX_NAMED)}; coverage needs one."
    n_problems = sum(len(cluster["problems"]) for cluster in clusters)
    if n_problems:
        steps = pluralize(n_problems, "step")
        yield f"{steps} without a result; the same command asks for these again."


def _cascade(report: Json) -> Iterator[str]:
    yield (
        f"The LLM is asked between {report['low']:.3g} and {report['high']:.3g} of the local "
        f"score, which saves {percent(report['saved'])} % of the calls on held-out documents "
        f"(n = {report['n']})."
    )
    yield (
        f"Mean absolute error grows by {interval(report['error_added'], digits=3)}; Kendall's "
        f"tau-b falls by {interval(report['agreement_lost'], digits=3)}."
    )


def _promised(report: Json) -> Iterator[str]:
    who = group_title(report)
    promise = f"agree with people at least {report['agreement_promised']:.0%} of the time"
    certainty = f"{report['confidence']:.0%} certainty"
    n_labels = pluralize(report["n_labelled"], "label")
    if report["threshold"] is None:
        yield f"{who}: at no confidence do its answers {promise}, with {certainty} on {n_labels}."
    else:
        yield (
            f"{who}: answers with a confidence of {report['threshold']:.2f} or more {promise}, "
            f"with {certainty} ({n_labels}; test: {report['test']})."
        )
        yield (
            f"Kept: {interval(report['kept'], digits=2)} of all items; of the labelled ones kept, "
            f"{report['n_kept_labelled']}, {interval(report['agreement'], digits=2)} agree."
        )
    yield f"All its labelled answers agree {interval(report['overall'], digits=2)}."
    if report["threshold"] is None:
        yield "Nothing is kept; next: more labels, a lower --guarantee, or a better judge."
    elif report["n_one_order"]:
        yield (
            f"Asked in one order alone: {pluralize(report['n_one_order'], 'pair')}. A judge that "
            "prefers a position seems confident of these."
        )


_RULES: Mapping[str, _Rule] = {
    "cascade": _cascade,
    "check": check_findings,
    "cascade --guarantee": _promised,
    "fairness compare": changes_findings,
    "fairness overall": overall_findings,
    "fairness people": people_findings,
    "fairness temperature": temperature_findings,
    "bias quality": _bias_quality,
    "fairness agreement": agreement_findings,
    "fairness chunk-size": chunk_size_findings,
    "fairness oracle": oracle_findings,
    "align": align_findings,
    "audit position": _position,
    "audit verbosity": _verbosity,
    "audit length": _length,
    "audit parse": _parse,
    "audit covered": _covered,
    "audit statements": _statements,
    "audit order": _order,
    "audit checks": _checks,
    "audit stability": _stability,
    "rank": _rank,
    "fairness coverage": lambda report: iter(fairness_findings(report)),
    "fairness proportional": lambda report: iter(fairness_findings(report)),
    "bias words": _words,
    "bias entities": _entities,
    "bias distinguishability": _distinguishability,
    "build": _build,
    "calibrate": _calibrate,
    "compare": _compare,
    "references apply": validated_findings,
}
