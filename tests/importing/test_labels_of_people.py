"""People's labels from Label Studio, SummEval and REALSumm.

Layouts from labelstud.io/guide/task_format, Yale-LILY/SummEval and ZhangShiyue/Lite2-3Pyramid.
"""

import json

import pytest

from fairjudge.errors import InputError
from fairjudge.importing import import_file


def result(kind, value, name="coverage"):
    return {"id": "r", "from_name": name, "to_name": "text", "type": kind, "value": {**value}}


def task(annotations=(), predictions=(), **data):
    data = (
        {"eid": "e1", "system": "lead", **data} if "system_a" not in data else {"eid": "e1", **data}
    )
    return {
        "id": 1,
        "data": data,
        "annotations": list(annotations),
        "predictions": list(predictions),
    }


def annotation(*results, by=7, **more):
    return {"id": 1, "completed_by": by, "was_cancelled": False, "result": list(results), **more}


def test_annotations_become_labels_and_predictions_judgements(write_file):
    tasks = [
        task(
            [
                annotation(
                    result("rating", {"rating": 4}),
                    result("choices", {"choices": ["yes"]}, "faithful"),
                    result("number", {"number": 2.5}, "length"),
                ),
                annotation(result("rating", {"rating": 2}), by={"id": 8, "email": "b@x.org"}),
                annotation(result("rating", {"rating": 1}), was_cancelled=True),
                annotation(result("choices", {"choices": ["good", "bad"]})),
            ],
            [
                {
                    "model_version": "judge-1",
                    "score": 0.9,
                    "result": [result("rating", {"rating": 3})],
                }
            ],
        ),
        task(eid="e2"),
    ]
    data = import_file(write_file("export.json", tasks))
    assert data.tool == "label-studio"
    assert [(label.annotator, label.aspect, label.value) for label in data.labels] == [
        ("7", "coverage", 4.0),
        ("7", "faithful", 1.0),
        ("7", "length", 2.5),
        ("b@x.org", "coverage", 2.0),
    ]
    assert [(judgement.judge, judgement.value, judgement.eid) for judgement in data.judgements] == [
        ("judge-1", 3.0, "e1")
    ]
    assert [item.why for item in data.skipped] == [
        "the annotation was cancelled",
        "'coverage' is neither a number nor a preference",
        "not annotated",
    ]
    assert data.n_rows == 8


@pytest.mark.parametrize(
    ("order", "selected", "value"),
    [("ab", "left", "a"), ("ab", "right", "b"), ("ba", "left", "b"), ("ba", "right", "a")],
)
def test_preference_names_systems_in_either_display_order(write_file, order, selected, value):
    chosen = result("pairwise", {"selected": selected})
    pair = task([annotation(chosen)], system_a="x", system_b="y", order=order)
    data = import_file(write_file("export.json", [pair]))
    (label,) = data.labels
    assert (label.system_a, label.system_b, label.value) == ("x", "y", value)


def test_aspect_may_be_in_the_task(write_file):
    rated = result("rating", {"rating": 4}, "stars")
    tasks = [task([annotation(rated)], [{"result": [rated]}], aspect="faithfulness")]
    data = import_file(write_file("export.json", tasks))
    assert [item.aspect for item in (*data.labels, *data.judgements)] == ["faithfulness"] * 2


def test_task_must_identify_the_annotated_item(write_file):
    bad = {"data": {"text": "x"}, "annotations": [annotation(result("rating", {"rating": 4}))]}
    with pytest.raises(InputError, match=r"field 'eid': missing"):
        import_file(write_file("export.json", [bad]))


