"""Budgets, prices, recordings and replays."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json

import pytest

from fairjudge.backends import backend_kinds, loads_its_model, open_backend, resolve_target
from fairjudge.backends.budgeting import Budget, BudgetingBackend, estimated_input_tokens
from fairjudge.backends.caching import CachingBackend
from fairjudge.backends.pricing import PriceTable, load_prices
from fairjudge.backends.recording import RecordingBackend
from fairjudge.backends.replay import ReplayBackend
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.cache import ReplyCache
from fairjudge.errors import (
    BudgetExceededError,
    ConfigurationError,
    InputError,
    RefusedError,
    ReplayMissError,
    RunError,
    ServerError,
)
from fairjudge.protocols import Completion, DecisionRequest, Decisions, ModelRef, Usage

MINI = ModelRef(provider="openai", model="gpt-4o-mini")
# $10 a million input tokens, $20 a million output tokens: numbers to do in the head.
PRICES = """
[[price]]
model = "scripted:m"
input = 10.0
output = 20.0
date = 2026-01-01
source = "test"
"""
M = ModelRef(provider="scripted", model="m")


@pytest.fixture
def prices(tmp_path) -> PriceTable:
    (tmp_path / "prices.toml").write_text(PRICES)
    return load_prices(tmp_path / "prices.toml")


class TestPrices:
    def test_a_price_comes_with_its_date_and_source(self):
        for price in load_prices().published.values():
            assert price.date.year >= 2025
            assert "public price list" in price.source

    def test_cost_is_tokens_times_price(self):
        # 1000 x 0.15 / 1e6 + 2000 x 0.60 / 1e6 = 0.00015 + 0.0012
        usage = Usage(input_tokens=1000, output_tokens=2000)
        assert load_prices().cost_usd(MINI, usage) == pytest.approx(0.00135, abs=1e-15)

    @pytest.mark.parametrize(
        "target",
        [
            ModelRef(provider="openai", model="no-such-model"),
            # A server of one's own may serve anything under any name.
            ModelRef(provider="openai", model="gpt-4o-mini", base_url="http://localhost:1/v1"),
            ModelRef(provider="transformers", model="gpt-4o-mini"),
        ],
    )
    def test_an_unknown_price_is_none_and_never_nothing(self, target):
        assert load_prices().cost_usd(target, Usage(input_tokens=1, output_tokens=1)) is None

    def test_unknown_counts_are_an_unknown_cost(self):
        assert load_prices().cost_usd(MINI, Usage(input_tokens=5)) is None

    def test_snapshots_cost_what_their_model_does_unless_listed(self):
        prices = load_prices()
        plain = prices.price(ModelRef(provider="openai", model="gpt-4o"))
        later = prices.price(ModelRef(provider="openai", model="gpt-4o-2024-08-06"))
        first = prices.price(ModelRef(provider="openai", model="gpt-4o-2024-05-13"))
        assert later == plain
        assert first != plain

    def test_litellm_names_are_understood(self):
        prices = load_prices()
        one = prices.price(ModelRef(provider="litellm", model="anthropic/claude-3-haiku-20240307"))
        assert one is not None
        assert one.model == "anthropic:claude-3-haiku"

    def test_the_users_file_comes_first_and_holds_anywhere(self, tmp_path):
        path = tmp_path / "p.toml"
        path.write_text(PRICES.replace("scripted:m", "openai:gpt-4o-mini"))
        local = MINI.model_copy(update={"base_url": "http://localhost:1/v1"})
        assert load_prices(path).price(MINI).input == 10.0
        assert load_prices(path).price(local).input == 10.0

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("price = [", "not TOML"),
            (PRICES.replace("10.0", "-1"), "input"),
            (PRICES.replace("10.0", "nan"), "input"),
            (PRICES.replace("scripted:m", "m"), "model"),
            (PRICES.replace('source = "test"', ""), "source"),
        ],
    )
    def test_a_bad_file_is_an_input_error(self, tmp_path, text, problem):
        path = tmp_path / "p.toml"
        path.write_text(text)
        with pytest.raises(InputError, match=problem) as raised:
            load_prices(path)
        assert raised.value.path == str(path)


class TestBudget:
    async def test_calls_stop_at_the_limit(self, ask):
        budget = Budget(max_calls=2)
        inner = ScriptedBackend(lambda r: "ok")
        backend = BudgetingBackend(inner, budget=budget)
        await backend.complete(ask(M, "1"))
        await backend.complete(ask(M, "2"))
        with pytest.raises(BudgetExceededError, match="2 calls"):
            await backend.complete(ask(M, "3"))
        assert (len(inner.requests), budget.n_calls) == (2, 2)

    async def test_calls_under_way_count(self, ask):
        gate = asyncio.Event()

        async def slow(request):
            await gate.wait()
            return "ok"

        backend = BudgetingBackend(ScriptedBackend(slow), budget=Budget(max_calls=1))
        first = asyncio.create_task(backend.complete(ask(M, "1")))
        await asyncio.sleep(0)
        with pytest.raises(BudgetExceededError):
            await backend.complete(ask(M, "2"))
        gate.set()
        await first

    async def test_cost_under_way_is_set_aside_and_then_what_was_counted_is_booked(
        self, ask, prices
    ):
        # A prompt of 30 bytes is estimated at 30 // 3 + 8 = 18 tokens: 18 x $10 + 100 x $20 a
        # million = $0.00218. Counted: 10 x $10 + 5 x $20 a million = $0.0002.
        usage = Usage(input_tokens=10, output_tokens=5)
        gate = asyncio.Event()

        async def slow(request):
            await gate.wait()
            return Completion(text="ok", usage=usage)

        budget = Budget(max_cost_usd=0.0043, prices=prices)
        backend = BudgetingBackend(ScriptedBackend(slow), budget=budget)
        first = asyncio.create_task(backend.complete(ask(M, "x" * 30, max_output_tokens=100)))
        await asyncio.sleep(0)
        with pytest.raises(BudgetExceededError, match=r"\$0\.0000 spent, \$0\.0022 under way"):
            await backend.complete(ask(M, "y" * 30, max_output_tokens=100))
        gate.set()
        await first
        assert budget.cost_usd == pytest.approx(0.0002, abs=1e-15)
        await backend.complete(ask(M, "z" * 30, max_output_tokens=100))
        assert budget.cost_usd == pytest.approx(0.0004, abs=1e-15)

    async def test_a_failed_call_gives_back_what_was_set_aside(self, ask, prices):
        budget = Budget(max_cost_usd=0.0022, prices=prices)
        answers = iter([ServerError("down"), "ok"])
        backend = BudgetingBackend(ScriptedBackend(lambda r: next(answers)), budget=budget)
        request = ask(M, "x" * 30, max_output_tokens=100)
        with pytest.raises(ServerError):
            await backend.complete(request)
        assert budget.cost_usd == 0.0
        await backend.complete(request)
        # The script counts no tokens, so what was set aside is booked: $0.00218.
        assert budget.cost_usd == pytest.approx(0.00218, abs=1e-15)
        assert budget.n_unpriced == 1

    async def test_a_limit_on_cost_needs_a_known_price(self, ask, prices):
        budget = Budget(max_cost_usd=1.0, prices=prices)
        unknown = ModelRef(provider="scripted", model="other")
        with pytest.raises(ConfigurationError, match="scripted:other"):
            budget.check_priced(unknown)
        inner = ScriptedBackend(lambda r: "ok")
        with pytest.raises(ConfigurationError):
            await BudgetingBackend(inner, budget=budget).complete(ask(unknown))
        assert inner.requests == []

    async def test_cache_hits_are_free(self, ask, tmp_path):
        cache = ReplyCache(tmp_path)
        budget = Budget(max_calls=1)
        inner = BudgetingBackend(ScriptedBackend(lambda r: "ok"), budget=budget)
        backend = CachingBackend(inner, cache=cache)
        for _ in range(3):
            await backend.complete(ask(M))
        assert budget.n_calls == 1
        cache.close()

    def test_the_estimate_is_above_what_tokenizers_count_for_english(self, ask):
        # GPT-2 and its successors need about one token for four characters of English prose.
        prose = "The mayor said on Tuesday that the bridge would stay closed until the spring. " * 9
        assert estimated_input_tokens(ask(M, prose)) > len(prose) / 4


class TestRecordingAndReplay:
    @pytest.fixture
    def path(self, tmp_path):
        return tmp_path / "run" / "record.jsonl"

    async def record(self, path, requests, answer=lambda r: Completion(text="Score: 2")):
        backend = RecordingBackend(ScriptedBackend(answer), path=path)
        for request in requests:
            with contextlib.suppress(RefusedError):
                await backend.complete(request)
        await backend.aclose()

    def replay(self, path, **options):
        return ReplayBackend(ModelRef(provider="replay", model=str(path)), **options)

    async def test_what_was_recorded_is_replayed(self, path, ask):
        reply = Completion(
            text="Score: 2\u2028so", usage=Usage(input_tokens=3, output_tokens=4), served_model="m1"
        )
        await self.record(path, [ask(M, "a")], lambda r: reply)
        line = json.loads(path.read_text())
        assert set(line) == {"key", "request", "reply"}
        assert line["reply"]["usage"] == {"input_tokens": 3, "output_tokens": 4}
        assert await self.replay(path).complete(ask(M, "a")) == reply

    async def test_the_spec_names_the_file_and_anyones_replies_answer(self, path, ask):
        await self.record(path, [ask(M, "a")])
        target = resolve_target(f"replay:{path}")
        assert (await open_backend(target).complete(ask(target, "a"))).text == "Score: 2"

    async def test_what_was_not_recorded_is_a_miss(self, path, ask):
        await self.record(path, [ask(M, "a")])
        with pytest.raises(ReplayMissError):
            await self.replay(path).complete(ask(M, "b"))
        with pytest.raises(ReplayMissError):
            await self.replay(path).complete(ask(M, "a", temperature=0.5))

    async def test_two_models_on_one_prompt_are_not_mixed_up(self, path, ask):
        other = ModelRef(provider="scripted", model="n")
        await self.record(path, [ask(M, "a"), ask(other, "a")])
        assert (await self.replay(path).complete(ask(other, "a"))).text == "Score: 2"
        with pytest.raises(ReplayMissError, match="scripted:m, scripted:n"):
            await self.replay(path).complete(ask(MINI, "a"))

    async def test_a_refusal_is_recorded_and_replayed(self, path, ask):
        await self.record(path, [ask(M, "a")], lambda r: RefusedError("not this"))
        with pytest.raises(RefusedError, match="not this"):
            await self.replay(path).complete(ask(M, "a"))

    async def test_troubles_of_servers_are_not_recorded(self, path, ask):
        backend = RecordingBackend(ScriptedBackend(lambda r: ServerError("down")), path=path)
        with pytest.raises(ServerError):
            await backend.complete(ask(M))
        await backend.aclose()
        assert path.read_bytes() == b""

    async def test_a_cut_off_last_line_loses_only_itself(self, path, ask):
        await self.record(path, [ask(M, "a"), ask(M, "b")])
        whole = path.read_bytes()
        path.write_bytes(whole[:-40])
        told = []
        backend = self.replay(path, warn=told.append)
        assert (await backend.complete(ask(M, "a"))).text == "Score: 2"
        with pytest.raises(ReplayMissError):
            await backend.complete(ask(M, "b"))
        assert len(told) == 1
        # Recording goes on behind it, and the cut line is then an error with its place.
        await self.record(path, [ask(M, "c")])
        with pytest.raises(InputError) as raised:
            self.replay(path)
        assert raised.value.line == 2

    async def test_compressed_recordings_are_read(self, path, ask):
        await self.record(path, [ask(M, "a")])
        packed = path.with_suffix(".jsonl.gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert (await self.replay(packed).complete(ask(M, "a"))).text == "Score: 2"
        packed.write_bytes(packed.read_bytes()[:-10])
        with pytest.raises(InputError, match="cut off"):
            self.replay(packed)

    @pytest.mark.parametrize("line", ["[]", "{}", '{"request": {}, "reply": {}}', "nonsense", "3"])
    def test_a_bad_line_is_an_input_error_with_its_number(self, tmp_path, line):
        path = tmp_path / "bad.jsonl"
        path.write_text(f"\n{line}\n")
        with pytest.raises(InputError) as raised:
            self.replay(path)
        assert (raised.value.path, raised.value.line) == (str(path), 2)

    def test_a_missing_file_is_an_input_error(self, tmp_path):
        with pytest.raises(InputError, match="cannot read"):
            self.replay(tmp_path / "none.jsonl")

    def test_a_place_that_cannot_be_written_is_a_run_error(self, tmp_path):
        with pytest.raises(RunError):
            RecordingBackend(ScriptedBackend(), path=tmp_path)


class TestRegistry:
    def test_a_typo_gets_a_suggestion(self):
        with pytest.raises(ConfigurationError, match="did you mean 'openai'"):
            open_backend("opneai:gpt-4o-mini")

    @pytest.mark.parametrize("spec", ["openai", "openai:", "", ":m"])
    def test_what_is_no_spec_says_how_to_write_one(self, spec):
        with pytest.raises(ConfigurationError):
            open_backend(spec)

    @pytest.mark.parametrize(
        "url", ["localhost:8000", "ftp://x/v1", "http://user:secret@h/v1", "http://h/v1?key=secret"]
    )
    def test_a_url_that_cannot_be_recorded_is_refused_without_repeating_a_secret(self, url):
        with pytest.raises(ConfigurationError) as raised:
            resolve_target("openai:m", base_url=url)
        assert "secret" not in str(raised.value)

    def test_the_environments_server_enters_the_target(self, monkeypatch):
        monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9/v1/")
        assert resolve_target("openai:m").base_url == "http://localhost:9/v1"
        assert resolve_target("openai:m", base_url="http://other/v1").base_url == "http://other/v1"

    def test_models_may_contain_colons(self):
        assert resolve_target("openai:llama3:8b").model == "llama3:8b"

    def test_kinds_say_whether_key_and_packages_are_there(self, monkeypatch):
        kinds = {kind.provider: kind for kind in backend_kinds()}
        assert not kinds["openai"].has_key
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        assert kinds["openai"].has_key
        assert kinds["replay"].has_key
        assert kinds["openai"].installed

    def test_a_recording_needs_no_server_and_loads_no_model(self):
        kinds = {kind.provider: kind.answers_from for kind in backend_kinds()}
        loading = {name for name in kinds if loads_its_model(resolve_target(f"{name}:m"))}
        assert loading == {"transformers", "transformers-decision"}
        assert {name for name in kinds if kinds[name] != "server"} == {*loading, "replay"}

    async def test_a_provider_of_ones_own(self, ask):
        kind = type(backend_kinds()[0])(
            provider="mine", path=f"{__name__}:Mine", what="a test's own backend"
        )
        import sys

        sys.modules.setdefault(__name__, sys.modules[type(self).__module__])
        target = resolve_target("mine:m", extra_kinds=[kind])
        backend = open_backend(target, extra_kinds=[kind])
        assert (await backend.complete(ask(target))).text == "mine"

    def test_importing_the_package_imports_no_client(self):
        import subprocess
        import sys

        code = (
            "import sys, fairjudge.backends; "
            "print([m for m in ('openai', 'anthropic', 'langchain_openai', 'litellm', 'torch',"
            " 'transformers', 'tenacity') if m in sys.modules])"
        )
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert ran.stdout.strip() == b"[]"


class Mine:
    def __init__(self, target, *, timeout_seconds, warn):
        self.target = target

    async def complete(self, request):
        return Completion(text="mine")


def test_decisions_are_recorded_and_replayed(tmp_path):
    from fairjudge.protocols import Distribution, Message, Question

    request = DecisionRequest(
        target=M,
        messages=(Message(role="user", content="t"),),
        questions=(Question(name="q", kind="predicate", text="?", options={"yes": "", "no": ""}),),
    )
    decisions = Decisions(answers={"q": Distribution(probabilities={"yes": 0.75, "no": 0.25})})

    async def run():
        path = tmp_path / "d.jsonl"
        backend = RecordingBackend(ScriptedBackend(decide=lambda r: decisions), path=path)
        await backend.decide(request)
        await backend.aclose()
        replay = ReplayBackend(ModelRef(provider="replay", model=str(path)))
        return await replay.decide(request)

    assert asyncio.run(run()) == decisions
