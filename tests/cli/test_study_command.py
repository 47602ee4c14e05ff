"""A whole study in one file: each step once, in the record, resumed, planned, and as alone."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import pytest
from cli_tools import STUDY, cluster, finish, journalist, start, summary, text_of, write_jsonl
from json_files import read_json, read_rows
from stub_server import Reply
from waiting import wait_until

import fairjudge as fj
from fairjudge.studies.files import read_study

N = 3


def answer(call) -> Reply:
    """Write summaries that hold what the stub's checklists quote."""
    text = journalist(call)
    return Reply(text=text.replace("The bridge closed.", "The bridge is closed."))


def slowly(seconds: float):
    def later(call) -> Reply:
        time.sleep(seconds)
        return answer(call)

    return later


@pytest.fixture
def study_file(server) -> Path:
    server.answer = answer
    clusters = [cluster(eid) for eid in ("bridge", "dam")]
    for item in clusters:
        for place, article in enumerate(item["articles"]):
            article["attributes"] = {"kind": ("local", "national")[place % 2]}
    write_jsonl(Path("clusters.jsonl"), clusters)
    rows = [summary(f"system{n}", cluster["eid"]) for n in range(N) for cluster in clusters]
    write_jsonl(Path("summaries.jsonl"), rows)
    label = {"aspect": "faithfulness", "annotator": "p", "value": 3}
    write_jsonl(
        Path("labels.jsonl"), [label | {"eid": r["eid"], "system": r["system"]} for r in rows]
    )
    path = Path("study.toml")
    path.write_text(STUDY.format(url=server.v1))
    return path


def record() -> dict:
    return read_json("study/study.json")["fairjudge_study"]


def test_one_command_runs_every_step_once(cli, study_file, server):
    result = cli("study", study_file, code=0)
    assert "In short:" in result.out
    assert "written" in Path("study/summaries.jsonl").read_text()
    assert [*record()] == [
        "build", "summarize written", "summaries", "judge who", "audit parse: who",
        "audit covered: who", "judge faithful", "audit parse: faithful", "calibrate",
        "fairness proportional: kind", "report",
    ]  # fmt: skip
    assert "Equal" not in result.out
    n_calls = len(server.calls)
    assert f"Total of all starts: {n_calls} calls" in result.out
    again = cli("study", study_file, code=0)
    assert len(server.calls) == n_calls
    assert again.out.count(" kept ") == len(record())
    assert again.err == ""


def test_results_match_the_single_commands(cli, study_file, server):
    assert cli("study", study_file).code == 0
    model = ("--backend", "openai:stub-model", "--base-url", server.v1)
    request = len(server.calls)
    cli("build", "clusters.jsonl", "-o", "refs.jsonl", *model, "--questions", "3",
        "--consolidation", "llm")  # fmt: skip
    assert Path("refs.jsonl").read_text() == Path("study/references.jsonl").read_text()
    for name, aspect, protocol in (
        ("who", "coverage", "checklist"), ("faithful", "faithfulness", "likert"),
    ):  # fmt: skip
        cli("judge", "--references", "refs.jsonl", "--summaries", "study/summaries.jsonl",
            "--aspect", aspect, "--protocol", protocol, *model, "-o", f"{name}.jsonl")  # fmt: skip
        first, other = Path(f"{name}.jsonl"), Path(f"study/judgements/{name}.jsonl")
        assert first.read_text() == other.read_text()
    assert len(server.calls) == request  # from the cache
    cli("audit", "covered", "who.jsonl", "--references", "refs.jsonl", "--json", "covered.json")
    assert read_json("covered.json") == read_json("study/audits/who.covered.json")
    cli("fairness", "proportional", "clusters.jsonl", "--summaries", "study/summaries.jsonl",
        "--attribute", "kind", "--json", "fair.json")  # fmt: skip
    assert read_json("fair.json") == read_json("study/fairness/kind.proportional.json")
    judged = [Path(f"{name}.jsonl").read_text() for name in ("who", "faithful")]
    Path("both.jsonl").write_text("".join(judged))
    cli("calibrate", "both.jsonl", "--labels", "labels.jsonl", "--summaries",
               "study/summaries.jsonl", "--clusters", "refs.jsonl", "--resamples", "200",
               "--json", "alone.json", code=0)  # fmt: skip
    groups, of_study = (
        read_json(name)["groups"] for name in ("alone.json", "study/calibration.json")
    )
    reasons = [[group["cost"].pop("why") for group in side] for side in (groups, of_study)]
    assert groups == of_study
    # The study knows its runs; of a file of judgements nothing is known.
    assert reasons[0] == ["", ""]
    assert all(reason.startswith("the model has no known price") for reason in reasons[1])


