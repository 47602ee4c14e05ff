"""Addresses of stores: what is shown of them, and that the password never is."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.errors import ConfigurationError
from fairjudge.records.address import StoreAddress


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("postgresql://db.example/judging", "postgresql://db.example/judging"),
        ("postgres://me@db.example:6432/j", "postgresql://me@db.example:6432/j"),
        ("postgresql://me:xyzzy@[::1]:5432/j?sslmode=require", "postgresql://me@[::1]:5432/j"),
        ("postgresql://me:xy%40zzy@a:1,b:2/j", "postgresql://me@a:1,b:2/j"),
        ("postgresql:///j?host=/run/pg&password=xyzzy", "postgresql:///j"),
    ],
)
def test_user_host_and_database_are_shown(url, text):
    address = StoreAddress(url)
    assert (str(address), address.display_name) == (text, text)
    assert "xy" not in repr(address)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:xyzzy@db/j",
        "me:xyzzy@db",
        "postgresql://me:xy/zzy@db/j",
        "postgresql://me:xy?zzy@db/j",
        "postgresql://me:xy#zzy@db/j",
        "postgresql://me:xyzzy",
        "",
    ],
)
def test_invalid_url_raises_without_being_repeated(url):
    with pytest.raises(ConfigurationError) as caught:
        StoreAddress(url)
    assert "xy" not in str(caught.value)
    assert "zzy" not in str(caught.value)


@given(password=st.text(min_size=6, alphabet=st.characters(codec="utf-8", exclude_categories="C")))
def test_password_is_removed_from_every_text(password):
    text = quote(password, safe="")
    address = StoreAddress(f"postgresql://someone:{text}@server:5432/base")
    # Whole texts are compared: a password may be a word of them, such as "server".
    assert address.display_name == "postgresql://someone@server:5432/base"
    assert repr(address) == "StoreAddress(display_name='postgresql://someone@server:5432/base')"
    assert address.without_secrets(f"{password}\n{text}") == "*** ***"
