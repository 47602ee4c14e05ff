"""Suggested next commands on the way from data to a decision."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fairjudge.domain import Label, ProtocolName, Verdict
from fairjudge.judges.asking import ASPECTS, LOCAL_ASPECTS
from fairjudge.judges.balance import BALANCE
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.own_aspects import own_aspects_advice

MODEL = "PROVIDER:MODEL"
"""Placeholder of a model that the user has to choose."""


RULE = "'WHAT IT ASKS'"
"""Quoted placeholder of a criterion that the user has to state."""
_MAX_CUSTOM = 3
"""Maximum number of labelled custom aspects with suggested commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCommand:
    """A command and its purpose; the first command has the purpose ``"Next"``."""

    command: str
    purpose: str = "Next"

    def __str__(self) -> str:
        return f"{self.purpose}: {self.command}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Files of data; new files are written to `folder`.

    ``label_protocols`` maps each labelled aspect to the protocol that matches its labels. If
    ``has_several_articles``, references can be built from `clusters`.
    """

    folder: Path
    clusters: Path | None = None
    references: Path | None = None
    summaries: Sequence[Path] = ()
    labels: Path | None = None
    label_protocols: Mapping[str, ProtocolName] = field(default_factory=dict)
    has_several_articles: bool = False

    @property
    def sources(self) -> Path | None:
        """The references, or else the clusters."""
        return self.references or self.clusters


def ranking_obstacle(labels: Iterable[Label]) -> str:
    """Return the reason why `labels` can never show that a judge ranks systems, or ``""``.

    If the labels of any aspect can show it, the result is empty.
    """
    from fairjudge.calibration.decisions import reason_ranking_is_undecidable  # loads SciPy

    systems, eids = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for label in labels:
        eids[label.aspect].add(label.eid)
        names = (label.system, label.system_a, label.system_b)
        systems[label.aspect].update(name for name in names if name is not None)
    reasons = [
        reason_ranking_is_undecidable(n_systems=len(systems[aspect]), n_documents=len(eids[aspect]))
        for aspect in eids
    ]
    return min(reasons, key=len, default="")


def matching_protocol(values: Iterable[float | Verdict]) -> ProtocolName:
    """Return the protocol that matches the values of labels."""
    distinct = set(values)
    if any(isinstance(value, str) for value in distinct):
        return "pairwise"
    return "binary" if distinct <= {0, 1} else "likert"


def label_protocols(labels: Iterable[Label]) -> dict[str, ProtocolName]:
    """Return the protocol of each aspect of `labels`."""
    values = defaultdict[str, set[float | Verdict]](set)
    for label in labels:
        values[label.aspect].add(label.value)
    return {aspect: matching_protocol(aspect_values) for aspect, aspect_values in values.items()}


def commands_after_conversion(data: Data) -> Iterator[NextCommand]:
    """Yield the commands after a conversion, in order."""
    if data.sources is None:
        if data.summaries:
            command = "convert the articles that were summarized too: docs/your-data.md"
            yield NextCommand(command=command)
        elif data.labels:
            command = f"fairjudge calibrate JUDGEMENTS --labels {_quote(data.labels)}"
            yield NextCommand(command=command)
        return
    if not data.summaries:
        summaries = data.folder / "summaries.jsonl"
        command = f"fairjudge summarize {_quote(data.sources)} -o {_quote(summaries)}"
        yield NextCommand(command=f"{command} --backend {MODEL}")
        return
    commands = [*_label_commands(data)] or [_judge_command(data, _default_aspect(data))]
    if (
        "coverage" not in data.label_protocols
        and data.references is None
        and data.has_several_articles
    ):
        commands += _coverage_commands(data, "For coverage, first", "and then")
    yield from commands


def _label_commands(data: Data) -> Iterator[NextCommand]:
    """Yield the commands that judge the labelled aspects and calibrate, built-in aspects first.

    Coverage needs references, which are built first. There are no commands without labels, or if
    only coverage is labelled and references cannot be built.
    """
    built_in_aspects = [_default_aspect(data), *(name for name in ASPECTS if name != "coverage")]
    first_aspect = next((name for name in built_in_aspects if name in data.label_protocols), None)
    if first_aspect is not None:
        yield _judge_command(data, first_aspect)
        yield _calibrate_command(data, "Then")
    if "coverage" in data.label_protocols and data.references is None and data.has_several_articles:
        purposes = ("Next", "Then") if first_aspect is None else ("For coverage, first", "and then")
        yield from _coverage_commands(data, *purposes)
        if first_aspect is None:
            yield _calibrate_command(data, "To calibrate")
            first_aspect = "coverage"
    custom_aspects = sorted({*data.label_protocols} - {*ASPECTS})
    for name in custom_aspects[:_MAX_CUSTOM]:
        file_name = re.sub(r"[^-.\w]+", "_", name)
        judgements = data.folder / f"judgements_{file_name}.jsonl"
        purpose = "Next" if first_aspect is None else "With a custom rule"
        command = judge(data, name, output=judgements, rule=RULE)
        yield NextCommand(purpose=purpose, command=command)
        if first_aspect is None:
            yield NextCommand(purpose="Then", command=calibrate(data, judgements))
            first_aspect = name
    if custom_aspects:
        yield NextCommand(
            purpose="To calibrate on these labels", command=own_aspects_advice(custom_aspects)
        )


def _judge_command(data: Data, aspect: str, purpose: str = "Next") -> NextCommand:
    output = data.folder / "judgements.jsonl"
    return NextCommand(purpose=purpose, command=judge(data, aspect, output=output))


def _calibrate_command(data: Data, purpose: str) -> NextCommand:
    judgements = data.folder / "judgements.jsonl"
    return NextCommand(purpose=purpose, command=calibrate(data, judgements))


def _default_aspect(data: Data) -> str:
    return "coverage" if data.references else "faithfulness"


def commands_after_import(
    data: Data, judgements: Path | None, aspects: Sequence[str], *, is_paired: bool = False
) -> Iterator[NextCommand]:
    """Yield the commands after an import; `aspects` are those of `judgements`."""
    if judgements is None and data.references and not data.summaries:
        yield command_after_build(data.references)
    elif judgements is None:
        yield from commands_after_conversion(data)
    elif data.sources is not None or {*aspects} & {*data.label_protocols}:
        yield command_after_judging(data, judgements, aspects, is_paired=is_paired)
    else:
        page = judgements.parent / "report.html"
        command = f"fairjudge report {_quote(judgements)} -o {_quote(page)}"
        yield NextCommand(command=command)


def command_after_build(references: Path) -> NextCommand:
    """Return the command that judges coverage of `references`."""
    data = Data(folder=references.parent, references=references, summaries=[Path("SUMMARIES")])
    return _judge_command(data, "coverage")


def command_after_summaries(clusters: Path, summaries: Path) -> NextCommand:
    """Return the command that judges `summaries`."""
    data = Data(folder=summaries.parent, clusters=clusters, summaries=[summaries])
    return _judge_command(data, "faithfulness")


def command_after_judging(
    data: Data, judgements: Path, aspects: Sequence[str], *, is_paired: bool = False
) -> NextCommand:
    """Return the command that calibrates the judge; without labels, first the one to annotate."""
    if data.labels is not None and {*aspects} & {*data.label_protocols}:
        return NextCommand(purpose="To calibrate", command=calibrate(data, judgements))
    labels = data.folder / "labels.jsonl"
    if data.labels is not None:
        labels = data.folder / f"labels_{aspects[0]}.jsonl"
    task = "preference" if is_paired else "rating"
    command = (
        f"fairjudge annotate {_quote(data.sources)} --task {task} --aspect "
        f"{shlex.quote(aspects[0])}{_summaries(data)} -o {_quote(labels)}"
    )
    calibration = calibrate(data, judgements, labels=labels)
    return NextCommand(
        purpose="To calibrate, have items labelled", command=f"{command}; {calibration}"
    )


def judge(data: Data, aspect: str, *, output: Path, rule: str = "") -> str:
    """Return the command that judges `aspect`, with the embedded models if they support it.

    An aspect without a built-in prompt is defined by `rule`, quoted.
    """
    protocol = data.label_protocols.get(aspect, "likert")
    is_local = aspect in LOCAL_ASPECTS and not (aspect == BALANCE and PROTOCOLS[protocol].yes_no)
    return (
        f"fairjudge judge --references {_quote(data.sources)}{_summaries(data)} --aspect "
        f"{shlex.quote(aspect)} --protocol {protocol}{rule and f' --rule {rule}'} "
        f"-o {_quote(output)}"
        f"{'' if is_local else f' --backend {MODEL}'}"
    )


def calibrate(data: Data, judgements: Path, *, labels: Path | None = None) -> str:
    """Return the command that calibrates `judgements`, with the inputs of simple baselines."""
    texts = _summaries(data) if len(data.summaries) == 1 else ""
    clusters = f" --clusters {_quote(data.sources)}" if data.sources else ""
    return (
        f"fairjudge calibrate {_quote(judgements)} --labels {_quote(labels or data.labels)}"
        f"{texts}{clusters}"
    )


def _coverage_commands(data: Data, build_purpose: str, judge_purpose: str) -> Iterator[NextCommand]:
    """Yield the commands that build references and judge coverage, with their purposes."""
    references = data.folder / "references.jsonl"
    command = f"fairjudge build {_quote(data.clusters)} -o {_quote(references)}"
    yield NextCommand(purpose=build_purpose, command=command)
    output = "judgements.jsonl" if judge_purpose == "Then" else "coverage.jsonl"
    command = judge(replace(data, references=references), "coverage", output=data.folder / output)
    yield NextCommand(purpose=judge_purpose, command=command)


def _summaries(data: Data) -> str:
    return "".join(f" --summaries {_quote(path)}" for path in data.summaries)


def _quote(path: Path | None) -> str:
    return shlex.quote(str(path))
