"""Budgets, prices, recordings and replays."""

from __future__ import annotations

import asyncio
import gzip
import json
from importlib.metadata import EntryPoint

import pytest

from fairjudge import backends
from fairjudge.backends import (
    asks_a_server,
    backend_kinds,
    loads_its_model,
    open_backend,
    resolve_target,
)
from fairjudge.backends.budgeting import Budget, BudgetLimit
from fairjudge.backends.caching import Caching
from fairjudge.backends.limiting import Concurrency
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.pricing import PriceTable, load_prices
from fairjudge.backends.replay import ReplayBackend
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.backends.token_counts import max_input_tokens
from fairjudge.cache.disk import ReplyCache
from fairjudge.errors import (
    BadRequestError,
    BudgetExceededError,
    ConfigurationError,
    ConnectionFailedError,
    EmptyReplyError,
    InputError,
    MalformedReplyError,
    RateLimitError,
    RefusedError,
    ReplayMissError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.ports import Completion, DecisionRequest, Decisions, ModelRef, Usage
from fairjudge.records.spending import Spending

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


def within(inner, budget):
    return Pipeline(inner, BudgetLimit(budget))


@pytest.fixture
def prices(tmp_path) -> PriceTable:
    (tmp_path / "prices.toml").write_text(PRICES)
    return load_prices(tmp_path / "prices.toml")


class TestPrices:
    def test_a_published_price_names_its_source(self):
        assert load_prices().price(MINI).source.startswith("genai-prices ")

    @pytest.mark.parametrize(
        "model",
        [
            "bedrock_converse/anthropic.claude-sonnet-4-5-20250929-v1:0",
            "bedrock_converse/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "azure_openai/gpt-4o-mini",
            "google_vertexai/gemini-2.5-pro",
        ],
    )
    def test_cloud_model_has_a_price_under_its_cloud_name(self, model):
        usage = Usage(input_tokens=1000, output_tokens=2000)
        assert load_prices().cost_usd(ModelRef(provider="langchain", model=model), usage) > 0

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
            ModelRef(provider="openai", model="gpt-4o-mini", base_url="http://10.0.0.7:8000/v1"),
            ModelRef(provider="openai", model="gpt-4o-mini", base_url="https://llm.example.org/v1"),
            ModelRef(provider="litellm", model="ollama/llama3"),
            ModelRef(provider="transformers", model="gpt-4o-mini"),
        ],
    )
    def test_unknown_price_is_none_and_never_0(self, target):
        assert load_prices().cost_usd(target, Usage(input_tokens=1, output_tokens=1)) is None

    def test_unknown_token_counts_give_unknown_cost(self):
        assert load_prices().cost_usd(MINI, Usage(input_tokens=5)) is None

    def test_snapshots_have_the_price_of_their_model_unless_listed(self):
        prices = load_prices()
        plain = prices.price(ModelRef(provider="openai", model="gpt-4o"))
        later = prices.price(ModelRef(provider="openai", model="gpt-4o-2024-08-06"))
        first = prices.price(ModelRef(provider="openai", model="gpt-4o-2024-05-13"))
        assert later == plain
        assert first != plain

    @pytest.mark.parametrize(
        ("provider", "model", "base_url", "served"),
        [
            ("litellm", "anthropic/claude-3-haiku-20240307", None, ("anthropic", "claude-3-haiku")),
            ("litellm", "gpt-4o-mini", None, ("openai", "gpt-4o-mini")),
            ("litellm", "gemini/gemini-2.5-flash", None, ("google", "gemini-2.5-flash")),
            ("litellm", "azure/gpt-4o", None, ("azure", "gpt-4o")),
            ("langchain", "google_genai/gemini-2.5-pro", None, ("google", "gemini-2.5-pro")),
            ("langchain", "azure_openai/gpt-4o", None, ("azure", "gpt-4o")),
            ("openai", "deepseek-chat", "https://api.deepseek.com", ("deepseek", "deepseek-chat")),
        ],
    )  # fmt: skip
    def test_provider_is_derived_from_model_name_or_url(self, provider, model, base_url, served):
        target = ModelRef(provider=provider, model=model, base_url=base_url)
        price = load_prices().price(target)
        assert (price.provider, price.model) == served

    def test_user_price_file_takes_precedence_for_every_provider(self, tmp_path):
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
    def test_invalid_price_file_is_an_input_error(self, tmp_path, text, problem):
        path = tmp_path / "p.toml"
        path.write_text(text)
        with pytest.raises(InputError, match=problem) as raised:
            load_prices(path)
        assert raised.value.path == str(path)


