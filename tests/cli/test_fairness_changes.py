"""From a sweep of summaries to what each variant did to fairness."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import openai, text_of, write_jsonl

from fairjudge.fairness.proportional import PROPORTIONAL

REVIEWS = {
    "pos": ("The soup was lovely.", "Charming waiters, lovely garden."),
    "neg": ("A cold, noisy room.", "The bill was wrong; noisy."),
}
OWN = "stub-model-direct"


def reviewer(call):
    """Praise only; asked to be fair, say both; hot, say what nobody said."""
    if call.body["temperature"] > 0:
        return "Xylophones."
    fair = "differ in mood" in text_of(call)
    return "Lovely soup, charming waiters." + (" A cold, noisy room." if fair else "")


@pytest.fixture
def swept(cli, server):
    rows = [
        {
            "eid": f"c{n}",
            "articles": [
                {"aid": f"{value}{i}", "content": text, "attributes": {"mood": value}}
                for value, texts in REVIEWS.items()
                for i, text in enumerate(texts)
            ],
        }
        for n in range(5)
    ]
    server.answer = reviewer
    write_jsonl(Path("clusters.jsonl"), rows)
    sweeps = ("--sweep", "fair=mood", "--sweep", "temperature=1")
    cli("summarize", "clusters.jsonl", "-o", "s.jsonl", *openai(server), *sweeps, code=0)


def measured(cli, command, *options):
    """Write the command's report to a file of its name."""
    name = f"{command}.json"
    files = ("clusters.jsonl", "--summaries", "s.jsonl", "--attribute", "mood", "--json", name)
    assert cli("fairness", command, *files, *options).code == 0
    return name


def test_proportional_change_of_an_instruction(cli, swept):
    report = measured(cli, "proportional")
    result = cli("fairness", "compare", report, "--baseline", OWN, "--json", "-", code=0)
    data = json.loads(result.out)
    fair = data["systems"][f"{OWN}+fair=mood"]
    assert fair["bur"]["n"] == 5
    # 6 terms of each mood in a source. Praise only: neg has 0 of 4; with both, 3 of 7 > .8 / 2.
    assert fair["bur"]["baseline"] == 100.0
    assert fair["bur"]["value"] == 0.0
    assert fair["bur"]["difference"]["value"] == -100.0
    assert fair["bur"]["relative"] == -1.0
    # What nobody said is left out and counted, not taken for fair.
    hot = data["systems"][f"{OWN}+temperature=1"]["bur"]
    assert (hot["n"], hot["n_unpaired"], hot["value"]) == (0, 5, None)
    assert "no sample" in hot["difference"]["why"]
    assert data["excluded"]["proportional"][f"{OWN}+temperature=1"] == {"no_support": 5}
    assert data["family"]["tests"] == len(PROPORTIONAL.shown)


def test_coverage_and_proportional_changes_in_one_table(cli, swept):
    rows = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    supports = [
        {
            "eid": row["eid"], "system": row["system"], "units": ["u"],
            "aids": ["pos0", "pos1", "neg0", "neg1"],
            "support": [[0.9], [0.7], [x], [x]],
        }
        for row in rows
        for x in [0.8 if "fair" in row["system"] else 0.2]
    ]  # fmt: skip
    write_jsonl(Path("supports.jsonl"), supports)
    reports = [
        measured(cli, "proportional"),
        measured(cli, "coverage", "--scorer", "matrix:supports.jsonl"),
    ]
    result = cli("fairness", "compare", *reports, "--baseline", OWN, "--json", "out.json", code=0)
    # 4 + 4 of the instruction; of the temperature only the 4 of coverage
    for phrase in ("+fair=mood minus", "Equal Coverage", "SOF %", "all 12 differences"):
        assert phrase in result.out
    fair = json.loads(Path("out.json").read_text())["systems"][f"{OWN}+fair=mood"]
    # p(pos) = .8, p(neg) = .2, so EC .3; fair: .8 and .8, so 0
    assert fair["equal_coverage"]["baseline"] == pytest.approx(0.3)
    assert fair["equal_coverage"]["value"] == pytest.approx(0.0)
    assert fair["coverage_parity"]["difference"]["value"] == pytest.approx(-0.3)
    # 2 against 2 documents: 1 of 3 splits at best, so nothing can be significant
    assert fair["r_ec"]["difference"]["value"] == 0.0


def test_the_page_shows_what_changed(cli, swept):
    report = measured(cli, "proportional")
    assert cli("fairness", "compare", report, "--baseline", OWN, "--json", "cmp.json").code == 0
    cli("report", "cmp.json", "-o", "page.html", code=0)
    page = Path("page.html").read_text()
    assert f"Differences from {OWN}" in page
    # the plot names its rows; what has no value says why in the table
    assert f"{OWN}+fair=mood minus {OWN}: BUR -100.00 [-100.00, -100.00]" in page
    assert "no sample that both systems have" in page
    assert "5 no document supports the summary" in page


@pytest.mark.parametrize(
    ("reports", "baseline", "message"),
    [
        (["proportional.json"], "nobody", "no system is called 'nobody'"),
        (["proportional.json", "proportional.json"], OWN, "two reports of proportional"),
        (["s.jsonl"], OWN, "s.jsonl"),
        (["odd.json"], OWN, "expected the JSON of 'fairjudge fairness coverage --json'"),
        (["torn.json"], OWN, "expected the JSON of 'fairjudge fairness coverage --json'"),
    ],
)
def test_incomparable_reports_are_named(cli, swept, reports, baseline, message):
    measured(cli, "proportional")
    Path("odd.json").write_text("{}")
    Path("torn.json").write_text('{"measure": "coverage", "attribute": "mood", "systems": 3}')
    result = cli("fairness", "compare", *reports, "--baseline", baseline, code=1)
    assert message in result.err
