"""The report in a real browser: found by filter, opened by keyboard, safe, legible on a phone."""

from __future__ import annotations

import csv
import random
import re
from itertools import product
from pathlib import Path

import pytest
from browser import PHONE, serious_faults, unfold
from cli_tools import reference, summary, write_jsonl
from report_study import EVIL, N_CLUSTERS, SYSTEMS, run

from fairjudge.analysis.reporting import make_report

pytestmark = pytest.mark.browser

PAGE = 25
N_JUDGEMENTS = N_CLUSTERS * (2 * (3 + 2 + 4 + 1) + 2) + 2


@pytest.fixture
def report(open_page, report_file):
    def opened(**options):
        page = open_page(report_file.as_uri(), **options)
        page.wait_for_selector("html[data-ready]")
        return page

    return opened


def status(page, box):
    return page.locator(f"#{box} [role=status]").first.inner_text()


def search(page, words):
    """Search the judgements and wait until the list has changed: it does once typing pauses."""
    page.get_by_label("Search in names and replies").fill(words)
    narrowed = page.locator("#explorer").get_by_text(re.compile(f"^\\d+ of {N_JUDGEMENTS} judge"))
    narrowed.wait_for()


def verdicts(page):
    return page.locator("#explorer tbody td[data-title=Verdict]").all_inner_texts()


def test_filters_narrow_the_list_and_show_the_count(report):
    page = report()
    assert status(page, "explorer") == f"{N_JUDGEMENTS} judgements"
    page.get_by_role("search", name="Judgements").get_by_label("Score").select_option("refused")
    assert status(page, "explorer") == f"1 of {N_JUDGEMENTS} judgements"
    assert page.locator("#explorer tbody tr").count() == 1
    page.get_by_role("search", name="Judgements").get_by_label("Aspect").select_option("coverage")
    assert status(page, "explorer") == f"None of {N_JUDGEMENTS} judgements fits."


def test_the_system_filter_finds_both_sides_of_a_pair(report):
    page = report()
    form = page.get_by_role("search", name="Judgements")
    form.get_by_label("Protocol").select_option("pairwise")
    form.get_by_label("System").select_option(SYSTEMS[1])
    assert status(page, "explorer") == f"{2 * N_CLUSTERS} of {N_JUDGEMENTS} judgements"


def test_the_verdict_filter_has_every_verdict(report):
    page = report()
    form = page.get_by_role("search", name="Judgements")
    form.get_by_label("Protocol").select_option("pairwise")
    form.get_by_label("Verdict").select_option("tie")
    # every pair is a tie when asked the other way round
    assert status(page, "explorer") == f"{N_CLUSTERS} of {N_JUDGEMENTS} judgements"


def test_unscored_items_are_listed_with_reason(report):
    page = report()
    assert status(page, "without-score") == "2 items without a score"
    rows = page.locator("#without-score tbody tr").all_inner_texts()
    assert ["unparseable" in rows[0], "refused" in rows[1], "declined" in rows[1]] == [True] * 3
    page.locator("#without-score .open").first.click()
    assert "I would rather not say." in page.get_by_role("dialog").inner_text()


def test_only_scrollable_boxes_take_keyboard_focus(report):
    stops = "[...document.querySelectorAll('.wide')].filter(box => box.tabIndex === 0).length"
    desk, phone = report(), report(viewport=PHONE)
    assert desk.evaluate(stops) < phone.evaluate(stops)
    assert phone.evaluate(
        """[...document.querySelectorAll('.wide')].every(
            box => (box.tabIndex === 0) === (box.scrollWidth > box.clientWidth))"""
    )


def test_search_includes_replies(report):
    page = report()
    search(page, "rather not")
    assert status(page, "explorer") == f"1 of {N_JUDGEMENTS} judgements"
    assert page.locator("#explorer tbody th").inner_text() == "c0"


def test_headings_sort_both_ways_with_missing_values_last(report):
    page = report()
    form = page.get_by_role("search", name="Judgements")
    form.get_by_label("Aspect").select_option("quality")
    form.get_by_label("Protocol").select_option("likert")
    heading = page.locator("#explorer thead th", has_text="Verdict")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    rising = verdicts(page)
    assert rising[0] == "2"
    assert all(text.startswith("no score") for text in rising[-2:])
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert verdicts(page)[0] == "4"


