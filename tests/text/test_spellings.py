"""Attribute values as people spell them."""

from __future__ import annotations

import pytest

from fairjudge.calibration.baselines import document_groups
from fairjudge.domain import Cluster
from fairjudge.fairness.values import label_corpus
from fairjudge.summaries.requirements import Requirements
from fairjudge.text.spellings import spellings_of, with_labels


def cluster(values: list[object], eid: str = "e") -> Cluster:
    articles = [
        {"aid": str(n), "content": "text", "attributes": {"party": value}}
        for n, value in enumerate(values)
    ]
    return Cluster.model_validate({"eid": eid, "articles": articles})


def labels(values: list[object]) -> tuple[str | None, ...]:
    return label_corpus([cluster(values)], attribute="party").sets[0].labels


@pytest.mark.parametrize(
    ("values", "label"),
    [
        (["Green", "green", "GREEN ", "Green\u00a0", "Green"], "Green"),  # the commonest
        (["GREEN", "Green", "green"], "Green"),  # of equally common ones, not in capitals alone
        (["gr\u00adeen", "green", "green"], "green"),
        (["far-left", "far\u2011left", "far-left"], "far-left"),
        ([5, "5", "5.0", 5.0], "5"),
        (["5", "5.0", "5"], "5"),
        ([True, "true", "True", " TRUE "], "true"),
        (["Straße", "STRASSE", "Straße"], "Straße"),
    ],
)
def test_spellings_of_a_value_are_merged(values, label):
    assert set(labels([*values, "other"])) == {label, "other"}


def test_zero_and_one_are_booleans_only_among_booleans():
    assert labels([True, 0, "False", 1]) == ("true", "false", "false", "true")
    assert set(labels([True, 0, 1, 2])) == {"true", "0", "1", "2"}


@pytest.mark.parametrize(
    "unknown",
    [None, "", " ", "None", "none", "-", "?", "<NA>", "n/a", "N/A", "null", "NaN", "\u2014"],
)
def test_words_for_missing_values_are_unknown(unknown):
    assert labels(["left", unknown, "right"]) == ("left", None, "right")


@pytest.mark.parametrize(
    "values",
    [
        ["left", "centre-left"],
        ["007", "7"],
        ["1234567890123456789", "1234567890123456788"],
        ["NA", "EU"],
        ["A+", "A"],
        ["1", "-1"],
    ],
)
def test_other_values_are_kept_separate(values):
    assert len(set(labels(values))) == 2


def test_note_lists_merged_spellings():
    corpus = label_corpus([cluster(["Green", "green", "Green", 5, "5.0"])], attribute="party")
    (note,) = [note for note in corpus.notes if "spellings" in note]
    assert note == (
        "spellings of 'party' read as one value each: '5' (also written '5.0'), "
        "'Green' (also written 'green')"
    )
    clean = label_corpus([cluster(["left", "right", 5, True])], attribute="party")
    assert not any("spellings" in note for note in clean.notes)


def test_numeric_strings_are_grouped_by_cut_points():
    corpus = label_corpus([cluster(["5", 12, "7.5"])], attribute="party", bins=(10,))
    assert corpus.sets[0].labels == ("below 10", "10 or more", "below 10")


def test_numeric_strings_are_categories_for_any_number_of_values():
    assert len(set(labels([str(n) for n in range(20)]))) == 20


def test_documents_are_grouped_by_value_not_spelling():
    result = document_groups(
        [cluster(["Green", "green", "blue"], "x"), cluster(["?", "blue"], "y")]
    )
    assert result == {}  # y has no majority
    result = document_groups([cluster(["Green", "green", "blue"], "x"), cluster(["BLUE"], "y")])
    assert result == {"party": {"x": "Green", "y": "blue"}}  # one label over all documents


def test_a_value_has_one_label_over_all_clusters():
    result = with_labels([cluster(["Green", None], "x"), cluster(["green", "green"], "y")])
    assert [dict(a.attributes) for item in result for a in item.articles] == [
        {"party": "green"}, {}, {"party": "green"}, {"party": "green"},
    ]  # fmt: skip


def test_fairness_instruction_lists_each_value_once():
    articles = cluster(["Green", "green", "-", "हिन्दी"]).articles
    text = Requirements(fair_attribute="party").instructions(articles, max_tokens=500)
    assert "(Green: 2, हिन्दी: 1)" in text


def test_normalisation_does_not_depend_on_order():
    values = ["a", "A", "b ", 1, "1.0", True]
    assert spellings_of(values).values == spellings_of(reversed(values)).values
