"""The annotation tasks, each with question, answers and guidelines.

The first three tasks are those of DiverseSumm, appendix B.2 to B.4, with its rules reworded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fairjudge.domain import TaskName
from fairjudge.errors import ConfigurationError
from fairjudge.scales import Level, Scale, likert, pairwise

OF_VALUES: frozenset[TaskName] = frozenset({"values", "leaning"})
"""Tasks about the values of an attribute of the articles."""
FAIR = "fair"
"""The answer that a summary favours no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTask:
    """A kind of label.

    ``ask`` is the question above the buttons, ``rules`` are the guidelines, and ``examples`` are
    cases that must get the lowest answer, each with the reason. ``attribute`` is the attribute of
    articles whose values a task about values compares.
    """

    name: TaskName
    aspect: str
    title: str
    ask: str
    rules: tuple[str, ...]
    scale: Scale
    examples: tuple[tuple[str, str], ...] = ()
    attribute: str = ""


def label_task(
    name: TaskName,
    *,
    aspect: str | None = None,
    scale: Scale | None = None,
    attribute: str | None = None,
    values: Sequence[str] = (),
) -> LabelTask:
    """Return the task `name`, with the user's `aspect` and `scale` if given.

    Tasks `OF_VALUES` need an attribute of the articles and its values, and take no scale.

    With a user's scale its ``instruction`` replaces the question, and examples are left out; of
    the rules of a rating or preference only the first stays, since the scale's anchors say what its
    answers mean. Raises ConfigurationError if an argument does not fit the task, such as a scale of
    kind "pair" for another task than a preference.
    """
    if (attribute is None) == (name in OF_VALUES):
        needs = "needs" if name in OF_VALUES else "does not take"
        raise ConfigurationError(f"task {name!r} {needs} an --attribute of the articles")
    if attribute is not None:
        if scale is not None:
            raise ConfigurationError(f"task {name!r} has its own answers: leave out --scale")
        if not values:
            raise ConfigurationError(f"no article has a value of {attribute!r}")
        if name == "values":
            return _values(attribute, aspect or attribute)
        return _leaning(attribute, values, aspect or attribute)
    if name == "preference":
        base = _preference(aspect or "faithfulness")
    elif name == "rating":
        base = _rating(aspect or "coverage")
    else:
        base = replace(_YES_NO[name], aspect=aspect or _YES_NO[name].aspect)
    if scale is None:
        return base
    if (scale.kind == "pair") != (name == "preference"):
        allowed = 'kind "pair"' if name == "preference" else 'kind "number" or "choice"'
        raise ConfigurationError(f"task {name!r} needs a scale of {allowed}, not {scale.kind!r}")
    return replace(
        base,
        ask=scale.instruction or base.ask,
        rules=base.rules if name in _YES_NO else base.rules[:1],
        examples=(),
        scale=scale,
    )


def without_controls(task: LabelTask) -> LabelTask:
    """Return `task` without the rule that announces controls."""
    return replace(task, rules=tuple(rule for rule in task.rules if rule != _CHECKED))


_CHECKED = (
    "Some items have a known answer. They look like all others and show whether the work is "
    "careful; they are not marked."
)
_WORDING = "The wording need not be the same: what counts is that the information is there."


def _yes_no(name: str, *, yes: tuple[str, str], no: tuple[str, str]) -> Scale:
    """Return a scale of two answers, each given as (answer, meaning)."""
    levels = (
        Level(answer=no[0], value=0.0, anchor=no[1], aliases=("no",)),
        Level(answer=yes[0], value=1.0, anchor=yes[1], aliases=("yes",)),
    )
    return Scale(name=name, kind="choice", levels=levels)


