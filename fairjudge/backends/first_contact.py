"""Tells a server that was never there from one that stumbles later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from fairjudge.backends.ports import AnyBackend, aclose, decision_port, text_port
from fairjudge.errors import (
    BackendError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContextTooLongError,
)
from fairjudge.protocols import Completion, CompletionRequest, DecisionRequest, Decisions

Request = TypeVar("Request", CompletionRequest, DecisionRequest)
Reply = TypeVar("Reply", Completion, Decisions)


class FirstContactBackend:
    """Ends the run where no request was ever answered; afterwards it steps aside.

    Before the first answer of any kind the `impatient` backend is asked: a thousand items are not
    to be retried one by one against a mistyped address. Once the server was met, its failures are
    an item's, and `inner` asks again as its policy says.

    Raises
    ------
    ConfigurationError
        If the server cannot be reached, or says that there is no such model or path (404), before
        anything was answered.
    """

    def __init__(self, inner: AnyBackend, *, impatient: AnyBackend) -> None:
        self._inner = inner
        self._impatient = impatient
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
            if self._met:
                return await later(request)
            raise ConfigurationError(f"{request.target}: no server answers: {error}") from None
        except BadRequestError as error:
            if not self._met and not isinstance(error, ContextTooLongError) and "404" in str(error):
                raise ConfigurationError(f"{request.target}: {error}") from None
            raise
        except BackendError:
            self._met = True
            return await later(request)
        self._met = True
        return reply
