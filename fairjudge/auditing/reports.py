"""Reports of audits: results from judgements, as JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from fairjudge.auditing.probes import PROBES
from fairjudge.auditing.statements import statement_counts
from fairjudge.calibration.audits import EXTENDED, audit_position, audit_verbosity
from fairjudge.calibration.grouping import GroupKey, group_judgements, with_group_keys
from fairjudge.calibration.length import control_length
from fairjudge.calibration.to_json import audits_json
from fairjudge.datasets import Loaded, read_clusters, read_labels, read_references
from fairjudge.domain import Cluster, Estimate, Judgement, Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.judges.balance import BALANCE
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.matching import join_samples
from fairjudge.records.results import figure, to_json
from fairjudge.scores.coverage_slices import CoverageSlices, coverage_slices
from fairjudge.scores.leaderboards import is_derived
from fairjudge.scores.missing import count_missing
from fairjudge.scores.strengths import comparisons
from fairjudge.stats.clustered import clustered_mean
from fairjudge.text.counting import pluralize
from fairjudge.text.scripts import count_words

Quality = Mapping[tuple[str, str], float]
"""The human value of each (eid, system)."""


def position_report(
    rows: Sequence[Judgement],
    *,
    labels: object | None,
    close_within: float,
) -> dict[str, Any]:
    """Return position bias by judge, aspect, protocol and unit, pair of systems and closeness.

    Closeness requires human ratings: `labels`, or fields ``human_a`` and ``human_b`` of judgements.
    If judgements have distributions over both orders, ``shift`` is the mean graded bias. Raises
    InputError if there is no pairwise judgement.
    """
    pairs = [row for row in rows if PROTOCOLS[row.protocol].paired and not is_derived(row)]
    if not pairs:
        raise InputError("position bias requires pairwise judgements; there are none")
    quality_by_aspect, joins = _label_quality(labels, pairs)
    groups: list[dict[str, Any]] = []
    for aspect in dict.fromkeys(row.aspect for row in pairs):
        group_rows = [row for row in pairs if row.aspect == aspect]
        quality = quality_by_aspect.get(aspect) or _quality_of_rows(group_rows)
        audits = audit_position(group_rows, quality=quality, tolerance=close_within)
        groups += audits_json(audits)["groups"]
    for group in groups:
        group["shift"] = _shift(pairs, group)
    return {"groups": groups, **({"joins": joins} if joins else {})}


def _label_quality(
    labels: object | None, pairs: Sequence[Judgement]
) -> tuple[dict[str, Quality], list[dict[str, Any]]]:
    """Return each summary's mean human rating, by aspect, and a report of the matching."""
    if labels is None:
        return {}, []
    aspects = {row.aspect for row in pairs}
    all_labels = read_labels(labels)
    labels_of_pairs = [
        label for label in all_labels if label.aspect in aspects and label.system is not None
    ]
    rows, matching = join_samples(
        labels_of_pairs, pairs, names=("labelled summary", "summary of a pair")
    )
    values: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for label in rows:
        if label.system is not None and not isinstance(label.value, str):
            values[label.aspect][label.eid, label.system].append(label.value)
    means: dict[str, Quality] = {
        aspect: {item: fmean(values) for item, values in items.items()}
        for aspect, items in values.items()
    }
    return means, [matching.to_json()]


def _quality_of_rows(rows: Sequence[Judgement]) -> Quality:
    quality: dict[tuple[str, str], float] = {}
    for row in rows:
        extra = row.model_extra or {}
        for system, field in ((row.system_a, "human_a"), (row.system_b, "human_b")):
            value = extra.get(field)
            if system is not None and isinstance(value, int | float):
                quality[row.eid, system] = float(value)
    return quality


