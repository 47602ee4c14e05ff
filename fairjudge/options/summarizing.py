"""How summaries are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from fairjudge.options.declaring import Opt

if TYPE_CHECKING:
    from fairjudge.summaries.writing import LengthAndFairness


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeOptions:
    """How summaries are written; see the help of ``fairjudge summarize``."""

    strategy: Annotated[
        Literal["direct", "extract", "differences"],
        Opt(
            "All articles in one prompt; salient sentences of each article first, for models with "
            "a short context; or, as DiverseSumm asks, only what the articles say differently."
        ),
    ] = "direct"
    fair_attribute: Annotated[
        str | None,
        Opt(
            "Ask for room in proportion for every value of this article attribute.",
            flag="--fair",
            metavar="ATTR",
        ),
    ] = None
    n_sentences: Annotated[
        int | None, Opt("Wanted length in sentences.", flag="--sentences", ge=1)
    ] = None
    n_words: Annotated[int | None, Opt("Wanted length in words.", flag="--words", ge=1)] = None
    temperature: Annotated[float, Opt(ge=0, le=2)] = 0.0
    sweeps: Annotated[
        tuple[str, ...],
        Opt(
            "Also write variants that differ in one thing: temperature=0.5,1, sentences=1,5, "
            "words=50 or fair=ATTR (none: without it). May be given several times. Each is a "
            "system of its own, called SYSTEM+NAME=V.",
            flag="--sweep",
            metavar="NAME=V,V",
        ),
    ] = ()
    system: Annotated[
        str | None, Opt("Name of the resulting system; by default model-strategy.")
    ] = None

    @property
    def wishes(self) -> LengthAndFairness:
        """What is asked of a summary beyond covering its sources."""
        from fairjudge.summaries.writing import LengthAndFairness

        return LengthAndFairness(
            fair_attribute=self.fair_attribute, n_sentences=self.n_sentences, n_words=self.n_words
        )
