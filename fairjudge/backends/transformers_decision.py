"""Any chat model of transformers as a decision model, in this process; needs ``[local]``."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
import transformers

from fairjudge.backends.generation import load_model
from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, check_target, one_line
from fairjudge.backends.ports import Warn
from fairjudge.backends.systemone_wire import questions_of, read_decisions, state_of
from fairjudge.errors import BackendError, ConfigurationError, ContextTooLongError
from fairjudge.protocols import DecisionRequest, Decisions, ModelRef, Usage


class TransformersDecisionBackend:
    """Answers typed questions with transformers' decision pipeline.

    A chat model's next-token probabilities of the options' labels, renormalized over the options:
    one forward pass a question, no text. The model is a hub id, a folder or a GGUF file; where it
    cannot be loaded, or transformers has no such pipeline, `ConfigurationError` is raised.
    """

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,  # noqa: ARG002
        warn: Warn | None = None,  # noqa: ARG002
    ) -> None:
        self.target = target
        loaded = load_model(target.model)
        self._window_tokens = loaded.window_tokens
        self._pipeline = _pipeline(loaded.model, loaded.tokenizer)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="decide")

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        asked = {"state": state_of(request), "questions": questions_of(request)}
        loop = asyncio.get_running_loop()
        answers, n_tokens = await loop.run_in_executor(self._thread, self._decide, asked)
        decisions = read_decisions(request, {"answers": answers, "model": self.target.model})
        usage = Usage(input_tokens=n_tokens, output_tokens=0)
        return decisions.model_copy(update={"usage": usage})

    async def aclose(self) -> None:
        """Let the model go."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _decide(self, asked: dict[str, Any]) -> tuple[dict[str, Any], int]:
        try:
            inputs = self._pipeline.preprocess(asked)
            lengths = [prompt["input_ids"].shape[-1] for prompt, _ in inputs["prompts"]]
            if max(lengths) > self._window_tokens:
                raise ContextTooLongError(
                    f"the prompt has {max(lengths)} tokens; {self.target} has room for "
                    f"{self._window_tokens}"
                )
            with torch.inference_mode():
                outputs = self._pipeline.forward(inputs)
            return self._pipeline.postprocess(outputs), sum(lengths)
        except (ValueError, torch.OutOfMemoryError) as error:
            # ValueError: options whose labels are no single tokens of this model, and the like.
            raise BackendError(f"{self.target} cannot decide this: {one_line(error)}") from error


def _pipeline(model: Any, tokenizer: Any) -> Any:
    try:
        return transformers.pipeline("decision", model=model, tokenizer=tokenizer)
    except KeyError as error:
        raise ConfigurationError(
            "backend 'transformers-decision' needs a transformers with the decision pipeline; "
            f"{transformers.__version__} has none"
        ) from error
