"""Criteria: which prompt and scale go together, and what fills them."""

from __future__ import annotations

import pytest
from builders import make_task

from fairjudge.domain import Answer, Article, JudgeTask, QuestionAnswers
from fairjudge.errors import ConfigurationError
from fairjudge.judges.criteria import (
    BUILTIN_SCALES,
    Criterion,
    builtin_criterion,
    fence_articles,
    fence_questions,
)
from fairjudge.prompting import load_template, parse_template, render
from fairjudge.scales import likert

QUESTION = QuestionAnswers(
    question="Why?",
    answer_groups=(
        tuple(Answer(aid=str(n), answer=f"rain\n {n}") for n in range(5)),
        (Answer(aid="9", answer="cracks"),),
    ),
)


def task(aspect="coverage", protocol="likert", **changes) -> JudgeTask:
    articles = () if aspect == "coverage" else (Article(aid="1", content="An article."),)
    fields = {"articles": articles, "questions": (QUESTION,) if aspect == "coverage" else ()}
    return make_task("The summary.", aspect=aspect, protocol=protocol, **fields | changes)


def prompt(criterion: Criterion, task: JudgeTask) -> str:
    return "\n".join(m.content for m in render(criterion.template, criterion.fields_for(task)))


@pytest.mark.parametrize(
    ("aspect", "protocol"),
    [
        (aspect, protocol)
        for aspect, scales in BUILTIN_SCALES.items()
        if aspect != "coverage-answer"  # coverage of one answer
        for protocol in scales
    ],
)
def test_every_builtin_fits_its_protocol_and_renders(aspect, protocol):
    criterion = builtin_criterion(aspect, protocol, per_answer=False)
    assert criterion.scale.protocol == protocol
    pair = {"systems": ("s", "t"), "texts": ("One.", "Two."), "order": "ab"}
    text = prompt(criterion, task(aspect, protocol, **(pair if protocol == "pairwise" else {})))
    assert criterion.scale.prompt_line in text
    assert "{{" not in text
    assert ("cracks" in text) == (aspect == "coverage")


def test_coverage_of_one_answer_asks_about_one_answer():
    first = task(unit="answer:0.1")
    for protocol, question in [
        ("likert", "how fully does the summary cover this answer?"),
        ("binary", "does the summary cover this answer?"),
    ]:
        criterion = builtin_criterion("coverage", protocol, per_answer=True)
        assert criterion.scale != builtin_criterion("coverage", protocol, per_answer=False).scale
        assert question in prompt(criterion, first)


@pytest.mark.parametrize(
    ("n", "name"), [(1, "faithful is the summary to this article"), (2, "to these articles")]
)
def test_prompt_states_the_number_of_articles(n, name):
    articles = tuple(Article(aid=str(i), content="An article.") for i in range(n))
    criterion = builtin_criterion("faithfulness", "likert", per_answer=False)
    assert name in prompt(criterion, task("faithfulness", articles=articles))


def test_sentence_unit_is_called_sentence_in_the_prompt():
    criterion = builtin_criterion("faithfulness", "likert", per_answer=False)
    text = prompt(criterion, task("faithfulness", unit="sentence:2"))
    assert "how faithful is the sentence" in text
    assert "<sentence " in text


def test_an_unknown_aspect_is_refused():
    with pytest.raises(ConfigurationError, match="no built-in aspect 'tone'"):
        builtin_criterion("tone", "likert", per_answer=False)


def own(body: str) -> Criterion:
    front = '+++\ntask = "judge"\nname = "tone"\nversion = 1\nabout = "x"\n+++\n## user\n'
    template = parse_template((front + body).encode(), location="mine")
    return Criterion(aspect="tone", template=template, scale=likert(("bad", "good")))


def test_custom_criterion_uses_the_fields_it_names():
    criterion = own("Rate the tone of {{text}}.\n{{scale}}")
    assert set(criterion.fields_for(task("tone"))) == {"text", "scale"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("Rate {{text}}", "must use {{scale}}"),
        ("Rate {{txt}} {{scale}}", "unknown fields ['txt']"),
    ],
)
def test_invalid_criterion_raises(body, message):
    with pytest.raises(ConfigurationError) as caught:
        own(body)
    assert message in str(caught.value)


def test_group_line_has_the_first_three_wordings():
    (text,) = fence_questions((QUESTION,)).texts
    assert text.splitlines() == ["Why?", "- Answer: rain 0 / rain 1 / rain 2", "- Answer: cracks"]


def test_articles_carry_title_and_outlet():
    fenced = fence_articles(
        (
            Article(aid="1", title="T", domain="one.example", content="Text."),
            Article(aid="2", content="Only text."),
        )
    )
    assert fenced.texts == ("T\n\nText.", "Only text.")
    assert fenced.titles == ("one.example", "")


def test_pair_order_decides_which_summary_comes_first():
    criterion = builtin_criterion("coverage", "pairwise", per_answer=False)
    for order, first in (("ab", "One."), ("ba", "Two.")):
        pair = task(protocol="pairwise", systems=("s", "t"), texts=("One.", "Two."), order=order)
        assert criterion.fields_for(pair)["first"].texts == (first,)


def words_of(name: str) -> str:
    return " ".join(load_template("judge", name).parts[-1][1].split())


def rule_of(name: str, first: str, last: str) -> str:
    text = words_of(name)
    return text[text.index(first) : text.index(last) + len(last)]


COVERED = ("An answer is covered when", "Several wordings of one answer count as one.")
SUPPORTED = ("A statement is one thing said", "how it ended, who said so.")


@pytest.mark.parametrize(
    ("names", "span"),
    [
        (
            ["coverage-single", "coverage-pairwise", "coverage-answer", "coverage-ranking",
             "coverage-decision", "together-coverage"],
            COVERED,
        ),
        (
            ["faithfulness-single", "faithfulness-pairwise", "faithfulness-ranking",
             "together-faithfulness", "faithfulness-checklist"],
            SUPPORTED,
        ),
    ],
)  # fmt: skip
def test_prompts_of_an_aspect_share_one_rule(names, span):
    """Else a checklist, from which ratings and pairs are derived, would measure something else."""
    first, *others = names
    rule = rule_of(first, *span)
    assert [name for name in others if rule not in words_of(name)] == []


def test_checklist_rule_has_the_same_wording():
    rule, listed = rule_of("coverage-single", *COVERED), words_of("coverage-checklist")
    for words in (
        "matters to it (a condition, a place, a time, who) is missing or vaguer",
        "is missing or left vague, be the topic as right as it may",
        "What one side says is not covered by what another side says",
        'only to reject it, or only to say that it is disputed, covers "it is disputed"',
    ):
        assert words in rule, words
        assert words in listed, words
