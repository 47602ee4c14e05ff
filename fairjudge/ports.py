"""The ports: what the core asks of models, caches and judges. One method each.

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
"""``length``: the limit on tokens cut the reply off; ``error``: the server did, by its own word."""


def clean_text(text: object) -> object:
    """Drop NUL and replace lone surrogates by U+FFFD; other types are returned unchanged.

    Neither can be sent as JSON to every server or kept in SQLite, so they go before a request is
    hashed: the key is that of what was really sent.
    """
    text = replace_lone_surrogates(text)
    return text.replace("\0", "") if isinstance(text, str) else text


CleanText = Annotated[str, BeforeValidator(clean_text)]


class Wire(BaseModel):
    """A value that crosses a process edge: frozen, no unknown fields, no inf or nan."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ModelRef(Wire):
    """Which model answers: ``provider:model``, and the server if not the provider's own."""

    provider: str
    model: str
    base_url: str | None = None

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


class Message(Wire):
    """One chat message.

    ``fences`` are the places in ``content`` of the two marks around each piece of untrusted text,
    which `fairjudge.prompting.seal` replaces before the message is sent. ``shared`` is how many
    characters, from the first on, other requests on the same material are likely to begin with
    too; it changes no reply and no key.
    """

    role: Role
    content: CleanText
    fences: tuple[tuple[int, int], ...] = ()
    shared: int = Field(default=0, ge=0)

    def to_json(self) -> dict[str, str]:
        """Return role and content: what servers take."""
        return {"role": self.role, "content": self.content}


class CompletionRequest(Wire):
    """Everything that can change a reply, and nothing else: the cache key is a hash of it.

    ``response_schema`` is a JSON schema that the reply should follow where the provider can
    enforce it. ``sample_index`` tells repeated samples of one prompt apart. ``top_logprobs`` asks
    for that many alternatives a token. ``max_output_tokens`` counts tokens.
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
    """Tokens as the server counted them; None where it did not say.

    ``input_tokens`` are all of the prompt. Of them, ``cached_input_tokens`` were known to the
    provider from an earlier prompt, and ``written_input_tokens`` are now kept for later ones.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    written_input_tokens: int | None = None


class TokenAlternatives(Wire):
    """One generated token and the log-probabilities (nats) of the likeliest tokens at its place."""

    token: CleanText
    logprobs: Mapping[CleanText, float]


class Completion(Wire):
    """What a model replied. ``text`` is never empty and never a refusal: those are errors."""

    text: CleanText = Field(min_length=1)
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()
    served_model: str | None = None
    tokens: tuple[TokenAlternatives, ...] | None = None


class Backend(Protocol):
    """Generates text. Pipelines of middlewares are backends too."""

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
        return tuple(n for n, a in self.answers.items() if isinstance(a, DecisionRefusal))


class DecisionBackend(Protocol):
    """Answers typed questions with probabilities; writes no text."""

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""


class Embedder(Protocol):
    """Maps texts to unit vectors."""

    fingerprint: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return shape (n, d): one row of unit L2 norm a text, in the order given."""


class EntailmentModel(Protocol):
    """Says whether a premise entails, contradicts or leaves open a hypothesis."""

    fingerprint: str

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return shape (n, 3): P(entail), P(neutral), P(contradict) for (premise, hypothesis)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader makes of a passage: P(it answers), and the characters that do (end excluded).

    The span is the likeliest there is, however small `answered`.
    """

    answered: float
    start: int
    end: int


class TrainedModels(Protocol):
    """Small models of our own for pairs of texts; all probabilities are calibrated.

    What is longer than the models' window is cut at the passage's end: give them passages of a few
    sentences.
    """

    @property
    def identity(self) -> str:
        """Return the weights' name and digest, for signatures."""

    def supported(
        self, pairs: Sequence[tuple[str, str]], lacking: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return shape (n,): P(supported) of (passage, statement).

        `lacking` counts the statement's names and numbers that no source has.
        """

    def support(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 3): P(supported, neutral, contradicted) of (passage, statement)."""

    def covered(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): P(covered) of (passage of a summary, unit)."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return the best answer of each (question, passage), and how surely there is one."""

    def same_answer(self, triples: Sequence[tuple[str, str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): P(same) of (question, answer, answer); their order does not matter."""


class Cache(Protocol):
    """Keeps JSON values by key."""

    def get(self, key: str) -> Mapping[str, Any] | None:
        """Return the value kept under `key`, or None."""

    def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Keep `value` under `key`."""


class SharedCache(Cache, Protocol):
    """A cache of several machines, in which one of them claims a key before it asks."""

    def claim(self, key: str, *, ticket: str) -> bool:
        """Claim `key` for the caller `ticket`; True if the caller should call the model."""

    def release(self, key: str) -> None:
        """End the claim on `key` without a value; `put` ends it with one."""

    def check(self) -> None:
        """Raise if a value stored now would be lost."""
