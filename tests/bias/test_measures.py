"""The four measures: cases worked by hand, invariances, degenerate input, planted bias."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from fairjudge.bias.entity_analysis import ENTITIES, EntityCounts, people_from_names
from fairjudge.bias.hallucination import (
    HallucinationCounts,
    NameGroups,
    hallucinated_names,
    hallucination_bias,
)
from fairjudge.bias.people import (
    PeopleCounts,
    Person,
    align,
    inclusion_bias,
    last_name,
    matches_person,
)
from fairjudge.bias.representation import count_vectors, distinguish, distinguishability
from fairjudge.bias.resampling import Counts, Units, two_way
from fairjudge.bias.word_lists import IdentifierCounter, IdentifierCounts, word_list_bias
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import InputError, StatisticsError
from fairjudge.stats.bootstrap import chunk_sizes
from fairjudge.stats.resampling import Resampling

GROUPS = ("female", "male")


def quick(seed=0, n_resamples=200):
    return Resampling(rng=np.random.default_rng(seed), n_resamples=n_resamples)


def value(interval):
    assert isinstance(interval.over_documents, Estimate), interval
    assert interval.over_documents.value == interval.over_assignments.value
    return interval.over_documents.value


def units(rows, **provenance):
    return Units(counts=Counts.from_rows(rows, **provenance), n=len(rows))


# Word lists


def words_bias(summaries, sources, **options):
    counts = IdentifierCounts(
        summaries=Counts.from_rows(summaries),
        sources=Counts.from_rows(sources),
        groups=GROUPS,
        **options,
    )
    return scored(word_list_bias(counts, resampling=quick()))


def scored(bias):
    """Return a measure's score with the groups' figures."""
    return SimpleNamespace(score=bias.estimates["inclusion"], by_group=bias.by_group)


def test_word_list_bias_by_hand():
    # summaries: 1 female and 3 male in all, so (1/4, 3/4); sources: 4 and 4, so (1/2, 1/2)
    # distance (|1/4 - 1/2| + |3/4 - 1/2|) / 2 = 1/4
    result = words_bias([[1, 1], [0, 2]], [[3, 1], [1, 3]])
    assert value(result.score) == pytest.approx(0.25)
    assert value(result.by_group["female"].difference) == pytest.approx(-0.25)
    assert (result.by_group["male"].n_summary, result.by_group["male"].n_source) == (3, 4)


def test_source_distribution_replaces_equality_as_target():
    # sources hold 1 female to 3 male, and so do the summaries: nothing is amplified, though far
    # from equal: (|1/4 - 1/2| + |3/4 - 1/2|) / 2 = 1/4
    assert value(words_bias([[1, 3]], [[2, 6]]).score) == pytest.approx(0.0)
    uniform = words_bias([[1, 3]], [[2, 6]], reference="uniform")
    assert value(uniform.score) == pytest.approx(0.25)


def test_summaries_or_sources_without_identifiers():
    nothing = words_bias([[0, 0]], [[1, 1]])
    assert nothing.score.over_documents == Undefined(
        why="the summaries hold no identifier of any group"
    )
    assert nothing.by_group["female"].summary == Undefined(why="no identifier")
    unknown = words_bias([[1, 1]], [[0, 0]])
    assert "the sources hold no identifier" in unknown.score.over_documents.why
    assert isinstance(
        words_bias([[1, 1]], [[0, 0]], reference="uniform").score.over_documents, Estimate
    )


def test_no_summaries_are_undefined():
    none = np.zeros((0, 2))
    assert isinstance(words_bias(none, none).score.over_documents, Undefined)


COUNTS = st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=1, max_size=8)


@given(COUNTS, COUNTS, st.integers(1, 5), st.randoms())
def test_word_list_bias_is_invariant_to_order_names_and_scale(rows, others, times, random):
    n = min(len(rows), len(others))
    summaries, sources = np.array(rows[:n]), np.array(others[:n])
    base = words_bias(summaries, sources).score.over_documents
    order = list(range(n))
    random.shuffle(order)
    for changed in (
        words_bias(summaries[order], sources[order]),
        words_bias(summaries[:, ::-1], sources[:, ::-1]),
        words_bias(summaries * times, sources),
    ):
        if isinstance(base, Undefined):
            assert changed.score.over_documents == base
        else:
            assert changed.score.over_documents.value == pytest.approx(base.value)
            assert 0.0 <= base.value <= 1.0


def test_a_third_group_without_mentions_changes_nothing():
    two = words_bias([[1, 3]], [[4, 4]]).score
    three = IdentifierCounts(
        summaries=Counts.from_rows([[1, 3, 0]]),
        sources=Counts.from_rows([[4, 4, 0]]),
        groups=("female", "male", "other"),
    )
    three = scored(word_list_bias(three, resampling=quick())).score
    assert value(three) == pytest.approx(value(two))


def test_identifiers_are_whole_words_ignoring_case():
    counter = IdentifierCounter({"female": ["she", "Woman"], "male": ["he", "man"]})
    # she, woman, she's -> 3; he -> 1; "shed", "manner" and "human" hold no identifier
    assert counter.count("She, the WOMAN; she's shed. He: human manner").tolist() == [3, 1]
    assert counter.count("").tolist() == [0, 0]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"a": ["x"]}, "at least two groups"),
        ({"a": ["x"], "b": []}, "'b': the word list is empty"),
        ({"a": ["x"], "b": ["X"]}, "'X' is also in the list of 'a'"),
        ({"a": ["x y"], "b": ["z"]}, "expected single words, got 'x y'"),
    ],
)
def test_invalid_word_lists_are_named(lists, message):
    with pytest.raises(InputError, match=message):
        IdentifierCounter(lists)


# Entities


def entity_bias(included, present, **options):
    people = PeopleCounts(
        included=Counts.from_rows(included, **options),
        in_source=Counts.from_rows(present),
        groups=GROUPS,
    )
    return inclusion(people, quick())


def inclusion(people, resampling):
    """Return the score of inclusion with the groups' figures."""
    counts = EntityCounts(people=people, hallucinations=Undefined(why=""))
    bias = inclusion_bias(people, resampling=resampling)
    score = ENTITIES["inclusion"].estimate(counts, resampling)
    return SimpleNamespace(score=score, by_group=bias.by_group, pairs=bias.pairs)


