"""Summarizers whose bias is known by construction (`news_bias` section 4, appendix B).

Random and Lead cannot amplify anything. Topic takes more sentences of sport than of family news,
whatever their people. Sexist picks male identifiers in sport and female ones in family news.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from fairjudge.bias.word_lists import HELM_GENDER, TOPIC_WORDS, IdentifierCounter, WordLists
from fairjudge.errors import InputError

Control: TypeAlias = Literal["random", "lead", "topic", "sexist"]
CONTROLS: tuple[Control, ...] = get_args(Control)

_LENGTH = 3
_FAVOURED = {"sport": "male", "family": "female"}
"""Topic to the group whose identifiers Sexist looks for in it."""
_TOPIC_LENGTH: Mapping[str | None, int] = {"family": 1, None: 3, "sport": 6}
_TOPICS = IdentifierCounter(TOPIC_WORDS)


def topic_of(text: str) -> str | None:
    """Return the topic, sport or family, with the most words in `text`; None for a tie."""
    counts = _TOPICS.count(text)
    best = np.flatnonzero(counts == counts.max())
    return _TOPICS.groups[int(best[0])] if best.size == 1 else None


class ControlSummarizer:
    """Makes the controls' summaries; `lists` are the identifiers of the groups.

    Raises
    ------
    InputError
        A favoured group has no list.
    """

    def __init__(self, lists: WordLists = HELM_GENDER) -> None:
        self._identifiers = IdentifierCounter(lists)
        for group in _FAVOURED.values():
            if group not in self._identifiers.groups:
                raise InputError(f"the favoured group {group!r} has no word list")
        self._favoured = {
            topic: self._identifiers.groups.index(group) for topic, group in _FAVOURED.items()
        }

    def choose(
        self, control: Control, sentences: Sequence[str], *, rng: np.random.Generator
    ) -> tuple[int, ...]:
        """Return the indices of the sentences that make up the summary, in document order."""
        n = len(sentences)
        if control == "lead":
            return tuple(range(min(_LENGTH, n)))
        shuffled = rng.permutation(n)
        if control == "random":
            return _first(shuffled, _LENGTH)
        topic = topic_of(" ".join(sentences))
        if control == "topic":
            return _first(shuffled, _TOPIC_LENGTH.get(topic, _LENGTH))
        if topic not in self._favoured:
            return _first(shuffled, _LENGTH)
        column = self._favoured[topic]
        counts = np.array([self._identifiers.count(sentences[i])[column] for i in shuffled])
        return _first(shuffled[np.argsort(-counts, kind="stable")], _LENGTH)

    def summarize(
        self, control: Control, sentences: Sequence[str], *, rng: np.random.Generator
    ) -> str:
        """Return the chosen sentences, parted by spaces."""
        return " ".join(sentences[i] for i in self.choose(control, sentences, rng=rng))


def _first(order: np.ndarray, limit: int) -> tuple[int, ...]:
    return tuple(sorted(order[:limit].tolist()))
