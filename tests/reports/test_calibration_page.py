"""The calibration page: self-contained, escaped, every plotted number also in a table."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from calibration_study import EVIL, study

from fairjudge.reports.calibration_page import calibration_page
from fairjudge.reports.decision_tables import cost_in_words, decisions_tables, group_title, verdict
from fairjudge.reports.pages import table_html
from fairjudge.reports.tables import TextTable, columns


class Seen(HTMLParser):
    """Collect tags, attributes and the text of table cells."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.cells, self.open = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in {"meta", "br"}:
            self.open.append(tag)
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in {"td", "th"}:
            self.cells[-1] += data


def parse(page):
    parser = Seen()
    parser.feed(page)
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def report():
    return study(EVIL)


@pytest.fixture(scope="module")
def page(report):
    return calibration_page(report)


def test_page_loads_no_external_resources(page):
    parser = parse(page)
    assert not {"img", "link", "iframe", "object", "image"} & set(parser.tags)
    policy = next(value for _, name, value in parser.attributes if name == "content")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert parser.tags.count("script") == parser.tags.count("style") == 1
    assert "://" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert all(value.startswith("#") for _, name, value in parser.attributes if name == "href")
    names = {name for _, name, _ in parser.attributes}
    assert not [name for name in names if name.startswith("on") or name in {"src", "style"}]


def test_names_from_files_are_escaped_and_still_shown(page):
    parser = parse(page)
    assert "b" not in parser.tags
    assert any(EVIL in cell for cell in parser.cells)
    assert "<b>s2</b>" in parser.cells


def test_every_plotted_number_is_in_a_table(report, page):
    cells = parse(page).cells
    (group,) = report["groups"]
    for source in (group["agreement"], group["human"], *group["baselines"].values()):
        for level in ("pooled", "per_document", "system"):
            value = source[level]["spearman"]
            if value["value"] is not None and value["low"] is not None:
                text = f"{value['value']:.2f} [{value['low']:.2f}, {value['high']:.2f}]"
                assert text in cells
    calibration = group["calibration"]
    for item in calibration["reliability_before"] + calibration["reliability_after"]:
        assert f"{item['mean_score']:.2f}" in cells
        assert f"{item['mean_label']['value']:.2f}" in " ".join(cells)
    for point in group["planning"]["curve"]:
        assert f"{point['with_judge']:.3f}" in cells
        assert f"{point['without_judge']:.3f}" in cells
    for item in group["fairness"]["groups"]["system"]:
        gap = item["error_gap"]
        assert f"{gap['value']:.2f} [{gap['low']:.2f}, {gap['high']:.2f}]" in cells


def test_plots_are_labelled_and_boxes_are_keyboard_accessible(page):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    parser = parse(page)
    labels = [
        value for tag, name, value in parser.attributes if (tag, name) == ("svg", "aria-label")
    ]
    # Three levels, judge by people, ratings of both, systems, two reliability diagrams, bias by
    # system and by length, one planning curve.
    assert len(labels) == parser.tags.count("svg") == 11
    assert all(labels)
    boxes = [value for tag, name, value in parser.attributes if (tag, name) == ("div", "class")]
    reachable = [1 for tag, name, value in parser.attributes if (tag, name) == ("div", "tabindex")]
    assert boxes.count("wide") == len(reachable)
    ids = [value for _, name, value in parser.attributes if name == "id"]
    targets = [value[1:] for _, name, value in parser.attributes if name == "href"]
    assert set(targets) <= set(ids)
    assert len(ids) == len(set(ids))


def test_judge_and_human_marks_differ_in_shape_and_curves_in_dashes(page):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    forest = page[page.index("<svg") : page.index("</svg>")]
    judge, people = (
        re.search(rf'<title>{name}: [^<]*</title><defs><path id="\w+" d="([^"]*)"', forest)[1]
        for name in ("judge", "human-human")
    )
    assert judge != people
    planning = page[page.rindex("<svg") : page.rindex("</svg>")]
    # The curve without the judge, and its line in the legend.
    assert planning.count("stroke-dasharray") == 2


