"""Never more a minute than allowed, fewer at once after a 429, and up again."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_time import Time

from fairjudge.backends.pacing import AdaptiveLimiter, Allowance
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.retrying import Retrying, RetryPolicy
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.errors import ConfigurationError, RateLimitError, ServerError
from fairjudge.ports import Completion, ModelRef, Usage

TARGET = ModelRef(provider="scripted", model="m")


def most_in_a_minute(takes):
    """Return the largest sum of amounts in any half-open 60 seconds; (time, amount) ascending."""
    return max(
        sum(amount for at, amount in takes if begin <= at < begin + 60) for begin, _ in takes
    )


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 500),
    st.lists(st.tuples(st.floats(0, 30), st.floats(0.01, 1)), min_size=1, max_size=80),
)
def test_no_minute_exceeds_the_allowance(per_minute, wanted):
    clock = Time()
    allowance = Allowance(per_minute, unit="things", clock=clock)
    lengths = []
    for pause, share in wanted:
        clock.now += pause
        amount = share * per_minute
        waits = 0
        while wait_seconds := allowance.seconds_until(amount):
            clock.now += wait_seconds
            waits += 1
            assert waits < 200
        allowance.book(amount)
        lengths.append((clock.now, amount))
    # 60 s after is another minute; the tolerance is that of adding floats
    assert most_in_a_minute(lengths) <= per_minute * (1 + 1e-9) + 1e-6


def test_allowance_is_spread_over_the_minute():
    clock = Time()
    allowance = Allowance(600, unit="requests", clock=clock)
    times = []
    for _ in range(600):
        while wait_seconds := allowance.seconds_until(1):
            clock.now += wait_seconds
        allowance.book(1)
        times.append(clock.now)
    # 10 a second: a second's worth at once, then one each tenth of a second: 590 tenths
    assert sum(at == 0 for at in times) == 10
    assert times[-1] == pytest.approx(59.0)
    assert max(sum(a <= t < a + 10 for t in times) for a in times) <= 110


def test_unused_reservation_is_returned():
    clock = Time()
    allowance = Allowance(60_000, unit="tokens", clock=clock)
    wait = allowance.book(60_000)
    assert allowance.seconds_until(1) > 59
    allowance.correct(wait, 100)
    assert allowance.seconds_until(500) == 0
    clock.now = 100.0
    allowance.correct(wait, 50)  # long past: nothing to correct
    assert allowance.seconds_until(60_000) == 0


def test_request_above_one_minute_of_allowance_raises():
    with pytest.raises(
        ConfigurationError, match="may use 1100 tokens, more than the limit of 1000 per min"
    ):
        Allowance(1000, unit="tokens").seconds_until(1100)


class Server:
    """Takes `at_once` calls and refuses more; keeps when calls began."""

    def __init__(self, clock, *, at_once=10**9, seconds=0.2, tokens=None):
        self.clock, self.at_once, self.seconds, self.tokens = clock, at_once, seconds, tokens
        self.began, self.now, self.refused = [], 0, 0

    async def __call__(self, request):
        self.began.append(self.clock.now)
        if self.now >= self.at_once:
            self.refused += 1
            return RateLimitError("429")
        self.now += 1
        await self.clock.sleep(self.seconds)
        self.now -= 1
        usage = Usage() if self.tokens is None else Usage(input_tokens=self.tokens, output_tokens=0)
        return Completion(text="ok", usage=usage)


def paced(server, clock, **limits):
    limiter = AdaptiveLimiter(clock=clock, sleep=clock.sleep, **limits)
    retrying = Retrying(policy=RetryPolicy(max_attempts=50), sleep=clock.sleep)
    return Pipeline(ScriptedBackend(server), retrying, limiter), limiter


async def test_concurrency_decreases_after_429_and_recovers(ask):
    clock = Time()
    server = Server(clock, at_once=10)
    backend, limiter = paced(server, clock, limit=64)
    waits = []

    async def one(n):
        await backend.complete(ask(TARGET, seed=n))
        waits.append(limiter.limit)

    await clock.run(*(one(n) for n in range(600)))
    assert len(waits) == 600
    assert min(waits) < 16
    # what is above 10 is refused, and halves the limit: 10 to 5, back by one a round trip
    assert server.refused < 0.25 * len(server.began)
    server.at_once = 10**9
    await clock.run(*(one(n) for n in range(1000, 4000)))
    assert limiter.limit == 64


async def test_rejections_in_one_round_halve_concurrency_once(ask):
    clock = Time()
    replies = [RateLimitError("429"), RateLimitError("429"), ServerError("500"), "ok"]
    limiter = AdaptiveLimiter(limit=8, clock=clock, sleep=clock.sleep)

    async def handler(request):
        await clock.sleep(1.0)
        return replies[request.seed]

    backend = Pipeline(ScriptedBackend(handler), limiter)

    async def one(n):
        try:
            await backend.complete(ask(TARGET, seed=n))
        except (RateLimitError, ServerError) as error:
            return error

    await clock.run(*(one(n) for n in range(4)))
    assert limiter.limit == 4.25  # halved once; then one reply adds 1/4


@pytest.mark.parametrize("rpm", [30, 300])
async def test_requests_per_minute_are_never_exceeded(ask, rpm):
    clock = Time()
    server = Server(clock, seconds=0.05)
    backend, _ = paced(server, clock, limit=16, requests_per_minute=rpm)
    await clock.run(*(backend.complete(ask(TARGET, seed=n)) for n in range(2 * rpm + 5)))
    assert most_in_a_minute([(at, 1) for at in server.began]) <= rpm
    assert server.began[-1] <= 2 * 60 + 11  # and the allowance is used


async def test_retries_count_as_requests(ask):
    clock = Time()
    server = Server(clock, at_once=1, seconds=1.5)
    backend, _ = paced(server, clock, limit=8, requests_per_minute=60)
    await clock.run(*(backend.complete(ask(TARGET, seed=n)) for n in range(60)))
    assert server.refused > 0
    assert most_in_a_minute([(at, 1) for at in server.began]) <= 60


async def test_tokens_per_minute_are_never_exceeded(ask):
    clock = Time()
    # the estimate: 13 + 8 tokens for 41 bytes of prompt, and 1,000 of reply; 400 are used
    server = Server(clock, seconds=0.05, tokens=400)
    backend, _ = paced(server, clock, limit=16, tokens_per_minute=20_000)
    calls = (backend.complete(ask(TARGET, "x" * 41, max_output_tokens=1000)) for _ in range(100))
    await clock.run(*calls)
    assert most_in_a_minute([(at, 400) for at in server.began]) <= 20_000
    # 50 calls a minute would use all of it
    assert server.began[-1] < 150


async def test_request_above_the_allowance_raises(ask):
    backend, _ = paced(Server(Time()), Time(), limit=1, tokens_per_minute=500)
    with pytest.raises(ConfigurationError, match="tokens, more than the limit of 500 per minute"):
        await backend.complete(ask(TARGET))


async def test_requested_wait_blocks_others_at_most_for_the_maximum(ask):
    clock = Time()
    replies = [RateLimitError("429", retry_after_seconds=86_400.0), "ok"]
    limiter = AdaptiveLimiter(limit=2, clock=clock, sleep=clock.sleep, max_wait_seconds=120.0)
    backend = Pipeline(ScriptedBackend(lambda r: replies[r.seed]), limiter)
    with pytest.raises(RateLimitError):
        await backend.complete(ask(TARGET, seed=0))
    await clock.run(backend.complete(ask(TARGET, seed=1)))
    assert clock.now < 1


async def test_requested_wait_below_the_maximum_blocks_exactly(ask):
    clock = Time()
    replies = [RateLimitError("429", retry_after_seconds=90.0), "ok"]
    limiter = AdaptiveLimiter(limit=2, clock=clock, sleep=clock.sleep, max_wait_seconds=120.0)
    backend = Pipeline(ScriptedBackend(lambda r: replies[r.seed]), limiter)
    with pytest.raises(RateLimitError):
        await backend.complete(ask(TARGET, seed=0))
    await clock.run(backend.complete(ask(TARGET, seed=1)))
    assert clock.now == pytest.approx(90.0)


def test_wait_ends_when_enough_of_the_last_minute_has_passed():
    clock = Time()
    allowance = Allowance(60, unit="things", clock=clock)
    for at in (0.0, 10.0, 20.0):
        clock.now = at
        allowance.correct(allowance.book(20))
    clock.now = 50.0
    # 60 were taken at 0, 10 and 20: for 20 more the first must be a minute past, for 21 the second
    assert allowance.seconds_until(20) == pytest.approx(10.0)
    assert allowance.seconds_until(21) == pytest.approx(20.0)


@pytest.mark.parametrize(("per_minute", "at_once", "seconds"), [(30, 1, 2.0), (180, 3, 1 / 3)])
def test_burst_is_one_second_of_allowance_and_at_least_one(per_minute, at_once, seconds):
    allowance = Allowance(per_minute, unit="things", clock=Time())
    for _ in range(at_once):
        assert allowance.seconds_until(1) == 0.0
        allowance.book(1)
    assert allowance.seconds_until(1) == pytest.approx(seconds)


def test_late_return_does_not_change_the_total():
    clock = Time()
    allowance = Allowance(60, unit="things", clock=clock)
    wait = allowance.book(60)
    clock.now = 70.0
    allowance.seconds_until(1)  # the minute of the first is past
    allowance.book(60)
    allowance.correct(wait, 0)
    assert allowance.seconds_until(1) > 0


def test_minute_starts_when_the_request_reaches_the_server():
    """Two seconds after it began at the latest; a call that ended had arrived before."""
    clock = Time()
    allowance = Allowance(60, unit="things", clock=clock)
    wait = allowance.book(60)
    clock.now = 61.0
    assert allowance.seconds_until(60) == pytest.approx(1.0)
    clock.now = 62.0
    assert allowance.seconds_until(60) == 0.0

    wait = allowance.book(60)
    clock.now = 62.5
    allowance.correct(wait)
    clock.now = 122.0
    assert allowance.seconds_until(60) == pytest.approx(0.5)


async def test_wait_below_one_second_is_respected(ask):
    clock = Time()
    times = []

    async def handler(request):
        times.append(clock.now)
        if len(times) == 1:
            raise RateLimitError("429", retry_after_seconds=0.5)
        return "ok"

    limiter = AdaptiveLimiter(limit=1, clock=clock, sleep=clock.sleep)
    backend = Pipeline(ScriptedBackend(handler), limiter)

    async def one(n):
        with suppress(RateLimitError):
            await backend.complete(ask(TARGET, seed=n))

    await clock.run(one(0), one(1))
    assert times[1] - times[0] >= 0.5
