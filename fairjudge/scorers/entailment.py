"""Entailment probabilities from any sequence classifier trained for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairjudge.errors import ConfigurationError, InputError
from fairjudge.scorers._pretrained import (
    BATCH_TOKENS,
    Pretrained,
    batches,
    encodable,
    load_pretrained,
    windows,
)

_F = TypeVar("_F", bound=np.floating[Any])
_WIDTH_STEP = 8
"""Matrix units of GPUs work on blocks of this many rows."""
_STEPS_PER_DOUBLING = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PairShape:
    """What a tokenizer puts before, between and after two texts, and how it marks them.

    ``types`` are the token types of those three and of both texts, in the order in which they
    stand; None where the model takes none. ``fill`` is the padding token.
    """

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, ...] | None
    fill: int

    @classmethod
    def of(cls, tokenizer: Any) -> Self:
        """Find the shape in what `tokenizer` makes of a pair, or raise `ConfigurationError`."""
        encode = tokenizer.backend_tokenizer.encode
        first = encode("a", add_special_tokens=False).ids
        second = encode("b", add_special_tokens=False).ids
        dressed = encode("a", "b")
        ids, marks = list(dressed.ids), list(dressed.type_ids)
        start = _place(first, ids, 0)
        middle = _place(second, ids, start + len(first))
        end = middle + len(second)
        takes_types = "token_type_ids" in tokenizer.model_input_names
        places = (0, start, start + len(first), middle, end)
        last = len(ids) - 1
        return cls(
            before=tuple(ids[:start]),
            between=tuple(ids[start + len(first) : middle]),
            after=tuple(ids[end:]),
            types=tuple(marks[min(place, last)] for place in places) if takes_types else None,
            fill=int(tokenizer.pad_token_id or 0),
        )

    @property
    def n_special(self) -> int:
        """How many tokens are added to those of both texts."""
        return len(self.before) + len(self.between) + len(self.after)

    def inputs(
        self,
        pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
        *,
        device: Any,
        width: int,
    ) -> dict[str, Any]:
        """Return the model's arguments for `pairs`, padded on the right to `width`, on `device`.

        Without padding there is no mask: kernels for attention without one are the fastest, and a
        model that is given one looks at it first, which waits for the GPU.
        """
        lengths = np.array([len(a) + len(b) + self.n_special for a, b in pairs])
        on_gpu = device.type == "cuda"
        ids = np.full((len(pairs), width), self.fill, dtype=np.int64)
        marks = None if self.types is None else np.zeros((len(pairs), width), dtype=np.int64)
        for row, (first, second) in enumerate(pairs):
            parts = (self.before, first, self.between, second, self.after)
            ids[row, : lengths[row]] = [token for part in parts for token in part]
            if marks is not None and self.types is not None:
                sizes = [len(part) for part in parts]
                marks[row, : lengths[row]] = np.repeat(self.types, sizes)
        arrays = {"input_ids": ids}
        if marks is not None:
            arrays["token_type_ids"] = marks
        if lengths.min() < width:
            arrays["attention_mask"] = (np.arange(width) < lengths[:, None]).astype(np.int64)
        return {name: _moved(array, device, on_gpu=on_gpu) for name, array in arrays.items()}


def buckets(lengths: Sequence[int], *, budget: int, limit: int) -> Iterator[tuple[list[int], int]]:
    """Yield indices and the width to pad them to, in groups of at most `budget` tokens padded.

    The width, and whether there is any padding, follow from a row's own length, and so what is
    computed for a row does not depend on the rows beside it. Numbers of 8 or 11 bits would show
    it: in bfloat16 a row padded to its neighbours' width moved by 0.014 in P(entail), with 12
    layers of random weights on a CPU. No width is more than `limit`, the model's window.
    """
    groups: dict[tuple[int, bool], list[int]] = {}
    for index, length in enumerate(lengths):
        width = min(limit, bucket_width(length))
        groups.setdefault((width, length == width), []).append(index)
    for (width, _), rows in sorted(groups.items(), reverse=True):
        size = max(1, budget // width)
        for start in range(0, len(rows), size):
            yield rows[start : start + size], width


def bucket_width(length: int) -> int:
    """Return the least of the widths 8, 16 ... 64, 80 ... 128, 160 ... that holds `length`."""
    doublings = max(0, (length - 1).bit_length() - 6)
    step = _WIDTH_STEP if doublings == 0 else 64 * 2 ** (doublings - 1) // _STEPS_PER_DOUBLING
    return -(-length // step) * step


def _moved(array: NDArray[np.int64], device: Any, *, on_gpu: bool) -> Any:
    import torch

    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if on_gpu else tensor


def _place(part: list[int], whole: list[int], start: int) -> int:
    for place in range(start, len(whole) - len(part) + 1):
        if part and whole[place : place + len(part)] == part:
            return place
    raise ConfigurationError("this tokenizer does not keep two texts' tokens apart in a pair")


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
        best = first_rows(rows, owners, by=-rows[:, 0])
        # ... and of a hypothesis, the piece that is entailed least.
        return first_rows(best, [number for _, _, number in queries], by=best[:, 0])

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
        for place, column in enumerate(self._columns):
            if column is not None:
                ordered[:, place] = probabilities[:, column]
        return ordered


def first_rows(rows: NDArray[_F], owners: Sequence[int], *, by: NDArray[_F]) -> NDArray[_F]:
    """Return each owner's row that comes first in the order of `by`, owners ascending."""
    order = np.lexsort((by, np.asarray(owners)))
    _, starts = np.unique(np.asarray(owners)[order], return_index=True)
    first: NDArray[_F] = rows[order[starts]]
    return first


def label_columns(names: Mapping[int, str]) -> tuple[int, int, int | None]:
    """Find which output is which from the config's label names, or raise `ConfigurationError`.

    They are entailment, neutral and contradiction; a model of two labels has none of the last.
    """
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
    return entailment, other_place, places["contradiction"]
