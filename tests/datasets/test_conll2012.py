"""CoNLL-2012 documents; the sample is written by hand in the layout of the shared task."""

import pytest

from fairjudge.bias.annotated import Range
from fairjudge.datasets.conll2012 import read_conll2012
from fairjudge.errors import InputError


def row(number, word, pos, entity="*", chain="-", speaker="-"):
    columns = ["nw/x", "0", str(number), word, pos, "(S*)", "-", "-", "-", speaker, entity, chain]
    return "   ".join(columns)


# The firm of Mr. Orme sues him, and he wins:
# chain 3 is Orme; chain 7 is the firm, whose mention holds one of Orme's
ROWS = [
    row(0, "Mr.", "NNP", chain="(7|(3"),
    row(1, "Ray", "NNP", "(PERSON*", speaker="Ann#1"),
    row(2, "Orme", "NNP", "*)"),
    row(3, "'s", "POS", chain="3)"),
    row(4, "firm", "NN", chain="7)"),
    row(5, "sued", "VBD"),
    row(6, "him", "PRP", chain="(3)"),
    row(7, "-LRB-", "-LRB-"),
    row(8, "/.", "."),
    "",
    row(0, "Orme", "NNP", "(PERSON)", "(3)"),
    row(1, "won", "VBD"),
]
TEXT = "\n".join(["#begin document (nw/x); part 002", *ROWS, "", "#end document", ""])


def write(tmp_path, text):
    path = tmp_path / "x.v4_gold_conll"
    path.write_text(text)
    return path


def words(document, span):
    return tuple(word.text for word in document.words[span.start : span.end])


def test_a_document_with_nested_mentions(tmp_path):
    text = TEXT.replace(row(5, "sued", "VBD"), row(5, "Acme", "NNP", "(ORG)"))
    (document,) = read_conll2012(write(tmp_path, text))
    assert document.id == "nw/x.2"
    assert len(document.words) == 11
    assert [words(document, span) for span in document.people] == [("Ray", "Orme"), ("Orme",)]
    firm, orme = document.chains
    assert [words(document, span) for span in firm] == [("Mr.", "Ray", "Orme", "'s", "firm")]
    assert [words(document, span) for span in orme] == [
        ("Mr.", "Ray", "Orme", "'s"),
        ("him",),
        ("Orme",),
    ]
    assert firm[0].contains(orme[0])
    assert not orme[0].contains(firm[0])


def test_escapes_and_parts_of_speech(tmp_path):
    (document,) = read_conll2012(write(tmp_path, TEXT))
    assert words(document, Range(start=7, end=9)) == ("(", ".")
    assert document.words[6].tag == "PRP"


def test_nested_mentions_of_one_chain(tmp_path):
    rows = [row(0, "he", "PRP", chain="(1|(1)"), row(1, "himself", "PRP", chain="1)")]
    text = "\n".join(["#begin document (d); part 000", *rows, "#end document"])
    (document,) = read_conll2012(write(tmp_path, text))
    assert document.chains == ((Range(start=0, end=2), Range(start=0, end=1)),)


def test_several_parts_and_crlf(tmp_path):
    path = tmp_path / "x.conll"
    path.write_bytes((TEXT + TEXT.replace("part 002", "part 003")).replace("\n", "\r\n").encode())
    assert [document.id for document in read_conll2012(path)] == ["nw/x.2", "nw/x.3"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("#end document", "", r":1: the file is cut off"),
        ("#begin document (nw/x); part 002\n", "", r":1: expected '#begin document"),
        ("; part 002", "", r":1: expected '#begin document"),
        ("(7|(3", "(3", r":6: closing bracket without an open mention of chain 7"),
        ("7)", "-", r":11: the sentence ends within a mention of chain 7"),
        ("7)", "seven", r":6: expected a coreference cell such as '\(12\)', found 'seven'"),
        ("*)", "*", r":11: the sentence ends within a named entity"),
        ("(PERSON*", "*", r":4: closing bracket without an open named entity"),
        ("*)", "(ORG)", r":4: a named entity begins within another"),
        ("   -   -   -   -   *   (3)", "", r":8: expected at least 12 columns, found 6"),
        ("#end document", "#begin document (y); part 000", r":15: a document begins before"),
    ],
)
def test_invalid_file_error_names_the_line(tmp_path, old, new, message):
    # 6 columns: the parse column stands before the four that are cut
    path = write(tmp_path, TEXT.replace("(S*)", "(S_)").replace(old, new, 1))
    if message is None:
        assert len(read_conll2012(path)) == 1
        return
    with pytest.raises(InputError, match=message):
        read_conll2012(path)


def test_other_file_type_raises(tmp_path):
    with pytest.raises(InputError, match=":1: expected '#begin document"):
        read_conll2012(write(tmp_path, '{"eid": "e"}\n'))
    with pytest.raises(InputError, match="the file has no documents"):
        read_conll2012(write(tmp_path, "# a comment\n"))
