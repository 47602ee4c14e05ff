"""Making one report of runs, records and the JSON of other commands."""

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
from fairjudge.analysis.label_lines import naming_lines
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
"""Why a summary that was given has no score: there is no judgement of it."""
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
    """Return one page about everything that `inputs` hold.

    Parameters
    ----------
    inputs
        Run folders, folders of files, judgements, references, clusters, summaries, labels, and
        what commands wrote by ``--json``. The kind is recognised by content.
    references, summaries, labels
        The same as giving them as inputs, but checked to be what they are called.
    annotators
        Patterns of the names whose labels are taken, such as ``"expert*"``.
    label_scale
        Lowest and highest label, where most labels do not tell it.
    seed
        Of all resampling.

    Raises
    ------
    FairJudgeError
        If a file cannot be read or is nothing that is known, or there is nothing to show.
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
    """Return one page about what `inputs` holds.

    Raises
    ------
    InputError
        If that is nothing to show.
    """
    inputs.addresses = addresses(inputs.judgements)
    inputs.judgements = separate_settings(inputs.judgements)
    inputs.labels = list(harmonize_ids(inputs.labels, inputs.judgements))
    summaries = harmonize_ids(inputs.summaries.values(), inputs.judgements)
    inputs.summaries = {(summary.eid, summary.system): summary for summary in summaries}
    if not inputs.judgements and not inputs.clusters and not inputs.panels:
        raise InputError("nothing to report on: give judgements, references or a command's --json")
    return Report(html=report_page(_content(inputs, title=title, seed=seed)), title=title)


def _check(panel: Panel) -> None:
    """Reject JSON that is not a command's: of another version, or edited by hand."""
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
    """Yield the answers that an audit of coverage names, each with its judge."""
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
    """Yield the items on which judges and people differ most, each with its judge."""
    if panel.kind != "calibrate":
        return
    for group in panel.report["groups"]:
        of = {name: str(group[name]) for name in ("judge", "aspect", "protocol")}
        for disagreement in group["disagreements"]:
            names = ("eid", "system_a", "system_b", "unit", "judged", "people", "gap")
            causes = [CAUSE_DESCRIPTIONS[cause] for cause in disagreement["causes"]]
            yield {**of, **{name: disagreement[name] for name in names}, "causes": causes}


def _content(inputs: Inputs, *, title: str, seed: int) -> Content:
    kinds = {panel.kind for panel in inputs.panels}
    computed, notes = _computed_panels(inputs, kinds, seed=seed)
    if (length := article_characters(inputs)) > MAX_ARTICLE_CHARACTERS:
        notes.append(f"Without the articles' texts: they have {length:,} characters.")
    panels = (*map(partial(_with_links, inputs), inputs.panels), *computed)
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
    """Let the items of a comparison lead to the page's judgements of them."""
    if panel.kind != "compare" or not inputs.judgements:
        return panel
    return replace(panel, report=with_addresses(panel.report, inputs))


def _with_missing(board: Leaderboard, inputs: Inputs) -> Leaderboard:
    """Count the summaries of the board's systems that have no judgement on it, and why not.

    No judge of answers is asked about clusters without a question; of others it is not known.
    """
    protocol = PROTOCOLS[board.protocol]
    rows = [row for row in inputs.judgements if row.aspect == board.aspect]
    if board.derived or protocol.n_shown is None:
        return board
    empty = {
        cluster.eid
        for cluster in inputs.clusters.values()
        if isinstance(cluster, Reference) and not cluster.question_answers
    }
    judged = {row.eid for row in rows}
    systems = {standing.score.system for standing in board.standings}
    n_by_cluster = Counter(eid for eid, system in inputs.summaries if system in systems)
    reasons: Counter[str] = Counter()
    for eid, n in n_by_cluster.items():
        if eid not in judged:
            coverage = board.aspect == "coverage" and eid in empty
            reasons[NOT_APPLICABLE if coverage else NOT_JUDGED] += protocol.n_verdicts(n)
    if not protocol.paired:
        of = (board.judge, board.protocol)
        own = {(row.eid, row.system) for row in rows if (row.judge, row.protocol) == of}
        partly = [key for key in inputs.summaries if key[0] in judged and key[1] in systems]
        reasons[NOT_JUDGED] += sum(key not in own for key in partly)
    n = reasons.total()
    if not n:
        return board
    every = Counter(board.missing.reasons) + reasons
    n_items = board.missing.n_items + n
    return replace(board, missing=replace(board.missing, n_items=n_items, reasons=every))


def _not_judged(inputs: Inputs) -> tuple[str, ...]:
    """Return the clusters without a judgement, where others have one."""
    judged = {row.eid for row in inputs.judgements}
    eids = dict.fromkeys([*inputs.clusters, *(eid for eid, _ in inputs.summaries)])
    return tuple(eid for eid in eids if eid not in judged) if judged else ()


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
    """Run what the judgements allow and no file brings; return the panels, and why some failed."""
    panels, notes = [], []
    for kind, make in _possible(inputs, seed=seed):
        if kind in kinds:
            continue
        try:
            panels.append(Panel(kind=kind, source=_FROM_JUDGEMENTS, report=make()))
        except FairJudgeError as error:
            notes.append(f"No {kind}: {error}.")
    return panels, notes


def _possible(inputs: Inputs, *, seed: int) -> Iterator[_Maker]:
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
    balanced = any(row.sources for row in rows)
    references = [
        cluster
        for cluster in inputs.clusters.values()
        if balanced or isinstance(cluster, Reference)
    ]
    if references and any(names_its_voices(row) for row in rows):
        yield "audit covered", lambda: covered_report(rows, references)


def names_its_voices(row: Judgement) -> bool:
    """Return whether a judgement names the sources of its answers or articles."""
    itemized = PROTOCOLS[row.protocol].itemized and row.aspect == "coverage"
    listed = itemized or bool(row.sources)
    return listed or row.unit.startswith(("answer:", "article:"))


def _verbosity(rows: Sequence[Judgement]) -> Iterator[_Maker]:
    """Yield the audit where it finds something: a colon alone makes no probe of a system."""
    try:
        report = verbosity_report(rows)
    except InputError:
        return
    yield "audit verbosity", lambda: report


def _calibration(inputs: Inputs, *, seed: int) -> dict[str, Any]:
    from fairjudge.calibration.analysis import analyse
    from fairjudge.calibration.settings import Settings
    from fairjudge.calibration.to_json import analysis_json

    labelled = {label.aspect for label in inputs.labels}
    rows = [row for row in inputs.judgements if row.aspect in labelled]
    if not rows:
        raise InputError(f"no judgement is of what is labelled: {', '.join(sorted(labelled))}")
    reports = [panel.report for panel in inputs.panels if panel.kind == "judge"]
    with naming_lines(*inputs.label_files):
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
