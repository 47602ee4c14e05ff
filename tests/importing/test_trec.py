"""TREC's runs and leaderboards, nuggetizer's assignments, DRAGUN's verdicts: in and out."""

from collections import Counter

import pytest
from builders import make_judgement
from invoking import run
from json_files import read_json, read_rows
from missing import missing

from fairjudge.domain import Judgement, Summary
from fairjudge.errors import InputError
from fairjudge.exporting.targets import export_judgements, export_records
from fairjudge.importing import import_file
from fairjudge.scores.coverage_slices import coverage_slices

REPORT = {
    "metadata": {"team_id": "x", "run_id": "r", "topic_id": "t"},
    "responses": [
        {"text": "It rained.", "citations": ["d1", "d2"]},
        {"text": "It stopped. At noon.", "citations": []},
    ],
}
NUGGETS = {
    "query": "Why did it flood?",
    "qid": "t",
    "nuggets": [{"text": "It rained.", "importance": "vital"},
                {"text": "The dam broke.", "importance": "okay"}],
}  # fmt: skip


def assigned(*words, run="r", text="It rained."):
    nuggets = [n | {"assignment": w} for n, w in zip(NUGGETS["nuggets"], words, strict=True)]
    more = {"run_id": run, "answer_text": text, "response_length": len(text.split())}
    return NUGGETS | {"nuggets": nuggets} | more


def real(shared_data, *parts):
    path = shared_data.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"not there: {path}")
    return path


def rows_of(path):
    return read_rows(path)


@pytest.fixture
def autojudge(monkeypatch):
    """The package autojudge_base, which fetches data of NLTK's where it is imported."""
    try:
        import nltk

        monkeypatch.setattr(nltk, "download", lambda *_, **__: True)
        import autojudge_base.leaderboard
        import autojudge_base.report
    except ImportError:
        missing("autojudge-base: pip install --group dev")
    return autojudge_base


