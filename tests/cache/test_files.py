"""Exporting and importing a cache."""

from __future__ import annotations

import gzip
import json

import pytest

from fairjudge.cache.disk import ReplyCache
from fairjudge.cache.files import ImportReport, export_cache, import_cache
from fairjudge.errors import InputError

A, B = "a" * 64, "b" * 64


@pytest.fixture
def make(tmp_path):
    opened = []

    def open_one(name: str) -> ReplyCache:
        opened.append(ReplyCache(tmp_path / name))
        return opened[-1]

    yield open_one
    for cache in opened:
        cache.close()


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_entries_are_exported_and_imported(make, tmp_path, name):
    first, other = make("one"), make("other")
    first.put(A, {"reply": {"text": "Größe\u2028\n"}})
    first.put(B, {"n": 1})
    other.put(B, {"n": 2})
    assert export_cache(first, tmp_path / name) == 2
    assert import_cache(other, tmp_path / name) == ImportReport(n_added=1, n_known=1)
    assert other.get(A) == {"reply": {"text": "Größe\u2028\n"}}
    assert other.get(B) == {"n": 2}
    if name == "x.jsonl":
        assert "Größe" in (tmp_path / name).read_text("utf-8")
    assert (tmp_path / name).read_bytes()[:2] == (b"\x1f\x8b" if name.endswith("gz") else b'{"')


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("nonsense", None),
        ("[]", "key"),
        ('{"key": "short", "value": {}}', "key"),
        (f'{{"key": "{A}", "value": 3}}', "value"),
    ],
)
def test_invalid_line_is_named_and_earlier_entries_are_kept(make, tmp_path, line, field):
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"key": "{B}", "value": {{"n": 1}}}}\n\n{line}\n')
    cache = make("one")
    with pytest.raises(InputError) as raised:
        import_cache(cache, path)
    assert (raised.value.line, raised.value.field) == (3, field)
    assert cache.get(B) == {"n": 1}


def test_unusable_files_are_input_errors(make, tmp_path):
    cache = make("one")
    with pytest.raises(InputError, match="cannot read"):
        import_cache(cache, tmp_path / "none")
    broken = tmp_path / "x.gz"
    broken.write_bytes(gzip.compress(b'{"key": 1}\n' * 999)[:-9])
    with pytest.raises(InputError):
        import_cache(cache, broken)
    with pytest.raises(InputError, match="cannot write"):
        export_cache(cache, tmp_path)


def test_too_long_line_raises_before_it_is_read_completely(make, tmp_path, monkeypatch):
    monkeypatch.setattr("fairjudge.cache.files._MAX_LINE_CHARACTERS", 1_000)
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" + b"[" * 1_001))
    with pytest.raises(InputError, match="more than 1,000 characters") as raised:
        import_cache(make("a"), path)
    assert raised.value.line == 2


@pytest.mark.parametrize("at", [10, -8], ids=["the first block's kind", "the checksum"])
def test_damaged_gzip_is_an_input_error(make, tmp_path, at):
    path = tmp_path / "x.jsonl.gz"
    packed = bytearray(gzip.compress(json.dumps({"key": A, "value": {"a": B}}).encode(), mtime=0))
    packed[at] ^= 0x06
    path.write_bytes(packed)
    with pytest.raises(InputError, match="cannot read"):
        import_cache(make("a"), path)
