"""Parse the scorers, terms and targets of the fairness measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fairjudge.datasets import read_json
from fairjudge.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from fairjudge.fairness.distributions import Target
    from fairjudge.text.tokens import TermMaker


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerChoice:
    """A scorer option: a name, optionally with a model or file after a colon."""

    name: str
    argument: str | None

    def __str__(self) -> str:
        return self.name if self.argument is None else f"{self.name}:{self.argument}"

    def path(self) -> Path:
        """Return the argument as a path.

        Raises
        ------
        ConfigurationError
            There is no argument.
        """
        if not self.argument:
            raise ConfigurationError(f"scorer {self.name!r} needs a file: {self.name}:FILE")
        return Path(self.argument)


def parse_scorer(text: str, names: Sequence[str]) -> ScorerChoice:
    """Parse ``name`` or ``name:argument``.

    Raises
    ------
    ConfigurationError
        The name is not one of `names`.
    """
    name, colon, argument = text.partition(":")
    if name not in names:
        raise ConfigurationError(f"unknown scorer {name!r}; choose one of {', '.join(names)}")
    return ScorerChoice(name=name, argument=argument if colon else None)


def read_terms(name: Literal["own", "nltk"], *, ngrams: int = 1) -> TermMaker:
    """Return the function that splits texts into terms, or into n-grams for `ngrams` above 1.

    Raises
    ------
    ConfigurationError
        NLTK, or some of its data, is not installed; or `ngrams` is not 1, 2 or 3.
    """
    if name == "own":
        from fairjudge.text.tokens import Normaliser

        terms: TermMaker = Normaliser()
    else:
        from fairjudge.scorers.nltk_terms import load_nltk_terms

        terms = load_nltk_terms()
    if ngrams == 1:
        return terms
    from fairjudge.text.tokens import Runs

    return Runs(terms, ngrams)


def read_target(text: str) -> Target:
    """Return ``"ratio"``, ``"equal"``, or the shares by value in a JSON file.

    Raises
    ------
    InputError
        The file cannot be read, or is not an object of numbers.
    """
    if text == "ratio":
        return "ratio"
    if text == "equal":
        return "equal"
    try:
        shares = read_json(text)
    except InputError as error:
        problem = f"expected 'ratio', 'equal' or a JSON file of shares by value: {error.problem}"
        raise InputError(problem, path=text) from None
    if not isinstance(shares, dict) or not all(map(_is_number, shares.values())):
        raise InputError("expected one JSON object that maps each value to its share", path=text)
    try:
        return {value: float(share) for value, share in shares.items()}
    except OverflowError:
        raise InputError("a share is not a finite number", path=text) from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
