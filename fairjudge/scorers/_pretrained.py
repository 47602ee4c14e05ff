"""Shared parts of the neural scorers: loading, windows, batches, fingerprints.

torch and transformers are imported inside functions: importing this module loads neither.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from fairjudge.errors import ConfigurationError, InputError, MissingExtraError, needs_extra

_T = TypeVar("_T")
BATCH_TOKENS = 16384
"""Maximum number of tokens per forward pass, including padding."""
_HUB_SECONDS = 10.0
_MAX_POSITIONS = 1_000_000
"""Limits from here on are ignored: tokenizers without a limit report an absurd number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PretrainedModel:
    """A loaded model, its tokenizer, and its maximum number of tokens.

    Runs in bfloat16 on CUDA if available, else in float32 on the CPU; always in float32 if loaded
    with ``half=False``.
    """

    model: Any
    tokenizer: Any
    window: int
    fingerprint: str

    @property
    def special_tokens(self) -> tuple[list[int], list[int]]:
        """The ids that the tokenizer adds before and after a single text."""
        encode = self.tokenizer.backend_tokenizer.encode
        plain_ids, ids = encode("a", add_special_tokens=False).ids, encode("a").ids
        positions = range(len(ids) - len(plain_ids) + 1)
        start = next((i for i in positions if ids[i : i + len(plain_ids)] == plain_ids), 0)
        return list(ids[:start]), list(ids[start + len(plain_ids) :])

    @property
    def max_text_tokens(self) -> int:
        """Maximum number of tokens of a text in the window, without special tokens."""
        return self.window - int(self.tokenizer.num_special_tokens_to_add())

    def tokens(self, text: str) -> list[int]:
        """Return the ids of `text` without special tokens; raise `InputError` if it has none."""
        encoding = self.tokenizer(encodable(text), add_special_tokens=False, verbose=False)
        tokens: list[int] = encoding["input_ids"]
        if not tokens:
            raise InputError(f"text {text!r} has no token in the model's vocabulary")
        return tokens

    def pad(self, rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """Return token ids and attention mask of shape (n, longest row), on the model's device."""
        import torch

        device, fill = self.model.device, self.tokenizer.pad_token_id or 0
        width = max(len(row) for row in rows)
        ids = torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], device=device)
        lengths = torch.tensor([len(row) for row in rows], device=device)
        mask = (torch.arange(width, device=device)[None, :] < lengths[:, None]).long()
        return ids, mask


def load_pretrained(
    name: str,
    *,
    auto_class: str,
    method: str,
    noun: str = "model",
    half: bool = True,
    fingerprint: str | None = None,
) -> PretrainedModel:
    """Load a model by hub id or folder, as the class `auto_class` of transformers.

    `method` is the scorer and its version, `noun` the term for the model in errors; `half` allows
    bfloat16 on CUDA. Without a `fingerprint`, all weights and the tokenizer are hashed. Raises
    `ConfigurationError` if the model cannot be loaded.
    """
    require_libraries(f"scorer {method!r}")
    import torch

    cuda = torch.cuda.is_available()
    dtype = torch.bfloat16 if cuda and half else torch.float32
    import transformers

    def load(*, local_files: bool) -> tuple[Any, Any]:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, local_files_only=local_files)
        auto = getattr(transformers, auto_class)
        return tokenizer, auto.from_pretrained(name, local_files_only=local_files, dtype=dtype)

    tokenizer, model = from_files_or_hub(name, load, noun)
    identity = "" if fingerprint else _digest(tokenizer, model)
    # A tokenizer's file may request padding to a fixed length, which would then pad every text.
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    model = model.to("cuda" if cuda else "cpu").eval()
    if not cuda:
        use_onednn(model)
    return PretrainedModel(
        model=model,
        tokenizer=tokenizer,
        window=window_tokens(tokenizer, model.config),
        fingerprint=fingerprint or f"{Path(name).name}@{identity}:{method}",
    )


def from_files_or_hub(name: str, load: Callable[..., _T], noun: str) -> _T:
    """Return the result of `load` on local files, or on the hub if these are incomplete."""
    *first_tries, last = _tries(name)
    for local_files in (*first_tries, last):
        if not local_files:
            _check_hub(name, noun)
        try:
            with _suppress_output():
                return load(local_files=local_files)
        except (OSError, ValueError) as error:
            if local_files is not last:
                continue
            raise ConfigurationError(f"cannot load {noun} {name!r}: {reason_of(error)}") from error
    raise AssertionError  # the last try returns or raises


