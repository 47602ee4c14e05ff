"""Who is covered: slices by hand on one cluster, and what is named as left out."""

from __future__ import annotations

import pytest
from builders import make_judgement

import fairjudge as fj
from fairjudge.auditing.reports import covered_report
from fairjudge.domain import Judgement, Reference
from fairjudge.reports.evidence_tables import covered_tables
from fairjudge.scores.aggregate import system_scores
from fairjudge.scores.coverage_slices import coverage_slices, question_word

REFERENCE = Reference.model_validate(
    {
        "eid": "e",
        "articles": [
            {"aid": "a", "domain": "a.example", "content": "x", "attributes": {"side": "left"}},
            {"aid": "b", "domain": "b.example", "content": "x", "attributes": {"side": "right"}},
            {"aid": "c", "domain": "c.example", "content": "x", "attributes": {"side": "right"}},
        ],
        "question_answers": [
            {
                "question": "Why did it close?",
                "answer_groups": [
                    [{"aid": "a", "answer": "money"}, {"aid": "b", "answer": "no money"}],
                    [{"aid": "c", "answer": "politics"}],
                ],
            }
        ],
    }
)


def judged(unit, value, *, protocol="binary", **fields):
    return make_judgement(unit=unit, value=value, protocol=protocol, **fields)


def means(means, by):
    return {name: mean.value for name, mean in means.slices[by].items()}


def test_slices_and_excluded_items():
    """0.0 is covered, 0.1 is not; the former is held by a and b, the latter by c alone."""
    result = coverage_slices([judged("answer:0.0", 1), judged("answer:0.1", 0)], [REFERENCE])
    assert means(result, "coverage by question word") == {"why": 0.5}
    assert means(result, "coverage by articles that hold the answer") == {"1": 0.0, "2": 1.0}
    assert means(result, "coverage by article position") == {"1": 1.0, "2": 1.0, "3": 0.0}
    alone = means(result, "coverage by position of the one article that holds it")
    assert alone == {"3": 0.0}  # the group of a and b is at both, and in neither alone
    places = means(result, "coverage by place in the prompt")
    assert places == {"first article": 1.0, "between": 1.0, "last article": 0.0}
    assert means(result, "coverage by attribute side") == {"left": 1.0, "right": 0.5}
    assert means(result, "coverage by outlet")["c.example"] == 0.0
    (left_out,) = result.uncovered
    assert [voice.outlet for voice in left_out.voices] == ["c.example"]
    assert [voice.answer for voice in left_out.voices] == ["politics"]
    assert result.left_out == {"e": ("c.example",)}


def test_judge_settings_are_kept_separate():
    """A rating of an answer, a yes of the same answer and a yes of an article: three groups."""
    rows = [
        judged("answer:0.0", 1),
        judged("answer:0.0", 3, protocol="likert"),
        judged("article:a", 0, aspect="faithfulness"),
    ]
    report = covered_report(rows, [REFERENCE])
    ways = [(item["aspect"], item["protocol"], item["unit"]) for item in report["groups"]]
    assert ways == [
        ("coverage", "binary", "answer"),
        ("coverage", "likert", "answer"),
        ("faithfulness", "binary", "article"),
    ]
    shares = [item["slices"]["coverage by outlet"]["a.example"] for item in report["groups"][:2]]
    assert [share["value"] for share in shares] == [1.0, 0.5]
    assert next(iter(report["groups"][2]["slices"])).startswith("faithfulness by ")
    titles = [table.title for table in covered_tables(report)]
    for way in ("j, binary by answer", "j, likert by answer", "j, binary by article"):
        assert any(title.endswith(f"share 0 to 1, by {way}") for title in titles)


def listed(*entries, eid="e", **rest):
    item = {"eid": eid, "system": "s", "aspect": "coverage", "protocol": "checklist"}
    return Judgement(**item, judge="j", unit="summary", checklist=entries or None, **rest)


def test_a_checklist_credits_each_outlet_for_its_own_wording():
    """Of 0.0 only a's wording is covered, in part, and b says the same: it is not left out."""
    row = listed(
        {"unit": "answer:0.0", "covered": 0.5, "credited": ["a"], "answers": [0]},
        {"unit": "answer:0.1", "covered": 1, "credited": ["c"], "answers": [0]},
        value=0.75,
    )
    result = coverage_slices([row], [REFERENCE])
    outlets = {"a.example": 0.5, "b.example": 0.0, "c.example": 1.0}
    assert means(result, "coverage by outlet") == outlets
    assert means(result, "coverage by question") == {"Why did it close?": 0.75}
    assert (result.n, result.n_voices) == (2, 3)
    (missed,) = result.uncovered
    assert [(v.outlet, v.answer) for v in missed.voices] == [("b.example", "no money")]
    assert result.left_out == {}