class TestBudget:
    async def test_calls_stop_at_the_limit(self, ask):
        budget = Budget(max_calls=2)
        inner = ScriptedBackend(lambda r: "ok")
        backend = within(inner, budget)
        await backend.complete(ask(M, "1"))
        await backend.complete(ask(M, "2"))
        with pytest.raises(BudgetExceededError, match="2 calls"):
            await backend.complete(ask(M, "3"))
        assert (len(inner.requests), budget.n_calls) == (2, 2)

    async def test_remaining_budget_is_never_negative(self, ask):
        budget = Budget(max_calls=1)
        backend = Pipeline(ScriptedBackend(lambda request: "ok"), BudgetLimit(budget))
        assert (budget.calls_left, budget.usd_left) == (1, None)
        await backend.complete(ask(M, "a"))
        assert budget.calls_left == 0
        budget.book(Spending(n_calls=3))
        assert budget.calls_left == 0
        assert Budget().calls_left is None

    async def test_calls_in_flight_count(self, ask):
        gate = asyncio.Event()

        async def slow(request):
            await gate.wait()
            return "ok"

        backend = within(ScriptedBackend(slow), Budget(max_calls=1))
        first = asyncio.create_task(backend.complete(ask(M, "1")))
        await asyncio.sleep(0)
        with pytest.raises(BudgetExceededError):
            await backend.complete(ask(M, "2"))
        gate.set()
        await first

    async def test_request_waits_if_calls_in_flight_may_exhaust_the_budget(self, ask, prices):
        # A prompt of 30 bytes is estimated at 30 // 3 + 8 = 18 tokens: 18 x $10 + 100 x $20 a
        # million = $0.00218. Counted: 10 x $10 + 5 x $20 a million = $0.0002.
        usage = Usage(input_tokens=10, output_tokens=5)
        gate = asyncio.Event()

        async def slow(request):
            await gate.wait()
            return Completion(text="ok", usage=usage)

        budget = Budget(max_cost_usd=0.0043, prices=prices)
        backend = within(ScriptedBackend(slow), budget)
        first = asyncio.create_task(backend.complete(ask(M, "x" * 30, max_output_tokens=100)))
        await asyncio.sleep(0)
        second = asyncio.create_task(backend.complete(ask(M, "y" * 30, max_output_tokens=100)))
        for _ in range(20):
            await asyncio.sleep(0)
        assert budget.n_calls == 1
        gate.set()
        await asyncio.gather(first, second)
        assert budget.cost_usd == pytest.approx(0.0004, abs=1e-15)
        assert budget.usd_left == pytest.approx(0.0039, abs=1e-15)
        assert Budget().usd_left is None
        with pytest.raises(BudgetExceededError, match=r"\$0\.0004 spent, \$0\.0000 reserved"):
            await backend.complete(ask(M, "y" * 30, max_output_tokens=200))  # $0.00418 more

    async def test_failed_call_releases_its_reservation(self, ask, prices):
        budget = Budget(max_cost_usd=0.0022, prices=prices)
        answers = iter([ServerError("down"), "ok"])
        backend = within(ScriptedBackend(lambda r: next(answers)), budget)
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
        with pytest.raises(ConfigurationError, match=r"scripted:other.*--price-input.*--max-calls"):
            budget.check_priced(unknown)
        inner = ScriptedBackend(lambda r: "ok")
        with pytest.raises(ConfigurationError):
            await within(inner, budget).complete(ask(unknown))
        assert inner.requests == []

    async def test_cache_hits_are_free(self, ask, tmp_path):
        cache = ReplyCache(tmp_path)
        budget = Budget(max_calls=1)
        backend = Pipeline(
            ScriptedBackend(lambda r: "ok"), Caching(cache=cache), BudgetLimit(budget)
        )
        for _ in range(3):
            await backend.complete(ask(M))
        assert budget.n_calls == 1
        cache.close()

    async def test_calls_within_budget_all_run_at_concurrency_64(self, ask, prices):
        # Each is estimated at $0.00218 and costs $0.0002: 352 cost $0.0704, and 64 estimates $0.14.
        budget = Budget(max_cost_usd=0.0726, prices=prices)
        usage = Usage(input_tokens=10, output_tokens=5)
        now = most = 0

        async def answer(request):
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1
            return Completion(text="ok", usage=usage)

        limits = (Concurrency(64), BudgetLimit(budget))
        backend = Pipeline(ScriptedBackend(answer), *limits)
        requests = [ask(M, "x" * 30, max_output_tokens=100, seed=n) for n in range(352)]
        await asyncio.gather(*map(backend.complete, requests))
        assert budget.cost_usd == pytest.approx(0.0704)
        assert 16 < most <= 33  # $0.0726 bear 33 estimates

    async def test_server_counts_above_the_estimate_do_not_exceed_the_limit(self, ask, prices):
        # $0.00218 are estimated and $0.21 counted, the first of them alone: two fit into $0.50.
        budget = Budget(max_cost_usd=0.50, prices=prices)
        usage = Usage(input_tokens=11_000, output_tokens=5_000)

        async def answer(request):
            await asyncio.sleep(0)
            return Completion(text="ok", usage=usage)

        backend = within(ScriptedBackend(answer), budget)
        requests = [ask(M, "x" * 30, max_output_tokens=100, seed=n) for n in range(64)]
        result = await asyncio.gather(*map(backend.complete, requests), return_exceptions=True)
        assert sum(isinstance(item, Completion) for item in result) == 2
        assert budget.cost_usd == pytest.approx(0.42)

    @pytest.mark.parametrize(
        ("error", "booked", "n_calls"),
        [
            (RequestTimeoutError("late"), 0.00218, 1),
            (ConnectionFailedError("reset"), 0.00218, 1),
            (ConnectionFailedError("refused", unsent=True), 0.0, 0),
            (MalformedReplyError("no JSON"), 0.00218, 1),
            (RefusedError("no"), 0.00218, 1),
            (
                RefusedError("no").with_usage(Usage(input_tokens=10, output_tokens=5)),
                0.0002,
                1,
            ),
            (EmptyReplyError("").with_usage(Usage(input_tokens=10)), 0.00218, 1),
            (RateLimitError("429"), 0.0, 1),
            (ServerError("500"), 0.0, 1),
            (BadRequestError("400"), 0.0, 1),
        ],
    )
    async def test_cost_of_failed_calls(self, ask, prices, error, booked, n_calls):
        budget = Budget(max_cost_usd=1.0, prices=prices)
        backend = within(ScriptedBackend(lambda r: error), budget)
        with pytest.raises(type(error)):
            await backend.complete(ask(M, "x" * 30, max_output_tokens=100))
        assert budget.cost_usd == pytest.approx(booked, abs=1e-15)
        assert budget.n_calls == n_calls

    async def test_cancelled_request_may_be_billed_and_is_released(self, ask, prices):
        budget = Budget(max_cost_usd=0.0045, prices=prices)
        stuck = asyncio.Event()
        backend = within(ScriptedBackend(lambda r: stuck.wait()), budget)
        calls = [
            asyncio.create_task(backend.complete(ask(M, "x" * 30, max_output_tokens=100, seed=n)))
            for n in range(3)
        ]
        for n in range(3):
            await asyncio.sleep(0)
            calls[n].cancel()
        ended = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 20)
        assert {type(item) for item in ended} <= {asyncio.CancelledError, BudgetExceededError}
        assert budget.cost_usd <= 0.0045

    def test_estimate_exceeds_tokenizer_counts_for_english(self, ask):
        # GPT-2 and its successors need about one token for four characters of English prose.
        prose = "The mayor said on Tuesday that the bridge would stay closed until the spring. " * 9
        assert max_input_tokens(ask(M, prose)) > len(prose) / 4


