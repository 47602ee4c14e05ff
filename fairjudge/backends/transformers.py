"""Causal language models in this process, for text or decisions; requires the extra ``[local]``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch
import transformers

from fairjudge.backends.chat_wire import truncate_at_stop
from fairjudge.backends.generation import GeneratedReply, Sampling, generate, load_model, prompt_ids
from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, one_line
from fairjudge.backends.ports import Warn
from fairjudge.backends.systemone_wire import questions_json, read_decisions, state_json
from fairjudge.errors import (
    BackendError,
    ConfigurationError,
    ContextTooLongError,
    EmptyReplyError,
)
from fairjudge.ports import (
    Completion,
    CompletionRequest,
    DecisionRequest,
    Decisions,
    ModelRef,
    TokenAlternatives,
    Usage,
)

MAX_PROMPTS = 64
BATCH_TOKENS_CPU = 8_192
BATCH_TOKENS_CUDA = 131_072


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    prompt: list[int]
    seed: int
    sampling: Sampling
    reply: asyncio.Future[GeneratedReply]

    @property
    def n_tokens(self) -> int:
        return len(self.prompt) + self.sampling.max_new_tokens


class _InProcessModel:
    """Base class: a loaded model with the single thread in which it runs."""

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,  # noqa: ARG002
        warn: Warn | None = None,
    ) -> None:
        self.target = target
        self._warn = warn
        self._loaded_model = load_model(target.model)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="local-model")

    async def aclose(self) -> None:
        """Stop the model's thread."""
        self._thread.shutdown(wait=True, cancel_futures=True)


class TransformersBackend(_InProcessModel):
    """A language model given as hub id, folder or GGUF file, on CUDA if available.

    Waiting requests with equal sampling parameters are generated in one batch. A reply schema is
    not enforced. Without a seed, sampling is seeded by the sample index. ``warn`` is called if a
    batch does not fit the device's memory and is divided. A model that cannot be loaded raises
    `ConfigurationError`.
    """

    def __init__(self, target: ModelRef, **options: Any) -> None:
        super().__init__(target, **options)
        on_cuda = self._loaded_model.model.device.type == "cuda"
        self._batch_tokens = BATCH_TOKENS_CUDA if on_cuda else BATCH_TOKENS_CPU
        self._jobs: list[_Job] = []
        self._worker: asyncio.Task[None] | None = None

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        job = self._job(request)
        self._jobs.append(job)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return self._completion(request, job, await job.reply)

    def _job(self, request: CompletionRequest) -> _Job:
        messages = [message.to_json() for message in request.messages]
        prompt = prompt_ids(self._loaded_model.tokenizer, messages)
        room = self._loaded_model.window_tokens - len(prompt)
        if room < 1:
            raise ContextTooLongError(
                f"the prompt has {len(prompt)} tokens; the context of {self.target} is "
                f"{self._loaded_model.window_tokens} tokens with the reply"
            )
        sampling = Sampling(
            max_new_tokens=min(request.max_output_tokens, room),
            temperature=request.temperature,
            top_p=request.top_p,
            stop=request.stop,
            top_logprobs=request.top_logprobs,
        )
        seed = (request.seed or 0) + request.sample_index
        reply = asyncio.get_running_loop().create_future()
        return _Job(prompt=prompt, seed=seed, sampling=sampling, reply=reply)

    async def _work(self) -> None:
        await asyncio.sleep(0)  # so that concurrent requests are in one batch
        loop = asyncio.get_running_loop()
        while batch := self._next_batch():
            replies: Sequence[GeneratedReply | Exception]
            try:
                replies = await loop.run_in_executor(self._thread, self._generate, batch)
            except torch.OutOfMemoryError:
                replies = [BackendError("one prompt does not fit the device's memory")] * len(batch)
            except Exception as error:
                replies = [error] * len(batch)
            for job, reply in zip(batch, replies, strict=True):
                if job.reply.done():
                    continue
                if isinstance(reply, Exception):
                    job.reply.set_exception(reply)
                else:
                    job.reply.set_result(reply)

    def _next_batch(self) -> list[_Job]:
        """Remove and return the oldest job and those with equal sampling, up to the token limit."""
        self._jobs = [job for job in self._jobs if not job.reply.done()]
        batch: list[_Job] = []
        remaining_jobs: list[_Job] = []
        max_tokens = 0
        for job in self._jobs:
            new_max_tokens = max(max_tokens, job.n_tokens)
            fits = not batch or (
                job.sampling == batch[0].sampling
                and len(batch) < MAX_PROMPTS
                and new_max_tokens * (len(batch) + 1) <= self._batch_tokens
            )
            if fits:
                batch.append(job)
                max_tokens = new_max_tokens
            else:
                remaining_jobs.append(job)
        self._jobs = remaining_jobs
        return batch

    def _generate(self, batch: Sequence[_Job]) -> list[GeneratedReply]:
        try:
            return generate(
                self._loaded_model,
                [job.prompt for job in batch],
                [job.seed for job in batch],
                batch[0].sampling,
            )
        except torch.OutOfMemoryError:
            if len(batch) == 1:
                raise
        half = len(batch) // 2
        if self._warn is not None:
            self._warn(f"{len(batch)} prompts do not fit the memory; retrying with {half}")
        return self._generate(batch[:half]) + self._generate(batch[half:])

    def _completion(
        self, request: CompletionRequest, job: _Job, reply: GeneratedReply
    ) -> Completion:
        tokenizer = self._loaded_model.tokenizer
        full_text = tokenizer.decode(reply.token_ids, skip_special_tokens=True)
        text = truncate_at_stop(full_text, request.stop)
        if not text.strip():
            raise EmptyReplyError("the reply has no text")
        return Completion(
            text=text,
            finish_reason="stop" if reply.is_complete or text != full_text else "length",
            usage=Usage(input_tokens=len(job.prompt), output_tokens=len(reply.token_ids)),
            served_model=self.target.model,
            tokens=None if reply.alternatives is None else self._tokens(reply),
        )

    def _tokens(self, reply: GeneratedReply) -> tuple[TokenAlternatives, ...]:
        decode = self._loaded_model.tokenizer.decode
        return tuple(
            TokenAlternatives(
                token=decode([token]),
                logprobs={decode([likely]): logprob for likely, logprob in reversed(alternatives)},
            )
            for token, alternatives in zip(reply.token_ids, reply.alternatives or (), strict=True)
        )