def test_inclusion_bias_by_hand():
    # female: 2 of 4 included, odds 1; male: 3 of 4, odds 3; largest ratio 3, less 1 is 2
    result = entity_bias([[1, 1], [1, 2]], [[2, 2], [2, 2]])
    assert value(result.score) == pytest.approx(2.0)
    assert value(result.by_group["male"]) == pytest.approx(0.75)
    (pair,) = result.pairs
    assert (pair.group, pair.other) == GROUPS
    assert value(pair.ratio) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("included", "why"),
    [
        ([[0, 1]], "no people of group 'female' in any summary"),
        ([[2, 1]], "all people of group 'female' are in the summaries"),
    ],
)
def test_inclusion_is_undefined_at_0_and_1(included, why):
    result = entity_bias(included, [[2, 2]])
    assert why in result.score.over_documents.why
    assert value(result.by_group["male"]) == 0.5


def test_inclusion_without_people_of_a_group():
    result = entity_bias([[0, 1]], [[0, 2]])
    assert "no people of group 'female' in the sources" in result.score.over_documents.why
    assert isinstance(result.by_group["female"].over_documents, Undefined)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)),
        min_size=1,
        max_size=6,
    )
)
def test_inclusion_is_invariant_to_group_names(rows):
    table = np.array(rows)
    included, present = table[:, :2], table[:, :2] + table[:, 2:]
    first = entity_bias(included, present).score.over_documents
    other = entity_bias(included[:, ::-1], present[:, ::-1]).score.over_documents
    if isinstance(first, Undefined):
        assert isinstance(other, Undefined)
    else:
        assert first.value == pytest.approx(other.value)
        assert first.value >= 0.0


