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
DerivedProtocol: TypeAlias = Literal["likert", "pairwise"]
ASPECTS = (
    "faithfulness",
    "coverage",
    "consistency",
    "relevance",
    "coherence",
    "fluency",
    "balance",
    "quality",
)
"""The built-in aspects; `fairjudge.judges.criteria.BUILTIN_SCALES` has their scales."""
LOCAL_ASPECTS = ("coverage", "faithfulness", "balance")
"""The aspects that can be judged without a language model."""
Thresholds: TypeAlias = tuple[float, float]
"""(low, high): for local scores of at most low or at least high the LLM is not called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAspect:
    """One of several aspects to judge in one request; a built-in one needs only its name.

    For a custom aspect, ``rule`` is the criterion in a few sentences and ``scale`` a scale file.
    """

    aspect: str
    rule: str | None = None
    scale: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteedThreshold:
    """The minimum confidence for keeping a judge's answers, with the settings of that judge.

    ``signature`` is the signature of the judgements used for fitting, None if there were several;
    ``repeats`` is the number of judgements per item and order of a pair; ``n_answers`` is as in
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
    def signature_parts(self) -> dict[str, str]:
        """The parts of the signature by name."""
        parts = (part.partition(":") for part in (self.signature or "").split("|"))
        return {name: value for name, _, value in parts if name}

    def check(self, judge: Judge) -> None:
        """Raise an error unless the threshold was fitted on `judge`.

        Raises
        ------
        ConfigurationError
            If the signatures differ in more than the library's version.
        """
        current = replace(self, signature=judge.signature).signature_parts
        fit = self.signature_parts
        names = [name for name in dict.fromkeys([*fit, *current]) if name != "version"]
        changes = [name for name in names if fit.get(name) != current.get(name)]
        if changes:
            differences = ", ".join(
                f"{name} {fit.get(name)!r}, now {current.get(name)!r}" for name in changes
            )
            raise ConfigurationError(
                f"the guarantee was fitted for another judge than {judge.name}: {differences}; fit "
                "it again on judgements of this one"
            )
