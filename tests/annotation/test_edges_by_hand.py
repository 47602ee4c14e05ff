"""Edges of the labelling page: what is compared, timed, counted and asked."""

import pytest
from annotation_tools import write_world

from fairjudge.annotation.items import Item
from fairjudge.annotation.passages import compared_texts
from fairjudge.annotation.planning import JobOptions
from fairjudge.annotation.web.app import _seconds
from fairjudge.domain import Article, Label, Summary
from fairjudge.run.annotating import prepare

ARTICLES = (Article(aid="1", content="One."), Article(aid="2", content="Two."))


def item(unit, texts):
    return Item(
        eid="e", systems=("s",), aspect="coverage", unit=unit, articles=ARTICLES, texts=texts
    )


def test_answers_are_searched_in_the_summary_and_others_in_articles():
    assert compared_texts(item("answer:0", ("A summary.",))) == ("A summary.",)
    assert compared_texts(item("answer:0", ())) == ("One.", "Two.")
    assert compared_texts(item("sentence:0", ("A summary.",))) == ("One.", "Two.")


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [("0", 0.0), ("1.26", 1.3), ("86399.9", 86399.9), ("86400", None), ("-1", None),
     ("nan", None), ("long", None), ("", None)],
)  # fmt: skip
def test_time_an_item_was_open(duration, seconds):
    assert _seconds({"seconds": duration}) == seconds
    assert _seconds({}) is None


def prepared(tmp_path, **more):
    write_world(tmp_path)
    return prepare(
        "faithfulness",
        tmp_path / "references.json",
        summaries=tmp_path / "summaries.jsonl",
        options=JobOptions(overlap=0.0),
        **more,
    )


def test_controls_are_mentioned_only_if_present(tmp_path):
    plain = prepared(tmp_path)
    assert not any("known answer" in rule for rule in plain.task.rules)
    item = plain.items[0]
    label = Label(
        eid=item.eid, system=item.systems[0], aspect=item.aspect, unit=item.unit,
        annotator="gold", value=1,
    )  # fmt: skip
    (tmp_path / "controls.jsonl").write_text(label.model_dump_json() + "\n")
    checked = prepared(tmp_path, controls=tmp_path / "controls.jsonl")
    assert any("known answer" in rule for rule in checked.task.rules)


def test_no_call_is_made_for_an_empty_summary(tmp_path):
    plain = prepared(tmp_path)
    eid = plain.items[0].eid
    path = tmp_path / "summaries.jsonl"
    with path.open("a", encoding="utf-8") as lines:
        lines.write(Summary(eid=eid, system="silent", text=" \n").model_dump_json() + "\n")
    files = {"source": tmp_path / "references.json", "summaries": path}
    for task in ("faithfulness", "rating", "preference", "coverage"):
        aspect = {"preference": "faithfulness", "rating": "coverage"}.get(task)
        result = prepare(task, **files, aspect=aspect, options=JobOptions(overlap=0.0))
        assert not any("silent" in item.systems for item in result.items)
        assert result.n_empty == 1
