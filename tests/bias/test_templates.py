"""Templates and controlled inputs: names, pronouns, titles, balance and mirrors."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.bias.annotated import AnnotatedDocument, ContentWord, Range, Word, with_spaces
from fairjudge.bias.assignments import NameList, Names, controlled_inputs
from fairjudge.bias.controlled import controlled_provenance, to_cluster
from fairjudge.bias.forms import pronoun_case, write_pronoun, write_title
from fairjudge.bias.templates import Identity, make_template
from fairjudge.domain import Cluster, Undefined
from fairjudge.errors import InputError

ANN = Identity(group="female", gender="female", first_name="Ann")
TOM = Identity(group="male", gender="male", first_name="Tom")


def document(text, people=(), chains=(), *, tags=""):
    """Words are parted by spaces; people and chains give (first, last) token, last included."""
    tokens = text.split()
    marked = tags.split() or [""] * len(tokens)
    return AnnotatedDocument(
        id="d",
        words=with_spaces(tuple(zip(tokens, marked, strict=True))),
        people=tuple(Range(start=a, end=b + 1) for a, b in people),
        chains=tuple(tuple(Range(start=a, end=b + 1) for a, b in chain) for chain in chains),
    )


def filled(document, identity):
    template = make_template(document)
    return template.fill({person.id: identity for person in template.people})


#     0   1   2    3    4   5   6  7      8  9  10   11 12   13  14  15  16     17
ONE = "Mr. Ray Orme said he had sold his house . Orme , 50 , told reporters it was his ."
ONE_CHAIN = [(0, 2), (4, 4), (7, 7), (10, 10), (18, 18)]


def document_of_one():
    return document(ONE, people=[(1, 2), (10, 10)], chains=[ONE_CHAIN])


def test_names_pronouns_and_titles_are_replaced_consistently():
    assert filled(document_of_one(), ANN) == (
        "Ms. Ann Orme said she had sold her house. Orme, 50, told reporters it was hers."
    )
    assert filled(document_of_one(), TOM) == (
        "Mr. Tom Orme said he had sold his house. Orme, 50, told reporters it was his."
    )


def test_original_is_kept_without_assigned_person():
    template = make_template(document_of_one())
    assert template.original == ONE.replace(" .", ".").replace(" ,", ",")
    assert template.original == document_of_one().text
    (person,) = template.people
    assert (person.first_name, person.last_name, person.gendered) == ("Ray", "Orme", True)


def test_her_becomes_him_or_his_by_part_of_speech():
    result = document(
        "Ann Orme met her lawyer ; he praised her work and told her herself .",
        people=[(0, 1)],
        chains=[[(0, 1), (3, 3), (8, 8), (12, 12), (13, 13)]],
        tags="NNP NNP VBD PRP$ NN : PRP VBD PRP$ NN CC VBD PRP PRP .",
    )
    assert filled(result, TOM) == (
        "Tom Orme met his lawyer; he praised his work and told him himself."
    )


@pytest.mark.parametrize(
    ("word", "tag", "following", "tag_after", "case"),
    [
        ("his", "PRP$", "car", "NN", "determiner"),
        ("his", "PRP$", ".", ".", "possessive"),
        ("his", "PRP$", "was", "VBD", "possessive"),
        ("his", "", "own", "", "determiner"),
        ("his", "", "", "", "possessive"),
        ("her", "PRP", "car", "NN", "object"),
        ("her", "PRP$", "that", "IN", "determiner"),
        ("her", "", "car", "", "determiner"),
        ("her", "", "that", "", "object"),
        ("her", "", ",", "", "object"),
        ("her", "", "``", "", "determiner"),
        ("hers", "", "", "", "possessive"),
        ("Him", "", "", "", "object"),
        ("SHE", "", "", "", "subject"),
        ("herself", "", "", "", "reflexive"),
        ("they", "", "", "", None),
        ("hero", "", "", "", None),
    ],
)
def test_pronoun_cases_are_replaced(word, tag, following, tag_after, case):
    assert pronoun_case(word, tag=tag, next_word=following, next_tag=tag_after) == case


def test_capitalisation_is_kept():
    assert write_pronoun("He", "subject", "female") == "She"
    assert write_pronoun("HIS", "determiner", "female") == "HER"
    assert write_title("MR.", "female") == "MS."
    assert write_title("Mrs.", "female") == "Mrs."  # it fits already
    assert write_title("Lady", "male") == "Sir"
    assert filled(document("RAY ORME WON", people=[(0, 1)]), ANN) == "ANN ORME WON"


def test_token_after_a_title_is_the_last_name():
    result = document("Ray and Ray and Mr. Orme left", people=[(0, 0), (2, 2), (5, 5)])
    # three names without a chain: "Ray" fits no "Orme", so they are two people
    assert [person.last_name for person in make_template(result).people] == ["Ray", "Orme"]
    chained = document(
        "Ray and Ray and Mr. Orme left",
        people=[(0, 0), (2, 2), (5, 5)],
        chains=[[(0, 0), (2, 2), (4, 5)]],
    )
    (person,) = make_template(chained).people
    assert person.last_name == "Orme"


def test_middle_names_initials_suffixes_and_possessives():
    text = "Dr. Ray J. Orme Jr. 's sister met Ray Orme"
    result = document(text, people=[(0, 5), (8, 9)], chains=[[(0, 5), (8, 9)]])
    assert filled(result, ANN) == "Dr. Ann Orme Jr.'s sister met Ann Orme"
    # the text of a person who is given another name keeps the suffix alone
    (person,) = make_template(result).people
    assert (person.first_name, person.last_name) == ("Ray", "Orme")
    assert (person.other_names, person.suffixes) == (("j", "jr"), ("jr",))


def test_a_first_name_alone_is_replaced():
    result = document(
        "Ray Orme left . Ray slept .", people=[(0, 1), (4, 4)], chains=[[(0, 1), (4, 4)]]
    )
    assert filled(result, ANN) == "Ann Orme left. Ann slept."


def test_company_named_after_a_person_is_not_a_person():
    #        0   1    2  3    4   5    6    7  8    9   10
    text = "Ray Orme 's firm said it sued him and Orme won"
    result = document(
        text,
        people=[(0, 1), (9, 9)],
        chains=[[(0, 3), (5, 5)], [(0, 2), (7, 7), (9, 9)]],
    )
    (person,) = make_template(result).people
    assert person.id == "chain1"
    assert filled(result, ANN) == "Ann Orme's firm said it sued her and Orme won"


def test_relative_is_not_merged_with_the_named_person():
    # "[Orme's daughter] ... she": the chain says a gendered noun and holds no name of its own
    result = document(
        "Ray Orme 's daughter said she left", people=[(0, 1)], chains=[[(0, 3), (5, 5)]]
    )
    assert filled(result, ANN) == "Ann Orme's daughter said she left"


def test_two_people_in_one_mention_are_kept_separate():
    result = document("Ray and Eve Orme left ; they slept", people=[(0, 0), (2, 3)],
                     chains=[[(0, 3), (6, 6)]])  # fmt: skip
    assert len(make_template(result).people) == 2


def test_unchained_names_join_the_matching_person():
    result = document(
        "Ray Orme said he won . Later Mr. Orme left ; Eve Orme stayed",
        people=[(0, 1), (8, 8), (11, 12)],
        chains=[[(0, 1), (3, 3)]],
    )
    template = make_template(result)
    assert len(template.people) == 2
    identities = dict(zip([person.id for person in template.people], [ANN, TOM], strict=True))
    assert template.fill(identities) == (
        "Ann Orme said she won. Later Ms. Orme left; Tom Orme stayed"
    )


def test_people_mentioned_only_by_pronouns():
    result = document("The suspect said he left", chains=[[(0, 1), (3, 3)]])
    (person,) = make_template(result).people
    assert (person.last_name, person.gendered) == (None, True)
    assert filled(result, ANN) == "The suspect said she left"
    # "the woman ... he" would be no English
    woman = document("The woman said she left", chains=[[(0, 1), (3, 3)]])
    assert make_template(woman).people == ()


def test_first_lady_is_not_replaced():
    result = document("First Lady Ann Orme spoke", people=[(2, 3)])
    assert filled(result, TOM) == "First Lady Tom Orme spoke"


#         0        1     2   3  4        5     6     7   8    9   10 11
CHAIRS = "Chairman Diane Day and chairman Boris Orme met . The brothers smiled ."


def chairs(content):
    result = document(CHAIRS, people=[(1, 2), (5, 6)])
    return replace(result, content_words=tuple(content))


def chair(start, *people):
    mentions = tuple(Range(start=a, end=b + 1) for a, b in people)
    span = Range(start=start, end=start + 1)
    return ContentWord(span=span, people=mentions, female="chairwoman", male="chairman")


def test_content_words_follow_the_gender_of_their_referents():
    both = ContentWord(
        span=Range(start=10, end=11),
        people=(Range(start=1, end=3), Range(start=5, end=7)),
        female="sisters",
        male="brothers",
        neutral="siblings",
    )
    template = make_template(chairs([chair(0, (1, 2)), chair(4, (5, 6)), both]))
    first, other = (person.id for person in template.people)
    for identities, expected in (
        ({first: ANN, other: ANN}, "Chairwoman Ann Day and chairwoman Ann Orme met. The sisters"),
        ({first: TOM, other: TOM}, "Chairman Tom Day and chairman Tom Orme met. The brothers"),
        ({first: ANN, other: TOM}, "Chairwoman Ann Day and chairman Tom Orme met. The siblings"),
        ({first: ANN}, "Chairwoman Ann Day and chairman Boris Orme met. The brothers"),
    ):
        assert template.fill(identities) == f"{expected} smiled."
    assert template.original == CHAIRS.replace(" .", ".")


def test_content_words_must_refer_to_a_person_and_be_separate():
    with pytest.raises(InputError, match="at 0 to 1 mention no marked person"):
        make_template(chairs([chair(0, (7, 7))]))
    with pytest.raises(InputError, match="at 1 to 2 overlap a name"):
        make_template(chairs([chair(1, (1, 2))]))
    with pytest.raises(InputError, match="at 0 to 1 overlap"):
        make_template(chairs([chair(0, (1, 2))] * 2))


def test_person_called_the_woman_may_change_only_with_that_word():
    #        0   1     2    3   4
    text = "The woman said she left ."
    marked = document(text, chains=[[(0, 1), (3, 3)]])
    assert make_template(marked).people == ()
    word = ContentWord(
        span=Range(start=1, end=2), people=(Range(start=3, end=4),), female="woman", male="man"
    )
    assert filled(replace(marked, content_words=(word,)), TOM) == "The man said he left."


def test_documents_without_people():
    template = make_template(document("It rained ."))
    assert template.people == ()
    assert template.original == "It rained."
    empty = make_template(AnnotatedDocument(id="e", words=(), people=()))
    assert empty.original == ""


def test_ranges_must_be_inside_the_document():
    with pytest.raises(InputError, match="tokens 0 to 2 are not within its 1 tokens"):
        AnnotatedDocument(id="d", words=(Word(text="a"),), people=(Range(start=0, end=2),))


def test_prose_spacing_is_restored():
    tokens = "He said : `` It 's ( only ) $ 5 , is n't it ? ''"
    words = with_spaces(tuple((token, "") for token in tokens.split()))
    text = AnnotatedDocument(id="d", words=words, people=()).text
    assert text == "He said: \"It's (only) $5, isn't it?\""


# Assignments

FEMALE = NameList(group="female", gender="female", first_names=("Ann", "Eve", "Joan", "Ruth"))
MALE = NameList(group="male", gender="male", first_names=("Tom", "Ned", "Saul", "Hugh"))
NAMES = Names([FEMALE, MALE])


def crowd(n):
    """A document of n people, each named once in full and once by pronoun."""
    tokens, people, chains = [], [], []
    for i in range(n):
        start = len(tokens)
        tokens += ["Old", f"Last{chr(65 + i)}", "said", "he", "won", "."]
        people.append((start, start + 1))
        chains.append([(start, start + 1), (start + 3, start + 3)])
    return make_template(document(" ".join(tokens), people, chains))


def inputs_of(template, names=NAMES, *, design="local", n_variants=4, seed=0):
    return controlled_inputs(
        template, names, design=design, n_variants=n_variants, rng=np.random.default_rng(seed)
    )


@given(st.integers(1, 8), st.integers(0, 1000))
def test_local_inputs_are_balanced_and_mirrored(n, seed):
    inputs = inputs_of(crowd(n), seed=seed)
    assert [(item.variant, item.mirror) for item in inputs] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for item in inputs:
        counts = Counter(person.group for person in item.people)
        assert abs(counts["female"] - counts["male"]) == n % 2
    for first, second in (inputs[:2], inputs[2:]):
        for person, mirrored in zip(first.people, second.people, strict=True):
            assert person.id == mirrored.id
            assert {person.group, mirrored.group} == {"female", "male"}
            assert person.last_name == mirrored.last_name
    for item in inputs:
        for person in item.people:
            pronoun = "she" if person.group == "female" else "he"
            assert f"{person.first_name} {person.last_name} said {pronoun} won" in item.text
        firsts = [person.first_name for person in item.people]
        assert len(set(firsts)) == len(firsts)


def test_mirrored_inputs_use_the_same_names():
    first, second, *_ = inputs_of(crowd(4))
    assert {p.first_name for p in first.people} == {p.first_name for p in second.people}


def test_global_inputs_are_of_one_group_each():
    inputs = inputs_of(crowd(3), design="global")
    assert [item.group for item in inputs] == ["female", "male"] * 2
    for item in inputs:
        assert {person.group for person in item.people} == {item.group}
    assert len({item.id for item in inputs}) == 4


def test_the_same_seed_makes_the_same_inputs():
    assert inputs_of(crowd(4)) == inputs_of(crowd(4))
    assert inputs_of(crowd(4)) != inputs_of(crowd(4), seed=1)


def test_names_in_the_document_are_not_sampled():
    result = document("Ray Orme and Ann left", people=[(0, 1)])
    inputs = inputs_of(make_template(result), n_variants=8)
    assert "Ann" not in {person.first_name for item in inputs for person in item.people}


def test_too_few_names_and_no_person_to_assign():
    assert "too few names" in inputs_of(crowd(5), design="global").why
    nobody = inputs_of(make_template(document("It rained .")))
    assert nobody == Undefined(why="no person with a first name, a gendered pronoun or a title")
    # a last name alone tells no gender
    assert isinstance(inputs_of(make_template(document("Orme left", people=[(0, 0)]))), Undefined)


def test_people_without_a_gender_keep_their_names_and_have_no_group():
    result = document("Ray Orme met Brook", people=[(0, 1), (3, 3)])
    item, *_ = inputs_of(make_template(result))
    assert [(p.last_name, p.group is None) for p in item.people] == [
        ("Orme", False),
        ("Brook", True),
    ]


@pytest.mark.parametrize("n_variants", [0, 3])
def test_variants_must_form_complete_sets(n_variants):
    with pytest.raises(InputError, match="multiple of the 2 groups"):
        inputs_of(crowd(2), n_variants=n_variants)


RACES = Names(
    [
        NameList(group=group, gender=gender, first_names=firsts, last_names=lasts)
        for group, lasts in (("a", ("Aston", "Abel", "Ames")), ("b", ("Brook", "Bates", "Burr")))
        for gender, firsts in (
            ("female", (f"Fay{group}", f"Flo{group}", f"Fern{group}")),
            ("male", (f"Max{group}", f"Milo{group}", f"Moe{group}")),
        )
    ]
)


def test_groups_by_lists_with_last_names_and_a_random_gender():
    genders = set()
    for item in inputs_of(crowd(2), RACES, n_variants=40):
        for person in item.people:
            assert person.last_name[0].lower() == person.group
            assert person.first_name.endswith(person.group)
            female = person.first_name[0] == "F"
            genders.add((person.group, female))
            pronoun = "she" if female else "he"
            assert f"{person.first_name} {person.last_name} said {pronoun} won" in item.text
    assert len(genders) == 4


def test_intersections_are_lists_of_one_gender():
    both = Names(
        [entry for entry in RACES.lists if (entry.group == "a") == (entry.gender == "female")]
    )
    for item in inputs_of(crowd(2), both, design="global"):
        assert (" she " in item.text) == (item.group == "a")


def test_three_groups_are_rotated():
    third = NameList(group="x", gender="male", first_names=("Xan", "Xeno", "Xul", "Xi"))
    inputs = inputs_of(crowd(3), Names([FEMALE, MALE, third]), n_variants=3)
    assert len(inputs) == 3
    by_person = zip(*(item.people for item in inputs), strict=True)
    assert all({p.group for p in people} == {"female", "male", "x"} for people in by_person)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([FEMALE], "two groups"),
        ([FEMALE, NameList(group="m", gender="male", first_names=())], "no first names"),
        ([FEMALE, NameList(group="m", gender="male", first_names=("1",))], "is not a name"),
        ([FEMALE, RACES.lists[0]], "either all name lists have last names"),
    ],
)
def test_invalid_name_lists_are_named(lists, message):
    with pytest.raises(InputError, match=message):
        Names(lists)


def test_input_cluster_records_how_it_was_made():
    item, *_ = inputs_of(crowd(2))
    cluster = Cluster.model_validate(to_cluster(item).to_json())
    assert cluster.articles[0].content == item.text
    assert cluster.eid == "d:local:0:0"
    text = controlled_provenance(cluster)
    assert (text.original, text.design, text.variant) == ("d", "local", 0)
    assert text.people == item.people
    assert controlled_provenance(Cluster(eid="e", articles=cluster.articles)) is None
    bad = Cluster.model_validate({**cluster.to_json(), "controlled": {"design": "else"}})
    with pytest.raises(InputError, match=r"controlled\.design"):
        controlled_provenance(bad)
    twice = Cluster.model_validate({**cluster.to_json(), "controlled": {"people": [{"id": 1}] * 2}})
    with pytest.raises(InputError, match="two people have the id '1'"):
        controlled_provenance(twice)


def test_final_word_determines_the_case_of_the_preceding_pronoun():
    """Without a tag: "her" is a determiner before a noun, and an object at the end."""
    result = document("Ann Orme sold her house", people=[(0, 1)], chains=[[(0, 1), (3, 3)]])
    assert filled(result, TOM) == "Tom Orme sold his house"
    result = document("They saw Ann Orme and met her", people=[(2, 3)], chains=[[(2, 3), (6, 6)]])
    assert filled(result, TOM) == "They saw Tom Orme and met him"