def test_changed_step_reruns_only_with_its_dependents(cli, study_file, server):
    assert cli("study", study_file).code == 0
    before = record()
    text = study_file.read_text().replace('name = "faithful"', 'name = "faithful"\nrepeats = 2')
    study_file.write_text(text)
    cli("study", study_file, code=0)
    changed = {name for name, step in record().items() if before.get(name) != step}
    assert changed == {
        "judge faithful", "audit parse: faithful", "audit stability: faithful", "calibrate",
        "report",
    }  # fmt: skip
    Path("study/references.jsonl").write_text("")  # somebody's hand
    server.calls.clear()
    assert cli("study", study_file).code == 0
    assert not server.calls  # built again from the run that was kept
    assert Path("study/references.jsonl").read_text()


def test_plan_matches_the_calls_of_the_study(cli, study_file, server):
    cli("study", study_file, "--plan", "--json", "plan.json", code=0)
    assert not server.calls
    planned = read_json("plan.json")
    by_step = {item["step"]: item["calls"] for item in planned["steps"]}
    assert [*by_step] == ["build", "summarize written", "judge who", "judge faithful"]
    assert cli("study", study_file).code == 0
    assert by_step["summarize written"] == 2
    assert by_step["judge who"] == by_step["judge faithful"] == 2 * (N + 1)
    assert planned["calls"] == sum(by_step.values()) == len(server.calls)
    after = cli("study", study_file, "--plan", "--json", "-")
    assert {item["done"] for item in json.loads(after.out)["steps"]} == {True}


def test_killed_study_resumes_where_it_stopped(cli, study_file, server):
    server.answer = slowly(0.2)
    process = start("study", study_file, "-q")
    wait_until(lambda: Path("study/judgements").is_dir() and len(server.calls) > 12)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    first = [text_of(call) for call in server.calls]
    assert "judge faithful" not in record()
    server.calls.clear()
    cli("study", study_file, code=0)
    again = {text_of(call) for call in server.calls}
    assert len(again & set(first)) <= 8  # those under way
    assert not any('"questions"' in text for text in again)


def test_interrupt_prints_one_message(cli, study_file, server):
    server.answer = slowly(0.5)
    process = start("study", study_file, "-q")
    wait_until(lambda: len(server.calls) > 1)
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert result.code == 130
    assert cli("study", study_file).code == 0


def test_budget_is_shared_by_all_steps_and_runs(cli, study_file, server):
    assert cli("study", study_file, "--plan", "--json", "plan.json").code == 0
    n_built = read_json("plan.json")["steps"][0]["calls"]
    limited = study_file.read_text() + "\n[budget]\nmax_calls = {}\n"
    study_file.write_text(limited.format(n_built))
    result = cli("study", study_file, code=1)
    assert "error: no summary by written: budget: " in result.err
    assert f"the limit of {n_built} calls is reached" in result.err
    study_file.write_text(limited.format(n_built + 7))
    result = cli("study", study_file, code=3)
    assert len(server.calls) == n_built + 7
    assert "have no result (judge who, judge faithful)" in result.out
    assert cli("study", study_file).code == 3
    assert len(server.calls) == n_built + 7
    study_file.write_text(limited.format(1000))
    result = cli("study", study_file, code=0)
    assert "Every item has a result." in result.out


