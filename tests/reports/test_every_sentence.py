"""Every number that a command says stands in that command's own tables, on data that vary."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from cli_tools import write_jsonl
from report_study import N_CLUSTERS, reference
from sentence_checker import texts_of, without_figure
from typer.testing import CliRunner

from fairjudge.reports.kinds import tables_of
from fairjudge.reports.tables import TextTable, columns

SYSTEMS = ("alpha", "beta", "gamma")
COMMANDS = {
    "rank": "rank pairs.jsonl",
    "compare": "compare one.jsonl two.jsonl",
    "audit position": "audit position pairs.jsonl",
    "audit parse": "audit parse one.jsonl",
    "audit stability": "audit stability repeats.jsonl",
    "audit length": "audit length pairs.jsonl --summaries summaries.jsonl",
    "audit covered": "audit covered answers.jsonl --references references.jsonl",
    "calibrate": "calibrate one.jsonl --labels labels.jsonl",
    "check": "check one.jsonl --baseline two.jsonl --labels labels.jsonl",
    "fairness proportional": "fairness proportional references.jsonl --summaries summaries.jsonl "
    "--attribute side",
    "bias words": "bias words references.jsonl --summaries summaries.jsonl --resamples 100",
    "bias quality": "bias quality controlled.jsonl --judgements relevance.jsonl",
    "bias distinguishability": "bias distinguishability controlled.jsonl "
    "--summaries variants.jsonl --representation counts",
    "cascade": "calibrate cascade --local cheap.jsonl --judged one.jsonl --labels labels.jsonl "
    "-o thresholds.json",
    "fairness coverage": "fairness coverage references.jsonl --summaries summaries.jsonl "
    "--attribute side --scorer judgements:support.jsonl",
    "fairness overall": "fairness overall coverage.json other.json --measure equal_coverage",
    "fairness agreement": "fairness agreement coverage.json other.json",
    "fairness people": "fairness people coverage.json proportional.json --leanings leanings.jsonl",
}
FIRST = {
    "coverage": COMMANDS["fairness coverage"],
    "other": COMMANDS["fairness coverage"].replace("support", "other"),
    "proportional": COMMANDS["fairness proportional"],
}
"""Reports that other commands read."""


def write_inputs(folder: Path, seed: int) -> None:
    """Judges of other noise, more or fewer clusters, systems alike or apart, values that lack."""
    rng = random.Random(seed)
    n = (N_CLUSTERS, 14, 31)[seed % 3]
    apart, noise, lost = rng.choice((0.0, 0.3, 1.2)), rng.choice((0.2, 1.5)), rng.choice((0, 0.2))
    levels = {system: 2.5 + apart * place for place, system in enumerate(SYSTEMS)}
    of = {"aspect": "coverage", "unit": "summary", "judge": "j", "scored_by": "llm"}
    pairs, labels, answers, summaries = [], [], [], []
    runs: dict[str, list] = {"one": [], "two": [], "repeats": [], "cheap": []}
    for c in range(n):
        for system, level in levels.items():
            about = {"eid": f"c{c}", "system": system, **of}
            quality = level + rng.gauss(0, 0.7)

            def rated(quality=quality, noise=noise) -> int:
                return min(5, max(1, round(quality + rng.gauss(0, noise))))

            for run, rows in runs.items():
                row = {**about, "protocol": "likert", "value": rated(), "raw": "Rating."}
                if run == "one" and rng.random() < lost:
                    row |= {"value": None, "unscored": "unparseable"}
                rows.append(row)
                if run == "repeats":
                    rows[-1:] = [{**row, "repeat": 0}, {**row, "repeat": 1, "value": rated()}]
            labels += [
                {"eid": f"c{c}", "system": system, "aspect": "coverage", "annotator": name}
                | {"value": rated(noise=0.5)}
                for name in ("ann", "ben")
            ]
            answers += [
                {**about, "unit": unit, "protocol": "binary", "value": int(rng.random() < 0.6)}
                for unit in ("answer:0.0", "answer:0.1", "answer:1.0")
            ]
            words = " ".join(rng.choices(("She said", "the man", "it cost", "the rain"), k=12))
            summaries.append({"eid": f"c{c}", "system": system, "text": f"{words}."})
        for first, second in (("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma")):
            for order in ("ab", "ba"):
                better = levels[first] - levels[second] + rng.gauss(0, noise + 0.1)
                value = "tie" if abs(better) < 0.1 else "a" if better > 0 else "b"
                pair = {"eid": f"c{c}", "system_a": first, "system_b": second, **of}
                pairs.append({**pair, "protocol": "pairwise", "order": order, "value": value})
    files = {"pairs": pairs, "labels": labels, "answers": answers, "summaries": summaries, **runs}
    files["references"] = [reference(c) for c in range(n)]
    files |= supported_articles(rng, n) | controlled_inputs(rng, n)
    for name, rows in files.items():
        write_jsonl(folder / f"{name}.jsonl", rows)


def supported_articles(rng: random.Random, n: int) -> dict[str, list]:
    """Which articles two judges find in a summary, and to which side people say it leans."""
    items = [{"eid": f"c{c}", "system": system} for c in range(n) for system in SYSTEMS]
    of = {"aspect": "support", "protocol": "binary", "judge": "j"}
    files = {
        name: [
            {**item, **of, "unit": f"article:{item['eid']}a{a}"}
            | {"value": int(rng.random() < 0.3 + a / 6)}
            for item in items
            for a in range(4)
        ]
        for name in ("support", "other")
    }
    leans = ("left", "right", "neither")
    files["leanings"] = [
        {**item, "annotator": name, "leaning": rng.choice(leans)}
        for item in items
        for name in ("ann", "ben")
    ]
    return files


def controlled_inputs(rng: random.Random, n: int) -> dict[str, list]:
    """Texts in two variants that name women or men, how good their summaries are, and these."""
    design = {"design": "global"}
    clusters = [
        {"eid": f"{group}{c}-{variant}", "articles": [{"aid": "0", "content": "Text."}]}
        | {"controlled": {**design, "original": f"d{c}", "group": group, "variant": variant}}
        for group in ("female", "male")
        for c in range(n)
        for variant in range(2)
    ]
    about = [{"eid": one["eid"], "system": "s"} for one in clusters]
    rated = {"aspect": "relevance", "protocol": "likert", "judge": "j"}
    words = ("rain", "town", "tea", "iron", "coal", "salt")
    return {
        "controlled": clusters,
        "relevance": [{**one, **rated, "value": rng.randint(2, 5)} for one in about],
        "variants": [{**one, "text": " ".join(rng.choices(words, k=3))} for one in about],
    }


@pytest.fixture(scope="module", params=range(3))
def inputs(request, tmp_path_factory) -> Path:
    from fairjudge.cli._main import app

    folder = tmp_path_factory.mktemp(f"seed{request.param}")
    write_inputs(folder, request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, command in FIRST.items():
            done = CliRunner().invoke(app, [*command.split(), "--json", f"{name}.json"])
            assert done.exit_code == 0, done.output
    return folder


@pytest.mark.parametrize("kind", COMMANDS)
def test_what_is_said_stands_in_the_tables(inputs, monkeypatch, kind):
    from fairjudge.cli._main import app

    monkeypatch.chdir(inputs)
    done = CliRunner().invoke(app, [*COMMANDS[kind].split(), "--json", "found.json"])
    if "a cascade needs" in str(done.exception):
        pytest.skip("too few clusters for a cascade")
    assert done.exit_code in {0, 1, 3}, (
        done.output
    )  # 1: a check that fails; 3: much without a score
    report = json.loads(Path("found.json").read_text("utf-8"))
    tables = tables_of(kind, report)
    assert report["findings"]
    assert tables
    assert without_figure(report["findings"], texts_of(tables)) == []
    # what the terminal says first is what the JSON has
    assert all(" ".join(one.split()) in " ".join(done.output.split()) for one in report["findings"])


def test_the_checker_finds_a_figure_that_no_table_has():
    table = TextTable(title="Means of c7", columns=columns("system"), rows=(("a", "4.49 of 12"),))
    said = ["a has 4.49, about 4, of 12.", "b has 4.50.", "a leaves out 7.", "Next: judge 30 more."]
    assert without_figure(said, texts_of([table])) == [
        "'b has 4.50.' has ['4.50']",
        "'a leaves out 7.' has ['7']",
    ]
