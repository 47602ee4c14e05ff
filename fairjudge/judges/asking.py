"""What may be asked of a judge, in the words of options and files; light, for every command."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from fairjudge.errors import ConfigurationError

if TYPE_CHECKING:
    from fairjudge.judges.ports import Judge

ReferenceUnit: TypeAlias = Literal["article", "articles", "qa_pairs", "qa_pair"]
TextUnit: TypeAlias = Literal["summary", "sentence"]
Preset: TypeAlias = Literal["recommended", "paper", "budget", "granular"]
Fallback: TypeAlias = Literal["entailment", "embedding", "none"]
Derived: TypeAlias = Literal["likert", "pairwise"]
Thresholds: TypeAlias = tuple[float, float]
"""The local scores at or below the first and at or above the second of which no LLM is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAspect:
    """An aspect that is to be judged with others; a built-in one by its name alone.

    ``rule`` says in a few sentences what one of one's own asks, ``scale`` is its file.
    """

    aspect: str
    rule: str | None = None
    scale: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """From which confidence on the answers of a judge may be kept, and how it must be asked.

    ``signature`` is that of the judgements on which it was fitted, None where there were several;
    ``repeats`` how many of them an item had, in each order of a pair; ``n_answers`` is as in
    `fairjudge.calibration.answers`. ``threshold`` is None where nothing may be kept.
    """

    judge: str
    aspect: str
    protocol: str
    threshold: float | None
    signature: str | None
    repeats: int
    n_answers: int

    @property
    def stated(self) -> dict[str, str]:
        """Return the parts of the signature by name."""
        parts = (part.partition(":") for part in (self.signature or "").split("|"))
        return {name: value for name, _, value in parts if name}

    def check(self, judge: Judge) -> None:
        """Refuse a judge that the promise was not made for.

        Raises
        ------
        ConfigurationError
            If it is signed otherwise, the library's version apart.
        """
        own = replace(self, signature=judge.signature).stated
        fitted = self.stated
        names = [name for name in dict.fromkeys([*fitted, *own]) if name != "version"]
        other = [name for name in names if fitted.get(name) != own.get(name)]
        if other:
            differ = ", ".join(
                f"{name} {fitted.get(name)!r}, now {own.get(name)!r}" for name in other
            )
            raise ConfigurationError(
                f"the promise was made for another judge than {judge.name}: {differ}; fit it again "
                "on judgements of this one"
            )