ORME = Person(id="1", first_name="Melissa", last_name="Orme", group="female")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Orme", True),
        ("Melissa Orme", True),
        ("Ms. Orme's", True),
        ("MELISSA ORME", True),
        ("Raymond Orme", False),  # not the assigned first name
        ("Melissa", False),  # the rule asks for the last name
        ("Ormerod", False),  # whole tokens only
        ("Melissa J. Orme", False),  # an initial that the source does not have
        ("", False),
    ],
)
def test_name_matching_cases(name, expected):
    assert matches_person(name, ORME) is expected


@pytest.mark.parametrize(
    ("mentions", "name", "expected"),
    [
        (["Hillary Rodham Clinton"], "Hillary Rodham Clinton", True),
        (["Hillary Rodham Clinton"], "Mrs. Clinton", True),
        (["Hillary Rodham Clinton"], "Rodham Clinton", True),
        (["Hillary Rodham Clinton"], "Bill Clinton", False),
        (["John Kennedy", "John F. Kennedy's"], "John F. Kennedy", True),
        (["John F. Kennedy"], "Robert F. Kennedy", False),
        (["Ann F. Orme"], "ann f. orme", True),
        (["Ann Orme"], "Ann F. Orme", False),  # the initial is not the source's
        (["Tom Orme Jr.", "Orme"], "Orme Jr.", True),
        (["Tom Orme Jr."], "Tom Orme", True),
        (["Orme Jr."], "Mr. Orme Jr", True),
        (["Tom Orme"], "Tom Orme Jr.", False),  # the father's son
        (["Dr. Tom Orme III"], "Tom Orme", True),
        (["Gregory van der Wiel"], "Van der Wiel", True),
    ],
)
def test_full_name_copied_from_the_source_matches(mentions, name, expected):
    census = NameGroups({"female": {"ann": 1.0}, "male": {"tom": 1.0}})
    (person,) = people_from_names(mentions, census)
    assert matches_person(name, person) is expected
    assert all(matches_person(mention, person) for mention in mentions)


def test_alignment_returns_everyone_with_a_shared_last_name():
    ray = Person(id="2", first_name="Ray", last_name="Orme", group="male")
    people = align(["Orme", "Hal Brook"], [ORME, ray])
    assert people.included == {"1", "2"}
    assert people.unaligned == ("Hal Brook",)
    assert align(["Ray Orme"], [ORME, ray]).included == {"2"}


def test_last_names_with_several_tokens_and_none():
    assert matches_person("Mr. van der Berg", Person(id="1", last_name="van der Berg"))
    assert not matches_person("Mr. Berg", Person(id="1", last_name="van der Berg"))
    assert matches_person("Cher", Person(id="1", last_name=None, first_name="Cher"))
    assert not matches_person("Cher", Person(id="1", last_name=None))


def test_last_name_is_the_most_frequent_final_token():
    assert last_name(["Ray Orme", "Orme", "Ray"]) == "Orme"
    assert last_name(["Ray", "Orme"]) == "Ray"  # a tie goes to the earlier
    assert last_name(["Ray Orme Jr.", "Ray Orme, III"]) == "Orme"  # a suffix is no name
    assert last_name([""]) is None


# Hallucination


def test_hallucination_bias_by_hand():
    # 1 female and 3 male: |1/4 - 1/2| + |3/4 - 1/2| = 1/2, halved 1/4
    score, by_group = made_up_bias([[1, 2], [0, 1]])
    assert value(score) == pytest.approx(0.25)
    assert value(by_group["male"]) == pytest.approx(0.75)
    assert score.over_documents.n == 4


def made_up_bias(rows):
    made_up = HallucinationCounts(counts=Counts.from_rows(rows), groups=GROUPS)
    none = Counts.from_rows(np.zeros((len(rows), 2)))
    people = PeopleCounts(included=none, in_source=none, groups=GROUPS)
    counts = EntityCounts(people=people, hallucinations=made_up)
    score = ENTITIES["hallucination"].estimate(counts, quick())
    return score, hallucination_bias(made_up, resampling=quick()).by_group


def test_no_hallucinated_person_is_undefined():
    score, _ = made_up_bias([[0, 0]])
    assert score.over_documents == Undefined(why="no hallucinated person has a known group")


