"""A prompt was changed: what became of each item, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_tools import Done


@pytest.fixture
def compare(cli_in: Callable[..., Done]) -> Callable[..., Done]:
    return lambda folder, *words: cli_in(folder, "compare", "old.jsonl", "new.jsonl", *words)


def row(document: int, system: str, value: float, prompt: str) -> dict[str, object]:
    return {
        "eid": f"d{document}",
        "system": system,
        "aspect": "coverage",
        "protocol": "likert",
        "judge": "j",
        "value": value,
        "signature": f"judge:j|prompt:{prompt}|scale:1-5|version:1",
    }


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    old = [row(d, s, 1 + (d + len(s)) % 5, "v1") for d in range(12) for s in ("a", "bb")]
    new = [{**row, "signature": str(row["signature"]).replace("v1", "v2")} for row in old]
    new[3] |= {"value": 5 if old[3]["value"] != 5 else 1}
    new[8] |= {"value": int(str(old[8]["value"])) % 5 + 1}
    write(tmp_path / "old.jsonl", old)
    write(tmp_path / "new.jsonl", new)
    return tmp_path


def test_changes_are_listed_per_item(folder: Path, compare: Callable[..., Done]) -> None:
    result = compare(folder, "--json", "found.json", "--html", "page.html")
    assert result.code == 0, result.err
    report = json.loads((folder / "found.json").read_text("utf-8"))
    assert [setting["setting"] for setting in report["settings"]] == ["prompt"]
    assert report["settings"][0] == {"setting": "prompt", "first": ["v1"], "second": ["v2"]}
    assert report["files"]["first"]["file"] == "old.jsonl"
    (group,) = report["groups"]
    runs = []
    for name in ("old.jsonl", "new.jsonl"):
        rows = map(json.loads, (folder / name).read_text("utf-8").splitlines())
        runs.append({(row["eid"], row["system"]): row["value"] for row in rows})
    old, new = runs
    changed = sorted(
        (key for key in old if old[key] != new[key]), key=lambda k: -abs(new[k] - old[k])
    )
    assert group["n_changed"] == len(changed) == 2
    assert [(row["eid"], row["system"]) for row in group["largest"]] == changed
    confusion = group["confusion"]
    assert sum(map(sum, confusion["counts"])) == len(old)
    for value, counts in zip(confusion["rows"], confusion["counts"], strict=True):
        for other, n in zip(confusion["columns"], counts, strict=True):
            assert n == sum(old[key] == value and new[key] == other for key in old)
    page = (folder / "page.html").read_text("utf-8")
    for text in (result.out, page):
        assert "Items that differ most" in text
        assert "2 of 2 items that changed." in text


def test_equal_settings_and_values_are_not_listed(
    folder: Path, compare: Callable[..., Done]
) -> None:
    (folder / "new.jsonl").write_bytes((folder / "old.jsonl").read_bytes())
    report = json.loads(compare(folder, "--json", "-").out)
    assert report["settings"] == []
    assert report["groups"][0]["largest"] == []
    assert "Items that differ most" not in compare(folder).out


def test_many_values_have_no_confusion_table(folder: Path, compare: Callable[..., Done]) -> None:
    rows = [row(d, "a", 1 + d / 10, "v1") for d in range(20)]
    write(folder / "old.jsonl", rows)
    write(folder / "new.jsonl", rows)
    report = json.loads(compare(folder, "--json", "-").out)
    assert report["groups"][0]["confusion"] is None


def test_pairs_are_named_with_both_systems(folder: Path, compare: Callable[..., Done]) -> None:
    pairs = [
        {
            "eid": f"d{d}",
            "system_a": "a",
            "system_b": "b",
            "order": "ab",
            "aspect": "coverage",
            "protocol": "pairwise",
            "judge": "j",
            "value": "a",
            "signature": "judge:j|version:1",
        }
        for d in range(8)
    ]
    write(folder / "old.jsonl", pairs)
    pairs[2] = {**pairs[2], "value": "b"}
    write(folder / "new.jsonl", pairs)
    result = compare(folder, "--json", "found.json")
    (group,) = json.loads((folder / "found.json").read_text("utf-8"))["groups"]
    (row,) = group["largest"]
    assert (row["eid"], row["system"], row["system_b"]) == ("d2", "a", "b")
    assert (row["first"], row["second"]) == (1.0, -1.0)
    assert "a - b" in result.out
