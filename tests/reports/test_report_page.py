"""The report's page: joined right, every part there, all text escaped, nothing from elsewhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from builders import make_judgement
from cli_tools import write_jsonl
from report_study import EVIL, N_CLUSTERS, SYSTEMS, judgements, reference

from fairjudge.analysis.reporting import make_report
from fairjudge.domain import Undefined
from fairjudge.reports.pages import Report
from fairjudge.scores.leaderboards import leaderboards
from fairjudge.text.closest import PassageFinder


def judged(eid, system, value, **fields):
    fields = {"eid": eid, "system": system, "aspect": "quality", "value": value} | fields
    return make_judgement(**fields)


# Leaderboards


def test_standings_by_hand():
    rows = [
        judged("1", "a", 4), judged("1", "a", 2), judged("2", "a", 5), judged("3", "a", 4),
        judged("1", "b", 2), judged("2", "b", 3), judged("3", "b", 4),  # 3
        judged("1", "c", None, unscored="refused"),
    ]  # fmt: skip
    (board,) = leaderboards(rows)
    assert [standing.score.system for standing in board.standings] == ["a", "b", "c"]
    first, second, third = board.standings
    assert (first.mean.value, second.mean.value) == (4.0, 3.0)
    assert first.behind is None
    assert second.behind.value == pytest.approx(1.0)
    assert isinstance(third.mean, Undefined)
    assert board.scale_range == (1.0, 5.0)


def test_constant_difference_has_zero_width_interval():
    # Every document is 1 worse for b: resampling documents moves both means together.
    rng = np.random.default_rng(0)
    values = rng.integers(2, 6, size=40)
    rows = [judged(str(d), "a", int(v)) for d, v in enumerate(values)]
    rows += [judged(str(d), "b", int(v) - 1) for d, v in enumerate(values)]
    (board,) = leaderboards(rows)
    best, behind = board.standings
    assert best.mean.high - best.mean.low > 0.3
    assert behind.behind.low == pytest.approx(1.0)
    assert behind.behind.high == pytest.approx(1.0)


def test_kinds_of_units_and_own_scales_are_separate():
    rows = [judged("1", "a", 70), judged("1", "a", 3, unit="sentence:0")]
    whole, sentences = leaderboards(rows)
    assert (whole.unit, whole.scale_range) == ("summary", None)
    assert (sentences.unit, sentences.scale_range) == ("sentence", (1.0, 5.0))
    assert leaderboards([]) == ()


# Passages


def test_evidence_passage_shares_the_rare_words():
    finder = PassageFinder(
        ["The council met. The mayor resigned on Friday.", "The council met again. Rain fell."]
    )
    result = finder.closest("On Friday the mayor resigned.")
    assert (result.article, result.text) == (0, "The mayor resigned on Friday.")
    assert result.similarity == pytest.approx(1.0)
    assert finder.closest("Zebras graze.") is None
    assert PassageFinder([]).closest("The mayor.") is None
    assert PassageFinder(["", "  "]).closest("The mayor.") is None


def test_a_fused_sentence_finds_two_neighbours():
    finder = PassageFinder(["The bridge closed. Engineers blamed cracks. Nobody was hurt."])
    result = finder.closest("The bridge closed and engineers blamed cracks.")
    assert result.text == "The bridge closed. Engineers blamed cracks."


# The page


class Seen(HTMLParser):
    """Collect tags, attributes, ids and the text outside script and style."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text.append(data)


@pytest.fixture(scope="session")
def page_parser(report_file):
    parser = Seen()
    parser.feed(report_file.read_text("utf-8"))
    assert parser.open == []
    return parser


@pytest.fixture(scope="session")
def text(page_parser):
    return "\n".join(page_parser.text)


def test_every_section_is_there_and_linked(page_parser):
    targets = [
        value[1:] for tag, name, value in page_parser.attributes if (tag, name) == ("a", "href")
    ]
    sections = [target for target in targets if not target.startswith(("figure-", "table-"))]
    assert sections == [
        "main", "short", "systems", "coverage", "sentences", "sway", "trust", "differ",
        "fairness", "bias", "unscored", "judgements", "origin",
    ]  # fmt: skip
    ids = [value for _, name, value in page_parser.attributes if name == "id"]
    assert set(map(unquote, targets)) <= set(ids)
    assert len(ids) == len(set(ids))


def test_page_loads_nothing_and_runs_only_its_own_script(page_parser, report_file):
    assert not {"img", "link", "iframe", "object", "image", "b"} & set(page_parser.tags)
    kinds = [
        value for tag, name, value in page_parser.attributes if (tag, name) == ("script", "type")
    ]
    assert kinds == ["application/json"]
    assert page_parser.tags.count("script") == 2
    assert not [name for _, name, _ in page_parser.attributes if name in {"src", "style", "srcdoc"}]
    assert not [name for _, name, _ in page_parser.attributes if name.startswith("on")]
    policy = next(value for _, name, value in page_parser.attributes if name == "content")
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'; "
        r"img-src blob:; base-uri 'none'; form-action 'none'",
        policy,
    )
    assert "://" not in report_file.read_text("utf-8").split('id="data">')[0]


