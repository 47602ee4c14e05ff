"""Nested files: lists within objects, objects by ids, fields of objects, tasks of Label Studio."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.errors import InputError

TEXT = "The dam above Dunmere broke at noon, and two thousand people had to leave their homes."


def write(name: str, value: object) -> str:
    Path(name).write_text(json.dumps(value))
    return name


def events() -> list[dict]:
    """Two events with two articles, and the summaries of two models with ratings by two people."""
    return [
        {
            "event": {"id": event, "place": "Dunmere"},
            "articles": [{"text": f"{TEXT} {event} {n}", "url": f"u{n}"} for n in (1, 2)],
            "runs": [
                {
                    "model": model,
                    "summary": f"{model} on {event}.",
                    "judged": [
                        {"rater": rater, "scores": {"tone": 2, "fluency": int(rater)}}
                        for rater in ("1", "2")
                    ],
                }
                for model in ("a", "b")
            ],
        }
        for event in ("dam", "fair")
    ]


LAYOUTS = {
    "a list": events(),
    "a list in an object": {"version": 3, "data": events()},
    "objects by ids": {row["event"]["id"]: row for row in events()},
    "deeper": {"meta": {"made": "today"}, "content": {"of": "news", "events": events()}},
}


@pytest.mark.parametrize("layout", ["a list", "a list in an object", "objects by ids"])
def test_nested_records_and_rows_are_found(layout):
    result = fj.convert(write("e.json", LAYOUTS[layout]), columns={"eid": "event.id"})
    assert [(cluster.eid, len(cluster.articles)) for cluster in result.clusters] == [
        ("dam", 2),
        ("fair", 2),
    ]
    assert {(summary.eid, summary.system, summary.text) for summary in result.summaries} == {
        (event, model, f"{model} on {event}.") for event in ("dam", "fair") for model in "ab"
    }
    assert {(label.annotator, label.aspect, label.value) for label in result.labels} == {
        ("1", "fluency", 1), ("2", "fluency", 2), ("1", "tone", 2), ("2", "tone", 2),
    }  # fmt: skip
    assert len(result.labels) == 16
    mapped = {"eid": "event.id", "value:mood": "runs.judged.scores.tone"}
    labels = fj.convert(write("e.json", LAYOUTS[layout]), columns=mapped).labels
    moods = [(label.aspect, label.value) for label in labels if label.aspect != "fluency"]
    assert moods == [("mood", 2)] * 8


def test_rows_of_one_record_form_a_cluster_without_ids():
    rows = [{name: row[name] for name in ("articles", "runs")} for row in events()]
    result = fj.convert(write("e.json", rows))
    assert [cluster.eid for cluster in result.clusters] == ["1", "2"]
    assert [summary.eid for summary in result.summaries] == ["1", "1", "2", "2"]


def test_rows_of_a_list_on_one_line_have_their_own_numbers():
    rows = [{"document": f"{TEXT} {n}", "prediction": f"It broke {n}."} for n in range(3)]
    result = fj.convert(write("line.json", rows))
    assert [cluster.eid for cluster in result.clusters] == ["1", "2", "3"]
    assert [summary.eid for summary in result.summaries] == ["1", "2", "3"]


def test_flat_files_are_unchanged():
    cluster = {"eid": "e", "articles": [{"aid": "a", "content": TEXT}], "meta": {"x.y": 1}}
    assert fj.convert(write("c.json", [cluster])).clusters[0].to_json() == cluster
    result = fj.convert(write("o.json", [{"id": 1, "candidates": {"gpt": "A.", "phi.2": "B."}}]))
    assert [summary.system for summary in result.summaries] == ["gpt", "phi.2"]


def test_cluster_id_column_is_named(cli):
    rows = [{"text": f"Of {n}.", "info": {"ref": n, "system": "s"}} for n in ("dam", "fair")]
    write("s.json", rows)
    write("c.json", [{"id": n, "documents": [f"{TEXT} {n}"]} for n in ("dam", "fair")])
    result = cli("convert", "s.json", "c.json", "-o", "data", code=1)
    text = " ".join(result.err.split())
    assert text.endswith("--map eid=info.ref")
    assert cli("convert", "s.json", "c.json", "-o", "data", "--map", "eid=info.ref").code == 0


def task(number: int, data: dict, *annotations: dict) -> dict:
    return {"id": number, "data": data, "annotations": list(annotations), "predictions": []}


def annotation(by: object, cancelled: bool = False, **values: tuple[str, object]) -> dict:
    result = [
        {"from_name": name, "to_name": "t", "type": kind, "value": {kind: value}}
        for name, (kind, value) in values.items()
    ]
    times = {"created_at": "now", "updated_at": "now", "lead_time": 2.0}
    return {"id": 7, "completed_by": by, "was_cancelled": cancelled, "result": result, **times}


def tasks() -> list[dict]:
    data = [
        {"ref": e, "llm": m, "passage": f"{TEXT} {e}", "output": f"{m} {e}"}
        for e in ("x", "y")
        for m in ("one", "two")
    ]
    by_ann = annotation(4, focus=("rating", 3), style=("choices", ["Dull"]))
    by_bo = annotation(
        {"email": "bo@x.example"}, focus=("number", 5), style=("choices", ["Lively"])
    )
    return [
        *(task(n, row, by_ann, by_bo) for n, row in enumerate(data[:3])),
        task(3, data[3], annotation(4, cancelled=True, focus=("rating", 1))),
    ]


MAP = "eid=ref,system=llm,documents=passage"


def test_label_studio_tasks_match_its_tables(cli):
    write("t.json", tasks())
    result = cli("convert", "t.json", "-o", "data", "--map", MAP, code=0)
    text = " ".join(result.out.split())
    assert "2 clusters, 2 articles (1 each)" in text
    assert "4 summaries by 2 systems" in text
    assert "6 labels of focus" in text
    assert "Excluded 1 time: the annotation was cancelled" in text
    labels = [json.loads(row) for row in Path("data/labels.jsonl").read_text().splitlines()]
    assert {(row["annotator"], row["value"]) for row in labels} == {("4", 3), ("bo@x.example", 5)}
    more = ("--map", "value=style", "--values", "Dull=0,Lively=1")
    result = cli("convert", "t.json", "-o", "data", "--map", MAP, *more)
    assert "6 labels of style" in result.out


def test_label_studio_choices_are_named_and_relations_skipped():
    rows = tasks()
    rows[0]["annotations"][0]["result"].append({"type": "relation", "from_id": "a", "to_id": "b"})
    columns = {"eid": "ref", "system": "llm", "documents": "passage"}
    (warning,) = fj.convert(write("t.json", rows), columns=columns).command_line_warnings
    assert warning.endswith("--map value=style --values Dull=NUMBER,Lively=NUMBER")


def test_nesting_depth_is_limited():
    value: object = "end"
    for _ in range(50):
        value = {"a": value}
    rows = [{"id": n, "output": f"Text {n}.", "more": value} for n in range(2)]
    result = fj.convert(write("deep.json", rows), columns={"eid": "id"})
    assert len(result.summaries) == 2


def test_label_studio_pairs_are_kept_as_pairs():
    data = {"eid": "x", "system_a": "one", "system_b": "two"}
    result = {"from_name": "better", "to_name": "p", "type": "pairwise"}
    record = annotation(4) | {"result": [result | {"value": {"selected": "left"}}]}
    (label,) = fj.convert(write("p.json", [task(1, data, record)])).labels
    assert (label.system_a, label.system_b, label.value) == ("one", "two", "a")


def relational(key: str) -> dict[str, list[dict]]:
    """Return four articles of two events, two summaries of each, and a rating of each of these."""
    documents = [
        {"id": f"d{n}", "event_id": f"e{n // 2}", "text": f"{TEXT} Number {n}."} for n in range(4)
    ]
    summaries = [
        {"id": f"{event}-{system}", "event_id": event, "system": system, "summary": f"{system}."}
        for event in ("e0", "e1") for system in "ab"
    ]  # fmt: skip
    ratings = [
        {key: row["id"] if key == "summary_id" else row[key], "system": row["system"],
         "annotator": "ann", "fluency": 3}
        for row in summaries
    ]  # fmt: skip
    return {"documents": documents, "summaries": summaries, "ratings": ratings}


def test_lists_linked_by_ids_are_joined_not_crossed():
    """Crossed, four ratings would make 16 labels; as files of their own they are read."""
    lists = relational("event_id")
    write("all.json", {"version": 2, **lists})
    with pytest.raises(InputError, match="refer to each other by 'event_id'") as caught:
        fj.convert("all.json")
    advice = "fairjudge convert documents.json summaries.json ratings.json -o data"
    assert str(caught.value).endswith(advice)
    assert """jq '.["ratings"]' all.json > ratings.json;""" in str(caught.value)
    converted = fj.convert(*[write(f"{name}.json", rows) for name, rows in lists.items()])
    assert [len(converted.clusters), len(converted.summaries), len(converted.labels)] == [2, 4, 4]


def test_ids_of_another_list_are_matched_without_a_common_column():
    """By the values: `summary_id` of ratings are the `id` of summaries."""
    lists = relational("summary_id")
    for row in (*lists["documents"], *lists["summaries"]):
        del row["event_id"]
    for row in lists["ratings"]:
        del row["system"]
    with pytest.raises(InputError, match="refer to each other by 'summary_id'"):
        fj.convert(write("all.json", lists))
