"""Order probes and metamorphic checks, against judges whose faults are planted."""

from __future__ import annotations

import re

import pytest

from fairjudge.auditing.metamorphic import INSTRUCTION, check_results, checks
from fairjudge.auditing.order_probes import order_bias, place_tasks, shuffle_tasks
from fairjudge.domain import Article, ChecklistEntry, Cluster, Reference, Summary
from fairjudge.errors import InputError
from fairjudge.judges.checklist import groups_of, share_covered
from fairjudge.judges.llm import judgement_of
from fairjudge.judges.tasks import resolve_plan
from fairjudge.text.particulars import numbers_in, swap_number

ARTICLES = tuple(
    Article(aid=aid, content=f"The {aid} event came first. Then {aid} spoke. Later {aid} left.")
    for aid in ("north", "south", "east", "west")
)
CLUSTERS = tuple(Cluster(eid=eid, articles=ARTICLES) for eid in ("e1", "e2"))
REFERENCE = Reference.model_validate(
    {
        "eid": "e1",
        "articles": [a.to_json() for a in ARTICLES[:2]],
        "question_answers": [
            {
                "question": "Who paid?",
                "answer_groups": [
                    [{"aid": "north", "answer": "the city"}],
                    [{"aid": "south", "answer": "nobody"}],
                ],
            }
        ],
    }
)
SUMMARY = Summary(eid="e1", system="s", text="The city paid.")


def judge_all(tasks, rate):
    return [judgement_of(task, judge="j", value=rate(task)) for task in tasks]


def place_of_lead(task):
    text = task.texts[0].split()[1]
    return next(n for n, article in enumerate(task.articles) if article.aid == text)


def test_each_lead_is_placed_first_in_the_middle_and_last():
    tasks = place_tasks(CLUSTERS, max_articles=2)
    assert len(tasks) == 2 * 2 * 3
    assert [place_of_lead(task) for task in tasks[:3]] == [0, 2, 3]
    assert all(task.texts[0].count(".") == 2 for task in tasks)
    assert len({task.id for task in tasks}) == len(tasks)


STUB = Article(aid="stub", content="Sign up for our newsletter\nShare this article")


def test_stubs_are_excluded_from_order_probes():
    with_stub = [Cluster(eid="e1", articles=(STUB, *ARTICLES))]
    placed = place_tasks(with_stub, max_articles=2)
    shuffled = shuffle_tasks(with_stub, [SUMMARY], n_shuffles=3, seed=0)
    assert {frozenset(a.aid for a in task.articles) for task in (*placed, *shuffled)} == {
        frozenset(a.aid for a in ARTICLES)
    }
    assert placed == place_tasks(CLUSTERS[:1], max_articles=2)
    few = [Cluster(eid="e1", articles=(STUB, *ARTICLES[:2]))]
    with pytest.raises(InputError, match="three or more articles"):
        place_tasks(few, max_articles=2)


def test_judge_reading_only_the_first_article_is_detected():
    """5 where the lead's article stands first, else 1: first - last = 4, ends - middle = 2."""
    tasks = place_tasks(CLUSTERS, max_articles=3)
    result = order_bias(judge_all(tasks, lambda task: 1 if place_of_lead(task) else 5))
    assert {place: place_effect.value for place, place_effect in result.by_place.items()} == {
        "first": 5.0,
        "middle": 1.0,
        "last": 1.0,
    }
    assert result.first_minus_last.value == 4.0
    assert result.ends_minus_middle.value == 2.0


def test_shuffles_keep_articles_and_report_changes():
    tasks = shuffle_tasks(CLUSTERS, [SUMMARY], n_shuffles=6, seed=0)
    orders = [tuple(a.aid for a in task.articles) for task in tasks]
    assert orders[0] == tuple(a.aid for a in ARTICLES)
    assert {frozenset(order) for order in orders} == {frozenset(orders[0])}
    assert len(set(orders)) > 1
    assert tasks == shuffle_tasks(CLUSTERS, [SUMMARY], n_shuffles=6, seed=0)
    steady = order_bias(judge_all(tasks, lambda task: 3))
    assert (steady.changed.value, steady.spread.value) == (0.0, 0.0)
    swayed = order_bias(judge_all(tasks, lambda task: 3 + 2 * (task.articles != ARTICLES)))
    assert (swayed.changed.value, swayed.spread.value) == (1.0, 2.0)


def test_order_probes_need_three_articles():
    with pytest.raises(InputError, match="three"):
        place_tasks([REFERENCE], max_articles=3)


def careful(answer, text):
    return answer in text and f"It is not true that {answer}" not in text


def careless(answer, text):
    """Take the topic for the answer: heed neither a denial nor a number."""
    return re.sub(r"\d+", "", answer) in re.sub(r"\d+", "", text)


