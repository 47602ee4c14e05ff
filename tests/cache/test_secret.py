"""The secret that marks are made with stays with the cache, and nowhere else."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from fairjudge.cache.disk import ReplyCache
from fairjudge.cache.files import export_cache, import_cache
from fairjudge.cache.secret import LENGTH, folder_secret


def test_cache_has_one_secret_readable_only_by_its_owner(tmp_path):
    secrets = set()
    for _ in range(2):
        cache = ReplyCache(tmp_path / "cache")
        secrets |= {cache.secret(), cache.secret()}
        cache.clear()
        cache.close()
    assert [len(secret) for secret in secrets] == [LENGTH]
    file = tmp_path / "cache" / "secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert secrets == {file.read_bytes()}
    assert folder_secret(tmp_path) not in secrets


def test_concurrent_processes_use_the_same_secret(tmp_path):
    with ThreadPoolExecutor(16) as threads:
        result = set(threads.map(folder_secret, [tmp_path] * 64))
    assert result == {(tmp_path / "secret").read_bytes()}
    assert [file.name for file in tmp_path.iterdir()] == ["secret"]


@pytest.mark.parametrize("length", [0, 1, LENGTH - 1, LENGTH + 1])
def test_a_secret_of_another_length_is_replaced(tmp_path, length):
    (tmp_path / "secret").write_bytes(b"x" * length)
    secret = folder_secret(tmp_path)
    assert len(secret) == LENGTH
    assert secret == folder_secret(tmp_path)


def test_unusable_folder_gives_random_secrets(tmp_path):
    gone = tmp_path / "gone"
    assert len(folder_secret(gone)) == LENGTH
    assert folder_secret(gone) != folder_secret(gone)
    assert not gone.exists()


def test_export_contains_replies_without_the_secret(tmp_path):
    first, other = ReplyCache(tmp_path / "one"), ReplyCache(tmp_path / "other")
    first.put("a" * 64, {"reply": {"text": "b"}})
    first.secret()
    export_cache(first, tmp_path / "export.jsonl")
    import_cache(other, tmp_path / "export.jsonl")
    assert other.get("a" * 64) == {"reply": {"text": "b"}}
    assert other.secret() != first.secret()
    assert first.secret().hex() not in (tmp_path / "export.jsonl").read_text()
    first.close()
    other.close()
