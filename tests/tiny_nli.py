"""A tiny entailment model on disk: real tokenizer and transformers classes, random weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

LABELS = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")


def save_tokenizer(folder: Path, words: Sequence[str], *, window: int) -> int:
    """Save a word-level tokenizer with BERT's special tokens; return the vocabulary size."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
    tokenizer = Tokenizer(
        models.WordLevel({name: i for i, name in enumerate(names)}, unk_token=names[1])
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=window,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    return len(names)


def bert_config(size: int, *, window: int, **more: Any) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=size, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=window, initializer_range=0.5, **more,
    )  # fmt: skip


def save_nli(
    folder: Path,
    words: Sequence[str],
    *,
    window: int,
    seed: int = 1,
    order: Sequence[int] = (0, 1, 2),
) -> Path:
    """Save a classifier; `order` permutes its outputs and labels without changing its meaning."""
    import torch
    from transformers import BertForSequenceClassification

    size = save_tokenizer(folder, words, window=window)
    torch.manual_seed(seed)
    names = {place: LABELS[label] for place, label in enumerate(order)}
    model = BertForSequenceClassification(bert_config(size, window=window, id2label=names))
    with torch.no_grad():
        for part in (model.classifier.weight, model.classifier.bias):
            part.copy_(part[list(order)].clone())
    model.save_pretrained(folder)
    return folder


def probability_of_entailment(folder: Path, premise: str, hypothesis: str) -> float:
    """Classify one pair directly, without batches, padding or windows."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits
    place = {name: number for number, name in model.config.id2label.items()}["ENTAILMENT"]
    return float(logits.softmax(-1)[0][place])