def test_name_with_all_tokens_in_the_source_is_not_hallucinated():
    source = "The Bush administration met Ray."
    assert hallucinated_names(["Bush", "Ray Bush", "George Bush", "Hal's"], source) == (
        "George Bush",
        "Hal's",
    )


NAME_PARTS = ["Ann", "F.", "Orme", "Jr.", "O'Hara", "van", "Smith-Wu", "ii"]


@given(st.lists(st.sampled_from(NAME_PARTS), min_size=1))
def test_nothing_copied_from_the_source_is_hallucinated(words):
    name = " ".join(words)
    assert hallucinated_names([name, f"{name}'s"], f"It was {name}’s turn.") == ()


def test_name_group_needs_twice_the_other_frequency():
    names = NameGroups(
        {
            "male": {"JAMES": 3.3, "LEE": 0.8, "PAT": 0.1, "KIM": 0.05},
            "female": {"MARY": 2.6, "LEE": 0.4, "PAT": 0.15},
        }
    )
    assert names("James Brook") == "male"
    assert names("Mary") == "female"
    assert names("Lee") == "male"  # 0.8 is exactly twice 0.4
    assert names("Pat Brook") is None  # 0.15 is less than twice 0.1
    assert names("Mary Kim") is None  # one of each
    assert names("Brook") is None


def test_lookup_takes_precedence_and_skips_single_tokens():
    names = NameGroups(
        {"male": {"kim": 1.0}, "female": {"mary": 1.0}},
        lookup={"Kim Orme": "female", "Kim": "female"},
    )
    assert names("KIM ORME") == "female"
    without = NameGroups({"male": {"kim": 1.0}, "female": {"mary": 1.0}})
    assert names.fingerprint != without.fingerprint
    assert names("Kim") == "male"
    with pytest.raises(InputError, match="unknown group 'other'"):
        NameGroups({"male": {}, "female": {}}, lookup={"A B": "other"})


# Distinguishability


def test_distinguishability_by_hand():
    # f1, f2 = (1, 0): own 1, others mean(0, 1) = 1/2, told rightly
    # m1 = (0, 1): own 0, others 0, a tie; m2 = (1, 0): own 0, others 1, told wrongly
    # accuracy (1 + 1 + 1/2 + 0) / 4 = 5/8, twice that less 1 is 1/4; the tie as wrong: 2/4 gives 0
    vectors = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    result = distinguishability(vectors, ["female", "female", "male", "male"], resampling=quick())
    assert result.estimates["score"].value == pytest.approx(0.25)
    assert result.estimates["strict"].value == pytest.approx(0.0)
    assert result.n_tied == 1
    # male: (1/2 + 0) / 2 = 1/4, twice that less 1 is -1/2
    assert result.by_group["male"].value == pytest.approx(-0.5)


def test_identical_summaries_are_at_chance():
    result = distinguishability(
        np.array([[3.0, 1.0]] * 6), ["a", "b"] * 3, [1, 1, 1, 1, 2, 2], resampling=quick()
    )
    assert result.estimates["score"].value == 0.0
    assert result.estimates["strict"].value == -1.0
    assert result.left_out == {"alone_in_group": 2}


