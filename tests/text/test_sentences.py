"""Sentence splitting: exact offsets, news punctuation, crawled line breaks, boilerplate."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairjudge.text.sentences import Span, is_boilerplate, news_sentences, split_sentences


def texts(source: str) -> list[str]:
    return [span.text for span in split_sentences(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", []),
        (" \n\n ... \n", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        (
            "Dr. Lee of Acme Inc. paid $5.50 on Jan. 5. Shares rose 8.5%. The U.S. economy shrank.",
            [
                "Dr. Lee of Acme Inc. paid $5.50 on Jan. 5.",
                "Shares rose 8.5%.",
                "The U.S. economy shrank.",
            ],
        ),
        ('"Really?" she asked. "Yes," he said.', ['"Really?" she asked.', '"Yes," he said.']),
        ("It ended 0-0 . arsenal won the cup .", ["It ended 0-0 .", "arsenal won the cup ."]),
        (
            "A heading\n\nThe first sentence. The next.",
            ["A heading", "The first sentence.", "The next."],
        ),
        ("- the first point\n- the second point", ["the first point", "the second point"]),
        ("1. The first point\n2. The second point", ["1. The first point", "2. The second point"]),
        (
            "This line is wrapped by a mail program at some seventy letters\nMonday it goes on.",
            ["This line is wrapped by a mail program at some seventy letters\nMonday it goes on."],
        ),
        ("Short line\nAnother line", ["Short line", "Another line"]),
        (
            "Café costs €5. “Naïve,” she said. 😀 Fine.",
            ["Café costs €5.", "“Naïve,” she said.", "😀 Fine."],
        ),
        ("One.\r\nTwo.\r\n", ["One.", "Two."]),
    ],
)
def test_splits_as_a_reader_would(source, expected):
    assert texts(source) == expected


@example("- \u2028ß")  # a bullet whose words stand on the next line
@given(st.text(alphabet=st.sampled_from(list("aB1 .!?\"'\n\r-•(),éß😀\u2028\x00"))))
def test_spans_are_verbatim_ordered_and_complete(source):
    spans = split_sentences(source)
    assert all(source[span.start : span.end] == span.text == span.text.strip() for span in spans)
    assert all(left.end <= right.start for left, right in itertools.pairwise(spans))
    covered = {i for span in spans for i in range(span.start, span.end)}
    lost = [c for i, c in enumerate(source) if i not in covered and c.isalpha()]
    assert not lost


@pytest.mark.parametrize(
    "line",
    [
        "We use cookies on this site to improve your experience.",
        "Please make sure your browser supports JavaScript and cookies.",
        "Read more: what the ruling means",
        "Sign up now to get our free breaking news coverage.",
        "By Ana Torres, Harbour Post",
        "Photo: Getty Images",
        "Copyright 2024 Harbour Post. All rights reserved.",
        "Ana Torres contributed to this report.",
        "Advertisement",
        "https://example.org/story",
        "***",
    ],
)
def test_page_furniture_is_boilerplate(line):
    assert is_boilerplate(line)


@pytest.mark.parametrize(
    "line",
    [
        "The court ruled that the site used cookies unlawfully for years.",
        "By Monday the river had fallen.",
        "Photographs of the bridge show deep cracks in the northern pier.",
        "Read the ruling aloud, the judge told the clerk.",
    ],
)
def test_news_mentioning_boilerplate_terms_is_kept(line):
    source = line
    assert news_sentences(source) == (Span(line, 0, len(line)),)


def test_headings_and_fragments_are_not_news():
    source = "Market Report For Monday\n\nShares fell by two percent on Monday.\n\nNo way."
    assert [span.text for span in news_sentences(source)] == [
        "Shares fell by two percent on Monday."
    ]


@pytest.mark.parametrize(
    ("line", "n_times"),
    [
        ("The council voted to raise the bridge on Monday", True),
        ("Council Votes To Raise Bridge", False),
        ("Council Raises The Bridge again", False),  # four of five
        ("Council Raises Bridge again", True),  # three of four
        ("to be or not", False),
        ("Council Votes To Raise Bridge.", True),
    ],
)
def test_capitalised_line_without_full_stop_is_a_heading(line, n_times):
    source = f"{line}\n\nThe man went home."
    assert [sentence.text for sentence in news_sentences(source)] == [line] * n_times + [
        "The man went home."
    ]