def _shift(rows: Sequence[Judgement], group: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the mean shift of a pair's distributions between its orders, over pairs."""
    shifts: dict[tuple[str, ...], float] = {}
    group_key = tuple(group[name] for name in GroupKey._fields)
    for key, row in with_group_keys(rows):
        shift = (row.model_extra or {}).get("shift")
        if key == group_key and isinstance(shift, int | float):
            shifts[row.eid, str(row.system_a), str(row.system_b), row.unit] = float(shift)
    if not shifts:
        return None
    return figure(
        clustered_mean(list(shifts.values()), [key[0] for key in shifts], level=0.95, null=0.0)
    )


def verbosity_report(rows: Sequence[Judgement]) -> dict[str, Any]:
    """Return verbosity bias by judge, aspect, protocol, unit and probe.

    Raises InputError if no system has the name of a probe of another system.
    """
    groups: list[dict[str, Any]] = []
    for probe in PROBES:
        probe_rows = [_rename_probe(row, probe) for row in rows if _is_of_probe(row, probe)]
        audited_groups = audits_json(audit_verbosity(probe_rows))["groups"]
        groups += [{"probe": probe, **group} for group in audited_groups]
    if not groups:
        raise InputError(
            "verbosity needs judgements of systems named X and X:extended; collect them with "
            "--references and --summaries"
        )
    return {"groups": groups}


def _is_of_probe(row: Judgement, probe: str) -> bool:
    suffixes = tuple(f":{probe_name}" for probe_name in PROBES if probe_name != probe)
    names = filter(None, (row.system, row.system_a, row.system_b))
    return not any(name.endswith(suffixes) for name in names)


def _rename_probe(row: Judgement, probe: str) -> Judgement:
    """Rename a probe's systems to those of the probe ``extended``, which is computed alike."""
    suffix = f":{probe}"
    names = {
        field: name.removesuffix(suffix) + EXTENDED
        for field in ("system", "system_a", "system_b")
        if (name := getattr(row, field)) is not None and name.endswith(suffix)
    }
    return row.model_copy(update=names) if names else row


def parse_report(rows: Sequence[Judgement]) -> dict[str, Any]:
    """Count judgements without a score by reason, for each judge, aspect, protocol and unit."""
    groups = []
    for group, members in group_judgements(rows).items():
        counts = Counter(row.unscored for row in members if row.unscored is not None)
        groups.append(
            group._asdict()
            | {
                "n_judgements": len(members),
                "n_unscored": counts.total(),
                "unscored": dict(counts),
                "scored_by": dict(Counter(row.scored_by for row in members if not row.unscored)),
            }
        )
    return {"groups": groups}


def _share(estimate: Estimate | Undefined, *, times: float = 1.0) -> dict[str, Any]:
    """Return a share as JSON, with Student's interval clipped to [0, 1]."""
    results = figure(estimate, times=times)
    bounds = {
        bound: min(max(results[bound], 0.0), times)
        for bound in ("low", "high")
        if results[bound] is not None
    }
    return {**results, **bounds}


def sources_reader(rows: Sequence[Judgement]) -> Callable[..., Loaded[Any]]:
    """Return the reader of the sources: of clusters if all judgements are of balance."""
    only_balance = bool(rows) and all(row.aspect == BALANCE for row in rows)
    return read_clusters if only_balance else read_references


def covered_report(rows: Sequence[Judgement], references: Sequence[Cluster]) -> dict[str, Any]:
    """Return coverage by judge, aspect, protocol, unit and system: slices, and omitted voices.

    Raises InputError if no judgement is a checklist, of balance, or of a single answer or article.
    """
    items: dict[tuple[GroupKey, str], list[Judgement]] = defaultdict(list)
    for key, row in with_group_keys(rows):
        if row.system is not None:
            items[key, row.system].append(row)
    slices = {item: coverage_slices(judgements, references) for item, judgements in items.items()}
    statements = statement_counts(rows)
    groups = [
        {**_covered_group(key, system, coverage), "statements": statements.get(system)}
        for (key, system), coverage in slices.items()
        if coverage.n or coverage.n_sources
    ]
    checklists = [
        row for row in rows if PROTOCOLS[row.protocol].itemized and row.aspect == "coverage"
    ]
    if not groups and checklists:
        counts = count_missing(checklists).in_words()
        raise InputError(f"no checklist has a score: {len(checklists)} judged, {counts}")
    if not groups:
        raise InputError(
            "no judgement is a checklist, of balance, or of a single answer or article: judge with "
            "--protocol checklist, --aspect balance, or --reference-unit qa_pair or article"
        )
    return {"groups": groups}


def _covered_group(key: GroupKey, system: str, slices: CoverageSlices) -> dict[str, Any]:
    return {
        **key._asdict(),
        "system": system,
        "n": slices.n,
        "n_sources": slices.n_sources,
        "n_voices": slices.n_voices,
        "n_unscored": slices.n_unscored,
        "n_unknown": slices.n_unknown,
        "slices": {
            partition: {name: _share(mean) for name, mean in means.items()}
            for partition, means in slices.slices.items()
        },
        "answers": [to_json(answer) for answer in slices.answers],
        "uncovered": [
            {**to_json(group), "voices": [{**to_json(v), "name": v.name} for v in group.voices]}
            for group in slices.uncovered
        ],
        "contradicted": [to_json(group) for group in slices.contradicted],
        "left_out": [
            {"eid": eid, "outlets": list(outlets)} for eid, outlets in slices.left_out.items()
        ],
        "least_covered": [
            {"eid": eid, **to_json(source)} for eid, source in slices.least_covered.items()
        ],
    }


MIN_PAIRS = 30
"""Minimum number of judged pairs for a win rate at equal length."""


def length_report(
    rows: Sequence[Judgement],
    summaries: Iterable[Summary],
    *,
    matched_within: float = 0.25,
    count: Callable[[str], int] = count_words,
) -> dict[str, Any]:
    """Return win rates as judged, at equal length, and among pairs of similar length.

    Lengths are in words, or in the unit of `count`. Groups (judge, aspect, protocol and unit) with
    too few pairs contain the reason. Raises InputError if there is no pairwise judgement.
    """
    pairs = [row for row in rows if PROTOCOLS[row.protocol].paired]
    if not pairs:
        raise InputError("length-adjusted win rates require pairwise judgements; there are none")
    names = ("summary", "summary of a pair")
    summaries, matching = join_samples(summaries, pairs, names=names, complete=("right",))
    lengths = {(summary.eid, summary.system): count(summary.text) for summary in summaries}
    return {
        "groups": [
            {**key._asdict(), **_length_group(members, lengths, matched_within)}
            for key, members in group_judgements(pairs).items()
        ],
        "lengths": _mean_lengths(lengths),
        "joins": [matching.to_json()],
    }


def _mean_lengths(lengths: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """Return the mean length of each system's summaries (DiverseSumm, Figure 12)."""
    by_system: dict[str, dict[str, int]] = defaultdict(dict)
    for (eid, system), n in lengths.items():
        by_system[system][eid] = n
    return {
        system: figure(clustered_mean([float(n) for n in counts.values()], list(counts)))
        for system, counts in by_system.items()
    }


def _length_group(
    rows: Sequence[Judgement], lengths: Mapping[tuple[str, str], int], matched_within: float
) -> dict[str, Any]:
    pairs = [
        row
        for row in rows
        if isinstance(row.value, str)
        and (row.eid, str(row.system_a)) in lengths
        and (row.eid, str(row.system_b)) in lengths
    ]
    counts = {"n": len(pairs), "n_left_out": len(rows) - len(pairs)}
    if len(pairs) < MIN_PAIRS or len({row.eid for row in pairs}) < 2:
        n_pairs = pluralize(len(pairs), "judged pair")
        reason = f"too few: {n_pairs} with both lengths; {MIN_PAIRS} are needed"
        return {**counts, "why": reason, "win_rates": []}
    verdicts = comparisons(pairs)
    differences = [
        float(lengths[row.eid, system] - lengths[row.eid, opponent])
        for row, system, opponent in zip(pairs, verdicts.system_a, verdicts.system_b, strict=True)
    ]
    length_control = control_length(verdicts, differences, matched_within=matched_within)
    if isinstance(length_control, Undefined):
        return {**counts, "why": length_control.why, "win_rates": []}
    return {
        **counts,
        "why": None,
        "length_effect": figure(length_control.length_effect),
        "position_effect": figure(length_control.position_effect),
        "win_rates": [
            {
                "system_a": win_rate.system_a,
                "system_b": win_rate.system_b,
                **{
                    kind: _share(getattr(win_rate, kind), times=100.0)
                    for kind in ("raw", "adjusted", "matched")
                },
            }
            for win_rate in length_control.win_rates
        ],
    }
