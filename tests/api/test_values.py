"""What goes in, what comes out, and what is said of anything else."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from cli_tools import cluster, summary
from invoking import run

import fairjudge as fj
from fairjudge.datasets import example_path
from fairjudge.errors import ConfigurationError, InputError

ROW = {"eid": "e", "system": "s", "aspect": "coverage", "protocol": "likert", "judge": "j"}
JUDGED = [{**ROW, "value": 3}]
LABELLED = [{"eid": "e", "system": "s", "aspect": "coverage", "annotator": "ann", "value": 3}]
WRITTEN = [summary("s")]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fj.Model(3), "target: expected text, found the number 3"),
        (lambda: fj.Model("openai:m", max_cost="five"), "max_cost: expected a number"),
        (lambda: fj.Model("local", progress="no"), "progress: expected true/false"),
        (lambda: fj.build(3), "clusters: expected a path, a list of clusters or a data frame"),
        (
            lambda: fj.build([cluster()], model=4),
            "model: expected a fairjudge.Model, a string",
        ),
        (lambda: fj.build([cluster()], n_questions="many"), "n_questions: expected a whole number"),
        (lambda: fj.summarize(3, model="openai:m"), "clusters: expected a path"),
        (lambda: fj.summarize([cluster()], model=None), "model: expected a fairjudge.Model"),
        (lambda: fj.summarize([cluster()], model="openai:m", n_words="ten"), "n_words: expected"),
        (lambda: fj.Judge(None, aspect="coverage"), "model: expected a fairjudge.Model"),
        (lambda: fj.Judge("local", aspect=3), "aspect: expected text, found the number 3"),
        (lambda: fj.Judge("local", aspect="coverage", protocol="likrt"), "protocol: expected"),
        (lambda: fj.Judge("local", aspect="coverage", cascade=3), "cascade: expected a result"),
        (
            lambda: fj.Judge("local", aspect="coverage", protocol="likert")(3, WRITTEN),
            "references: expected a path",
        ),
        (
            lambda: fj.Judge("local", aspect="faithfulness", protocol="likert")([cluster()], 3),
            "summaries: expected a path",
        ),
        (lambda: fj.calibrate(3, LABELLED), "judgements: expected a path"),
        (lambda: fj.calibrate(JUDGED, 3), "labels: expected a path"),
        (lambda: fj.calibrate(JUDGED, LABELLED, method=3), "method: expected 'isotonic'"),
        (lambda: fj.cascade(3, JUDGED, LABELLED), "local: expected a path"),
        (lambda: fj.cascade(JUDGED, 3, LABELLED), "judged: expected a path"),
        (lambda: fj.cascade(JUDGED, JUDGED, 3), "labels: expected a path"),
        (lambda: fj.import_replies(3), "replies: expected a path"),
        (lambda: fj.export(3, "x.csv"), "value: expected a result"),
        (lambda: fj.export(JUDGED, "x.docx"), "format: expected one of 'csv'"),
        (lambda: fj.report(3), "report: value 1 is a int"),
        (lambda: fj.report(JUDGED), "report: value 1 is a list"),
        (lambda: fj.audit.position(3), "judgements: expected a path"),
        (lambda: fj.audit.verbosity(3), "judgements: expected a path"),
        (lambda: fj.audit.lengthened(WRITTEN, 3), "clusters: expected a path"),
        (lambda: fj.audit.length(JUDGED, 3), "summaries: expected a path"),
        (lambda: fj.audit.parse(None), "judgements: expected a path"),
        (lambda: fj.audit.covered(JUDGED, 3), "references: expected a path"),
        (lambda: fj.audit.order(3, model="local"), "clusters: expected a path"),
        (lambda: fj.audit.order([cluster()], model=3), "model: expected a fairjudge.Model"),
        (lambda: fj.audit.checks(3, WRITTEN, model="local"), "references: expected a path"),
        (lambda: fj.bias.words(3, WRITTEN), "clusters: expected a path"),
        (lambda: fj.bias.words([cluster()], 3), "summaries: expected a path"),
        (lambda: fj.bias.entities(3, WRITTEN), "clusters: expected a path"),
        (lambda: fj.bias.distinguishability(3, WRITTEN), "clusters: expected a path"),
        (lambda: fj.bias.inputs(3), "clusters: expected a path"),
        (lambda: fj.fairness.coverage(3, [], attribute="p"), "clusters: expected a path"),
        (
            lambda: fj.fairness.coverage([cluster()], WRITTEN, attribute=3),
            "attribute: expected text, found the number 3",
        ),
        (
            lambda: fj.fairness.coverage([cluster()], WRITTEN, attribute="p", scorer=3),
            "scorer: expected a path",
        ),
        (lambda: fj.fairness.proportionality([cluster()], 3, attribute="p"), "summaries: expected"),
    ],
)
def test_errors_name_the_argument_and_what_was_expected(call, message):
    with pytest.raises(fj.FairJudgeError) as error:
        call()
    assert message in str(error.value)


def test_invalid_record_is_named_by_its_index():
    with pytest.raises(fj.FairJudgeError, match="labels:2: expected an object"):
        fj.calibrate(JUDGED, [*LABELLED, object()])


def test_pandas_frames_are_accepted_and_returned():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([{"eid": "e", "system": "s", "text": "T.", "note": pd.NA}])
    result = fj.read_summaries(frame)
    assert result.records[0].to_json() == {"eid": "e", "system": "s", "text": "T."}
    nested = pd.DataFrame([cluster()])
    assert fj.read_clusters(nested).records[0].eid == cluster()["eid"]
    table = fj.audit.parse(JUDGED).to_pandas()
    assert list(table.columns) == ["of", "figure", "value", "low", "high", "why"]


def test_parquet_frames_with_arrays_are_read(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame([cluster()]).to_parquet(tmp_path / "c.parquet")
    frame = pd.read_parquet(tmp_path / "c.parquet")
    assert fj.read_clusters(frame).records == fj.read_clusters([cluster()]).records


class Dataset:
    """What a Hugging Face data set is from outside: rows to iterate, and no columns attribute."""

    column_names = ("eid", "system", "text")

    def __init__(self, rows):
        self._rows = rows

    def __iter__(self):
        return iter(self._rows)

    def __len__(self):
        return len(self._rows)


def test_a_data_set_is_read_row_by_row():
    assert fj.read_summaries(Dataset(WRITTEN)).records[0].text == WRITTEN[0]["text"]


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl"])
def test_exported_records_round_trip(suffix):
    rows = fj.read_summaries(example_path("summaries.jsonl"))
    fj.export(rows, f"out.{suffix}")
    assert fj.read_summaries(f"out.{suffix}").records == rows.records


@pytest.mark.parametrize("name", ["otel", "label-studio"])
def test_judgements_are_exported_for_other_tools(name):
    rows = fj.read_judgements(JUDGED)
    fj.export(rows, "out.json", format=name)
    assert Path("out.json").stat().st_size > 0
    with pytest.raises(fj.FairJudgeError, match="only judgements can be written as"):
        fj.export([{"text": "no judgement"}], "out.json", format=name)


def test_a_table_is_exported_flat():
    parsed_reply = fj.audit.parse([*JUDGED, {**ROW, "eid": "f", "unscored": "refused"}])
    fj.export(parsed_reply, "parse.csv")
    header, *rows = Path("parse.csv").read_text("utf-8").splitlines()
    assert header == "of,figure,value,low,high,why"
    assert '"j, coverage, likert",unscored refused,1,,,' in {
        row.replace('"unscored, refused"', "unscored refused") for row in rows
    }


def test_parquet_has_verdicts_and_numbers():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pair = {key: ROW[key] for key in ("eid", "aspect", "judge")}
    rows = [
        *JUDGED,
        pair | {"system_a": "x", "system_b": "y", "protocol": "pairwise", "value": "tie"},
    ]
    fj.export(fj.read_judgements(rows), "judged.parquet")
    result = pd.read_parquet("judged.parquet")
    assert (result["value"][0], result["verdict"][1]) == (3.0, "tie")


def test_only_judgements_are_written_for_other_tools():
    fj.export(fj.read_judgements(JUDGED), "scores.jsonl", format="inspect-scores")
    assert json.loads(Path("scores.jsonl").read_text("utf-8"))
    with pytest.raises(fj.FairJudgeError, match="only judgements can be written as 'otel'"):
        fj.export(fj.read_summaries(WRITTEN), "x.jsonl", format="otel")


def test_unwritable_values_raise_with_reason(tmp_path):
    with pytest.raises(fj.FairJudgeError, match="cannot write"):
        fj.export(WRITTEN, tmp_path / "nowhere" / "x.csv")


def test_recorded_replies_become_a_result():
    replies = [
        {"eid": "a", "system": "s", "aspect": "coverage", "said": "Verdict: 4"},
        {"eid": "b", "system": "s", "aspect": "coverage", "said": "Verdict: 9"},
    ]
    result = fj.import_replies(replies, scale="1-5", judge="j", columns={"response": "said"})
    assert [row.value for row in result] == [4, None]
    assert result[1].unscored == "off_scale"


def test_findings_are_printable_mappings_usable_in_reports():
    result = fj.bias.words([cluster()], WRITTEN, lists={"x": ["he"], "y": ["she"]}, n_resamples=100)
    assert set(result) == set(result.to_dict()) - {"findings", "schema"}
    assert "<table" in result._repr_html_()
    (titled, *_) = result.tables()  # those that the command prints
    assert titled.title in str(result)
    assert "Words of groups" in fj.report(result).html


def rated(judge, values):
    return [{**ROW, "eid": f"e{n}", "judge": judge, "value": v} for n, v in enumerate(values)]


def test_cascade_is_fitted_saved_and_used_by_a_judge():
    values = [1, 2, 3, 4, 5] * 12
    labels = [{**LABELLED[0], "eid": f"e{n}", "value": v} for n, v in enumerate(values)]
    result = fj.cascade(rated("local", values), rated("llm", values), labels)
    assert result.figures["saved"]["value"] == 100.0
    result.save("cascade.json")
    assert json.loads(Path("cascade.json").read_text("utf-8")) == {
        "low": result.low,
        "high": result.high,
    }
    by_value = fj.Judge("openai:m", aspect="coverage", protocol="likert", cascade=result)
    by_file = fj.Judge("openai:m", aspect="coverage", protocol="likert", cascade="cascade.json")
    assert by_value.options == by_file.options
    assert "saves" in str(result)


def test_article_coverage_is_the_share_of_its_covered_answers():
    # two of a's three answers are covered, one in part: (1 + 0.5 + 0) / 3; b's one is: 1
    articles = [
        {"aid": aid, "title": "", "content": f"Text of {aid}.", "attributes": {"party": aid}}
        for aid in ("a", "b", "silent")
    ]
    groups = [["a", "b"], ["a"], ["a"]]
    reference = {
        "eid": "e",
        "articles": articles,
        "question_answers": [
            {
                "question": "What?",
                "answer_groups": [[{"aid": x, "answer": "A."} for x in group] for group in groups],
            }
        ],
    }
    checklist = [
        {"unit": f"answer:0.{place}", "covered": covered}
        for place, covered in enumerate((1, 0.5, 0))
    ]
    row = {**ROW, "protocol": "checklist", "value": 0.5, "checklist": checklist}
    from fairjudge.fairness.verdicts import clusters_with_answers, supports_from_checklists

    references = fj.read_references([reference]).records
    (support,) = supports_from_checklists(references, fj.read_judgements([row]).records)
    assert support.aids == ("a", "b")
    assert support.probabilities[:, 0].tolist() == [0.5, 1.0]
    (cluster,) = clusters_with_answers(fj.read_clusters([reference]).records, references)
    assert [article.aid for article in cluster.articles] == ["a", "b"]


def test_order_and_checks_have_async_variants(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    model = fj.Model("openai:stub", base_url=f"{server.url}/v1", cache="cache", timeout=60)
    articles = [
        {"aid": str(n), "title": "", "content": f"Fact {n} of the matter was told in town. " * 5}
        for n in range(3)
    ]
    clusters = [{"eid": "e", "articles": articles}]
    result = asyncio.run(fj.audit.aorder(clusters, model=model))
    assert result.to_dict() == fj.audit.order(clusters, model=model).to_dict()
    items = [{"eid": "e", "system": "s", "text": "Fact 1 was told."}]
    checked = asyncio.run(fj.audit.achecks(clusters, items, model=model, aspect="faithfulness"))
    assert checked["aspect"] == "faithfulness"
    assert {item["name"] for item in checked["checks"]} >= {"itself"}


@pytest.mark.parametrize(("progress", "terminal", "is_shown"), [
    (None, False, False), (None, True, True), (True, False, True), (False, True, False),
])  # fmt: skip
def test_progress_is_shown_on_request_or_on_a_terminal(
    progress, terminal, is_shown, monkeypatch, capsys
):
    from fairjudge.api.progress import bars

    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with bars(fj.Model("local", progress=progress).progress) as display:
        display.counter("judging")(2)(1)
    assert ("judging" in capsys.readouterr().err) == is_shown


def test_table_text_prints_nothing_by_itself_in_a_notebook(monkeypatch):
    import rich.console
    import rich.jupyter

    items = []
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    monkeypatch.setattr(rich.jupyter, "display", lambda *given: items.append(given))
    monkeypatch.setenv("FORCE_COLOR", "1")  # as Jupyter's kernel does
    text = str(fj.audit.parse(JUDGED).table())
    assert "coverage" in text
    assert "\x1b" not in text
    assert items == []


@pytest.mark.parametrize("as_path", [True, False])
def test_report_finds_reference_questions_in_every_input_type(as_path, tmp_path):
    voices = [[{"aid": "a", "answer": "the rain"}], [{"aid": "b", "answer": "the cracks"}]]
    articles = [{"aid": aid, "content": "It broke."} for aid in "ab"]
    question = {"question": "Why did it break?", "answer_groups": voices}
    reference = {"eid": "e", "articles": articles, "question_answers": [question]}
    path = tmp_path / "references.jsonl"
    path.write_text(json.dumps(reference) + "\n", "utf-8")
    judged = rated("j", [3])
    judged[0]["eid"] = "e"
    page = fj.report(fj.import_replies(
        [{**judged[0], "response": "Verdict: 3"}], scale="1-5", judge="j",
    ), references=path if as_path else [reference]).html  # fmt: skip
    assert "Answers and their sources" in page


# Commands with a call of their own


@pytest.fixture
def measured(tmp_path):
    """Return coverage by two scorers, as results and as files."""
    clusters = [
        {
            "eid": f"c{n}",
            "articles": [
                {"aid": aid, "content": f"{aid} says {n}.", "attributes": {"side": side}}
                for aid, side in (("1", "a"), ("2", "b"))
            ],
        }
        for n in range(6)
    ]
    summaries = [
        {"eid": cluster["eid"], "system": system, "text": f"{system} told of it."}
        for cluster in clusters
        for system in ("even", "odd", "third")
    ]

    def supports(tilt):
        return [
            {
                "eid": row["eid"], "system": row["system"], "units": ["u"], "aids": ["1", "2"],
                "support": [[0.9 if row["system"] == "odd" else 0.5 + tilt * n % 0.3], [0.5]],
            }
            for n, row in enumerate(summaries)
        ]  # fmt: skip

    by_name = {}
    for name, tilt in (("first", 0.01), ("second", 0.03)):
        rows = "".join(json.dumps(support) + "\n" for support in supports(tilt))
        (tmp_path / f"{name}.jsonl").write_text(rows, encoding="utf-8")
        by_name[name] = fj.fairness.coverage(
            clusters, summaries, attribute="side", scorer=f"matrix:{tmp_path / name}.jsonl"
        )
        text = json.dumps(by_name[name].to_dict())
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    return clusters, by_name, [tmp_path / f"{name}.json" for name in by_name]


def command(*arguments):
    result = run(*arguments, "--json", "-")
    return json.loads(result.stdout)


def test_fairness_compare_accepts_results_and_files(measured):
    _, results, (file, _) = measured
    first = fj.fairness.compare(results["first"], baseline="even", n_resamples=200)
    assert set(first["systems"]) == {"odd", "third"}
    assert first["systems"]["odd"]["equal_coverage"]["difference"]["value"] > 0
    same = fj.fairness.compare(file, baseline="even", n_resamples=200)
    again = fj.fairness.compare(results["first"].to_dict(), baseline="even", n_resamples=200)
    assert first.to_dict() == same.to_dict() == again.to_dict()
    arguments = ("fairness", "compare", file, "--baseline", "even", "--resamples", 200)
    assert command(*arguments) == json.loads(json.dumps(first.to_dict()))
    assert first.table().rows
    assert "odd" in repr(first)


def test_fairness_overall_labels_data_sets_by_key_or_file(measured):
    _, results, files = measured
    first = fj.fairness.overall(results, measure="equal_coverage")
    assert set(first["systems"]["odd"]["normalised"]) == {"first", "second"}
    assert first["systems"]["odd"]["value"] == 1.0  # the least fair on both
    of_files = fj.fairness.overall(files, measure="equal_coverage")
    assert first.to_dict() == of_files.to_dict()
    arguments = ("fairness", "overall", *files, "--measure", "equal_coverage")
    assert command(*arguments) == json.loads(json.dumps(first.to_dict()))
    with pytest.raises(ConfigurationError, match="reports: expected a list of files"):
        fj.fairness.overall(7)
    with pytest.raises(InputError, match="two data sets are called 'first'"):
        fj.fairness.overall([files[0], files[0]])


def test_fairness_agreement_matches_the_command(measured):
    _, results, files = measured
    first = fj.fairness.agreement(results["first"], results["second"])
    assert first["equal_coverage"]["n"] == 18
    assert command("fairness", "agreement", *files) == json.loads(json.dumps(first.to_dict()))
    with pytest.raises(ConfigurationError, match="report second: expected a result of fair"):
        fj.fairness.agreement(results["first"], 3)


def test_two_scorer_reports_are_on_one_page(measured, tmp_path):
    """The JSON of agreement has findings beside its measures; they are no measure."""
    _, results, files = measured
    path = tmp_path / "agreement.json"
    run("fairness", "agreement", *files, "--json", path)
    for reports in (path, fj.fairness.agreement(*results.values())):
        assert "Spearman" in fj.report(reports).html


def test_fairness_oracle_accepts_records(measured, tmp_path):
    clusters, _, _ = measured
    output = tmp_path / "pseudo.jsonl"
    first = fj.fairness.oracle(clusters, attribute="side", documents=2, output=output)
    assert first["n"] == 6
    assert output.exists()
    assert first["measures"]["bur"]["biased"] > first["measures"]["bur"]["balanced"]
    file = tmp_path / "c.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in clusters), encoding="utf-8")
    arguments = ("fairness", "oracle", file, "--attribute", "side", "--documents", 2)
    assert command(*arguments) == json.loads(json.dumps(first.to_dict()))
    with pytest.raises(ConfigurationError, match="unknown scorer 'guess'"):
        fj.fairness.oracle(clusters, attribute="side", scorer="guess")
    with pytest.raises(InputError, match="no article has attribute 'age'"):
        fj.fairness.oracle(clusters, attribute="age")


def test_fairness_chunk_size_validates_its_input(measured):
    clusters, _, _ = measured
    with pytest.raises(ConfigurationError, match="unknown scorer 'unigrams'"):
        fj.fairness.chunk_size(clusters, WRITTEN, scorer="unigrams")
    for sizes in ([], [50, -1]):
        with pytest.raises(ConfigurationError, match="sizes: expected numbers of words"):
            fj.fairness.chunk_size(clusters, WRITTEN, sizes=sizes)
