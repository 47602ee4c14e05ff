"""A bias measure that is added to its registry appears everywhere, and moves no other figure."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fairjudge.api import bias
from fairjudge.bias.entity_analysis import ENTITIES, EntityMeasure
from fairjudge.bias.registry import FAMILIES
from fairjudge.bias.representation import DISTINGUISHABILITY, GroupCredit, GroupCreditMeasure
from fairjudge.bias.resampling import shares
from fairjudge.bias.word_lists import WORDS, IdentifierCounts, WordMeasure
from fairjudge.cli._main import app
from fairjudge.errors import StatisticsError

DOCS = Path(__file__).parents[2] / "docs"

PEOPLE = {
    "female": {"first_name": "Ann", "last_name": "Orme", "text": "She met Ann Orme in town."},
    "male": {"first_name": "Tom", "last_name": "Reed", "text": "He met Tom Reed in town."},
}


def person(group):
    person = {key: PEOPLE[group][key] for key in ("first_name", "last_name")}
    return {"id": group, "group": group, **person}


# Both people are in every source; summaries of one original are of inputs about either.
CLUSTERS = [
    {
        "eid": f"{original}-{variant}",
        "articles": [{"aid": "1", "content": " ".join(item["text"] for item in PEOPLE.values())}],
        "controlled": {
            "original": f"d{original}",
            "variant": variant,
            "group": ("female", "male")[variant % 2],
            "people": [person("female"), person("male")],
        },
    }
    for original in range(6)
    for variant in range(4)
]
# A summary names the other person, "Zed Quill", in the first original alone.
SUMMARIES = [
    {
        "eid": cluster["eid"],
        "system": system,
        "text": PEOPLE[group]["text"] if system == "one" or n % 3 else "They met in town.",
        "people": [
            *([f"{person(group)['first_name']} {person(group)['last_name']}"] if n % 3 else []),
            *(["Zed Quill"] if n < 4 else []),
        ],
    }
    for system in ("one", "other")
    for n, cluster in enumerate(CLUSTERS)
    for group in [cluster["controlled"]["group"]]
]

NAMES = [
    {"group": "female", "gender": "female", "first_names": ["Ann", "Zed"]},
    {"group": "male", "gender": "male", "first_names": ["Tom"]},
]

TOYS = {
    "words": WordMeasure(
        key="female_share",
        label="Share of Female Words",
        units=IdentifierCounts.units,
        corpus_formula=lambda counts, sums: shares(sums[:, : len(counts.groups)])[:, 0],
        axis_label="share of words",
        note="0.5 is even.",
    ),
    "entities": EntityMeasure(
        key="named",
        label="Share of People Named",
        units=lambda counts: counts.people.units(),
        corpus_formula=lambda _, sums: sums[:, :2].sum(axis=1) / sums[:, 2:].sum(axis=1),
    ),
    "distinguishability": GroupCreditMeasure(
        key="accuracy",
        label="Accuracy of Guesses",
        units=GroupCredit.units,
        corpus_formula=lambda _, sums: sums[:, 0] / sums[:, 2],
    ),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in {"clusters": CLUSTERS, "summaries": SUMMARIES}.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        Path(f"{name}.jsonl").write_text(text, encoding="utf-8")
    Path("names.json").write_text(json.dumps(NAMES), encoding="utf-8")

    def invoke(*arguments):
        result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return result.stdout

    return invoke


MORE = {
    "words": (),
    "entities": ("--names", "names.json"),
    "distinguishability": ("--representation", "counts"),
}


def measured(run, family):
    """Return the command's tables, and its JSON, which is left in a file of its name."""
    files = ("clusters.jsonl", "--summaries", "summaries.jsonl", "--json", f"{family}.json")
    result = run("bias", family, *files, *MORE[family], "--resamples", "200")
    return result, json.loads(Path(f"{family}.json").read_text("utf-8"))


def values(family):
    arguments = {
        "words": {},
        "entities": {"names": "names.json"},
        "distinguishability": {"representation": "counts"},
    }
    call = getattr(bias, family)
    return call("clusters.jsonl", "summaries.jsonl", n_resamples=200, **arguments[family])


def figures(family, system):
    """Return what holds a system's measures."""
    return system["counts"] if family == "distinguishability" else system


def test_every_measuring_command_has_a_registry():
    assert list(FAMILIES) == list(TOYS)


