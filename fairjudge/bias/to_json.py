"""The JSON of the ``bias`` commands (docs/bias.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from fairjudge.bias.analysis import (
    DistinguishabilityReport,
    InputReport,
    SystemDistinguishability,
    SystemWords,
    WordReport,
)
from fairjudge.bias.entity_analysis import EntityReport, SystemEntities
from fairjudge.bias.exact_odds import ExactOdds
from fairjudge.bias.hallucination import HallucinationBias
from fairjudge.bias.people import InclusionBias, OddsRatio
from fairjudge.bias.reporting import Exclusion, Report, SystemT
from fairjudge.bias.representation import Distinguishability
from fairjudge.bias.resampling import TwoWay
from fairjudge.domain import Estimate, Undefined
from fairjudge.records.results import Json, excluded_json, to_json

_json = partial(to_json, keep=("n", "n_excluded", "method"))


def words_json(report: WordReport) -> Json:
    """Return the JSON of ``bias words``."""
    return {
        "reference": report.reference,
        "groups": list(report.groups),
        "controlled": report.controlled,
        "family": "the groups of a system (Holm)",
        **_systems(report, _words),
    }


def _words(words: SystemWords) -> Json:
    return {
        **_two_ways(words.bias.estimates),
        "by_group": {
            group: {
                "n_summary": share.n_summary,
                "n_source": share.n_source,
                "summary": _number_or_none(share.summary),
                "reference": _number_or_none(share.reference),
                "difference": _two_way(share.difference) | {"p_holm": share.p_holm},
            }
            for group, share in words.bias.by_group.items()
        },
    }


def inputs_json(report: InputReport) -> Json:
    """Return the JSON of ``bias inputs``: each group's words by z."""
    return {
        "n": report.n,
        "excluded": report.n_empty,
        "n_tied": report.bias.n_tied,
        "family": "the words of a group (Benjamini-Hochberg)",
        "documents": dict(report.bias.documents),
        "identifiers": _shares(report.bias.identifiers),
        "by_attribute": {
            name: [
                {"value": count.value, "n": count.n, "identifiers": _shares(count.identifiers)}
                for count in counts
            ]
            for name, counts in report.by_attribute.items()
        },
        "words": {
            group: [
                {
                    {"n_first": "n_group", "n_second": "n_others"}.get(name, name): value
                    for name, value in to_json(word).items()
                }
                for word in words
            ]
            for group, words in report.bias.by_group.items()
        },
        "notes": list(report.notes),
        "signature": report.signature,
    }


def _shares(counts: Mapping[str, int]) -> Json:
    """Return the number and share of identifiers of each group."""
    total = sum(counts.values())
    return {group: {"n": n, "share": n / total if total else None} for group, n in counts.items()}


def entities_json(report: EntityReport) -> Json:
    """Return the JSON of ``bias entities``."""
    return {
        "groups": list(report.groups),
        "family": "odds ratios: all pairs of groups of a system; hallucination: its groups",
        **_systems(report, _entities),
    }


def _entities(entities: SystemEntities) -> Json:
    measures = _two_ways(entities.estimates)
    measures["hallucination"] |= _hallucinated_groups(entities.hallucination)
    inclusion = measures.pop("inclusion")
    if inclusion["value"] is None and (min_ratio := _max_min_ratio(entities.inclusion)) > 1.0:
        inclusion["at_least"] = min_ratio - 1.0
    return {
        "inclusion": inclusion,
        "by_group": _two_ways(entities.inclusion.by_group),
        "odds_ratios": [
            {"group": pair.group, "other": pair.other}
            | _two_way(pair.ratio)
            | {"p_holm": pair.p_holm, "exact": _exact(pair)}
            for pair in entities.inclusion.pairs
        ],
        **measures,
        "n_ungrouped": entities.n_ungrouped,
        "n_names": entities.n_names,
        "n_aligned": entities.n_aligned,
        "n_hallucinated": entities.n_hallucinated,
        "n_unknown": entities.n_unknown,
        "hallucinated": to_json(entities.most_hallucinated),
        "sizes": to_json(entities.sizes),
    }


def _exact(pair: OddsRatio) -> Json:
    if isinstance(pair.exact, Undefined):
        return {"low": None, "high": None, "p_value": None, "p_holm": None, "why": pair.exact.why}
    bounds = {name: getattr(pair.exact, name) for name in ("low", "high", "p_value")}
    return bounds | {"p_holm": pair.exact_p_holm}


def _max_min_ratio(bias: InclusionBias) -> float:
    """Return the largest lower bound of an odds ratio over all pairs of groups."""
    odds = [pair.exact for pair in bias.pairs if isinstance(pair.exact, ExactOdds)]
    return max((exact.min_ratio for exact in odds), default=1.0)


def distinguishability_json(report: DistinguishabilityReport) -> Json:
    """Return the JSON of ``bias distinguishability``."""

    def system_json(result: SystemDistinguishability) -> Json:
        return {
            "counts": _distinguishability(result.counts),
            "dense": None if result.dense is None else _distinguishability(result.dense),
        }

    return {"family": "none: one test a system and representation", **_systems(report, system_json)}


def _systems(report: Report[SystemT], to_json: Callable[[SystemT], Json]) -> Json:
    """Return the exclusions and results of each system."""
    return {
        "systems": {
            system: {"n": result.n, **_excluded(result.excluded), **to_json(result)}
            for system, result in report.systems.items()
        },
        "notes": list(report.notes),
        "signature": report.signature,
    }


def _distinguishability(distinguishability: Distinguishability) -> Json:
    row: Json = _json(distinguishability)
    measures = row.pop("estimates")
    return {**measures.pop("score"), **measures, **row}


def _hallucinated_groups(bias: HallucinationBias | Undefined) -> Json:
    if isinstance(bias, Undefined):
        return {}
    by_group = _two_ways(bias.by_group)
    return {
        "by_group": {
            group: result | {"p_holm": bias.p_holm.get(group)} for group, result in by_group.items()
        }
    }


def _two_ways(estimates: Mapping[str, TwoWay]) -> Json:
    return {group: _two_way(estimate) for group, estimate in estimates.items()}


def _two_way(estimate: TwoWay) -> Json:
    """Return the estimate over documents, with the interval over assignments."""
    result: Json = _json(estimate.over_documents)
    if isinstance(estimate.over_assignments, Estimate):
        result["over_assignments"] = {
            name: getattr(estimate.over_assignments, name) for name in ("low", "high", "method")
        }
    return result


def _excluded(exclusions: Mapping[str, Exclusion]) -> Json:
    """Return the number of exclusions, in total and by reason, and their eids."""
    eids: dict[str, list[str]] = {}
    for eid, reason in exclusions.items():
        eids.setdefault(reason, []).append(eid)
    return {**excluded_json(exclusions), "excluded_eids": dict(sorted(eids.items()))}


def _number_or_none(value: float | Undefined) -> float | None:
    return None if isinstance(value, Undefined) else value
