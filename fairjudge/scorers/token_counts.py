"""Lengths of texts in a model's tokens."""

from __future__ import annotations

from collections.abc import Callable

from fairjudge.scorers._pretrained import from_files_or_hub, require_libraries


def token_counter(name: str) -> Callable[[str], int]:
    """Return what counts a text's tokens by the tokenizer of a folder or of the hub.

    Tokens that a model puts around a text are not counted.

    Raises
    ------
    ConfigurationError
        If there is no such tokenizer, or the extra ``[local]`` is not installed.
    """
    require_libraries("tokenizer")
    import transformers

    tokenizer = from_files_or_hub(
        name,
        lambda *, local: transformers.AutoTokenizer.from_pretrained(name, local_files_only=local),
        "tokenizer",
    )

    def count(text: str) -> int:
        # A limit of length in the tokenizer's files would cut long texts.
        encoded = tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)
        return len(encoded["input_ids"])

    return count
