"""A report takes the JSON of every command, and sums all of it up at its top."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from cli_tools import write_jsonl
from report_study import judgements, run

from fairjudge.analysis.reporting import make_report
from fairjudge.errors import InputError


def said_first(page: str) -> list[str]:
    """Return the paragraphs of the page's first section."""
    section = page[page.index('id="short"') : page.index("</section>", page.index('id="short"'))]
    paragraphs = re.findall(r"<p[^>]*>(.*?)</p>", section, re.DOTALL)
    return [unescape(re.sub(r"<[^>]+>", "", paragraph)).strip() for paragraph in paragraphs]


def quality(value: float, *, judge: str = "k", n: int = 6, system: str = "alpha", **more) -> list:
    return [
        {"eid": f"c{c}", "system": system, "aspect": "quality", "protocol": "likert"}
        | {"judge": judge, "value": value + c % 2, "scored_by": "llm"}
        | more
        for c in range(n)
    ]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    pairs = [row for row in judgements() if row["protocol"] == "pairwise"]
    write_jsonl(tmp_path / "pairs.jsonl", pairs)
    write_jsonl(tmp_path / "one.jsonl", quality(3))
    write_jsonl(tmp_path / "two.jsonl", quality(2))
    write_jsonl(tmp_path / "again.jsonl", [*quality(3, repeat=0), *quality(2, repeat=1)])
    labels = [
        {"eid": f"c{c}", "system": "alpha", "aspect": "quality", "annotator": "p", "value": 3}
        for c in range(6)
    ]
    write_jsonl(tmp_path / "labels.jsonl", labels)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "title", "sentence"),
    [
        (("rank", "pairs.jsonl"), "Ranked by comparisons", "alpha ranks first"),
        (("compare", "one.jsonl", "two.jsonl"), "Comparison of two runs", "scores lower"),
        (("audit", "stability", "again.jsonl"), "Stability", "changes its verdict"),
        (
            ("check", "one.jsonl", "--baseline", "one.jsonl", "--labels", "labels.jsonl"),
            "A judge before and after a change",
            "Cannot tell whether agreement with human labels fell",
        ),
    ],
)
def test_command_output_is_on_the_page(files, monkeypatch, command, title, sentence):
    monkeypatch.chdir(files)
    run(*command, "--json", "found.json")
    page = make_report("found.json").html
    assert title in page
    assert any(sentence in item for item in said_first(page)), said_first(page)
    # what is said stands again beside the figures
    for finding in json.loads(Path("found.json").read_text("utf-8"))["findings"]:
        assert unescape(page).count(finding) >= 1


def test_ranking_alone_makes_a_page(files, monkeypatch):
    monkeypatch.chdir(files)
    run("rank", "pairs.jsonl", "--html", "rank.html")
    page = Path("rank.html").read_text("utf-8")
    assert any("alpha ranks first" in item for item in said_first(page))
    assert "Ranking by openai:stub, quality" in page


def test_json_of_another_version_raises(tmp_path: Path):
    group = {"judge": "j", "aspect": "a", "systems": [{}], "why": None}
    (tmp_path / "rank.json").write_text(json.dumps({"groups": [group]}), "utf-8")
    with pytest.raises(InputError, match="not what 'fairjudge rank --json' writes"):
        make_report(tmp_path / "rank.json")


def test_two_judges_are_named_in_findings(files):
    rows = [
        row
        for judge, best in (("j", "alpha"), ("k", "beta"))
        for system in ("alpha", "beta")
        for row in quality(4 if system == best else 2, judge=judge, system=system)
    ]
    first, second, *_ = said_first(make_report(write_jsonl(files / "both.jsonl", rows)).html)
    assert first.startswith("alpha has the highest mean in quality, judged by j;")
    assert second.startswith("beta has the highest mean in quality, judged by k;")


def test_many_leaderboards_are_summarised(files):
    """None is silently left out; what does not fit is folded."""
    rows = [
        row
        for n in range(12)
        for system, value in (("alpha", 4), ("beta", 2))
        for row in quality(value, system=system, aspect=f"aspect{n}")
    ]
    text = said_first(make_report(write_jsonl(files / "many.jsonl", rows)).html)
    assert {n for n in range(12) for item in text if f"in aspect{n};" in item} == set(range(12))


def test_all_items_scored_is_claimed_only_if_every_summary_was_judged(files):
    summaries = [{"eid": f"c{c}", "system": "alpha", "text": "The council met."} for c in range(8)]
    write_jsonl(files / "summaries.jsonl", summaries)
    page = make_report(files / "one.jsonl", summaries=files / "summaries.jsonl").html
    assert "Every item has a score" not in page
    assert "2 of 8 items (25 %) are without a score: 2 not judged." in page
    assert "2 clusters without a judgement: c6, c7." in page
    alone = make_report(files / "one.jsonl").html
    assert "Every item has a score." in alone
    fewer = [*quality(3), *quality(2, system="beta", n=4)]
    partly = make_report(write_jsonl(files / "fewer.jsonl", fewer)).html
    assert "Every judged item has a score." in partly


def test_page_with_calibration_does_not_call_agreement_unknown(files):
    page = make_report(files / "one.jsonl", labels=files / "labels.jsonl").html
    assert "measures how far this judge agrees" not in page
    assert "see &#39;Trust in the judge&#39;" in page
