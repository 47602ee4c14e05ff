"""Balance without a reference: shares of sources by hand, and the judge that measures them."""

from __future__ import annotations

import pytest
from builders import make_task
from trained_double import WordBag, WordModels

from fairjudge.domain import Article, Judgement, JudgeTask, Reference, SourceCovered, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.balance import (
    balance_score,
    least_covered_sources,
    mean_coverage,
    statements_of,
)
from fairjudge.judges.criteria import builtin_criterion
from fairjudge.judges.entailment import EntailmentSupport
from fairjudge.judges.local import LocalJudge
from fairjudge.judges.tasks import resolve_plan
from fairjudge.judges.trained import TrainedSupport
from fairjudge.scores.coverage_slices import coverage_slices

LEFT = Article(
    aid="l",
    domain="left.example",
    content="Workers wept at the gate. Unions blame greedy owners.",
    attributes={"leaning": "left"},
)
RIGHT = Article(
    aid="r",
    domain="right.example",
    content="Owners lost millions. Analysts blame high taxes.",
    attributes={"leaning": "right"},
)
EMPTY = Article(aid="e", content="***")
ONE_SIDED = "Workers wept at the gate. Unions blame greedy owners."
BOTH = "Workers wept, and owners lost millions. Unions blame owners, analysts blame taxes."


def sources(**shares: float) -> tuple[SourceCovered, ...]:
    return tuple(SourceCovered(aid=aid, covered=share) for aid, share in shares.items())


def judge(models: WordModels | None = None) -> LocalJudge:
    support = TrainedSupport(models=models or WordModels(), embedder=WordBag())
    return LocalJudge(aspect="balance", support=support)


def task(*texts: str, articles=(LEFT, RIGHT), **fields) -> JudgeTask:
    return make_task(*texts, aspect="balance", articles=articles, **fields)


@pytest.mark.parametrize(
    ("shares", "names", "value"),
    [
        ({"a": 0.9, "b": 0.1, "c": 0.4}, ["b", "c"], 0.25),
        ({"a": 0.9, "b": 0.1}, ["b"], 0.1),
        ({"a": 0.7}, ["a"], 0.7),
        ({"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.5}, ["a", "b"], 0.5),
    ],
)
def test_balance_is_the_mean_of_the_least_covered_half_of_sources(shares, names, value):
    result = sources(**shares)
    assert [item.aid for item in least_covered_sources(result)] == names
    assert balance_score(result) == pytest.approx(value)
    assert mean_coverage(result) == pytest.approx(sum(shares.values()) / len(shares))


def test_statements_are_sampled_across_long_sources_without_copies():
    text = " ".join(f"Ship {number} sank." for number in range(24))
    spread = [f"Ship {number} sank." for number in range(0, 24, 2)]
    assert statements_of(text) == tuple(spread)
    assert statements_of("It rained. It rained. It snowed.") == ("It rained.", "It snowed.")
    assert statements_of("***") == ()


async def test_copy_of_one_source_is_less_balanced_than_a_summary_of_both():
    one_sided, both = [await judge().ask(task(text)) for text in (ONE_SIDED, BOTH)]
    by_source = {source.aid: source.covered for source in one_sided.sources}
    assert by_source["l"] == 1.0 > by_source["r"]
    assert both.value > one_sided.value
    assert one_sided.value == pytest.approx(1 + 4 * by_source["r"])
    assert one_sided.model_extra["support"] == pytest.approx([by_source["r"]])
    assert (both.scored_by, both.aspect, both.unit) == ("embedding", "balance", "summary")


async def test_pair_verdicts_are_equal_in_both_orders():
    for order in ("ab", "ba"):
        judgement = await judge().ask(task(ONE_SIDED, BOTH, protocol="pairwise", order=order))
        assert (judgement.value, judgement.order, judgement.sources) == ("b", order, None)
    assert (await judge().ask(task(BOTH, BOTH, protocol="pairwise"))).value == "tie"


async def test_source_without_statements_is_ignored():
    judgement = await judge().ask(task(BOTH, articles=(LEFT, EMPTY, RIGHT)))
    assert [source.aid for source in judgement.sources] == ["l", "r"]


@pytest.mark.parametrize(("text", "articles"), [("***", (LEFT,)), (BOTH, (EMPTY,))])
async def test_no_statements_give_no_score(text, articles):
    judgement = await judge().ask(task(text, articles=articles))
    assert isinstance(judgement, Unscored)
    assert judgement.reason == "empty_input"


async def test_statement_is_compared_with_at_most_two_passages():
    models = WordModels()
    text = " ".join(f"Matter {number} was raised." for number in range(50))
    source = Article(aid="a", content="Matter 7 and matter 40 were raised again by the owners.")
    await judge(models).ask(task(text, articles=(source,)))
    assert len(models.pairs) == 2
    assert "Matter 7 " in models.pairs[1][0]
    assert "Matter 40 " in models.pairs[1][0]


async def test_entailment_model_measures_balance_on_chunks():
    class Halves:
        fingerprint = "halves"

        def classify(self, pairs):
            return [[0.75 if "blame" in statement else 0.25, 0.2, 0.05] for _, statement in pairs]

    support = EntailmentSupport(classifier=Halves())
    result = await LocalJudge(aspect="balance", support=support).ask(task(BOTH))
    assert [source.covered for source in result.sources] == [0.5, 0.5]
    assert result.value == 3.0


def test_plan_needs_no_protocol_or_questions():
    plan = resolve_plan("balance")
    assert (plan.protocol, plan.reference_unit, plan.text_unit) == ("likert", "articles", "summary")
    assert not plan.needs_questions
    for other in ("article", "qa_pairs"):
        with pytest.raises(ConfigurationError, match="judged against articles"):
            resolve_plan("balance", reference_unit=other)


def test_llm_prompt_asks_for_the_space_given_to_each_side():
    criterion = builtin_criterion("balance", "likert", per_answer=False)
    assert criterion.scale.levels[0].anchor == "it tells one side alone"


def test_audit_lists_sources_by_outlet_and_attribute():
    cluster = Reference(eid="e", articles=(LEFT, RIGHT), question_answers=())
    about = {"eid": "e", "system": "s", "aspect": "balance", "protocol": "likert", "judge": "j"}
    row = Judgement(**about, value=2.0, sources=sources(l=1.0, r=0.25))
    result = coverage_slices([row], [cluster])
    outlets = {name: mean.value for name, mean in result.slices["balance by outlet"].items()}
    leanings = {
        name: mean.value for name, mean in result.slices["balance by attribute leaning"].items()
    }
    assert outlets == {"left.example": 1.0, "right.example": 0.25}
    assert leanings == {"left": 1.0, "right": 0.25}
    least = result.least_covered["e"]
    assert (least.value, least.mean, dict(least.sources)) == (0.25, 0.625, {"right.example": 0.25})
    assert (result.n, result.n_sources, result.n_unknown) == (0, 2, 0)
