"""Pairs of texts as a classifier takes them, put together from tokens that are known already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fairjudge.errors import ConfigurationError

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
        width: int | None = None,
    ) -> dict[str, Any]:
        """Return the model's arguments for `pairs`, padded on the right, on `device`.

        They are padded to `width` tokens, by default to the longest.

        Without padding there is no mask: kernels for attention without one are the fastest, and a
        model that is given one looks at it first, which waits for the GPU.
        """
        lengths = np.array([len(a) + len(b) + self.n_special for a, b in pairs])
        width = width or int(lengths.max())
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