def test_static_tables_sort_too(report):
    page = report()
    table = page.locator("#systems ~ div table.sortable").first
    names = table.locator("tbody th")
    before = names.all_inner_texts()
    table.get_by_role("button", name="mean").click()
    table.get_by_role("button", name="mean").click()
    assert names.all_inner_texts() == before[::-1]


def test_from_the_list_to_a_raw_reply_by_keyboard(report):
    page = report()
    page.get_by_label("Search in names and replies").focus()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#explorer .open')"):
            break
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("heading", level=2).inner_text() == "alpha on c0"
    assert dialog.locator("pre.reply").inner_text().endswith("Verdict: 1")
    assert f"Two million {EVIL}" in dialog.inner_text()
    page.keyboard.press("ArrowRight")
    assert "Three million." in dialog.inner_text()
    page.keyboard.press("ArrowLeft")
    assert "Two million" in dialog.inner_text()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert page.evaluate("document.activeElement.matches('#explorer .open')")


def test_pages_turn_and_keep_the_focus(report):
    page = report()
    assert page.locator("#explorer tbody tr").count() == PAGE
    following = page.locator("#explorer").get_by_role("button", name="Next page")
    following.focus()
    page.keyboard.press("Enter")
    pages = -(-N_JUDGEMENTS // PAGE)
    assert f"Page 2 of {pages}" in page.locator("#explorer").inner_text()
    for _ in range(pages):
        page.keyboard.press("Enter")
    assert f"Page {pages} of {pages}" in page.locator("#explorer").inner_text()
    assert following.evaluate("button => button === document.activeElement")
    assert following.get_attribute("aria-disabled") == "true"


def test_questions_show_sources_and_omissions(report):
    page = report()
    first = page.locator("#questions .answers > li").first
    assert "Outlets: " in first.inner_text()
    assert f"{EVIL}.example" in first.inner_text()
    assert first.locator(".verdict").all_inner_texts() == [
        "○ alpha: left out",
        f"○ {SYSTEMS[1]}: left out",
    ]
    page.get_by_label("Only answers that a summary leaves out").check()
    # alpha leaves out the first answer, beta the first two: the third is covered by both
    assert page.locator("#questions .answers > li").count() == 2
    page.locator("#questions").get_by_role("button", name="Next").click()
    assert "town 1" in page.locator("#questions h4").first.inner_text()
    page.locator("#questions .verdict").first.click()
    assert page.get_by_role("dialog").is_visible()


def test_omitted_answers_are_listed_by_outlet(report):
    page = report()
    # alpha leaves out one answer of each cluster, beta two
    assert status(page, "uncovered") == f"{3 * N_CLUSTERS} groups of answers"
    form = page.get_by_role("search", name="Omitted answers")
    form.get_by_label("Outlet").select_option("outlet1.example")
    assert status(page, "uncovered") == f"{N_CLUSTERS} of {3 * N_CLUSTERS} groups of answers"
    first = page.locator("#uncovered tbody tr").first.inner_text()
    assert "outlet1.example: Three million." in first  # each outlet with its own wording
    assert "outlet2.example: About three million." in first


def test_sentences_are_shown_with_passage_and_verdict(report):
    page = report()
    page.locator("#passages").get_by_label("System").select_option("alpha")
    first = page.locator("#passages .sentences > li").first
    assert "The council met on Monday." in first.inner_text()
    assert "The council of town 0 met on Monday." in first.locator("blockquote").inner_text()
    assert "supported (5)" in first.locator(".verdict").inner_text()
    page.locator("#passages").get_by_label("System").select_option(SYSTEMS[1])
    assert "The rain is to blame." in first.inner_text()


def test_scripts_in_texts_are_escaped(report):
    page = report()
    search(page, "onerror")
    page.locator("#explorer .open").first.click()
    assert EVIL in page.get_by_role("dialog").inner_text()
    assert page.title() == "FairJudge report"
    assert page.locator("main img, main b, dialog img, dialog b").count() == 0
    assert page.locator("script").count() == 2


def test_content_security_policy_blocks_other_scripts(chromium, report_file):
    page = chromium.new_page()  # not by `open_page`: the refusal is logged as an error
    page.goto(report_file.as_uri())
    refused = page.evaluate(
        """() => new Promise(done => {
            addEventListener("securitypolicyviolation", event => done(event.effectiveDirective));
            const script = document.createElement("script");
            script.textContent = "document.title = 'owned'";
            document.body.append(script);
        })"""
    )
    assert refused.startswith("script-src")
    assert page.title() == "FairJudge report"
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [None, PHONE])
def test_axe_finds_no_serious_fault(report, scheme, viewport):
    options = {"color_scheme": scheme} | ({"viewport": viewport} if viewport else {})
    page = report(**options)
    unfold(page)
    assert serious_faults(page) == []
    page.locator("#explorer .open").first.click()
    assert serious_faults(page) == []