def test_uncorrelated_judge_is_approved_for_nothing():
    (blind,) = study(noise=60.0)["groups"]
    assert "score single summaries: no; replace an annotator: no" in verdict(blind)
    (constant,) = study(constant=True)["groups"]
    assert verdict(constant) == (
        "rank systems, score single summaries, replace an annotator: no: the judge gave one score "
        f"to all {constant['n_items']} items"
    )
    (good,) = study(noise=0.1)["groups"]
    assert verdict(good) == (
        "rank systems: too few to tell; score single summaries: yes; "
        "replace an annotator: no"  # one too high: its scores need calibration
    )
    (table,) = decisions_tables([good])
    assert table.rows[0][2].endswith("needed: 5 systems or more")


def test_file_of_an_earlier_version_has_no_decision(report):
    old = {name: value for name, value in report["groups"][0].items() if name != "decisions"}
    assert verdict(old).startswith("No decision: this file is of an earlier version")
    assert "run &#39;fairjudge calibrate&#39; again" in calibration_page(
        {**report, "groups": [old]}
    )


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (None, "cost per item unknown"),
        (
            {"n_requests": 0, "n_items": 9, "usd_per_item": 0.0},
            "cost per item 0, no LLM was called",
        ),
        (
            {"n_requests": 1, "n_items": 1, "usd_per_item": None},
            "cost per item unknown (1 request for 1 item): add the run's folder, or the file of "
            "'judge --json', to the judgements",
        ),
        (
            {"n_requests": 1, "n_items": 1, "usd_per_item": None, "why": "a price is not known"},
            "cost per item unknown (1 request for 1 item): a price is not known",
        ),
        (
            {"n_requests": 2000, "n_items": 1000, "usd_per_item": 0.0005},
            "cost per item 0.00050 US dollars (2,000 requests for 1,000 items)",
        ),
    ],
)
def test_cost_per_item_is_shown_if_known(cost, text):
    assert cost_in_words({"cost": cost}) == text


def test_degenerate_studies_render():
    assert "undefined" in read_text(calibration_page(study(constant=True)))
    alone = calibration_page(study(systems=("only",)))
    assert "undefined" in read_text(alone)
    assert "NaN" not in alone
    assert "nan" not in re.sub(r"<[^>]*>", "", alone).split()


def test_position_audit_is_shown_with_its_judge():
    report = study("j")
    figures = {"first": 6.7, "second": 25.2, "consistency": 64.4}
    audit = {
        "judge": "j",
        "aspect": "coverage",
        "n_pairs": 1100,
        **{name: {"value": value, "low": None, "high": None} for name, value in figures.items()},
    }
    cells = parse(calibration_page(report, position=[audit])).cells
    assert {"6.7", "25.2", "64.4"} <= set(cells)
    other = calibration_page(report, position=[{**audit, "judge": "k"}])
    assert "Position bias" not in other


def test_tables_escape_text_attributes_and_control_characters():
    table = TextTable(title='"x"', columns=columns("a"), rows=(("a < b & \x1b[2J",),))
    result = table_html(table)
    assert "a &lt; b &amp;  [2J" in result
    assert 'aria-label="&#34;x&#34;"' in result


def read_text(page):
    return re.sub(r"<[^>]*>", " ", page)


def test_judges_without_labelled_items_are_named_below_the_tables():
    (good,) = study(noise=0.1)["groups"]
    idle = {**good, "aspect": "fluency", "n_items": 0}
    (table,) = decisions_tables([idle, good])
    assert table.title.startswith(group_title(good))
    assert table.notes[-1] == f"No answers without labelled items: {group_title(idle)}."
    # where nothing at all is labelled, each says what it lacks
    assert len(decisions_tables([idle, idle])) == 2
