"""Attribute values: everything unusual is counted and named."""

import pytest

from fairjudge.domain import Cluster
from fairjudge.errors import InputError
from fairjudge.fairness.values import label_corpus


def cluster(eid, values, *, name="party"):
    return Cluster.model_validate(
        {
            "eid": eid,
            "articles": [
                {"aid": str(i), "content": "text", "attributes": {} if v is None else {name: v}}
                for i, v in enumerate(values)
            ],
        }
    )


def test_values_are_sorted_and_kept_by_document():
    corpus = label_corpus([cluster("a", ["left", "right", "left"])], attribute="party")
    assert corpus.values == ("left", "right")
    assert corpus.sets[0].labels == ("left", "right", "left")
    assert corpus.sets[0].exclusion is None


@pytest.mark.parametrize("unknown", [None, "", "  ", "unknown", "N/A", "Unknown"])
def test_missing_and_unknown_values_are_counted_and_named(unknown):
    corpus = label_corpus([cluster("a", ["left", unknown, "right"])], attribute="party")
    assert corpus.sets[0].labels == ("left", None, "right")
    assert "1 document without a known 'party' was excluded: a/1" in corpus.notes


def test_sets_without_two_values_have_a_reason():
    corpus = label_corpus(
        [
            cluster("one", ["left", "left"]),
            cluster("single", ["right"]),
            cluster("none", [None, None]),
            cluster("half", ["left", None]),
        ],
        attribute="party",
    )
    assert [s.exclusion for s in corpus.sets] == [
        "one_value", "one_value", "no_values", "one_value",
    ]  # fmt: skip


def test_unknown_attribute_error_lists_existing_ones():
    with pytest.raises(InputError, match=r"no article has attribute 'gender'.*'party'"):
        label_corpus([cluster("a", ["left"])], attribute="gender")


def test_attribute_without_known_values_raises():
    with pytest.raises(InputError, match="no known value"):
        label_corpus([cluster("a", ["unknown", ""])], attribute="party")


def test_ratings_are_categories_with_a_note():
    corpus = label_corpus([cluster("a", [1, 5, 5.0, 3])], attribute="party")
    assert corpus.values == ("1", "3", "5")
    assert any("numbers, read as categories" in note for note in corpus.notes)


def test_booleans_become_words():
    assert label_corpus([cluster("a", [True, False])], attribute="party").values == (
        "false", "true",
    )  # fmt: skip


def test_many_distinct_numbers_raise_with_a_remedy():
    with pytest.raises(InputError, match=r"12 different values from 0 to 11; give cut points"):
        label_corpus([cluster("a", list(range(12)))], attribute="party")


def test_bins_group_numbers_and_cut_points_belong_to_the_upper_bin():
    corpus = label_corpus(
        [cluster("a", [0, 9.5, 10, 19, 20, 99])], attribute="party", bins=(10, 20)
    )
    assert corpus.sets[0].labels == (
        "below 10", "below 10", "10 to below 20", "10 to below 20", "20 or more", "20 or more",
    )  # fmt: skip
    assert any("grouped by the cut points" in note for note in corpus.notes)


def test_bins_must_be_increasing_and_need_numbers():
    with pytest.raises(InputError, match="increasing"):
        label_corpus([cluster("a", [1, 2])], attribute="party", bins=(3, 1))
    with pytest.raises(InputError, match="'left'"):
        label_corpus([cluster("a", [1, "left"])], attribute="party", bins=(1,))


def test_fifty_values_are_read_and_rare_ones_named():
    corpus = label_corpus([cluster("a", [f"v{i:02}" for i in range(50)])], attribute="party")
    assert len(corpus.values) == 50
    assert any(
        note.startswith("held by fewer than 5 documents: 50 of 50 values") for note in corpus.notes
    )


def test_duplicate_clusters_raise():
    with pytest.raises(InputError, match="duplicate eid 'a'"):
        label_corpus([cluster("a", ["x"]), cluster("a", ["y"])], attribute="party")


@pytest.mark.parametrize(
    ("n", "ending"), [(2, "2 of 2 values: 'v00', 'v01'"), (10, "'v09'"), (11, "'v09' and 1 more")]
)
def test_ten_rare_values_are_named_and_the_others_counted(n, ending):
    corpus = label_corpus([cluster("a", [f"v{i:02}" for i in range(n)])], attribute="party")
    (note,) = [note for note in corpus.notes if note.startswith("held by fewer than 5 documents")]
    assert note.endswith(ending)


@pytest.mark.parametrize(("n_held", "rare"), [(4, True), (5, False)])
def test_value_with_five_documents_is_not_rare(n_held, rare):
    values = ["x"] * n_held + ["y"] * 9
    corpus = label_corpus([cluster("a", values)], attribute="party")
    assert any("'x'" in note for note in corpus.notes) == rare


def test_up_to_ten_distinct_numbers_are_categories():
    ten = label_corpus([cluster("a", list(range(10)))], attribute="party")
    assert len(ten.values) == 10
    with pytest.raises(InputError, match="bins"):
        label_corpus([cluster("a", list(range(11)))], attribute="party")
