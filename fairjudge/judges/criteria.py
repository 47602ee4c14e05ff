"""Criteria: the prompt, its fields and the scale of each aspect and protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from fairjudge.domain import Answer, Article, Aspect, JudgeTask, ProtocolName, QuestionAnswers
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import ASPECTS
from fairjudge.judges.balance import BALANCE
from fairjudge.prompting import Fenced, Template, fill_field, load_template
from fairjudge.protocols import PROTOCOLS
from fairjudge.scales import Scale, binary, likert, pairwise
from fairjudge.text.own_aspects import own_aspects_advice
from fairjudge.text.suggestions import did_you_mean

_MAX_WORDINGS = 3
"""Maximum number of wordings of one answer in a prompt, to limit its length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """The prompt template and scale for one aspect and protocol.

    The template may use any field of `fields_for`, and must use ``scale``.
    """

    aspect: Aspect
    template: Template
    scale: Scale

    def __post_init__(self) -> None:
        if "scale" not in self.template.fields:
            raise ConfigurationError(
                f"prompt {self.template.label} must use {{{{scale}}}}, which defines the answers"
            )
        unknown_fields = self.template.fields - _FIELDS.keys()
        if unknown_fields:
            raise ConfigurationError(
                f"prompt {self.template.label} uses unknown fields {sorted(unknown_fields)}; "
                f"a judge's prompt may use {sorted(_FIELDS)}"
            )

    def fields_for(self, task: JudgeTask) -> dict[str, str | Fenced]:
        """Return the fields of the template for `task`."""
        return {name: _FIELDS[name](task, self.scale) for name in self.template.fields}


def builtin_criterion(aspect: Aspect, protocol: ProtocolName, *, per_answer: bool) -> Criterion:
    """Return the criterion for one of `ASPECTS`.

    With ``per_answer`` coverage is judged one answer at a time, with another prompt.
    """
    if aspect not in ASPECTS:
        raise ConfigurationError(
            f"no built-in aspect {aspect!r}; choose from {', '.join(map(repr, ASPECTS))}"
            f"{did_you_mean(aspect, ASPECTS) or f'; {own_aspects_advice([aspect])}'}"
        )
    if protocol not in BUILTIN_SCALES[aspect]:
        protocols = " or ".join(BUILTIN_SCALES[aspect])
        raise ConfigurationError(f"{aspect} is judged with --protocol {protocols}, not {protocol}")
    name = _prompt_name(aspect, protocol, per_answer=per_answer)
    template = load_template("judge", name)
    scale_name = name if name == "coverage-answer" else aspect
    return Criterion(aspect=aspect, template=template, scale=BUILTIN_SCALES[scale_name][protocol])


def rule_scale(protocol: ProtocolName) -> Scale:
    """Return the default scale of a criterion with a rule: 1 to 5, yes or no, or pairwise.

    Raises `ConfigurationError` for a protocol that has no scale.
    """
    scales: Mapping[str, Callable[[], Scale]] = {
        "likert": likert,
        "binary": lambda: binary(yes="it meets the criterion", no="it does not"),
        "pairwise": lambda: pairwise(tie="neither is better by the criterion"),
    }
    if protocol not in scales:
        raise ConfigurationError(f"--rule requires likert, binary or pairwise, not {protocol}")
    return scales[protocol]()


def rule_template(rule: str, protocol: ProtocolName) -> Template:
    """Return the released prompt for a custom criterion, with its `rule`."""
    name = "rule-pairwise" if PROTOCOLS[protocol].paired else "rule"
    return replace(fill_field(load_template("judge", name), "rule", rule.strip()), task="own")


def _prompt_name(aspect: Aspect, protocol: ProtocolName, *, per_answer: bool) -> str:
    if aspect == "coverage" and per_answer:
        return "coverage-answer"
    return f"{aspect}-{PROTOCOLS[protocol].prompt}"


WORDINGS = ("reworded", "reordered")
"""The released paraphrases of each prompt; "reordered" also has the rule before the material."""
_ASPECTS_WITH_PARAPHRASES = ("coverage", "faithfulness")
"""The aspects whose prompts have paraphrases."""


