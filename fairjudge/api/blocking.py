"""Synchronous twins of the async calls."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def blocking(call: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return the synchronous twin of `call`; it works inside a running event loop too.

    It takes the same arguments, is documented by the same words, and is named without the ``a``
    that `call` begins with.
    """

    @wraps(call)
    def blocked(*args: P.args, **kwargs: P.kwargs) -> T:
        from fairjudge.engine.coroutines import run_to_end

        return run_to_end(call(*args, **kwargs))

    blocked.__name__ = call.__name__.removeprefix("a")
    blocked.__qualname__ = call.__qualname__.removeprefix("a")
    return blocked