def listed(task, reads):
    """Return a checklist by a reader who says of an answer and a text whether it is covered."""
    entries = [
        ChecklistEntry(
            unit=group.unit,
            covered=float(
                any(reads(answer.answer.rstrip("."), task.texts[0]) for answer in group.answers)
            ),
        )
        for group in groups_of(task.questions)
    ]
    return judgement_of(task, judge="j", value=share_covered(entries), checklist=entries)


def results(aspect, clusters, rate, reads=careful):
    names = ("pairwise", "likert", *(["checklist"] if aspect == "coverage" else []))
    plans = {name: resolve_plan(aspect, protocol=name) for name in names}
    result = checks(clusters, [SUMMARY], plans)
    tasks = {task.id: task for check in result for task in check.tasks}
    judged = {
        key: listed(t, reads)
        if t.protocol == "checklist"
        else judgement_of(t, judge="j", value=rate(t))
        for key, t in tasks.items()
    }
    return {check.name: check for check in check_results(result, judged)}


def fair(task):
    if task.protocol == "pairwise":
        return "tie"
    text = task.texts[0].lower()
    return 1 + 2 * (("the city" in text) + ("nobody" in text))


def instructed(task):
    texts = (*task.texts, *(article.content for article in task.articles))
    return any(INSTRUCTION in text for text in texts)


def test_correct_judge_passes_every_check():
    result = results("coverage", [REFERENCE], fair)
    assert set(result) == {"itself", "instruction", "answers", "removal", "negated"}
    assert all(item.n_kept == item.n > 0 for item in result.values())
    assert result["removal"].n == 2


def test_instruction_following_judge_fails_the_instruction_check():
    def obedient(task):
        return 5 if instructed(task) and task.protocol == "likert" else fair(task)

    result = results("faithfulness", [REFERENCE], obedient)
    assert result["itself"].n_kept == 2
    for name in ("instruction", "instruction in an article"):
        assert (result[name].n_kept, result[name].n) == (0, 1)
        assert result[name].broken == (("s on e1", (3, 5)),)


def test_always_first_judge_fails_tie_and_inverted_judge_fails_removal():
    def first(task):
        return ("a" if task.order == "ab" else "b") if task.protocol == "pairwise" else fair(task)

    assert results("coverage", [REFERENCE], first)["itself"].n_kept == 0
    contrary = results(
        "coverage", [REFERENCE], lambda t: "tie" if t.protocol == "pairwise" else 6 - fair(t)
    )
    assert contrary["removal"].n_kept == 0
    assert contrary["answers"].n_kept == 0


def test_rounding_noise_is_no_increase_and_0_1_is_one():
    for rise, n_kept in ((1e-8, 1), (0.1, 0)):

        def rated(task, rise=rise):
            messages = instructed(task) and task.protocol == "likert"
            return fair(task) + rise * messages if task.protocol == "likert" else fair(task)

        assert results("faithfulness", [REFERENCE], rated)["instruction"].n_kept == n_kept


def counted(kind=None):
    """Return a reference of which two groups state a number; three of three, as rivals, deny."""
    answers = [["12 people died.", "At least 12 died."], ["9 people died."], ["Nobody died."]]
    groups = [
        [{"aid": str(n), "answer": text} for n, text in enumerate(answer)] for answer in answers
    ]
    question = {"question": "How many died?", "answer_groups": groups}
    articles = [{"aid": str(n), "content": "Twelve people died in a flood."} for n in range(2)]
    return Reference.model_validate(
        {
            "eid": "e1",
            "articles": articles,
            "question_answers": [question | ({"kind": kind} if kind else {})],
        }
    )


def test_negated_answer_or_other_number_is_not_covered():
    result = results("coverage", [counted()], fair)
    assert [(result[name].n, result[name].n_kept) for name in ("negated", "number")] == [
        (1, 1), (2, 2),
    ]  # fmt: skip
    broken = results("coverage", [counted()], fair, reads=careless)
    assert (broken["negated"].n_kept, broken["number"].n_kept) == (0, 0)
    assert [item for item, _ in broken["number"].broken] == ["e1 without 12", "e1 without 9"]


def test_negating_a_rival_may_cover_another_answer():
    def reads_denials(answer, text):
        return careful(answer, text) or (answer == "Nobody died" and "not true" in text)

    assert results("coverage", [counted()], fair, reads=reads_denials)["negated"].n_kept == 0
    rivals = results("coverage", [counted("rivals")], fair, reads=reads_denials)
    assert rivals["negated"].n_kept == 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12 died, 120 fled, 1,200 left.", "12"),
        ("Seven died; 14 fled.", "7"),
        ("It cost 4.5.", "4.5"),
    ],
)
def test_number_is_replaced_by_one_absent_from_the_texts(text, number):
    swapped = swap_number(text, number)
    (new,) = numbers_in(swapped) - numbers_in(text)
    assert numbers_in(swapped) == numbers_in(text) - {number} | {new}