def builtin_paraphrases(
    aspect: Aspect, protocol: ProtocolName, *, per_answer: bool
) -> tuple[Template, ...]:
    """Return the paraphrases of the prompt of `builtin_criterion`, one per name in `WORDINGS`."""
    if aspect not in _ASPECTS_WITH_PARAPHRASES:
        raise ConfigurationError(
            f"--prompt-variants: {aspect} has one prompt; pass other wordings with --paraphrase"
        )
    name = _prompt_name(aspect, protocol, per_answer=per_answer)
    return tuple(load_template("judge", f"{name}-{wording}") for wording in WORDINGS)


def _scales(
    levels: tuple[str, ...], *, yes: str, no: str, tie: str | None = None
) -> Mapping[ProtocolName, Scale]:
    """Return a scale for each protocol; `levels` are ordered from worst to best."""
    single: dict[ProtocolName, Scale] = {"likert": likert(levels), "binary": binary(yes=yes, no=no)}
    return single if tie is None else {**single, "pairwise": pairwise(tie=tie)}


BUILTIN_SCALES: Mapping[str, Mapping[ProtocolName, Scale]] = {
    "faithfulness": _scales(
        (
            "more than half of the statements are unsupported, or several gravely, or it is no "
            "summary",
            "at most half of the statements are unsupported, and at most one of them gravely",
            "at most a quarter of the statements are unsupported, none gravely",
            "at most a tenth of the statements, or a single one, is unsupported, and not gravely",
            "every statement is supported",
        ),
        yes="every statement is supported",
        no="at least one statement is not supported",
        tie="neither is more faithful by the rule above",
    ),
    "coverage": _scales(
        (
            "covers under 10 % of the answers",
            "covers 10 % to 35 % of them",
            "covers more than 35 %, up to 65 %",
            "covers more than 65 %, up to 90 %",
            "covers more than 90 %",
        ),
        yes="covers more than 90 % of the answers",
        no="covers 90 % of them or fewer",
        tie="neither leads by as much",
    ),
    "consistency": _scales(
        (
            "most of what it says is wrong or stands nowhere in the articles",
            "several facts that matter are wrong or stand nowhere",
            "one fact that matters is, or more than two details are",
            "one or two details are, and no fact that matters",
            "every fact is consistent with the articles",
        ),
        yes="every fact is consistent with the articles",
        no="at least one fact is wrong or stands nowhere",
        tie="both are as consistent",
    ),
    "relevance": _scales(
        (
            "hardly any main point is there, or most of it is beside the point",
            "most main points are missing, or it has more that is needless than that matters",
            "about half of the main points are missing, or much is needless or repeated",
            "one main point is missing, or a little is needless or repeated",
            "every main point is there, and nothing needless or repeated",
        ),
        yes="at most one main point is missing, and little is needless or repeated",
        no="more main points are missing, or much is needless or repeated",
        tie="both choose equally well",
    ),
    "coherence": _scales(
        (
            "a heap of sentences: no order can be seen, or nobody can tell what is meant",
            "most sentences do not follow from those before them",
            "a reader can follow, but stumbles at several places",
            "a reader stumbles at one place, and can follow throughout",
            "each sentence builds on those before it, from beginning to end",
        ),
        yes="a reader can follow throughout, and stumbles at one place at most",
        no="a reader stumbles at several places, or loses the thread",
        tie="both are as coherent",
    ),
    "fluency": _scales(
        (
            "it can hardly be read: most sentences are broken",
            "about half of the sentences have errors that hinder reading",
            "a few errors hinder reading",
            "there are errors, but none that hinders reading",
            "every sentence is whole, grammatical and cleanly written",
        ),
        yes="no error hinders reading",
        no="at least one error hinders reading",
        tie="both are as fluent",
    ),
    BALANCE: _scales(
        (
            "it tells one side alone",
            "a side that matters is missing or only named, or the wording takes a side throughout",
            "every side that matters is there, but one has clearly less than its room or its words",
            "it is fair but for a small lean in room, place or wording",
            "each side that matters has its room, in its own terms",
        ),
        yes="each side that matters has its room, but for a small lean at most",
        no="a side that matters is missing or has clearly less than its room or its words",
        tie="both are as fair",
    ),
    "quality": _scales(
        (
            "of no use: false, beside the point, or hardly readable",
            "of little use: a grave fault in what it says, leaves out, or how it reads",
            "of some use: the gist is there, with faults that mislead or hold up a reader",
            "good: true, to the point and readable, with small faults",
            "as a careful editor would write it",
        ),
        yes="good: true, to the point and readable, with small faults at most",
        no="faults in it mislead a reader, hold them up, or leave out what they must know",
        tie="such a reader would not mind which",
    ),
    "coverage-answer": _scales(
        (
            "the answer does not appear at all, or its contrary does",
            "only its topic is touched, or its point is left vague",
            "its point is there, and much of what else matters is missing or vaguer",
            "it is there but for a detail",
            "it is there in full",
        ),
        yes="the answer is covered",
        no="it is not covered, or in part only",
    ),
}


