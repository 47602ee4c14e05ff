"""Types of the options of judges; without heavy imports, for every command."""

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
"""(low, high): at local scores up to low and from high on the LLM is not called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAspect:
    """An aspect to be judged together with others; a built-in one needs only its name.

    For a custom aspect, ``rule`` states the criterion in a few sentences; ``scale`` is its file.
    """

    aspect: str
    rule: str | None = None
    scale: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The confidence from which answers of a judge are kept, with the settings of that judge.

    ``signature`` is that of the judgements on which it was fitted, None if they had several;
    ``repeats`` is their number per item, in each order of a pair; ``n_answers`` is as in
    `fairjudge.calibration.answers`. ``threshold`` is None if no answer may be kept.
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
        """The parts of the signature by name."""
        parts = (part.partition(":") for part in (self.signature or "").split("|"))
        return {name: value for name, _, value in parts if name}

    def check(self, judge: Judge) -> None:
        """Raise an error for a judge on which the promise was not fitted.

        Raises
        ------
        ConfigurationError
            If its signature differs in more than the library's version.
        """
        own = replace(self, signature=judge.signature).stated
        fitted = self.stated
        names = [name for name in dict.fromkeys([*fitted, *own]) if name != "version"]
        misfits = [name for name in names if fitted.get(name) != own.get(name)]
        if misfits:
            differ = ", ".join(
                f"{name} {fitted.get(name)!r}, now {own.get(name)!r}" for name in misfits
            )
            raise ConfigurationError(
                f"the guarantee was fitted for another judge than {judge.name}: {differ}; fit it "
                "again on judgements of this one"
            )
