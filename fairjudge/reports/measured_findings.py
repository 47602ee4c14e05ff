"""What the figures of a command say in a few plain sentences, by rules; no arithmetic.

A sentence claims a direction only where the 95 % interval leaves 0 (or what the rule names) out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fairjudge.records.matching import loss_finding
from fairjudge.records.schema import with_schema
from fairjudge.reports.align_tables import align_findings
from fairjudge.reports.audit_findings import (
    citation_findings,
    covered_findings,
    length_findings,
    metamorphic_findings,
    order_findings,
    parse_findings,
    position_findings,
    stability_findings,
    statement_findings,
    verbosity_findings,
)
from fairjudge.reports.bias_findings import (
    distinguishability_findings,
    entity_findings,
    quality_findings,
    words_findings,
)
from fairjudge.reports.check_tables import check_findings
from fairjudge.reports.decision_tables import group_title, verdict, with_juries
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
    first_items,
    interval,
    percent,
    significant_sign,
    who_in,
)
from fairjudge.reports.findings import compared, together
from fairjudge.reports.jury_tables import jury_findings
from fairjudge.reports.protocol_tables import protocol_findings
from fairjudge.reports.ranking_tables import together_findings
from fairjudge.reports.reference_tables import validated_findings
from fairjudge.text.counting import percentage, pluralize

_Rule = Callable[[Json], Iterator[str]]
_MAX_NAMED = 3


def findings_of(kind: str, report: Json) -> tuple[str, ...]:
    """Return the findings of the JSON of the command `kind`; () for other commands."""
    rule = _RULES.get(kind)
    return (*join_findings(report), *(() if rule is None else rule(report)))


def join_findings(report: Json) -> Iterator[str]:
    """Yield the joins of a report and of its groups that lost much, each loss once."""
    groups = report.get("groups", ())
    joins = [*report.get("joins", ()), *(group["join"] for group in groups if "join" in group)]
    yield from dict.fromkeys(filter(None, map(loss_finding, joins)))


def with_findings(kind: str, report: Json) -> dict[str, object]:
    """Return `report` as JSON that begins with its schema and findings, where `kind` has any."""
    findings = findings_of(kind, report)
    return with_schema({"findings": list(findings), **report} if findings else report)


def _rank(report: Json) -> Iterator[str]:
    for group in report["groups"]:
        if group["why"]:
            yield f"{who_in(group)}: no ranking: {group['why']}."
            continue
        systems = group["systems"]
        level = [system["system"] for system in systems if system["rank"] == systems[0]["rank"]]
        systems_below = systems[len(level) :]
        as_good = [system["system"] for system in systems_below if system["best_rank"] in {None, 1}]
        if not systems_below:
            yield f"{together(level)} tie for first place for {who_in(group)}."
            yield from _place_helps(group)
            continue
        beyond = compared(as_good, by_rank=True, n_clusters=group["n_documents"])
        if group["separated"]:
            beyond = "by how much cannot be estimated: some system never loses"
        stands = "ranks first" if len(level) == 1 else "tie for first place"
        yield f"{together(level)} {stands} for {who_in(group)}; {beyond}."
        yield from _place_helps(group)
    yield from together_findings(report)


def _place_helps(group: Json) -> Iterator[str]:
    if side := significant_sign(group["position_effect"]):
        place = "first" if side > 0 else "second"
        yield f"Being shown {place} helps significantly; the ranking is adjusted for it."


def _compare(report: Json) -> Iterator[str]:
    for group in report["groups"]:
        judges = {1: "judges higher", -1: "judges lower"}.get(
            significant_sign(group["shift"]), "judges neither significantly higher nor lower"
        )
        yield (
            f"In {group['aspect']} the second run {judges} (shift {interval(group['shift'])}); "
            f"the same value for a share of {interval(group['agreement'])} of "
            f"{pluralize(group['n_items'], 'item')}."
        )


def _calibrate(report: Json) -> Iterator[str]:
    yield from protocol_findings(report)
    yield from jury_findings(report)
    for group in with_juries(report):
        yield f"{group_title(group)}: {verdict(group)}."


def _build(report: Json) -> Iterator[str]:
    clusters = report["clusters"]
    n_questions = sum(len(cluster["questions"]) for cluster in clusters)
    empty = [cluster["eid"] for cluster in clusters if not cluster["questions"]]
    yield f"{pluralize(n_questions, 'question')} on {pluralize(len(clusters), 'cluster')}."
    if empty:
        yield f"Without a question: {first_items(empty, _MAX_NAMED)}; coverage needs one."
    n_problems = sum(len(cluster["problems"]) for cluster in clusters)
    if n_problems:
        steps = pluralize(n_problems, "step")
        yield f"{steps} without a result; the same command asks for these again."


def _cascade(report: Json) -> Iterator[str]:
    yield (
        f"The LLM judges items with a local score between {report['low']:.3g} and "
        f"{report['high']:.3g}, which saves {percent(report['saved'])} % of the calls on held-out "
        f"documents (n = {report['n']})."
    )
    yield (
        f"Change in mean absolute error: {interval(report['error_added'], digits=3)}; loss in "
        f"Kendall's tau-b: {interval(report['agreement_lost'], digits=3)}."
    )


def _promised(report: Json) -> Iterator[str]:
    title = group_title(report)
    promise = f"agree with people at least {percentage(report['agreement_promised'])} of the time"
    certainty = f"{percentage(report['confidence'])} certainty"
    n_items = pluralize(report["n_labelled"], "labelled item")
    if report["threshold"] is None:
        yield (
            f"{title}: at no confidence threshold do its answers {promise}, with {certainty} on "
            f"{n_items}."
        )
    else:
        yield (
            f"{title}: answers with a confidence of {report['threshold']:.2f} or more {promise}, "
            f"with {certainty} ({n_items}; test: {report['test']})."
        )
        yield (
            f"Kept: a share of {interval(report['kept'], digits=2)} of all items; of the "
            f"{pluralize(report['n_kept_labelled'], 'labelled item')} kept, a share of "
            f"{interval(report['agreement'], digits=2)} agrees."
        )
    overall = interval(report["overall"], digits=2)
    yield f"Without a threshold a share of {overall} of the labelled items agrees."
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
    "bias quality": quality_findings,
    "fairness agreement": agreement_findings,
    "fairness chunk-size": chunk_size_findings,
    "fairness oracle": oracle_findings,
    "align": align_findings,
    "audit position": position_findings,
    "audit verbosity": verbosity_findings,
    "audit length": length_findings,
    "audit parse": parse_findings,
    "audit covered": covered_findings,
    "audit statements": statement_findings,
    "audit citations": citation_findings,
    "audit order": order_findings,
    "audit checks": metamorphic_findings,
    "audit stability": stability_findings,
    "rank": _rank,
    "fairness coverage": lambda report: iter(fairness_findings(report)),
    "fairness proportional": lambda report: iter(fairness_findings(report)),
    "bias words": words_findings,
    "bias entities": entity_findings,
    "bias distinguishability": distinguishability_findings,
    "build": _build,
    "calibrate": _calibrate,
    "compare": _compare,
    "references apply": validated_findings,
}
WITH_FINDINGS = frozenset(_RULES)
"""The kinds of JSON of which `findings_of` says something."""
