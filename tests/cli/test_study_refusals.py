"""What would end a study half-way is refused before any work, by the plan as by the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import STUDY, WRITING, cluster, journalist, reference, summary, write_jsonl

FILE = 'title = "A study"\n' + STUDY.replace('consolidation = "llm"\n', "").replace(WRITING, "")
FAITHFUL = 'aspect = "faithfulness"\nprotocol = "likert"'


@pytest.fixture
def study_file(server) -> Path:
    server.answer = journalist
    clusters = [cluster(eid) for eid in ("bridge", "dam")]
    for item in clusters:
        for place, article in enumerate(item["articles"]):
            article["attributes"] = {"kind": ("local", "national")[place % 2]}
    write_jsonl(Path("clusters.jsonl"), clusters)
    rows = [summary(name, cluster["eid"]) for name in ("a", "b") for cluster in clusters]
    write_jsonl(Path("summaries.jsonl"), rows)
    write_jsonl(Path("one_system.jsonl"), rows[:2])
    write_jsonl(Path("elsewhere.jsonl"), [summary("a", "volcano")])
    write_jsonl(Path("single.jsonl"), [cluster("bridge", 1), cluster("dam", 1)])
    write_jsonl(Path("no_questions.jsonl"), [reference("bridge") | {"question_answers": []}])
    label = {"aspect": "faithfulness", "annotator": "p", "value": 3}
    labels = [label | {"eid": r["eid"], "system": r["system"]} for r in rows]
    write_jsonl(Path("labels.jsonl"), labels)
    write_jsonl(Path("fluency.jsonl"), [label | {"aspect": "fluency"} for label in labels])
    write_jsonl(Path("others.jsonl"), [label | {"system": "z"} for label in labels])
    path = Path("study.toml")
    path.write_text(FILE.format(url=server.v1))
    return path


REFUSED = {
    "no clusters": ('"clusters.jsonl"', '"absent.jsonl"', "absent.jsonl: no such file"),
    "no summaries": ('"summaries.jsonl"', '"absent.jsonl"', "absent.jsonl: no such file"),
    "no labels": ('"labels.jsonl"', '"absent.jsonl"', "absent.jsonl: no such file"),
    "labels as summaries": ('"summaries.jsonl"', '"labels.jsonl"', "labels.jsonl:1: field 'text'"),
    "summaries of other clusters": ('"summaries.jsonl"', '"elsewhere.jsonl"', "cluster 'volcano'"),
    "the same summaries twice": (
        '"summaries.jsonl"', '["summaries.jsonl", "one_system.jsonl"]', "a second summary of",
    ),
    "labels of another aspect": (
        '"labels.jsonl"', '"fluency.jsonl"',
        "study.toml:27: [calibrate]: the labels are of 'fluency', the judgements of 'coverage', "
        "'faithfulness': nothing that was judged is labelled",
    ),
    "labels of other systems": ('"labels.jsonl"', '"others.jsonl"', "'z'"),
    "annotators that are not there": (
        "resamples = 200", 'annotators = ["expert*"]',
        "study.toml:28: [calibrate]: no annotator matches 'expert*' (annotators); the labels are",
    ),
    "labels off their scale": (
        "resamples = 200", "label_scale = [0, 1]",
        "labels.jsonl:1: field 'value': the label 3 by 'p'",
    ),
    "references without questions": (
        'clusters = "clusters.jsonl"', 'references = "no_questions.jsonl"', "no cluster",
    ),
    "one article a cluster": (
        '"clusters.jsonl"', '"single.jsonl"',
        "single.jsonl:1: field 'articles': cluster 'bridge' has one article",
    ),
    "pairs of one system": (
        '"summaries.jsonl"', '"one_system.jsonl"', "pairwise needs two systems' summaries",
    ),
    "an aspect that needs an LLM": (
        'model = "main"\n' + FAITHFUL, 'aspect = "relevance"\nprotocol = "likert"',
        "study.toml:22: [[judge]] faithful: the local backend can judge coverage, faithfulness and "
        "balance; 'relevance' needs an LLM: pass one with model, the name of a [models] table",
    ),
    "an aspect that there is not": (
        FAITHFUL, 'aspect = "relevence"\nprotocol = "likert"', "did you mean 'relevance'?",
    ),
    "a ranking without an LLM": (
        'model = "main"\n' + FAITHFUL, 'aspect = "faithfulness"\nprotocol = "ranking"',
        "[[judge]] faithful: protocol ranking needs an LLM",
    ),
    "repeats without an LLM": (
        'model = "main"\n' + FAITHFUL, f"repeats = 3\n{FAITHFUL}",
        "study.toml:23: [[judge]] faithful: repeats needs an LLM",
    ),
    "a prompt that is not there": (FAITHFUL, f'prompt = "own.md"\n{FAITHFUL}', "own.md"),
    "a checklist by samples": (
        'protocol = "checklist"', 'protocol = "checklist"\nsamples = 3',
        "study.toml:20: [[judge]] who: samples does not go with protocol checklist",
    ),
    "a jury of one judge twice": (
        'model = "main"\n' + FAITHFUL, f'model = ["main", "main"]\n{FAITHFUL}',
        "[[judge]] faithful: a jury needs different judges",
    ),
    "checks of another aspect": (
        FAITHFUL, 'aspect = "fluency"\nprotocol = "likert"\naudits = ["checks"]',
        "[[judge]] faithful: checks need aspect coverage or faithfulness, not 'fluency'",
    ),
    "an attribute that no article has": (
        'attribute = "kind"', 'attribute = "kindd"',
        "[[fairness]] kindd: no article has attribute 'kindd'; attributes found: 'kind'; did you "
        "mean 'kind'?",
    ),
    "cut points of words": ('attribute = "kind"', 'attribute = "kind"\nbins = [1.0, 2.0]', "bins"),
    "a limit of cost without a price": (
        'title = "A study"', 'title = "A study"\nbudget = { max_cost = 1.0 }',
        "study.toml:12: [build]: the price of openai:stub-model is unknown",
    ),
    "an option of no table": (
        'title = "A study"', 'titel = "A study"', "study.toml:1: a study has no 'titel'; did you "
        "mean 'title'?",
    ),
    "a table that there is not": (
        "[calibrate]", "[calibration]",
        "study.toml:27: a study has no 'calibration'; did you mean 'calibrate'?",
    ),
    "a key of data that there is not": (
        "labels =", "lables =", "study.toml:5: [data] has no 'lables'; did you mean 'labels'?",
    ),
    "a key of a judge that there is not": (
        'protocol = "checklist"', 'protocol = "checklist"\naudit = ["order"]',
        "study.toml:20: [[judge]] who: no option 'audit'; did you mean 'audits'?",
    ),
    "a key of a model that there is not": (
        "base_url =", "base_ulr =",
        "study.toml:9: [models.main]: no option 'base_ulr'; did you mean 'base_url'?",
    ),
    "a value of another kind": (
        "n_questions = 3", 'n_questions = "three"', "study.toml:13: [build]: n_questions: expected",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_plan_raises_the_errors_of_the_run(cli, study_file, server, name):
    old, new, message = REFUSED[name]
    text = study_file.read_text()
    assert old in text
    if name == "pairs of one system":
        text = text.replace('protocol = "likert"', 'protocol = "pairwise"')
    if name == "references without questions":
        text = text.replace('[build]\nmodel = "main"\nn_questions = 3\n', "")
        text = text.replace('"summaries.jsonl"', '"one.jsonl"')
        write_jsonl(Path("one.jsonl"), [summary("a"), summary("b")])
    study_file.write_text(text.replace(old, new, 1))
    planned = cli("study", study_file, "--plan")
    assert (planned.code, planned.out) == (1, "")
    assert message in planned.err
    run = cli("study", study_file)
    assert (run.code, run.err, run.out) == (1, planned.err, "")
    assert not server.calls
    assert not Path("study").exists()


def test_clusters_passed_as_references_always_raise(cli, study_file, server):
    study_file.write_text(
        f"""
