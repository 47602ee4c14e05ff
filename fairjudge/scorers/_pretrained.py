"""What the neural scorers share: loading, windows, batches, fingerprints.

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
"""Tokens, padding included, in one forward pass."""
_HUB_SECONDS = 10.0
_MAX_POSITIONS = 1_000_000
"""Tokenizers without a limit of their own state an absurd one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pretrained:
    """A model ready to run, its tokenizer, and how many tokens it takes at once.

    Runs in bfloat16 on CUDA where there is one, else in float32 on the CPU; always in float32 where
    its loader asked for that.
    """

    model: Any
    tokenizer: Any
    window: int
    fingerprint: str

    @property
    def special(self) -> tuple[list[int], list[int]]:
        """The ids that the tokenizer puts before and after a single text."""
        encode = self.tokenizer.backend_tokenizer.encode
        bare, dressed = encode("a", add_special_tokens=False).ids, encode("a").ids
        spread = range(len(dressed) - len(bare) + 1)
        start = next((i for i in spread if dressed[i : i + len(bare)] == bare), 0)
        return list(dressed[:start]), list(dressed[start + len(bare) :])

    @property
    def room(self) -> int:
        """How many tokens of a text go into the window beside the special ones."""
        return self.window - int(self.tokenizer.num_special_tokens_to_add())

    def tokens(self, text: str) -> list[int]:
        """Return the ids of `text`, without special ones; raise `InputError` where it has none."""
        encoded = self.tokenizer(encodable(text), add_special_tokens=False, verbose=False)
        tokens: list[int] = encoded["input_ids"]
        if not tokens:
            raise InputError(f"text {text!r} has no token in the model's vocabulary")
        return tokens

    def padded(self, rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
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
) -> Pretrained:
    """Load a model by hub id or folder, as the class `auto_class` of transformers.

    `method` names the scorer and its version, `noun` the model in errors; `half` lets it run in
    bfloat16 on CUDA. Without a `fingerprint`, every weight and the tokenizer are hashed. A model
    that cannot be loaded raises `ConfigurationError`.
    """
    require_libraries(f"scorer {method!r}")
    import torch

    cuda = torch.cuda.is_available()
    dtype = torch.bfloat16 if cuda and half else torch.float32
    import transformers

    def both(*, local: bool) -> tuple[Any, Any]:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, local_files_only=local)
        auto = getattr(transformers, auto_class)
        return tokenizer, auto.from_pretrained(name, local_files_only=local, dtype=dtype)

    tokenizer, model = from_files_or_hub(name, both, noun)
    identity = "" if fingerprint else _digest(tokenizer, model)
    # A tokenizer's file may ask for padding to a fixed length, which no text then is without.
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    model = model.to("cuda" if cuda else "cpu").eval()
    if not cuda:
        use_onednn(model)
    return Pretrained(
        model=model,
        tokenizer=tokenizer,
        window=window_tokens(tokenizer, model.config),
        fingerprint=fingerprint or f"{Path(name).name}@{identity}:{method}",
    )


def from_files_or_hub(name: str, load: Callable[..., _T], noun: str) -> _T:
    """Return what `load` makes of local files, or of the hub where these are not enough."""
    *earlier, last = _tries(name)
    for local in (*earlier, last):
        if not local:
            _check_hub(name, noun)
        try:
            with _quiet():
                return load(local=local)
        except (OSError, ValueError) as error:
            if local is not last:
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
        cached = isinstance(try_to_load_from_cache(name, "config.json"), str)
    except HFValidationError:
        cached = False
    return (True, False) if cached else (False,)


def _check_hub(name: str, noun: str) -> None:
    """Raise at once where the hub has no such model, or cannot be reached.

    transformers tries an unreachable hub again and again, for a minute.
    """
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=_HUB_SECONDS)
    except Exception as error:
        # Whatever carries the hub's HTTP raises errors of its own.
        raise ConfigurationError(
            f"cannot load {noun} {name!r}: no such folder, not downloaded before, and the hub "
            f"does not give it: {reason_of(error)}"
        ) from error


def reason_of(error: Exception) -> str:
    """Return the first line of an error, or its type if it has no text."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def require_libraries(feature: str) -> None:
    """Raise `MissingExtraError` where torch or transformers is not installed."""
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
    """Let the linear layers of a float32 CPU model run by oneDNN, where torch has it.

    torch's default, MKL, leaves the wider instructions of AMD processors unused: oneDNN took half
    as long there. The layers keep their weights, so all else sees them unchanged; results agree up
    to float rounding.
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
        if inputs.dtype != torch.float32:  # oneDNN takes bfloat16 from some processors alone
            return torch.nn.functional.linear(inputs, layer.weight, layer.bias)
        return torch.ops.aten.mkldnn_linear(inputs.to_mkldnn(), weight, bias).to_dense()

    return forward


def batches(lengths: Sequence[int], *, budget: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield indices, longest first, in groups of at most `budget` tokens once padded."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def windows(tokens: Sequence[int], size: int, *, overlap: int) -> list[list[int]]:
    """Cut `tokens` into runs of at most `size` that overlap; one empty run for no tokens."""
    step = max(1, size - overlap)
    starts = range(0, max(1, len(tokens) - overlap), step)
    return [list(tokens[start : start + size]) for start in starts]


def encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and so the tokenizer cannot hold."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' warnings and progress bars off the terminal, then restore both."""
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
    """Return the most tokens the model takes at once, special tokens included.

    RoBERTa's positions begin after its padding id, so it has 2 fewer than it states.
    """
    limits = [int(tokenizer.model_max_length)]
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int):
        offset = 2 if "roberta" in str(getattr(config, "model_type", "")) else 0
        limits.append(positions - offset)
    plausible = [limit for limit in limits if limit < _MAX_POSITIONS]
    return min(plausible, default=512)


def _digest(tokenizer: Any, model: Any) -> str:
    """Hash every weight and the tokenizer: two folders of one name may hold different models."""
    import torch

    digest = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode("utf-8"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode("utf-8"))
        digest.update(tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:16]
