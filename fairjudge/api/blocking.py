"""Synchronous twins of the async calls."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def blocking(call: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return the synchronous twin of `call`; it also works inside a running event loop.

    It has the same arguments and docstring, and the name without the leading ``a``.
    """

    @wraps(call)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        from fairjudge.engine.coroutines import run_to_end

        return run_to_end(call(*args, **kwargs))

    wrapper.__name__ = call.__name__.removeprefix("a")
    wrapper.__qualname__ = call.__qualname__.removeprefix("a")
    return wrapper
