"""Draft of a commented study file for an inventory of data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairjudge.calibration.calibrators import MIN_LABELS
from fairjudge.domain import ProtocolName
from fairjudge.judges.asking import ASPECTS, LOCAL_ASPECTS
from fairjudge.options.models import Model
from fairjudge.protocols import PROTOCOLS
from fairjudge.studies.experiments import EXPERIMENTS, Experiment, comment_out, toml_text
from fairjudge.studies.inventory import DataInventory
from fairjudge.text.counting import pluralize

_COLUMN = 44
_MODELS = """\
# A model and its name in this file; 'fairjudge backends list' shows the providers. "local" needs no
# table: it is bundled, needs no key, and is a weak judge.
{model}
# Budget of all steps together, across all runs.
# [budget]
# max_cost = 5.0                             # US dollars
# max_calls = 10000
"""
_MODEL = """\
[models.main]
backend = "openai:gpt-4o-mini"
concurrency = 8
"""
_WRITERS = """\
# A system whose summaries are written for this study; one table per system.
{writer}"""
_WRITER = """\
[[summarize]]
system = "main-direct"
model = "main"
strategy = "direct"                          # or "extract", "differences"
n_sentences = 5
"""
_BUILD = """\
[build]                                      # writes questions that sources answer differently
model = "{model}"
n_questions = 12
"""
_OF_PAPER = """\
# The experiment of {paper}.
# Commands for the paper's other analyses: {other_analyses}.
"""
_ABOUT_JUDGES = """\
# One [[judge]] table per combination of aspect, protocol and model; several models form a jury.
"""
_NO_QUESTIONS = "Coverage needs references, or clusters of several articles:"
_AUDITS = """\
# audits = ["checks", "verbosity"]           # these need further calls; the others always run
"""
_NO_LABELS = "# [calibrate] needs labels: 'fairjudge annotate' collects them.\n"
_NO_ATTRIBUTE = "# [[fairness]] needs articles with an attribute, such as their outlets' leaning.\n"
_SCORERS = {"coverage": 'that judge\'s verdicts, or "local"', "local": "or the name of a judge"}


@dataclass(frozen=True, slots=True)
class _Draft:
    """A table of a judge, as text; ``reason`` is the reason why it is commented out, or empty."""

    aspect: str
    text: str
    reason: str = ""

    def __str__(self) -> str:
        if not self.reason:
            return self.text
        return f"# {self.reason}\n{comment_out(self.text)}"


def study_text(
    data: DataInventory, path: Path, *, model: Model | None = None, like: str | None = None
) -> str:
    """Return the text of a study file for `path`; `like` is a key of `EXPERIMENTS`.

    Tables that need other data than `data`, or a language model if `model` is None, are omitted or
    commented out with the reason.
    """
    llm = None if model is None or model.llm is None else model
    models = _MODELS.format(model=comment_out(_MODEL) if llm is None else _model_table(llm))
    if like is None:
        drafts = _judges(data, "local" if llm is None else "main")
        parts = [models, _build(data, drafts, llm), _writers(data, llm), _ABOUT_JUDGES]
        measures = None
        scorer = "coverage" if _has_judge("coverage", drafts) else "local"
    else:
        experiment = EXPERIMENTS[like]
        drafts = _of_paper(data, experiment)
        writers = experiment.writers.replace("ATTRIBUTE", next(iter(data.attributes), "ATTRIBUTE"))
        header = _OF_PAPER.format(paper=experiment.paper, other_analyses=experiment.other_analyses)
        parts = [header, models, _build(data, drafts, llm), writers, ""]
        measures, scorer = experiment.measures, "local"
    parts[-1] += "\n".join(map(str, drafts))
    parts += _calibrate(data, drafts, is_active=like == "diversesumm")
    return "\n".join((_head(path), _data(data, path), *parts, *_fairness(data, measures, scorer)))


def _head(path: Path) -> str:
    limit = _line("# limit = 20", "for a trial run: each judge judges its first 20 items")
    return f"""\
# A study: data, models, judges and analyses. Paths are relative to this file's folder.
#
#     fairjudge study {path.name} --plan     estimate calls and cost, before the first call
#     fairjudge study {path.name}            run it, or resume it

title = "FairJudge study"
seed = 0                                     # for all resampling
{limit}
"""


def _data(data: DataInventory, path: Path) -> str:
    lines = ["[data]"]
    for name, files in (("clusters", data.clusters), ("references", data.references)):
        lines += _file_lines(name, files, path)
    paths = ", ".join(_relative_path(summary, path) for summary in data.summaries)
    description = "; ".join(data.summaries.values()) or "or write some: see [[summarize]]"
    lines.append(_line(f"summaries = [{paths}]", description))
    lines += _file_lines("labels", data.labels, path)
    return "\n".join(lines) + "\n"


def _file_lines(name: str, files: dict[Path, str], path: Path) -> Iterator[str]:
    for index, (file, description) in enumerate(files.items()):
        line = _line(f"{name} = {_relative_path(file, path)}", description)
        yield line if index == 0 else f"# {line}"


def _line(text: str, comment: str) -> str:
    return f"{text:<{_COLUMN}} # {comment}"


def _relative_path(file: Path, path: Path) -> str:
    """Return `file` relative to the study file's folder, as a TOML string."""
    return toml_text(Path(os.path.relpath(file, path.parent)).as_posix())


def _model_table(model: Model) -> str:
    lines = ["[models.main]", f"backend = {toml_text(model.target)}"]
    lines += [f"base_url = {toml_text(model.base_url)}"] if model.base_url else []
    return "\n".join([*lines, "concurrency = 8\n"])


