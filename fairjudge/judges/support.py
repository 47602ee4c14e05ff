"""Support of summary sentences by articles, from embeddings and lexical signals: no LLM.

A sentence is as supported as the passage (one to three neighbouring sentences of one article) that
supports it best. Its support is a logistic function of the cosine of the sentence embeddings and
of the signals in `fairjudge.text.signals`. The weights were fitted by
``benchmarks/summeval_local.py --fit`` on half of SummEval's documents, see `WEIGHTS`.

It is a similarity with checks, not entailment: it sees wording, not truth, and says so as
``scored_by: embedding``. It favours copies over paraphrases, misses antonyms ("welcomed" for
"condemned"), and does not tell systems that copy from systems that write well: compare summaries
of one document with it rather than systems.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fairjudge.protocols import Embedder
from fairjudge.text.signals import Passage, Signals, Words, compare, names_in, words

MAX_PASSAGE_SENTENCES = 3
"""A fused summary sentence may need several source sentences; longer runs support anything."""
CANDIDATES = 6
"""Passages looked at closely for each sentence: those nearest by cosine and shared words."""
BORROWING_RANGE = 0.2
"""How much less near (in cosine) than the nearest a passage may be to lend its numbers."""
NEIGHBOURS = 2
"""Sentences on each side of a passage where a name that a pronoun stands for may be."""

INTERCEPT = -2.0
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "cosine": 3.3,
        "wording": 3.0,
        "contiguity": 0.8,
        "repeated": -10.0,
        "numbers": -5.0,
        "names": -2.0,
        "negation": -2.8,
    }
)
"""Log-odds a unit of each value of `weighted_values`.

Their ratios are the fit (``--fit``) rounded, but for ``names``, a floor set in advance: the fit
gives names little, since they are rarely swapped in SummEval and often replaced by another way to
call the same person. Scale and intercept only set the level, which ranks and correlations do not
see: a verbatim sentence has support 0.99, a faithful paraphrase about a half, one that shares
nothing but function words about 0.12. The intercept was set on the bundled example.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePassage:
    """Sentences ``start`` to ``end`` (exclusive) of article ``article``, all counted from 0."""

    article: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSupport:
    """How far the source supports one sentence.

    ``support`` is in [0, 1], ``log_odds`` its logit, ``cosine`` in [-1, 1]. ``passage`` is the
    passage that supports the sentence best, ``signals`` what its words say, and ``lowered`` names
    the signals (keys of `WEIGHTS`) that cost support, the costliest first.
    """

    support: float
    log_odds: float
    passage: SourcePassage
    cosine: float
    signals: Signals
    lowered: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceIndex:
    """Articles made ready to support sentences; build it once a cluster with `index_sources`.

    ``vectors`` has shape (n, d): one unit row a passage.
    """

    places: tuple[SourcePassage, ...]
    passages: tuple[Passage, ...]
    vectors: NDArray[np.float32]
    content: tuple[frozenset[str], ...]


def index_sources(articles: Sequence[Sequence[str]], *, embedder: Embedder) -> SourceIndex:
    """Index the passages of `articles`, each given as its sentences.

    Only single sentences are embedded; a longer passage's vector is the normalised mean of its
    sentences' vectors.

    Raises
    ------
    ValueError
        If no article has a sentence.
    """
    if not any(articles):
        raise ValueError("expected at least one article with a sentence, got none")
    vectors = embedder.embed([sentence for article in articles for sentence in article])
    names = names_in(sentence for article in articles for sentence in article)
    places: list[SourcePassage] = []
    passages: list[Passage] = []
    rows: list[NDArray[np.float32]] = []
    offset = 0
    for number, article in enumerate(articles):
        split = tuple(words(sentence) for sentence in article)
        for start, end in _windows(len(article)):
            places.append(SourcePassage(article=number, start=start, end=end))
            passages.append(_passage(split, start, end, names))
            rows.append(_unit_mean(vectors[offset + start : offset + end]))
        offset += len(article)
    return SourceIndex(
        places=tuple(places),
        passages=tuple(passages),
        vectors=np.stack(rows),
        content=tuple(frozenset(passage.words.content) for passage in passages),
    )


def sentence_support(
    sentences: Sequence[str], source: SourceIndex, *, embedder: Embedder
) -> tuple[SentenceSupport, ...]:
    """Return the support of each sentence by `source`, in the order given; empty for none.

    The sentences are one summary's: names are learnt from the casing of all of them.
    """
    if not sentences:
        return ()
    vectors = embedder.embed(sentences)
    own_names = names_in(sentences)
    cosines = vectors @ source.vectors.T
    return tuple(
        _best_support(words(sentence), row, source, own_names)
        for sentence, row in zip(sentences, cosines, strict=True)
    )


