"""Inspect AI's logs, ``.eval`` or ``.json``: one judgement per score and sample.

Source: UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/log/_log.py`` and ``scorer/_metric.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fairjudge.errors import InputError
from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label
from fairjudge.importing.sources import (
    Json,
    Source,
    first_text,
    items,
    judged_item,
    mapping,
    name_in,
    non_null_fields,
    text,
    text_or_none,
)
from fairjudge.scales import Level, Scale

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""The values of the letters of Inspect's scorers (``value_to_float``)."""
_NO_GRADE = "Grade not found in model output: "
"""Prefix of a grader's reply in which Inspect found no grade, and which it scored as incorrect."""
_ATTACHED = "attachment://"
_UNCHANGED = "UNCHANGED"


def recognises(source: Source) -> bool:
    """Return whether the file is a log, with the task's ``eval`` and samples."""
    first = source.first
    return "samples" in first and "task" in mapping(first, "eval")


def read(source: Source) -> Iterator[Entry]:
    """Yield each score; epochs, each with a new answer of the model, are numbered by ``repeat``."""
    for _, log in source.records():
        run = _Run.from_spec(mapping(log, "eval"), source)
        for number, sample in enumerate(items(log, "samples"), 1):
            with source.locate_errors(number):
                yield from _scores(_Sample(fields=sample, run=run, number=number))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The fields of a log that apply to all its samples."""

    model: str
    grader: str | None
    options: Mapping[str, Json]
    several_epochs: bool
    source: Source

    @staticmethod
    def from_spec(spec: Json, source: Source) -> _Run:
        epochs = mapping(spec, "config").get("epochs")
        return _Run(
            model=text(spec, "model"),
            grader=name_in(mapping(spec, "model_roles"), "grader", "model"),
            options={
                _short_name(text(item, "name")): mapping(item, "options")
                for item in items(spec, "scorers")
            },
            several_epochs=isinstance(epochs, int) and epochs > 1,
            source=source,
        )

    def number(self, value: object) -> float | None:
        """Return the value of a score: a number, a word of --options, or a letter of Inspect."""
        if isinstance(value, str) and value in _GRADES and not self.source.answers:
            return _GRADES[value]
        return self.source.score(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """A sample, its run, and its number in the log."""

    fields: Json
    run: _Run
    number: int

    @property
    def item(self) -> dict[str, Any]:
        """The judged item."""
        metadata = mapping(self.fields, "metadata")
        return judged_item(metadata, eid=lambda: text(self.fields, "id"), system=self.run.model)

    @property
    def repeat(self) -> int | None:
        """The epoch, from 0, None if there is only one."""
        epoch = self.fields.get("epoch")
        if not self.run.several_epochs or not isinstance(epoch, int) or epoch < 1:
            return None
        return epoch - 1


def _scores(sample: _Sample) -> Iterator[Entry]:
    scores = mapping(sample.fields, "scores")
    if not scores:
        error = sample.fields.get("error")
        reason = "the sample ended in an error" if error else "the sample has no score"
        yield Skipped(line=sample.number, why=reason)
    for name in scores:
        if scores[name] is not None:
            yield from _score(sample, _short_name(name), mapping(scores, name))


def _score(sample: _Sample, scorer: str, entry: Json) -> Iterator[Entry]:
    history = list(items(entry, "history"))
    original = history[0] if history else entry
    value = original.get("value")
    if isinstance(value, list):
        yield Skipped(line=sample.number, why=f"score {scorer!r} is a list")
        return
    parts = value if isinstance(value, dict) else {None: value}
    for part, part_value in parts.items():
        aspect = scorer if part is None else f"{scorer}.{part}"
        yield _judgement(sample, scorer, aspect, {**entry, **original, "value": part_value})
    if len(history) > 1 and not isinstance(value, dict):
        yield _corrected_label(sample, scorer, history[-1])


def _judgement(sample: _Sample, scorer: str, aspect: str, entry: Json) -> RecordedJudgement:
    metadata = mapping(entry, "metadata")
    is_graded = scorer.startswith("model_graded")
    options, value = sample.run.options.get(scorer, {}), sample.run.number(entry["value"])
    reply = _resolve_attachment(
        text_or_none(entry, "explanation"), mapping(sample.fields, "attachments")
    )
    has_no_grade = reply is not None and reply.startswith(_NO_GRADE)
    is_unscored = (
        metadata.get("unscored_reason") or value is None or (has_no_grade and not is_graded)
    )
    return RecordedJudgement(
        line=sample.number,
        **sample.item,
        aspect=aspect,
        judge=_judge(sample.run, scorer, metadata) if is_graded else scorer,
        reply=reply.removeprefix(_NO_GRADE) if reply else reply,
        scale=_scale(options, entry["value"]) if is_graded else None,
        value=None if has_no_grade else value,
        unscored="unparseable" if is_unscored else None,
        detail=(
            first_text(metadata, "unscored_reason")
            or first_text(entry, "reason")
            or "Inspect has no numeric value"
        ),
        scored_by="llm" if is_graded else "code",
        repeat=sample.repeat,
        extra=non_null_fields(entry, "answer"),
    )


def _corrected_label(sample: _Sample, aspect: str, edit: Json) -> Entry:
    """Return a person's correction of a score as a label."""
    author = first_text(mapping(edit, "provenance"), "author")
    value = None if edit.get("value") == _UNCHANGED else sample.run.number(edit.get("value"))
    if author is None or value is None:
        reason = f"an edit of score {aspect!r} without an author or a number"
        return Skipped(line=sample.number, why=reason)
    return make_label(**sample.item, aspect=aspect, annotator=author, value=value)


def _scale(options: Json, value: object) -> Scale | None:
    """Return the scale of Inspect's own grading prompt, None if another prompt was used."""
    if options.get("grade_pattern") or options.get("template") or value not in (*_GRADES, None):
        return None
    if isinstance(options.get("model"), list):  # the grade is the majority of several graders
        return None
    letters = "IPC" if options.get("partial_credit") else "IC"
    levels = tuple(Level(answer=letter, value=_GRADES[letter]) for letter in letters)
    return Scale(name=f"inspect-{letters}", kind="choice", levels=levels)


def _judge(run: _Run, scorer: str, metadata: Json) -> str:
    """Return the grader's name, from its role, the last grading message, or the options."""
    option_model = name_in(run.options.get(scorer, {}), "model", "model")
    messages = metadata.get("grading")
    last_message = messages[-1] if isinstance(messages, list) and messages else None
    message_model = first_text(last_message, "model") if isinstance(last_message, dict) else None
    return run.grader or message_model or option_model or scorer


def _resolve_attachment(reference: str | None, attachments: Json) -> str | None:
    """Return the text itself, or the sample's attachment that it refers to."""
    if reference is None or not reference.startswith(_ATTACHED):
        return reference
    attachment = attachments.get(reference.removeprefix(_ATTACHED))
    if not isinstance(attachment, str):
        raise InputError("refers to a missing attachment", field="explanation")
    return attachment


def _short_name(scorer: str) -> str:
    """Return a scorer's name without its package."""
    return scorer.rpartition("/")[2]
