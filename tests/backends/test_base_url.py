"""What is a base URL, and what is not to be written to records."""

from __future__ import annotations

import pytest

from fairjudge.backends.chat_wire import _text
from fairjudge.backends.http import check_base_url
from fairjudge.errors import ConfigurationError


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("https://h.example/v1///", "https://h.example/v1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_a_base_url_is_kept_without_slashes_at_its_end(given, kept):
    assert check_base_url(given) == kept


@pytest.mark.parametrize(
    "given",
    ["localhost:8000", "ftp://h/v1", "http://", "http://h:0/v1", "http://h:99999/v1",
     "http://[h/v1", "http://h/v 1", "http://h/v1\x07", ""],
)  # fmt: skip
def test_what_is_no_base_url_is_refused(given):
    with pytest.raises(ConfigurationError, match="is not a base URL"):
        check_base_url(given)


@pytest.mark.parametrize("given", ["http://me:pw@h/v1", "http://h/v1?key=pw", "http://h/v1#pw"])
def test_secrets_in_a_base_url_are_refused_and_not_repeated(given):
    with pytest.raises(ConfigurationError) as raised:
        check_base_url(given)
    assert "pw" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("Score: 4", "Score: 4"),
        ([{"type": "text", "text": "Score: "}, {"type": "image"}, {"type": "text", "text": "4"}],
         "Score: 4"),
        ([], ""),
    ],
)  # fmt: skip
def test_the_text_of_a_message_is_that_of_its_parts(content, text):
    assert _text(content) == text
