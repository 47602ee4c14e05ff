"""Ratings under names of one's own, files named after systems, labels beside folders of texts."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.errors import ConfigurationError

TEXT = "The dam above Dunmere broke at noon, and two thousand people had to leave their homes."


def table(name: str, rows: list[dict[str, object]]) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    with Path(name).open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return name


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def rated(**columns: list[object]) -> list[dict[str, object]]:
    """Return a row for each of two systems of three clusters."""
    return [
        {"doc_id": f"e{n // 2}", "system": "ab"[n % 2], "summary": f"Text {n}."}
        | {name: cells[n % len(cells)] for name, cells in columns.items()}
        for n in range(6)
    ]


@pytest.mark.parametrize(
    ("columns", "aspects"),
    [
        ({"fluency": [1, 5, 3], "sourcing": [2, 4], "wit": [1]}, {"fluency", "sourcing", "wit"}),
        ({"rater": ["p"], "sourcing": [2, 4.5], "wit": ["3,5"]}, {"sourcing", "wit"}),
        ({"fluency": [0, 1], "n_words": [3, 4], "round": [1]}, {"fluency"}),
        ({"coherence": [1, 7], "wit": [90, 35], "note": ["x"]}, {"coherence"}),
        ({"coherence": [20, 90], "wit": [35, 80]}, {"coherence", "wit"}),
        ({"sourcing": [2, 4]}, set()),
    ],
)
def test_custom_columns_with_ratings_or_raters_become_aspects(columns, aspects):
    result = fj.convert(table("t.csv", rated(**columns)))
    assert {label.aspect for label in result.labels} == aspects


def test_column_on_another_scale_is_named_with_its_option(cli):
    path = table("t.csv", rated(coherence=[1, 7], wit=[90, 35], n_words=[3, 4]))
    text = " ".join(cli("convert", path, "-o", "data").out.split())
    assert "Column 'wit' is not read. If it rates summaries: --map value=wit" in text
    assert "Column 'n_words'" not in text


def test_mapped_ratings_keep_columns_with_known_names():
    path = table("t.csv", rated(coherence=[1, 5], mood=[2, 4], clarity=[3, 4]))
    result = fj.convert(path, columns={"value": "mood", "value:fluency": "clarity"})
    assert {label.aspect for label in result.labels} == {"coherence", "mood", "fluency"}
    result = fj.convert(path, columns={"value:coherence": "mood"})
    assert [label.value for label in result.labels if label.eid == "e0"] == [2, 4]


NAMES = ("summary_{}.txt", "{}-summary.md", "Output {}.txt", "generated.{}.txt")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", ["in", "in/corpus"])
def test_cluster_texts_are_named_after_systems(name, place):
    for eid in ("dam", "tram"):
        for n in (1, 2):
            write(f"{place}/{eid}/article{n}.txt", f"{TEXT} {eid} {n}")
        for system in ("gpt-4.1", "a_b"):
            write(f"{place}/{eid}/{name.format(system)}", f"{system} on {eid}")
        write(f"{place}/{eid}/reference.txt", "By people.")
    write("in/README.txt", "Notes.") if place != "in" else None
    rows = [{"event": e, "system": "gpt-4.1", "rater": "p", "tone": 3} for e in ("dam", "tram")]
    table("in/labels.csv", rows)
    for result in (fj.convert("in"), fj.convert(place, "in/labels.csv")):
        assert result.counts()["clusters"] == "2 clusters, 4 articles (2 each)"
        assert [cluster.eid for cluster in result.clusters] == ["dam", "tram"]
        assert {(summary.eid, summary.system) for summary in result.summaries} == {
            (eid, system) for eid in ("dam", "tram") for system in ("gpt-4.1", "a_b", "reference")
        }
        assert {(label.eid, label.system) for label in result.labels} == {
            ("dam", "gpt-4.1"), ("tram", "gpt-4.1"),
        }  # fmt: skip
        assert not result.warnings


def test_labels_on_unknown_systems_or_clusters_are_named(cli):
    for eid in ("dam", "tram"):
        write(f"texts/{eid}/1.txt", TEXT + eid)
        write(f"texts/{eid}/summary_gpt.txt", "A summary.")
    rows = [
        {"story": eid, "system": system, "rater": "p", "tone": 3}
        for eid in ("dam", "tram", "fair") for system in ("gpt", "lama")
    ]  # fmt: skip
    text = " ".join(cli("convert", "texts", table("l.csv", rows), "-o", "data").out.split())
    assert "labels refer to 1 system that no summary is by: 'lama'. The texts have 'gpt'" in text
    assert (
        "labels refer to 1 cluster that no text is of: 'fair'. The texts have 'dam', 'tram'" in text
    )
    for eid in ("dam", "tram"):
        Path(f"texts/{eid}/summary_gpt.txt").rename(f"texts/{eid}/2.txt")
    text = " ".join(cli("convert", "texts", "l.csv", "-o", "new").out.split())
    assert "labels are of summaries by 'gpt', 'lama', but no summary was read" in text


@pytest.mark.parametrize("form", [{"verdict": "{}"}, {"verdict": ["{}"], "meta": {"x": "{}"}}])
def test_mapped_word_missing_from_all_cells_raises(form):
    import json

    words = ("Agree", "Neither agree nor disagree", "Disagree")
    rows = [
        json.loads(json.dumps({"eid": n, "system": "s", "text": "A text."} | form).replace("{}", w))
        for n, w in enumerate(words)
    ]
    Path("r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    numbers = dict(zip(words, (3, 2, 1), strict=True))
    result = fj.convert("r.jsonl", columns={"value": "verdict"}, values=numbers)
    assert [label.value for label in result.labels] == [3, 2, 1]
    numbers["Neither agree or disagree"] = numbers.pop(words[1])
    with pytest.raises(ConfigurationError) as error:
        fj.convert("r.jsonl", columns={"value": "verdict"}, values=numbers)
    text = str(error.value)
    assert "no cell contains 'Neither agree or disagree'" in text
    assert "did you mean 'Neither agree nor disagree'" in text
    assert "--" not in text


def test_columns_of_texts_are_named_with_their_systems(cli):
    texts = {"summary_gpt": "By one system", "Llama summary": "By two of them"}
    rows = [
        {"event": n, "article": f"{TEXT} {n}"} | {k: v + n for k, v in texts.items()} for n in "ab"
    ]
    text = " ".join(cli("convert", table("w.csv", rows), "-o", "data").out.split())
    assert "text:gpt=summary_gpt,text:Llama=Llama summary" in text
