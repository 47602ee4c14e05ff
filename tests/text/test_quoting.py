"""Quotes are found as whole words, through differences that do not matter, and no further."""

from __future__ import annotations

import random
import time

import pytest

from fairjudge.text.quoting import Span, _distances, find_quote, unwrap

TEXT = (
    "The dam failed on Monday.\n\n“We were   not told,” said the mayor – twice. "
    "Repairs will cost $3.2 million, the council’s engineers think."
)


def quoted(quote: str, text: str = TEXT) -> str | None:
    span = find_quote(quote, text)
    return None if span is None else text[span.start : span.end]


@pytest.mark.parametrize(
    ("quote", "passage"),
    [
        ("The dam failed on Monday.", "The dam failed on Monday."),
        ("the dam failed", "The dam failed"),
        ('"We were not told," said the mayor', "“We were   not told,” said the mayor"),
        ("'We were not told'", "We were   not told"),
        ("said the mayor - twice", "said the mayor – twice"),
        ("the council's engineers", "the council’s engineers"),
        ("Repairs will cost $3.2 million...", "Repairs will cost $3.2 million"),
        ("on Monday. “We were", "on Monday.\n\n“We were"),
    ],
)
def test_spaces_quotes_dashes_and_case_are_ignored(quote: str, passage: str) -> None:
    span = find_quote(quote, TEXT)
    assert span is not None
    assert span.edits == 0
    assert TEXT[span.start : span.end] == passage


@pytest.mark.parametrize("marks", ['""', "''", "“”", "‘’", "«»", "„“", "``"])
@pytest.mark.parametrize(
    "quote", ["it’s raining", '"it\'s raining"', "'it's raining'", '"it’s raining']
)
def test_quotation_marks_around_a_quote_are_ignored(marks: str, quote: str) -> None:
    assert quoted(quote, f"He said {marks[0]}it’s raining{marks[1]} there.") == "it’s raining"


@pytest.mark.parametrize("quote", ["", " ", "...", '"', "—", "he", "dam fail", "mayor said"])
def test_only_whole_words_match(quote: str) -> None:
    assert find_quote(quote, TEXT) is None


def test_quote_is_replaced_by_the_nearest_passage() -> None:
    span = find_quote("Repairs would cost $3.2 million, the council engineers think", TEXT)
    assert span is not None
    assert span.edits == 5  # "ould" and "ill": 3; "\u2019s": 2
    assert TEXT[span.start : span.end] == (
        "Repairs will cost $3.2 million, the council’s engineers think"
    )


def test_at_most_10_percent_of_characters_may_differ() -> None:
    text = "aaaa bbbb cccc dddd"  # 19 characters: one may differ
    assert quoted("aaaa bbbb cccc dddx", text) == text
    assert quoted("aaaa bbbb cccx dddx", text) is None


def test_partial_words_are_completed_and_the_edits_count() -> None:
    assert quoted("prices increase", "and prices increased again") == "prices increased"  # 1 of 15
    assert quoted("no", "they know it") is None
    assert quoted("a cat sat on the mat today", "the cat sat on the mat today") == (
        "cat sat on the mat today"
    )


def test_a_false_sentence_of_true_words_is_not_found() -> None:
    text = "The senator praised the mayor. The union blamed the council."
    assert quoted("The union praised the mayor.", text) is None
    assert quoted("The senator blamed the council.", text) is None


def test_passages_always_contain_words() -> None:
    assert find_quote("Go " + "=+" * 20, "No words: " + "=+" * 20 + " here.") is None
    assert quoted("Go " + "=+" * 20, "Do " + "=+" * 20 + " here.") == "Do " + "=+" * 20


def test_marks_and_scripts() -> None:
    assert quoted("Café Zoé", "au Cafe\u0301 Zoe\u0301 hier") == "Cafe\u0301 Zoe\u0301"
    assert quoted("大雨", "昨天大雨不停") == "大雨"
    assert quoted("ﬁnal word", "the final word") == "final word"
    assert quoted("soft hyphen", "a soft hy\u00adphen here") == "soft hy\u00adphen"


def test_first_match_is_returned() -> None:
    assert find_quote("one", "none one one") == Span(start=5, end=8, edits=0)


