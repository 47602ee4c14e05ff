"""Every row of the table of protocols (docs/judges.md), counted and in order."""

from __future__ import annotations

import pytest

from fairjudge.domain import Cluster, Reference, Summary
from fairjudge.errors import ConfigurationError
from fairjudge.judges.tasks import plan_tasks, resolve_plan

REFERENCE = Reference.model_validate(
    {
        "eid": "e",
        "articles": [
            {"aid": "1", "content": "One."},
            {"aid": "2", "content": "  "},
            {"aid": "3", "content": "Three."},
        ],
        "question_answers": [
            {
                "question": "Q?",
                "answer_groups": [
                    [{"aid": "1", "answer": "x"}],
                    [{"aid": "3", "answer": "y"}, {"aid": "1", "answer": "yy"}],
                ],
            },
            {"question": "R?", "answer_groups": [[{"aid": "3", "answer": "z"}]]},
        ],
    }
)
SUMMARIES = [
    Summary(eid="e", system=system, text=f"First of {system}. Second of {system}.")
    for system in ("s", "t", "u")
]


def tasks(plan, summaries=SUMMARIES, clusters=(REFERENCE,)):
    split = lambda text: [f"{part}." for part in text.split(".") if part.strip()]  # noqa: E731
    return plan_tasks(clusters, summaries, plan, split_sentences=split)


@pytest.mark.parametrize(
    ("aspect", "protocol", "reference_unit", "text_unit", "units"),
    [
        ("faithfulness", "likert", "article", "summary", ["article:1", "article:3"]),
        ("faithfulness", "binary", "articles", "summary", ["summary"]),
        ("faithfulness", "likert", "articles", "sentence", ["sentence:0", "sentence:1"]),
        ("coverage", "likert", "qa_pairs", "summary", ["summary"]),
        ("coverage", "binary", "qa_pair", "summary", ["answer:0.0", "answer:0.1", "answer:1.0"]),
    ],
)
def test_single_answer_rows(aspect, protocol, reference_unit, text_unit, units):
    plan = resolve_plan(
        aspect, protocol=protocol, reference_unit=reference_unit, text_unit=text_unit
    )
    result = tasks(plan)
    assert [(task.systems, task.unit) for task in result] == [
        ((summary.system,), unit) for summary in SUMMARIES for unit in units
    ]
    assert len({task.id for task in result}) == len(result)


@pytest.mark.parametrize(
    ("aspect", "units"),
    [("faithfulness", ["article:1", "article:3"]), ("coverage", ["summary"])],
)
def test_pairwise_tasks_have_every_pair_in_both_orders(aspect, units):
    result = tasks(
        resolve_plan(aspect, protocol="pairwise", reference_unit=None, preset="recommended")
    )
    pairs = [("s", "t"), ("s", "u"), ("t", "u")]
    assert [(task.systems, task.unit, task.order) for task in result] == [
        (pair, unit, order) for pair in pairs for unit in units for order in ("ab", "ba")
    ]


def test_evidence_matches_the_unit_and_skips_empty_articles():
    (task, *_) = tasks(resolve_plan("faithfulness", protocol="likert"))
    assert [article.aid for article in task.articles] == ["1", "3"]
    assert task.questions == ()
    pair = tasks(resolve_plan("coverage", protocol="binary", reference_unit="qa_pair"))[1]
    assert [a.answer for group in pair.questions[0].answer_groups for a in group] == ["y", "yy"]
    assert pair.articles == ()


def test_an_empty_summary_is_one_task_at_every_granularity():
    plan = resolve_plan("faithfulness", protocol="likert", text_unit="sentence")
    (task,) = tasks(plan, [Summary(eid="e", system="s", text=" ")])
    assert (task.unit, task.texts) == ("summary", (" ",))


def test_a_plain_cluster_has_no_coverage_tasks():
    cluster = Cluster(eid="e", articles=REFERENCE.articles)
    assert tasks(resolve_plan("coverage", protocol="likert"), clusters=[cluster]) == ()


@pytest.mark.parametrize(
    ("preset", "aspect", "row"),
    [
        ("recommended", "faithfulness", ("pairwise", "article", "summary")),
        ("recommended", "coverage", ("checklist", "qa_pairs", "summary")),
        ("paper", "faithfulness", ("pairwise", "article", "summary")),
        ("paper", "coverage", ("likert", "qa_pairs", "summary")),
        ("budget", "faithfulness", ("likert", "article", "summary")),
        ("granular", "coverage", ("binary", "qa_pair", "summary")),
        ("granular", "faithfulness", ("likert", "articles", "sentence")),
    ],
)
def test_presets_match_the_paper_except_for_the_checklist(preset, aspect, row):
    plan = resolve_plan(aspect, preset=preset)
    assert (plan.protocol, plan.reference_unit, plan.text_unit) == row


def test_explicit_options_override_the_preset():
    assert resolve_plan("coverage", preset="granular", protocol="likert").protocol == "likert"


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        (
            {"aspect": "coverage"},
            "needs --protocol likert|binary|pairwise|checklist|ranking or --preset",
        ),
        (
            {"aspect": "faithfulness", "protocol": "checklist", "reference_unit": "article"},
            "or faithfulness against all articles",
        ),
        ({"aspect": "tone", "protocol": "checklist"}, "requires coverage against all QA pairs"),
        (
            {"aspect": "coverage", "protocol": "checklist", "reference_unit": "qa_pair"},
            "requires coverage against all QA pairs",
        ),
        ({"aspect": "tone", "preset": "budget"}, "no preset contains it"),
        (
            {"aspect": "coverage", "protocol": "likert", "reference_unit": "article"},
            "not 'article'",
        ),
        (
            {"aspect": "coverage", "protocol": "pairwise", "reference_unit": "qa_pair"},
            "all QA pairs",
        ),
        ({"aspect": "faithfulness", "protocol": "pairwise", "text_unit": "sentence"}, "sentences"),
        (
            {
                "aspect": "faithfulness",
                "protocol": "likert",
                "text_unit": "sentence",
                "reference_unit": "article",
            },
            "against all articles",
        ),
    ],
)
def test_unknown_aspect_protocol_unit_combinations_raise(kwargs, message):
    with pytest.raises(ConfigurationError) as caught:
        resolve_plan(**kwargs)
    assert message in str(caught.value)