def test_summeval_ratings(write_file):
    row = {
        "id": "dm-test-1",
        "decoded": "A summary.",
        "model_id": "M11",
        "references": [],
        "filepath": "x",
        "expert_annotations": [{"coherence": 2, "relevance": 5}, {"coherence": 1, "relevance": 4}],
        "turker_annotations": [{"coherence": 3, "relevance": None}],
    }
    result = import_file(write_file("model_annotations.aligned.jsonl", [row]))
    assert [(label.annotator, label.aspect, label.value) for label in result.labels] == [
        ("expert1", "coherence", 2.0),
        ("expert1", "relevance", 5.0),
        ("expert2", "coherence", 1.0),
        ("expert2", "relevance", 4.0),
        ("turker1", "coherence", 3.0),
    ]
    assert {(label.eid, label.system) for label in result.labels} == {("dm-test-1", "M11")}
    assert result.n_rows == 6


@pytest.fixture
def pyramid(tmp_path):
    def write(*, ids=None, scus="It rained.\tIt was cold.\nNobody came.\n", **labels):
        folder = tmp_path / "REALSumm"
        (folder / "labels").mkdir(parents=True, exist_ok=True)
        (folder / "SCUs.txt").write_text(scus)
        if ids is not None:
            (folder / "ids.txt").write_text(ids)
        for system, text in labels.items():
            (folder / "labels" / f"{system}.label").write_text(text)
        return folder

    return write


def test_realsumm_folders(pyramid):
    """The files end with and without a line break; both are found in the published data."""
    result = import_file(pyramid(ids="cnndm1\ncnndm2\n", bart="1\t0\n1", t5="0\t0\n1\n"))
    assert result.tool == "realsumm"
    assert [(label.eid, label.system, label.unit, label.value) for label in result.labels] == [
        ("cnndm1", "bart", "scu:0", 1),
        ("cnndm1", "bart", "scu:1", 0),
        ("cnndm2", "bart", "scu:0", 1),
        ("cnndm1", "t5", "scu:0", 0),
        ("cnndm1", "t5", "scu:1", 0),
        ("cnndm2", "t5", "scu:0", 1),
    ]
    assert result.labels[1].model_extra["text"] == "It was cold."
    assert {label.aspect for label in result.labels} == {"coverage"}


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"bart": "1\t0\n"}, r"bart\.label: expected 2 documents as in SCUs\.txt, found 1"),
        ({"bart": "1\n1\n"}, r"bart\.label:1: expected 2 labels, found 1"),
        ({"bart": "1\t2\n1\n"}, r"bart\.label:1: expected 0 or 1, not '2'"),
        ({"bart": "1\t0\n1\n", "ids": "a\n"}, r"ids\.txt: expected 2 distinct ids"),
        ({}, "contains no judgements, labels"),
    ],
)
def test_mismatched_realsumm_folder_raises(pyramid, files, problem):
    with pytest.raises(InputError, match=problem):
        import_file(pyramid(**files))


def test_a_bad_line_of_a_realsumm_folder_can_be_skipped(pyramid):
    result = import_file(pyramid(bart="1\t0\t1\n1\n"), skip_bad=True)
    assert (len(result.labels), len(result.skipped)) == (1, 1)


def test_real_summeval_labels_from_its_own_layout(write_file, shared_data):
    """The first 20 summaries put back into SummEval's layout give the labels that they were."""
    lines = (shared_data / "summeval" / "labels.jsonl").read_text("utf-8").splitlines()
    expected, rows = [], {}
    for label in map(json.loads, lines):
        if (label["eid"], label["system"]) not in rows and len(rows) == 20:
            continue
        row = rows.setdefault(
            (label["eid"], label["system"]),
            {"id": label["eid"], "model_id": label["system"], "decoded": "", "e": {}, "t": {}},
        )
        row[label["annotator"][0]].setdefault(label["annotator"], {})[label["aspect"]] = label[
            "value"
        ]
        expected.append(
            (label["eid"], label["system"], label["annotator"], label["aspect"], label["value"])
        )
    for row in rows.values():
        row["expert_annotations"] = list(row.pop("e").values())
        row["turker_annotations"] = list(row.pop("t").values())
    result = import_file(write_file("model_annotations.aligned.jsonl", list(rows.values())))
    items = [
        (label.eid, label.system, label.annotator, label.aspect, label.value)
        for label in result.labels
    ]
    assert sorted(items) == sorted(expected)
    assert len(items) == 20 * 8 * 4
