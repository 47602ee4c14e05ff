"""Load causal language models and generate text in batches (torch)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
    TemperatureLogitsWarper,
    TopPLogitsWarper,
)

from fairjudge.backends.http import one_line
from fairjudge.errors import ConfigurationError, MissingExtraError

DEFAULT_WINDOW_TOKENS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling parameters, equal for all requests of a batch."""

    max_new_tokens: int
    temperature: float
    top_p: float | None
    stop: tuple[str, ...]
    top_logprobs: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedReply:
    """The token ids of one reply, and the most likely tokens with their log-probabilities."""

    token_ids: tuple[int, ...]
    is_complete: bool
    alternatives: tuple[tuple[tuple[int, float], ...], ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model with its tokenizer; ``window_tokens`` is the maximum length of prompt plus reply."""

    model: Any
    tokenizer: Any
    window_tokens: int


def load_model(name: str) -> LoadedModel:
    """Load a hub id, a folder, or a ``.gguf`` file in a folder or hub repository.

    It is loaded in bfloat16 on CUDA, else in float32. `ConfigurationError` if it cannot be loaded.
    """
    location, file = _location(name)
    options: dict[str, Any] = {} if file is None else {"gguf_file": file}
    if file is not None and not all(map(find_spec, ("gguf", "accelerate"))):
        raise MissingExtraError("a GGUF file", extra="gguf")
    cuda = torch.cuda.is_available()
    transformers.utils.logging.disable_progress_bar()
    logging.getLogger("transformers").setLevel(logging.ERROR)
    try:
        tokenizer = AutoTokenizer.from_pretrained(location, padding_side="left", **options)
        model = AutoModelForCausalLM.from_pretrained(
            location, dtype=torch.bfloat16 if cuda else torch.float32, **options
        )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        raise ConfigurationError(f"cannot load the model {name!r}: {one_line(error)}") from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.to("cuda" if cuda else "cpu").eval()
    text_config = model.config.get_text_config()
    window = getattr(text_config, "max_position_embeddings", None) or DEFAULT_WINDOW_TOKENS
    return LoadedModel(model=model, tokenizer=tokenizer, window_tokens=window)


def _location(name: str) -> tuple[str, str | None]:
    """Return the folder or hub id, and the GGUF file in it if `name` has one."""
    if not name.lower().endswith(".gguf"):
        return name, None
    path = Path(name)
    if path.exists() or path.is_absolute():
        return str(path.parent), path.name
    owner, _, remainder = name.partition("/")
    repository, _, file = remainder.partition("/")
    return f"{owner}/{repository}", file


def prompt_ids(tokenizer: Any, messages: Sequence[dict[str, str]]) -> list[int]:
    """Return the prompt's token ids, by the chat template if there is one, else as plain text.

    Control tokens inside messages are encoded as plain text. For a template without system
    messages, the system message is prepended to the first user message. Reasoning is disabled if
    the template supports it.
    """
    if not tokenizer.chat_template:
        plain = "\n\n".join(message["content"] for message in messages) + "\n"
        return list(tokenizer(plain)["input_ids"])
    try:
        return _apply_template(tokenizer, messages)
    except Exception as error:
        # Templates raise Jinja exceptions for unsupported roles and orders of roles.
        if messages[0]["role"] != "system" or len(messages) < 2:
            raise ConfigurationError(
                f"the model's chat template does not support these messages: {one_line(error)}"
            ) from error
        system, first, *later_messages = messages
        content = f"{system['content']}\n\n{first['content']}"
        return _apply_template(tokenizer, [{**first, "content": content}, *later_messages])


def _apply_template(tokenizer: Any, turns: Sequence[dict[str, str]]) -> list[int]:
    continues_reply = turns[-1]["role"] == "assistant"
    encoding = tokenizer.apply_chat_template(
        list(turns),
        add_generation_prompt=not continues_reply,
        continue_final_message=continues_reply,
        sanitize_control_tokens=not continues_reply,
        enable_thinking=False,
        return_dict=True,
    )
    return list(encoding["input_ids"])


def generate(
    loaded_model: LoadedModel,
    prompts: Sequence[list[int]],
    seeds: Sequence[int],
    sampling: Sampling,
) -> list[GeneratedReply]:
    """Return a reply for each prompt.

    Sampling uses Gumbel noise from one generator per prompt (the argmax of logits / temperature +
    noise is a draw from the softmax), so that a prompt's reply depends on its seed and not on its
    batch.
    """
    tokenizer, model = loaded_model.tokenizer, loaded_model.model
    batch = tokenizer.pad({"input_ids": list(prompts)}, return_tensors="pt").to(model.device)
    length = batch["input_ids"].shape[1]
    recorder = _Recorder(sampling.top_logprobs)
    processors = LogitsProcessorList([recorder])
    if sampling.temperature > 0:
        processors += [
            TemperatureLogitsWarper(sampling.temperature),
            *([] if sampling.top_p is None else [TopPLogitsWarper(sampling.top_p)]),
            _Gumbel(seeds, model.device),
        ]
    with torch.inference_mode():
        output = model.generate(
            **batch,
            generation_config=_generation_config(loaded_model, sampling),
            logits_processor=processors,
            stopping_criteria=StoppingCriteriaList([_StopTexts(tokenizer, sampling.stop, length)]),
        )
    return [
        _truncate(row, recorder.row(index), loaded_model)
        for index, row in enumerate(output[:, length:].tolist())
    ]


def _generation_config(loaded_model: LoadedModel, sampling: Sampling) -> GenerationConfig:
    model_config = loaded_model.model.generation_config
    return GenerationConfig(
        max_new_tokens=sampling.max_new_tokens,
        do_sample=False,  # the Gumbel processor has sampled already
        temperature=1.0,
        top_p=1.0,
        top_k=50,
        repetition_penalty=1.0,
        bos_token_id=model_config.bos_token_id,
        eos_token_id=_end_ids(loaded_model),
        pad_token_id=loaded_model.tokenizer.pad_token_id,
    )


def _end_ids(loaded_model: LoadedModel) -> list[int]:
    end_ids = loaded_model.model.generation_config.eos_token_id
    end_ids = end_ids if isinstance(end_ids, list) else [end_ids]
    ids = {*end_ids, loaded_model.tokenizer.eos_token_id} - {None}
    return sorted(ids)


def _truncate(row: list[int], alternatives: Any, loaded_model: LoadedModel) -> GeneratedReply:
    """Truncate a row of the output at its end token; the rest is padding."""
    ends = [index for index, token in enumerate(row) if token in set(_end_ids(loaded_model))]
    n_tokens = ends[0] if ends else len(row)
    return GeneratedReply(
        token_ids=tuple(row[:n_tokens]),
        is_complete=bool(ends),
        alternatives=None if alternatives is None else tuple(alternatives[:n_tokens]),
    )


class _Recorder(LogitsProcessor):  # type: ignore[misc]
    """A recorder of the most likely tokens at each step, by the unmodified logits."""

    def __init__(self, n: int | None) -> None:
        self._n = n
        self._steps: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ARG002
        if self._n is not None:
            logprobs = torch.log_softmax(scores.float(), dim=-1)
            top = logprobs.topk(min(max(self._n, 1), logprobs.shape[-1]), dim=-1)
            self._steps.append((top.indices.cpu(), top.values.cpu()))
        return scores

    def row(self, index: int) -> list[tuple[tuple[int, float], ...]] | None:
        if self._n is None:
            return None
        return [
            tuple(zip(ids[index].tolist(), values[index].tolist(), strict=True))
            for ids, values in self._steps
        ]


class _StopTexts(StoppingCriteria):  # type: ignore[misc]
    """Stop sequences that contain one of `texts`, with any tokenizer (unlike transformers')."""

    def __init__(self, tokenizer: Any, texts: Sequence[str], start: int) -> None:
        self._tokenizer = tokenizer
        self._texts = texts
        self._start = start
        # A token has at least one character, except the parts of a multi-token character.
        self._n_tokens = 8 + max(map(len, texts), default=0)

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        has_stop = [False] * len(input_ids)
        if self._texts:
            first = max(self._start, input_ids.shape[1] - self._n_tokens)
            ends = self._tokenizer.batch_decode(input_ids[:, first:])
            has_stop = [any(text in end for text in self._texts) for end in ends]
        return torch.tensor(has_stop, device=input_ids.device)


class _Gumbel(LogitsProcessor):  # type: ignore[misc]
    def __init__(self, seeds: Sequence[int], device: Any) -> None:
        self._generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ARG002
        # Minus the logarithm of a standard exponential is standard Gumbel.
        noise = torch.empty_like(scores, dtype=torch.float32)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        return scores - noise.log()
