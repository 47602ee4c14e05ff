"""`fairjudge.align` from values: what comes back, and the prompt that it keeps."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from align_study import DECIDED, EXAMPLES, judge, pair_judge, quality, write_data, write_pairs
from json_files import read_rows

import fairjudge as fj


def rows(name: str) -> list[dict[str, object]]:
    return read_rows(f"{name}.jsonl")


def test_better_prompt_is_kept_and_used_by_the_judge(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_data()
    server.answer = judge(sees=EXAMPLES)
    model = fj.Model("openai:stub-model", base_url=server.v1, cache=tmp_path / "cache")
    data = rows("clusters"), rows("summaries"), rows("labels")
    by_name = {"model": model, "aspect": "faithfulness", "candidates": ["examples"]}
    result = fj.align(*data, **by_name, folder="aligned")
    assert result["kept"]
    assert result.findings[0].startswith("'examples-")
    assert result.to_dict()["findings"]
    n_calls = len(server.calls)
    again = asyncio.run(fj.aalign(*data, **by_name, folder="aligned"))
    assert again == result
    assert len(server.calls) == n_calls
    remaining = Path("aligned") / "candidates" / result["chosen"]
    judged = fj.Judge(
        model,
        aspect="faithfulness",
        protocol="likert",
        prompt=f"{remaining}.md",
        scale=f"{remaining}.scale.toml",
    )(data[0], data[1][:3])
    assert [row.value for row in judged] == [
        quality(str(row["eid"]), str(row["system"])) for row in data[1][:3]
    ]


def test_pairs_and_attributes_from_values(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pairs()
    server.answer = pair_judge(sees=DECIDED)
    model = fj.Model("openai:stub-model", base_url=server.v1, cache=tmp_path / "cache")
    clusters = rows("clusters")
    for number, cluster in enumerate(clusters):
        cluster["articles"][0]["attributes"] = {"leaning": "left" if number % 2 else "right"}
    data = clusters, rows("summaries"), rows("labels")
    by_name = {
        "model": model,
        "aspect": "faithfulness",
        "protocol": "pairwise",
        "folder": "aligned",
    }
    result = fj.align(*data, **by_name, attributes=["leaning"])
    assert result["kept"]
    assert {item["kind"] for item in result["candidates"]} == {"anchors", "examples"}
    groups = result["audits"]["errors"]["groups"]
    assert {row["group"] for row in groups if row["attribute"] == "leaning"} == {"left", "right"}
    assert "kappa with human preferences" in result.findings[0]
    with pytest.raises(fj.FairJudgeError, match="pairs have only one scale"):
        fj.align(*data, **by_name, candidates=["scale"])
    with pytest.raises(fj.FairJudgeError, match="candidates: choose from"):
        fj.align(*data, **by_name, candidates=[])
