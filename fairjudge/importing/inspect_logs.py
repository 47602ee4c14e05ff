"""Inspect AI's logs, ``.eval`` or ``.json``: each score of each sample.

Source: UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/log/_log.py`` and ``scorer/_metric.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fairjudge.errors import InputError
from fairjudge.importing.records import Entry, Recorded, Skipped, make_label
from fairjudge.importing.sources import (
    Source,
    given,
    items,
    mapping,
    present,
    text,
    text_or_none,
)
from fairjudge.scales import Level, Scale

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What the letters of Inspect's scorers are worth (``value_to_float``)."""
_NO_GRADE = "Grade not found in model output: "
"""With which a grader's reply begins where Inspect found no grade, and scored it as incorrect."""
_ATTACHED = "attachment://"
_UNCHANGED = "UNCHANGED"


def recognises(source: Source) -> bool:
    """Say whether the file is a log: it has the task's ``eval`` and samples."""
    first = source.first
    return "samples" in first and "task" in mapping(first, "eval")


def read(source: Source) -> Iterator[Entry]:
    """Yield each score. Epochs, each a new answer of the model, are numbered by ``repeat``."""
    for _, log in source.records():
        run = _Run.of(mapping(log, "eval"), source)
        for number, sample in enumerate(items(log, "samples"), 1):
            with source.at(number):
                yield from _scores(_Sample(fields=sample, run=run, number=number))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What a log says of all its samples."""

    model: str
    grader: str | None
    options: Mapping[str, Mapping[str, Any]]
    several_epochs: bool
    source: Source

    @staticmethod
    def of(spec: Mapping[str, Any], source: Source) -> _Run:
        grader = mapping(spec, "model_roles").get("grader")
        epochs = mapping(spec, "config").get("epochs")
        return _Run(
            model=text(spec, "model"),
            grader=given(grader, "model") if isinstance(grader, dict) else None,
            options={
                _bare(text(item, "name")): mapping(item, "options")
                for item in items(spec, "scorers")
            },
            several_epochs=isinstance(epochs, int) and epochs > 1,
            source=source,
        )

    def number(self, value: object) -> float | None:
        """Return the number that a score is: a word of --options, a letter of Inspect's, or one."""
        if isinstance(value, str) and value in _GRADES and not self.source.answers:
            return _GRADES[value]
        return self.source.score(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """A sample, the run that it is of, and its number in the log."""

    fields: Mapping[str, Any]
    run: _Run
    number: int

    @property
    def item(self) -> dict[str, Any]:
        """What was judged; ``eid``, ``system`` and ``unit`` of the metadata go before."""
        metadata = mapping(self.fields, "metadata")
        return {
            "eid": given(metadata, "eid") or text(self.fields, "id"),
            "system": given(metadata, "system") or self.run.model,
            "unit": given(metadata, "unit") or "summary",
        }

    @property
    def repeat(self) -> int | None:
        """The epoch, from 0, None where there is one alone."""
        epoch = self.fields.get("epoch")
        if not self.run.several_epochs or not isinstance(epoch, int) or epoch < 1:
            return None
        return epoch - 1


def _scores(sample: _Sample) -> Iterator[Entry]:
    scores = mapping(sample.fields, "scores")
    if not scores:
        failed = sample.fields.get("error")
        why = "the sample ended in an error" if failed else "the sample has no score"
        yield Skipped(line=sample.number, why=why)
    for name in scores:
        if scores[name] is not None:
            yield from _score(sample, _bare(name), mapping(scores, name))


def _score(sample: _Sample, scorer: str, found: Mapping[str, Any]) -> Iterator[Entry]:
    history = list(items(found, "history"))
    original = history[0] if history else found
    value = original.get("value")
    if isinstance(value, list):
        yield Skipped(line=sample.number, why=f"score {scorer!r} is a list")
        return
    parts = value if isinstance(value, dict) else {None: value}
    for part, one in parts.items():
        aspect = scorer if part is None else f"{scorer}.{part}"
        yield _recorded(sample, scorer, aspect, {**found, **original, "value": one})
    if len(history) > 1 and not isinstance(value, dict):
        yield _edited(sample, scorer, history[-1])


def _recorded(sample: _Sample, scorer: str, aspect: str, found: Mapping[str, Any]) -> Recorded:
    metadata = mapping(found, "metadata")
    graded = scorer.startswith("model_graded")
    options, value = sample.run.options.get(scorer, {}), sample.run.number(found["value"])
    reply = _resolved(text_or_none(found, "explanation"), mapping(sample.fields, "attachments"))
    missing = reply is not None and reply.startswith(_NO_GRADE)
    failed = metadata.get("unscored_reason") or value is None or (missing and not graded)
    return Recorded(
        line=sample.number,
        **sample.item,
        aspect=aspect,
        judge=_judge(sample.run, scorer, metadata) if graded else scorer,
        reply=reply.removeprefix(_NO_GRADE) if reply else reply,
        scale=_scale(options, found["value"]) if graded else None,
        value=None if missing else value,
        unscored="unparseable" if failed else None,
        detail=(
            given(metadata, "unscored_reason")
            or given(found, "reason")
            or "Inspect has no number for it"
        ),
        scored_by="llm" if graded else "code",
        repeat=sample.repeat,
        extra=present(found, "answer"),
    )


def _edited(sample: _Sample, aspect: str, edit: Mapping[str, Any]) -> Entry:
    """Return what a person changed a score to."""
    author = given(mapping(edit, "provenance"), "author")
    value = None if edit.get("value") == _UNCHANGED else sample.run.number(edit.get("value"))
    if author is None or value is None:
        why = f"an edit of score {aspect!r} without an author or a number"
        return Skipped(line=sample.number, why=why)
    return make_label(**sample.item, aspect=aspect, annotator=author, value=value)


def _scale(options: Mapping[str, Any], value: object) -> Scale | None:
    """Return the scale that Inspect's own grading prompt offers, None where another was used."""
    if options.get("grade_pattern") or options.get("template") or value not in (*_GRADES, None):
        return None
    if isinstance(options.get("model"), list):  # the grade is that of most graders
        return None
    letters = "IPC" if options.get("partial_credit") else "IC"
    levels = tuple(Level(answer=letter, value=_GRADES[letter]) for letter in letters)
    return Scale(name=f"inspect-{letters}", kind="choice", levels=levels)


def _judge(run: _Run, scorer: str, metadata: Mapping[str, Any]) -> str:
    """Return the grader: by its role, the last message of the grading, or the scorer's options."""
    options = run.options.get(scorer, {})
    model = options.get("model")
    named = given(model, "model") if isinstance(model, dict) else given(options, "model")
    grading = metadata.get("grading")
    last = grading[-1] if isinstance(grading, list) and grading else None
    wrote = given(last, "model") if isinstance(last, dict) else None
    return run.grader or wrote or named or scorer


def _resolved(said: str | None, attachments: Mapping[str, Any]) -> str | None:
    """Return a text that Inspect put among the sample's attachments for its length."""
    if said is None or not said.startswith(_ATTACHED):
        return said
    found = attachments.get(said.removeprefix(_ATTACHED))
    if not isinstance(found, str):
        raise InputError("refers to an attachment that is not there", field="explanation")
    return found


def _bare(scorer: str) -> str:
    """Return a scorer's name without that of its package."""
    return scorer.rpartition("/")[2]