def test_hostile_names_are_shown_verbatim(text):
    assert SYSTEMS[1] in text
    assert EVIL in text


def test_the_data_block_cannot_be_broken_out_of(report_file, page_data):
    html = report_file.read_text("utf-8")
    block = html.split('id="data">')[1].split("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(block)
    assert json.loads(block) == page_data
    assert EVIL in json.dumps(page_data, ensure_ascii=False).replace('\\"', '"')


def test_judgements_are_joined_with_replies_labels_and_sentences(page_data):
    table = page_data["judgements"]
    rows = judgements()
    assert table["n"] == len(rows)
    columns, names = table["columns"], table["names"]
    systems = [names["system"][code] for code in columns["system"]]
    assert systems == [row.get("system") or row["system_a"] for row in rows]
    assert columns["raw"] == [row["raw"] for row in rows]
    whole = next(
        place
        for place, row in enumerate(rows)
        if row["aspect"] == "quality" and row["protocol"] == "likert"
    )
    assert columns["labels"][whole] == [["expert0", 2], ["expert1", 3]]
    sentence, aid, passage, likeness = page_data["sentences"]["c0"]["alpha"][0]
    assert (sentence, aid) == ("The council met on Monday.", "c0a0")
    assert passage == "The council of town 0 met on Monday."
    assert 0 < likeness <= 1


def test_omitted_answers_are_named_with_their_outlets(page_data):
    uncovered = page_data["uncovered"]
    assert len(uncovered) == 3 * N_CLUSTERS
    alpha = [item for item in uncovered if item["system"] == "alpha"]
    assert {tuple(item["outlets"]) for item in alpha} == {(f"{EVIL}.example",)}


def test_labels_of_a_pair_in_reverse_order_are_flipped(tmp_path):
    row = next(row for row in judgements() if row["protocol"] == "pairwise")
    label = {
        "eid": row["eid"], "system_a": row["system_b"], "system_b": row["system_a"],
        "aspect": row["aspect"], "annotator": "ann", "value": "a",
    }  # fmt: skip
    judged_file = write_jsonl(tmp_path / "j.jsonl", [row])
    labels = write_jsonl(tmp_path / "l.jsonl", [label])
    html = make_report(judged_file, labels=labels).html
    data = json.loads(html.split('id="data">')[1].split("</script>")[0])
    assert data["judgements"]["columns"]["labels"] == [[["ann", "b"]]]


def test_plots_are_labelled_and_their_numbers_are_in_the_text(page_parser, text):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    labels = [
        value for tag, name, value in page_parser.attributes if (tag, name) == ("svg", "aria-label")
    ]
    assert len(labels) == page_parser.tags.count("svg") > 10
    assert all(labels)
    for figures in re.findall(r"-?\d\.\d\d \[-?\d\.\d\d, -?\d\.\d\d\]", " ".join(labels)):
        assert figures in text


def test_prompts_models_and_reasons_are_reported(text):
    assert "judge/coverage.v1@1234abcd" in text
    assert "openai:stub" in text
    assert "1 unparseable, 1 refused" in text
    assert "6 documents: intervals" in text


def test_empty_sections_are_omitted(tmp_path):
    only = make_report(write_jsonl(tmp_path / "r.jsonl", [reference(0)])).html
    assert 'id="questions"' in only
    assert 'id="explorer"' not in only
    assert 'id="systems"' not in only


def test_failed_section_is_reported_and_the_rest_shown(tmp_path):
    rows = write_jsonl(tmp_path / "j.jsonl", [judgements()[0]])
    label = {"eid": "zz", "system": "s", "aspect": "style", "annotator": "ann", "value": 1}
    html = make_report(rows, labels=write_jsonl(tmp_path / "l.jsonl", [label])).html
    assert "No calibrate: no judgement of a labelled aspect (style)." in html
    assert 'id="explorer"' in html


def test_saving_is_atomic(tmp_path):
    result = Report(html="<!DOCTYPE html>", title="t")
    result.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == "<!DOCTYPE html>"
    with pytest.raises(Exception, match="cannot write"):
        result.save(tmp_path / "nowhere" / "page.html")
    assert 'srcdoc="&lt;!DOCTYPE html&gt;"' in result._repr_html_()
    assert "allow-same-origin" not in result._repr_html_()


def test_lone_surrogates_do_not_break_the_page(tmp_path):
    rows = write_jsonl(tmp_path / "j.jsonl", [judgements()[0] | {"detail": "\ud800"}])
    result = make_report(rows, title="half \udcff")
    result.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<h1>half  </h1>" in page  # as any character that cannot be shown
    assert '"detail":"\ufffd"' in page


def test_the_same_inputs_give_the_same_bytes(study):
    assert make_report(study).html == make_report(study).html


def test_report_command_writes_the_page(study, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from fairjudge.cli._main import app

    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["report", str(study), "-o", "page.html", "--title", "Mine"])
    assert result.exit_code == 0, result.output
    assert "Written: page.html" in result.output
    assert "<h1>Mine</h1>" in Path("page.html").read_text("utf-8")
    piped = CliRunner().invoke(app, ["report", str(study), "-o", "-"])
    assert piped.output.startswith("<!DOCTYPE html>")
