"""What errors of servers and sockets say: one line, without keys, with the deepest cause."""

from __future__ import annotations

import socket
import ssl

import httpx2
import openai
import pytest

from fairjudge.backends.http import one_line
from fairjudge.backends.server_client import map_sdk_error
from fairjudge.errors import ConnectionFailedError


@pytest.mark.parametrize(
    ("text", "limit", "line"),
    [
        ("a\n b\tc", 300, "a b c"),
        ("x" * 10, 10, "x" * 10),
        ("x" * 11, 10, "x" * 7 + "..."),
    ],
)
def test_message_is_one_line_of_limited_length(text, limit, line):
    assert one_line(text, limit=limit) == line


def test_secret_is_removed_before_truncation():
    assert one_line("key sk-123 key", secrets=["sk-123", ""]) == "key [key] key"


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (OSError("the name is not known"), "the name is not known"),
        (ConnectionRefusedError(111, "Connect call failed"), "Connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "[Errno -2] Name or service not known"),
        (ssl.SSLCertVerificationError(1, "certificate has expired"), "certificate has expired"),
        (ssl.SSLEOFError(8, "EOF occurred"), "EOF occurred"),
        (TimeoutError(), "broke off"),
        (ValueError("an odd address"), "an odd address"),
    ],
)
def test_broken_connection_error_names_its_root_cause(cause, message):
    cause.__context__ = RuntimeError("no running event loop")
    error = httpx2.ConnectError("broke off")
    error.__cause__ = cause
    result = map_sdk_error(error, sdk=openai, server_name="the server", secrets=())
    assert isinstance(result, ConnectionFailedError)
    assert "or the connection was interrupted: " in str(result)
    assert str(result).endswith(message)