def test_concurrent_runs_cannot_share_a_folder(cli, study_file, server):
    server.answer = slowly(0.5)
    process = start("study", study_file, "-q")
    wait_until(lambda: bool(server.calls))
    result = cli("study", study_file, code=1)
    assert result.err == "error: study: this study is running already\n"
    process.kill()
    process.communicate(timeout=30)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('protocol = "likert"', 'protocl = "likert"', "did you mean 'protocol'?"),
        ("[data]", "[dat]", "data"),
        ('aspect = "coverage"', "", "give an aspect, or a criterion that has one"),
        ('labels = "labels.jsonl"', "", "[calibrate] needs [data] labels"),
        ('name = "faithful"', 'name = "who"', "two are called 'who'"),
        ('system = "written"', 'system = "a/b"', "system"),
        (
            '[[judge]]\nname = "who"\nmodel = "main"',
            '[[judge]]\nname = "who"\nmodel = "mian"',
            "[[judge]] who: no [models.mian]; there are: local, main",
        ),
        ('protocol = "checklist"', 'protocol = "checklists"', "expected 'likert', 'binary'"),
        (
            'clusters = "clusters.jsonl"',
            'references = "clusters.jsonl"',
            "[build] and [data] references exclude each other",
        ),
        ('attribute = "kind"', 'attribute = "kind"\nscorer = "x"', "no scorer 'x'; known: local"),
        ('base_url = "', 'max_cost = 1\nbase_url = "', "budgets are in [budget]"),
    ],
)
def test_study_file_errors_are_named_before_any_call(cli, study_file, server, old, new, message):
    text = study_file.read_text()
    assert old in text
    study_file.write_text(text.replace(old, new, 1))
    result = cli("study", study_file, code=1)
    (line,) = result.err.splitlines()
    assert line.startswith("error: study.toml")
    assert message in line
    assert not server.calls
    assert not Path("study").exists()


def test_folder_with_another_study_json_raises(cli, study_file):
    Path("study").mkdir()
    Path("study/study.json").write_text("{}")
    result = cli("study", study_file, code=1)
    assert "not the record of a study; choose another folder" in result.err


def test_folder_of_other_files_is_not_written_to(cli, study_file, server):
    result = cli("study", study_file, "-o", ".", code=1)
    assert "this folder contains other files than a study's; choose another with -o" in result.err
    assert not server.calls


def test_audits_with_calls_are_planned_and_run(cli, study_file, server):
    text = study_file.read_text().replace(
        'name = "faithful"', 'name = "faithful"\naudits = ["checks", "order", "verbosity"]'
    )
    study_file.write_text(text)
    planned = json.loads(cli("study", study_file, "--plan", "--json", "-").out)
    result = cli("study", study_file, code=0)
    assert planned["calls"] == len(server.calls)  # what two audits ask alike is asked once
    assert f"Total of all starts: {len(server.calls)} calls" in result.out
    page = Path("study/report.html").read_text()
    assert "order" in page
    assert {"audit checks: faithful", "audit order: faithful"} <= record().keys()


def test_init_writes_a_study_file_from_existing_files(cli, study_file, server):
    study_file.unlink()
    cli("study", "init", code=0)
    text = Path("study.toml").read_text()
    assert re.search(r'clusters = "clusters.jsonl" +# 2 clusters, 8 articles', text)
    assert re.search(r'summaries = \["summaries.jsonl"\] +# 6 summaries by 3 systems', text)
    assert re.search(r'attribute = "kind" +# local, national', text)
    assert "[calibrate]" in text
    assert "[build]" in text
    assert cli("study", "init").err == (
        "error: study.toml: already exists; choose another -o, or use --force\n"
    )
    planned = cli("study", "study.toml", "--plan", code=0)
    assert "no cost" in planned.out


@pytest.mark.parametrize(
    ("like", "n_judges", "n_writers", "measures"),
    [
        ("diversesumm", 12, 2, None),
        ("fairsumm", 1, 1, ("proportional",)),
        ("coverage-fairness", 1, 2, ("coverage", "proportional")),
        ("news-bias", 1, 1, None),
    ],
)
def test_init_writes_the_settings_of_a_paper(
    cli, study_file, server, like, n_judges, n_writers, measures
):
    """The file is a study as it stands, and with all that is commented out."""
    study_file.unlink()
    cli("study", "init", "--like", like, code=0)
    text = Path("study.toml").read_text()
    assert max(map(len, text.splitlines())) < 120
    study = read_study("study.toml")
    assert len({(j.name, j.options.protocol) for j in study.judges}) == n_judges
    by_name = {item.attribute: item.measures for item in study.tables.fairness}
    assert by_name == ({} if measures is None else {"kind": measures})
    assert study.tables.calibrate is not None

    tables = (
        r"(?m)^# (\[\[?(?:models|budget|build|summarize)"
        r"|(?:backend|system|model|sweeps|[a-z_]+) = )"
    )
    Path("whole.toml").write_text(re.sub(tables, r"\1", text))
    whole = read_study("whole.toml")
    assert len(whole.writers) == n_writers


def test_study_of_a_paper_runs_with_the_bundled_model(cli, study_file, server):
    study_file.unlink()
    assert cli("study", "init", "--like", "fairsumm").code == 0
    result = cli("study", "study.toml")
    assert result.code in (0, 3), result.err
    assert Path("study/fairness/kind.proportional.json").is_file()
    assert not Path("study/fairness/kind.coverage.json").exists()
    assert not server.calls


