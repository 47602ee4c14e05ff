"""Checklists of faithfulness: what is shown, what is taken from a reply, what follows from it."""

from __future__ import annotations

import json

import pytest
from builders import make_task

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.domain import Article, Judgement, JudgeTask, StatementEntry, Unscored
from fairjudge.judges.checklist_judge import FORMS, ChecklistJudge
from fairjudge.judges.deriving import derive
from fairjudge.judges.ports import Reply
from fairjudge.judges.statements import (
    SummaryPart,
    likert_of,
    most_severe_first,
    pairwise_of,
    read_statements,
    share_supported,
    worst_of,
)
from fairjudge.ports import ModelRef

ARTICLES = (
    Article(aid="n", title="Dam fails", domain="north.example", content="Twelve people died."),
    Article(aid="s", domain="south.example", content="“Nobody knew,” she said. 13 died."),
    Article(aid="t", domain="west.example", content="It rained for days. She left."),
)
SUMMARY = "Thirteen people died in the flood. The mayor knew nothing."
ALL = SummaryPart(first=1, last=2)


def entry(sentence=1, verdict="supported", articles=(2,), quote="13 died", **changes):
    return {
        "sentence": sentence,
        "statement": "Thirteen people died.",
        "articles": list(articles),
        "quote": quote,
        "verdict": verdict,
        "grave": False,
    } | changes


def reply(*entries) -> str:
    return json.dumps({"entries": entries})


ABSENT = entry(2, "absent", (), "", statement="The mayor knew nothing.", grave=True)


def test_statements_quote_the_articles_verbatim():
    late = entry(1, "contradicted", (3, 1), "twelve people DIED", statement="In the flood.")
    records = read_statements(reply(ABSENT, entry(), late), ALL, ARTICLES)
    assert [(item.sentence, item.verdict, item.grave) for item in records] == [
        (0, "supported", False), (0, "contradicted", False), (1, "absent", True),
    ]  # fmt: skip
    # the article that holds the quote comes first
    assert [(item.articles, item.quote) for item in records] == [
        (("s",), "13 died"), (("n", "t"), "Twelve people died"), ((), None),
    ]  # fmt: skip


def test_quote_may_be_from_the_title():
    records = read_statements(
        reply(entry(1, articles=[1], quote="Dam fails"), ABSENT), ALL, ARTICLES
    )
    assert records[0].articles == ("n",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no list of entries"),
        ("Both are supported.", "no list of entries"),
        (reply(entry()), "sentence 2 has no entry"),
        (reply(ABSENT), "sentence 1 has no entry"),
        (reply(entry(0), ABSENT), "entry 1 has no sentence from 1 to 2"),
        (reply(entry(True), ABSENT), "entry 1 has no sentence from 1 to 2"),
        (reply(entry(3), ABSENT), "entry 1 has no sentence from 1 to 2"),
        (reply(entry(statement=" ... "), ABSENT), "entry 1 has no statement"),
        (reply(entry(verdict="true"), ABSENT), "entry 1 has no verdict that was asked for"),
        (reply(entry(articles=[]), ABSENT), "entry 1 does not name articles from 1 to 3"),
        (reply(entry(articles=[2, 4]), ABSENT), "entry 1 does not name articles from 1 to 3"),
        (reply(entry(articles=["south"]), ABSENT), "entry 1 does not name articles"),
        (reply(entry(articles=[1]), ABSENT), "does not stand in an article that it names"),
        (reply(entry(quote=""), ABSENT), "does not stand in an article that it names"),
        (reply(entry(quote=None), ABSENT), "does not stand in an article that it names"),
        (reply("supported", ABSENT), "entry 1 is no object"),
        (reply(entry(), ABSENT) + reply(entry(), ABSENT), "several lists of entries"),
    ],
)
def test_unusable_reply_is_unscored_with_reason(text, why):
    records = read_statements(text, ALL, ARTICLES)
    assert isinstance(records, Unscored)
    assert (records.reason, why in records.detail) == ("unparseable", True)


def statements(supported=0, absent=0, contradicted=0, grave=0):
    """Return so many of each; the last `grave` of those that are not supported are grave."""
    verdicts = ["supported"] * supported + ["absent"] * absent + ["contradicted"] * contradicted
    return [
        StatementEntry(
            sentence=n,
            statement=f"S {n}.",
            verdict=verdict,
            grave=verdict != "supported" and n >= len(verdicts) - grave,
        )
        for n, verdict in enumerate(verdicts)
    ]


