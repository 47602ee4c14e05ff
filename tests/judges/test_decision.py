"""Decision judges over scripted distributions: what is asked, and what becomes of the answers."""

from __future__ import annotations

import pytest
from builders import make_task

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.domain import Answer, Article, QuestionAnswers, Unscored
from fairjudge.errors import ContextTooLongError
from fairjudge.judges.criteria import builtin_criterion
from fairjudge.judges.decision import MAX_QUESTIONS, batch_tasks, decision_judge
from fairjudge.ports import DecisionRefusal, Decisions, Distribution, ModelRef
from fairjudge.scores.aggregate import system_scores, with_pair_verdicts

TARGET = ModelRef(provider="systemone", model="m", base_url="http://127.0.0.1:1/v1")
ARTICLE = Article(aid="a", content="The bridge fell on Monday.")


def question(n=0):
    group = (Answer(aid="a", answer=f"answer {n}"),)
    return QuestionAnswers(question=f"What about {n}?", answer_groups=(group,))


def task(protocol, aspect="faithfulness", unit="summary", *, texts=("A.",), order=None, n=0):
    articles = (ARTICLE,) if aspect == "faithfulness" else ()
    questions = (question(n),) if aspect == "coverage" else ()
    fields = {"aspect": aspect, "protocol": protocol, "unit": unit, "order": order}
    return make_task(*texts, articles=articles, questions=questions, **fields)


def judge_of(answer, protocol, aspect="faithfulness", *, per_answer=False, tasks=()):
    """`answer` maps a question of the request to probabilities by option, or None to refuse."""

    def decide(request):
        answers = {}
        for question in request.questions:
            text = answer(question)
            answers[question.name] = (
                DecisionRefusal(why="no") if text is None else Distribution(probabilities=text)
            )
        return Decisions(answers=answers)

    backend = ScriptedBackend(decide=decide)
    criterion = builtin_criterion(aspect, protocol, per_answer=per_answer)
    return decision_judge(backend, TARGET, criterion, tasks=tasks), backend


async def test_likert_keeps_the_distribution_its_mean_and_its_entropy():
    """0.25 on 2, 0.75 on 4: mean 3.5, likeliest 4; entropy 0.5623 nats (scipy.stats.entropy)."""
    judge, backend = judge_of(
        lambda q: {"1": 0.0, "2": 0.25, "3": 0.0, "4": 0.75, "5": 0.0}, "likert"
    )
    result = await judge.ask(task("likert"))
    assert (result.value, result.scored_by, result.raw) == (3.5, "decision", None)
    assert result.probabilities == {"1": 0.0, "2": 0.25, "3": 0.0, "4": 0.75, "5": 0.0}
    assert result.model_extra["mode"] == 4.0
    assert result.model_extra["entropy"] == pytest.approx(0.562335, abs=1e-6)
    (question,) = backend.requests[0].questions
    assert question.kind == "score"
    assert list(question.options) == ["1", "2", "3", "4", "5"]
    assert all(question.options.values())


async def test_binary_value_is_the_probability_of_yes():
    judge, backend = judge_of(lambda q: {"no": 0.3, "yes": 0.7}, "binary")
    result = await judge.ask(task("binary"))
    assert result.value == pytest.approx(0.7)
    assert backend.requests[0].questions[0].kind == "predicate"


async def test_verdicts_of_both_orders_are_averaged_and_their_shift_is_kept():
    """It gives 0.7 to what stands first, 0.2 to the second, 0.1 to a tie, in both orders.

    In terms of a: 0.7 and 0.2, so the mean is 0.45 for each side: a tie of the likeliest, and
    standing first is worth 0.5 to either side.
    """
    judge, backend = judge_of(lambda q: {"1": 0.7, "2": 0.2, "tie": 0.1}, "pairwise")
    rows = [
        await judge.ask(task("pairwise", texts=("A.", "B."), order=order)) for order in ("ab", "ba")
    ]
    assert [row.value for row in rows] == ["a", "b"]
    assert rows[1].probabilities == {"a": 0.2, "b": 0.7, "tie": 0.1}
    assert backend.requests[0].questions[0].kind == "choice"
    texts = [request.messages[0].content for request in backend.requests]
    assert texts[0].index("A.\n</summary") < texts[0].index("B.\n</summary")
    assert texts[1].index("B.\n</summary") < texts[1].index("A.\n</summary")
    first, other = with_pair_verdicts(rows)
    assert first.model_extra["verdict"] == other.model_extra["verdict"] == "tie"
    assert first.model_extra["shift"] == pytest.approx(0.5)
    assert first.model_extra["pair_probabilities"] == pytest.approx(
        {"a": 0.45, "b": 0.45, "tie": 0.1}
    )
    assert first.model_extra["flipped"] is True
    assert [score.mean for score in system_scores(rows)] == pytest.approx([0.5, 0.5])


