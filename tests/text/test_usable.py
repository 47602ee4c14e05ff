"""Which articles take part: stubs are short beside the others, not short as such."""

from __future__ import annotations

import pytest
from json_files import read_json

from fairjudge.domain import Article, Cluster
from fairjudge.text.usable import usable, worth_reading


def article(aid: str, words: int) -> Article:
    """Make an article of sentences of five words each."""
    return Article(aid=aid, content=" ".join(["The room was really clean."] * (words // 5)))


def test_a_cluster_of_reviews_keeps_its_short_texts():
    reviews = [article(str(n), 20) for n in range(6)]
    articles, skipped = usable(reviews)
    assert articles == tuple(reviews)
    assert skipped == ()


def test_much_shorter_texts_among_short_ones_are_stubs():
    # median of 60, 60, 60, 60, 10 is 60; a quarter of it 15
    articles, skipped = usable([*(article(str(n), 60) for n in range(4)), article("short", 10)])
    assert [item.aid for item in articles] == ["0", "1", "2", "3"]
    assert [(item.aid, item.reason) for item in skipped] == [
        ("short", "stub: 10 words of news, fewer than 15")
    ]


def test_long_article_clusters_need_forty_words():
    # a quarter of the median, 100, is more than 40
    articles, skipped = usable([*(article(str(n), 400) for n in range(3)), article("stub", 35)])
    assert len(articles) == 3
    assert [item.reason for item in skipped] == ["stub: 35 words of news, fewer than 40"]
    assert len(usable([*(article(str(n), 400) for n in range(3)), article("brief", 40)])[0]) == 4


def test_empty_articles_are_excluded_from_the_median():
    reviews = [article("a", 20), article("b", 20)]
    empty = [Article(aid=str(n), content=" \n") for n in range(9)]
    articles, skipped = usable([*reviews, *empty])
    assert articles == tuple(reviews)
    assert {item.reason for item in skipped} == {"empty"}


@pytest.mark.parametrize("articles", [[], [Article(aid="a", content="")]])
def test_no_usable_article_does_not_raise(articles):
    kept, skipped = usable(articles)
    assert kept == ()
    assert len(skipped) == len(articles)


def test_boilerplate_alone_is_never_usable():
    furniture = "Sign up for our newsletter\nShare this article"
    _, skipped = usable([Article(aid="a", content=furniture), Article(aid="b", content=furniture)])
    assert len(skipped) == 2


def test_crawled_cluster_loses_only_its_stubs(shared_data):
    # 13 of the 46 articles hold nothing or a stub (the data's README); one more is a bare list of
    # countries, without a sentence.
    data = read_json(shared_data / "recession" / "cluster.json")
    cluster = Cluster.model_validate(data[0] if isinstance(data, list) else data)
    articles, skipped = usable(cluster.articles)
    assert (len(articles), len(skipped)) == (32, 14)
    lists = [a.domain for a in cluster.articles if a.aid == "62e00d7f6134dc31786d56fb"]
    assert "62e00d7f6134dc31786d56fb" in {item.aid for item in skipped}
    assert ["herald" in name for name in lists] == [True]


def test_if_all_articles_are_stubs_uses_nonempty_ones():
    stubs = [Article(aid="a", content="Sign up."), Article(aid="b", content=" \n")]
    assert worth_reading(stubs) == (stubs[0],)
    full = [article("c", 60), *stubs]
    assert worth_reading(full) == (full[0],)
    assert worth_reading([]) == ()