def _has_judge(aspect: str, drafts: Sequence[_Draft]) -> bool:
    return any(draft.aspect == aspect and not draft.reason for draft in drafts)


def _build(data: DataInventory, drafts: Sequence[_Draft], llm: Model | None) -> str:
    if data.references:
        return "# No [build]: the data has references.\n"
    if not data.has_questions:
        return "# No [build]: questions need clusters of several articles with enough text.\n"
    table = _BUILD.format(model="local" if llm is None else "main")
    return table if _has_judge("coverage", drafts) else comment_out(table)


def _writers(data: DataInventory, llm: Model | None) -> str:
    is_needed = llm is not None and not data.summaries
    return _WRITERS.format(writer=_WRITER if is_needed else comment_out(_WRITER))


def _judges(data: DataInventory, model: str) -> list[_Draft]:
    """Return a judge per labelled aspect; without labels, of aspects of the bundled model."""
    labelled_aspects = [aspect for aspect in ASPECTS if aspect in data.n_labelled]
    drafts = [
        _judge(data, aspect, data.protocols[aspect], model)
        for aspect in labelled_aspects
        if not PROTOCOLS[data.protocols[aspect]].paired or len(data.systems) > 1
    ]
    if "coverage" not in labelled_aspects and data.has_questions:
        coverage = _judge(data, "coverage", "checklist", model)
        reason = (
            "No labels of coverage: its judge would not be calibrated." if labelled_aspects else ""
        )
        drafts.append(replace(coverage, reason=reason))
    if not labelled_aspects or all(draft.reason for draft in drafts):
        drafts.append(_judge(data, "faithfulness", "likert", model))
    return drafts


def _judge(data: DataInventory, aspect: str, protocol: ProtocolName, model: str) -> _Draft:
    text = _judge_table(aspect, aspect, protocol, model=model)
    if PROTOCOLS[protocol].itemized:
        line = _line('protocol = "checklist"', "judges for each answer whether it is covered")
        text = text.replace('protocol = "checklist"', line)
        text += _AUDITS
    if aspect == "coverage" and not data.has_questions:
        return _Draft(aspect, text, _NO_QUESTIONS)
    if model == "local" and aspect not in LOCAL_ASPECTS:
        text = text.replace('model = "local"', 'model = "main"')
        return _Draft(aspect, text, f"{aspect} needs an LLM: specify one in [models.main] first.")
    return _Draft(aspect, text)


def _of_paper(data: DataInventory, experiment: Experiment) -> list[_Draft]:
    """Return a paper's judges; those without the required data are commented out."""
    drafts: list[_Draft] = []
    for aspect, protocol, *units in experiment.judges:
        name = "-".join((aspect, protocol, *units)) if units else aspect
        keys = dict(zip(("reference_unit", "text_unit"), units, strict=False))
        text = _judge_table(name, aspect, protocol, model="local", **keys)
        text = text if drafts else experiment.about_judges + text
        reason = ""
        if aspect == "coverage" and not data.has_questions:
            reason = _NO_QUESTIONS
        elif PROTOCOLS[protocol].paired and len(data.systems) == 1:
            reason = "Pairs need two systems:"
        drafts.append(_Draft(aspect, text, reason))
    return drafts


def _judge_table(name: str, aspect: str, protocol: str, *, model: str, **units: str) -> str:
    """Return the table of a judge; `units` are optional keys after the protocol."""
    keys = {"name": name, "aspect": aspect, "protocol": protocol, **units, "model": model}
    return "\n".join(["[[judge]]", *(f"{key} = {toml_text(keys[key])}" for key in keys), ""])


def _calibrate(
    data: DataInventory, drafts: Sequence[_Draft], *, is_active: bool = False
) -> Iterator[str]:
    judged_aspects = {draft.aspect for draft in drafts if not draft.reason}
    table = "[calibrate]                                  # the judges against human labels\n"
    if not data.labels:
        if is_active:
            yield _NO_LABELS
        return
    labelled_aspects = judged_aspects & data.n_labelled.keys()
    n_items = max((data.n_labelled[aspect] for aspect in labelled_aspects), default=0)
    if not labelled_aspects:
        aspects = ", ".join(sorted(data.n_labelled))
        comment = f"# [calibrate] needs a judge of the labelled aspects: {aspects}.\n"
        yield comment + comment_out(table)
    elif n_items < MIN_LABELS:
        items = pluralize(n_items, "labelled item")
        yield f"{table}# {items}: agreement only; a calibration curve needs {MIN_LABELS}.\n"
    else:
        yield f'{table}method = "isotonic"\n'
    yield from _custom_criteria(data)


def _custom_criteria(data: DataInventory) -> Iterator[str]:
    """Yield a judge per labelled aspect without a built-in prompt, commented out."""
    for aspect in sorted(data.n_labelled.keys() - set(ASPECTS)):
        table = _judge_table(aspect, aspect, data.protocols[aspect], model="main")
        table += _line('rule = "WHAT IT ASKS"', 'or criterion = "FILE.toml"')
        yield (
            f"# Labels of {aspect}: define it in 'rule' (docs/study.md), and a model in "
            f"[models.main].\n{comment_out(table)}"
        )


def _fairness(data: DataInventory, measures: Sequence[str] | None, scorer: str) -> Iterator[str]:
    if measures == ():
        return
    if measures and not data.attributes:
        yield _NO_ATTRIBUTE
    measures_line = "" if measures is None else f"measures = {json.dumps(list(measures))}\n"
    for name, values in data.attributes.items():
        yield f"""\
[[fairness]]
{_line(f"attribute = {toml_text(name)}", ", ".join(values))}
{measures_line}{_line(f'scorer = "{scorer}"', _SCORERS[scorer])}
"""
