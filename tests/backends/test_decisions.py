"""Decision backends through their real clients: the stub, a tiny model, and a real server."""

from __future__ import annotations

import importlib.util
import math
import re

import pytest

from fairjudge.backends import open_backend, resolve_target
from fairjudge.backends.caching import Caching
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.systemone_wire import read_decisions
from fairjudge.cache.disk import ReplyCache
from fairjudge.errors import (
    ConfigurationError,
    ContextTooLongError,
    MalformedReplyError,
    ServerError,
)
from fairjudge.ports import (
    DecisionRefusal,
    DecisionRequest,
    Decisions,
    Message,
    ModelRef,
    Question,
)

# litellm's and transformers' own code warns of deprecations.
pytestmark = pytest.mark.filterwarnings("default")

HAS_LITELLM = importlib.util.find_spec("litellm") is not None
PROVIDERS = [
    "openai-decisions",
    "systemone",
    pytest.param(
        "litellm-decisions",
        marks=pytest.mark.skipif(not HAS_LITELLM, reason="needs the extra [litellm]"),
    ),
]
COVERED = Question(
    name="covered",
    kind="predicate",
    text="Is it covered?",
    options={"yes": "The summary says so.", "no": ""},
)
BETTER = Question(
    name="better",
    kind="choice",
    text="Which is better?",
    options={"a": "the first", "b": "the second", "tie": ""},
)
RATING = Question(
    name="rating",
    kind="score",
    text="How faithful?",
    options={"1": "not at all", "2": "in part", "3": "wholly"},
)


def ask(target: ModelRef, *questions: Question, text: str = "A summary.") -> DecisionRequest:
    return DecisionRequest(
        target=target,
        messages=(Message(role="user", content=text),),
        questions=questions or (COVERED, BETTER, RATING),
    )


@pytest.fixture(params=PROVIDERS)
def provider(request):
    return request.param


@pytest.fixture
def target(stub, provider):
    return resolve_target(f"{provider}:decider", base_url=stub.v1)


async def test_all_questions_of_an_item_are_sent_in_one_call(stub, backend, target):
    stub.answer = lambda call: {
        "covered": [0.75, 0.25],
        "better": [0.5, 0.125, 0.375],
        "rating": [0.125, 0.25, 0.625],
    }
    decisions = await backend.decide(ask(target))
    assert {name: dict(a.probabilities) for name, a in decisions.answers.items()} == {
        "covered": {"yes": 0.75, "no": 0.25},
        "better": {"a": 0.5, "b": 0.125, "tie": 0.375},
        "rating": {"1": 0.125, "2": 0.25, "3": 0.625},
    }
    assert decisions.usage.input_tokens == 11
    assert decisions.served_model.startswith("decider")
    assert len(stub.calls) == 1


async def test_declined_question_is_a_refusal_of_only_that_question(stub, backend, target):
    stub.answer = lambda call: {"covered": None, "rating": [1.0, 0.0, 0.0]}
    decisions = await backend.decide(ask(target))
    assert decisions.refused == ("covered",)
    assert isinstance(decisions.answers["covered"], DecisionRefusal)
    assert decisions.answers["rating"].probabilities["1"] == 1.0


async def test_decisions_are_cached_like_replies(stub, backend, target, tmp_path):
    cache = ReplyCache(tmp_path)
    cached = Pipeline(backend, Caching(cache=cache))
    first = await cached.decide(ask(target))
    assert await cached.decide(ask(target)) == first
    assert len(stub.calls) == 1
    cache.close()


async def test_systemone_request_format(stub):
    target = resolve_target("systemone:decider", base_url=stub.url)  # without /v1
    backend = open_backend(target)
    await backend.decide(ask(target))
    await backend.aclose()
    assert stub.calls[0].body == {
        "model": "decider",
        "state": "A summary.",
        "questions": {
            "covered": {
                "type": "noul",
                "instructions": "Is it covered?",
                "criteria": {"true": "The summary says so.", "false": None},
            },
            "better": {
                "type": "choice",
                "instructions": "Which is better?",
                "criteria": {"a": "the first", "b": "the second", "tie": None},
            },
            "rating": {
                "type": "score",
                "instructions": "How faithful?",
                "criteria": ["1: not at all", "2: in part", "3: wholly"],
            },
        },
    }


async def test_openai_request_format(stub):
    target = resolve_target("openai-decisions:decider", base_url=stub.v1)
    backend = open_backend(target)
    await backend.decide(ask(target))
    await backend.aclose()
    body = stub.calls[0].body
    assert body["input"] == "A summary."
    assert body["questions"][0] == {
        "type": "predicate",
        "name": "covered",
        "instructions": "Is it covered?\nYes: The summary says so.",
    }
    assert body["questions"][2]["levels"][2] == {"label": "3", "description": "wholly"}


@pytest.mark.parametrize(
    "p",
    [[0.5, 0.2, 0.1], [1.2, -0.1, -0.1]],
    ids=["add up to 0.8", "negative"],
)
async def test_invalid_distribution_is_malformed(stub, p):
    target = resolve_target("systemone:decider", base_url=stub.v1)
    backend = open_backend(target)
    stub.answer = lambda call: {"better": p}
    with pytest.raises(MalformedReplyError, match="better"):
        await backend.decide(ask(target, BETTER))
    await backend.aclose()