def test_trec_report_becomes_a_summary_with_sentence_citations(write_file):
    result = import_file(write_file("run", [REPORT]))
    (summary,) = result.summaries
    assert (result.tool, summary.eid, summary.system) == ("trec-run", "t", "r")
    assert summary.text == "It rained. It stopped. At noon."
    assert [(citation.text, citation.articles) for citation in summary.citations] == [
        ("It rained.", ("d1", "d2")), ("It stopped. At noon.", ()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "row",
    [
        {"metadata": {"run_id": "r", "narrative_id": 7}, "references": ["d1", "d2"],
         "answer": [{"text": "It rained.", "citations": [1, 0]}]},
        {"run_id": "r", "topic_id": "7", "topic": "Rain?", "references": ["d1", "d2"],
         "response_length": 2, "answer": [{"text": "It rained.", "citations": [1, 0]}]},
        {"metadata": {"run_id": "r", "request_id": "7"},
         "responses": [{"text": "It rained.", "citations": {"d1": 0.5, "d2": 2.0}}]},
    ],
    ids=["rag25", "rag24", "ragtime"],
)  # fmt: skip
def test_citations_by_index_and_by_confidence_are_documents(write_file, row):
    (summary,) = import_file(write_file("run.json", row)).summaries
    assert (summary.eid, summary.citations[0].articles) == ("7", ("d2", "d1"))


def test_run_round_trips(write_file, tmp_path):
    rows = [
        REPORT,
        {"metadata": {"team_id": "x", "run_id": "r", "narrative_id": "u", "type": "automatic"},
         "references": ["d1", "d2"], "answer": [{"text": "It rained.", "citations": [1, 0]}]},
        {"metadata": {"team_id": "x", "run_id": "r", "request_id": "v"},
         "responses": [{"text": "It rained.", "citations": {"d2": 2.0, "d1": 0.5}}]},
    ]  # fmt: skip
    result = import_file(write_file("run.jsonl", rows))
    path = tmp_path / "again.jsonl"
    export_records(result.summaries, path, to="trec-run")
    assert rows_of(path) == rows


def test_run_documents_become_clusters(write_file):
    documents = {"d1": {"id": "d1", "text": "It rained.", "title": "Rain", "url": "http://x"}}
    other = REPORT | {"metadata": REPORT["metadata"] | {"run_id": "s"}}
    rows = [REPORT | {"documents": documents}, other | {"documents": {"d2": {"text": "Dry."}}}]
    (cluster,) = import_file(write_file("runs.jsonl", rows)).clusters
    assert cluster.eid == "t"
    assert [(article.aid, article.title, article.content) for article in cluster.articles] == [
        ("d1", "Rain", "It rained."), ("d2", "", "Dry."),
    ]  # fmt: skip


RUNS = [
    (("nuggets", "run1.jsonl"), 5, 25, 25),
    (("nuggets", "run2.jsonl"), 5, 20, 20),
    (("nuggets", "run3.jsonl"), 5, 25, 42),
    (("nuggets", "run4.jsonl"), 5, 25, 26),
    (("recorded_judges", "dragun", "garag_rubric.jsonl"), 30, 236, 395),
    (("recorded_judges", "dragun", "organizer-gpt-oss-t2.jsonl"), 30, 238, 317),
    (("recorded_judges", "dragun", "dragun-organizers-starter-kit-task-2.jsonl"), 30, 194, 355),
]


@pytest.mark.parametrize(("name", "n_reports", "n_sentences", "n_citations"), RUNS)
def test_real_runs_round_trip(
    shared_data, tmp_path, autojudge, name, n_reports, n_sentences, n_citations
):
    path = real(shared_data, *name)
    result = import_file(path)
    cited = [citation for summary in result.summaries for citation in summary.citations]
    assert (len(result.summaries), len(cited)) == (n_reports, n_sentences)
    assert sum(len(item.articles) for item in cited) == n_citations
    again = tmp_path / "again.jsonl"
    export_records(result.summaries, again, to="trec-run")
    rows = rows_of(path)
    documents = {
        (row["metadata"]["topic_id"], aid) for row in rows for aid in row.pop("documents", ())
    }
    assert {
        (cluster.eid, a.aid) for cluster in result.clusters for a in cluster.articles
    } == documents
    assert rows_of(again) == rows
    reports = autojudge.report.load_report(again)
    assert [report.get_text() for report in reports] == [
        summary.text for summary in result.summaries
    ]


def test_summary_is_exported_as_a_report_of_sentences(tmp_path, autojudge):
    summary = Summary.model_validate(
        {"eid": "t", "system": "s", "text": "It rained. It stopped.",
         "citations": [{"text": "rained", "articles": ["b", "a"]}]}
    )  # fmt: skip
    path = tmp_path / "run.jsonl"
    export_records([summary], path, to="trec-run")
    (report,) = autojudge.report.load_report(path)
    assert (report.metadata.run_id, report.metadata.topic_id) == ("s", "t")
    assert [(response.text, response.citations) for response in report.responses] == [
        ("It rained.", ["b", "a"]), ("It stopped.", []),
    ]  # fmt: skip
    assert report.references == ["b", "a"]
    (back,) = import_file(path).summaries
    assert back.text == summary.text


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"responses": [{"text": "x", "citations": [3]}]}, "no document 3 among the references"),
        ({"responses": [{"citations": []}]}, "'text'"),
        ({"responses": []}, "'responses'"),
        ({}, "a second report on 't' by 'r'"),
    ],
)
def test_invalid_report_error_names_the_line(write_file, change, problem):
    path = write_file("run.jsonl", [REPORT, REPORT | change])
    with pytest.raises(InputError, match=problem) as error:
        import_file(path)
    assert str(error.value).startswith(f"{path}:2")


