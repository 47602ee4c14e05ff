"""What judging cost: by item, by member of a jury, by protocol and by step of a study.

Every price is a server's count of tokens (11 in and 7 out a call, unless said otherwise) times a
price given here; no expected figure comes from the code.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import reference, summary, write_jsonl
from json_files import read_json
from stub_server import Call, Reply, StubServer

import fairjudge as fj
from fairjudge.domain import Label

N = 6
SYSTEMS = ("a", "b")
PRICE = """
[[price]]
model = "openai:{model}"
input = {price}
output = {price}
date = 2026-01-01
source = "test"
"""
TOKENS = {"small": (11, 7), "large": (20, 10)}
"""What the server counts a call, by model; the rate of "small" is 1,000, of "large" 5,000."""
SMALL, LARGE = 18 * 1000 / 1e6, 30 * 5000 / 1e6


@pytest.fixture
def priced(server: StubServer) -> StubServer:
    write_jsonl(Path("r.jsonl"), [reference(f"e{n}") for n in range(N)])
    write_jsonl(
        Path("s.jsonl"),
        [
            summary(system, f"e{n}") | {"text": f"{system} says of dam {n} that it is shut."}
            for n in range(N)
            for system in SYSTEMS
        ],
    )
    Path("prices.toml").write_text(
        PRICE.format(model="small", price=1000.0) + PRICE.format(model="large", price=5000.0)
    )

    def answer(call: Call) -> Reply:
        n_in, n_out = TOKENS.get(call.body["model"], (11, 7))
        n = len(server.calls)
        return Reply(text=f"Score: {1 + n % 5}", input_tokens=n_in, output_tokens=n_out)

    server.answer = answer
    return server


def judging(server: StubServer, *models: str) -> list[object]:
    return [
        *("judge", "--references", "r.jsonl", "--summaries", "s.jsonl", "--aspect", "coverage"),
        *("--protocol", "likert", "-o", "j.jsonl", "--base-url", server.v1, "--json", "j.json"),
        *(word for model in models for word in ("--backend", f"openai:{model}")),
    ]


def table_row(text: str, first: str) -> list[str]:
    """Return the words of the first row of a printed table that begins with `first`."""
    rows = [line.replace("│", " ").split() for line in text.splitlines()]
    return next(row for row in rows if row and row[0] == first)


def test_cost_per_item_is_unchanged_by_a_second_run(cli, priced):
    result = cli(*judging(priced, "small"), "--prices", "prices.toml", code=0)
    report = read_json("j.json")
    assert report["usd_per_item"] == pytest.approx(SMALL)
    (cost,) = report["costs"]
    assert (cost["judge"], cost["n_items"], cost["n_calls"]) == ("openai:small", 12, 12)
    assert cost["tokens"] == {"input": 132, "cached_input": 0, "output": 84}
    assert table_row(result.out, "openai:small") == [
        "openai:small", "12", "0", "132", "84", "0.2160", "0.0180"
    ]  # fmt: skip
    again = cli(*judging(priced, "small"), "--prices", "prices.toml")
    assert "no model was called" in again.out
    assert read_json("j.json")["usd_per_item"] == pytest.approx(SMALL)
    assert read_json("j.json")["spent"]["cost_usd"] == 0.0  # this start's


def test_trial_and_remainder_form_one_run(cli, priced):
    cli(*judging(priced, "small"), "--prices", "prices.toml", "--limit", "5", code=0)
    assert read_json("j.json")["costs"][0]["n_items"] == 5
    cli(*judging(priced, "small"), "--prices", "prices.toml", code=0)
    (cost,) = read_json("j.json")["costs"]
    assert (cost["n_items"], cost["n_calls"]) == (12, 12)
    assert cost["usd_per_item"] == pytest.approx(SMALL)


def test_unknown_cost_is_never_0(cli, priced):
    result = cli(*judging(priced, "nobody-knows"), code=0)
    assert read_json("j.json")["usd_per_item"] is None
    assert table_row(result.out, "openai:nobody-knows")[-2:] == ["unknown", "unknown"]
    # Replies of a cache are not free: another run paid for them.
    cli(*judging(priced, "small"), "--prices", "prices.toml")
    result = cli(*judging(priced, "small"), "--prices", "prices.toml", "--run", "another")
    assert read_json("j.json")["costs"][0]["n_cached"] == 12
    assert read_json("j.json")["usd_per_item"] is None
    assert table_row(result.out, "openai:small")[-2:] == ["0.0000", "unknown"]
    assert "cost of cached replies is unknown" in " ".join(result.out.split())


def test_jointly_judged_aspects_have_one_cost_per_item(cli, priced):
    """12 requests for 24 verdicts: the second verdict of each is paid for by the same request."""

    def together(*more: str) -> dict:
        result = cli(
            *judging(priced, "small"),
            "--prices",
            "prices.toml",
            "--aspect",
            "faithfulness",
            "--together",
            *more,
            code=0,
        )
        assert "'fairjudge calibrate' measures" not in " ".join(result.out.split())
        assert "To calibrate, have items labelled: fairjudge annotate" in " ".join(
            result.out.split()
        )
        return read_json("j.json")

    priced.answer = lambda call: Reply(
        text=json.dumps({name: {"verdict": "4"} for name in ("coverage", "faithfulness")}),
        input_tokens=11, output_tokens=7,
    )  # fmt: skip
    report = together()
    (cost,) = report["costs"]
    assert (cost["n_items"], cost["n_calls"], cost["n_cached"]) == (12, 12, 0)
    assert report["usd_per_item"] == pytest.approx(SMALL)
    # Another run finds all of it in the cache, and cannot know what it cost.
    again = together("--run", "another")
    assert (again["spent"]["n_calls"], again["costs"][0]["n_cached"]) == (0, 24)
    assert again["usd_per_item"] is None


def test_json_of_joint_aspects_works_in_calibrate_and_report(cli, priced):
    priced.answer = lambda call: Reply(
        text=json.dumps({"coverage": {"verdict": str(1 + len(priced.calls) % 5)},
                         "faithfulness": {"verdict": "4"}}),
        input_tokens=11, output_tokens=7,
    )  # fmt: skip
    labels = [
        {"eid": f"e{n}", "system": system, "aspect": "coverage", "annotator": "p",
         "value": 1 + n % 5}
        for n in range(N) for system in SYSTEMS
    ]  # fmt: skip
    write_jsonl(Path("l.jsonl"), labels)
    result = cli(*judging(priced, "small"), "--prices", "prices.toml", "--aspect", "faithfulness",
               "--together", code=0)  # fmt: skip
    result = cli(
        "calibrate", "j.jsonl", "j.json", "--labels", "l.jsonl", "--json", "c.json", code=0
    )
    assert "the same requests judged coverage and faithfulness" in " ".join(result.out.split())
    result = cli("report", "j.jsonl", "j.json", "-o", "page.html", code=0)
    assert "fairjudge judge --json" in Path("page.html").read_text("utf-8")


def test_cost_item_is_a_summary_for_parts_and_pairs(cli, priced):
    """A call an answer; six pairs in two orders are a call a summary."""
    cli(*judging(priced, "small"), "--prices", "prices.toml", "--reference-unit", "qa_pair", code=0)
    (cost,) = read_json("j.json")["costs"]
    assert cost["n_items"] == 12
    assert cost["n_calls"] > 12
    assert cost["usd_per_item"] == pytest.approx(cost["n_calls"] * SMALL / 12)

    pairs = [word if word != "likert" else "pairwise" for word in judging(priced, "small")]
    priced.answer = lambda call: Reply(text="Verdict: 1")
    cli(*pairs, "--prices", "prices.toml", code=0)
    (cost,) = read_json("j.json")["costs"]
    assert (cost["n_items"], cost["n_calls"]) == (12, 12)
    assert cost["usd_per_item"] == pytest.approx(SMALL)


def test_each_jury_member_has_its_own_price(cli, priced):
    result = cli(*judging(priced, "small", "large"), "--prices", "prices.toml", code=0)
    report = read_json("j.json")
    by_judge = {cost["judge"]: cost for cost in report["costs"]}
    assert by_judge["openai:small"]["cost_usd"] == pytest.approx(12 * SMALL)
    assert by_judge["openai:large"]["cost_usd"] == pytest.approx(12 * LARGE)
    assert by_judge["openai:large"]["usd_per_item"] == pytest.approx(LARGE)
    assert report["usd_per_item"] == pytest.approx(SMALL + LARGE)
    assert table_row(result.out, "all")[-2:] == ["2.0160", "0.1680"]

    # One of them without a price: its own cost is known to nobody, the other's stays.
    result = cli(*judging(priced, "small", "nobody-knows"), "--prices", "prices.toml",
               "--cache", "another", code=0)  # fmt: skip
    by_judge = {cost["judge"]: cost["usd_per_item"] for cost in read_json("j.json")["costs"]}
    assert by_judge == {"openai:small": pytest.approx(SMALL), "openai:nobody-knows": None}
    assert read_json("j.json")["usd_per_item"] is None

    result = cli(
        *judging(priced, "small", "large"), "--price-input", "1", "--price-output", "1", code=2
    )
    assert "one price for several backends" in " ".join(result.err.split())


def test_jury_members_have_their_own_prices_in_python(priced):
    models = [
        fj.Model("openai:small", base_url=priced.v1, price_input=1000, price_output=1000),
        fj.Model("openai:large", base_url=priced.v1, price_input=5000, price_output=5000),
    ]
    judge = fj.Judge(models, aspect="coverage", protocol="likert")
    result = judge("r.jsonl", "s.jsonl")
    assert result.report is not None
    costs = {cost["judge"]: cost["cost_usd"] for cost in result.report.to_dict()["costs"]}
    assert costs["openai:small"] == pytest.approx(12 * SMALL)
    assert costs["openai:large"] == pytest.approx(12 * LARGE)
    labels = [
        Label(eid=f"e{n}", system="a", aspect="coverage", annotator="p", value=1 + n % 5)
        for n in range(N)
    ]
    (protocol,) = fj.calibrate([result], labels, n_resamples=100).to_dict()["protocols"]
    per_item = {row["judge"]: row["usd_per_item"] for row in protocol["rows"]}
    assert per_item["openai:large"] == pytest.approx(LARGE)
    assert per_item["jury-mean(openai:small,openai:large)"] == pytest.approx(SMALL + LARGE)


def test_calibrate_shows_cost_per_item_with_agreement(cli, priced):
    """Of a jury, each member has its own cost and the jury that of both."""
    assert cli(*judging(priced, "small", "large"), "--prices", "prices.toml").code == 0
    label = {"aspect": "coverage", "annotator": "p"}
    write_jsonl(
        Path("labels.jsonl"),
        [
            label | {"eid": f"e{n}", "system": system, "value": 1 + (n + place) % 5}
            for n in range(N)
            for place, system in enumerate(SYSTEMS)
        ],
    )
    cli("calibrate", "j.jsonl", "j.json", "--labels", "labels.jsonl", "--json", "c.json",
               "--resamples", "100", "--html", "c.html", code=0)  # fmt: skip
    (protocol,) = read_json("c.json")["protocols"]
    costs = {row["judge"]: row["usd_per_item"] for row in protocol["rows"]}
    assert costs == {
        "jury-mean(openai:small,openai:large)": pytest.approx(SMALL + LARGE),
        "openai:small": pytest.approx(SMALL),
        "openai:large": pytest.approx(LARGE),
    }
    assert "0.1680" in Path("c.html").read_text("utf-8")
    # Without what `judge --json` wrote, the cost is not known.
    cli("calibrate", "j.jsonl", "--labels", "labels.jsonl", "--json", "c.json",
        "--resamples", "100")  # fmt: skip
    (protocol,) = read_json("c.json")["protocols"]
    assert {row["usd_per_item"] for row in protocol["rows"]} == {None}


STUDY = """\
[data]
references = "r.jsonl"
summaries = "s.jsonl"

