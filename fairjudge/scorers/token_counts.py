"""Count a text's tokens with a model's tokenizer."""

from __future__ import annotations

from collections.abc import Callable

from fairjudge.scorers._pretrained import from_files_or_hub, require_libraries


def token_counter(name: str) -> Callable[[str], int]:
    """Return a function that counts a text's tokens, with a tokenizer from a folder or the hub.

    Special tokens that a model adds to a text are not counted.

    Raises
    ------
    ConfigurationError
        If the tokenizer does not exist, or the extra ``[local]`` is not installed.
    """
    require_libraries("tokenizer")
    import transformers

    tokenizer = from_files_or_hub(
        name,
        lambda *, local_files: transformers.AutoTokenizer.from_pretrained(
            name, local_files_only=local_files
        ),
        "tokenizer",
    )

    def count(text: str) -> int:
        # A length limit in the tokenizer's files would truncate long texts.
        encoding = tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)
        return len(encoding["input_ids"])

    return count