def test_nothing_overflows_a_phone(report):
    page = report(viewport=PHONE)
    unfold(page)
    root = "document.documentElement"
    assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
    page.locator("#explorer .open").first.click()
    box = page.get_by_role("dialog").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]


PAPER = {"format": "A4", "margin": dict.fromkeys(("top", "bottom", "left", "right"), "15mm")}
PAPER_WIDTH = 680
"""A4 less its margins, in pixels."""


def n_pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def too_wide(page) -> list[str]:
    """What paper would cut off at its right edge."""
    return page.evaluate(
        """[...document.querySelectorAll("main *")]
            .filter(one => !one.closest("svg") && one.getBoundingClientRect().right
                > document.documentElement.clientWidth + 1)
            .map(one => one.tagName + " " + one.textContent.slice(0, 60))"""
    )


def test_print_has_findings_and_names_omitted_parts(report):
    page = report(viewport={"width": PAPER_WIDTH, "height": 1000})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("nav").is_visible()
    headings = page.locator("main > section > h2")
    items = [item.inner_text() for item in headings.all() if item.is_visible()]
    assert items == ["In short", "Systems", "Trust in the judge"]
    left_out = [item.text_content() for item in headings.all() if not item.is_visible()]
    assert len(left_out) > 5
    text = page.locator(".paper").inner_text()
    assert text.startswith(f"Not printed: {'; '.join(left_out)}.")
    # every sentence that comes first is there, those that the screen folds too
    assert all(item.is_visible() for item in page.locator("main > section:first-child p").all())
    folded = page.locator("#trust ~ details:not([open]) > summary").all()
    marks = [item.evaluate("one => getComputedStyle(one, '::after').content") for item in folded]
    assert marks
    assert all("not printed" in mark for mark in marks)
    assert too_wide(page) == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.printed").get_attribute("open") is None
    assert 2 <= n_pages(page.pdf(**PAPER)) <= 5


@pytest.fixture
def jury_page(tmp_path):
    """Seven boards of five systems, four of judges that people's labels and a jury calibrate."""
    rng = random.Random(0)
    boards = [("coverage", f"openai:model-{k}", 0.4 + 0.3 * k) for k in range(4)]
    boards += [(aspect, "openai:model-0", 0.5) for aspect in ("faithfulness", "quality", "fluency")]
    rows, labels = [], []
    for c, s in product(range(24), range(5)):
        quality = 2.2 + 0.4 * s + rng.gauss(0, 0.8)

        def rated(noise, quality=quality):
            return min(5, max(1, round(quality + rng.gauss(0, noise))))

        item = {"eid": f"c{c}", "system": f"system-{s}"}
        labels += [
            {**item, "aspect": "coverage", "annotator": name, "value": rated(0.5)}
            for name in ("ann", "ben")
        ]
        rows += [
            {**item, "aspect": aspect, "judge": judge, "protocol": "likert", "value": rated(noise)}
            for aspect, judge, noise in boards
        ]
    folder = tmp_path / "study"
    folder.mkdir()
    judged = write_jsonl(folder / "judgements.jsonl", rows)
    people = ["--labels", write_jsonl(folder / "labels.jsonl", labels)]
    run("calibrate", judged, *people, "--json", folder / "c.json", "--resamples", "100")
    path = tmp_path / "report.html"
    make_report(folder).save(path)
    return path


def test_many_leaderboards_and_a_jury_print_on_five_pages(open_page, jury_page):
    page = open_page(jury_page.as_uri(), viewport={"width": PAPER_WIDTH, "height": 1000})
    page.wait_for_selector("html[data-ready]")
    assert n_pages(page.pdf(**PAPER)) <= 5
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    visible = "one => one.checkVisibility()"
    # each board has its two figures and its table
    text = page.locator("section:has(> #systems) :is(figure, table)").all()
    assert [item.evaluate(visible) for item in text] == [True] * 3 * 7
    assert too_wide(page) == []


