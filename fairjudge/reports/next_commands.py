"""The commands that follow one on the way from data to a decision, in full."""

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
"""What stands for a model that the user has to choose."""


RULE = "'WHAT IT ASKS'"
"""What stands for a criterion that the user has to state, quoted."""
_MAX_OWN = 3
"""Largest number of labelled custom aspects for which commands are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCommand:
    """A command and its purpose; the first one, on which others build, has ``"Next"``."""

    command: str
    purpose: str = "Next"

    def __str__(self) -> str:
        return f"{self.purpose}: {self.command}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Files of data; new ones are written to `folder`.

    ``labelled`` has the protocol by which a judge answers as people did, by aspect. References can
    be built of `clusters` where ``several_articles``.
    """

    folder: Path
    clusters: Path | None = None
    references: Path | None = None
    summaries: Sequence[Path] = ()
    labels: Path | None = None
    labelled: Mapping[str, ProtocolName] = field(default_factory=dict)
    several_articles: bool = False

    @property
    def sources(self) -> Path | None:
        """The references, or else the clusters."""
        return self.references or self.clusters


def too_few_to_rank(labels: Iterable[Label]) -> str:
    """Return why `labels` can never show that a judge ranks systems; empty if they can.

    By the aspect with the most of them.
    """
    from fairjudge.calibration.decisions import reason_ranking_is_undecidable  # loads SciPy

    systems, eids = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for label in labels:
        eids[label.aspect].add(label.eid)
        names = (label.system, label.system_a, label.system_b)
        systems[label.aspect].update(name for name in names if name is not None)
    whys = [
        reason_ranking_is_undecidable(n_systems=len(systems[aspect]), n_documents=len(eids[aspect]))
        for aspect in eids
    ]
    return min(whys, key=len, default="")


def protocol_of(values: Iterable[float | Verdict]) -> ProtocolName:
    """Return the protocol by which a judge answers as people did, from the values of labels."""
    distinct = set(values)
    if any(isinstance(value, str) for value in distinct):
        return "pairwise"
    return "binary" if distinct <= {0, 1} else "likert"


def protocols_of(labels: Iterable[Label]) -> dict[str, ProtocolName]:
    """Return the protocol of each aspect of `labels`."""
    values = defaultdict[str, set[float | Verdict]](set)
    for label in labels:
        values[label.aspect].add(label.value)
    return {aspect: protocol_of(several) for aspect, several in values.items()}


def after_converting(data: Data) -> Iterator[NextCommand]:
    """Yield the commands that go on from converted data, the first one first."""
    if data.sources is None:
        if data.summaries:
            command = "convert the articles that were summarized too: docs/your-data.md"
            yield NextCommand(command=command)
        elif data.labels:
            command = f"fairjudge calibrate JUDGEMENTS --labels {_quoted(data.labels)}"
            yield NextCommand(command=command)
        return
    if not data.summaries:
        summaries = data.folder / "summaries.jsonl"
        command = f"fairjudge summarize {_quoted(data.sources)} -o {_quoted(summaries)}"
        yield NextCommand(command=f"{command} --backend {MODEL}")
        return
    commands = [*_of_labels(data)] or [_judged(data, _usual_aspect(data))]
    if "coverage" not in data.labelled and data.references is None and data.several_articles:
        commands += _of_coverage(data, "For coverage, first", "and then")
    yield from commands


def _of_labels(data: Data) -> Iterator[NextCommand]:
    """Yield the commands that judge the labelled aspects and calibrate, a built-in one first.

    Coverage needs references, which are built first. None where there are no labels, or labels on
    coverage alone of clusters that references cannot be built of.
    """
    able = [_usual_aspect(data), *(name for name in ASPECTS if name != "coverage")]
    first = next((name for name in able if name in data.labelled), None)
    if first is not None:
        yield _judged(data, first)
        yield _calibrated(data, "Then")
    if "coverage" in data.labelled and data.references is None and data.several_articles:
        firsts = ("Next", "Then") if first is None else ("For coverage, first", "and then")
        yield from _of_coverage(data, *firsts)
        if first is None:
            yield _calibrated(data, "To calibrate")
            first = "coverage"
    own = sorted({*data.labelled} - {*ASPECTS})
    for name in own[:_MAX_OWN]:
        file_name = re.sub(r"[^-.\w]+", "_", name)
        judgements = data.folder / f"judgements_{file_name}.jsonl"
        purpose = "Next" if first is None else "With a rule of your own"
        command = judge(data, name, output=judgements, rule=RULE)
        yield NextCommand(purpose=purpose, command=command)
        if first is None:
            yield NextCommand(purpose="Then", command=calibrate(data, judgements))
            first = name
    if own:
        yield NextCommand(purpose="To calibrate on these labels", command=own_aspects_advice(own))


