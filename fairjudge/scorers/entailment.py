"""Entailment probabilities from any sequence classifier trained for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.errors import ConfigurationError, InputError
from fairjudge.scorers._pretrained import Pretrained, batches, encodable, load_pretrained

Encoded: TypeAlias = dict[str, list[int]]

_METHOD = "entailment-v1"
_NAMES: Mapping[str, tuple[str, ...]] = {
    "entailment": ("entailment", "entail", "entails", "supports", "supported"),
    "neutral": ("neutral", "not enough info", "not_enough_info", "nei"),
    "contradiction": ("contradiction", "contradict", "contradicts", "refutes", "refuted"),
}
_OTHER = ("not_entailment", "not entailment", "non-entailment")
_OVERLAP = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Where a model's outputs stand; a model of two labels has no contradiction of its own."""

    entailment: int
    neutral: int
    contradiction: int | None


def load_entailment(model: str) -> TransformersEntailment:
    """Load an entailment model by hub id or folder, such as ``"roberta-large-mnli"``.

    Raises
    ------
    MissingExtraError
        torch or transformers is not installed.
    ConfigurationError
        The model cannot be loaded, or its config does not say which label is which.
    """
    loaded = load_pretrained(model, auto_class="AutoModelForSequenceClassification", method=_METHOD)
    return TransformersEntailment(loaded)


class TransformersEntailment:
    """An `fairjudge.protocols.EntailmentModel` over a transformers classifier.

    Each distinct pair is scored once. A premise longer than the model's window is cut into
    overlapping windows, of which the one that entails most counts; a hypothesis longer than half
    the window is cut too, and its least entailed piece counts. Nothing is dropped. A pair's row
    does not depend on the other pairs (up to rounding, below 1e-3).

    Parameters
    ----------
    loaded
        A classifier whose config names its labels.
    """

    fingerprint: str

    def __init__(self, loaded: Pretrained) -> None:
        self._loaded = loaded
        self._columns = label_columns(loaded.model.config.id2label)
        self.fingerprint = loaded.fingerprint

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return shape (n, 3): P(entail), P(neutral), P(contradict) for (premise, hypothesis).

        Raises
        ------
        InputError
            A hypothesis has no tokens.
        """
        distinct = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        rows = self._classify_distinct(list(distinct))
        ordered: NDArray[np.float32] = rows[[distinct[pair] for pair in pairs]]
        return ordered

    def _classify_distinct(self, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
        pieces = self._pieces(list(dict.fromkeys(hypothesis for _, hypothesis in pairs)))
        asked = [
            (encodable(premise), piece, number)
            for number, (premise, hypothesis) in enumerate(pairs)
            for piece in pieces[hypothesis]
        ]
        windows, owners = self._windows([(premise, piece) for premise, piece, _ in asked])
        rows = self._score(windows)
        # Of a piece of a hypothesis, the premise window that entails it most counts ...
        best = np.full((len(asked), 3), -1.0, dtype=np.float32)
        for row, owner in zip(rows, owners, strict=True):
            if row[0] > best[owner, 0]:
                best[owner] = row
        # ... and of a hypothesis, the piece that is entailed least.
        out = np.full((len(pairs), 3), 2.0, dtype=np.float32)
        for row, (_, _, number) in zip(best, asked, strict=True):
            if row[0] < out[number, 0]:
                out[number] = row
        return out

    def _pieces(self, hypotheses: list[str]) -> dict[str, list[str]]:
        """Cut hypotheses that leave a premise less than half of the window."""
        if not hypotheses:
            return {}
        texts = [encodable(text) for text in hypotheses]
        spans = self._loaded.tokenizer(
            texts, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        most = max(1, self._room() // 2)
        found = {}
        for hypothesis, text, offsets in zip(hypotheses, texts, spans, strict=True):
            if not offsets:
                raise InputError(f"hypothesis {hypothesis!r} has no token in the vocabulary")
            found[hypothesis] = [
                text[offsets[start][0] : offsets[min(start + most, len(offsets)) - 1][1]]
                for start in range(0, len(offsets), most)
            ]
        return found

    def _room(self) -> int:
        special: int = self._loaded.tokenizer.num_special_tokens_to_add(pair=True)
        return self._loaded.window - special

    def _windows(self, pairs: list[tuple[str, str]]) -> tuple[list[Encoded], list[int]]:
        """Return the inputs of every window, and the number of the pair that each is from."""
        if not pairs:
            return [], []
        encoded = self._loaded.tokenizer(
            [premise for premise, _ in pairs],
            [hypothesis for _, hypothesis in pairs],
            truncation="only_first",
            max_length=self._loaded.window,
            stride=min(_OVERLAP, self._room() // 8),
            return_overflowing_tokens=True,
            return_attention_mask=False,
        )
        owners: list[int] = encoded.pop("overflow_to_sample_mapping")
        names = [name for name in self._loaded.tokenizer.model_input_names if name in encoded]
        return [{name: encoded[name][i] for name in names} for i in range(len(owners))], owners

    def _score(self, rows: list[Encoded]) -> NDArray[np.float32]:
        import torch

        model, tokenizer = self._loaded.model, self._loaded.tokenizer
        out = np.zeros((len(rows), 3), dtype=np.float32)
        for batch in batches([len(row["input_ids"]) for row in rows]):
            inputs = tokenizer.pad([rows[i] for i in batch], return_tensors="pt").to(model.device)
            with torch.inference_mode():
                probabilities = model(**inputs).logits.float().softmax(dim=-1).cpu().numpy()
            out[batch] = self._in_order(probabilities)
        return out

    def _in_order(self, probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
        columns = self._columns
        contradiction = (
            np.zeros(len(probabilities), dtype=np.float32)
            if columns.contradiction is None
            else probabilities[:, columns.contradiction]
        )
        return np.column_stack(
            [probabilities[:, columns.entailment], probabilities[:, columns.neutral], contradiction]
        )


def label_columns(names: Mapping[int, str]) -> _Columns:
    """Find which output is which from the config's label names.

    Raises
    ------
    ConfigurationError
        The names do not tell entailment from the rest.
    """
    by_name = {str(name).strip().casefold(): int(place) for place, name in names.items()}
    found = {
        kind: next((by_name[name] for name in known if name in by_name), None)
        for kind, known in _NAMES.items()
    }
    entailment = found["entailment"]
    rest = next((by_name[name] for name in _OTHER if name in by_name), found["neutral"])
    if entailment is None or rest is None or len(names) > 3:
        raise ConfigurationError(
            f"the model's labels {list(names.values())!r} do not say which one is entailment"
        )
    return _Columns(entailment=entailment, neutral=rest, contradiction=found["contradiction"])