class TransformersDecisionBackend(_InProcessModel):
    """A decision model by transformers' decision pipeline.

    The probabilities are those of the options' labels as the next token of a chat model,
    renormalized over the options, with one forward pass per question. The model is a hub id, a
    folder or a GGUF file; if it cannot be loaded, or transformers has no such pipeline,
    `ConfigurationError` is raised.
    """

    def __init__(self, target: ModelRef, **options: Any) -> None:
        super().__init__(target, **options)
        self._pipeline = _pipeline(self._loaded_model.model, self._loaded_model.tokenizer)

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        query = {"state": state_json(request), "questions": questions_json(request)}
        loop = asyncio.get_running_loop()
        answers, n_tokens = await loop.run_in_executor(self._thread, self._decide, query)
        decisions = read_decisions(request, {"answers": answers, "model": self.target.model})
        usage = Usage(input_tokens=n_tokens, output_tokens=0)
        return decisions.model_copy(update={"usage": usage})

    def _decide(self, query: dict[str, Any]) -> tuple[dict[str, Any], int]:
        try:
            inputs = self._pipeline.preprocess(query)
            lengths = [prompt["input_ids"].shape[-1] for prompt, _ in inputs["prompts"]]
            if max(lengths) > self._loaded_model.window_tokens:
                raise ContextTooLongError(
                    f"the prompt has {max(lengths)} tokens; the context of {self.target} is "
                    f"{self._loaded_model.window_tokens} tokens"
                )
            with torch.inference_mode():
                outputs = self._pipeline.forward(inputs)
            return self._pipeline.postprocess(outputs), sum(lengths)
        except (ValueError, torch.OutOfMemoryError) as error:
            # ValueError: for example if the options' labels are not single tokens of this model.
            raise BackendError(f"{self.target} cannot decide this: {one_line(error)}") from error


def _pipeline(model: Any, tokenizer: Any) -> Any:
    try:
        return transformers.pipeline("decision", model=model, tokenizer=tokenizer)
    except KeyError as error:
        raise ConfigurationError(
            "backend 'transformers-decision' requires a version of transformers with "
            f"the decision pipeline, not {transformers.__version__}"
        ) from error
