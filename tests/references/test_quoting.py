"""A quote is what stands in its article, and nothing else."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.domain import Article
from fairjudge.references.replies import QuotableArticle

TITLE = "Fed raises rates again"
CONTENT = (
    "He said: \u201cThe Fed won\u2019t\u00a0  stop \u2014 not now.\u201d There is no evidence of "
    "a\nrecession, she says. Inflation is not primarily caused by the war in Ukraine. The Fed "
    "raised rates by 0.75 points in July."
)
ARTICLE = Article(aid="a", title=TITLE, content=CONTENT)


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("the Fed won't stop - not now.", "The Fed won\u2019t stop \u2014 not now."),
        ('"The Fed won\'t stop -- not now."', "The Fed won\u2019t stop \u2014 not now."),
        ("There is no evidence of a recession", "There is no evidence of a recession"),
        ("Fed raises rates", "Fed raises rates"),
        ("no evidence of a recessio", "no evidence of a recession"),
        # 2 of 43 characters differ: the article's number takes the place of the model's
        (
            "The Fed raised rates by 0.50 points in July",
            "The Fed raised rates by 0.75 points in July",
        ),
        # "not " is 4 edits, of 51 characters: the article's words take the place of the false ones
        (
            "Inflation is primarily caused by the war in Ukraine",
            "Inflation is not primarily caused by the war in Ukraine",
        ),
        ("The war in Ukraine is caused by the Fed", None),
        ("again He said", None),
        ("the Fed ... rates by 0.75 points", None),
        ("", None),
        ("...", None),
    ],
)
def test_quote_is_replaced_by_the_text_in_the_article(quote, stands):
    result = QuotableArticle(ARTICLE).find(quote)
    assert (result and result.text) == stands


def test_passage_has_its_position():
    whole = f"{TITLE}\n\n{CONTENT}"
    for quote in ("raises rates again", "the fed won't stop", "0.75 points in July"):
        result = QuotableArticle(ARTICLE).find(quote)
        assert " ".join(whole[result.start : result.end].split()) == result.text


def test_quote_is_located_in_the_part_with_fewer_edits():
    article = Article(aid="a", title="0123456789 0123456789", content="0123456789 012345x789")
    assert QuotableArticle(article).find("0123456789 012345y789").start == 23  # 1 edit in each
    assert QuotableArticle(article).find("0123456789 0123456789").start == 0
    same = Article(aid="a", title="The dam failed", content="The dam failed on Monday.")
    assert QuotableArticle(same).find("the dam failed").start == 16


def test_quote_needs_90_percent_matching_characters():
    article = Article(aid="a", content="before 0123456789 0123456789 after")
    assert QuotableArticle(article).find("0123x56789 0123456y89").text == "0123456789 0123456789"
    assert QuotableArticle(article).find("0123x56789 z123456y89") is None


@given(st.text(), st.text(), st.text())
def test_any_text_can_be_searched_in_any(quote, title, content):
    result = QuotableArticle(Article(aid="a", title=title, content=content)).find(quote)
    assert result is None or " ".join(result.text.split()) == result.text


def test_search_time_is_linear_in_article_length():
    def seconds(n):
        text = QuotableArticle(Article(aid="a", content="word and more " * n))
        begun = time.process_time()
        text.find("nothing of the kind was ever said by anybody in this place " * 3)
        return time.process_time() - begun

    seconds(100)
    assert min(seconds(8000) for _ in range(3)) < 30 * min(seconds(1000) for _ in range(3))
