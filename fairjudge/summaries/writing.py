"""Summaries of clusters by an LLM: DiverseSumm C.2, with fairness and length instructions.

``direct`` puts all articles into one prompt, ``differences`` too, for a summary of what they say
differently alone (DiverseSumm's own task); ``extract`` picks salient sentences an article first,
for models with a short context. Stubs are excluded, as in judging.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from fairjudge.domain import Article, Cluster, Summary, Unscored
from fairjudge.errors import ConfigurationError, PromptError
from fairjudge.judges.criteria import fence_articles
from fairjudge.parsing import without_reasoning
from fairjudge.parsing.outcomes import complete_or_unscored, is_cut_off, with_cut_off
from fairjudge.ports import Backend, CompletionRequest, Message, ModelRef
from fairjudge.prompting import Fenced, Template, load_template, load_template_file, render
from fairjudge.summaries.wishes import DOCUMENTS, Wishes, has_attribute
from fairjudge.text.usable import worth_reading

Strategy: TypeAlias = Literal["direct", "extract", "differences"]

SENTENCES_PER_ARTICLE = 5
"""DiverseSumm, footnote 4."""
_ARTICLES, _INSTRUCTIONS = "articles", "instructions"
"""Fields of a custom prompt; the first is required."""


_NO_WISHES = Wishes()


def own_prompt(path: str) -> Template:
    """Read a custom prompt; `PromptError` without ``articles`` or with unknown fields."""
    template = load_template_file(Path(path))
    if _ARTICLES not in template.fields or template.fields - {_ARTICLES, _INSTRUCTIONS}:
        raise PromptError(
            f"{path}: a prompt for summaries has {{{{{_ARTICLES}}}}}, perhaps "
            f"{{{{{_INSTRUCTIONS}}}}}, and nothing else; found {sorted(template.fields)}"
        )
    return template


def draw_prompt(prompts: Sequence[str], eid: str, seed: int) -> str:
    """Draw the prompt of a cluster; independent of other clusters."""
    digest = hashlib.sha256(f"{seed}:{eid}".encode(errors="replace")).digest()
    return prompts[int.from_bytes(digest[:8]) % len(prompts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarizer:
    """A model with a strategy; ``system`` names the result, by default ``<model>-<strategy>``.

    Raises `ConfigurationError` where a summary of the wanted length would not fit
    ``max_output_tokens``, or the strategy has no prompt for the kind of texts.
    """

    backend: Backend
    target: ModelRef
    strategy: Strategy = "direct"
    wishes: Wishes = _NO_WISHES
    temperature: float = 0.0
    seed: int | None = None
    max_output_tokens: int = 1024
    system: str | None = None

    def __post_init__(self) -> None:
        if self.wishes.n_tokens > self.max_output_tokens:
            raise ConfigurationError(
                f"a summary of that length takes up to {self.wishes.n_tokens} tokens, and a reply "
                f"may have {self.max_output_tokens}: give more by --max-output-tokens"
            )
        if self.strategy != "direct" and (self.wishes.prompts or self.wishes.kind != "news"):
            raise ConfigurationError(
                f"strategy {self.strategy!r} has prompts of its own, for news: texts of another "
                "kind and --prompt take 'direct'"
            )

    @property
    def name(self) -> str:
        """Return the name of the resulting system."""
        return self.system or f"{self.target.model}-{self.strategy}"

    async def summarize(self, cluster: Cluster) -> Summary | Unscored:
        """Return a summary of the articles that have content, or why there is none."""
        articles = worth_reading(cluster.articles)
        if not articles:
            return Unscored(reason="empty_input", detail="no article has content")
        attribute = self.wishes.fair_attribute
        if attribute is not None and not has_attribute(articles, attribute):
            detail = f"no article with content has the attribute {attribute!r}"
            return Unscored(reason="empty_input", detail=detail)
        text = await self._text(cluster.eid, articles)
        if isinstance(text, Unscored):
            return text
        return Summary(eid=cluster.eid, system=self.name, text=text)

    async def _text(self, eid: str, articles: tuple[Article, ...]) -> str | Unscored:
        fields: dict[str, str | Fenced] = {
            _INSTRUCTIONS: self.wishes.instructions(articles, max_tokens=self.max_output_tokens)
        }
        if self.wishes.prompts:
            return await self._by_own_prompt(eid, articles, fields)
        if self.strategy == "extract":
            extracts = await self._extracts(articles)
            if isinstance(extracts, Unscored):
                return extracts
            return await self._complete("fuse", {**fields, "extracts": extracts})
        fields[_ARTICLES] = fence_articles(articles)
        if self.wishes.kind == "news":
            return await self._complete(self.strategy, fields)
        return await self._complete("plain", {**fields, "documents": DOCUMENTS[self.wishes.kind]})

    async def _by_own_prompt(
        self, eid: str, articles: tuple[Article, ...], fields: Mapping[str, str | Fenced]
    ) -> str | Unscored:
        """Render the prompt drawn for a cluster; inputs without a placeholder are appended."""
        template = own_prompt(draw_prompt(self.wishes.prompts, eid, self.seed or 0))
        offered = {**fields, _ARTICLES: fence_articles(articles)}
        messages = render(template, {name: offered[name] for name in template.fields})
        wording = self.wishes.asked(articles)
        if wording and _INSTRUCTIONS not in template.fields:
            last = messages[-1]
            more = {"content": f"{last.content}\n\n{wording}"}
            messages = (*messages[:-1], last.model_copy(update=more))
        return await self._ask(messages)

    async def _extracts(self, articles: Sequence[Article]) -> Fenced | Unscored:
        n = str(SENTENCES_PER_ARTICLE)
        fenced = (fence_articles((article,)) for article in articles)
        extracts = await asyncio.gather(
            *(
                self._complete("extract", {"article": article, "n_sentences": n})
                for article in fenced
            )
        )
        texts = []
        for article, extract in zip(articles, extracts, strict=True):
            if isinstance(extract, Unscored):
                return extract
            texts.append(f"{article.title}\n\n{extract}".strip())
        return Fenced("source", tuple(texts), tuple(article.domain for article in articles))

    async def _complete(self, template: str, fields: Mapping[str, str | Fenced]) -> str | Unscored:
        return await self._ask(render(load_template("summarize", template), fields))

    async def _ask(self, messages: tuple[Message, ...]) -> str | Unscored:
        """Return what the model wrote after its reasoning."""
        request = CompletionRequest(
            target=self.target,
            messages=messages,
            temperature=self.temperature,
            seed=self.seed,
            max_output_tokens=self.max_output_tokens,
        )
        reply = await complete_or_unscored(self.backend, request)
        if isinstance(reply, Unscored):
            return reply
        if is_cut_off(reply):
            why = Unscored(reason="unparseable", detail="no whole text", raw=reply.text)
            return with_cut_off(why)
        text = without_reasoning(reply.text).strip()
        if not text:
            detail = "the reply holds reasoning and no text"
            return Unscored(reason="unparseable", detail=detail, raw=reply.text)
        return text
