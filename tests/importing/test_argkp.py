"""Arguments, key points and people's labels of ArgKP, in one file or three, and back."""

import csv

import pytest

from fairjudge.errors import InputError
from fairjudge.exporting.targets import export_records
from fairjudge.importing import import_file


def row(arg, point, label, topic="Ban uniforms", stance=1):
    return {
        "topic": topic, "stance": stance, "arg_id": f"a{arg}", "argument": f"argument {arg}",
        "key_point_id": f"k{point}", "key_point": f"point {point}", "label": label,
    }  # fmt: skip


ROWS = [row(1, 1, 1), row(1, 2, 0), row(2, 1, 1), row(2, 2, 1), row(3, 3, 0, stance=-1)]


def found_in(data):
    labels = [(label.eid, label.system, label.unit, label.value) for label in data.labels]
    groups = {
        reference.eid: [
            [a.aid for a in group.answers] for group in reference.question_answers[0].groups()
        ]
        for reference in data.references
    }
    return labels, groups


LABELS = [
    ("Ban uniforms/1", "a1", "answer:0.0", 1), ("Ban uniforms/1", "a1", "answer:0.1", 0),
    ("Ban uniforms/1", "a2", "answer:0.0", 1), ("Ban uniforms/1", "a2", "answer:0.1", 1),
    ("Ban uniforms/-1", "a3", "answer:0.0", 0),
]  # fmt: skip
GROUPS = {"Ban uniforms/1": [["a1", "a2"], ["a2"]], "Ban uniforms/-1": [[]]}


def test_key_points_become_groups_and_labels_are_human(write_file):
    result = import_file(write_file("x.jsonl", ROWS))
    assert result.tool == "argkp"
    assert found_in(result) == (LABELS, GROUPS)
    assert next((summary.system, summary.text) for summary in result.summaries) == (
        "a1",
        "argument 1",
    )
    (first, _) = result.references
    assert first.question_answers[0].group_labels == ("point 1", "point 2")
    assert [item.weight for item in first.question_answers[0].groups()] == [2, 1]
    assert first.articles[0].attributes == {"stance": "1"}


def write_csv(path, rows, columns):
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, columns, extrasaction="ignore")
        table.writeheader()
        table.writerows({tuple(row[name] for name in columns): row for row in rows}.values())


@pytest.fixture
def folder(tmp_path):
    write_csv(tmp_path / "arguments_dev.csv", ROWS, ["arg_id", "argument", "topic", "stance"])
    points = ["key_point_id", "key_point", "topic", "stance"]
    write_csv(tmp_path / "key_points_dev.csv", ROWS, points)
    write_csv(tmp_path / "labels_dev.csv", ROWS, ["arg_id", "key_point_id", "label"])
    return tmp_path


def test_three_files_in_a_folder_give_the_same_result(folder):
    result = import_file(folder)
    assert result.tool == "argkp"
    assert found_in(result) == (LABELS, GROUPS)


def test_a_label_of_an_unknown_argument_is_named(folder):
    with (folder / "labels_dev.csv").open("a") as file:
        file.write("a9,k1,1\n")
    with pytest.raises(InputError, match=r"labels_dev\.csv:7, .*unknown id 'a9'|'arg_id'"):
        import_file(folder)
    assert len(import_file(folder, skip_bad=True).labels) == 5


def test_references_round_trip_through_csv(write_file, tmp_path):
    rows = [*ROWS[:4], row(4, 1, 0), row(4, 2, 0)]
    result = import_file(write_file("x.jsonl", rows))
    path = tmp_path / "argkp.csv"
    export_records(result.references, path, to="argkp")
    back = import_file(path)
    assert found_in(back) == found_in(result)
    assert [reference.articles for reference in back.references] == [
        reference.articles for reference in result.references
    ]


@pytest.mark.parametrize(
    ("name", "n_labels", "n_matches"),
    [("dev.jsonl.gz", 3458, None), ("train.jsonl.gz", 20635, None)],
)
def test_real_labels_are_imported(shared_data, name, n_labels, n_matches):
    path = shared_data / "keypoints" / name
    if not path.is_file():
        pytest.skip(f"no key points at {path}")
    result = import_file(path)
    assert len(result.labels) == n_labels
    assert len({(label.eid, label.system) for label in result.labels}) == len(result.summaries)
    memberships = sum(
        len(group)
        for reference in result.references
        for q in reference.question_answers
        for group in q.answer_groups
    )
    assert memberships == sum(label.value for label in result.labels)
