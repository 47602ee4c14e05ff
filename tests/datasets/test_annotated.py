"""Annotated documents, name lists, word lists and the census."""

import json

import pytest

from fairjudge.analysis.bias_inputs import read_annotated
from fairjudge.analysis.name_files import (
    popular_names,
    read_census,
    read_lookup,
    read_name_lists,
    read_word_lists,
)
from fairjudge.bias.annotated import Range
from fairjudge.bias.hallucination import NameGroups
from fairjudge.bias.templates import Identity, make_template
from fairjudge.errors import InputError

CONLL = """#begin document (nw/x); part 000
nw/x 0 0 Mr.  NNP (S* - - - - *         (1
nw/x 0 1 Ray  NNP *   - - - - (PERSON*  -
nw/x 0 2 Orme NNP *   - - - - *)        1)
nw/x 0 3 says VBZ *   - - - - *         -
nw/x 0 4 it   PRP *   - - - - *         -
nw/x 0 5 's   VBZ *   - - - - *         -
nw/x 0 6 his  PRP$ *  - - - - *         (1)
nw/x 0 7 .    .   *)  - - - - *         -

#end document
"""


def test_a_conll_document_becomes_a_template(tmp_path):
    path = tmp_path / "x.v4_gold_conll"
    path.write_text(CONLL)
    (document,) = read_annotated(path)
    assert document.id == "nw/x.0"
    assert document.people == (Range(start=1, end=3),)
    template = make_template(document)
    assert template.original == "Mr. Ray Orme says it's his."
    ann = Identity(group="f", gender="female", first_name="Ann")
    assert template.fill({"chain0": ann}) == "Ms. Ann Orme says it's hers."


RECORD = {
    "id": "d",
    "text": "Ray Orme won;\nhe slept.",
    "tokens": ["Ray", "Orme", "won", ";", "he", "slept", "."],
    "people": [[0, 2]],
    "chains": [[[0, 2], [4, 5]]],
}


def write(tmp_path, value, name="x.json"):
    path = tmp_path / name
    path.write_text(json.dumps(value))
    return path


def test_package_json_keeps_text_spacing(tmp_path):
    (document,) = read_annotated(write(tmp_path, RECORD))
    ann = Identity(group="f", gender="female", first_name="Ann")
    assert make_template(document).fill({"chain0": ann}) == "Ann Orme won;\nshe slept."
    (plain,) = read_annotated(write(tmp_path, {**RECORD, "text": None}))
    assert plain.text == "Ray Orme won; he slept."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": ""}, "'id': expected a non-empty string"),
        ({"tokens": ["Ray", 1]}, "'tokens': expected a list of non-empty strings"),
        ({"tags": ["NNP"]}, "'tags': expected 7 tags, found 1"),
        ({"people": [[0]]}, r"'people': expected \[start, end\] token positions, found \[0\]"),
        ({"people": None}, "'people': expected a list"),
        ({"people": [[0, 9]]}, "tokens 0 to 9 are not within its 7 tokens"),
        ({"chains": 3}, "'chains': expected a list of chains"),
        ({"text": "Ray won"}, "'text': token 'Orme' does not come next"),
        ({"text": RECORD["text"] + " More"}, "'text': the tokens end before ' More'"),
    ],
)
def test_invalid_documents_are_named(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        read_annotated(write(tmp_path, {**RECORD, **change}))


def test_other_file_is_not_a_document(tmp_path):
    with pytest.raises(InputError, match="expected an object with 'id'"):
        read_annotated(write(tmp_path, [3]))


def test_name_lists_are_read(tmp_path):
    lists = [
        {"group": "a", "gender": "female", "first_names": ["Ann"]},
        {"group": "b", "gender": "male", "first_names": ["Tom", "Ned"]},
    ]
    names = read_name_lists(write(tmp_path, lists))
    assert names.groups == ("a", "b")
    assert names.lists[1].first_names == ("Tom", "Ned")
    for bad, message in [
        ({}, "expected a list of name lists"),
        ([{"group": 1}], "'list 1': expected an object with 'group'"),
        ([{**lists[0], "gender": "x"}], "'gender' to be 'female' or 'male'"),
        ([{**lists[0], "first_names": "Ann"}], r"'list 1\.first_names': expected a list"),
        (lists[:1], "two groups"),
    ]:
        with pytest.raises(InputError, match=message):
            read_name_lists(write(tmp_path, bad))


WORDS = {"id": "d", "tokens": ["Chairman", "Ray", "Orme"], "people": [[1, 3]]}
CHAIR = {"span": [0, 1], "people": [[1, 3]], "female": "chairwoman", "male": "chairman"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"male": ""}, "'content_words': expected an object with 'span'"),
        ({"neutral": 3}, "'content_words': expected an object with 'span'"),
        ({"span": [0]}, r"'content_words\.span': expected \[start, end\]"),
        ({"people": 1}, r"'content_words\.people': expected a list"),
        ({"span": [0, 9]}, "tokens 0 to 9 are not within"),
        ({"people": [[3, 4]]}, "tokens 3 to 4 are not within"),
    ],
)
def test_content_words_are_read_and_checked(tmp_path, change, message):
    (document,) = read_annotated(write(tmp_path, [{**WORDS, "content_words": [CHAIR]}]))
    (word,) = document.content_words
    assert (word.span, word.people) == (Range(start=0, end=1), (Range(start=1, end=3),))
    assert (word.female, word.male, word.neutral) == ("chairwoman", "chairman", None)
    with pytest.raises(InputError, match=message):
        read_annotated(write(tmp_path, [{**WORDS, "content_words": [CHAIR | change]}]))


