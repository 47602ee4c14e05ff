"""Options of writing summaries."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from fairjudge.options.declaring import Opt, identity_of

if TYPE_CHECKING:
    from fairjudge.summaries.wishes import Wishes


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeOptions:
    """Options of writing summaries; see the help of ``fairjudge summarize``."""

    PANEL: ClassVar = "Writing"
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
            "Ask for proportional representation of every value of this article attribute.",
            flag="--fair",
            metavar="ATTR",
        ),
    ] = None
    fair_wording: Annotated[
        Literal["sources", "length", "undefined"],
        Opt(
            "With --fair: in proportion to the number of sources, to the length of their texts "
            "(FairSumm), or fairly, without saying what that is (coverage fairness, A.6)."
        ),
    ] = "sources"
    fair_labels: Annotated[
        Literal["shown", "hidden"],
        Opt("With --fair: whether the prompt labels each source with its value."),
    ] = "shown"
    focus: Annotated[
        str | None, Opt("Topic or claim that the summary is to be about.", metavar="TOPIC")
    ] = None
    instruction: Annotated[
        str | None, Opt("Your own instruction at the end of the prompt.", metavar="TEXT")
    ] = None
    kind: Annotated[
        Literal["news", "reviews", "tweets", "debates", "documents"],
        Opt("Kind of the texts; only the prompts for news ask what sources say differently."),
    ] = "news"
    prompts: Annotated[
        tuple[str, ...],
        Opt(
            "Your own prompt, with {{articles}}; of several one is drawn for each cluster. "
            "'fairjudge prompts show summarize/direct' shows ours.",
            flag="--prompt",
            metavar="FILE",
        ),
    ] = ()
    n_sentences: Annotated[
        int | None, Opt("Wanted length in sentences.", flag="--sentences", ge=1)
    ] = None
    n_words: Annotated[int | None, Opt("Wanted length in words.", flag="--words", ge=1)] = None
    temperature: Annotated[float, Opt("Sampling temperature.", ge=0, le=2)] = 0.0
    sweeps: Annotated[
        tuple[str, ...],
        Opt(
            "Also write variants that differ in one thing: temperature=0.5,1, sentences=1,5, "
            "words=50 or fair=ATTR (none: without it), wording=length,undefined, labels=hidden, "
            "kind=reviews, prompt=FILE, focus=TOPIC or instruction=TEXT. May be given several "
            "times. Each is a separate system named SYSTEM+NAME=V.",
            flag="--sweep",
            metavar="NAME=V,V",
        ),
    ] = ()
    system: Annotated[
        str | None, Opt("Name of the resulting system; by default model-strategy.")
    ] = None

    @property
    def wishes(self) -> Wishes:
        """Requests to the summarizer beyond covering the sources."""
        from fairjudge.summaries.wishes import Wishes

        return Wishes(**{field.name: getattr(self, field.name) for field in fields(Wishes)})

    def identity(self) -> dict[str, Any]:
        """Return the options that identify a run."""
        later = ("fair_wording", "fair_labels", "focus", "instruction", "kind", "prompts")
        return identity_of(self, later=later)
