"""What is odd in the input of the fairness commands is counted and named, never a silent 0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json, read_rows

REASONS = {
    "unlabelled": "no_values",
    "one": "one_value",
    "lonely": "one_value",
    "silent": "empty_summary",
    "noise": "empty_summary",
    "unsupported": "no_support",
}


def cluster(eid, *documents, name="side"):
    return {
        "eid": eid,
        "articles": [
            {"aid": str(i), "content": text, "attributes": {} if value is ... else {name: value}}
            for i, (value, text) in enumerate(documents)
        ],
    }


def write(clusters, texts, supports=None):
    """Write the files; each document supports a summary as `supports` says, else by 0.5."""
    write_jsonl(Path("c.jsonl"), clusters)
    rows = [{"eid": eid, "system": "s", "text": text} for eid, text in texts.items()]
    write_jsonl(Path("s.jsonl"), rows)
    matrices = []
    for row in clusters:
        columns = [[x] for x in (supports or {}).get(row["eid"], [0.5] * len(row["articles"]))]
        units = ["u"] if any(c.isalpha() for c in texts[row["eid"]]) else []
        matrices.append(
            {
                "eid": row["eid"], "system": "s", "units": units,
                "aids": [article["aid"] for article in row["articles"]],
                "support": columns if units else [[] for _ in columns],
            }
        )  # fmt: skip
    write_jsonl(Path("m.jsonl"), matrices)


FILES = ("c.jsonl", "--summaries", "s.jsonl")
MATRIX = ("--scorer", "matrix:m.jsonl")


@pytest.fixture
def odd():
    write(
        [
            cluster("good", ("a", "slow soup"), ("a", "slow bread"), ("b", "nice wine")),
            cluster("partly", ("a", "slow soup"), ("b", "nice wine"), (None, "rude"), (..., "x")),
            cluster("unlabelled", ("unknown", "slow"), (" ", "nice"), ("N/A", "wine")),
            cluster("one", ("a", "slow"), ("a", "rude")),
            cluster("lonely", ("b", "nice")),
            cluster("silent", ("a", "slow"), ("b", "nice")),
            cluster("noise", ("a", "slow"), ("b", "nice")),
            cluster("unsupported", ("a", "slow"), ("b", "nice")),
        ],
        {
            "good": "slow soup, nice wine", "partly": "nice wine", "unlabelled": "nice",
            "one": "slow", "lonely": "nice", "silent": " \n", "noise": "!!! ...",
            "unsupported": "xylophones",
        },
        {"good": [0.9, 0.5, 0.1], "partly": [0.8, 0.4, 1.0, 1.0], "unsupported": [0.0, 0.0]},
    )  # fmt: skip


def test_coverage_counts_and_names_anomalies(cli, odd):
    result = cli(
        "fairness", "coverage", *FILES, "--attribute", "side", *MATRIX, "--json", "c.json", code=0
    )
    data = read_json("c.json")
    assert {entry["eid"]: entry["reason"] for entry in data["excluded"]} == REASONS
    system = data["systems"]["s"]
    assert (system["n"], system["excluded"]) == (2, 6)
    assert system["excluded_by_reason"] == {
        "empty_summary": 2, "no_support": 1, "no_values": 1, "one_value": 2,
    }  # fmt: skip
    # good: values at .7 and .1 around .5: .3; partly, the last two without a value: .2
    assert system["equal_coverage"]["value"] == pytest.approx(0.25)
    # what people read says the same
    output = " ".join(result.out.split())
    assert "5 documents without a known 'side' were excluded: partly/2, partly/3" in output
    assert "Excluded, all their documents share one value: 2 by s (one, lonely)" in output
    assert "Excluded, no document supports the summary: 1 by s (unsupported)" in output
    assert "Excluded, empty summary: 2 by s (silent, noise)" in output


def test_proportional_counts_and_names_anomalies(cli, odd):
    result = cli(
        "fairness", "proportional", *FILES, "--attribute", "side", "--json", "p.json", code=0
    )
    data = read_json("p.json")
    reasons = {eid: why for eid, why in REASONS.items() if why != "one_value"}
    assert {entry["eid"]: entry["reason"] for entry in data["excluded"]} == reasons
    system = data["systems"]["s"]
    # a set of one value is fair by definition, as published; counted, and left out beside it
    assert (system["n"], system["one_value"], system["several_values"]["n"]) == (4, 2, 2)
    # partly: a has nothing of its half; good: (2, 2) of (2/3, 1/3): 1/2 < .8 * 2/3
    assert system["bur"]["value"] == pytest.approx(50.0)
    assert system["several_values"]["bur"]["value"] == pytest.approx(100.0)
    assert "In 2 summaries all documents of the set have one value" in " ".join(result.out.split())


@pytest.mark.parametrize("command", ["coverage", "proportional"])
def test_unmeasurable_input_gives_no_number(cli, command):
    write(
        [cluster("a", ("a", "slow"), ("b", "nice")), cluster("b", ("unknown", "x"), ("", "y"))],
        {"a": " ", "b": "x"},
    )
    options = MATRIX if command == "coverage" else ()
    result = cli(
        "fairness", command, *FILES, "--attribute", "side", *options, "--json", "out.json", code=0
    )
    system = read_json("out.json")["systems"]["s"]
    assert system["n"] == 0
    names = ("equal_coverage", "r_ec", "coverage_parity")
    for name in names if command == "coverage" else ("bur", "uer", "auc", "sof"):
        assert system[name]["value"] is None
        assert system[name]["why"]
    assert "0.00" not in result.out


def test_system_with_missing_summaries_is_named(cli, odd):
    rows = read_rows("s.jsonl")
    write_jsonl(Path("s.jsonl"), rows[:2])
    result = cli("fairness", "proportional", *FILES, "--attribute", "side")
    assert "'s' has no summary of 6 of 8 clusters: lonely, noise, one," in " ".join(
        result.out.split()
    )


def test_a_numeric_attribute(cli):
    ages = [20 + 3 * i for i in range(12)]
    write(
        [cluster(f"e{i}", *((age, "slow soup") for age in ages), name="age") for i in range(2)],
        {"e0": "slow soup", "e1": "slow soup"},
    )
    command = ("fairness", "coverage", *FILES, "--attribute", "age", *MATRIX)
    result = cli(*command, code=1)
    assert "a number with 12 different values from 20 to 53; give cut points" in result.err
    binned = cli(*command, "--bins", "30,40", "--json", "-")
    values = json.loads(binned.out)["systems"]["s"]["coverage_by_value"]
    assert set(values) == {"below 30", "30 to below 40", "40 or more"}
    assert cli(*command, "--bins", "40,30").code == 1


def test_few_distinct_numbers_are_treated_as_categories_with_a_note(cli):
    write(
        [cluster(f"e{i}", *((stars, "slow soup") for stars in (1, 2, 3))) for i in range(5)],
        {f"e{i}": "slow soup" for i in range(5)},
    )
    result = cli("fairness", "proportional", *FILES, "--attribute", "side", "--json", "-")
    data = json.loads(result.out)
    assert set(data["systems"]["s"]["by_value"]) == {"1", "2", "3"}
    assert data["notes"] == ["'side' has numbers, read as categories"]


def test_fifty_values_are_measured(cli):
    values = [f"v{i:02}" for i in range(50)]
    write(
        [cluster(f"e{n}", *((v, f"common word{v}") for v in values)) for n in range(3)],
        {f"e{n}": "common wordv00" for n in range(3)},
        {f"e{n}": [float(i == 0) for i in range(50)] for n in range(3)},
    )
    result = cli(
        "fairness", "coverage", *FILES, "--attribute", "side", *MATRIX, "--json", "-", code=0
    )
    data = json.loads(result.out)
    system = data["systems"]["s"]
    assert len(system["coverage_by_value"]) == 50
    # p(v00) = 1, the others 0, all .02: (.98 + 49 * .02) / 50
    assert system["equal_coverage"]["value"] == pytest.approx(1.96 / 50)
    assert "held by fewer than 5 documents: 50 of 50 values" in data["notes"][0]
    # Every relabelling is as unequal: p = 1, so nobody is called unfair.
    assert {sample["p_value"] for sample in data["samples"]} == {1.0}
    result = cli("fairness", "proportional", *FILES, "--attribute", "side", "--json", "-")
    system = json.loads(result.out)["systems"]["s"]
    # v00 has 2 of 51 hits, the others one: none below .8 / 50; short by 1/50 - 1/51
    assert system["bur"]["value"] == 0.0
    assert system["uer"]["value"] == pytest.approx(100 * 49 * (1 / 50 - 1 / 51) / 50)
    assert len(system["by_value"]) == 50


def test_missing_or_unknown_attribute(cli, odd):
    result = cli("fairness", "coverage", *FILES, "--attribute", "party", *MATRIX, code=1)
    assert "no article has attribute 'party'; attributes found: 'side'" in result.err
    write([cluster("e", ("unknown", "x"), (None, "y"))], {"e": "x"})
    result = cli("fairness", "coverage", *FILES, "--attribute", "side", *MATRIX, code=1)
    assert "attribute 'side' has no known value in any article" in result.err


def test_list_valued_attribute_error_names_the_location(cli):
    write_jsonl(Path("c.jsonl"), [cluster("e", (["a", "b"], "x"), ("a", "y"))])
    write_jsonl(Path("s.jsonl"), [{"eid": "e", "system": "s", "text": "x"}])
    result = cli("fairness", "coverage", *FILES, "--attribute", "side", code=1)
    assert "c.jsonl:1: field 'articles[0].attributes.side" in result.err
