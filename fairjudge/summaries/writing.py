"""Summarize clusters with an LLM: DiverseSumm C.2, with fairness and length instructions.

``direct`` puts all articles into one prompt. ``differences`` does, too, and asks only for the
differences between articles (DiverseSumm's task). ``extract`` first selects salient sentences of
each article, for models with a short context. Stubs are excluded, as in judging.
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
from fairjudge.summaries.requirements import DOCUMENTS, Requirements, has_attribute
from fairjudge.text.usable import worth_reading

Strategy: TypeAlias = Literal["direct", "extract", "differences"]

SENTENCES_PER_ARTICLE = 5
"""DiverseSumm, footnote 4."""
_ARTICLES, _INSTRUCTIONS = "articles", "instructions"
"""Fields of a custom prompt; the first is required."""


_NO_REQUIREMENTS = Requirements()


def read_prompt(path: str) -> Template:
    """Read a custom prompt; raise `PromptError` without ``articles`` or with unknown fields."""
    template = load_template_file(Path(path))
    if _ARTICLES not in template.fields or template.fields - {_ARTICLES, _INSTRUCTIONS}:
        raise PromptError(
            f"{path}: a prompt for summaries must use {{{{{_ARTICLES}}}}}, may use "
            f"{{{{{_INSTRUCTIONS}}}}}, and no other fields; found {sorted(template.fields)}"
        )
    return template


def draw_prompt(prompts: Sequence[str], eid: str, seed: int) -> str:
    """Draw the prompt of a cluster, independently of other clusters."""
    digest = hashlib.sha256(f"{seed}:{eid}".encode(errors="replace")).digest()
    return prompts[int.from_bytes(digest[:8]) % len(prompts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarizer:
    """A model with a strategy; ``system`` is the result's name, by default ``<model>-<strategy>``.

    Raises `ConfigurationError` if a summary of the required length exceeds ``max_output_tokens``,
    or the strategy has no prompt for the kind of texts.
    """

    backend: Backend
    target: ModelRef
    strategy: Strategy = "direct"
    requirements: Requirements = _NO_REQUIREMENTS
    temperature: float = 0.0
    seed: int | None = None
    max_output_tokens: int = 1024
    system: str | None = None

    def __post_init__(self) -> None:
        if self.requirements.n_tokens > self.max_output_tokens:
            raise ConfigurationError(
                f"a summary of that length may have {self.requirements.n_tokens} tokens, but a "
                f"reply is limited to {self.max_output_tokens}: raise --max-output-tokens"
            )
        if self.strategy != "direct" and (
            self.requirements.prompts or self.requirements.kind != "news"
        ):
            raise ConfigurationError(
                f"strategy {self.strategy!r} has fixed prompts for news: use 'direct' for other "
                "kinds of texts and for --prompt"
            )

    @property
    def name(self) -> str:
        """Return the name of the resulting system."""
        return self.system or f"{self.target.model}-{self.strategy}"

    async def summarize(self, cluster: Cluster) -> Summary | Unscored:
        """Return a summary of the articles with content, or the reason why there is none."""
        articles = worth_reading(cluster.articles)
        if not articles:
            return Unscored(reason="empty_input", detail="no article has content")
        attribute = self.requirements.fair_attribute
        if attribute is not None and not has_attribute(articles, attribute):
            detail = f"no article with content has the attribute {attribute!r}"
            return Unscored(reason="empty_input", detail=detail)
        text = await self._text(cluster.eid, articles)
        if isinstance(text, Unscored):
            return text
        return Summary(eid=cluster.eid, system=self.name, text=text)

    async def _text(self, eid: str, articles: tuple[Article, ...]) -> str | Unscored:
        fields: dict[str, str | Fenced] = {
            _INSTRUCTIONS: self.requirements.instructions(
                articles, max_tokens=self.max_output_tokens
            )
        }
        if self.requirements.prompts:
            return await self._complete_with_custom_prompt(eid, articles, fields)
        if self.strategy == "extract":
            extracts = await self._extracts(articles)
            if isinstance(extracts, Unscored):
                return extracts
            return await self._complete("fuse", {**fields, "extracts": extracts})
        fields[_ARTICLES] = fence_articles(articles)
        if self.requirements.kind == "news":
            return await self._complete(self.strategy, fields)
        return await self._complete(
            "plain", {**fields, "documents": DOCUMENTS[self.requirements.kind]}
        )

    async def _complete_with_custom_prompt(
        self, eid: str, articles: tuple[Article, ...], fields: Mapping[str, str | Fenced]
    ) -> str | Unscored:
        """Render the prompt drawn for a cluster; inputs without a placeholder are appended."""
        template = read_prompt(draw_prompt(self.requirements.prompts, eid, self.seed or 0))
        all_fields = {**fields, _ARTICLES: fence_articles(articles)}
        messages = render(template, {name: all_fields[name] for name in template.fields})
        wording = self.requirements.explicit_instructions(articles)
        if wording and _INSTRUCTIONS not in template.fields:
            last = messages[-1]
            update = {"content": f"{last.content}\n\n{wording}"}
            messages = (*messages[:-1], last.model_copy(update=update))
        return await self._ask(messages)

    async def _extracts(self, articles: Sequence[Article]) -> Fenced | Unscored:
        n = str(SENTENCES_PER_ARTICLE)
        fenced_articles = (fence_articles((article,)) for article in articles)
        extracts = await asyncio.gather(
            *(
                self._complete("extract", {"article": article, "n_sentences": n})
                for article in fenced_articles
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
        """Return the model's text after its reasoning."""
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
            outcome = Unscored(reason="unparseable", detail="no whole text", raw=reply.text)
            return with_cut_off(outcome)
        text = without_reasoning(reply.text).strip()
        if not text:
            detail = "the reply holds reasoning and no text"
            return Unscored(reason="unparseable", detail=detail, raw=reply.text)
        return text
