"""Every hostile case ends as the table says."""

from __future__ import annotations

import pytest
from faults.hostile_cases import FILES, REPLIES

from fairjudge.datasets import read_clusters, write_jsonl
from fairjudge.domain import Unscored
from fairjudge.errors import InputError
from fairjudge.parsing import read_verdict
from fairjudge.scales import likert


def test_at_least_forty_hostile_files():
    assert len(FILES) + len(REPLIES) >= 40
    assert len({case[0] for case in (*FILES, *REPLIES)}) == len(FILES) + len(REPLIES)


@pytest.mark.parametrize(
    ("name", "data", "outcome"), [case[1:] for case in FILES], ids=[case[0] for case in FILES]
)
def test_hostile_file_is_read_or_gives_one_error(tmp_path, name, data, outcome):
    folder = tmp_path / "files"
    folder.mkdir()
    path = folder / name
    path.write_bytes(data)
    if outcome == "reads":
        records = list(read_clusters(path))
        again = folder / "again.jsonl"
        write_jsonl(again, records)
        assert list(read_clusters(again)) == records
        assert sorted(file.name for file in folder.iterdir()) == ["again.jsonl", name]
        return
    with pytest.raises(InputError) as raised:
        read_clusters(path)
    assert outcome in str(raised.value)
    assert name in str(raised.value)
    assert len(str(raised.value)) < 1_000


@pytest.mark.parametrize(
    ("reply", "outcome"), [case[1:] for case in REPLIES], ids=[case[0] for case in REPLIES]
)
def test_hostile_reply_gives_a_verdict_or_is_unscored(reply, outcome):
    verdict = read_verdict(reply, likert())
    value = verdict.reason if isinstance(verdict, Unscored) else verdict
    assert value == outcome
