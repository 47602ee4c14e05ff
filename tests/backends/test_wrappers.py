"""Caching and retrying before a scripted backend."""

from __future__ import annotations

import asyncio
import contextlib
import gc

import pytest

from fairjudge.backends.caching import Caching, InFlightCalls
from fairjudge.backends.keys import prompt_key, request_key
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.retrying import Retrying, RetryPolicy
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.backends.waits import seconds_to_wait
from fairjudge.cache.disk import ReplyCache
from fairjudge.errors import (
    AuthenticationError,
    BadRequestError,
    CacheError,
    ConfigurationError,
    ConnectionFailedError,
    ContextTooLongError,
    EmptyReplyError,
    MalformedReplyError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
    WaitTooLongError,
)
from fairjudge.ports import (
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
from fairjudge.prompting import Fenced, load_template, render

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

    def test_every_request_field_is_tested(self):
        changed = {field for change in CHANGES.values() for field in change}
        assert changed == set(CompletionRequest.model_fields)

    def test_equivalent_requests_have_equal_keys(self, request_):
        schema = {"properties": {"a": {"type": "string"}}, "type": "object"}
        same = CompletionRequest(**{**BASE, "response_schema": schema, "stop": ["x"]})
        assert request_key(same) == request_key(request_)
        whole = CompletionRequest(**{**BASE, "temperature": 1})
        assert request_key(whole) == request_key(CompletionRequest(**{**BASE, "temperature": 1.0}))

    def test_key_is_stable_across_versions(self, request_):
        # Pinned: a change here loses every user's cache and must raise CACHE_VERSION on purpose.
        assert request_key(request_) == PINNED

    @pytest.mark.parametrize("name", ["defaults", "marked", "decision"])
    def test_keys_of_every_request_type_are_stable(self, name):
        # Computed before the wrappers became one pipeline: a cache filled then must still hit.
        request = {"defaults": DEFAULTS, "marked": MARKED, "decision": DECISION}[name]
        assert (request_key(request), prompt_key(request)) == PINNED_KEYS[name]

    def test_prompt_key_excludes_the_target(self, request_):
        other = CompletionRequest(**{**BASE, **CHANGES["model"]})
        assert prompt_key(other) == prompt_key(request_)
        assert prompt_key(CompletionRequest(**{**BASE, "seed": 5})) != prompt_key(request_)

    def test_decision_request_has_a_separate_key(self):
        other = DECISION.model_copy(
            update={"questions": (DECISION.questions[0].model_copy(update={"text": "no?"}),)}
        )
        assert request_key(other) != request_key(DECISION)


DEFAULTS = CompletionRequest(
    target=ModelRef(provider="anthropic", model="claude"),
    messages=(Message(role="user", content="\u00e9\u2028"),),
)
MARKED = CompletionRequest(
    target=TARGET,
    messages=render(
        load_template("judge", "repair", version=2),
        {"reply": Fenced("reply", ("Score: 2",)), "scale": "1 to 5"},
    ),
    seed=3,
    max_output_tokens=64,
)
PINNED_KEYS = {
    "defaults": (
        "a101f7e3184fb59207a91f8b61958f7692f5ee4a26130b74195025facf88917d",
        "0306ad6935c0a166e110d18cbab45c2a685d836819c76cc436e897f64df87047",
    ),
    "marked": (
        "8551568e0ae866e162a16c18795c78b2d126bf33d11e58a4d0af81a5ba8e93db",
        "0bae8306fa7e089cc5f7c16f15b88d9f2ae8b316dbd9a4330ef75db78d506cbd",
    ),
    "decision": (
        "853c18ddff47386274a10b1c7ae95c435f032ffb562b7f0d71328b4a8e7f0c53",
        "a4ea931746ea401fc0b8bfa87476ecca25ef346a289794aca29fe8c269578080",
    ),
}
PINNED = "933e2199e11437df9fe12016b089ad37651f4d1add8a51b50e21c47de552f23a"


class TestCaching:
    async def test_repeated_request_is_free_and_equal(self, request_, cache):
        inner = ScriptedBackend(lambda r: Completion(text="Score: 2", served_model="m-1"))
        first = await Pipeline(inner, Caching(cache=cache)).complete(request_)
        again = Caching(cache=cache)  # another run
        assert await Pipeline(inner, again).complete(request_) == first
        assert len(inner.requests) == 1
        assert (again.hits, again.misses, again.earlier) == (1, 0, 1)

    @pytest.mark.parametrize(
        "error", [RefusedError("no"), EmptyReplyError("nothing"), ServerError("down")]
    )
    async def test_failures_are_not_cached(self, request_, cache, error):
        answers = iter([error, "Score: 1"])
        backend = Pipeline(ScriptedBackend(lambda r: next(answers)), Caching(cache=cache))
        with pytest.raises(type(error)):
            await backend.complete(request_)
        assert (await backend.complete(request_)).text == "Score: 1"

    async def test_truncated_reply_is_cached(self, request_, cache):
        inner = ScriptedBackend(lambda r: Completion(text="Sco", finish_reason="length"))
        backend = Pipeline(inner, Caching(cache=cache))
        await backend.complete(request_)
        assert (await backend.complete(request_)).finish_reason == "length"
        assert len(inner.requests) == 1

    async def test_concurrent_equal_requests_share_one_call(self, request_, cache):
        gate = asyncio.Event()

        async def slow(request):
            await gate.wait()
            return "Score: 5"

        inner = ScriptedBackend(slow)
        caching = Caching(cache=cache)
        backend = Pipeline(inner, caching)
        waiting = [asyncio.create_task(backend.complete(request_)) for _ in range(5)]
        await asyncio.sleep(0)
        waiting[0].cancel()  # the one that started the call gives up; the others still get it
        await asyncio.sleep(0)
        gate.set()
        result = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(result[0], asyncio.CancelledError)
        assert [reply.text for reply in result[1:]] == ["Score: 5"] * 4
        assert len(inner.requests) == 1
        assert (caching.hits, caching.misses) == (4, 1)

    async def test_failed_shared_call_fails_for_all_and_is_retried_later(self, request_, cache):
        answers = iter([ServerError("down"), "Score: 1"])

        async def slow(request):
            await asyncio.sleep(0)
            return next(answers)

        backend = Pipeline(ScriptedBackend(slow), Caching(cache=cache))
        replies = await asyncio.gather(
            backend.complete(request_), backend.complete(request_), return_exceptions=True
        )
        assert [type(error) for error in replies] == [ServerError, ServerError]
        assert (await backend.complete(request_)).text == "Score: 1"

    async def test_equal_requests_of_two_event_loops_do_not_share_a_call(self):
        calls = InFlightCalls()

        async def never():
            await asyncio.Event().wait()

        async def find_here():
            return calls.find("k")

        task = calls.begin("k", never())
        assert calls.find("k") is task
        assert await asyncio.to_thread(asyncio.run, find_here()) is None
        await calls.end()
        assert calls.find("k") is None

    async def test_unawaited_failed_call_gives_no_warning(self, request_, cache, caplog):
        backend = Pipeline(ScriptedBackend(lambda r: ServerError("down")), Caching(cache=cache))
        call = asyncio.create_task(backend.complete(request_))
        await asyncio.sleep(0)
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError, ServerError):
            await call
        await backend.aclose()
        del call
        gc.collect()
        assert "never retrieved" not in caplog.text

    async def test_call_of_another_process_is_awaited_and_reused(self, request_, cache):
        """The claim of another process holds until its reply is in the cache."""

        class Others:
            n_calls = 0

            def claim(self, key):
                self.n_calls += 1
                if self.n_calls == 3:
                    cache.put(key, {"model": "m", "reply": {"text": "theirs"}})
                return False

            def release(self, key):
                pass

        inner = ScriptedBackend(lambda r: "ours")
        others = Others()
        caching = Caching(cache=cache, claims=others)
        assert (await caching.answer(request_, inner.complete)).text == "theirs"
        assert (inner.requests, caching.hits, caching.misses) == ([], 1, 0)

    async def test_interrupted_reply_is_not_cached(self, request_, cache):
        answers = iter([Completion(text="Sco", finish_reason="error"), Completion(text="Score: 1")])
        backend = Pipeline(ScriptedBackend(lambda r: next(answers)), Caching(cache=cache))
        await backend.complete(request_)
        assert (await backend.complete(request_)).text == "Score: 1"

    async def test_reply_without_finish_is_cached_only_if_it_looks_complete(self, request_, cache):
        texts = ['{"verdict": 1', '{"verdict": 1}', "never asked for"]
        answers = iter([Completion(text=text, finish_reason="other") for text in texts])
        backend = Pipeline(ScriptedBackend(lambda r: next(answers)), Caching(cache=cache))
        assert (await backend.complete(request_)).text == texts[0]
        assert (await backend.complete(request_)).text == texts[1]
        assert (await backend.complete(request_)).text == texts[1]

    async def test_incomplete_cached_reply_of_earlier_version_is_requested_again(
        self, request_, cache
    ):
        by_name = {"text": '{"verdict": 1', "finish_reason": "other"}
        cache.put(request_key(request_), {"model": "m", "reply": by_name})
        backend = Pipeline(ScriptedBackend(lambda r: "Score: 1"), Caching(cache=cache, warn=print))
        assert (await backend.complete(request_)).text == "Score: 1"

    async def test_uncacheable_reply_is_returned_and_reported(self, request_):
        class Full:
            def get(self, key):
                return None

            def put(self, key, value):
                raise CacheError("disk full")

        items = []
        inner = ScriptedBackend(lambda r: "Score: 1")
        backend = Pipeline(inner, Caching(cache=Full(), on_cache_error=items.append))
        assert (await backend.complete(request_)).text == "Score: 1"
        assert [str(error) for error in items] == ["disk full"]
        with pytest.raises(CacheError):
            await Pipeline(inner, Caching(cache=Full())).complete(request_)

    async def test_invalid_cache_entry_is_requested_again(self, request_, cache):
        items = []
        cache.put(request_key(request_), {"reply": {"text": ""}})
        backend = Pipeline(ScriptedBackend(lambda r: "ok"), Caching(cache=cache, warn=items.append))
        assert (await backend.complete(request_)).text == "ok"
        assert len(items) == 1

    async def test_decisions_are_cached_unless_one_is_refused(self, cache):
        yes = Distribution(probabilities={"yes": 0.75, "no": 0.25})
        answers = iter(
            [Decisions(answers={"q": DecisionRefusal(why="no")}), Decisions(answers={"q": yes})]
        )
        inner = ScriptedBackend(decide=lambda r: next(answers))
        backend = Pipeline(inner, Caching(cache=cache))
        assert (await backend.decide(DECISION)).refused == ("q",)
        assert (await backend.decide(DECISION)).answers == {"q": yes}
        assert (await backend.decide(DECISION)).answers == {"q": yes}
        assert len(inner.requests) == 2


