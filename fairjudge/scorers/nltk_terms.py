"""The terms that FairSumm's authors count: NLTK's words, stop words, lemmas and Porter stems.

NLTK is imported, and its data opened, when the terms are loaded.
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
"""NLTK's resources that are read, and the names of their packages."""

# Those of NLTK's data in 2023, when the authors measured; of all languages, as theirs. Lists that
# came later hold words of English reviews too.
_LANGUAGES = (
    "arabic", "azerbaijani", "basque", "bengali", "catalan", "chinese", "danish", "dutch",
    "english", "finnish", "french", "german", "greek", "hebrew", "hinglish", "hungarian",
    "indonesian", "italian", "kazakh", "nepali", "norwegian", "portuguese", "romanian", "russian",
    "slovene", "spanish", "swedish", "tajik", "turkish",
)  # fmt: skip
_MARKS = (*punctuation, "||", "people", "''", "``", "...", "..")
_POS = {"NN": "n", "JJ": "a", "VB": "v", "RB": "r"}


class NltkTerms:
    """Turns a text into terms as the authors' code does; ``fingerprint`` names versions and data.

    Words are split by NLTK's tokenizer after lower-casing; stop words of all languages, single
    marks and "people" are dropped; the rest are lemmatised by WordNet for the part of speech that
    each word has by itself, then stemmed.
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
        listed = hashlib.sha256("\n".join(sorted(stop_words)).encode("utf-8")).hexdigest()
        self.fingerprint = f"nltk@{version}+stop@{listed[:8]}"

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the terms of `text`, in order, with repeats."""
        words = self._split(text.lower())
        return tuple(self._term_of(word) for word in words if word not in self._stop_words)


def load_nltk_terms() -> NltkTerms:
    """Load NLTK and its data; an error names missing parts and how to install them."""
    with needs_extra("--terms nltk", extra="nltk"):
        import nltk
        from nltk.corpus import stopwords
        from nltk.stem import PorterStemmer, WordNetLemmatizer
        from nltk.tag.perceptron import PerceptronTagger
    _check_data(nltk)
    tag, lemmatize = PerceptronTagger().tag, WordNetLemmatizer().lemmatize
    stem = PorterStemmer().stem

    def term_of(word: str) -> str:
        # Each word is tagged alone: so does the authors' code, and nouns are its default.
        ((_, part_of_speech),) = tag([word])
        return str(stem(lemmatize(word, pos=_POS.get(part_of_speech[:2], "n"))))

    return NltkTerms(
        nltk.word_tokenize,
        stop_words=frozenset((*stopwords.words(_LANGUAGES), *_MARKS)),
        term_of=term_of,
        version=nltk.__version__,
    )


def _check_data(nltk: Any) -> None:
    if missing := [package for path, package in DATA.items() if not _has(nltk, path)]:
        raise ConfigurationError(
            f"--terms nltk needs NLTK's data, of which {', '.join(missing)} is missing; "
            f"install it by: python -m nltk.downloader {' '.join(missing)}"
        )


def _has(nltk: Any, path: str) -> bool:
    for place in (path, f"{path}.zip"):
        try:
            nltk.data.find(place)
        except LookupError:
            continue
        return True
    return False
