"""`fairjudge.align` from values: what comes back, and the prompt that it keeps."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from align_study import EXAMPLES, judge, quality, write_data

import fairjudge as fj


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(f"{name}.jsonl").read_text("utf-8").splitlines()]


def test_a_better_prompt_is_kept_and_judges(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_data()
    server.answer = judge(sees=EXAMPLES)
    model = fj.Model("openai:stub-model", base_url=server.v1, cache=tmp_path / "cache")
    given = rows("clusters"), rows("summaries"), rows("labels")
    asked = {"model": model, "aspect": "faithfulness", "candidates": ["examples"]}
    found = fj.align(*given, **asked, folder="aligned")
    assert found["kept"]
    assert found.findings[0].startswith("'examples-")
    assert found.to_dict()["findings"]
    n_calls = len(server.calls)
    again = asyncio.run(fj.aalign(*given, **asked, folder="aligned"))
    assert again == found
    assert len(server.calls) == n_calls
    kept = Path("aligned") / "candidates" / found["chosen"]
    judged = fj.Judge(
        model,
        aspect="faithfulness",
        protocol="likert",
        prompt=f"{kept}.md",
        scale=f"{kept}.scale.toml",
    )(given[0], given[1][:3])
    assert [row.value for row in judged] == [
        quality(str(row["eid"]), str(row["system"])) for row in given[1][:3]
    ]