def test_init_reports_an_empty_folder(cli):
    Path("empty").mkdir()
    result = cli("study", "init", "empty", code=1)
    assert "no clusters or references here" in result.err


def test_page_starts_with_findings_and_coverage(cli, study_file):
    assert cli("study", study_file).code == 0
    page = Path("study/report.html").read_text()
    short = page[page.index('id="short"') : page.index('id="systems"')]
    assert "tie for first place in coverage; too few clusters (2) to compare systems." in short
    assert "Fewer than 5 summaries per system are too few to test kind." in short
    assert "Coverage by source, judged by openai:stub-model" in page


def test_study_continues_if_checklists_are_unreadable(cli, study_file, server):
    def unreadable(call) -> Reply:
        if '{"entries"' in text_of(call) or '"covered"' in text_of(call):
            return Reply(text="I would rather talk about lunch.")
        return answer(call)

    server.answer = unreadable
    result = cli("study", study_file)
    assert result.code == 3, result.err  # 8 of the judgements failed, and that is a loss
    assert (
        "No audit covered of who: no checklist has a score: 8 judged, 8 without a score"
        in result.out
    )
    assert "8 without a score (8 unparseable)" in result.out
    assert Path("study/report.html").exists()
    assert not Path("study/audits/who.covered.json").exists()
    n_calls = len(server.calls)
    again = cli("study", study_file, code=3)
    assert len(server.calls) == n_calls
    assert "the next run" not in again.out
    data = read_json("study/study.json")["fairjudge_study"]["judge who"]
    assert (data["n_lost"], data["n_again"]) == (8, 0)


def test_cluster_without_questions_is_no_failure_and_counted_consistently(cli, study_file, server):
    """Of three clusters one has a single article, and so no question: 3 + 1 summaries of it."""
    clusters = read_rows("clusters.jsonl")
    write_jsonl(Path("clusters.jsonl"), [*clusters, cluster("lonely", 1)])
    rows = read_rows("summaries.jsonl")
    rows += [summary(f"system{n}", "lonely") for n in range(N)]
    write_jsonl(Path("summaries.jsonl"), rows)
    result = cli("study", study_file, code=0)
    assert "Nothing to judge in lonely by who: 4 items not applicable." in result.out
    assert "12 items, 4 without a score (4 not applicable)" in result.out
    page = Path("study/report.html").read_text()
    assert "4 of 12 items (33 %) are without a score: 4 not applicable." in page
    judged = ("judge", "--references", "study/references.jsonl", "--summaries",
              "study/summaries.jsonl", "--aspect", "coverage", "--protocol", "checklist",
              "--backend", "openai:stub-model", "--base-url", server.v1,
              "-o", "j.jsonl")  # fmt: skip
    result = cli(*judged, "--json", "j.json", "--max-unscored", "1", code=0)
    assert "4 of 12 items (33 %) are without a score: 4 not applicable." in result.out
    assert read_json("j.json")["missing"] == {
        "n_items": 12, "failed": 0, "refused": 0, "not_applicable": 4, "asked_again": 0,
        "reasons": {"not applicable": 4},
    }  # fmt: skip
    judge = fj.Judge(
        fj.Model("openai:stub-model", base_url=server.v1), aspect="coverage", protocol="checklist"
    )
    judgement = judge("study/references.jsonl", "study/summaries.jsonl")
    assert judgement.missing.to_json()["not_applicable"] == 4


STANDINGS = {"high": (5, 5, 5, 5, 5, 1), "even": (4, 4, 4, 4, 5, 4), "low": (3, 3, 3, 3, 3, 3)}