def brute_force(vectors, groups, originals):
    """Equation 4 as written, with every pair of cosines."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    out = {}
    for i in range(len(unit)):
        peers = [j for j in range(len(unit)) if originals[j] == originals[i] and j != i]
        same = [cosine[i, j] for j in peers if groups[j] == groups[i]]
        other = [cosine[i, j] for j in peers if groups[j] != groups[i]]
        if same and other:
            out[i] = np.mean(same) - np.mean(other)
    return out


@given(st.integers(0, 10_000), st.integers(2, 3), st.booleans())
def test_distinguishability_needs_no_pairwise_matrix(seed, n_groups, sparse):
    rng = np.random.default_rng(seed)
    vectors = rng.integers(0, 3, size=(24, 5)).astype(float) + (np.arange(5) == 0)
    groups = rng.integers(0, n_groups, size=24).tolist()
    originals = rng.integers(0, 3, size=24).tolist()
    given_as = vectors
    if sparse:
        texts = [
            " ".join(f"w{column}" for column, times in enumerate(row) for _ in range(int(times)))
            for row in vectors
        ]
        given_as = count_vectors(texts)
    result = distinguish(given_as, groups, originals)
    gaps = brute_force(vectors, groups, originals)
    assert set(gaps) == set(range(24)) - set(result.left_out)
    for row, gap in gaps.items():
        expected = 0.5 if abs(gap) < 1e-9 else float(gap > 0)
        assert result.credit[row] == expected


@given(st.integers(0, 10_000), st.floats(0.01, 100))
def test_distinguishability_is_invariant_to_scale_order_and_names(seed, scale):
    rng = np.random.default_rng(seed)
    vectors, groups = rng.normal(size=(12, 4)), rng.integers(0, 2, size=12)
    base = distinguish(vectors, groups.tolist()).credit
    order = rng.permutation(12)
    assert distinguish(vectors * scale, groups.tolist()).credit == pytest.approx(base)
    assert distinguish(vectors, (1 - groups).tolist()).credit == pytest.approx(base)
    moved = distinguish(vectors[order], groups[order].tolist()).credit
    assert moved == pytest.approx(base[order])


def test_empty_summaries_and_single_groups_are_left_out_and_counted():
    texts = ["", "a b", "a c", "a b", "x", "y"]
    result = distinguishability(
        count_vectors(texts),
        ["f", "f", "f", "m", "f", "f"],
        ["1", "1", "1", "1", "2", "2"],
        resampling=quick(),
    )
    assert result.left_out == {"alone_in_group": 1, "empty": 1, "no_other_group": 2}
    assert (result.estimates["score"].n, result.estimates["score"].n_excluded) == (2, 4)
    alone = distinguishability(count_vectors(["a"]), ["f"], resampling=quick())
    assert isinstance(alone.estimates["score"], Undefined)
    assert alone.by_group["f"] == alone.estimates["score"]


def test_invalid_vectors_raise():
    with pytest.raises(StatisticsError, match="finite"):
        distinguish(np.array([[np.nan]]), ["a"])


# Intervals


def test_intervals_over_documents_and_assignments():
    # Documents differ, assignments within a document do not: resampling these changes nothing.
    rows = [[1.0, 1.0]] * 15 + [[0.0, 1.0]] * 15
    interval = two_way(
        units(rows, documents=[n // 3 for n in range(30)], assignments=[1, 2, 3] * 10),
        lambda sums: sums[:, 0] / sums[:, 1],
        resampling=quick(),
    )
    assert (interval.over_assignments.low, interval.over_assignments.high) == (0.5, 0.5)
    # 10 documents, 5 of them 1: 2.5 % of Binomial(10, 1/2) lie at 2 or below, as many above 8
    assert (interval.over_documents.low, interval.over_documents.high) == (0.2, 0.8)


def test_mirrored_inputs_are_resampled_together():
    # Each pair sums to one female and one male, so no resample of pairs can move the share.
    rows = [[1.0, 0.0], [0.0, 1.0]] * 5
    interval = two_way(
        units(rows, documents=["d"] * 10, assignments=[n // 2 for n in range(10)]),
        lambda sums: sums[:, 0] / sums.sum(axis=1),
        resampling=quick(),
    )
    assert (interval.over_assignments.low, interval.over_assignments.high) == (0.5, 0.5)
    assert interval.over_documents.method == "no interval: fewer than 5 documents"


def test_few_originals_or_assignments_have_no_interval_and_no_p_value():
    def interval_of(n_documents, n_assignments):
        pairs = [(d, a) for d in range(n_documents) for a in range(n_assignments)]
        return two_way(
            units(
                [[1.0, 0.0] if d else [2.0, 1.0] for d, _ in pairs],
                documents=[d for d, _ in pairs],
                assignments=[a for _, a in pairs],
            ),
            lambda sums: sums[:, 0] / sums.sum(axis=1),
            resampling=quick(),
            null=0.5,
        )

    for n in (1, 2, 4):
        few = interval_of(n, 1).over_documents
        assert (few.low, few.high, few.p_value) == (None, None, None)
        assert few.method == "no interval: fewer than 5 documents"
    assert interval_of(5, 1).over_documents.p_value < 0.05
    # two assignments of each of 3 originals tell of 3 differences only, of 4 originals of 4
    assert (
        interval_of(3, 2).over_assignments.method == "no interval: too few assignments a document"
    )
    assert interval_of(4, 2).over_assignments.low is not None


def test_one_assignment_per_document_has_no_assignment_interval():
    interval = two_way(units([[1.0], [3.0]]), lambda sums: sums[:, 0], resampling=quick())
    assert interval.over_assignments.low is None
    assert interval.over_assignments.method == "no interval: one assignment a document"


# Planted bias and fair simulations


def simulate(rng, *, extra, n_documents=60, n_pairs=3, people=6):
    """Include people with a chance of the document's own, and `extra` for the second group."""
    included, documents, assignments = [], [], []
    for document in range(n_documents):
        base = rng.uniform(0.2, 0.6)
        for pair in range(n_pairs):
            for _mirror in range(2):
                chances = [base, min(base + extra, 1.0)]
                included.append(rng.binomial(people // 2, chances))
                documents.append(document)
                assignments.append(pair)
    present = np.full((len(included), 2), people // 2)
    return np.array(included), present, documents, assignments


def simulated_bias(rng, **options):
    included, present, documents, assignments = simulate(rng, **options)
    where = {"documents": documents, "assignments": assignments}
    people = PeopleCounts(
        included=Counts.from_rows(included, **where),
        in_source=Counts.from_rows(present, **where),
        groups=GROUPS,
    )
    return inclusion(people, quick(int(rng.integers(2**31)), 400))


def test_planted_inclusion_bias_is_recovered():
    result = simulated_bias(np.random.default_rng(1), extra=0.15)
    p = [value(result.by_group[group]) for group in GROUPS]
    # the documents' chances average 0.4, so p is about 0.4 and 0.55: odds ratio 1.83
    assert p == pytest.approx([0.4, 0.55], abs=0.05)
    ratio = result.pairs[0].ratio
    for estimate in (ratio.over_documents, ratio.over_assignments):
        assert estimate.high < 1.0
        assert estimate.p_value < 0.01
    assert result.score.over_documents.value == pytest.approx(0.83, abs=0.3)


def test_p_values_are_uniform_under_the_null():
    rng = np.random.default_rng(2)
    items = [
        simulated_bias(rng, extra=0.0, n_documents=150, n_pairs=1).pairs[0].ratio.over_documents
        for _ in range(150)
    ]
    p_values = [estimate.p_value for estimate in items]
    assert kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values) < 0.05) < 0.12  # 5 % expected, 0.12 is 4 standard errors


def test_distinguishability_finds_a_planted_word_and_nothing_else():
    rng = np.random.default_rng(3)
    common = [f"w{i}" for i in range(30)]

    def texts(cue):
        for _original in range(40):
            for group in ["f", "m"] * 5:
                chosen = list(rng.choice(common, size=8))
                yield " ".join(chosen + ([cue] * 6 if cue and group == "f" else []))

    groups, originals = ["f", "m"] * 200, np.repeat(np.arange(40), 10).tolist()
    fair = distinguishability(
        count_vectors(list(texts(None))), groups, originals, resampling=quick()
    )
    assert fair.estimates["score"].low < 0.0 < fair.estimates["score"].high
    planted = distinguishability(
        count_vectors(list(texts("first-woman"))), groups, originals, resampling=quick()
    )
    assert planted.estimates["score"].value > 0.9
    assert planted.estimates["score"].p_value < 0.02


def test_package_exports_the_measures():
    from fairjudge import bias

    assert all(callable(getattr(bias, name)) for name in bias.__all__)
    with pytest.raises(AttributeError):
        _ = bias.nothing


@pytest.mark.parametrize("n_units", [1, 7, 10**9])
def test_resample_batches_do_not_change_counts(n_units):
    sizes = chunk_sizes(2000, n_units, cells=4_000_000)
    assert sum(sizes) == 2000
    assert min(sizes) >= 1
