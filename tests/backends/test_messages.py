"""What errors of servers and sockets say: one line, without keys, with the deepest cause."""

from __future__ import annotations

import openai
import pytest

from fairjudge.backends.http import one_line
from fairjudge.backends.posting import BrokenOffError
from fairjudge.backends.server_client import map_sdk_error
from fairjudge.errors import ConnectionFailedError


@pytest.mark.parametrize(
    ("text", "limit", "said"),
    [
        ("a\n b\tc", 300, "a b c"),
        ("x" * 10, 10, "x" * 10),
        ("x" * 11, 10, "x" * 7 + "..."),
    ],
)
def test_a_message_is_one_line_of_a_given_length(text, limit, said):
    assert one_line(text, limit=limit) == said


def test_a_secret_is_taken_out_before_the_line_is_cut():
    assert one_line("key sk-123 key", secrets=["sk-123", ""]) == "key [key] key"


def test_a_broken_connection_names_its_deepest_cause():
    error = BrokenOffError("broke off", unsent=True)
    error.__cause__ = OSError("the name is not known")
    found = map_sdk_error(error, sdk=openai, where="the server", secrets=())
    assert isinstance(found, ConnectionFailedError)
    assert str(found).endswith("or it broke off: the name is not known")
