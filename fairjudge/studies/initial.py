"""A commented study file, from the data that is there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairjudge.calibration.calibrators import FEWEST_LABELS
from fairjudge.domain import ProtocolName
from fairjudge.judges.criteria import ASPECTS, LOCAL_ASPECTS
from fairjudge.options.models import Model
from fairjudge.protocols import PROTOCOLS
from fairjudge.studies.experiments import EXPERIMENTS, Experiment, commented, toml_text
from fairjudge.studies.found_data import FoundData
from fairjudge.text.counting import pluralize

_COLUMN = 44
_MODELS = """\
# A model, by a name of your own; 'fairjudge backends list' shows the providers. "local" needs no
# table: it is bundled, needs no key, and is a weak judge.
{model}
# What all steps may spend together, over all starts.
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
# A system whose summaries are written for this study; as many tables as systems.
{writer}"""
_WRITER = """\
[[summarize]]
system = "main-direct"
model = "main"
strategy = "direct"                          # or "extract", "differences"
n_sentences = 5
"""
_BUILD = """\
[build]                                      # questions that sources answer differently
model = "{model}"
n_questions = 12
"""
_OF_PAPER = """\
# As {paper}.
# The paper has more, command by command: {after}.
"""
_ABOUT_JUDGES = """\
# A judge; as many tables as aspects, protocols and models. Several models are a jury.
"""
_NO_QUESTIONS = "Coverage needs references, or clusters of several articles:"
_AUDITS = """\
# audits = ["checks", "verbosity"]           # these ask the model more; the others are made anyway
"""
_NO_LABELS = "# [calibrate] needs labels: 'fairjudge annotate' collects them.\n"
_NO_ATTRIBUTE = "# [[fairness]] needs articles with an attribute, such as their outlets' leaning.\n"
_SCORERS = {"coverage": 'that judge\'s verdicts, or "local"', "local": "or the name of a judge"}


@dataclass(frozen=True, slots=True)
class _Draft:
    """A table of a judge, as text; ``why_not`` says why it is commented out."""

    aspect: str
    text: str
    why_not: str = ""

    def __str__(self) -> str:
        if not self.why_not:
            return self.text
        return f"# {self.why_not}\n{commented(self.text)}"


def study_text(
    data: FoundData, path: Path, *, model: Model | None = None, like: str | None = None
) -> str:
    """Return the text of a study file for `path`; `like` names a paper of `EXPERIMENTS`.

    What `data` cannot bear is left out or commented out, with the reason; so is what needs a
    language model where no `model` is given.
    """
    llm = None if model is None or model.llm is None else model
    models = _MODELS.format(model=commented(_MODEL) if llm is None else _table_of(llm))
    if like is None:
        drafts = _judges(data, "local" if llm is None else "main")
        parts = [models, _build(data, drafts, llm), _writers(data, llm), _ABOUT_JUDGES]
        measures = None
        scorer = "coverage" if _judge_of("coverage", drafts) else "local"
    else:
        experiment = EXPERIMENTS[like]
        drafts = _of_paper(data, experiment)
        writers = experiment.writers.replace("ATTRIBUTE", next(iter(data.attributes), "ATTRIBUTE"))
        head = _OF_PAPER.format(paper=experiment.paper, after=experiment.after)
        parts = [head, models, _build(data, drafts, llm), writers, ""]
        measures, scorer = experiment.measures, "local"
    parts[-1] += "\n".join(map(str, drafts))
    parts += _calibrate(data, drafts, is_active=like == "diversesumm")
    return "\n".join((_head(path), _data(data, path), *parts, *_fairness(data, measures, scorer)))


def _head(path: Path) -> str:
    limit = _line("# limit = 20", "for a dry run: each judge judges its first 20 items")
    return f"""\
# A study: data, models, judges and analyses. Paths are relative to this file's folder.
#
#     fairjudge study {path.name} --plan     what it would ask and cost, before the first call
#     fairjudge study {path.name}            run it, or resume it

title = "FairJudge study"
seed = 0                                     # of all resampling
{limit}
"""


def _data(data: FoundData, path: Path) -> str:
    lines = ["[data]"]
    for name, files in (("clusters", data.clusters), ("references", data.references)):
        lines += _file_lines(name, files, path)
    listed = ", ".join(_quoted(summary, path) for summary in data.summaries)
    description = "; ".join(data.summaries.values()) or "or have some written: see [[summarize]]"
    lines.append(_line(f"summaries = [{listed}]", description))
    lines += _file_lines("labels", data.labels, path)
    return "\n".join(lines) + "\n"


def _file_lines(name: str, files: dict[Path, str], path: Path) -> Iterator[str]:
    for place, (file, description) in enumerate(files.items()):
        line = _line(f"{name} = {_quoted(file, path)}", description)
        yield line if place == 0 else f"# {line}"


def _line(text: str, comment: str) -> str:
    return f"{text:<{_COLUMN}} # {comment}"


def _quoted(file: Path, path: Path) -> str:
    """Return `file` as seen from the study file's folder."""
    return toml_text(Path(os.path.relpath(file, path.parent)).as_posix())


def _table_of(model: Model) -> str:
    lines = ["[models.main]", f"backend = {toml_text(model.target)}"]
    lines += [f"base_url = {toml_text(model.base_url)}"] if model.base_url else []
    return "\n".join([*lines, "concurrency = 8\n"])


def _judge_of(aspect: str, drafts: Sequence[_Draft]) -> bool:
    return any(draft.aspect == aspect and not draft.why_not for draft in drafts)


