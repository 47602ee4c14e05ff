"""Tells a server that was never there from one that stumbles later."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fairjudge.backends.ports import AnyBackend, aclose, decision_port, text_port
from fairjudge.errors import (
    BackendError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.protocols import Completion, CompletionRequest, DecisionRequest, Decisions

Request = TypeVar("Request", CompletionRequest, DecisionRequest)
Reply = TypeVar("Reply", Completion, Decisions)

_STUMBLES = (RateLimitError, RequestTimeoutError, ServerError)
_NO_SUCH_THING = re.compile(r"answered 404\b")


class FirstContactBackend:
    """Ends the run where no server was ever met; afterwards it steps aside.

    Before the first reply of any kind the `impatient` backend is asked: a thousand items are not
    to be retried one by one against a mistyped address. A server that says no, or that stumbles,
    was met: its failures are an item's, and `inner` asks again as its policy says.

    Parameters
    ----------
    inner : Backend or DecisionBackend
        Asked once the server was met.
    impatient : Backend or DecisionBackend
        Asked until then; on the same connections, so that closing `inner` is enough.
    retried : callable, optional
        Told of the error where `inner` asks again what `impatient` gave up.

    Raises
    ------
    ConfigurationError
        If the server cannot be reached, or says that there is no such model or path (404), before
        anything was answered.
    """

    def __init__(
        self,
        inner: AnyBackend,
        *,
        impatient: AnyBackend,
        retried: Callable[[BackendError], None] = lambda _: None,
    ) -> None:
        self._inner = inner
        self._impatient = impatient
        self._retried = retried
        self._met = False

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`."""
        return await self._answer(request, text_port(self._impatient), text_port(self._inner))

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`."""
        return await self._answer(
            request, decision_port(self._impatient), decision_port(self._inner)
        )

    async def aclose(self) -> None:
        """Close `inner`."""
        await aclose(self._inner)

    async def _answer(
        self,
        request: Request,
        first: Callable[[Request], Awaitable[Reply]],
        later: Callable[[Request], Awaitable[Reply]],
    ) -> Reply:
        if self._met:
            return await later(request)
        try:
            reply = await first(request)
        except ConnectionFailedError as error:
            if not self._met:
                raise ConfigurationError(f"{request.target}: no server answers: {error}") from None
            self._retried(error)
            return await later(request)
        except _STUMBLES as error:
            self._met = True
            self._retried(error)
            return await later(request)
        except BadRequestError as error:
            if not self._met and _NO_SUCH_THING.search(str(error)):
                raise ConfigurationError(f"{request.target}: {error}") from None
            self._met = True
            raise
        except BackendError:
            self._met = True
            raise
        self._met = True
        return reply