def _edit_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def test_distances_match_the_full_edit_table() -> None:
    rng = random.Random(7)
    for _ in range(60):
        pattern = "".join(rng.choices("abc", k=rng.randint(1, 9)))
        text = "".join(rng.choices("abc", k=rng.randint(0, 12)))
        for end, distance in _distances(pattern, text, anywhere=True):
            nearest = min(_edit_distance(pattern, text[at:end]) for at in range(end + 1))
            assert distance == nearest
        for end, distance in _distances(pattern, text, anywhere=False):
            assert distance == _edit_distance(pattern, text[:end])


def test_extreme_lengths_are_fast() -> None:
    began = time.process_time()
    assert quoted("ab " * 30_000 + "c", "ab " * 20_000) is None
    assert quoted("xyz " * 490, "xyw " * 5_000) is None
    assert quoted("a" * 999, "a" * 20_000) is None
    assert time.process_time() - began < 30


@pytest.mark.parametrize(
    ("given_text", "unwrapped_text"),
    [
        ('"probably not."', "probably not."),
        ('"probably not.', "probably not."),
        ('"A" and "B"', '"A" and "B"'),
        ('He said "no" to it', 'He said "no" to it'),
        ("\u201cno\u201d ", "no"),
        ("**Who?**", "Who?"),
    ],
)
def test_only_enclosing_marks_are_removed(given_text: str, unwrapped_text: str) -> None:
    assert unwrap(given_text) == unwrapped_text


def edits(letters: str, other: str) -> int:
    """Return Levenshtein's distance, by the table."""
    above = list(range(len(other) + 1))
    for place, a in enumerate(letters, 1):
        row = [place]
        for column, b in enumerate(other, 1):
            row.append(min(above[column] + 1, row[-1] + 1, above[column - 1] + (a != b)))
        above = row
    return above[-1]


def nearest_of_all(quote: str, text: str) -> int | None:
    """Return the least distance of `quote` to any run of whole words, None beyond a tenth."""
    bounds = [0, *(n for n, letter in enumerate(text) if letter == " ")]
    ends = [*(n for n, letter in enumerate(text) if letter == " "), len(text)]
    passages = [text[a:b].strip() for a in bounds for b in ends if a < b]
    best = min(edits(quote, passage) for passage in passages if passage)
    return best if best <= len(quote) * 0.1 + 1e-9 else None


@pytest.mark.parametrize("seed", range(60))
def test_nearest_passage_matches_exhaustive_search(seed: int) -> None:
    rng = random.Random(seed)
    words = ["".join(rng.choices("abc", k=rng.randint(1, 6))) for _ in range(14)]
    text = " ".join(words)
    first = rng.randrange(0, 6)
    quote = list(" ".join(words[first : first + rng.randint(3, 8)]))
    for _ in range(rng.randint(0, 3)):
        place = rng.randrange(1, len(quote) - 1)
        match rng.randrange(3):
            case 0:
                quote[place] = "x"
            case 1:
                quote.insert(place, "y")
            case _:
                del quote[place]
    query = " ".join("".join(quote).split())
    span = find_quote(query, text)
    nearest = nearest_of_all(query, text)
    assert (None if span is None else span.edits) == nearest
    if span is not None:
        passage = text[span.start : span.end]
        assert passage == passage.strip()
        assert edits(query, passage) == span.edits
        assert f" {passage} " in f" {text} "


@pytest.mark.parametrize(
    ("quote", "text", "passage"),
    [
        ("abc", "กabcก", "abc"),  # Thai puts no space between words
        ("abc", "กabcd", None),
        ("洪水", "大洪水来了", "洪水"),
        ("x1", "x12", None),
        ("12", "x 12.", "12"),
    ],
)
def test_word_boundaries_follow_the_script(quote: str, text: str, passage: str | None) -> None:
    assert quoted(quote, text) == passage


@pytest.mark.parametrize(("quote", "text"), [("ab", "ab洪水"), ("ab", "洪ab"), ("洪", "a洪b")])
def test_unspaced_script_ends_adjacent_words(quote: str, text: str) -> None:
    assert quoted(quote, text) == quote
