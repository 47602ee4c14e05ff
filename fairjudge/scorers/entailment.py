"""Entailment probabilities from any sequence classifier trained for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.errors import ConfigurationError, InputError
from fairjudge.scorers._pairs import PairShape, buckets
from fairjudge.scorers._pretrained import (
    BATCH_TOKENS,
    Pretrained,
    batches,
    encodable,
    load_pretrained,
    windows,
)

_Window: TypeAlias = tuple[list[int], list[int]]
"""The tokens of a premise's window and of a hypothesis's piece, without special ones."""

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

    Raises as `load_pretrained`, and where the model's config does not say which label is which.
    """
    loaded = load_pretrained(model, auto_class="AutoModelForSequenceClassification", method=_METHOD)
    return TransformersEntailment(loaded)


class TransformersEntailment:
    """An `fairjudge.ports.EntailmentModel` over a transformers classifier.

    Each distinct pair is scored once. A premise longer than the model's window is cut into
    overlapping windows, of which the one that entails most counts; a hypothesis longer than half
    the window is cut too, and its least entailed piece counts. Nothing is dropped. A pair's row
    does not depend on the other pairs (up to rounding, below 1e-3).
    """

    def __init__(self, loaded: Pretrained) -> None:
        self._loaded = loaded
        self._shape = PairShape.of(loaded.tokenizer)
        self._columns = label_columns(loaded.model.config.id2label)
        self.fingerprint = loaded.fingerprint

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return shape (n, 3): P(entail), P(neutral), P(contradict) for (premise, hypothesis).

        A hypothesis without a token raises `InputError`.
        """
        distinct = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        rows = self._classify_distinct(list(distinct))
        ordered: NDArray[np.float32] = rows[[distinct[pair] for pair in pairs]]
        return ordered

    def _classify_distinct(self, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
        if not pairs:
            return np.zeros((0, 3), dtype=np.float32)
        pieces = self._pieces(list(dict.fromkeys(hypothesis for _, hypothesis in pairs)))
        queries = [
            (encodable(premise), piece, number)
            for number, (premise, hypothesis) in enumerate(pairs)
            for piece in pieces[hypothesis]
        ]
        windows, owners = self._windows([(premise, piece) for premise, piece, _ in queries])
        rows = self._score(windows)
        # Of a piece of a hypothesis, the premise window that entails it most counts ...
        best = _first(rows, owners, by=-rows[:, 0])
        # ... and of a hypothesis, the piece that is entailed least.
        return _first(best, [number for _, _, number in queries], by=best[:, 0])

    def _pieces(self, hypotheses: list[str]) -> dict[str, list[str]]:
        """Cut hypotheses that leave a premise less than half of the window."""
        texts = [encodable(text) for text in hypotheses]
        spans = self._loaded.tokenizer(
            texts, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        limit = max(1, self._room() // 2)
        probabilities = {}
        for hypothesis, text, offsets in zip(hypotheses, texts, spans, strict=True):
            if not offsets:
                raise InputError(f"hypothesis {hypothesis!r} has no token in the vocabulary")
            probabilities[hypothesis] = [
                text[offsets[start][0] : offsets[min(start + limit, len(offsets)) - 1][1]]
                for start in range(0, len(offsets), limit)
            ]
        return probabilities

    def _room(self) -> int:
        return self._loaded.window - self._shape.n_special

    def _windows(self, pairs: list[tuple[str, str]]) -> tuple[list[_Window], list[int]]:
        """Return the windows of every pair, and the number of the pair that each is from.

        Each text is tokenized once, however many pairs it is in: a pair's tokens are its texts'.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        encoded = self._loaded.tokenizer(
            texts, add_special_tokens=False, return_attention_mask=False, verbose=False
        )["input_ids"]
        tokens = dict(zip(texts, encoded, strict=True))
        out: list[_Window] = []
        owners: list[int] = []
        room = self._room()
        overlap = min(_OVERLAP, room // 8)
        for number, (premise, piece) in enumerate(pairs):
            second = tokens[piece]
            for first in windows(tokens[premise], room - len(second), overlap=overlap):
                out.append((first, second))
                owners.append(number)
        return out, owners

    def _score(self, rows: list[_Window]) -> NDArray[np.float32]:
        """Return shape (n, 3), as `classify`.

        Nothing is read back before the last batch is on its way: while a GPU works on one, the
        next is made ready.
        """
        import torch

        model, order, logits = self._loaded.model, [], []
        special = self._shape.n_special
        with torch.inference_mode():
            for batch, width in self._batches([len(a) + len(b) + special for a, b in rows]):
                inputs = self._shape.inputs(
                    [rows[i] for i in batch], device=model.device, width=width
                )
                logits.append(model(**inputs).logits)
                order += batch
            probabilities = torch.cat(logits).float().softmax(dim=-1).cpu().numpy()
        out = np.empty((len(rows), 3), dtype=np.float32)
        out[order] = self._in_order(probabilities)
        return out

    def _batches(self, lengths: list[int]) -> Iterator[tuple[list[int], int]]:
        """Yield indices and a width, such that neighbours do not change a row by 1e-3."""
        import torch

        if self._loaded.model.dtype != torch.float32:
            yield from buckets(lengths, budget=BATCH_TOKENS, limit=self._loaded.window)
            return
        for batch in batches(lengths):
            yield batch, lengths[batch[0]]

    def _in_order(self, probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
        ordered = np.zeros((len(probabilities), 3), dtype=np.float32)
        for place, column in enumerate(astuple(self._columns)):
            if column is not None:
                ordered[:, place] = probabilities[:, column]
        return ordered


def _first(
    rows: NDArray[np.float32], owners: Sequence[int], *, by: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return each owner's row that comes first in the order of `by`, owners ascending."""
    order = np.lexsort((by, np.asarray(owners)))
    _, starts = np.unique(np.asarray(owners)[order], return_index=True)
    first: NDArray[np.float32] = rows[order[starts]]
    return first


def label_columns(names: Mapping[int, str]) -> _Columns:
    """Find which output is which from the config's label names, or raise `ConfigurationError`."""
    by_name = {str(name).strip().casefold(): int(place) for place, name in names.items()}
    places = {
        kind: next((by_name[name] for name in spellings if name in by_name), None)
        for kind, spellings in _NAMES.items()
    }
    entailment = places["entailment"]
    other_place = next((by_name[name] for name in _OTHER if name in by_name), places["neutral"])
    if entailment is None or other_place is None or len(names) > 3:
        raise ConfigurationError(
            f"the model's labels {list(names.values())!r} do not say which one is entailment"
        )
    return _Columns(
        entailment=entailment, neutral=other_place, contradiction=places["contradiction"]
    )