def test_supported_share_and_worst_severity():
    assert share_supported(statements(3, 1)) == 0.75
    assert [worst_of(statements(*item)) for item in ((4,), (3, 1), (3, 1, 1))] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("judged", "rating"),
    [
        (statements(9), 5),
        (statements(2, 1), 4),  # a single slip, however few statements there are
        (statements(20, 2), 4),
        (statements(9, 2), 3),
        (statements(6, 2), 3),
        (statements(6, 3), 2),
        (statements(2, 2), 2),
        (statements(1, 2), 1),
        (statements(99, 0, 1, grave=1), 2),  # gravity outweighs the share
        (statements(99, 1, 1, grave=2), 1),
        (statements(0, 1), 1),
    ],
)
def test_ratings_follow_the_anchors(judged, rating):
    assert likert_of(judged) == rating


def test_pairs_compare_severe_errors_then_shares():
    assert pairwise_of(statements(5, 5), statements(9, 1, grave=1)) == "a"
    assert pairwise_of(statements(9, 1), statements(5, 5)) == "a"
    assert pairwise_of(statements(9, 1), statements(10)) == "b"
    assert pairwise_of(statements(99, 1), statements(100)) == "tie"


def test_errors_are_listed_by_severity():
    items = [*statements(1, 1, 1), *statements(0, 1, grave=1)]
    assert [(item.grave, item.verdict) for item in most_severe_first(items)] == [
        (True, "absent"), (False, "contradicted"), (False, "absent"),
    ]  # fmt: skip


def test_supported_statement_cannot_be_severe():
    with pytest.raises(ValueError, match="cannot be 'grave'"):
        StatementEntry(sentence=0, statement="x", verdict="supported", grave=True)


def test_statement_lists_give_other_protocols():
    def row(system, checklist):
        return Judgement(
            eid="e", system=system, aspect="faithfulness", protocol="checklist", judge="j",
            value=share_supported(checklist), statements=checklist,
        )  # fmt: skip

    rows = [row("s", statements(9)), row("t", statements(8, 0, 1, grave=1))]
    result = derive(rows, ["likert", "pairwise"])
    assert [item.value for item in result] == [5, 2, "a", "a"]


# --- the judge -------------------------------------------------------------------------------


def task(text=SUMMARY) -> JudgeTask:
    return make_task(text, protocol="checklist", articles=ARTICLES)


def judge(handler) -> ChecklistJudge:
    return ChecklistJudge(
        backend=ScriptedBackend(handler),
        target=ModelRef(provider="scripted", model="m"),
        form=FORMS["faithfulness"],
    )


async def test_articles_and_sentences_are_numbered_and_value_is_the_share():
    first = judge(lambda r: reply(entry(), ABSENT))
    result = first.read(task(), await first.ask(task()))
    assert (result.value, [e.verdict for e in result.statements]) == (0.5, ["supported", "absent"])
    assert Judgement.model_validate_json(result.model_dump_json()) == result
    (request,) = first.backend.requests
    prompt = request.messages[-1].content
    assert "2 south.example" in prompt
    assert "[2] The mayor knew nothing." in prompt
    # what all summaries of a cluster share comes first, the summary last
    assert prompt.index("It rained") < prompt.index("JSON") < prompt.index("[1] Thirteen")
    assert prompt.rstrip().endswith("List the statements of all 2 sentences.")


async def test_long_summary_is_judged_in_parts_and_only_failed_parts_retried():
    text = " ".join(f"Person number {n} left the town." for n in range(30))

    def handler(request):
        first, last = (1, 15) if "sentences 1 to 15" in request.messages[-1].content else (16, 30)
        rows = [entry(n, "absent", (), "") for n in range(first, last + 1)]
        wrong = first == 16 and len(request.messages) == 2
        return reply(*rows[: -1 if wrong else None])

    single = judge(handler)
    first = await single.ask(task(text))
    assert "sentence 30 has no entry" in single.read(task(text), first).detail
    again = await single.repair(task(text), first)
    assert isinstance(again, Reply)
    result = single.read(task(text), again)
    assert [e.sentence for e in result.statements] == list(range(30))
    assert len(single.backend.requests) == 3
    assert "sentence 30 has no entry." in single.backend.requests[2].messages[-1].content


async def test_nothing_to_judge_costs_no_call():
    first = judge(lambda r: "")
    assert (await first.ask(task(" "))).reason == "empty_input"
    assert (await first.ask(task("..."))).reason == "empty_input"
    assert first.backend.requests == []
