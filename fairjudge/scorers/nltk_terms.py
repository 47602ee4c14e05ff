"""The terms counted by FairSumm's authors: NLTK's words, stop words, lemmas and Porter stems.

NLTK and its data are loaded by `load_nltk_terms`, not when this module is imported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from string import punctuation
from typing import Any

from fairjudge.errors import ConfigurationError, needs_extra

DATA = {
    "corpora/stopwords": "stopwords",
    "corpora/wordnet": "wordnet",
    "taggers/averaged_perceptron_tagger_eng": "averaged_perceptron_tagger_eng",
    "tokenizers/punkt_tab/english": "punkt_tab",
}
"""The required resources of NLTK, and the names of their packages."""

# The languages of NLTK's stop words in 2023, when the authors measured; they used all languages.
# Lists added later contain words of English reviews.
_LANGUAGES = (
    "arabic", "azerbaijani", "basque", "bengali", "catalan", "chinese", "danish", "dutch",
    "english", "finnish", "french", "german", "greek", "hebrew", "hinglish", "hungarian",
    "indonesian", "italian", "kazakh", "nepali", "norwegian", "portuguese", "romanian", "russian",
    "slovene", "spanish", "swedish", "tajik", "turkish",
)  # fmt: skip
_MARKS = (*punctuation, "||", "people", "''", "``", "...", "..")
_POS = {"NN": "n", "JJ": "a", "VB": "v", "RB": "r"}


class NltkTerms:
    """Splits a text into terms like the authors' code; ``fingerprint`` identifies version and data.

    Words are split by NLTK's tokenizer after lower-casing. Stop words of all languages, punctuation
    marks and "people" are dropped. Other words are lemmatised by WordNet for the part of speech of
    the word without context, then stemmed.
    """

    def __init__(
        self,
        split: Callable[[str], list[str]],
        *,
        stop_words: frozenset[str],
        term_of: Callable[[str], str],
        version: str,
    ) -> None:
        self._split = split
        self._stop_words = stop_words
        self._term_of = lru_cache(maxsize=200_000)(term_of)
        digest = hashlib.sha256("\n".join(sorted(stop_words)).encode("utf-8")).hexdigest()
        self.fingerprint = f"nltk@{version}+stop@{digest[:8]}"

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the terms of `text`, in order, with repetitions."""
        words = self._split(text.lower())
        return tuple(self._term_of(word) for word in words if word not in self._stop_words)


def load_nltk_terms() -> NltkTerms:
    """Load NLTK and its data; raise an error with instructions if a part is missing."""
    with needs_extra("--terms nltk", extra="nltk"):
        import nltk
        from nltk.corpus import stopwords
        from nltk.stem import PorterStemmer, WordNetLemmatizer
        from nltk.tag.perceptron import PerceptronTagger
    _check_data(nltk)
    tag, lemmatize = PerceptronTagger().tag, WordNetLemmatizer().lemmatize
    stem = PorterStemmer().stem

    def term_of(word: str) -> str:
        # As in the authors' code, words are tagged without context, and nouns are the default.
        ((_, part_of_speech),) = tag([word])
        return str(stem(lemmatize(word, pos=_POS.get(part_of_speech[:2], "n"))))

    return NltkTerms(
        nltk.word_tokenize,
        stop_words=frozenset((*stopwords.words(_LANGUAGES), *_MARKS)),
        term_of=term_of,
        version=nltk.__version__,
    )


def _check_data(nltk: Any) -> None:
    if packages := [package for path, package in DATA.items() if not _has(nltk, path)]:
        raise ConfigurationError(
            f"--terms nltk needs NLTK's data, but {', '.join(packages)} is missing; "
            f"install it with: python -m nltk.downloader {' '.join(packages)}"
        )


def _has(nltk: Any, path: str) -> bool:
    for candidate in (path, f"{path}.zip"):
        try:
            nltk.data.find(candidate)
        except LookupError:
            continue
        return True
    return False
