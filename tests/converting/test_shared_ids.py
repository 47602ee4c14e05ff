"""Files that belong together: ids that they share, and what the user says of one of them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.errors import ConfigurationError, InputError

TEXT = "The dam above Dunmere broke at noon, and two thousand people had to leave their homes."
REVIEWS = [
    {"NAME": name, "review": f"{text} by {name}", "stars": n}
    for name in ("2", "3", "1")
    for n, text in enumerate(("Lovely", "Cold"), 1)
]
SUMMARIES = [{"NAME": name, "model": "gpt", "summary": f"of {name}"} for name in ("1", "2", "3")]


def table(path: str, rows: list[dict], **names: str) -> str:
    rows = [{names.get(key, key): value for key, value in row.items()} for row in rows]
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def pairs(conversion) -> list[tuple[str, str]]:
    return [(summary.eid, summary.text) for summary in conversion.summaries]


OF_EACH = [("1", "of 1"), ("2", "of 2"), ("3", "of 3")]


@pytest.mark.parametrize("name", ["hotel_id", "Restaurant", "asin", "topic"])
@pytest.mark.parametrize("without", ["model", "none"])
def test_grouping_column_of_one_file_is_the_id_in_others(name, without):
    rows = [{key: row[key] for key in row if key != without} for row in SUMMARIES]
    rows = [{"id": n} | row for n, row in enumerate(rows, 7)]
    files = table("reviews.csv", REVIEWS, NAME=name), table("texts.csv", rows, NAME=name)
    for order in (files, files[::-1]):
        result = fj.convert(*order)
        assert pairs(result) == OF_EACH
        assert {cluster.eid for cluster in result.clusters} == {"1", "2", "3"}
    assert pairs(fj.convert(*files, group=name)) == OF_EACH
    assert pairs(fj.convert(*files, columns={"eid": name})) == OF_EACH


def test_labels_match_the_groups_of_another_file():
    rows = [
        {"NAME": n, "system": "gpt", "criterion": "tone", "score": n, "rater": "ann"} for n in "31"
    ]
    result = fj.convert(
        table("r.csv", REVIEWS, NAME="listing_id"), table("l.csv", rows, NAME="listing_id")
    )
    assert [(label.eid, label.value) for label in result.labels] == [("3", 3), ("1", 1)]


def test_single_row_clusters_are_matched_by_an_identifying_column():
    documents = [{"NAME": n, "documents": str([TEXT, f"Of {n}."])} for n in ("3", "1", "2")]
    result = fj.convert(
        table("d.csv", documents, NAME="hotel"), table("s.csv", SUMMARIES, NAME="hotel")
    )
    assert pairs(result) == OF_EACH
    assert {cluster.eid: cluster.articles[1].content for cluster in result.clusters}["3"] == "Of 3."


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("clusters", ["groups", "ids", "rows", "lines"])
def test_rows_are_not_matched_by_number_if_ids_or_counts_differ(n, clusters):
    if clusters == "groups":
        path = table("c.csv", REVIEWS, NAME="hotel")
    elif clusters == "lines":
        path = "c.src"
        Path(path).write_text(f"{TEXT}\n" * 2)
    else:
        rows = [{"doc_id": f"{5 - i}", "document": f"{TEXT} {i}"} for i in range(2)]
        rows = rows if clusters == "ids" else [{"document": row["document"]} for row in rows]
        path = table("c.csv", rows)
    outputs = table("out.csv", SUMMARIES[:n], NAME="prod")
    with pytest.raises(InputError, match=r"^out\.csv.*columns=.'eid': '(COLUMN|prod)'"):
        fj.convert(path, outputs)
    assert pairs(fj.convert(path, outputs, columns={"eid": "prod"})) == OF_EACH[:n]


def test_summary_files_without_ids_need_equal_row_counts():
    first = table("one.csv", [{"output": "a"}])
    two = table("two.csv", [{"output": "a"}, {"output": "b"}])
    with pytest.raises(InputError, match=r"two\.csv.*2 rows without ids for the 1 of one\.csv"):
        fj.convert(first, two)


def test_invalid_row_does_not_shift_row_numbers():
    Path("d.jsonl").write_text("".join(f'{{"document": "{TEXT} {n}"}}\n' for n in "abc"))
    Path("gpt.jsonl").write_text('{"output": "of a"}\nbroken\n{"output": "of c"}\n')
    result = fj.convert("d.jsonl", "gpt.jsonl", skip_bad=True)
    assert pairs(result) == [("1", "of a"), ("3", "of c")]


def test_column_of_only_one_file_is_not_used_for_matching():
    reviews = table("r.csv", REVIEWS, NAME="haus", review="wort")
    summaries = table("s.csv", SUMMARIES, NAME="haus", summary="kurz", model="wer")
    mapping = {"content": "wort", "text": "kurz", "system": "wer"}
    result = fj.convert(reviews, summaries, group="haus", columns=mapping, attributes=["stars"])
    assert pairs(result) == OF_EACH
    assert result.clusters[0].articles[1].attributes == {"stars": "2"}
    by_id = fj.convert(reviews, summaries, columns={**mapping, "eid": "haus"})
    assert pairs(by_id) == OF_EACH
    with pytest.raises(ConfigurationError, match=r"'wen': r\.csv has 'haus'.*; s\.csv has 'haus'"):
        fj.convert(reviews, summaries, group="haus", columns={**mapping, "system": "wen"})
    with pytest.raises(ConfigurationError, match=r"s\.csv: no column 'wen'; there are 'haus'"):
        fj.convert(summaries, columns={"system": "wen"})


@pytest.mark.parametrize("title", ["summary", "headline", "model"])
def test_group_without_a_text_column_raises(title):
    rows = [{"asin": n, "opinion": TEXT, title: "Good"} for n in "112"]
    path = table("r.csv", rows)
    with pytest.raises(ConfigurationError, match="'content': 'COLUMN'"):
        fj.convert(path, group="asin")
    result = fj.convert(path, group="asin", columns={"content": "opinion"})
    assert [(cluster.eid, len(cluster.articles)) for cluster in result.clusters] == [
        ("1", 2),
        ("2", 1),
    ]