async def test_backend_without_the_requested_interface_raises(request_, cache):
    class TextOnly:
        async def complete(self, request):
            return Completion(text="x")

    with pytest.raises(ConfigurationError, match="TextOnly"):
        await Pipeline(TextOnly(), Caching(cache=cache)).decide(DECISION)


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
            retries = Retrying(policy=RetryPolicy(**policy), sleep=sleep)
            return Pipeline(inner, retries), inner

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
    async def test_transient_errors_are_retried(self, request_, retrying, waits, error):
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
    async def test_permanent_errors_are_raised_at_once(self, request_, retrying, waits, error):
        backend, inner = retrying([error, "never"])
        with pytest.raises(type(error)):
            await backend.complete(request_)
        assert (len(inner.requests), waits) == (1, [])

    async def test_longer_wait_of_the_server_is_respected(self, request_, retrying, waits):
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

    async def test_default_is_six_attempts(self, request_, retrying):
        backend, inner = retrying([ServerError(str(n)) for n in range(9)])
        with pytest.raises(ServerError, match="5"):
            await backend.complete(request_)
        assert len(inner.requests) == 6

    async def test_waiting_is_bounded(self, request_, retrying, waits):
        request = RateLimitError("slow", retry_after_seconds=40)
        backend, inner = retrying([request] * 9, max_attempts=9, total_wait_seconds=100)
        with pytest.raises(RateLimitError):
            await backend.complete(request_)
        assert waits == [40, 40]  # a third wait would make 120 s
        assert len(inner.requests) == 3

    @pytest.mark.parametrize("error", [RateLimitError, ServerError])
    @pytest.mark.parametrize("wish", [121.0, 86_400.0, 1e9])
    async def test_wait_above_the_maximum_is_not_started(
        self, request_, retrying, waits, error, wish
    ):
        backend, inner = retrying([error("slow", retry_after_seconds=wish)] * 2)
        with pytest.raises(WaitTooLongError, match=f"asks to wait {wish:,.0f} s"):
            await backend.complete(request_)
        assert (len(inner.requests), waits) == (1, [])

    async def test_requested_waits_are_reported_once(self, request_):
        texts = []
        slow = [RateLimitError("slow", retry_after_seconds=s) for s in (1, 60, 50, 500, 600)]
        answers = iter([*slow[:3], "ok", *slow[3:]])
        inner = ScriptedBackend(lambda r: next(answers))
        backend = Pipeline(inner, Retrying(sleep=lambda _: asyncio.sleep(0), warn=texts.append))
        await backend.complete(request_)
        for _ in range(2):
            with pytest.raises(WaitTooLongError):
                await backend.complete(request_)
        assert [line.partition(":m ")[2].split(";")[0] for line in texts] == [
            "asks to wait, first for 60 s",
            "asks to wait 500 s, longer than the 120 s of --max-wait",
        ]

    async def test_decisions_are_retried_too(self, waits):
        yes = Decisions(answers={"q": Distribution(probabilities={"yes": 1.0, "no": 0.0})})
        answers = iter([ServerError("down"), yes])

        async def sleep(seconds):
            waits.append(seconds)

        inner = ScriptedBackend(decide=lambda r: next(answers))
        assert await Pipeline(inner, Retrying(sleep=sleep)).decide(DECISION) == yes
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
        ({"retry-after": "9" * 400}, 1e9),
        ({"retry-after-ms": "9" * 400}, 1e6),
        ({"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}, 1e9),
        ({"retry-after": "Fri, 01 Jan 99999 00:00:00 GMT"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_retry_after_is_read_in_both_formats(headers, seconds):
    assert seconds_to_wait(headers, now=784111700) == seconds