_YES_NO: Mapping[TaskName, LabelTask] = {
    "answers": LabelTask(
        name="answers",
        aspect="validity",
        title="Is the answer valid?",
        ask="Does this answer the question, and does an article say so?",
        rules=(
            "Read the question, the answer and the articles.",
            "An answer is valid if both hold: it answers this question, and at least one article "
            "says it or supports it.",
            _WORDING,
            "An answer that is off the question, or says that there is no information, is not "
            "valid.",
            _CHECKED,
        ),
        examples=(
            ("the question asks about other countries, the answer is about this one", "off"),
            ("“The article does not say.”", "no information"),
            ("“As a language model, I cannot answer that.”", "no answer"),
        ),
        scale=_yes_no(
            "valid",
            yes=("Valid", "answers the question, and an article supports it"),
            no=("Not valid", "off the question, or in no article"),
        ),
    ),
    "coverage": LabelTask(
        name="coverage",
        aspect="coverage",
        title="Does the summary cover the answer?",
        ask="Is this answer in the summary?",
        rules=(
            "Read the answer, with the question that it belongs to, and then the summary.",
            "The answer is covered if the summary says it or supports it.",
            _WORDING,
            "Whether the answer is true does not matter here. Article numbers in a summary do not "
            "matter either.",
            _CHECKED,
        ),
        examples=(
            ("the summary names the topic and leaves this answer out", "only the topic"),
            ("the summary says the opposite", "a contradiction"),
        ),
        scale=_yes_no(
            "covered",
            yes=("Covered", "the summary says or supports it"),
            no=("Not covered", "the summary does not"),
        ),
    ),
    "faithfulness": LabelTask(
        name="faithfulness",
        aspect="faithfulness",
        title="Is the sentence in the articles?",
        ask="Does an article say what this sentence says?",
        rules=(
            "Read the sentence in its summary, and then the articles.",
            "The sentence is present if at least one article says it or supports it.",
            _WORDING,
            "A sentence that tells no news, or makes no sense, is not present.",
            _CHECKED,
        ),
        examples=(
            ("“As a language model, I cannot summarise this.”", "no news"),
            ("“Please send me the next articles.”", "no news"),
            ("“Sentence 1: 1: n* 1: 1:”", "no sense"),
        ),
        scale=_yes_no(
            "present",
            yes=("Present", "an article says or supports it"),
            no=("Not present", "no article does"),
        ),
    ),
}


_BETTER = {
    "coverage": "covers more of what the articles say differently",
    "faithfulness": "keeps closer to what the articles say",
}


def _preference(aspect: str) -> LabelTask:
    better = _BETTER.get(aspect, f"is better in {aspect}")
    return LabelTask(
        name="preference",
        aspect=aspect,
        title=f"Which summary is better: {aspect}",
        ask=f"Which summary {better}?",
        rules=(
            "Read both summaries, and as much of the articles as the answer needs.",
            f"Choose the summary that {better}; choose the tie where you see no difference.",
            "Length, style and which summary stands first do not matter.",
            _CHECKED,
        ),
        scale=pairwise(("First", "Second", "Tie")),
    )


_ANCHORS = {
    "coverage": (
        "covers next to nothing of what the articles differ on",
        "covers little of it",
        "covers about half of it",
        "covers most of it",
        "covers all or nearly all of it",
    ),
    "faithfulness": (
        "next to nothing is in the articles",
        "much is not in the articles",
        "about half is in the articles",
        "small parts are not in the articles",
        "everything is in the articles",
    ),
}


def _rating(aspect: str) -> LabelTask:
    return LabelTask(
        name="rating",
        aspect=aspect,
        title=f"How good is the summary: {aspect}",
        ask=f"How good is the {aspect} of this summary?",
        rules=(
            "Read the summary, and as much of the articles as the answer needs.",
            f"Rate its {aspect} alone; style and length do not matter.",
            _CHECKED,
        ),
        scale=likert(_ANCHORS.get(aspect, ("poor", "weak", "fair", "good", "very good"))),
    )


def _values(attribute: str, aspect: str) -> LabelTask:
    """Return the task of FairSumm, appendix E: the values that the facts of a summary are from."""
    return LabelTask(
        name="values",
        aspect=aspect,
        title=f"From which {attribute} does the sentence come?",
        ask="Do these articles say what the sentence says?",
        rules=(
            f"Read the sentence in its summary, and then the articles: all of one {attribute}.",
            "The answer is yes if at least one of them says it or supports it. The same sentence "
            f"comes again with the articles of each other {attribute}.",
            _WORDING,
            "What none of them says gets no, however true it is.",
            _CHECKED,
        ),
        scale=_yes_no(
            "from_value",
            yes=("They do", "one of these articles says or supports it"),
            no=("They do not", "none of them does"),
        ),
        attribute=attribute,
    )


def _leaning(attribute: str, values: Sequence[str], aspect: str) -> LabelTask:
    """Return the task of coverage-based fairness, section 5.4: the value that a summary favours."""
    levels = (FAIR, *values)
    meanings = ("gives all their due", *(f"gives {value} more than its due" for value in values))
    return LabelTask(
        name="leaning",
        aspect=aspect,
        title=f"Which {attribute} does the summary lean to?",
        ask=f"Which {attribute} does this summary lean to?",
        rules=(
            f"Read the summary, and the articles of each {attribute}.",
            "A summary leans to those of whose articles it says more than their due, and is fair "
            "if it says as much of all as the articles do.",
            "Whether you agree with it, its style and its length do not matter.",
            _CHECKED,
        ),
        scale=Scale(
            name="leaning",
            kind="choice",
            levels=tuple(
                Level(answer=answer, value=float(n), anchor=meaning)
                for n, (answer, meaning) in enumerate(zip(levels, meanings, strict=True))
            ),
        ),
        attribute=attribute,
    )