BOARD = "a\tndcg\t1\t0.5\na\tndcg\t2\t1.0\na\tndcg\tall\t0.75\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.eval.txt", BOARD),
        ("x.tsv", "run_id measure topic value\n" + BOARD),
        ("x", "a 1 ndcg 0.5\na 2 ndcg 1.0\na all ndcg 0.75\n"),
        ("a.txt", "ndcg   \t1\t0.5\nndcg 2 1.0\nndcg all 0.75\n"),
        ("x.jsonl", '{"run_id": "a", "topic_id": 1, "measure": "ndcg", "value": 0.5}\n'
                    '{"run_id": "a", "topic_id": "2", "measure": "ndcg", "value": 1.0}\n'
                    '{"run_id": "a", "topic_id": "all", "measure": "ndcg", "value": 0.75}\n'),
    ],
)  # fmt: skip
def test_a_leaderboard_in_any_order_of_columns(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    result = import_file(path)
    assert result.tool == "trec-eval"
    assert [
        (judgement.system, judgement.aspect, judgement.eid, judgement.value)
        for judgement in result.judgements
    ] == [
        ("a", "ndcg", "1", 0.5),
        ("a", "ndcg", "2", 1.0),
    ]
    assert [item.why for item in result.skipped] == ["a mean over topics"]


def test_qrels_grades_become_labels(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("t1 0 d1 2\nt1 0 d2 0\n")
    assert [(label.eid, label.system, label.value) for label in import_file(path).labels] == [
        ("t1", "d1", 2), ("t1", "d2", 0),
    ]  # fmt: skip


def test_invalid_leaderboard_line_is_named(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(BOARD + "a\tndcg\t3\thigh\n")
    with pytest.raises(InputError, match="expected a number, not 'high'") as error:
        import_file(path)
    assert str(error.value).startswith(f"{path}:4")
    path.write_text(BOARD + "a ndcg\n")
    with pytest.raises(InputError, match="expected 4 columns, found 2"):
        import_file(path)
    assert len(import_file(path, skip_bad=True).judgements) == 2


def test_real_leaderboard_round_trips(shared_data, tmp_path, autojudge):
    path = real(shared_data, "nuggets", "default.eval.txt")
    result = import_file(path)
    assert (len(result.judgements), len(result.skipped)) == (2684, 22)
    out = tmp_path / "board.txt"
    export_judgements(result.judgements, out, to="trec-eval")
    load = autojudge.leaderboard.Leaderboard.load
    boards = [load(item, format="tot") for item in (path, out)]
    values = [
        {(e.run_id, e.topic_id, m): float(v) for e in b.entries for m, v in e.values.items()}
        for b in boards
    ]
    assert len(values[0]) == 2706
    assert values[1] == pytest.approx(values[0])


def judgement(system, eid, value, **fields):
    unscored = {"unscored": "refused"} if value is None else {}
    return make_judgement(eid=eid, system=system, value=value, **unscored, **fields)


def test_leaderboard_has_one_measure_per_judge_setting(tmp_path):
    rows = [
        judgement("a", "1", 2, repeat=0), judgement("a", "1", 4, repeat=1),
        judgement("a", "2", None), judgement("b", "1", 1),
        judgement("a", "1", 0.5, protocol="checklist"),
    ]  # fmt: skip
    path = tmp_path / "board"
    messages = export_judgements(rows, path, to="trec-eval")
    assert (messages.n_rows, messages.n_left_out) == (6, 1)
    assert path.read_text() == (
        "a\tcoverage-checklist\t1\t0.5\na\tcoverage-checklist\tall\t0.5\n"
        "a\tcoverage-likert\t1\t3.0\na\tcoverage-likert\tall\t3.0\n"
        "b\tcoverage-likert\t1\t1.0\nb\tcoverage-likert\tall\t1.0\n"
    )


def test_parts_of_a_report_are_averaged(tmp_path):
    rows = [judgement("a", "1", value, unit=unit) for unit, value in (("na-1", 1), ("na-2", 0))]
    export_judgements(rows, tmp_path / "board", to="trec-eval")
    assert (tmp_path / "board").read_text() == "a\tcoverage\t1\t0.5\na\tcoverage\tall\t0.5\n"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (judgement("two words", "1", 1), "no spaces; rename 'two words'"),
        (judgement("a", "all", 1), "is the mean"),
        (
            Judgement(eid="1", system_a="a", system_b="b", value="a", aspect="x",
                      protocol="pairwise", judge="j"),
            "judgements of pairs",
        ),
    ],
)  # fmt: skip
def test_unrepresentable_leaderboard_raises(tmp_path, row, problem):
    with pytest.raises(InputError, match=problem):
        export_judgements([row], tmp_path / "x", to="trec-eval")


def test_nuggets_become_groups_of_the_query(write_file, tmp_path):
    (reference,) = import_file(write_file("n.json", NUGGETS)).references
    (question,) = reference.question_answers
    assert question.question == "Why did it flood?"
    assert [(item.answers[0].answer, item.importance) for item in question.groups()] == [
        ("It rained.", "vital"), ("The dam broke.", "okay"),
    ]  # fmt: skip
    export_records([reference], tmp_path / "n.jsonl", to="nuggetizer")
    assert rows_of(tmp_path / "n.jsonl") == [NUGGETS]


def test_assignments_become_checklists_and_round_trip(write_file, tmp_path):
    rows = [assigned("support", "partial_support"), assigned("not_support", "support", run="s")]
    result = import_file(write_file("a.jsonl", rows))
    assert len(result.references) == 1
    assert [(summary.system, summary.text) for summary in result.summaries] == [
        ("r", "It rained."), ("s", "It rained."),
    ]  # fmt: skip
    first = result.judgements[0]
    assert (first.protocol, first.aspect, first.value) == ("checklist", "coverage", 0.75)
    assert [(item.unit, item.covered) for item in first.checklist] == [
        ("answer:0.0", 1), ("answer:0.1", 0.5),
    ]  # fmt: skip
    path = tmp_path / "again.jsonl"
    export_judgements(
        result.judgements, path, to="nuggetizer-assignments",
        summaries=result.summaries, references=result.references,
    )  # fmt: skip
    assert rows_of(path) == rows


def test_importance_scores_match_the_nuggetizer(write_file):
    """By hand as nuggetizer's core/metrics.py: a vital nugget got, an okay one in part."""
    result = import_file(write_file("a.json", assigned("support", "partial_support")))
    slices = coverage_slices(result.judgements, result.references).slices
    scores = {name: figure.value for name, figure in slices["coverage by weight of groups"].items()}
    assert scores == {
        "groups equal": 0.75, "by number of sources": 0.75, "vital groups": 1.0,
        "vital groups, strict": 1.0, "all groups, strict": 0.5,
    }  # fmt: skip


def test_missing_assignment_is_unscored_and_unknown_nuggets_raise(write_file):
    row = assigned("support", "support")
    del row["nuggets"][1]["assignment"]
    (judgement,) = import_file(write_file("a.json", row)).judgements
    assert (judgement.value, judgement.unscored) == (None, "unparseable")
    other = assigned("support", "support", run="s")
    other["nuggets"][0] = other["nuggets"][0] | {"text": "Other."}
    with pytest.raises(InputError, match="the nuggets of 't' differ"):
        import_file(write_file("b.jsonl", [assigned("support", "support"), other]))


DRAGUN = "topic_id,run_tag,answer_id,auto_assessment,auto_rationale\n"


def test_four_dragun_verdicts_are_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(
        DRAGUN
        + "t,r,na-1,supports,Yes\nt,r,na-2,partial,\nt,r,na-3,none,x\nt,r,na-4,contradicts,n\n"
    )
    result = import_file(path)
    assert result.tool == "dragun"
    assert [(judgement.unit, judgement.value) for judgement in result.judgements] == [
        ("na-1", 1), ("na-2", 0.5), ("na-3", 0), ("na-4", 0),
    ]  # fmt: skip
    assert [
        bool((judgement.model_extra or {}).get("contradicted")) for judgement in result.judgements
    ] == [
        False,
        False,
        False,
        True,
    ]
    assert result.judgements[0].raw == "Yes"
    path.write_text(DRAGUN + "t,r,na-1,perhaps,x\n")
    with pytest.raises(InputError, match="expected one of supports, partial"):
        import_file(path)


def test_assessor_verdicts_calibrate_the_recorded_judge(shared_data, tmp_path):
    """Every fourth verdict of the judge's is changed: what agrees is known to the row."""
    path = real(shared_data, "recorded_judges", "dragun", "auto_report_assessments.csv.gz")
    result = import_file(path)
    assert len(result.judgements) == 14326
    classes = Counter(
        "contradicts" if (judgement.model_extra or {}).get("contradicted") else judgement.value
        for judgement in result.judgements
    )
    assert classes == {0.0: 11841, 1.0: 1126, 0.5: 1126, "contradicts": 233}

    words = {1.0: "supports", 0.5: "partial", 0.0: "none"}
    lines = ["topic_id,run_tag,question_id,answer_id,annotation"]
    for number, judgement in enumerate(result.judgements):
        text = "supports" if number % 4 == 0 else words[judgement.value]
        lines.append(f"{judgement.eid},{judgement.system},q,{judgement.unit},{text}")
    human = tmp_path / "report_assessments.csv"
    human.write_text("\n".join(lines) + "\n")
    files = {name: tmp_path / f"{name}.jsonl" for name in ("judged", "labels", "report")}
    output = run("data", "import", path, "-o", files["judged"])
    assert "dragun: 14,326 rows, 14,326 judgements written" in output.output
    output = run("data", "import", human, "--labels", files["labels"])
    report = tmp_path / "report.json"
    options = ("--labels", files["labels"], "--json", report, "--resamples", 200)
    run("calibrate", files["judged"], *options)
    (group,) = read_json(report)["groups"]
    assert group["n_items"] == 14326
