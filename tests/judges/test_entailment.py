"""Judging by entailment: the arithmetic over a model whose probabilities are in a table."""

from __future__ import annotations

import numpy as np
import pytest
from builders import make_task

from fairjudge.domain import Answer, Article, QuestionAnswers
from fairjudge.errors import ConfigurationError
from fairjudge.judges.entailment import EntailmentSupport
from fairjudge.judges.local import LocalJudge


class Table:
    """P(entail) by (premise, hypothesis); every pair that is not in it has 0.1."""

    fingerprint = "table"

    def __init__(self, shares):
        self.shares, self.pairs = shares, []

    def classify(self, pairs):
        self.pairs += pairs
        p = np.array([self.shares.get(pair, 0.1) for pair in pairs], dtype=np.float32)
        return np.column_stack([p, 1 - p, np.zeros_like(p)])


def judge_of(aspect, model) -> LocalJudge:
    return LocalJudge(aspect=aspect, support=EntailmentSupport(classifier=model))


def task(protocol, aspect, *texts, articles=(), groups=(), order=None):
    question = QuestionAnswers(
        question="Q?",
        answer_groups=tuple(tuple(Answer(aid="a", answer=w) for w in group) for group in groups),
    )
    return make_task(
        *texts,
        aspect=aspect,
        protocol=protocol,
        order=order,
        articles=tuple(Article(aid=str(n), content=text) for n, text in enumerate(articles)),
        questions=(question,) if groups else (),
    )


async def test_faithfulness_is_the_mean_over_sentences_of_the_best_chunk():
    """Sentences have 0.9 (by the second article) and 0.1: mean 0.5, a rating of 1 + 4 * 0.5."""
    model = Table({("Rain fell.", "It rained."): 0.9})
    judge = judge_of("faithfulness", model)
    request = task(
        "likert", "faithfulness", "It rained. Bells rang.", articles=("Sun.", "Rain fell.")
    )
    result = await judge.ask(request)
    assert result.value == pytest.approx(3.0, abs=1e-6)
    assert result.scored_by == "entailment"
    n_asked = len(model.pairs)
    assert (await judge.ask(request)).value == result.value
    assert len(model.pairs) == n_asked, "no pair is classified twice"


async def test_coverage_is_the_mean_over_answers_of_the_best_wording():
    """Answer one: wordings 0.1 and 0.7, the best counts; answer two: 0.1. Mean 0.4, so no."""
    model = Table({("S.", "second wording"): 0.7})
    judge = judge_of("coverage", model)
    groups = (("first wording", "second wording"), ("other",))
    result = await judge.ask(task("binary", "coverage", "S.", groups=groups))
    assert result.value == 0.0
    assert result.model_extra["support"] == [pytest.approx(0.4)]


async def test_pairs_within_the_margin_tie_whatever_the_order():
    model = Table({("S.", "x"): 0.6, ("T.", "x"): 0.58, ("U.", "x"): 0.9})
    judge = judge_of("coverage", model)

    async def verdict(*texts, order):
        return (
            await judge.ask(task("pairwise", "coverage", *texts, groups=(("x",),), order=order))
        ).value

    assert await verdict("S.", "T.", order="ab") == "tie"
    assert [await verdict("S.", "U.", order=order) for order in ("ab", "ba")] == ["b", "b"]


async def test_nothing_to_judge_is_unscored_and_other_aspects_raise():
    judge = judge_of("faithfulness", Table({}))
    assert (await judge.ask(task("likert", "faithfulness", " "))).reason == "empty_input"
    assert (await judge.ask(task("likert", "faithfulness", "A."))).reason == "empty_input"
    with pytest.raises(ConfigurationError, match="'style'"):
        judge_of("style", Table({}))


async def test_checklist_lists_the_entailing_articles_per_sentence():
    model = Table({("It rained.", "Rain fell."): 0.9, ("It poured.", "Rain fell."): 0.7})
    request = task(
        "checklist",
        "faithfulness",
        "Rain fell. Snow fell.",
        articles=("It poured.", "It rained.", "", "It blew."),
    )
    result = await judge_of("faithfulness", model).ask(request)
    first, second = result.statements
    assert (first.verdict, first.articles, first.quote) == ("supported", ("1", "0"), "It rained.")
    assert (second.verdict, second.articles, second.support) == ("absent", (), pytest.approx(0.1))
    assert result.value == 0.5