def _build(data: FoundData, drafts: Sequence[_Draft], llm: Model | None) -> str:
    if data.references:
        return "# No [build]: there are references.\n"
    if not data.has_questions:
        return "# No [build]: questions need clusters of several articles with news enough.\n"
    table = _BUILD.format(model="local" if llm is None else "main")
    return table if _judge_of("coverage", drafts) else commented(table)


def _writers(data: FoundData, llm: Model | None) -> str:
    needed = llm is not None and not data.summaries
    return _WRITERS.format(writer=_WRITER if needed else commented(_WRITER))


def _judges(data: FoundData, model: str) -> list[_Draft]:
    """Return a judge of each aspect with labels, else of what the bundled model judges too."""
    labelled = [aspect for aspect in ASPECTS if aspect in data.labelled]
    drafts = [
        _judge(data, aspect, data.protocols[aspect], model)
        for aspect in labelled
        if not PROTOCOLS[data.protocols[aspect]].paired or len(data.systems) > 1
    ]
    if "coverage" not in labelled and data.has_questions:
        coverage = _judge(data, "coverage", "checklist", model)
        why_not = (
            "No labels are on coverage: its judge would not be calibrated." if labelled else ""
        )
        drafts.append(replace(coverage, why_not=why_not))
    if not labelled or all(draft.why_not for draft in drafts):
        drafts.append(_judge(data, "faithfulness", "likert", model))
    return drafts


def _judge(data: FoundData, aspect: str, protocol: ProtocolName, model: str) -> _Draft:
    text = _judge_table(aspect, aspect, protocol, model=model)
    if PROTOCOLS[protocol].itemized:
        line = _line('protocol = "checklist"', "says of each answer whether it is covered")
        text = text.replace('protocol = "checklist"', line)
        text += _AUDITS
    if aspect == "coverage" and not data.has_questions:
        return _Draft(aspect, text, _NO_QUESTIONS)
    if model == "local" and aspect not in LOCAL_ASPECTS:
        text = text.replace('model = "local"', 'model = "main"')
        return _Draft(aspect, text, f"An LLM judges {aspect}: name one in [models.main] first.")
    return _Draft(aspect, text)


def _of_paper(data: FoundData, experiment: Experiment) -> list[_Draft]:
    """Return a paper's judges; those for which data is missing are commented out."""
    drafts: list[_Draft] = []
    for aspect, protocol, *units in experiment.judges:
        name = "-".join((aspect, protocol, *units)) if units else aspect
        keys = dict(zip(("reference_unit", "text_unit"), units, strict=False))
        text = _judge_table(name, aspect, protocol, model="local", **keys)
        text = text if drafts else experiment.about_judges + text
        why_not = ""
        if aspect == "coverage" and not data.has_questions:
            why_not = _NO_QUESTIONS
        elif PROTOCOLS[protocol].paired and len(data.systems) == 1:
            why_not = "Pairs need two systems:"
        drafts.append(_Draft(aspect, text, why_not))
    return drafts


def _judge_table(name: str, aspect: str, protocol: str, *, model: str, **units: str) -> str:
    """Return the table of a judge; `units` are further keys after the protocol."""
    keys = {"name": name, "aspect": aspect, "protocol": protocol, **units, "model": model}
    return "\n".join(["[[judge]]", *(f"{key} = {toml_text(keys[key])}" for key in keys), ""])


def _calibrate(
    data: FoundData, drafts: Sequence[_Draft], *, is_active: bool = False
) -> Iterator[str]:
    judged = {draft.aspect for draft in drafts if not draft.why_not}
    table = "[calibrate]                                  # the judges against human labels\n"
    if not data.labels:
        if is_active:
            yield _NO_LABELS
        return
    labelled_aspects = judged & data.labelled.keys()
    n_items = max((data.labelled[aspect] for aspect in labelled_aspects), default=0)
    if not labelled_aspects:
        aspects = ", ".join(sorted(data.labelled))
        need = f"# [calibrate] needs a judge of what the labels are on: {aspects}.\n"
        yield need + commented(table)
    elif n_items < FEWEST_LABELS:
        items = pluralize(n_items, "labelled item")
        yield f"{table}# {items}: agreement alone; a calibration curve takes {FEWEST_LABELS}.\n"
    else:
        yield f'{table}method = "isotonic"\n'
    yield from _own_criteria(data)


def _own_criteria(data: FoundData) -> Iterator[str]:
    """Write a judge of each labelled aspect that no built-in prompt judges, commented out."""
    for aspect in sorted(data.labelled.keys() - set(ASPECTS)):
        table = _judge_table(aspect, aspect, data.protocols[aspect], model="main")
        table += _line('rule = "WHAT IT ASKS"', 'or criterion = "FILE.toml"')
        yield (
            f"# Labels on {aspect}: say in 'rule' what it asks (docs/study.md), with a model in "
            f"[models.main].\n{commented(table)}"
        )


def _fairness(data: FoundData, measures: Sequence[str] | None, scorer: str) -> Iterator[str]:
    if measures == ():
        return
    if measures and not data.attributes:
        yield _NO_ATTRIBUTE
    listed = "" if measures is None else f"measures = {json.dumps(list(measures))}\n"
    for name, values in data.attributes.items():
        yield f"""\
[[fairness]]
{_line(f"attribute = {toml_text(name)}", ", ".join(values))}
{listed}{_line(f'scorer = "{scorer}"', _SCORERS[scorer])}
"""
