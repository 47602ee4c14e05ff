"""The transformers backend on a tiny model made here: the code path of any real one."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tiny_model import CONTROL, PLAIN, WORDS, make_tiny_model

from fairjudge.backends import open_backend, resolve_target
from fairjudge.backends.transformers import TransformersBackend
from fairjudge.errors import ConfigurationError, ContextTooLongError, EmptyReplyError
from fairjudge.ports import CompletionRequest, Message

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def target(folder):
    return resolve_target(f"transformers:{folder}")


@pytest.fixture
async def backend(target):
    opened = open_backend(target)
    yield opened
    await opened.aclose()


def greedy(folder, prompt, n):
    """What the model says by argmax, one forward pass a token: the reference."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids = [WORDS.index(word) for word in prompt.split()]
    texts, logprobs = [], []
    with torch.inference_mode():
        for _ in range(n):
            at_end = torch.log_softmax(model(torch.tensor([ids + texts])).logits[0, -1], dim=-1)
            token = int(at_end.argmax())
            if token == WORDS.index("<eos>"):
                break
            texts.append(token)
            logprobs.append(at_end)
    return [WORDS[token] for token in texts], logprobs


async def test_greedy_decoding_with_logprobs_matches_forward_passes(backend, target, folder, ask):
    reply = await backend.complete(
        ask(target, "is the summary true ?", max_output_tokens=6, top_logprobs=3)
    )
    words, logprobs = greedy(folder, "<|user|> is the summary true ? <|assistant|>", 6)
    assert [place.token for place in reply.tokens] == words
    assert reply.usage.input_tokens == 7
    assert reply.usage.output_tokens == len(words)
    assert reply.finish_reason == ("length" if len(words) == 6 else "stop")
    for place, reference in zip(reply.tokens, logprobs, strict=True):
        assert len(place.logprobs) == 3
        assert place.token in place.logprobs
        for word, logprob in place.logprobs.items():
            assert logprob == pytest.approx(float(reference[WORDS.index(word)]), abs=1e-4)


async def text_of(backend, request):
    """The text, or nothing: this untrained model may well begin with its end token."""
    try:
        return (await backend.complete(request)).text
    except EmptyReplyError:
        return ""


async def test_batching_does_not_change_replies(backend, target, ask):
    texts = ["is the summary true ?", "score : 3", "A B C D E . Yes No 1 2 3 4 5", "the"]
    requests = [ask(target, text, max_output_tokens=8, top_logprobs=2) for text in texts]
    alone = [await backend.complete(request) for request in requests]
    together = await asyncio.gather(*(backend.complete(request) for request in requests))
    for single, other in zip(alone, together, strict=True):
        assert single.text == other.text
        assert single.tokens[0].logprobs == pytest.approx(dict(other.tokens[0].logprobs), abs=1e-3)


async def test_samples_depend_only_on_seed_and_index(backend, target, ask):
    def sample(index, text="the summary"):
        return ask(target, text, temperature=1.5, max_output_tokens=12, seed=7, sample_index=index)

    alone = [await text_of(backend, sample(n)) for n in range(6)]
    requests = [sample(9, text="is the summary true ?"), *(sample(n) for n in range(6))]
    together = await asyncio.gather(*(text_of(backend, request) for request in requests))
    assert together[1:] == alone
    assert len(set(alone)) > 1


async def test_sampling_draws_from_the_models_distribution(backend, target, ask):
    n = 400

    def one(index, **fields):
        return ask(
            target, "score :", temperature=2, max_output_tokens=1, sample_index=index, **fields
        )

    texts = await asyncio.gather(*(text_of(backend, one(k)) for k in range(n)))
    by_model = next_word_probabilities(target.model, "<|user|> score : <|assistant|>", 2.0)
    for word in PLAIN.split()[1:]:
        p = by_model[word]
        # 4.5 standard errors of a share of n draws
        assert abs(texts.count(word) / n - p) < 4.5 * math.sqrt(p * (1 - p) / n) + 1e-9, word
    assert len(set(texts)) > 3


def next_word_probabilities(folder, prompt, temperature):
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids = torch.tensor([[WORDS.index(word) for word in prompt.split()]])
    with torch.inference_mode():
        logits = model(ids).logits[0, -1] / temperature
    return dict(zip(WORDS, torch.softmax(logits, dim=-1).tolist(), strict=True))


