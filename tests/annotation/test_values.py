"""People say from which values facts come and which a summary leans to; the measures read it."""

from __future__ import annotations

import json
import re

import pytest
from annotation_tools import Annotator, rows, serve
from cli_tools import finish, start, write_jsonl

N = 3
PRAISE, BLAME = "The soup was lovely.", "The waiter was rude."
TEXTS = {"even": f"{PRAISE} {BLAME}", "kind": PRAISE, "wrong": f"{PRAISE} The moon is green."}
YES, NO = 1, 0


@pytest.fixture
def folder(tmp_path):
    articles = [
        {"aid": f"{mood}{n}", "content": f"Evening {n}. {text}", "attributes": {"mood": mood}}
        for mood, text in (("pos", PRAISE), ("neg", BLAME))
        for n in range(2)
    ]
    clusters = [{"eid": f"c{n}", "articles": articles} for n in range(N)]
    (tmp_path / "references.json").write_text(json.dumps(clusters), "utf-8")
    summaries = [
        {"eid": cluster["eid"], "system": system, "text": text}
        for cluster in clusters
        for system, text in TEXTS.items()
    ]
    write_jsonl(tmp_path / "summaries.jsonl", summaries)
    return tmp_path


def label_all(folder, task, choose, *, who):
    """Serve a task, answer every item by what the page shows, and return the labels."""
    server = serve(folder, "--attribute", "mood", "--overlap", "1", task=task)
    for name in who:
        annotator = Annotator(server.url, name)
        while annotator.position is not None:
            annotator.label(choose(annotator.page.text))
    server.interrupt()
    return rows(folder / "labels.jsonl")


def measured(folder, command, *options):
    out = f"{command}.json"
    files = ("references.json", "--summaries", "summaries.jsonl", "--attribute", "mood")
    result = finish(start("fairness", command, *files, "--json", out, *options, cwd=folder))
    assert result.code == 0, result.err
    return json.loads((folder / out).read_text("utf-8"))


def test_human_facts_become_value_shares(folder):
    def choose(page):
        by_name = {mood for mood in ("pos", "neg") if f"(mood: {mood})" in page}
        (mood,) = by_name  # the articles of one value at a time
        request = re.search(r'class="statement" dir="auto">(.*?)</p>', page)[1]
        return YES if request == {"pos": PRAISE, "neg": BLAME}[mood] else NO

    labels = label_all(folder, "values", choose, who=("ann", "bob"))
    n_sentences = N * 5
    assert len(labels) == 2 * 2 * n_sentences
    assert {label["attribute_value"] for label in labels} == {"pos", "neg"}
    result = measured(folder, "proportional", "--scorer", "people:labels.jsonl")
    shares = {
        (item["eid"], item["system"]): dict(zip(item["values"], item["summary"], strict=True))
        for item in result["samples"]
    }
    assert shares["c0", "even"] == {"neg": 0.5, "pos": 0.5}
    assert shares["c0", "kind"] == {"neg": 0.0, "pos": 1.0}
    assert shares["c0", "wrong"] == {"neg": 0.0, "pos": 1.0}  # what is made up has no value
    assert result["systems"]["even"]["bur"]["value"] == 0.0
    assert result["systems"]["kind"]["bur"]["value"] == 100.0


def test_half_of_the_annotators_is_not_a_majority(folder):
    label = {"eid": "c0", "system": "even", "aspect": "mood", "annotator": "ann", "value": 1}
    label |= {"unit": "sentence:0:pos", "attribute_value": "pos"}
    other = label | {"unit": "sentence:1:neg", "attribute_value": "neg"}
    votes = [label, label | {"annotator": "bob"}, other, other | {"annotator": "bob", "value": 0}]
    write_jsonl(folder / "labels.jsonl", votes)
    result = measured(
        folder, "proportional", "--scorer", "people:labels.jsonl", "--max-unscored", "1"
    )
    (sample,) = result["samples"]
    assert dict(zip(sample["values"], sample["summary"], strict=True)) == {"neg": 0.0, "pos": 1.0}
    write_jsonl(folder / "labels.jsonl", [vote | {"value": 0} for vote in votes])
    command = finish(start(
        "fairness", "proportional", "references.json", "--summaries", "summaries.jsonl",
        "--attribute", "mood", "--scorer", "people:labels.jsonl", "--max-unscored", "1",
        "--json", "none.json", cwd=folder,
    ))  # fmt: skip
    assert command.code == 0, command.err  # nobody gives the summary to any value: it is unscored
    result = json.loads((folder / "none.json").read_text("utf-8"))
    assert result["systems"]["even"]["excluded_by_reason"] == {"unscored": N}


def test_human_leanings_are_shown_with_the_measures(folder):
    def choose(page):
        answers = re.findall(r'name="level" value="(\d+)"', page)
        assert len(set(answers)) == 3  # fair, neg, pos
        return 0 if BLAME in summary_of(page) else 2

    labels = label_all(folder, "leaning", choose, who=("ann",))
    by_name = {label["system"]: (label["value"], label["leaning"]) for label in labels}
    assert by_name == {"even": (0, "fair"), "kind": (2, "pos"), "wrong": (2, "pos")}
    measured(folder, "coverage")
    measured(folder, "proportional")
    result = finish(start(
        "fairness", "people", "coverage.json", "proportional.json", "--leanings", "labels.jsonl",
        "--json", "people.json", cwd=folder,
    ))  # fmt: skip
    assert result.code == 0, result.err
    data = json.loads((folder / "people.json").read_text("utf-8"))["systems"]
    assert data["even"]["leanings"] == {"fair": N}
    assert data["kind"]["leanings"] == {"pos": N}


def summary_of(page):
    """Return the text of the summary's pane."""
    return page.split("Summary", 1)[1].split("Articles", 1)[0]
