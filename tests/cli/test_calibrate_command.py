"""``fairjudge calibrate`` and ``apply`` from outside: files in, exit codes, JSON and tables out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from invoking import invoke

from fairjudge.errors import ConfigurationError, InputError

ITEM = {"aspect": "coverage"}


@pytest.fixture
def files(tmp_path):
    """Write a lenient judge's scores of 40 documents by 3 systems, and three people's labels."""
    rng = np.random.default_rng(0)
    judgements, labels = [], []
    for d in range(40):
        for s in range(3):
            quality = 2.5 + 0.5 * s + rng.normal()
            where = {"eid": f"d{d}", "system": f"s{s}", **ITEM}
            score = int(np.clip(round(quality + 1 + rng.normal()), 1, 5))
            judgements.append({**where, "protocol": "likert", "judge": "j", "value": score})
            for k in range(3):
                value = int(np.clip(round(quality + rng.normal()), 1, 5))
                labels.append({**where, "annotator": f"expert{k}", "value": value})
    judgements.append(
        {"eid": "d0", "system": "s9", **ITEM, "protocol": "likert", "judge": "j",
         "unscored": "refused"}
    )  # fmt: skip
    paths = tmp_path / "j.jsonl", tmp_path / "l.jsonl"
    for path, rows in zip(paths, (judgements, labels), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return tmp_path, *paths


def test_json_contains_the_table_values(files):
    folder, judgements, labels = files
    arguments = ("calibrate", judgements, "--labels", labels, "--resamples", 200)
    result = invoke(*arguments, "--json", folder / "out.json")
    assert result.exit_code == 0, result.output
    report = json.loads((folder / "out.json").read_text("utf-8"))
    (group,) = report["groups"]
    assert (group["judge"], group["n_items"], group["n_unscored"]) == ("j", 120, 1)
    kendall = group["agreement"]["pooled"]["kendall"]
    text = f"{kendall['value']:.2f} [{kendall['low']:.2f}, {kendall['high']:.2f}]"
    assert text in result.output
    assert text in invoke("--tables", "markdown", *arguments).stdout
    assert "Unscored: 1 refused." in result.output
    assert report["signature"]["resamples"] == 200
    printed = invoke(*arguments, "--json", "-")
    assert json.loads(printed.stdout)["groups"] == report["groups"]


def test_saved_calibrator_is_applied(files):
    folder, judgements, labels = files
    saved = invoke(
        "calibrate", judgements, "--labels", labels, "--resamples", 100,
        "--method", "linear", "--save", folder / "c.json",
    )  # fmt: skip
    assert saved.exit_code == 0, saved.output
    result = invoke("calibrate", "apply", folder / "c.json", judgements, "-o", folder / "out.jsonl")
    assert result.exit_code == 0, result.output
    before = [json.loads(line) for line in judgements.read_text("utf-8").splitlines()]
    after = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
    assert len(after) == len(before)
    assert [row.get("uncalibrated") for row in after[:-1]] == [r["value"] for r in before[:-1]]
    assert after[-1]["unscored"] == "refused"
    # The judge was lenient by about one: calibrated scores are lower on average.
    means = [np.mean([row["value"] for row in rows[:-1]]) for rows in (before, after)]
    assert means[1] < means[0] - 0.4


def test_calibrator_from_too_few_labels_is_not_saved(files):
    folder, judgements, labels = files
    few = folder / "few.jsonl"
    few.write_text("".join(labels.read_text("utf-8").splitlines(keepends=True)[:15]), "utf-8")
    result = invoke("calibrate", judgements, "--labels", few, "--save", folder / "c.json")
    assert isinstance(result.exception, ConfigurationError)
    assert "needs 30" in str(result.exception)
    assert not (folder / "c.json").exists()


def test_unscored_items_beyond_the_limit_exit_with_3(files):
    _, judgements, labels = files
    result = invoke(
        "calibrate", judgements, "--labels", labels, "--resamples", 100, "--max-unscored", 0.001
    )
    assert result.exit_code == 3


def test_bad_files_are_named(files):
    folder, judgements, labels = files
    result = invoke("calibrate", judgements, "--labels", labels, "--annotators", "nobody*")
    assert isinstance(result.exception, InputError)
    assert "expert0" in str(result.exception)
    bad = folder / "bad.json"
    for text, word in (("{", "not JSON"), ("{}", "fairjudge_calibrator"), ("3", "--save")):
        bad.write_text(text, "utf-8")
        result = invoke("calibrate", "apply", bad, judgements, "-o", folder / "o.jsonl")
        assert isinstance(result.exception, InputError)
        assert word in str(result.exception)
        assert "bad.json" in str(result.exception)


def test_page_contains_tables_and_plots(files):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    folder, judgements, labels = files
    page = folder / "page.html"
    result = invoke("calibrate", judgements, "--labels", labels, "--resamples", 100, "--html", page)
    assert result.exit_code == 0, result.output
    text = page.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    # Three levels, confusion, ratings, systems with people, two of reliability, systems, the curve.
    assert text.count("<svg") == 10
    assert "j, coverage, likert" in text


def test_support_needs_sources_to_compare(files):
    _, judgements, labels = files
    result = invoke("calibrate", judgements, "--labels", labels, "--support")
    assert result.exit_code == 2
    assert "--clusters" in result.output


def test_family_option_needs_a_name_and_a_pattern(files):
    _, judgements, labels = files
    result = invoke("calibrate", judgements, "--labels", labels, "--family", "gpt*")
    assert result.exit_code == 2
    assert "NAME=PATTERN" in result.output


def test_decision_is_printed_first_and_last(files):
    folder, judgements, labels = files
    rng = np.random.default_rng(1)
    rows = [json.loads(line) for line in judgements.read_text("utf-8").splitlines()[:-1]]
    worthless = folder / "worthless.jsonl"
    # About the same score for every item, as a very small chat model gives.
    noise = ({**row, "value": int(rng.choice([4, 5], p=[0.9, 0.1]))} for row in rows)
    worthless.write_text("".join(json.dumps(row) + "\n" for row in noise), "utf-8")
    words = ("calibrate", worthless, "--labels", labels, "--resamples", 200)
    for result in (invoke(*words), invoke("--tables", "markdown", *words)):
        assert result.exit_code == 0, result.output
        text = result.stdout
        first_lines = " ".join(text.splitlines()[:8])
        assert "Summary" in first_lines
        assert "score single summaries: no" in " ".join(first_lines.split())
        last = text[text.index("may the judge be used to ...") :]
        assert "docs/calibration.md has the rules" in " ".join(last.split())
