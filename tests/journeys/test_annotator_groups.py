"""A user pools SummEval's experts and crowd, is told that they do not agree, and picks a camp."""

from __future__ import annotations

from pathlib import Path

import pytest
from json_files import read_json

SUMMEVAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "summeval"
pytestmark = pytest.mark.skipif(not SUMMEVAL.is_dir(), reason="needs ../shared/data/summeval")
EXPERTS = {"expert1", "expert2", "expert3"}
CROWD = {f"turker{i}" for i in range(1, 6)}


@pytest.fixture
def calibrate(cli):
    recorded = SUMMEVAL / "judge_gpt-3.5_rts.jsonl"
    cli(
        "data",
        "import",
        recorded,
        "--protocol",
        "likert",
        "--scale",
        "1-5",
        "-o",
        "judged.jsonl",
        code=0,
    )

    def run(*more: str):
        result = cli(
            *("calibrate", "judged.jsonl", "--labels", SUMMEVAL / "labels.jsonl"),
            *("--resamples", "200", "--json", "out.json", *more),
            code=0,
        )
        groups = read_json("out.json")["groups"]
        return " ".join(result.out.split()), {group["aspect"]: group for group in groups}

    return run


def test_experts_and_crowd_are_distinguished_before_they_are_averaged(calibrate):
    out, groups = calibrate()
    assert "Annotators form two camps that do not agree" in out
    assert out.index("Annotators form two camps") < out.index("agreement with human labels")
    assert "about as well as annotators with one another" not in out
    camps = groups["relevance"]["people"]["camps"]
    assert [set(camp["annotators"]) for camp in camps["camps"]] == [CROWD, EXPERTS]
    assert camps["items"] == pytest.approx(0.08, abs=0.005)
    assert camps["systems"] < -0.35
    crowd, experts = (camp["judge"]["system"]["spearman"]["value"] for camp in camps["camps"])
    assert experts == pytest.approx(0.97, abs=0.005)
    assert crowd == pytest.approx(-0.36, abs=0.005)


def test_single_annotator_cluster_is_averaged_as_before(calibrate):
    out, groups = calibrate("--annotators", "expert*")
    assert "two camps" not in out
    assert groups["relevance"]["people"]["camps"]["why"].startswith("fewer than 4 annotators")
    confusion = groups["relevance"]["people"]["confusion"]
    assert sum(map(sum, confusion["counts"])) == 1200
    out, groups = calibrate("--annotators", "turker*")
    assert "two camps" not in out
    assert groups["relevance"]["people"]["camps"]["found"] is False