[budget]
prices = "prices.toml"

[models.small]
backend = "openai:small"
base_url = "{url}"

[models.large]
backend = "openai:large"
base_url = "{url}"

[[judge]]
name = "likert"
model = "small"
aspect = "coverage"
protocol = "likert"

[[judge]]
name = "likert-jury"
model = ["small", "large"]
aspect = "faithfulness"
protocol = "likert"
"""


def test_study_reports_the_cost_of_each_step(cli, priced):
    Path("study.toml").write_text(STUDY.format(url=priced.v1))
    result = cli("study", "study.toml", "--json", "study.json", code=0)
    report = read_json("study.json")
    by_step = report["cost_by_step"]
    assert [*by_step] == ["judge likert", "judge likert-jury"]
    single, jury = by_step.values()
    assert (single["n_calls"], jury["n_calls"]) == (12, 24)
    assert single["cost_usd"] == pytest.approx(12 * SMALL)
    assert jury["cost_usd"] == pytest.approx(12 * (SMALL + LARGE))
    assert jury["tokens"] == {"input": 12 * 31, "cached_input": 0, "output": 12 * 17}
    assert sum(step["n_calls"] for step in by_step.values()) == report["n_calls"]
    assert sum(step["cost_usd"] for step in by_step.values()) == pytest.approx(report["cost_usd"])
    printed = " ".join(result.out.replace("│", " ").split())
    assert "judge likert 12 0 132 84 0.2160" in printed
    assert "judge likert-jury 24 0 372 204 2.0160" in printed
    page = Path("study/report.html").read_text("utf-8")
    assert "step judge likert-jury" in page
    assert "2.0160" in page

    # Kept steps keep their cost, and a step that is done again under another name adds its own.
    n_calls = len(priced.calls)
    again = cli("study", "study.toml", "--json", "again.json", code=0)
    assert len(priced.calls) == n_calls
    assert read_json("again.json")["cost_by_step"] == by_step
    assert again.out.count(" kept ") == len(report["steps"])
    Path("study.toml").write_text(
        STUDY.format(url=priced.v1).replace('aspect = "coverage"', 'aspect = "relevance"')
    )
    assert cli("study", "study.toml", "--json", "again.json").code == 0
    assert read_json("again.json")["cost_by_step"]["judge likert"]["n_calls"] == 24
    assert read_json("again.json")["cost_by_step"]["judge likert-jury"] == jury