@pytest.mark.parametrize(
    ("n_judges", "n_systems"),
    [(2, 12), (3, 12), (8, 20)],
)
def test_leaderboards_of_many_systems_print_on_five_pages(open_page, tmp_path, n_judges, n_systems):
    rng = random.Random(1)
    aspects = ("coverage", "faithfulness", "quality", "fluency")[: 3 if n_judges == 2 else 4]
    boards = [
        f"{aspect.capitalize()}, by judge-{k}" for aspect, k in product(aspects, range(n_judges))
    ]
    rows = [
        {
            "eid": f"c{c}",
            "system": f"a-system-with-a-long-name-{s}",
            "aspect": aspect,
            "judge": f"judge-{k}",
            "protocol": "likert",
            "value": rng.randint(1, 5),
        }
        for c, s, aspect, k in product(range(6), range(n_systems), aspects, range(n_judges))
    ]
    folder = tmp_path / "study"
    folder.mkdir()
    write_jsonl(folder / "judgements.jsonl", rows)
    path = tmp_path / "report.html"
    make_report(folder).save(path)
    page = open_page(path.as_uri(), viewport={"width": PAPER_WIDTH, "height": 1000})
    page.wait_for_selector("html[data-ready]")
    assert 2 <= n_pages(page.pdf(**PAPER)) <= 5
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    systems = page.locator("section:has(> #systems)")
    text = systems.locator("> .paper").inner_text()
    assert text.startswith("Not printed: the plots of these leaderboards")
    headings = systems.locator("h3").all()
    assert [heading.text_content() for heading in headings] == boards
    hidden = [heading.text_content() for heading in headings if not heading.is_visible()]
    assert re.findall(r"the leaderboard ([^;]+?)(?=[;.])", text) == hidden
    assert bool(hidden) == (n_judges > 2)
    assert not any(item.is_visible() for item in systems.locator("figure").all())
    tables = systems.locator("table").all()
    assert sum(table.is_visible() for table in tables) == len(boards) - len(hidden)
    assert too_wide(page) == []
    # whoever prints everything has all of it
    page.evaluate("document.documentElement.dataset.print = 'all'")
    assert all(item.is_visible() for item in [*headings, *systems.locator("figure").all()])
    assert not systems.locator("> .paper").is_visible()


def test_everything_is_printed_on_request(report):
    page = report(viewport={"width": PAPER_WIDTH, "height": 1000})
    # a browser without a person has no dialog to wait for
    page.evaluate("window.print = () => dispatchEvent(new Event('beforeprint'))")
    page.get_by_role("button", name="Print everything").click()
    assert page.locator("details:not([open])").count() == 0
    page.emulate_media(media="print")
    assert all(item.is_visible() for item in page.locator("main > section > h2").all())
    assert not page.locator(".paper").is_visible()
    assert f"Page 1 of {-(-N_JUDGEMENTS // PAGE)}" in page.locator("#explorer").inner_text()
    assert too_wide(page) == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.print") is None
    page.emulate_media(media="screen")
    page.evaluate("document.documentElement.dataset.print = 'all'")
    assert n_pages(page.pdf(**PAPER)) > 10


def test_static_parts_work_without_javascript(open_page, report_file):
    page = open_page(report_file.as_uri(), java_script_enabled=False)
    text = page.locator("main").inner_text()
    assert "Looking through judgements needs JavaScript" in text
    assert re.search(r"alpha\s+\d\.\d\d \[", text)