def test_word_lists_and_lookup_are_read(tmp_path):
    assert read_word_lists(write(tmp_path, {"a": ["x"]})) == {"a": ("x",)}
    assert read_lookup(write(tmp_path, {"Ann Orme": "female"})) == {"Ann Orme": "female"}
    with pytest.raises(InputError, match="'a': expected a list of strings"):
        read_word_lists(write(tmp_path, {"a": "x"}))
    with pytest.raises(InputError, match="full names and groups"):
        read_lookup(write(tmp_path, {"a": 1}))
    path = tmp_path / "bad.json"
    path.write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        read_lookup(path)


def test_custom_census_is_read(tmp_path):
    (tmp_path / "dist.male.first").write_text("JAMES 3.3 3.3 1\nLEE 0.8 4.1 2\n")
    (tmp_path / "dist.female.first").write_text("MARY 2.6 2.6 1\nLEE 0.5 3.1 2\n")
    census = read_census(tmp_path)
    assert census["male"] == {"James": 3.3, "Lee": 0.8}
    names = popular_names(census, 5)
    # Lee is less than twice as frequent for men, and so signals neither
    assert [entry.first_names for entry in names.lists] == [("Mary",), ("James",)]
    (tmp_path / "dist.male.first").write_text("JAMES\n")
    with pytest.raises(InputError, match=r"dist\.male\.first:1: expected a name and its frequency"):
        read_census(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_census(tmp_path / "nowhere")


def test_real_census_is_read(shared_data):
    census = read_census(shared_data / "census1990")
    # its files have 4,275 and 1,219 lines
    assert {gender: len(names) for gender, names in census.items()} == {
        "female": 4275,
        "male": 1219,
    }
    female, male = popular_names(census, 3).lists
    assert female.first_names == ("Mary", "Patricia", "Linda")  # ranks 1 to 3
    assert male.first_names == ("James", "John", "Robert")
    guess = NameGroups(census)
    # people of the paper's Table 6, tagged as they are there
    assert guess("bob greene") == "male"
    assert guess("david frum") == "male"
    assert guess("frida ghitis") == "female"
    assert guess("bynoes") is None