def _tries(name: str) -> tuple[bool, ...]:
    """Return values of `local_files_only` to try: local files first."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    if Path(name).is_dir():
        return (True,)
    try:
        is_cached = isinstance(try_to_load_from_cache(name, "config.json"), str)
    except HFValidationError:
        is_cached = False
    return (True, False) if is_cached else (False,)


def _check_hub(name: str, noun: str) -> None:
    """Raise at once if the hub has no such model, or cannot be reached.

    transformers retries an unreachable hub for a minute.
    """
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=_HUB_SECONDS)
    except Exception as error:
        # The HTTP client of huggingface_hub raises its own exceptions.
        raise ConfigurationError(
            f"cannot load {noun} {name!r}: no such folder, not in the local cache, and the hub "
            f"does not provide it: {reason_of(error)}"
        ) from error


def reason_of(error: Exception) -> str:
    """Return the first line of an error, or its type if it has no text."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def require_libraries(feature: str) -> None:
    """Raise `MissingExtraError` if torch or transformers is not installed."""
    with needs_extra(feature, extra="local"):
        import torch  # noqa: F401  (absent in the light installation)
        import transformers  # noqa: F401


def package_file(package: str, part: str, *, feature: str, extra: str) -> Path:
    """Return the first file of an installed package with `part` in its name, without importing it.

    Raises `MissingExtraError` (`feature` needs `extra`) if there is none.
    """
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if part in file.name:
            return Path(str(file.locate())).resolve()
    raise MissingExtraError(feature, extra=extra)


def use_onednn(model: Any) -> None:
    """Run the linear layers of a float32 CPU model with oneDNN, if torch supports it.

    torch's default, MKL, does not use the wider instructions of AMD processors, on which oneDNN
    took half as long. The layers keep their weights; results agree up to float rounding.
    """
    import torch

    if torch.backends.mkldnn.is_available() and hasattr(torch.ops.aten, "mkldnn_linear"):
        for layer in model.modules():
            if type(layer) is torch.nn.Linear:
                layer.forward = _onednn_forward(layer)


def _onednn_forward(layer: Any) -> Callable[[Any], Any]:
    import torch

    weight = layer.weight.detach().to_mkldnn()
    bias = None if layer.bias is None else layer.bias.detach().to_mkldnn()

    def forward(inputs: Any) -> Any:
        if inputs.dtype != torch.float32:  # oneDNN supports bfloat16 only on some processors
            return torch.nn.functional.linear(inputs, layer.weight, layer.bias)
        return torch.ops.aten.mkldnn_linear(inputs.to_mkldnn(), weight, bias).to_dense()

    return forward


def batches(lengths: Sequence[int], *, budget: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield indices, longest first, in groups of at most `budget` tokens including padding."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def windows(tokens: Sequence[int], size: int, *, overlap: int) -> list[list[int]]:
    """Split `tokens` into overlapping windows of at most `size`; one empty window if empty."""
    step = max(1, size - overlap)
    starts = range(0, max(1, len(tokens) - overlap), step)
    return [list(tokens[start : start + size]) for start in starts]


def encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and thus the tokenizer cannot represent."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


@contextmanager
def _suppress_output() -> Iterator[None]:
    """Suppress transformers' warnings and progress bars, then restore both."""
    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging  # its functions are unannotated
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def window_tokens(tokenizer: Any, config: Any) -> int:
    """Return the model's maximum number of tokens, including special tokens.

    RoBERTa's positions begin after its padding id, so it has 2 fewer than configured.
    """
    limits = [int(tokenizer.model_max_length)]
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int):
        offset = 2 if "roberta" in str(getattr(config, "model_type", "")) else 0
        limits.append(positions - offset)
    plausible_limits = [limit for limit in limits if limit < _MAX_POSITIONS]
    return min(plausible_limits, default=512)


def _digest(tokenizer: Any, model: Any) -> str:
    """Hash all weights and the tokenizer, since folders with equal names may differ."""
    import torch

    digest = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode("utf-8"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode("utf-8"))
        digest.update(tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:16]
