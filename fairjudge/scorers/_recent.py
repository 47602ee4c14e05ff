"""Cache of recent results of the local models, for several judges of the same texts."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from numpy.typing import NDArray

_MAX_RESULTS = 128
"""About 40 MB if each result is of the sentences of a cluster."""


class RecentResults:
    """A cache of results of a pure function of texts that drops the least recently used."""

    def __init__(self) -> None:
        self._results: OrderedDict[bytes, NDArray[Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object, compute: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return the result of `key`, whose ``repr`` must contain all inputs of `compute`."""
        digest = hashlib.sha256(repr(key).encode()).digest()
        with self._lock:
            result = self._results.get(digest)
        if result is None:
            result = compute()
            result.setflags(write=False)
        with self._lock:
            self._results[digest] = result
            self._results.move_to_end(digest)
            if len(self._results) > _MAX_RESULTS:
                self._results.popitem(last=False)
        return result
