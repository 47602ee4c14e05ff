"""Make one report from runs, records and the JSON of other commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from fairjudge.analysis.browsing import (
    MAX_ARTICLE_CHARACTERS,
    addresses,
    article_characters,
    browse_data,
)
from fairjudge.analysis.changed_items import with_addresses
from fairjudge.analysis.judged_inputs import requests_by_group
from fairjudge.analysis.label_lines import locate_label_errors
from fairjudge.analysis.report_inputs import Inputs
from fairjudge.auditing.reports import (
    covered_report,
    length_report,
    parse_report,
    position_report,
    verbosity_report,
)
from fairjudge.auditing.statements import statements_report
from fairjudge.calibration.disagreements import CAUSE_DESCRIPTIONS
from fairjudge.domain import Judgement, Reference
from fairjudge.errors import FairJudgeError, InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.matching import harmonize_ids
from fairjudge.reports.content import UNSCORED, Content, Panel
from fairjudge.reports.evidence_tables import omission_kind
from fairjudge.reports.pages import Report
from fairjudge.reports.report_page import report_page
from fairjudge.reports.svg import suppress_saving
from fairjudge.scores.leaderboards import Leaderboard, is_derived, leaderboards
from fairjudge.scores.missing import NOT_APPLICABLE
from fairjudge.scores.settings import separate_settings

_FROM_JUDGEMENTS = "judgements"
NOT_JUDGED = "not judged"
"""Reason why a summary has no score: there is no judgement of it."""
_Maker: TypeAlias = tuple[str, Callable[[], Mapping[str, Any]]]


def make_report(
    *inputs: str | Path,
    references: str | Path | None = None,
    summaries: str | Path | None = None,
    labels: str | Path | None = None,
    annotators: Sequence[str] = ("*",),
    label_scale: tuple[float, float] | None = None,
    title: str = "FairJudge report",
    seed: int = 0,
    skip_bad: bool = False,
) -> Report:
    """Return a report page on all `inputs`.

    Parameters
    ----------
    inputs
        Run folders, folders of files, judgements, references, clusters, summaries, labels, and
        the ``--json`` output of commands. The kind is recognised by content.
    references, summaries, labels
        Like `inputs`, but of the kind given by the name.
    annotators
        Patterns of the annotators whose labels are used, such as ``"expert*"``.
    label_scale
        Lowest and highest possible label, if it cannot be inferred from the labels.
    seed
        Seed of all resampling.

    Raises
    ------
    FairJudgeError
        If a file cannot be read or is of an unknown kind, or there is nothing to show.
    """
    records = Inputs(skip_bad=skip_bad, annotators=annotators, label_scale=label_scale)
    files = ((references, "references", "clusters"), (summaries, "summaries"), (labels, "labels"))
    for path, *kinds in files:
        if path is not None:
            records.add(Path(path), *kinds)
    for path in inputs:
        records.add(Path(path))
    for panel in records.panels:
        _check(panel)
    return report_on(records, title=title, seed=seed)


def report_on(inputs: Inputs, *, title: str, seed: int) -> Report:
    """Return a report page on `inputs`.

    Raises
    ------
    InputError
        If there is nothing to show.
    """
    inputs.addresses = addresses(inputs.judgements)
    inputs.judgements = separate_settings(inputs.judgements)
    inputs.labels = list(harmonize_ids(inputs.labels, inputs.judgements))
    summaries = harmonize_ids(inputs.summaries.values(), inputs.judgements)
    inputs.summaries = {(summary.eid, summary.system): summary for summary in summaries}
    if not inputs.judgements and not inputs.clusters and not inputs.panels:
        raise InputError(
            "nothing to report on: pass judgements, references or the --json output of a command"
        )
    return Report(html=report_page(_content(inputs, title=title, seed=seed)), title=title)


def _check(panel: Panel) -> None:
    """Raise an error for JSON of another version, or edited by hand."""
    try:
        browse = {
            "uncovered": list(_uncovered(panel)),
            "disagreements": list(_disagreements(panel)),
        }
        with suppress_saving():
            report_page(Content(title="", panels=(panel,), browse=browse))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        reason = f"not what 'fairjudge {panel.kind} --json' writes in this version"
        raise InputError(reason, path=panel.source) from None


def _uncovered(panel: Panel) -> Iterator[dict[str, Any]]:
    """Yield the answers listed by an audit of coverage, each with its judge."""
    if panel.kind != "audit covered":
        return
    for group in panel.report["groups"]:
        for answer in group["uncovered"]:
            voices = answer["voices"]
            yield {
                "judge": str(group["judge"]),
                "system": str(group["system"]),
                "eid": str(answer["eid"]),
                "question": str(answer["question"]),
                "answer": str(answer["label"] or (voices[0]["answer"] if voices else "")),
                "outlets": list(dict.fromkeys(str(voice["name"]) for voice in voices)),
                "voices": [[str(voice["name"]), str(voice["answer"])] for voice in voices],
                "how": omission_kind(answer),
            }


def _disagreements(panel: Panel) -> Iterator[dict[str, Any]]:
    """Yield the items on which judges and humans differ most, each with its judge."""
    if panel.kind != "calibrate":
        return
    for group in panel.report["groups"]:
        group_fields = {name: str(group[name]) for name in ("judge", "aspect", "protocol")}
        for disagreement in group["disagreements"]:
            names = ("eid", "system_a", "system_b", "unit", "judged", "people", "gap")
            causes = [CAUSE_DESCRIPTIONS[cause] for cause in disagreement["causes"]]
            yield {**group_fields, **{name: disagreement[name] for name in names}, "causes": causes}


def _content(inputs: Inputs, *, title: str, seed: int) -> Content:
    kinds = {panel.kind for panel in inputs.panels}
    computed_panels, notes = _computed_panels(inputs, kinds, seed=seed)
    if (length := article_characters(inputs)) > MAX_ARTICLE_CHARACTERS:
        notes.append(f"Without the articles' texts: they have {length:,} characters.")
    panels = (*map(partial(_with_links, inputs), inputs.panels), *computed_panels)
    return Content(
        title=title,
        counts=_counts(inputs.judgements) if inputs.judgements else None,
        sources=tuple(inputs.sources),
        runs=tuple(inputs.runs),
        costs=tuple(inputs.costs),
        signatures=Counter(row.signature for row in inputs.judgements if row.signature),
        leaderboards=tuple(
            _with_missing(leaderboard, inputs)
            for leaderboard in leaderboards(inputs.judgements, seed=seed)
        ),
        panels=panels,
        browse=browse_data(
            inputs,
            [answer for panel in panels for answer in _uncovered(panel)],
            disagreements=[
                disagreement for panel in panels for disagreement in _disagreements(panel)
            ],
        ),
        notes=tuple(notes),
        not_judged=_not_judged(inputs),
    )


def _with_links(inputs: Inputs, panel: Panel) -> Panel:
    """Add links from the items of a comparison to their judgements on the page."""
    if panel.kind != "compare" or not inputs.judgements:
        return panel
    return replace(panel, report=with_addresses(panel.report, inputs))


def _with_missing(board: Leaderboard, inputs: Inputs) -> Leaderboard:
    """Add the summaries without a judgement on the board, by reason, to its missing items.

    Coverage of clusters without questions is not applicable; others were not judged.
    """
    protocol = PROTOCOLS[board.protocol]
    rows = [row for row in inputs.judgements if row.aspect == board.aspect]
    if board.derived or protocol.n_shown is None:
        return board
    eids_without_questions = {
        cluster.eid
        for cluster in inputs.clusters.values()
        if isinstance(cluster, Reference) and not cluster.question_answers
    }
    judged_eids = {row.eid for row in rows}
    systems = {standing.score.system for standing in board.standings}
    n_by_cluster = Counter(eid for eid, system in inputs.summaries if system in systems)
    reasons: Counter[str] = Counter()
    for eid, n in n_by_cluster.items():
        if eid not in judged_eids:
            is_not_applicable = board.aspect == "coverage" and eid in eids_without_questions
            reasons[NOT_APPLICABLE if is_not_applicable else NOT_JUDGED] += protocol.n_verdicts(n)
    if not protocol.paired:
        board_key = (board.judge, board.protocol)
        judged_keys = {
            (row.eid, row.system) for row in rows if (row.judge, row.protocol) == board_key
        }
        keys_in_judged_clusters = [
            key for key in inputs.summaries if key[0] in judged_eids and key[1] in systems
        ]
        reasons[NOT_JUDGED] += sum(key not in judged_keys for key in keys_in_judged_clusters)
    n = reasons.total()
    if not n:
        return board
    reasons_with_missing = Counter(board.missing.reasons) + reasons
    n_items = board.missing.n_items + n
    return replace(
        board, missing=replace(board.missing, n_items=n_items, reasons=reasons_with_missing)
    )


def _not_judged(inputs: Inputs) -> tuple[str, ...]:
    """Return the clusters without a judgement, or nothing if there are no judgements."""
    judged_eids = {row.eid for row in inputs.judgements}
    eids = dict.fromkeys([*inputs.clusters, *(eid for eid, _ in inputs.summaries)])
    return tuple(eid for eid in eids if eid not in judged_eids) if judged_eids else ()


def _counts(rows: Sequence[Judgement]) -> dict[str, int]:
    systems = {name for row in rows for name in (row.system, row.system_a, row.system_b)}
    return {
        "judgement": len(rows),
        "system": len(systems - {None}),
        "cluster": len({row.eid for row in rows}),
        "judge": len({row.judge for row in rows}),
        UNSCORED: sum(row.unscored is not None for row in rows),
    }


def _computed_panels(
    inputs: Inputs, kinds: set[str], *, seed: int
) -> tuple[list[Panel], list[str]]:
    """Compute the panels that are not in files; return them, and notes on those that failed."""
    panels, notes = [], []
    for kind, make in _panel_makers(inputs, seed=seed):
        if kind in kinds:
            continue
        try:
            panels.append(Panel(kind=kind, source=_FROM_JUDGEMENTS, report=make()))
        except FairJudgeError as error:
            notes.append(f"No {kind}: {error}.")
    return panels, notes


def _panel_makers(inputs: Inputs, *, seed: int) -> Iterator[_Maker]:
    rows = inputs.judgements
    if not rows:
        return
    yield "audit parse", lambda: parse_report(rows)
    if inputs.labels:
        yield "calibrate", lambda: _calibration(inputs, seed=seed)
    if any(PROTOCOLS[row.protocol].paired and not is_derived(row) for row in rows):
        yield "audit position", lambda: position_report(rows, labels=None, close_within=0.5)
        if inputs.summaries:
            yield "audit length", lambda: length_report(rows, inputs.summaries.values())
    if any(":" in name for row in rows for name in (row.system or "", row.system_b or "")):
        yield from _verbosity(rows)
    if any(row.statements for row in rows):
        clusters, summaries = list(inputs.clusters.values()), list(inputs.summaries.values())
        yield "audit statements", lambda: statements_report(rows, clusters, summaries)
    has_sources = any(row.sources for row in rows)
    references = [
        cluster
        for cluster in inputs.clusters.values()
        if has_sources or isinstance(cluster, Reference)
    ]
    if references and any(has_unit_sources(row) for row in rows):
        yield "audit covered", lambda: covered_report(rows, references)


def has_unit_sources(row: Judgement) -> bool:
    """Whether a judgement has the sources of its answers or articles."""
    is_itemized = PROTOCOLS[row.protocol].itemized and row.aspect == "coverage"
    has_voices = is_itemized or bool(row.sources)
    return has_voices or row.unit.startswith(("answer:", "article:"))


def _verbosity(rows: Sequence[Judgement]) -> Iterator[_Maker]:
    """Yield the verbosity audit if there are probes, since other names may contain a colon."""
    try:
        report = verbosity_report(rows)
    except InputError:
        return
    yield "audit verbosity", lambda: report


def _calibration(inputs: Inputs, *, seed: int) -> dict[str, Any]:
    from fairjudge.calibration.analysis import analyse
    from fairjudge.calibration.settings import Settings
    from fairjudge.calibration.to_json import analysis_json

    labelled_aspects = {label.aspect for label in inputs.labels}
    rows = [row for row in inputs.judgements if row.aspect in labelled_aspects]
    if not rows:
        raise InputError(
            f"no judgement of a labelled aspect ({', '.join(sorted(labelled_aspects))})"
        )
    reports = [panel.report for panel in inputs.panels if panel.kind == "judge"]
    with locate_label_errors(*inputs.label_files):
        analysis = analyse(
            rows,
            inputs.labels,
            settings=Settings(seed=seed, label_scale=inputs.label_scale),
            summaries=list(inputs.summaries.values()),
            clusters=list(inputs.clusters.values()),
            costs=requests_by_group(rows, runs=inputs.judging_runs, reports=reports),
        )
    judges = sorted({group.joined.judge for group in analysis.groups})
    return analysis_json(analysis, signature={"judged_by": judges}, list_all=False)
