"""The ports: interfaces of models, caches and judges for the core.

Wire values (requests and replies) are pydantic: they are hashed, cached and recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fairjudge.domain import replace_lone_surrogates

Role: TypeAlias = Literal["system", "user", "assistant"]
FinishReason: TypeAlias = Literal["stop", "length", "error", "refusal", "other"]
"""``length``: truncated at the token limit; ``error``: truncated by an error of the server."""


def clean_text(text: object) -> object:
    """Remove NUL and replace lone surrogates by U+FFFD; other types are returned unchanged.

    Some servers reject them in JSON, and SQLite cannot store them. They are removed before a
    request is hashed, so that the cache key belongs to the text that is sent.
    """
    text = replace_lone_surrogates(text)
    return text.replace("\0", "") if isinstance(text, str) else text


CleanText = Annotated[str, BeforeValidator(clean_text)]


class Wire(BaseModel):
    """A value sent to or from another process: frozen, without unknown fields, inf or nan."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ModelRef(Wire):
    """A model, ``provider:model``, and the URL of its server if not the provider's default."""

    provider: str
    model: str
    base_url: str | None = None

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


class Message(Wire):
    """One chat message.

    ``fences`` are the positions in ``content`` of the two marks around each untrusted text, which
    `fairjudge.prompting.seal` replaces before the message is sent. ``shared`` is the length, in
    characters, of the prefix that other requests on the same material are likely to have too; it
    affects neither replies nor cache keys.
    """

    role: Role
    content: CleanText
    fences: tuple[tuple[int, int], ...] = ()
    shared: int = Field(default=0, ge=0)

    def to_json(self) -> dict[str, str]:
        """Return role and content, as servers expect them."""
        return {"role": self.role, "content": self.content}


class CompletionRequest(Wire):
    """All inputs that can change a reply; the cache key is a hash of them.

    ``response_schema`` is a JSON schema for the reply, if the provider can enforce it.
    ``sample_index`` distinguishes repeated samples of one prompt. ``top_logprobs`` is the number of
    alternatives requested per token.
    """

    target: ModelRef
    messages: tuple[Message, ...] = Field(min_length=1)
    response_schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    top_p: float | None = None
    max_output_tokens: int = Field(default=1024, gt=0)
    seed: int | None = None
    stop: tuple[CleanText, ...] = ()
    top_logprobs: int | None = Field(default=None, ge=0)
    sample_index: int = Field(default=0, ge=0)


class Usage(Wire):
    """Token counts reported by the server; None if not reported.

    ``input_tokens`` is the length of the prompt. It includes ``cached_input_tokens``, read from
    the provider's prompt cache, and ``written_input_tokens``, written to that cache.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    written_input_tokens: int | None = None


class TokenAlternatives(Wire):
    """One generated token and the log-probabilities (nats) of the most likely tokens there."""

    token: CleanText
    logprobs: Mapping[CleanText, float]


class Completion(Wire):
    """A model's reply. ``text`` is never empty and never a refusal: those are errors."""

    text: CleanText = Field(min_length=1)
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()
    served_model: str | None = None
    tokens: tuple[TokenAlternatives, ...] | None = None


class Backend(Protocol):
    """A generator of text; a pipeline of middlewares is a backend too."""

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""


class Question(Wire):
    """One typed question to a decision model: a yes/no, a choice, or a described scale.

    ``options`` maps each allowed answer to its description; for ``"predicate"`` they are
    ``"yes"`` and ``"no"``, for ``"score"`` the levels in ascending order.
    """

    name: str
    kind: Literal["predicate", "choice", "score"]
    text: CleanText
    options: Mapping[CleanText, CleanText] = Field(min_length=2)


class DecisionRequest(Wire):
    """Questions about one text; like `CompletionRequest`, its hash is the cache key."""

    target: ModelRef
    messages: tuple[Message, ...] = Field(min_length=1)
    questions: tuple[Question, ...] = Field(min_length=1)
    sample_index: int = Field(default=0, ge=0)


class Distribution(Wire):
    """The probability of every option of one question; sums to 1 within rounding."""

    probabilities: Mapping[str, float]


class DecisionRefusal(Wire):
    """A question that the model declined to answer."""

    why: str


class Decisions(Wire):
    """The answer to each question, by name."""

    answers: Mapping[str, Distribution | DecisionRefusal]
    usage: Usage = Usage()
    served_model: str | None = None

    @property
    def refused(self) -> tuple[str, ...]:
        """The names of the questions that the model declined to answer."""
        return tuple(
            name for name, answer in self.answers.items() if isinstance(answer, DecisionRefusal)
        )


class DecisionBackend(Protocol):
    """A model that answers typed questions with probabilities, without text."""

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""


class Embedder(Protocol):
    """A model that maps texts to unit vectors."""

    fingerprint: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return shape (n, d): one row of unit L2 norm per text, in order."""


class EntailmentModel(Protocol):
    """A classifier of pairs of premise and hypothesis as entailment, neutral or contradiction."""

    fingerprint: str

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return shape (n, 3): P(entail), P(neutral), P(contradict) for (premise, hypothesis)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer found in a passage: P(passage answers), and the span (end-exclusive).

    ``start`` and ``end`` are the most likely span, even if ``answered`` is small.
    """

    answered: float
    start: int
    end: int


class TrainedModels(Protocol):
    """FairJudge's own small models for pairs of texts; all probabilities are calibrated.

    Inputs longer than the models' window are truncated at the end of the passage, so passages
    should be a few sentences long.
    """

    @property
    def identity(self) -> str:
        """Return the name and digest of the weights, for signatures."""

    def support_probabilities(
        self, pairs: Sequence[tuple[str, str]], n_missing: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return shape (n,): P(supported) of (passage, statement).

        `n_missing` are the numbers of names and numbers in each statement that no source contains.
        """

    def support(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 3): P(supported, neutral, contradicted) of (passage, statement)."""

    def coverage_probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): P(covered) of (passage of a summary, unit)."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return the best answer of each (question, passage), and P(passage answers)."""

    def same_answer(self, triples: Sequence[tuple[str, str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): P(same) of (question, answer, answer), symmetric in the answers."""


class Cache(Protocol):
    """A store of JSON values by key."""

    def get(self, key: str) -> Mapping[str, Any] | None:
        """Return the value stored under `key`, or None."""

    def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Store `value` under `key`."""


class SharedCache(Cache, Protocol):
    """A cache shared by several machines; one claims a key before it calls the model."""

    def claim(self, key: str, *, ticket: str) -> bool:
        """Claim `key` for the caller `ticket`; return whether the caller should call the model."""

    def release(self, key: str) -> None:
        """Release the claim on `key` without a value; `put` releases it with one."""

    def check(self) -> None:
        """Raise if values can no longer be stored."""