def test_notebook_frame_shows_and_isolates_the_page(open_page, report_file, tmp_path):
    from fairjudge.reports.pages import Report

    text = Report(html=report_file.read_text("utf-8"), title="FairJudge report")
    notebook = tmp_path / "notebook.html"
    # whatever the encoding that the notebook's page is read in
    head = '<!DOCTYPE html><meta charset="windows-1252"><title>Notebook</title>'
    notebook.write_text(head + text._repr_html_(), "utf-8")
    page = open_page(notebook.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#explorer .open").first.wait_for()
    frame.get_by_label("Score", exact=True).select_option("refused")
    assert frame.locator("#explorer tbody tr").count() == 1
    assert page.title() == "Notebook"


def test_names_of_object_properties_are_handled_as_data(open_page, tmp_path):
    """Judgements of what no other file holds, and of things called as JavaScript's own."""
    names = ("constructor", "__proto__", "toString")
    units = ("summary", "answer:0.0", "sentence:0", "article:constructor", "article:__proto__")
    rows = [
        {
            "eid": eid, "system": system, "aspect": "quality", "unit": unit, "protocol": "likert",
            "judge": "j", "value": 3, "raw": "Verdict: 3", "scored_by": "llm", "signature": "s",
        }
        for eid in names
        for system in names
        for unit in units
    ]  # fmt: skip
    files = [write_jsonl(tmp_path / "judgements.jsonl", rows)]
    # one of them is known to other files
    files.append(write_jsonl(tmp_path / "references.jsonl", [reference("__proto__")]))
    files.append(write_jsonl(tmp_path / "summaries.jsonl", [summary("toString", "__proto__")]))
    from fairjudge.analysis.reporting import make_report

    make_report(*files).save(tmp_path / "report.html")
    page = open_page((tmp_path / "report.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    page.locator("#explorer button.open").first.click()
    title = page.locator("dialog h2")
    titles = {title.inner_text()}
    texts = 0
    for _ in range(PAGE):
        texts += page.locator("dialog :not(details) > p.text").count()  # summaries, not articles
        page.get_by_role("dialog").get_by_role("button", name="Next").click()
        titles.add(title.inner_text())
    assert len(titles) > 3
    assert texts <= len(units)


def test_long_names_are_shortened_in_lists_if_still_distinct(open_page, tmp_path):
    def eid(middle):
        return f"cnn-test-{middle}-0123456789"

    alone, alike, other = eid("a" * 20), eid("same-b-end"), eid("same-c-end")
    judges = [f"gpt-3.5-turbo-0301, scale {scale}" for scale in ("likert-1-5@ee", "stars-5@af")]
    rows = [
        {
            "eid": name, "system": "s", "aspect": "quality", "unit": "summary", "value": 3,
            "protocol": "likert", "judge": judge, "raw": "3", "scored_by": "llm", "signature": "s",
        }
        for name in (f"x{alone}", alike, other)
        for judge in judges
    ]  # fmt: skip
    make_report(write_jsonl(tmp_path / "judgements.jsonl", rows)).save(tmp_path / "report.html")
    page = open_page((tmp_path / "report.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    heads = page.locator("#explorer tbody th")
    assert heads.all_inner_texts()[::2] == ["xcnn-test-aa…a-0123456789", alike, other]
    assert heads.first.get_attribute("title") == f"x{alone}"
    assert heads.nth(2).get_attribute("title") is None
    cell = page.locator("#explorer tbody td[data-title=Judge]").first
    assert cell.inner_text() == "gpt-3.5-turb…ikert-1-5@ee"
    assert cell.get_attribute("title") == judges[0]
    # whole where one judgement is open, and in what is saved
    heads.first.get_by_role("button").click()
    assert page.locator("dialog h2").inner_text() == f"s on x{alone}"
    page.keyboard.press("Escape")
    with page.expect_download() as saved:
        page.locator("#explorer").get_by_role("button", name="Save as CSV").click()
    text = Path(saved.value.path()).read_text("utf-8")
    assert f"x{alone}" in text
    assert judges[0] in text


def test_judgement_has_a_url(report, report_file, open_page):
    page = report()
    page.locator("#explorer button.open").nth(2).click()
    title = page.locator("dialog h2").inner_text()
    address = page.url
    assert re.search(r"#judgement-[0-9a-f]{12}(-\d+)?$", address)
    other = open_page(address)
    other.wait_for_selector("dialog[open]")
    assert other.locator("dialog h2").inner_text() == title
    page.keyboard.press("Escape")
    page.wait_for_url(report_file.as_uri())


def test_articles_are_shown_collapsed_beside_the_summary(report):
    page = report()
    page.locator("#explorer button.open").first.click()
    articles = page.locator("dialog details.article")
    assert articles.count() > 0
    text = articles.first.locator("p")
    assert not text.is_visible()
    articles.first.locator("summary").click()
    assert text.is_visible()


def test_disagreements_link_to_their_judgements(report):
    page = report()
    first = page.locator("#disagreements tbody tr").first
    cluster = first.locator("button.open").inner_text()
    first.locator("button.open").click()
    assert page.locator("dialog h2").inner_text().endswith(f"on {cluster}")
    assert page.locator("dialog").get_by_text("What people said").is_visible()


def test_gap_to_human_labels_filters_and_sorts(report):
    page = report()
    form = page.get_by_role("search", name="Judgements")
    form.get_by_label("Difference to humans").select_option("0.5 or more")
    # people's means lie half a point above or at the judge's value in every second cluster
    assert re.match(rf"\d+ of {N_JUDGEMENTS} judgements$", status(page, "explorer"))
    heads = page.locator("#explorer th[role=columnheader]").all_inner_texts()
    page.get_by_role("button", name="Difference to humans").click()  # the largest come first
    gaps = [
        float(row.locator("[role=cell]").nth(heads.index("Difference to humans") - 1).inner_text())
        for row in page.locator("#explorer tbody tr").all()
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert min(gaps) >= 0.5


@pytest.mark.parametrize(
    ("words", "n"), [('"rather not say"', 1), ('"say not rather"', 0), ("unparseable -c0", 0)]
)
def test_search_excludes_phrases_and_words(report, words, n):
    page = report()
    page.get_by_label("Search in names and replies").fill(words)
    text = f"{n} of {N_JUDGEMENTS} judgements" if n else f"None of {N_JUDGEMENTS} judgements fits."
    page.locator("#explorer").get_by_text(text).wait_for()


def test_filtered_rows_are_saved_as_csv_without_formulas(report, tmp_path):
    page = report()
    form = page.get_by_role("search", name="Judgements")
    form.get_by_label("Score").select_option("without a score")
    with page.expect_download() as waited:
        page.locator("#explorer").get_by_role("button", name="Save as CSV", exact=True).click()
    waited.value.save_as(tmp_path / "judgements.csv")
    with (tmp_path / "judgements.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["eid"], row["system"], row["unscored"]) for row in rows] == [
        ("c0", "gamma", "unparseable"),
        ("c1", "gamma", "refused"),
    ]
    assert rows[0]["reply"] == "I would rather not say."
    assert all(len(row["address"]) == 12 for row in rows)


def test_a_link_shows_the_same_rows_in_the_same_order(report, open_page):
    page = report()
    form = page.get_by_role("search", name="Judgements")
    search(page, 'reply -"town 1"')
    form.get_by_label("Verdict").select_option("1")
    heading = page.locator("#explorer thead").get_by_role("button", name="Cluster")
    heading.click()
    heading.click()
    page.locator("#explorer").get_by_role("button", name="Next page").click()
    rows = page.locator("#explorer tbody").inner_text()
    page.locator("#explorer .open").first.click()
    opened, title = page.url, page.locator("dialog h2").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("#judgements"))
    # another page, as a link that was sent would open it
    for address in (page.url, opened):
        other = open_page(address)
        other.wait_for_selector("html[data-ready]")
        assert other.locator("#explorer tbody").inner_text() == rows
        assert other.get_by_label("Search in names and replies").input_value() == 'reply -"town 1"'
        assert other.locator("dialog").is_visible() == (address == opened)
    assert other.locator("dialog h2").inner_text() == title
    form.get_by_role("button", name="Clear filters").click()
    assert status(page, "explorer") == f"{N_JUDGEMENTS} judgements"
    assert "#" not in page.url


def test_link_with_unknown_judges_reports_what_is_missing(open_page, report_file):
    page = open_page(f"{report_file.as_uri()}#judgements?system=delta&protocol=pairwise")
    page.wait_for_selector("html[data-ready]")
    assert status(page, "explorer") == f"{2 * N_CLUSTERS} of {N_JUDGEMENTS} judgements"
    assert "not filtered by: System delta." in page.locator("#explorer").inner_text()


def test_9200_judgements_open_within_a_second(open_page, tmp_path):
    """Measured as work of the page's own thread, which a busy machine does not change."""
    from fairjudge.analysis.browsing import browse_data
    from fairjudge.analysis.report_inputs import Inputs
    from fairjudge.domain import Judgement, Label
    from fairjudge.reports.pages import page_html
    from fairjudge.reports.parts import Placeholder, Section

    of = {"aspect": "quality", "unit": "summary"}
    rows = [
        Judgement(
            eid=f"c{c}", system=f"s{s}", judge=f"judge{k}", protocol="likert", scored_by="llm",
            value=1 + (c + s * k) % 5, raw=f"{'The council met on Monday. ' * 16}Rating: {c}", **of,
        )
        for c in range(460) for s in range(5) for k in range(4)
    ]  # fmt: skip
    labels = [
        Label(eid=row.eid, system=row.system, annotator=name, value=2, **of)
        for row in rows[::4]
        for name in ("ann", "ben")
    ]
    data = browse_data(Inputs(judgements=rows, labels=labels), [])
    section = Section(
        id="judgements", title="All judgements", parts=(Placeholder("explorer", "It"),)
    )
    (tmp_path / "page.html").write_text(page_html([section], title="Speed", data=data), "utf-8")
    page = open_page()
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{(tmp_path / 'page.html').as_uri()}#judgements?gap=1+or+more&sort=-gap&page=9")
    page.wait_for_selector("html[data-ready]")
    by_name = {
        item["name"]: item["value"] for item in session.send("Performance.getMetrics")["metrics"]
    }
    assert re.match(r"[\d,]+ of 9,200 judgements", status(page, "explorer"))
    assert "Page 9 of" in page.locator("#explorer").inner_text()
    assert 0 < by_name["TaskDuration"] < 1.0


def test_rows_of_the_list_stay_short(report):
    """A reply is read across, and what a filter fixes needs no column."""
    page = report()
    heads = page.locator("#explorer thead th")
    assert "Protocol" in [item.inner_text().split("\xa0")[0] for item in heads.all()]
    form = page.get_by_role("search", name="Judgements")
    form.get_by_label("Protocol").select_option("likert")
    items = [item.inner_text() for item in heads.all() if item.is_visible()]
    assert not any(item.startswith("Protocol") for item in items)
    heights = page.evaluate(
        "[...document.querySelectorAll('#explorer tbody tr')].map(row => row.offsetHeight)"
    )
    assert max(heights) < 110


def test_pair_is_shown_in_prompt_order_and_tie_in_words(report):
    page = report()
    form = page.get_by_role("search", name="Judgements")
    form.get_by_label("Shown first").select_option(SYSTEMS[1])
    assert status(page, "explorer") == f"{N_CLUSTERS} of {N_JUDGEMENTS} judgements"
    assert f"{SYSTEMS[1]} before alpha" in page.locator("#explorer tbody tr").first.inner_text()
    page.locator("#explorer .open").first.click()
    text = page.get_by_role("dialog").inner_text()
    assert "tie: neither summary is better" in text
    assert f"In this reply A is {SYSTEMS[1]}, B is alpha, and C is a tie." in text
    headings = page.locator("dialog .two h3").all_inner_texts()
    assert headings == [f"A, shown first: {SYSTEMS[1]}", "B, shown second: alpha"]
    left, right = (part.bounding_box() for part in page.locator("dialog .two > div").all())
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]


def test_rankings_and_texts_from_right_to_left_are_shown(open_page, tmp_path):
    of = {"aspect": "quality", "unit": "summary", "judge": "j", "scored_by": "llm"}
    arabic = "قال المجلس إن الجسر مغلق. VERDICT: 3"
    rows = [
        of | {"eid": "e1", "protocol": "ranking", "systems": ["x", "y", "z"], "order": "ab",
              "ranking": ["z", "x", "y"], "raw": "3 > 1 > 2"},
        of | {"eid": "e1", "protocol": "likert", "system": "نظام", "value": 3, "raw": arabic},
    ]  # fmt: skip
    from fairjudge.analysis.reporting import make_report

    make_report(write_jsonl(tmp_path / "rows.jsonl", rows)).save(tmp_path / "report.html")
    page = open_page((tmp_path / "report.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    # a ranking is read as the pairs that it implies
    pairs = page.locator("#explorer tbody tr", has_text="ranking").all_inner_texts()
    assert [row.split("\t")[1] for row in pairs] == ["x before y", "x before z", "y before z"]
    assert verdicts(page) == ["x", "z", "z", "3"]
    page.get_by_role("search", name="Judgements").get_by_label("System").select_option("نظام")
    page.locator("#explorer .open").first.click()
    reply = page.locator("pre.reply")
    assert reply.inner_text() == arabic
    assert reply.evaluate("one => getComputedStyle(one).unicodeBidi") == "plaintext"


def test_judgement_is_shown_beside_others_of_its_item(report):
    page = report()
    form = page.get_by_role("search", name="Judgements")
    form.get_by_label("Protocol").select_option("pairwise")
    page.locator("#explorer .open").first.click()
    dialog = page.get_by_role("dialog")
    assert "Other judgements of this item" in dialog.inner_text()
    address = page.url
    dialog.locator("table .open").first.click()
    assert page.url != address
    assert serious_faults(page) == []