[data]
references = "clusters.jsonl"
summaries = "summaries.jsonl"

[models.main]
backend = "openai:stub-model"
base_url = "{server.url}/v1"

[[judge]]
model = "main"
aspect = "faithfulness"
protocol = "likert"
"""
    )
    refused = cli("study", study_file, code=1)
    assert "clusters.jsonl:1: field 'question_answers': missing" in refused.err
    assert "or set [data] clusters in place of references" in refused.err
    assert not server.calls
    study_file.write_text(study_file.read_text().replace("references =", "clusters ="))
    cli("study", study_file, "--max-unscored", "1", code=0)
    assert server.calls


def test_outputs_of_earlier_steps_are_assumed_to_exist(cli, study_file, server):
    """Written summaries are pairs with those given, and built references have questions."""
    text = study_file.read_text().replace('"summaries.jsonl"', '"one_system.jsonl"')
    text = text.replace('protocol = "likert"', 'protocol = "pairwise"')
    text += '[[summarize]]\nmodel = "main"\nsystem = "b"\n'
    study_file.write_text(text)
    cli("study", study_file, "--plan", "--json", "plan.json", code=0)
    steps = {item["step"] for item in json.loads(Path("plan.json").read_text())["steps"]}
    assert steps == {"build", "summarize b", "judge who", "judge faithful"}
    cli("study", study_file, "--max-unscored", "0.5", code=0)
    rows = Path("study/summaries.jsonl").read_text().splitlines()
    assert {json.loads(row)["system"] for row in rows} == {"a", "b"}


def test_unreadable_lines_are_skipped_on_request(cli, study_file, server):
    for name in ("labels.jsonl", "summaries.jsonl"):
        with Path(name).open("a") as file:
            file.write('{"eid": 3\n')
    for command in (("--plan",), ()):
        refused = cli("study", study_file, *command, code=1)
        assert "summaries.jsonl:5" in refused.err
    assert cli("study", study_file, "--plan", "--skip-bad").code == 0
    cli("study", study_file, "--skip-bad", code=0)


def test_init_lists_each_ignored_file(cli, study_file):
    folder = Path("folder")
    (folder / "pictures").mkdir(parents=True)
    for name in ("clusters.jsonl", "summaries.jsonl"):
        (folder / name).write_text(Path(name).read_text())
    (folder / "plan.xlsx").write_bytes(b"PK")
    (folder / "half.json").write_text('[{"eid":')
    (folder / "prices.csv").write_text("item,price\nbread,3\n")
    judged = {"eid": "dam", "system": "a", "aspect": "fluency", "judge": "j", "value": 3}
    write_jsonl(folder / "judged.jsonl", [judged | {"protocol": "likert"}])
    result = cli("study", "init", "folder", "-o", "new.toml", code=0)
    texts = [line for line in result.out.splitlines() if line.startswith("Excluded: ")]
    reasons = {Path(line.split(": ")[1]).name: line for line in texts}
    assert {*reasons} == {"plan.xlsx", "half.json", "prices.csv", "judged.jsonl", "pictures"}
    assert "not a data file by its name" in reasons["plan.xlsx"]
    assert "cut off" in reasons["half.json"]
    assert "'item', 'price'" in reasons["prices.csv"]
    assert "judgements: a result, not input data" in reasons["judged.jsonl"]


def test_init_reads_folders_of_texts(cli, study_file):
    article = "The bridge over the Serrin closed on Monday, and two thousand people had to walk."
    for path, text in (("articles/a/1.txt", article), ("summaries/gpt/a.txt", "It closed.")):
        target = Path("texts", path)
        target.parent.mkdir(parents=True)
        target.write_text(text)
    result = cli("study", "init", "texts", "-o", "new.toml", code=0)
    assert "Excluded" not in result.out
    assert '"converted/summaries.jsonl"' in Path("new.toml").read_text()