def test_unscored_checklist_is_counted_and_excluded():
    result = coverage_slices([listed(unscored="refused")], [REFERENCE])
    assert (result.n, result.n_unscored, result.uncovered) == (0, 1, ())


def test_groups_and_clusters_have_equal_weight():
    """One cluster has 1 of 4 covered, the other 1 of 1: 0.625, and not 2 of 5."""
    answers = [[{"aid": "a", "answer": str(n)}] for n in range(4)]
    base = {"articles": [{"aid": "a", "domain": "a.example", "content": "x"}]}
    many, reference = (
        Reference.model_validate(
            {**base, "eid": eid, "question_answers": [{"question": "Why?", "answer_groups": items}]}
        )
        for eid, items in [("many", answers), ("one", answers[:1])]
    )
    rows = [
        *(
            judged(f"answer:0.{g}", int(g == 0)).model_copy(update={"eid": "many"})
            for g in range(4)
        ),
        judged("answer:0.0", 1).model_copy(update={"eid": "one"}),
    ]
    result = coverage_slices(rows, [many, reference])
    assert means(result, "coverage by outlet") == {"a.example": 0.625}
    (score,) = system_scores(rows)
    assert score.mean == 0.625
    # one of four, and one of one: the mean over clusters, and over all five answers
    weighted = means(result, "coverage by weighting")
    assert weighted == {"macro": 0.625, "micro": pytest.approx(0.4)}
    (mean,) = result.slices["coverage by outlet"].values()
    assert (mean.n, mean.low) == (2, None)

    report = fj.audit.covered(rows, [many, reference]).to_dict()
    (group,) = report["groups"]
    assert group["slices"]["coverage by weighting"]["macro"]["value"] == 0.625
    (table,) = (t for t in covered_tables(report) if t.title.startswith("Coverage by weighting"))
    assert [row[0] for row in table.rows] == ["macro", "micro"]
    assert [row[1][:4] for row in table.rows] == ["0.62", "0.40"]
    assert "micro: share of all items" in table.notes[0]


def test_enough_clusters_have_an_interval():
    references = [REFERENCE.model_copy(update={"eid": str(n)}) for n in range(5)]
    rows = [judged("answer:0.1", int(n < 2)).model_copy(update={"eid": str(n)}) for n in range(5)]
    (mean,) = coverage_slices(rows, references).slices["coverage by outlet"].values()
    assert mean.value == 0.4
    assert (mean.low, mean.high) == (0.0, 1.0)  # Student's would go beyond


def test_ratings_become_shares_and_articles_have_positions():
    """A rating of 2 of 1 to 5 is a quarter; article b is the second of three."""
    result = coverage_slices([judged("article:b", 2, protocol="likert")], [REFERENCE])
    assert means(result, "faithfulness by article position") == {"2": 0.25}
    assert result.uncovered == ()


def test_mismatched_items_are_counted():
    rows = [
        judged("answer:7.0", 1),
        judged("article:z", 1),
        judged("answer:0.0", None, unscored="refused"),
        judged("summary", 1),
    ]
    result = coverage_slices(rows, [REFERENCE])
    assert (result.n, result.n_unknown, result.n_unscored) == (0, 2, 1)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("To whom was it sold?", "who"),
        ("Which party won?", "other"),
        ("In the end, how did it go?", "how"),
        ("", "other"),
    ],
)
def test_question_words(question, word):
    assert question_word(question) == word


def test_positions_and_frequencies_of_ten_articles_are_ordered():
    """Answer g of ten is held by the first g + 1 articles, and covered where g is even."""
    articles = [{"aid": f"a{n}", "content": "x"} for n in range(12)]
    groups = [[{"aid": f"a{n}", "answer": "yes"} for n in range(g + 1)] for g in range(12)]
    requests = [{"question": "How?", "answer_groups": groups}]
    cluster = Reference.model_validate(
        {"eid": "e", "articles": articles, "question_answers": requests}
    )
    result = coverage_slices(
        [judged(f"answer:0.{g}", int(g % 2 == 0)) for g in range(12)], [cluster]
    )
    frequency = means(result, "coverage by articles that hold the answer")
    assert list(frequency) == [*map(str, range(1, 11)), "more than 10"]
    assert (frequency["1"], frequency["10"], frequency["more than 10"]) == (1.0, 0.0, 0.5)
    position = means(result, "coverage by article position")
    assert list(position) == [*map(str, range(1, 13))]
    # article n holds the answers from n on: the share of even ones among them
    assert position["1"] == pytest.approx(6 / 12)
    assert position["11"] == pytest.approx(1 / 2)
    assert position["12"] == 0.0