SUPPORT_RULE = "at least one of the articles says it or plainly implies it"
"""The rule for several articles; `support_rule` has a simpler wording for a single article."""


def support_rule(task: JudgeTask) -> str:
    """Return the prompt's definition of a supported statement, for the articles of `task`."""
    single_rule = "the article says it or plainly implies it"
    return single_rule if len(task.articles) == 1 else SUPPORT_RULE


def _coverage_question(task: JudgeTask, scale: Scale) -> str:
    yes_or_no = PROTOCOLS[scale.protocol].yes_no
    if task.unit.startswith("answer:"):
        return f"{'does' if yes_or_no else 'how fully does'} the summary cover this answer?"
    if yes_or_no:
        return "does the summary cover these answers?"
    return "what share of these answers does the summary cover?"


def _text_name(task: JudgeTask) -> str:
    return "sentence" if task.unit.startswith("sentence:") else "summary"


_Field: TypeAlias = Callable[[JudgeTask, Scale], str | Fenced]

EVIDENCE_FIELDS: Mapping[str, Callable[[JudgeTask], str | Fenced]] = {
    "articles": lambda task: fence_articles(task.articles),
    "articles_name": lambda task: "this article" if len(task.articles) == 1 else "these articles",
    "support_rule": support_rule,
    "questions": lambda task: fence_questions(task.questions),
}
"""The evidence fields that prompts of all protocols may use."""


def _task_field(field: Callable[[JudgeTask], str | Fenced]) -> _Field:
    return lambda task, _: field(task)


_FIELDS: Mapping[str, _Field] = {
    **{name: _task_field(field) for name, field in EVIDENCE_FIELDS.items()},
    "coverage_question": _coverage_question,
    "text": lambda task, _: Fenced(_text_name(task), (task.texts[0],)),
    "text_name": lambda task, _: _text_name(task),
    "first": lambda task, _: Fenced("summary", task.in_prompt_order(task.texts)[:1], ("1",)),
    "second": lambda task, _: Fenced("summary", task.in_prompt_order(task.texts)[1:], ("2",)),
    "scale": lambda _, scale: scale.prompt_line,
}


def fence_articles(articles: tuple[Article, ...]) -> Fenced:
    """Return `articles` fenced, each with its title and outlet."""
    names = tuple(article.domain or article.title for article in articles)
    return Fenced("article", article_texts(articles), names)


def article_texts(articles: Sequence[Article]) -> tuple[str, ...]:
    """Return each article's text for a prompt: its title, then its content."""
    return tuple(f"{article.title}\n\n{article.content}".strip() for article in articles)


def fence_questions(questions: tuple[QuestionAnswers, ...]) -> Fenced:
    """Return `questions` fenced, each with one line per group of answers (with its wordings)."""
    return Fenced(
        "reference",
        tuple(
            "\n".join([question.question, *map(_group_line, question.answer_groups)])
            for question in questions
        ),
    )


def _group_line(group: tuple[Answer, ...]) -> str:
    wordings = dict.fromkeys(" ".join(answer.answer.split()) for answer in group)
    return "- Answer: " + " / ".join(list(wordings)[:_MAX_WORDINGS])