@pytest.mark.parametrize("family", FAMILIES)
def test_registered_measure_appears_in_every_output(run, family):
    toy = TOYS[family]
    with FAMILIES[family].adding(toy):
        output, results = measured(run, family)
        assert toy.label in output
        for system in results["systems"].values():
            figure = figures(family, system)[toy.key]
            assert figure["low"] <= figure["value"] <= figure["high"]
        run("report", f"{family}.json", "-o", "page.html")
        assert Path("page.html").read_text("utf-8").count(toy.label) >= 2  # a table and a plot
        called = values(family)
        assert {"one", "other"} == called["systems"].keys()
        of_toy = [
            row for row in called.table() if row["figure"].endswith(toy.key.replace("_", " "))
        ]
        assert len(of_toy) == 2
        assert all(row["low"] is not None for row in of_toy)
        assert any(toy.label in table.title for table in called.tables())


def test_toy_measures_match_values_by_hand(run):
    with WORDS.adding(TOYS["words"]):
        _, results = measured(run, "words")
    # "one": 12 summaries of She and 12 of He; "other" has lost a third, the 0th, 3rd ... of 24:
    # n = 0, 6, 12, 18 of She (even n), and 3, 9, 15, 21 of He, so 8 and 8 are left
    for name, n in (("one", 12), ("other", 8)):
        system = results["systems"][name]
        assert [item["n_summary"] for item in system["by_group"].values()] == [n, n]
        assert system["female_share"]["value"] == pytest.approx(0.5)
    with ENTITIES.adding(TOYS["entities"]):
        _, results = measured(run, "entities")
    # 16 of 24 summaries name one person each, of 48 in the sources
    assert results["systems"]["one"]["named"]["value"] == pytest.approx(16 / 48)


@pytest.mark.parametrize("family", FAMILIES)
def test_added_measure_changes_no_other_result(run, family):
    shown_before, before = measured(run, family)
    with FAMILIES[family].adding(TOYS[family]):
        output, after = measured(run, family)
    for system in after["systems"].values():
        del figures(family, system)[TOYS[family].key]
    assert after == before
    assert set(shown_before.splitlines()) <= set(output.splitlines())


@pytest.mark.parametrize("family", FAMILIES)
def test_json_without_a_measure_is_displayed(run, family):
    measured(run, family)  # as an earlier version wrote it, without the measure
    with FAMILIES[family].adding(TOYS[family]):
        run("report", f"{family}.json", "-o", "page.html")
    page = Path("page.html").read_text("utf-8")
    assert TOYS[family].label not in page
    label = next(iter(FAMILIES[family])).label
    assert label in page


def test_measure_without_value_has_a_reason(run):
    silent = WordMeasure(
        key="silent",
        label="Silent",
        units=IdentifierCounts.units,
        corpus_formula=lambda _, sums: np.full(len(sums), np.nan),
        why=lambda counts: f"nothing of {len(counts.groups)} groups",
    )
    with WORDS.adding(silent):
        output, results = measured(run, "words")
    assert results["systems"]["one"]["silent"]["why"] == "nothing of 2 groups"
    assert "one: no score: nothing of 2 groups." in output


def test_keys_and_names_are_unique():
    with pytest.raises(StatisticsError, match="two words measures are called 'inclusion'"):
        WORDS.adding(TOYS["words"].__class__(
            key="inclusion", label="X", units=IdentifierCounts.units, corpus_formula=lambda _, s: s
        )).__enter__()  # fmt: skip
    labels = [measure.label for family in FAMILIES.values() for measure in family]
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("page", ["bias.md"])
def test_docs_list_every_measure(page):
    text = (DOCS / page).read_text("utf-8").lower()
    for family in FAMILIES.values():
        for measure in family.shown:
            name = measure.label.lower().removeprefix("entity ").removeprefix("word-list ")
            assert name in text, f"docs/{page} does not name {measure.label}"


def test_json_docs_list_every_key():
    text = (DOCS / "bias.md").read_text("utf-8").partition("## JSON")[2]
    for measures in (WORDS, ENTITIES, DISTINGUISHABILITY):
        for measure in measures:
            is_documented = f'"{measure.key}"' in text or f"`{measure.key}`" in text
            assert is_documented, f"docs/bias.md does not name {measure.key}"
