"""Wherever judgements meet labels: ids that a table made floats, ids of something else, and a half.

Sixty summaries of thirty events by two systems; the judge agrees with both people on four of five.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_tools import write_jsonl

import fairjudge as fj

N = 30
OF = {"aspect": "coverage", "unit": "summary"}
JUDGED = OF | {"protocol": "likert", "judge": "j"}


def items() -> list[dict[str, Any]]:
    return [{"eid": str(n), "system": s, "value": (n + k) % 5 + 1} for n in range(N)
            for k, s in enumerate(("s1", "s2"))]  # fmt: skip


def labels(eid: str = "{}", *, every: int = 1) -> list[dict[str, Any]]:
    """Labels whose eids look as `eid` says, where `every` divides the number, else as they are."""
    return [
        OF | row | {"annotator": annotator, "value": row["value"], "eid": (
            eid if int(row["eid"]) % every == 0 else "{}").format(row["eid"])}
        for row in items()
        for annotator in ("ann", "bob")
    ]  # fmt: skip


@pytest.fixture(autouse=True)
def judgements() -> None:
    rows = items()
    off = [row | {"value": row["value"] % 5 + 1} if n % 5 == 0 else row
           for n, row in enumerate(rows)]  # fmt: skip
    write_jsonl(Path("j.jsonl"), [JUDGED | row for row in off])
    write_jsonl(Path("local.jsonl"), [JUDGED | row | {"judge": "local"} for row in rows])
    pairs = [
        OF
        | {"protocol": "pairwise", "judge": "j", "eid": str(n), "system_a": "s1"}
        | {"system_b": "s2", "order": order, "value": "a" if n % 3 else "b"}
        for n in range(N)
        for order in ("ab", "ba")
    ]
    write_jsonl(Path("pairs.jsonl"), pairs)


def with_labels(name: str) -> list[tuple[str, ...]]:
    """Return every command that joins labels or judgements of a second file to the first."""
    return [
        ("calibrate", "j.jsonl", "--labels", name),
        ("check", "j.jsonl", "--baseline", "j.jsonl", "--labels", name),
        ("calibrate", "cascade", "--local", "local.jsonl", "--judged", "j.jsonl", "--labels", name,
         "-o", "out.json", "--tolerance", "1"),
        ("calibrate", "cascade", "--local", "local.jsonl", "--labels", name, "--guarantee", "0.6",
         "-o", "out.json"),
        ("audit", "position", "pairs.jsonl", "--labels", name),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(5))
def test_ids_turned_into_floats_match(cli, number):
    write_jsonl(Path("labels.jsonl"), labels())
    write_jsonl(Path("floats.jsonl"), labels("{}.0"))
    write_jsonl(Path("half.jsonl"), labels("{}.0", every=2))
    plain, *others = (
        cli(*with_labels(name)[number]) for name in ("labels.jsonl", "floats.jsonl", "half.jsonl")
    )
    assert plain.code == 0, plain.err
    for result in others:
        assert (result.code, result.out) == (0, plain.out)


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("eid", ["doc-{}", "{} ", "{}.5"])
def test_no_match_raises_and_names_an_id_of_each_side(cli, number, eid):
    write_jsonl(Path("labels.jsonl"), labels(eid))
    result = cli(*with_labels("labels.jsonl")[number], code=1)
    assert repr(eid.format(0)) in result.err
    assert "eid '0'" in result.err
    assert ("spaces or case" in result.err) == (eid == "{} ")


@pytest.mark.parametrize("number", [0, 2, 3, 4])
def test_partial_match_is_the_first_finding(cli, number):
    write_jsonl(Path("labels.jsonl"), labels("doc-{}", every=2))
    result = cli(*with_labels("labels.jsonl")[number], code=0)
    assert result.out.startswith("In short: Only 30 of 60 "), result.out[:200]
    assert "'doc-0'" in result.out.partition(".")[0]


def test_gate_counts_unmatched_items_as_unscored(cli):
    write_jsonl(Path("labels.jsonl"), labels("doc-{}", every=2))
    result = cli(*with_labels("labels.jsonl")[1], code=3)
    assert "30 of 60 anchors (50.0 %) without a score after." in result.out


def test_labels_on_few_judged_items_give_no_warning(cli):
    write_jsonl(Path("labels.jsonl"), labels()[:40])
    result = cli(*with_labels("labels.jsonl")[0])
    assert "Only" not in result.out.partition("\n")[0]


def test_two_runs_match_by_integer_ids_and_report_mismatches(cli):
    write_jsonl(Path("f.jsonl"), [JUDGED | row | {"eid": f"{row['eid']}.0"} for row in items()])
    result = cli("compare", "j.jsonl", "f.jsonl", "--json", "-", code=0)
    assert json.loads(result.out)["groups"][0]["n_items"] == 2 * N
    write_jsonl(Path("few.jsonl"), [JUDGED | row for row in items()[:6]])
    result = cli("compare", "j.jsonl", "few.jsonl")
    assert result.out.startswith("In short: Only 6 of 60 first-run items match any second-run item")
    write_jsonl(Path("x.jsonl"), [JUDGED | row | {"eid": f"x{row['eid']}"} for row in items()])
    result = cli("compare", "j.jsonl", "x.jsonl", code=1)
    assert "'x0'" in result.err


def fair_world() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    clusters = [
        {"eid": str(n), "articles": [
            {"aid": f"{n}{side}", "content": f"The {side} side spoke of bridge {n}.",
             "attributes": {"side": side}} for side in ("left", "right")]}
        for n in range(6)
    ]  # fmt: skip
    items = [{"eid": str(n), "system": "s1", "text": f"The left side spoke of bridge {n}."}
               for n in range(6)]  # fmt: skip
    return clusters, items


def test_fairness_labels_match_the_summaries(cli):
    clusters, summaries = fair_world()
    write_jsonl(Path("c.jsonl"), clusters)
    write_jsonl(Path("s.jsonl"), summaries)

    def shares(eid: str, n: int) -> None:
        rows = [{"eid": eid.format(k), "system": "s1", "shares": {"left": 1.0}} for k in range(n)]
        write_jsonl(Path("people.jsonl"), rows)

    command = ("fairness", "proportional", "c.jsonl", "--summaries", "s.jsonl",
             "--attribute", "side", "--human", "people.jsonl")  # fmt: skip
    shares("{}.0", 3)
    result = cli(*command, "--json", "-", code=0)
    assert json.loads(result.out)["systems"]["s1"]["corrected"]["n_labelled"] == 3
    shares("doc-{}", 3)
    result = cli(*command, code=1)
    assert "'doc-0'" in result.err
    with Path("people.jsonl").open("a") as file:
        file.write(json.dumps({"eid": "1", "system": "s1", "shares": {"left": 1.0}}) + "\n")
        file.write(json.dumps({"eid": "2", "system": "s1", "shares": {"left": 1.0}}) + "\n")
    result = cli(*command, code=0)
    assert result.out.startswith("In short: Only 2 of 5 human shares match any summary")


def test_python_accepts_frames_with_float_ids():
    rows = [JUDGED | row for row in items()]
    as_floats = [row | {"eid": float(row["eid"])} for row in labels()]
    calibration = fj.calibrate(rows, as_floats, n_resamples=100)
    assert len(calibration.groups[0].joined.keys) == 2 * N


def test_ids_with_labels_for_both_spellings_are_not_merged():
    rows = [JUDGED | row for row in items()]
    judgements = [*labels(), *labels("{}.0")]  # two items on paper: nothing says that they are one
    calibration = fj.calibrate(rows, judgements, n_resamples=100)
    assert len(calibration.groups[0].joined.match.only_right) == 2 * N
    assert calibration.to_dict()["findings"][0].startswith("Only 60 of 120 labelled items match")


def test_summaries_match_the_judgements(cli):
    write_jsonl(Path("labels.jsonl"), labels())
    command = ("calibrate", "j.jsonl", "--labels", "labels.jsonl", "--summaries", "s.jsonl")

    def summaries(eid: str) -> None:
        rows = [{"eid": eid.format(item["eid"]), "system": item["system"],
                 "text": "word " * item["value"]} for item in items()]  # fmt: skip
        write_jsonl(Path("s.jsonl"), rows)

    summaries("{}.0")
    result = cli(*command, "--json", "-", code=0)
    assert json.loads(result.out)["groups"][0]["baselines"]
    summaries("doc-{}")
    result = cli(*command, code=1)
    assert "'doc-0'" in result.err


def test_report_shows_labels_with_float_ids(cli):
    write_jsonl(Path("labels.jsonl"), labels())
    write_jsonl(Path("floats.jsonl"), labels("{}.0"))
    for name in ("labels", "floats"):
        cli("report", "j.jsonl", "--labels", f"{name}.jsonl", "-o", f"{name}.html", code=0)
    data = [
        re.search(r'"labels":(\[.*?\]\])', Path(f"{name}.html").read_text())
        for name in ("labels", "floats")
    ]
    assert data[0] is not None
    assert data[1] is not None
    assert "ann" in data[0][1]
    assert data[0][1] == data[1][1]


@pytest.mark.parametrize(
    "command",
    [
        "judge --references c.jsonl --aspect balance --backend local -o - --summaries",
        "fairness proportional c.jsonl --attribute side --scorer unigrams --summaries",
        "fairness coverage c.jsonl --attribute side --scorer embedding --summaries",
        "audit checks --references c.jsonl --aspect faithfulness --backend local --summaries",
        "bias words c.jsonl --summaries",
    ],
)
def test_summaries_with_float_ids_match_their_clusters(cli, command):
    texts = ("The bridge opened on Monday.", "Traders lost money when the market fell.")
    write_jsonl(Path("c.jsonl"), (
        {"eid": str(e), "attribute": "side", "articles": [
            {"aid": f"a{k}", "content": text, "attributes": {"side": side}}
            for k, (text, side) in enumerate(zip(texts, ("left", "right"), strict=True))]}
        for e in range(2)
    ))  # fmt: skip
    for name, spelled in (("same", "{}"), ("floats", "{}.0")):
        write_jsonl(Path(f"{name}.jsonl"), (
            {"eid": spelled.format(e), "system": system, "text": text}
            for e in range(2) for system, text in zip(("x", "y"), texts, strict=True)
        ))  # fmt: skip
    by_name = {name: cli(*command.split(), f"{name}.jsonl") for name in ("same", "floats")}
    assert by_name["same"].code == 0, by_name["same"].err
    assert by_name["floats"].code == 0, by_name["floats"].err
    assert by_name["floats"].out == by_name["same"].out