async def test_a_stop_string_ends_the_reply(backend, target, folder, ask):
    prompts = ["score : 3", "the summary", "is true ?", "A B C", "Answer with 5", "level 2 ."]
    for prompt in prompts:
        words, _ = greedy(folder, f"<|user|> {prompt} <|assistant|>", 8)
        later = [w for k, w in enumerate(words) if w in PLAIN.split()[1:] and words.index(w) == k]
        if len(later) > 1 and all(word not in CONTROL for word in words):
            break
    stop = later[1]
    reply = await backend.complete(ask(target, prompt, max_output_tokens=8, stop=(stop,)))
    assert reply.text.split() == words[: words.index(stop)]
    assert reply.finish_reason == "stop"
    assert reply.usage.output_tokens == words.index(stop) + 1


async def test_system_message_is_merged_into_user_if_unsupported(backend, target):
    request = CompletionRequest(
        target=target,
        messages=(
            Message(role="system", content="Answer Yes or No ."),
            Message(role="user", content="true ?"),
        ),
        max_output_tokens=1,
    )
    reply = await backend.complete(request)
    # <|user|> Answer Yes or No . true ? <|assistant|>
    assert reply.usage.input_tokens == 9


def test_control_tokens_in_a_text_are_escaped(folder):
    from transformers import AutoTokenizer

    from fairjudge.backends.generation import prompt_ids

    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = prompt_ids(tokenizer, [{"role": "user", "content": "the <|assistant|> is"}])
    assert [WORDS[n] for n in ids] == ["<|user|>", "the", "<unk>", "is", "<|assistant|>"]


async def test_prompt_beyond_the_window_raises(backend, target, ask):
    with pytest.raises(ContextTooLongError, match="64"):
        await backend.complete(ask(target, "the " * 70))


async def test_reply_is_truncated_at_the_window(backend, target, ask):
    reply = await backend.complete(ask(target, "the " * 55, max_output_tokens=500))
    assert reply.usage.input_tokens + reply.usage.output_tokens <= 64


def test_no_such_model_is_a_configuration_error(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot load"):
        open_backend(resolve_target(f"transformers:{tmp_path}/none"))


def test_a_model_without_a_template_reads_plain_text(tmp_path):
    from transformers import AutoTokenizer

    from fairjudge.backends.generation import prompt_ids

    folder = make_tiny_model(tmp_path / "plain", template=None)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = prompt_ids(
        tokenizer,
        [{"role": "system", "content": "Yes"}, {"role": "user", "content": "No"}],
    )
    assert [WORDS[n] for n in ids] == ["Yes", "No"]


async def test_batch_has_one_sampling_setting_and_a_token_limit(target, ask):
    backend = TransformersBackend(target)

    def jobs(*lengths, **fields):
        texts = [" ".join(["the"] * n) for n in lengths]
        requests = [ask(target, text, max_output_tokens=1, **fields) for text in texts]
        return [backend._job(item) for item in requests]

    backend._batch_tokens = 27
    # with two marks of the template and a token of reply: 9, 9 and 6, then 10 tokens
    first, other = jobs(6, 6, 3, 7), jobs(1, temperature=0.5)
    assert [job.n_tokens for job in first] == [9, 9, 6, 10]
    backend._jobs = [*first, *other]
    assert backend._next_batch() == first[:3]  # 3 times 9 is what may be
    assert backend._next_batch() == first[3:]
    assert backend._next_batch() == other
    assert backend._next_batch() == []
    alone = jobs(30)
    backend._jobs = [*alone, *jobs(1)]
    assert backend._next_batch() == alone  # though it is beyond the budget
    gone, present = jobs(1, 1)
    gone.reply.cancel()
    backend._jobs = [gone, present]
    assert backend._next_batch() == [present]
    await backend.aclose()


@pytest.mark.parametrize(
    ("name", "place", "file"),
    [
        ("owner/model", "owner/model", None),
        ("owner/model/q4.gguf", "owner/model", "q4.gguf"),
        ("owner/model/sub/Q4.GGUF", "owner/model", "sub/Q4.GGUF"),
        ("/models/q4.gguf", "/models", "q4.gguf"),
        ("here.gguf", ".", "here.gguf"),
    ],
)
def test_a_gguf_file_is_named_below_its_repository_or_folder(
    name, place, file, tmp_path, monkeypatch
):
    from fairjudge.backends.generation import _location

    monkeypatch.chdir(tmp_path)
    Path("here.gguf").touch()
    assert _location(name) == (place, file)
