"""Citations by the statements that cited articles support."""

from __future__ import annotations

import pytest

from fairjudge.domain import Judgement, StatementEntry, Summary
from fairjudge.scores.citations import citation_scores, cited_articles

TEXT = "Twelve people died. The mayor resigned on Monday. It rained."


def summary(*citations, text=TEXT):
    rows = [{"text": sentence, "articles": list(aids)} for sentence, aids in citations]
    return Summary.model_validate({"eid": "e", "system": "s", "text": text, "citations": rows})


def entry(sentence, verdict="supported", articles=()):
    return StatementEntry(
        sentence=sentence, statement="x", verdict=verdict, articles=articles, quote="x"
    )


def scores(summary, *entries):
    row = Judgement(
        eid="e", system="s", aspect="faithfulness", protocol="checklist", judge="j", value=1.0,
        statements=entries,
    )  # fmt: skip
    return citation_scores([row], {("e", "s"): summary})


def test_sentence_is_supported_if_each_statement_has_a_cited_article():
    data = summary(("Twelve people died.", "ab"), ("The mayor resigned on Monday.", "c"))
    result = scores(
        data,
        entry(0, articles=("a",)),
        entry(0, articles=("b", "d")),
        entry(1, articles=("c",)),
        entry(1, "contradicted", ("c",)),
        entry(2, articles=("a",)),  # supported, but by nothing that it cites
    )
    assert (result.n_sentences, result.n_cited, result.n_supported) == (3, 2, 1)
    assert result.share_supported == pytest.approx(1 / 3)
    assert [
        (citation.aid, citation.support, citation.relevant) for citation in result.citations
    ] == [
        ("a", "part", True),
        ("b", "part", True),
        ("c", "part", True),
    ]


@pytest.mark.parametrize(
    ("entries", "support", "relevant"),
    [
        ([entry(0, articles=("a",))], "full", True),
        ([entry(0, articles=("b",))], "none", False),
        ([entry(0, "contradicted", ("a",))], "contradicts", True),
        ([entry(0, "absent")], "none", False),
    ],
)
def test_support_and_relevance_of_one_citation(entries, support, relevant):
    (citations,) = scores(summary(("Twelve people died.", "a")), *entries).citations
    assert (citations.support, citations.relevant) == (support, relevant)


def test_citations_are_matched_to_sentences_by_words():
    cited, unknown = cited_articles(
        summary(
            ("twelve people  died. The mayor resigned", "a"),  # of two sentences
            ("It snowed in the mountains.", "b"),
            ("It rained.", ""),
        )
    )
    assert cited == {0: ("a",), 1: ("a",), 2: ()}
    assert unknown == 1


def test_summaries_without_citations_have_no_scores():
    assert scores(Summary(eid="e", system="s", text=TEXT), entry(0, articles=("a",))) is None
    assert scores(summary(), entry(0, articles=("a",))).share_supported == 0.0
    assert scores(summary(), entry(0, articles=("a",))).share_relevant is None


def test_citations_are_swapped_uniformly_over_other_articles():
    data = summary(("Twelve people died.", "a"), ("The mayor resigned on Monday.", "bc"))
    result = scores(
        data,
        entry(0, articles=("a", "c")),
        entry(1, articles=("b",)),
        entry(1, articles=("c", "d")),
        entry(2, articles=("a",)),  # cites nothing
    )
    died, resigned, rained = result.sentences
    # b, c or d for a: c alone supports it
    assert died.support_if_swapped("abcd") == pytest.approx(1 / 3)
    # a and d, d and e, e and a for b and c: none supports the first statement
    assert resigned.support_if_swapped("abcde") == 0.0
    # fewer others than citations: all of them
    assert resigned.support_if_swapped("abcd"[:3]) == 0.0
    assert died.support_if_swapped("a") is None
    assert rained.support_if_swapped("abcd") is None


def test_two_articles_may_jointly_support_a_sentence():
    data = summary(("Twelve people died.", "ab"))
    result = scores(data, entry(0, articles=("a", "c")), entry(0, articles=("b", "d")))
    # of cd, de, ec: c and d together have both statements
    assert result.sentences[0].support_if_swapped("abcde") == pytest.approx(1 / 3)