@pytest.mark.parametrize(
    "reply",
    [
        {"answers": {"better": {"type": "choice"}}},
        {"answers": {"better": {"type": "choice", "probabilities": {"a": "x"}}}},
        {"answers": {"better": {"type": "choice", "probabilities": {"a": 0.5, "none": 0.5}}}},
        {"answers": {"better": {"type": "choice", "probabilities": {"a": math.nan}}}},
        {"answers": {"better": "a"}},
    ],
)
def test_invalid_reply_format_is_malformed(reply):
    with pytest.raises(MalformedReplyError):
        read_decisions(ask(ModelRef(provider="systemone", model="m"), BETTER), reply)


@pytest.mark.parametrize("reply", [None, [], {}, {"answers": []}, {"answers": None}, "text"])
def test_reply_without_answers_is_a_server_error(reply):
    with pytest.raises(ServerError, match="the box answered 200"):
        read_decisions(
            ask(ModelRef(provider="systemone", model="m"), BETTER), reply, server_name="the box"
        )


def test_refusal_replaces_an_answer():
    reply = {"answers": {"better": {"type": "refusal"}}}
    records = read_decisions(ask(ModelRef(provider="systemone", model="m"), BETTER), reply)
    assert records.answers["better"] == DecisionRefusal(why="the model declined this question")


async def test_rounded_probabilities_are_normalised(stub):
    target = resolve_target("systemone:decider", base_url=stub.v1)
    backend = open_backend(target)
    stub.answer = lambda call: {"better": [0.33, 0.33, 0.33]}
    decisions = await backend.decide(ask(target, BETTER))
    assert math.fsum(decisions.answers["better"].probabilities.values()) == pytest.approx(1)
    await backend.aclose()


def test_a_systemone_backend_needs_a_server():
    with pytest.raises(ConfigurationError, match="--base-url"):
        open_backend(resolve_target("systemone:decider"))


@pytest.fixture(scope="module")
def in_process(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tiny_model import make_tiny_model

    folder = make_tiny_model(tmp_path_factory.mktemp("tiny"))
    return resolve_target(f"transformers-decision:{folder}")


class TestInProcess:
    @pytest.fixture
    def target(self, in_process):
        return in_process

    async def test_distributions_match_the_model(self, target):
        import torch
        from tiny_model import WORDS
        from transformers import AutoModelForCausalLM

        question = Question(
            name="q", kind="predicate", text="true ?", options={"yes": "", "no": ""}
        )
        backend = open_backend(target)
        decisions = await backend.decide(ask(target, question, text="the summary"))
        await backend.aclose()
        # The pipeline's prompt: the state, the question, and "Answer Yes or No only."
        prompt = "<|user|> the summary true ? Answer Yes or No <unk> <|assistant|>"
        model = AutoModelForCausalLM.from_pretrained(target.model).eval()
        with torch.inference_mode():
            ids = torch.tensor([[WORDS.index(word) for word in prompt.split()]])
            logits = model(ids).logits[0, -1]
        labels = torch.stack([logits[WORDS.index("Yes")], logits[WORDS.index("No")]])
        assert decisions.answers["q"].probabilities["yes"] == pytest.approx(
            float(torch.softmax(labels, dim=0)[0]), abs=1e-4
        )
        assert decisions.usage.input_tokens == len(prompt.split())

    async def test_every_question_type_is_answered(self, target):
        backend = open_backend(target)
        decisions = await backend.decide(ask(target))
        await backend.aclose()
        assert list(decisions.answers) == ["covered", "better", "rating"]
        for answer in decisions.answers.values():
            assert math.fsum(answer.probabilities.values()) == pytest.approx(1)

    async def test_text_beyond_the_window_raises(self, target):
        backend = open_backend(target)
        with pytest.raises(ContextTooLongError):
            await backend.decide(ask(target, text="the " * 80))
        await backend.aclose()


async def test_a_real_server_answers(decision_server):
    target = resolve_target("systemone:sparrow", base_url=decision_server)
    backend = open_backend(target)
    decisions = await backend.decide(ask(target, text="The summary is wholly faithful."))
    await backend.aclose()
    assert isinstance(decisions, Decisions)
    assert decisions.refused == ()
    assert set(decisions.answers["rating"].probabilities) == {"1", "2", "3"}
    for answer in decisions.answers.values():
        assert math.fsum(answer.probabilities.values()) == pytest.approx(1)
    assert re.match("sparrow", decisions.served_model)


@pytest.mark.parametrize("roles", [("user", "user"), ("system", "user")])
async def test_every_message_of_an_item_is_sent(stub, backend, target, roles):
    stub.answer = lambda call: {"covered": [0.75, 0.25]}
    texts = ("The first message.", "The second message.")
    messages = tuple(
        Message(role=role, content=text) for role, text in zip(roles, texts, strict=True)
    )
    await backend.decide(DecisionRequest(target=target, messages=messages, questions=(COVERED,)))
    body = str(stub.calls[-1].body)
    assert all(text in body for text in texts)