def _judged(data: Data, aspect: str, purpose: str = "Next") -> NextCommand:
    output = data.folder / "judgements.jsonl"
    return NextCommand(purpose=purpose, command=judge(data, aspect, output=output))


def _calibrated(data: Data, purpose: str) -> NextCommand:
    judgements = data.folder / "judgements.jsonl"
    return NextCommand(purpose=purpose, command=calibrate(data, judgements))


def _usual_aspect(data: Data) -> str:
    return "coverage" if data.references else "faithfulness"


def after_importing(
    data: Data, judgements: Path | None, aspects: Sequence[str], *, paired: bool = False
) -> Iterator[NextCommand]:
    """Yield the commands that go on from imported files; `judgements` are on `aspects`."""
    if judgements is None and data.references and not data.summaries:
        yield after_building(data.references)
    elif judgements is None:
        yield from after_converting(data)
    elif data.sources is not None or {*aspects} & {*data.labelled}:
        yield after_judging(data, judgements, aspects, paired=paired)
    else:
        page = judgements.parent / "report.html"
        command = f"fairjudge report {_quoted(judgements)} -o {_quoted(page)}"
        yield NextCommand(command=command)


def after_building(references: Path) -> NextCommand:
    """Return the command that judges coverage of `references`."""
    data = Data(folder=references.parent, references=references, summaries=[Path("SUMMARIES")])
    return _judged(data, "coverage")


def after_summarizing(clusters: Path, summaries: Path) -> NextCommand:
    """Return the command that judges `summaries`."""
    data = Data(folder=summaries.parent, clusters=clusters, summaries=[summaries])
    return _judged(data, "faithfulness")


def after_judging(
    data: Data, judgements: Path, aspects: Sequence[str], *, paired: bool = False
) -> NextCommand:
    """Return the command that measures the judge against labels, or has people label first."""
    if data.labels is not None and {*aspects} & {*data.labelled}:
        return NextCommand(purpose="To calibrate", command=calibrate(data, judgements))
    labels = data.folder / "labels.jsonl"
    if data.labels is not None:
        labels = data.folder / f"labels_{aspects[0]}.jsonl"
    task = "preference" if paired else "rating"
    command = (
        f"fairjudge annotate {_quoted(data.sources)} --task {task} --aspect "
        f"{shlex.quote(aspects[0])}{_summaries(data)} -o {_quoted(labels)}"
    )
    later = calibrate(data, judgements, labels=labels)
    return NextCommand(purpose="To calibrate, have people label", command=f"{command}; {later}")


def judge(data: Data, aspect: str, *, output: Path, rule: str = "") -> str:
    """Return the command that judges `aspect`, by the embedded models where they can.

    An aspect without a built-in prompt is stated by `rule`, quoted.
    """
    protocol = data.labelled.get(aspect, "likert")
    can_be_local = aspect in LOCAL_ASPECTS and not (
        aspect == BALANCE and PROTOCOLS[protocol].yes_no
    )
    return (
        f"fairjudge judge --references {_quoted(data.sources)}{_summaries(data)} --aspect "
        f"{shlex.quote(aspect)} --protocol {protocol}{rule and f' --rule {rule}'} "
        f"-o {_quoted(output)}"
        f"{'' if can_be_local else f' --backend {MODEL}'}"
    )


def calibrate(data: Data, judgements: Path, *, labels: Path | None = None) -> str:
    """Return the command that measures `judgements`, with what simple baselines need."""
    texts = _summaries(data) if len(data.summaries) == 1 else ""
    clusters = f" --clusters {_quoted(data.sources)}" if data.sources else ""
    return (
        f"fairjudge calibrate {_quoted(judgements)} --labels {_quoted(labels or data.labels)}"
        f"{texts}{clusters}"
    )


def _of_coverage(data: Data, build: str, judging: str) -> Iterator[NextCommand]:
    """Yield the commands that build references and judge coverage, for the purposes named."""
    references = data.folder / "references.jsonl"
    command = f"fairjudge build {_quoted(data.clusters)} -o {_quoted(references)}"
    yield NextCommand(purpose=build, command=command)
    output = "judgements.jsonl" if judging == "Then" else "coverage.jsonl"
    command = judge(replace(data, references=references), "coverage", output=data.folder / output)
    yield NextCommand(purpose=judging, command=command)


def _summaries(data: Data) -> str:
    return "".join(f" --summaries {_quoted(path)}" for path in data.summaries)


def _quoted(path: Path | None) -> str:
    return shlex.quote(str(path))