def test_study_reports_the_same_leader_as_the_command(cli, server):
    """``high`` is not surely above ``low``, but ``even`` is: ``low`` cannot be the first."""
    eids = [f"story{n}" for n in range(6)]
    texts = {
        f"The paper {system} tells of {eid}.": (eid, system, value)
        for system, values in STANDINGS.items()
        for eid, value in zip(eids, values, strict=True)
    }

    def rate(call):
        (value,) = (value for text, (*_, value) in texts.items() if text in text_of(call))
        return f"Verdict: {value}"

    server.answer = rate
    write_jsonl(Path("clusters.jsonl"), [cluster(eid) for eid in eids])
    rows = [{"eid": eid, "system": name, "text": text} for text, (eid, name, _) in texts.items()]
    write_jsonl(Path("summaries.jsonl"), rows)
    Path("study.toml").write_text(f"""\
[data]
clusters = "clusters.jsonl"
summaries = "summaries.jsonl"
[models.main]
backend = "openai:stub-model"
base_url = "{server.v1}"
[[judge]]
name = "faithful"
model = "main"
aspect = "faithfulness"
protocol = "likert"
""")
    assert cli("study", "study.toml").code == 0
    cli("judge", "--references", "clusters.jsonl", "--summaries", "summaries.jsonl",
               "--aspect", "faithfulness", "--protocol", "likert", "--backend",
               "openai:stub-model", "--base-url", server.v1, "-o", "j.jsonl",
               "--json", "j.json", code=0)  # fmt: skip
    leads, _, next_step = read_json("j.json")["findings"]
    assert leads.endswith("; even may rank first too (95 %).")
    step = record()["judge faithful"]
    renamed = leads.replace(
        "in faithfulness", "in faithfulness, judged by openai:stub-model (faithful)"
    )
    assert (step["findings"], step["next_step"]) == ([renamed], next_step)


def test_limited_trial_is_resumed_in_its_run_folders(cli, study_file, server):
    """Two judges of 2 clusters and 4 systems, 8 items each, of which the first 3 are tried."""
    text = study_file.read_text()
    study_file.write_text(text.replace("[data]", "limit = 3\n[data]", 1))
    result = cli("study", study_file, code=0)
    assert "A trial run: 5 judgements by who remain" in result.out
    n_tried = len(server.calls)
    folders = {path.name for path in Path("study/runs").iterdir() if path.name.startswith("judge")}
    study_file.write_text(text)
    result = cli("study", study_file, code=0)
    assert "A trial run" not in result.out
    assert len(server.calls) == n_tried + 2 * 5
    after = {path.name for path in Path("study/runs").iterdir() if path.name.startswith("judge")}
    assert after == folders
    assert len(Path("study/judgements/who.jsonl").read_text().splitlines()) == 2 * (N + 1)


def test_limited_trial_plans_and_calls_only_its_items(cli, study_file, server):
    text = study_file.read_text().replace(
        'name = "faithful"', 'name = "faithful"\naudits = ["checks"]'
    )
    study_file.write_text(text.replace("[data]", "limit = 2\n[data]", 1))
    planned = json.loads(cli("study", study_file, "--plan", "--json", "-").out)
    by_step = {item["step"]: item["calls"] for item in planned["steps"]}
    assert (by_step["judge who"], by_step["judge faithful"]) == (2, 2)
    assert "audit checks: faithful" not in by_step
    assert cli("study", study_file).code == 0
    assert len(server.calls) == planned["calls"]


def test_each_judge_finding_names_its_judge(cli, study_file, server):
    """The study knows what its judges cost, and that its labels are used."""
    text = study_file.read_text().replace(
        'backend = "openai:stub-model"',
        'backend = "openai:stub-model"\nprice_input = 1.0\nprice_output = 2.0',
    )
    study_file.write_text(text)
    result = cli("study", study_file, code=0)
    findings = [text for step in record().values() for text in step["findings"]]
    of_judges = [
        text for text in findings if "first" in text or "people" in text or "score" in text
    ]
    assert len(of_judges) >= 3
    assert all("openai:stub-model" in text for text in of_judges), of_judges
    groups = read_json("study/calibration.json")["groups"]
    costs = read_json("study/costs.json")["cost_by_step"]
    for group, name in zip(groups, ("judge who", "judge faithful"), strict=True):
        assert group["cost"]["usd_per_item"] == pytest.approx(costs[name]["cost_usd"] / 8)
    assert "unknown" not in result.out
    assert "human labels for 'fairjudge calibrate'" not in result.out


def test_study_continues_if_no_question_was_found(cli, study_file, server):
    def silent(call) -> Reply:
        return Reply(text='{"questions": []}') if '"questions"' in text_of(call) else answer(call)

    server.answer = silent
    cli("study", study_file, "--plan", code=0)
    result = cli("study", study_file, "--max-unscored", "1", code=0)
    assert (
        "No judgement by who: nothing to judge: no cluster with a summary has questions"
        in result.out
    )
    assert "judge faithful: 8 items" in result.err + result.out
    assert "No audit covered of who" in result.out
    page = Path("study/report.html").read_text()
    assert "faithfulness" in page