def summary_support(sentences: Sequence[SentenceSupport]) -> float:
    """Return the support of a summary in [0, 1]: midway between its mean and weakest sentence.

    In log-odds, so that one unsupported sentence counts and a long summary is not judged by it
    alone.

    Raises
    ------
    ValueError
        If there is no sentence: an empty summary has no support, not a support of 0.
    """
    if not sentences:
        raise ValueError("expected at least one sentence: an empty summary is unscored")
    odds = [sentence.log_odds for sentence in sentences]
    return logistic((sum(odds) / len(odds) + min(odds)) / 2)


def _windows(n_sentences: int) -> Iterator[tuple[int, int]]:
    for length in range(1, MAX_PASSAGE_SENTENCES + 1):
        for start in range(n_sentences - length + 1):
            yield start, start + length


def _passage(split: Sequence[Words], start: int, end: int, names: frozenset[str]) -> Passage:
    around = split[max(0, start - NEIGHBOURS) : end + NEIGHBOURS]
    return Passage(
        words=Words(
            tokens=tuple(token for part in split[start:end] for token in part.tokens),
            stems=tuple(stem for part in split[start:end] for stem in part.stems),
        ),
        near=frozenset(stem for part in around for stem in part.stems),
        names=names,
    )


def _unit_mean(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    mean: NDArray[np.float32] = rows.mean(axis=0, dtype=np.float32)
    norm = np.linalg.norm(mean)
    return mean if norm == 0 else np.divide(mean, norm, dtype=np.float32)


def _best_support(
    sentence: Words, cosines: NDArray[np.float32], source: SourceIndex, own_names: frozenset[str]
) -> SentenceSupport:
    places = source.places
    chosen = _candidates(sentence, cosines, source)
    compared = {i: compare(sentence, source.passages[i], own_names=own_names) for i in chosen}
    nearest = max(float(cosines[i]) for i in chosen)
    lenders = [i for i in chosen if cosines[i] >= nearest - BORROWING_RANGE]

    def others(article: int) -> list[Signals]:
        return [compared[i] for i in lenders if places[i].article != article]

    return max(
        (
            _weigh(
                _borrowed(signals, others(places[index].article)),
                float(cosines[index]),
                places[index],
            )
            for index, signals in compared.items()
        ),
        key=lambda found: found.log_odds,
    )


def _candidates(sentence: Words, cosines: NDArray[np.float32], source: SourceIndex) -> list[int]:
    """Return the nearest passages, and the nearest of every article beside them."""
    content = frozenset(sentence.content)
    shared = np.array([len(content & known) for known in source.content]) / max(len(content), 1)
    order = [int(index) for index in np.argsort(-(cosines + shared), kind="stable")]
    nearest: dict[int, int] = {}
    for index in order:
        nearest.setdefault(source.places[index].article, index)
    return list(dict.fromkeys([*order[:CANDIDATES], *nearest.values()]))


def _borrowed(signals: Signals, others: Sequence[Signals]) -> Signals:
    """Take off the numbers that a passage of another article has.

    A sentence on several sources ("one says 1,800, another 2,300") stands in no single passage.
    Names are not borrowed: another article names other people, and who did what must stand in one.
    """
    numbers = tuple(n for n in signals.numbers if all(n in other.numbers for other in others))
    return replace(signals, numbers=numbers)


def weighted_values(signals: Signals, cosine: float) -> dict[str, float]:
    """Return what `WEIGHTS` multiply, by name.

    ``wording`` rises from 0 to 1 with the share of words in order, steeply near 1: a word out of
    place weighs more in a near copy than in a paraphrase, where most are. Numbers, names and
    negation are 0 or 1: none, or any.
    """
    return {
        "cosine": cosine,
        "wording": math.log(1.1 / (1.1 - signals.in_order)) / math.log(11),
        "contiguity": signals.contiguity,
        "repeated": signals.repeated,
        "numbers": float(bool(signals.numbers)),
        "names": float(bool(signals.names)),
        "negation": float(bool(signals.negated)),
    }


def _weigh(signals: Signals, cosine: float, place: SourcePassage) -> SentenceSupport:
    values = weighted_values(signals, cosine)
    log_odds = INTERCEPT + sum(weight * values[name] for name, weight in WEIGHTS.items())
    costs = {name: weight * value for name, weight in WEIGHTS.items() if (value := values[name])}
    lowered = sorted((name for name in costs if costs[name] < 0), key=lambda name: costs[name])
    return SentenceSupport(
        support=logistic(log_odds),
        log_odds=log_odds,
        passage=place,
        cosine=cosine,
        signals=signals,
        lowered=tuple(lowered),
    )


def logistic(log_odds: float) -> float:
    """Return 1 / (1 + exp(-log_odds)), in [0, 1]; beyond +-60 as at +-60."""
    return 1 / (1 + math.exp(-max(min(log_odds, 60.0), -60.0)))