async def test_an_undecided_pair_counts_by_its_probabilities():
    """P(a) = 0.6, P(tie) = 0.2 in both orders: a's win rate is 0.7, b's 0.3."""
    judge, _ = judge_of(lambda q: None, "pairwise")
    rows = [
        judge._judgement(
            task("pairwise", texts=("A.", "B."), order=order),
            value="a",
            probabilities={"a": 0.6, "b": 0.2, "tie": 0.2},
        )
        for order in ("ab", "ba")
    ]
    assert {s.system: s.mean for s in system_scores(rows)} == pytest.approx({"s": 0.7, "t": 0.3})
    assert with_pair_verdicts(rows)[0].model_extra["shift"] == pytest.approx(0.0)


async def test_answers_of_one_summary_are_asked_together_and_distinguished():
    tasks = [task("binary", "coverage", f"answer:0.{n}", n=n) for n in range(MAX_QUESTIONS + 2)]
    judge, backend = judge_of(
        lambda q: {"no": 0.0, "yes": 1.0} if q.name == "q2" else {"no": 1.0, "yes": 0.0},
        "binary",
        "coverage",
        per_answer=True,
        tasks=tasks,
    )
    values = [(await judge.ask(task)).value for task in tasks]
    assert [n for n, value in enumerate(values) if value == 1.0] == [1, MAX_QUESTIONS + 1]
    first, last = backend.requests[0], backend.requests[-1]
    assert (len(first.questions), len(last.questions)) == (MAX_QUESTIONS, 2)
    assert backend.requests[1] == first, "one request, which the cache answers once"
    assert "reference 2?" in first.questions[1].text
    assert all(f"answer {n}" in first.messages[0].content for n in range(MAX_QUESTIONS))


def test_only_answers_and_sentences_of_one_summary_share_a_request():
    sentences = [task("likert", unit=f"sentence:{n}", texts=(f"S{n}.",)) for n in range(3)]
    articles = [task("likert", unit=f"article:{n}") for n in range(3)]
    batches = batch_tasks([*sentences, *articles])
    assert set(batches) == {sentence.id for sentence in sentences}
    assert all(batch == tuple(sentences) for batch in batches.values())


async def test_refused_question_is_unscored_and_others_are_scored():
    tasks = [task("binary", "coverage", f"answer:0.{n}", n=n) for n in range(2)]
    judge, _ = judge_of(
        lambda q: None if q.name == "q1" else {"no": 0.5, "yes": 0.5},
        "binary",
        "coverage",
        per_answer=True,
        tasks=tasks,
    )
    refused, answered = [await judge.ask(task) for task in tasks]
    assert refused == Unscored(reason="refused", detail="no")
    assert answered.value == 0.5
    assert judge.unscored_judgement(tasks[0], refused).unscored == "refused"


async def test_too_long_batch_is_sent_one_by_one():
    tasks = [task("binary", "coverage", f"answer:0.{n}", n=n) for n in range(3)]

    def decide(request):
        if len(request.questions) > 1:
            return ContextTooLongError("too long")
        return Decisions(answers={"q1": Distribution(probabilities={"no": 0.0, "yes": 1.0})})

    criterion = builtin_criterion("coverage", "binary", per_answer=True)
    judge = decision_judge(ScriptedBackend(decide=decide), TARGET, criterion, tasks=tasks)
    assert [(await judge.ask(task)).value for task in tasks] == [1.0, 1.0, 1.0]


async def test_empty_and_identical_summaries_cost_no_call():
    judge, backend = judge_of(lambda q: None, "pairwise")
    assert (await judge.ask(task("pairwise", texts=("A.", "A."), order="ab"))).value == "tie"
    assert (
        await judge.ask(task("pairwise", texts=(" ", "A."), order="ab"))
    ).reason == "empty_input"
    assert backend.requests == []
