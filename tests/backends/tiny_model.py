"""A causal language model small enough to create in a test: two layers, a word-level vocabulary."""

from __future__ import annotations

from pathlib import Path

PLAIN = (
    "<unk> A B C D E Yes No yes no score : 1 2 3 4 5 is the summary true false Answer with of "
    "option that fits best letter only level or to . ?"
)
CONTROL = "<pad> <bos> <eos> <|user|> <|assistant|>"
WORDS = [*PLAIN.split(), *CONTROL.split()]
TEMPLATE = (
    "{% for m in messages %}"
    "{% if m.role == 'system' %}{{ raise_exception('no system messages') }}{% endif %}"
    "<|{{ m.role }}|> {{ m.content }} {% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def make_tiny_model(folder: Path, *, template: str | None = TEMPLATE) -> Path:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    # Control tokens are added to the vocabulary, not words in it: as in real tokenizers, no plain
    # text becomes one of them.
    vocabulary = {word: n for n, word in enumerate(PLAIN.split())}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.add_special_tokens(CONTROL.split())
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="<unk>",
        additional_special_tokens=["<|user|>", "<|assistant|>"],
    )
    tokenizer.chat_template = template
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        bos_token_id=WORDS.index("<bos>"),
        eos_token_id=WORDS.index("<eos>"),
        pad_token_id=WORDS.index("<pad>"),
        initializer_range=0.6,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
