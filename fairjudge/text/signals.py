"""Lexical signals between a sentence and a passage that cost no model.

Works on cased running text and on lower-cased, pre-tokenised text (as SummEval's) alike: every
comparison is made on lower-cased stems, and names are learnt from the casing of the source.
Plain functions of strings and tuples; English only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|n't|[^\W\d_]+")
_CASED_WORD = re.compile(r"[^\W\d_]+")
_TO_TWENTY = """zero one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen twenty"""
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(_TO_TWENTY.split())
    if word != "one"  # mostly a pronoun
} | {word: str(10 * tens) for tens, word in enumerate(_TENS.split(), start=3)}
_MAGNITUDES = {"k": "thousand", "m": "million", "mn": "million", "bn": "billion", "b": "billion"}
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
_NEGATORS = "not no never n't without neither nor none nobody nothing"
NEGATORS = frozenset(_NEGATORS.split())
_FUNCTION_WORDS = """a an the of in on at to for from by with and or but is are was were be been
being has have had do does did it its this that these those as his her hers their theirs he she
they him them i we you my our your us me himself herself itself themselves not no n't who whom whose
which what when where while there s t d ll ve re will would can could may might shall should must
after before about into over up out than then so if also more"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that carry no content of their own: they are no names and no repetitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A text as tokens. ``tokens`` are lower-cased; ``stems`` stand in the same places."""

    tokens: tuple[str, ...]
    stems: tuple[str, ...]

    @property
    def content(self) -> tuple[str, ...]:
        """Return the stems of all that is not a function word, in order."""
        pairs = zip(self.tokens, self.stems, strict=True)
        return tuple(stem for token, stem in pairs if token not in FUNCTION_WORDS)

    @property
    def numbers(self) -> frozenset[str]:
        """Return the numbers, written in one way (``"1,200"``, ``"1200"`` -> ``"1200"``)."""
        return frozenset(token for token in self.tokens if token[0].isdigit())


def words(text: str) -> Words:
    """Split `text` to tokens and stems; empty for a text without letters and digits.

    Possessive ``'s`` is dropped, ``n't`` is a token of its own, number words up to ninety become
    digits, ``2.6m`` reads as ``2.6 million``, and ``83rd`` as ``83``.
    """
    plain = text.lower().replace("\u2019", "'").replace("cannot", "can not")
    plain = re.sub(r"'s\b", " ", plain)
    plain = re.sub(r"n't\b", " n't", plain)
    tokens: list[str] = []
    for match in _TOKEN.finditer(plain):
        token = match.group()
        after_number = bool(tokens) and tokens[-1][0].isdigit()
        if after_number and plain[match.start() - 1].isdigit():
            if token in _ORDINAL_ENDINGS:
                continue
            token = _MAGNITUDES.get(token, token)
        token = _NUMBER_WORDS.get(token, token)
        tokens.append(token.replace(",", "") if token[0].isdigit() else token)
    return Words(tokens=tuple(tokens), stems=tuple(stem(token) for token in tokens))


def stem(token: str) -> str:
    """Strip the commonest English endings: ``reports``, ``reported``, ``reporting`` meet.

    Crude on purpose: it is only ever compared with itself.
    """
    for ending in ("ing", "ed", "es", "s", "ly", "er"):
        if token.endswith(ending) and len(token) - len(ending) >= 3:
            return token[: -len(ending)]
    return token