SCORE_2 = Completion(text="Score: 2")


def write_recording(path, exchanges):
    """Write requests and their replies or errors as `ReplayBackend` reads them."""
    lines = []
    for request, reply in exchanges:
        text = (
            {"error": type(reply).__name__, "message": str(reply)}
            if isinstance(reply, Exception)
            else {"reply": reply.model_dump(mode="json", exclude_defaults=True)}
        )
        fields = request.model_dump(mode="json", exclude_defaults=True)
        lines.append(json.dumps({"request": fields, **text}, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), "utf-8")


class TestReplay:
    @pytest.fixture
    def path(self, tmp_path):
        return tmp_path / "record.jsonl"

    def record(self, path, requests, reply=SCORE_2):
        write_recording(path, [(request, reply) for request in requests])

    def replay(self, path, **options):
        return ReplayBackend(ModelRef(provider="replay", model=str(path)), **options)

    async def test_recorded_reply_is_replayed(self, path, ask):
        reply = Completion(
            text="Score: 2\u2028so", usage=Usage(input_tokens=3, output_tokens=4), served_model="m1"
        )
        self.record(path, [ask(M, "a")], reply)
        assert await self.replay(path).complete(ask(M, "a")) == reply

    async def test_spec_names_the_file_and_replies_of_any_model_match(self, path, ask):
        self.record(path, [ask(M, "a")])
        target = resolve_target(f"replay:{path}")
        assert (await open_backend(target).complete(ask(target, "a"))).text == "Score: 2"

    async def test_unrecorded_request_is_a_miss(self, path, ask):
        self.record(path, [ask(M, "a")])
        with pytest.raises(ReplayMissError):
            await self.replay(path).complete(ask(M, "b"))
        with pytest.raises(ReplayMissError):
            await self.replay(path).complete(ask(M, "a", temperature=0.5))

    async def test_replies_of_two_models_to_one_prompt_are_distinct(self, path, ask):
        other = ModelRef(provider="scripted", model="n")
        self.record(path, [ask(M, "a"), ask(other, "a")])
        assert (await self.replay(path).complete(ask(other, "a"))).text == "Score: 2"
        with pytest.raises(ReplayMissError, match="scripted:m, scripted:n"):
            await self.replay(path).complete(ask(MINI, "a"))

    async def test_a_refusal_is_replayed(self, path, ask):
        self.record(path, [ask(M, "a")], RefusedError("not this"))
        with pytest.raises(RefusedError, match="not this"):
            await self.replay(path).complete(ask(M, "a"))

    async def test_truncated_last_line_loses_only_that_reply(self, path, ask):
        self.record(path, [ask(M, "a"), ask(M, "b")])
        whole = path.read_bytes()
        path.write_bytes(whole[:-40])
        items = []
        backend = self.replay(path, warn=items.append)
        assert (await backend.complete(ask(M, "a"))).text == "Score: 2"
        with pytest.raises(ReplayMissError):
            await backend.complete(ask(M, "b"))
        assert len(items) == 1
        # With a line behind it, the cut one is an error with its place.
        path.write_bytes(whole[:-40] + b"\n" + whole)
        with pytest.raises(InputError) as raised:
            self.replay(path)
        assert raised.value.line == 2

    async def test_compressed_recordings_are_read(self, path, ask):
        self.record(path, [ask(M, "a")])
        packed = path.with_suffix(".jsonl.gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert (await self.replay(packed).complete(ask(M, "a"))).text == "Score: 2"
        packed.write_bytes(packed.read_bytes()[:-10])
        with pytest.raises(InputError, match="cut off"):
            self.replay(packed)

    @pytest.mark.parametrize("line", ["[]", "{}", '{"request": {}, "reply": {}}', "nonsense", "3"])
    def test_invalid_line_is_an_input_error_with_its_number(self, tmp_path, line):
        path = tmp_path / "bad.jsonl"
        path.write_text(f"\n{line}\n")
        with pytest.raises(InputError) as raised:
            self.replay(path)
        assert (raised.value.path, raised.value.line) == (str(path), 2)

    def test_missing_field_of_a_line_is_named(self, path, ask, tmp_path):
        self.record(path, [ask(M, "a")])
        line = json.loads(path.read_text().splitlines()[0])
        bad = tmp_path / "bad.jsonl"
        bad.write_text(json.dumps({"request": line["request"]}) + "\n")
        with pytest.raises(InputError, match="'reply' is missing or unknown"):
            self.replay(bad)
        line["request"]["messages"] = 3
        bad.write_text(json.dumps(line) + "\n")
        with pytest.raises(InputError, match="not a recorded exchange: messages: "):
            self.replay(bad)

    def test_a_missing_file_is_an_input_error(self, tmp_path):
        with pytest.raises(InputError, match="no such file"):
            self.replay(tmp_path / "none.jsonl")


class TestRegistry:
    def test_a_typo_gets_a_suggestion(self):
        with pytest.raises(ConfigurationError, match="did you mean 'openai'"):
            resolve_target("opneai:gpt-4o-mini")

    @pytest.mark.parametrize("spec", ["openai", "openai:", "", ":m"])
    def test_invalid_spec_error_explains_the_syntax(self, spec):
        with pytest.raises(ConfigurationError):
            resolve_target(spec)

    @pytest.mark.parametrize(
        "url", ["localhost:8000", "ftp://x/v1", "http://user:secret@h/v1", "http://h/v1?key=secret"]
    )
    def test_unrecordable_url_raises_without_repeating_a_secret(self, url):
        with pytest.raises(ConfigurationError) as raised:
            resolve_target("openai:m", base_url=url)
        assert "secret" not in str(raised.value)

    def test_base_url_from_the_environment_is_in_the_target(self, monkeypatch):
        monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9/v1/")
        assert resolve_target("openai:m").base_url == "http://localhost:9/v1"
        assert resolve_target("openai:m", base_url="http://other/v1").base_url == "http://other/v1"

    def test_models_may_contain_colons(self):
        assert resolve_target("openai:llama3:8b").model == "llama3:8b"

    def test_providers_report_available_keys_and_packages(self, monkeypatch):
        kinds = {kind.provider: kind for kind in backend_kinds()}
        assert not kinds["openai"].has_key
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        assert kinds["openai"].has_key
        assert kinds["replay"].has_key
        assert kinds["openai"].is_installed

    def test_plugins_add_providers_and_replace_none(self, monkeypatch):
        points = [
            EntryPoint(name=name, value="theirs.module:Backend", group="fairjudge.backends")
            for name in ("zeta", "alpha", "openai")
        ]
        monkeypatch.setattr(backends, "entry_points", lambda *, group: points)
        names = [kind.provider for kind in backend_kinds()]
        assert names[-2:] == ["alpha", "zeta"]
        assert names.count("openai") == 1
        kinds = {kind.provider: kind for kind in backend_kinds()}
        assert kinds["alpha"].what == "from the package theirs.module"
        assert kinds["openai"].path != "theirs.module:Backend"

    def test_a_recording_needs_no_server_and_loads_no_model(self):
        kinds = {kind.provider: kind.answers_from for kind in backend_kinds()}
        loading = {name for name in kinds if loads_its_model(resolve_target(f"{name}:m"))}
        assert loading == {"transformers", "transformers-decision"}
        kinds_elsewhere = {name for name in kinds if not asks_a_server(resolve_target(f"{name}:m"))}
        assert kinds_elsewhere == {name for name in kinds if kinds[name] != "server"}
        assert kinds_elsewhere == {*loading, "replay"}

    async def test_a_custom_provider(self, ask, monkeypatch):
        import sys

        mine = EntryPoint(name="mine", value=f"{__name__}:Mine", group="fairjudge.backends")
        monkeypatch.setattr(backends, "entry_points", lambda *, group: [mine])
        monkeypatch.setitem(sys.modules, __name__, sys.modules[type(self).__module__])
        target = resolve_target("mine:m")
        backend = open_backend(target)
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


def test_decisions_are_replayed(tmp_path):
    from fairjudge.ports import Distribution, Message, Question

    request = DecisionRequest(
        target=M,
        messages=(Message(role="user", content="t"),),
        questions=(Question(name="q", kind="predicate", text="?", options={"yes": "", "no": ""}),),
    )
    decisions = Decisions(answers={"q": Distribution(probabilities={"yes": 0.75, "no": 0.25})})

    path = tmp_path / "d.jsonl"
    write_recording(path, [(request, decisions)])
    replay = ReplayBackend(ModelRef(provider="replay", model=str(path)))
    assert asyncio.run(replay.decide(request)) == decisions
