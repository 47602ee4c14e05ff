"""Caching and retrying around a scripted backend."""

from __future__ import annotations

import asyncio

import pytest

from fairjudge.backends.caching import CachingBackend
from fairjudge.backends.http import seconds_to_wait
from fairjudge.backends.keys import prompt_key, request_key
from fairjudge.backends.retrying import RetryingBackend, RetryPolicy
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.cache import ReplyCache
from fairjudge.errors import (
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContextTooLongError,
    EmptyReplyError,
    MalformedReplyError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.protocols import (
    Completion,
    CompletionRequest,
    DecisionRefusal,
    DecisionRequest,
    Decisions,
    Distribution,
    Message,
    ModelRef,
    Question,
)

TARGET = ModelRef(provider="openai", model="m", base_url="http://localhost:1/v1")
BASE = {
    "target": TARGET,
    "messages": (Message(role="system", content="s"), Message(role="user", content="u")),
    "response_schema": {"type": "object", "properties": {"a": {"type": "string"}}},
    "temperature": 0.5,
    "top_p": 0.9,
    "max_output_tokens": 10,
    "seed": 1,
    "stop": ("x",),
    "top_logprobs": 2,
    "sample_index": 0,
}
CHANGES = {
    "provider": {"target": TARGET.model_copy(update={"provider": "litellm"})},
    "model": {"target": TARGET.model_copy(update={"model": "n"})},
    "base_url": {"target": TARGET.model_copy(update={"base_url": "http://localhost:2/v1"})},
    "no base_url": {"target": TARGET.model_copy(update={"base_url": None})},
    "a role": {"messages": (Message(role="user", content="s"), BASE["messages"][1])},
    "a text": {"messages": (BASE["messages"][0], Message(role="user", content="u."))},
    "where texts divide": {
        "messages": (Message(role="system", content="su"), Message(role="user", content="_"))
    },
    "order": {"messages": BASE["messages"][::-1]},
    "schema": {"response_schema": {"type": "object", "properties": {"a": {"type": "number"}}}},
    "no schema": {"response_schema": None},
    "temperature": {"temperature": 0.6},
    "top_p": {"top_p": 0.8},
    "no top_p": {"top_p": None},
    "max_output_tokens": {"max_output_tokens": 11},
    "seed": {"seed": 2},
    "no seed": {"seed": None},
    "stop": {"stop": ("y",)},
    "more stops": {"stop": ("x", "y")},
    "top_logprobs": {"top_logprobs": 3},
    "sample_index": {"sample_index": 1},
}
DECISION = DecisionRequest(
    target=TARGET,
    messages=(Message(role="user", content="text"),),
    questions=(Question(name="q", kind="predicate", text="so?", options={"yes": "", "no": ""}),),
)


@pytest.fixture
def request_():
    return CompletionRequest(**BASE)


@pytest.fixture
def cache(tmp_path):
    opened = ReplyCache(tmp_path / "cache")
    yield opened
    opened.close()


class TestKeys:
    @pytest.mark.parametrize("change", CHANGES)
    def test_every_field_changes_the_key(self, request_, change):
        other = CompletionRequest(**{**BASE, **CHANGES[change]})
        assert request_key(other) != request_key(request_)

    def test_every_field_of_the_request_is_among_the_changes(self):
        changed = {field for change in CHANGES.values() for field in change}
        assert changed == set(CompletionRequest.model_fields)

    def test_what_means_the_same_has_the_same_key(self, request_):
        schema = {"properties": {"a": {"type": "string"}}, "type": "object"}
        same = CompletionRequest(**{**BASE, "response_schema": schema, "stop": ["x"]})
        assert request_key(same) == request_key(request_)
        whole = CompletionRequest(**{**BASE, "temperature": 1})
        assert request_key(whole) == request_key(CompletionRequest(**{**BASE, "temperature": 1.0}))

    def test_the_key_is_stable_from_version_to_version(self, request_):
        # Pinned: a change here loses every user's cache and must raise CACHE_VERSION on purpose.
        assert request_key(request_) == PINNED

    def test_the_prompt_key_leaves_out_who_is_asked(self, request_):
        other = CompletionRequest(**{**BASE, **CHANGES["model"]})
        assert prompt_key(other) == prompt_key(request_)
        assert prompt_key(CompletionRequest(**{**BASE, "seed": 5})) != prompt_key(request_)

    def test_a_decision_request_has_a_key_of_its_own(self):
        other = DECISION.model_copy(
            update={"questions": (DECISION.questions[0].model_copy(update={"text": "no?"}),)}
        )
        assert request_key(other) != request_key(DECISION)


PINNED = "933e2199e11437df9fe12016b089ad37651f4d1add8a51b50e21c47de552f23a"


class TestCaching:
    async def test_the_second_time_is_free_and_equal(self, request_, cache):
        inner = ScriptedBackend(lambda r: Completion(text="Score: 2", served_model="m-1"))
        first = await CachingBackend(inner, cache=cache).complete(request_)
        again = CachingBackend(inner, cache=cache)  # another run
        assert await again.complete(request_) == first
        assert len(inner.requests) == 1
        assert (again.hits, again.misses) == (1, 0)

    @pytest.mark.parametrize(
        "error", [RefusedError("no"), EmptyReplyError("nothing"), ServerError("down")]
    )
    async def test_what_is_no_answer_is_not_kept(self, request_, cache, error):
        answers = iter([error, "Score: 1"])
        backend = CachingBackend(ScriptedBackend(lambda r: next(answers)), cache=cache)
        with pytest.raises(type(error)):
            await backend.complete(request_)
        assert (await backend.complete(request_)).text == "Score: 1"

    async def test_a_reply_cut_by_the_limit_is_kept(self, request_, cache):
        inner = ScriptedBackend(lambda r: Completion(text="Sco", finish_reason="length"))
        backend = CachingBackend(inner, cache=cache)
        await backend.complete(request_)
        assert (await backend.complete(request_)).finish_reason == "length"
        assert len(inner.requests) == 1

    async def test_requests_under_way_together_share_one_call(self, request_, cache):
        gate = asyncio.Event()

        async def slow(request):
            await gate.wait()
            return "Score: 5"

        inner = ScriptedBackend(slow)
        backend = CachingBackend(inner, cache=cache)
        waiting = [asyncio.create_task(backend.complete(request_)) for _ in range(5)]
        await asyncio.sleep(0)
        waiting[0].cancel()  # the one that started the call gives up; the others still get it
        await asyncio.sleep(0)
        gate.set()
        done = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(done[0], asyncio.CancelledError)
        assert [reply.text for reply in done[1:]] == ["Score: 5"] * 4
        assert len(inner.requests) == 1

    async def test_a_failed_shared_call_fails_for_all_and_is_asked_again_later(
        self, request_, cache
    ):
        answers = iter([ServerError("down"), "Score: 1"])

        async def slow(request):
            await asyncio.sleep(0)
            return next(answers)

        backend = CachingBackend(ScriptedBackend(slow), cache=cache)
        both = await asyncio.gather(
            backend.complete(request_), backend.complete(request_), return_exceptions=True
        )
        assert [type(error) for error in both] == [ServerError, ServerError]
        assert (await backend.complete(request_)).text == "Score: 1"

    async def test_an_entry_that_is_no_reply_is_asked_for_again(self, request_, cache):
        told = []
        cache.put(request_key(request_), {"reply": {"text": ""}})
        backend = CachingBackend(ScriptedBackend(lambda r: "ok"), cache=cache, warn=told.append)
        assert (await backend.complete(request_)).text == "ok"
        assert len(told) == 1

    async def test_decisions_are_kept_unless_one_was_refused(self, cache):
        yes = Distribution(probabilities={"yes": 0.75, "no": 0.25})
        answers = iter(
            [Decisions(answers={"q": DecisionRefusal(why="no")}), Decisions(answers={"q": yes})]
        )
        inner = ScriptedBackend(decide=lambda r: next(answers))
        backend = CachingBackend(inner, cache=cache)
        assert (await backend.decide(DECISION)).refused == ("q",)
        assert (await backend.decide(DECISION)).answers == {"q": yes}
        assert (await backend.decide(DECISION)).answers == {"q": yes}
        assert len(inner.requests) == 2


async def test_a_backend_without_the_port_asked_for_says_so(request_, cache):
    class TextOnly:
        async def complete(self, request):
            return Completion(text="x")

    with pytest.raises(ConfigurationError, match="TextOnly"):
        await CachingBackend(TextOnly(), cache=cache).decide(DECISION)


class TestRetrying:
    @pytest.fixture
    def waits(self):
        return []

    @pytest.fixture
    def retrying(self, waits):
        def make(answers, **policy):
            answers = iter(answers)

            async def sleep(seconds):
                waits.append(seconds)

            inner = ScriptedBackend(lambda r: next(answers))
            return RetryingBackend(inner, policy=RetryPolicy(**policy), sleep=sleep), inner

        return make

    @pytest.mark.parametrize(
        "error",
        [
            RateLimitError("slow"),
            ServerError("down"),
            RequestTimeoutError("late"),
            ConnectionFailedError("reset"),
        ],
    )
    async def test_what_may_pass_is_asked_again(self, request_, retrying, waits, error):
        backend, inner = retrying([error, error, "ok"])
        assert (await backend.complete(request_)).text == "ok"
        assert len(inner.requests) == 3
        # Full jitter: the n-th wait is uniform on [0, 2^(n-1) seconds].
        assert len(waits) == 2
        assert 0 <= waits[0] <= 1
        assert 0 <= waits[1] <= 2

    @pytest.mark.parametrize(
        "error",
        [
            BadRequestError("400"),
            ContextTooLongError("400"),
            AuthenticationError("401"),
            RefusedError("no"),
            EmptyReplyError(""),
            MalformedReplyError("?"),
        ],
    )
    async def test_what_stays_is_raised_at_once(self, request_, retrying, waits, error):
        backend, inner = retrying([error, "never"])
        with pytest.raises(type(error)):
            await backend.complete(request_)
        assert (len(inner.requests), waits) == (1, [])

    async def test_the_servers_wait_is_obeyed_where_longer(self, request_, retrying, waits):
        backend, _ = retrying([RateLimitError("slow", retry_after_seconds=42.5), "ok"])
        await backend.complete(request_)
        assert waits == [42.5]

    async def test_attempts_are_bounded_and_the_last_error_is_raised(
        self, request_, retrying, waits
    ):
        backend, inner = retrying([ServerError(str(n)) for n in range(9)], max_attempts=4)
        with pytest.raises(ServerError, match="3"):
            await backend.complete(request_)
        assert (len(inner.requests), len(waits)) == (4, 3)

    async def test_waiting_is_bounded(self, request_, retrying, waits):
        asked = RateLimitError("slow", retry_after_seconds=40)
        backend, inner = retrying([asked] * 9, max_attempts=9, total_wait_seconds=100)
        with pytest.raises(RateLimitError):
            await backend.complete(request_)
        assert waits == [40, 40]  # a third wait would make 120 s
        assert len(inner.requests) == 3

    async def test_decisions_are_retried_too(self, waits):
        yes = Decisions(answers={"q": Distribution(probabilities={"yes": 1.0, "no": 0.0})})
        answers = iter([ServerError("down"), yes])

        async def sleep(seconds):
            waits.append(seconds)

        inner = ScriptedBackend(decide=lambda r: next(answers))
        assert await RetryingBackend(inner, sleep=sleep).decide(DECISION) == yes
        assert len(waits) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        # RFC 9110's own example date is 784111777 s after 1970.
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 77.0),
        ({"retry-after": "Sun, 06 Nov 1994 08:40:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_retry_after_in_both_forms(headers, seconds):
    assert seconds_to_wait(headers, now=784111700) == seconds
