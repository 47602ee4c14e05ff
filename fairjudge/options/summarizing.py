"""Options of writing summaries (``fairjudge summarize``)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from fairjudge.options.declaring import Opt, identity_of

if TYPE_CHECKING:
    from fairjudge.summaries.requirements import Requirements


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeOptions:
    """Options of writing summaries; see the help of ``fairjudge summarize``."""

    PANEL: ClassVar = "Writing"
    strategy: Annotated[
        Literal["direct", "extract", "differences"],
        Opt(
            "direct: all articles in one prompt. extract: first select salient sentences of each "
            "article, for models with a short context. differences: only what the articles report "
            "differently (DiverseSumm)."
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
            "With --fair, what the prompt asks for. sources: in proportion to the number of "
            "sources. length: in proportion to the length of their texts (FairSumm). undefined: "
            "fairly, without a definition (coverage fairness, A.6)."
        ),
    ] = "sources"
    fair_labels: Annotated[
        Literal["shown", "hidden"],
        Opt("With --fair: show or hide the value of each source in the prompt."),
    ] = "shown"
    focus: Annotated[
        str | None, Opt("Topic or claim to summarize the articles on.", metavar="TOPIC")
    ] = None
    instruction: Annotated[
        str | None, Opt("Your own instruction, added at the end of the prompt.", metavar="TEXT")
    ] = None
    kind: Annotated[
        Literal["news", "reviews", "tweets", "debates", "documents"],
        Opt("Kind of the texts; only the news prompts ask how sources differ."),
    ] = "news"
    prompts: Annotated[
        tuple[str, ...],
        Opt(
            "Your own prompt, a file with the placeholder {{articles}}. Repeatable: one is drawn "
            "at random for each cluster. 'fairjudge prompts show summarize/direct' shows the "
            "built-in prompt.",
            flag="--prompt",
            metavar="FILE",
        ),
    ] = ()
    n_sentences: Annotated[
        int | None, Opt("Requested length in sentences.", flag="--sentences", ge=1)
    ] = None
    n_words: Annotated[int | None, Opt("Requested length in words.", flag="--words", ge=1)] = None
    temperature: Annotated[float, Opt("Sampling temperature.", ge=0, le=2)] = 0.0
    sweeps: Annotated[
        tuple[str, ...],
        Opt(
            "Also write variants that differ in one setting: temperature=0.5,1, sentences=1,5, "
            "words=50, fair=ATTR (fair=none: without it), wording=length,undefined, "
            "labels=hidden, kind=reviews, prompt=FILE, focus=TOPIC or instruction=TEXT. "
            "Repeatable. Each variant is a separate system named SYSTEM+NAME=V.",
            flag="--sweep",
            metavar="NAME=V,V",
        ),
    ] = ()
    system: Annotated[str | None, Opt("Name of the resulting system. Default: MODEL-STRATEGY.")] = (
        None
    )

    @property
    def requirements(self) -> Requirements:
        """The instructions to the summarizer beyond covering the sources."""
        from fairjudge.summaries.requirements import Requirements

        return Requirements(
            **{field.name: getattr(self, field.name) for field in fields(Requirements)}
        )

    def identity(self) -> dict[str, Any]:
        """Return the options by name, as part of a run's identity."""
        names = ("fair_wording", "fair_labels", "focus", "instruction", "kind", "prompts")
        return identity_of(self, omit_if_default=names)
