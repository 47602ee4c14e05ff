"""What is a base URL, and what is not to be written to records."""

from __future__ import annotations

import pytest

from fairjudge.backends.chat_wire import _text
from fairjudge.backends.http import check_base_url
from fairjudge.errors import ConfigurationError


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("https://h.example/v1///", "https://h.example/v1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_trailing_slashes_of_base_url_are_removed(url, checked):
    assert check_base_url(url) == checked


@pytest.mark.parametrize(
    "url",
    ["localhost:8000", "ftp://h/v1", "http://", "http://h:0/v1", "http://h:99999/v1",
     "http://[h/v1", "http://h/v 1", "http://h/v1\x07", ""],
)  # fmt: skip
def test_invalid_base_url_raises(url):
    with pytest.raises(ConfigurationError, match="is not a base URL"):
        check_base_url(url)


@pytest.mark.parametrize("url", ["http://me:pw@h/v1", "http://h/v1?key=pw", "http://h/v1#pw"])
def test_secrets_in_base_url_raise_without_being_repeated(url):
    with pytest.raises(ConfigurationError) as raised:
        check_base_url(url)
    assert "pw" not in str(raised.value)


@pytest.mark.parametrize(
    "path",
    ["/v1/sk-proj-0123456789abcdef", "/sk-ant-api03-0123456789abcdef/openai",
     "/gsk_0123456789abcdefgh",
     "/v1;key=sk-0123456789abcdef0123", "/AIzaSyA0123456789abcdefghijklmnopqrstuv/v1",
     "/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln/v1", "/v1/sk%2Dproj-0123456789abcdef",
     "/v1/of-the-environment", "/of%2Dthe-environment/v1"],
)  # fmt: skip
def test_key_in_the_path_raises_without_being_repeated(monkeypatch, path):
    monkeypatch.setenv("MY_GATEWAY_TOKEN", "of-the-environment")
    with pytest.raises(ConfigurationError, match="must not contain a key") as raised:
        check_base_url(f"https://gateway.example{path}")
    assert "0123456789" not in str(raised.value)
    assert "environment/" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://gateway.example/v1/0123456789abcdef0123456789abcdef/my-gateway/openai",
        "https://my-resource-with-a-long-name.openai.example/openai/deployments/judge-task-7/v1",
        "https://h.example/projects/8c7d2b6e-1f7d-4a39-9f53-2a7c4f6f0b11/v1beta/openai",
        "https://key-value-store-of-my-company.example/sk-learn-service-in-production-2026/v1",
    ],
)
def test_ids_and_long_names_in_base_url_are_not_taken_for_keys(url):
    assert check_base_url(url) == url


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
def test_message_text_joins_its_parts(content, text):
    assert _text(content) == text
