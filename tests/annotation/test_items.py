"""Items have the units that judgements have, and pages show text and never a system's name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from annotation_tools import HOSTILE, write_world
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.annotation.board import Board, Event, Job
from fairjudge.annotation.items import build_items, digest
from fairjudge.annotation.moves import entry_at
from fairjudge.annotation.passages import (
    MarkedPassage,
    compared_texts,
    embedding_similarity,
    mark_passages,
    word_similarity,
)
from fairjudge.annotation.tasks import label_task
from fairjudge.annotation.views import item_view, paragraphs
from fairjudge.datasets import example_path, read_references, read_summaries
from fairjudge.domain import Article, Reference, Summary
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.judges.tasks import JudgingPlan, plan_tasks
from fairjudge.scales import likert, pairwise
from fairjudge.text.sentences import sentence_texts


@pytest.fixture(scope="module")
def example() -> tuple[list[Reference], list[Summary]]:
    references = list(read_references(example_path("references.json")))
    return references, list(read_summaries(example_path("summaries.jsonl")))


def test_stubs_are_hidden_from_annotators_unless_they_gave_the_answer():
    stub = Article(aid="stub", content="Sign up for our newsletter\nShare this article")
    news = [
        Article(aid=aid, content=f"The mayor of {aid} spoke to the council on Monday.")
        for aid in ("north", "south")
    ]
    groups = [[{"aid": "north", "answer": "the mayor"}], [{"aid": "stub", "answer": "a letter"}]]
    reference = Reference.model_validate(
        {
            "eid": "e",
            "articles": [item.to_json() for item in (stub, *news)],
            "question_answers": [{"question": "Who spoke?", "answer_groups": groups}],
        }
    )
    summary = Summary(eid="e", system="s", text="The mayor spoke.")
    for name in ("coverage", "faithfulness", "rating"):
        for item in build_items(label_task(name), [reference], [summary]):
            assert [article.aid for article in item.articles] == ["north", "south"]
    by_answer = build_items(label_task("answers"), [reference], [])
    assert [[article.aid for article in item.articles] for item in by_answer] == [
        ["north", "south"],
        ["stub", "north", "south"],
    ]


@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("coverage", ("binary", "qa_pair", "summary")),
        ("faithfulness", ("binary", "articles", "sentence")),
        ("rating", ("likert", "articles", "summary")),
    ],
)
def test_units_match_those_of_the_judge(example, name, plan):
    task = label_task(name)
    protocol, reference_unit, text_unit = plan
    judged = plan_tasks(
        *example,
        JudgingPlan(
            aspect=task.aspect,
            protocol=protocol,
            reference_unit=reference_unit,
            text_unit=text_unit,
        ),
        split_sentences=sentence_texts,
    )
    items = build_items(task, *example)
    assert [(i.eid, i.systems, i.unit) for i in items] == [
        (item.eid, item.systems, item.unit) for item in judged
    ]
    assert len({item.id for item in items}) == len(items)


def test_sentence_is_at_the_index_in_the_label(example):
    for item in build_items(label_task("faithfulness"), *example):
        assert item.place is not None
        assert item.texts[0][item.place.start : item.place.end] == item.statement


def test_answer_items_are_groups_with_all_wordings(example):
    references, _ = example
    items = build_items(label_task("answers"), references, [])
    groups = [g for r in references for q in r.question_answers for g in q.answer_groups]
    assert len(items) == len(groups)
    for item, group in zip(items, groups, strict=True):
        assert {item.statement, *item.wordings} == {answer.answer for answer in group}
        assert set(item.sources) == {answer.aid for answer in group}


def test_pairs_are_shown_once_not_in_both_orders(example):
    items = build_items(label_task("preference"), *example)
    assert len(items) == 2 * 3  # two clusters, three systems: three pairs each
    assert all(len(item.systems) == 2 for item in items)


def sides(example):
    """Give the articles of the first cluster a side, and of the second none."""
    (first, second), summaries = example
    articles = tuple(
        article.model_copy(update={"attributes": {"side": ("left", "right")[n % 2]}})
        for n, article in enumerate(first.articles)
    )
    return [first.model_copy(update={"articles": articles}), second], summaries


def test_sentence_item_exists_per_value_with_its_articles_only(example):
    references, summaries = sides(example)
    task = label_task("values", attribute="side", values=("left", "right"))
    items = build_items(task, references, summaries)
    assert {item.eid for item in items} == {references[0].eid}
    plain = build_items(label_task("faithfulness"), references[:1], summaries)
    assert len(items) == 2 * len(plain)
    assert len({item.id for item in items}) == len(items)
    for item in items:
        assert item.unit == f"sentence:{item.unit.split(':')[1]}:{item.value}"
        assert {article.attributes["side"] for article in item.articles} == {item.value}
        assert item.statement in item.texts[0]


def test_leaning_answers_are_fair_or_a_value_and_pages_show_values(example):
    references, summaries = sides(example)
    task = label_task("leaning", attribute="side", values=("left", "right"))
    assert task.scale.answers == ("fair", "left", "right")
    items = build_items(task, references[:1], summaries)
    assert [item.unit for item in items] == ["summary"] * len(items)
    board = Board(Job(blocks=((0,),), wanted=(1,) * len(items)))
    board.apply(Event(annotator="ann", item=0, kind="assign", at=0.0))
    view = item_view(task, items[0], entry_at(board, "ann", 1, pair=False), {})
    headings = [text.heading for text in view.panes[1].texts]
    for n, heading in enumerate(headings):
        assert heading.endswith(f"(side: {('left', 'right')[n % 2]})")
    assert [choice.text for choice in view.choices] == ["fair", "left", "right"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("values", {}, "needs an --attribute"),
        ("leaning", {}, "needs an --attribute"),
        ("rating", {"attribute": "side"}, "does not take an --attribute"),
        ("values", {"attribute": "side"}, "no article has a value of 'side'"),
        ("leaning", {"attribute": "side", "values": ("a",), "scale": likert()}, "--scale"),
    ],
)
def test_only_value_tasks_need_an_attribute(name, options, message):
    with pytest.raises(ConfigurationError, match=message):
        label_task(name, **options)


def test_task_with_missing_input_raises(example):
    references, summaries = example
    with pytest.raises(ConfigurationError, match="--summaries"):
        build_items(label_task("coverage"), references, [])
    bare = [r.model_copy(update={"question_answers": ()}) for r in references]
    with pytest.raises(ConfigurationError, match="fairjudge build"):
        build_items(label_task("coverage"), bare, summaries)
    one_system = [summary for summary in summaries if summary.system == "thorough"]
    with pytest.raises(InputError, match="two systems"):
        build_items(label_task("preference"), references, one_system)


def test_custom_scale_replaces_the_answers():
    task = label_task("faithfulness", aspect="tone", scale=likert(("bad", "fair", "good")))
    assert (task.aspect, task.scale.answers, task.examples) == ("tone", ("1", "2", "3"), ())
    with pytest.raises(ConfigurationError, match="pair"):
        label_task("preference", scale=likert())
    with pytest.raises(ConfigurationError, match="number"):
        label_task("rating", scale=pairwise())


def test_digest_depends_on_every_text(example):
    references, summaries = example
    task = label_task("faithfulness")
    first = digest(task, build_items(task, references, summaries))
    changed = [s.model_copy(update={"text": s.text + " More."}) for s in summaries]
    assert digest(task, build_items(task, references, changed)) != first
    other = label_task("faithfulness", scale=likert())
    assert digest(other, build_items(other, references, summaries)) != first


def test_passage_sharing_rare_words_is_highlighted(example):
    items = build_items(label_task("faithfulness"), *example)
    marks = mark_passages(items, word_similarity)
    item = next(item for item in items if "no one has been reported hurt" in item.statement)
    best = [(n, m) for n, m in marks[item.id].items() if m.mark == "best"]
    assert len(best) == 1
    number, score = best[0]
    assert "No one has been reported hurt" in compared_texts(item)[number][score.start : score.end]


def test_nothing_is_highlighted_without_shared_words():
    reference = Reference(
        eid="e", articles=(Article(aid="a", content="Cats sleep."),), question_answers=()
    )
    summary = Summary(eid="e", system="s", text="The volcano erupted.")
    items = build_items(label_task("faithfulness"), [reference], [summary])
    assert mark_passages(items, word_similarity) == {items[0].id: {}}


def test_embeddings_highlight_by_meaning():
    class Letters:
        """Embeds by the first letter: same letter, same vector."""

        fingerprint = "letters"

        def embed(self, texts):
            rows = np.zeros((len(texts), 26), dtype=np.float32)
            for row, text in zip(rows, texts, strict=True):
                row[ord(text[0].lower()) - 97] = 1.0
            return rows

    reference = Reference(
        eid="e",
        articles=(Article(aid="a", content="Cats sleep. Vast lava came down. Dogs bark."),),
        question_answers=(),
    )
    summary = Summary(eid="e", system="s", text="Volcanoes erupt.")
    (item,) = build_items(label_task("faithfulness"), [reference], [summary])
    marks = mark_passages([item], embedding_similarity(Letters()))[item.id]
    assert marks == {0: MarkedPassage(start=12, end=32, mark="best")}


@given(st.text(), st.integers(0, 40), st.integers(0, 40))
def test_paragraphs_lose_only_breaks_and_control_characters(text, start, length):
    mark = MarkedPassage(start=start, end=start + length, mark="best")
    visible = "".join(piece.text for line in paragraphs(text, (mark,)) for piece in line)
    items = [character for character in text if character.isalnum()]
    assert [character for character in visible if character.isalnum()] == items
    marked = "".join(p.text for line in paragraphs(text, (mark,)) for p in line if p.kind)
    quote = text[start : start + length]
    assert [c for c in marked if c.isalnum()] == [c for c in quote if c.isalnum()]


@pytest.mark.parametrize("name", ["answers", "coverage", "faithfulness", "preference", "rating"])
def test_pages_do_not_reveal_system_names(tmp_path: Path, name):
    write_world(tmp_path)
    references = list(read_references(tmp_path / "references.json"))
    task = label_task(name)
    items = build_items(task, references, list(read_summaries(tmp_path / "summaries.jsonl")))
    marks = mark_passages(items, word_similarity)
    board = Board(Job(blocks=(tuple(range(len(items))),), wanted=(1,) * len(items)))
    for number in range(len(items)):
        board.apply(Event(annotator="ann", item=number, kind="assign", at=0.0))
    for number, item in enumerate(items):
        place = entry_at(board, "ann", number + 1, pair=name == "preference")
        assert place is not None
        view = item_view(task, item, place, marks.get(item.id, {}))
        assert "secret" not in repr(view)
        assert HOSTILE[:8] in repr(view)  # text is carried as it is; escaping is the page's work