def names_in(sentences: Iterable[str]) -> frozenset[str]:
    """Return the lower-cased words that stand capitalised inside sentences more often than not.

    The first word of a sentence says nothing and is not counted. Empty for lower-cased text.
    """
    upper: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for sentence in sentences:
        for position, match in enumerate(_CASED_WORD.finditer(sentence)):
            word = match.group()
            if word[0].islower():
                lower[word] += 1
            elif position > 0 and len(word) > 1:
                upper[word.lower()] += 1
    return frozenset(
        word for word, n in upper.items() if n > lower[word] and word not in FUNCTION_WORDS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A run of source sentences as evidence, and what stands around it.

    ``near`` holds the stems of the passage and of the sentences around it: a name may stand there
    and be referred to by a pronoun in the passage.
    """

    words: Words
    near: frozenset[str]
    names: frozenset[str]
    """Every name of the source, lower-cased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What the words of a sentence and of a passage say about support.

    ``in_order`` and ``contiguity`` are shares in [0, 1] that raise support. The rest lower it:
    ``repeated`` is a share in [0, 1] of the content words; ``numbers``, ``names`` and ``negated``
    are the words themselves: numbers and names without a match, and shared words that are negated
    on one side only.
    """

    in_order: float
    contiguity: float
    repeated: float
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    negated: tuple[str, ...]


def compare(
    sentence: Words, passage: Passage, *, own_names: frozenset[str] = frozenset()
) -> Signals:
    """Compare a sentence with a passage.

    A sentence without tokens shares nothing and has nothing unmatched: shares 0, no words.

    Parameters
    ----------
    sentence, passage
        As made by `words`.
    own_names
        Names known from the sentence's own casing; empty for lower-cased text.
    """
    pairs = align(sentence.stems, passage.words.stems)
    n = max(len(sentence.tokens), 1)
    return Signals(
        in_order=len(pairs) / n,
        contiguity=sum(length**2 for length in runs(pairs)) / n**2,
        repeated=repeated_share(sentence, passage.words),
        numbers=tuple(sorted(sentence.numbers - passage.words.numbers)),
        names=unmatched_names(sentence, passage, own_names=own_names),
        negated=negated_on_one_side(sentence, passage.words, pairs),
    )


def align(left: Sequence[str], right: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the index pairs of one longest common subsequence, in order.

    Time and space O(len(left) * len(right)).
    """
    n, m = len(left), len(right)
    best = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        row, below, word = best[i], best[i + 1], left[i]
        for j in range(m - 1, -1, -1):
            row[j] = below[j + 1] + 1 if word == right[j] else max(below[j], row[j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < n and j < m:
        if left[i] == right[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return tuple(pairs)


def runs(pairs: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the lengths of the stretches that are contiguous on both sides.

    Extractive fragments in the sense of Grusky et al. (2018, section 4), within one passage and in
    order.
    """
    lengths: list[int] = []
    for index, (i, j) in enumerate(pairs):
        if index and pairs[index - 1] == (i - 1, j - 1):
            lengths[-1] += 1
        else:
            lengths.append(1)
    return tuple(lengths)


def repeated_share(sentence: Words, passage: Words) -> float:
    """Return the share of content words said once too often, in [0, 1].

    Once too often: more often than in the passage, and more than once. Garbled generation repeats
    itself (``"swansea host swansea"``).
    """
    counts, source = Counter(sentence.content), Counter(passage.stems)
    extra = sum(max(0, n - max(1, source[word])) for word, n in counts.items())
    return extra / max(sum(counts.values()), 1)


def negated_on_one_side(
    sentence: Words, passage: Words, pairs: Sequence[tuple[int, int]], *, reach: int = 3
) -> tuple[str, ...]:
    """Return the aligned content words of the sentence that only one side negates.

    Negated: a negator stands among the `reach` tokens before the word.
    """
    return tuple(
        sentence.tokens[i]
        for i, j in pairs
        if sentence.tokens[i] not in FUNCTION_WORDS
        and _negated(sentence.tokens, i, reach) != _negated(passage.tokens, j, reach)
    )


def unmatched_names(
    sentence: Words, passage: Passage, *, own_names: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Return the names of the sentence that stand neither in the passage nor near it, in order."""
    return tuple(
        dict.fromkeys(
            token
            for token, stemmed in zip(sentence.tokens, sentence.stems, strict=True)
            if (token in passage.names or token in own_names) and stemmed not in passage.near
        )
    )


def _negated(tokens: Sequence[str], index: int, reach: int) -> bool:
    return any(token in NEGATORS for token in tokens[max(0, index - reach) : index])
