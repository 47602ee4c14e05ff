"""Every bad input ends in one clear message and the documented exit code, and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import article, building, cluster, judging, openai, reference, summary, write_jsonl


def only_message(result) -> str:
    """Return the one line that the command ended with."""
    assert result.out == ""
    (line,) = result.err.splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


CUT_OFF = json.dumps(cluster("a")) + "\n" + json.dumps(cluster("b"))[:-30]
NO_CONTENT = cluster() | {"articles": [{"aid": "1", "title": "t"}]}
TWICE = cluster() | {"articles": [article("x"), article("x")]}
EMPTY = cluster() | {"articles": [{"aid": str(n), "content": " \n"} for n in range(3)]}


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ["clusters.jsonl: the file is empty"]),
        (b"\xef\xbb\xbf\r\n", ["clusters.jsonl: the file is empty"]),
        (b"{'eid': 1}\n", ["clusters.jsonl:1: ", "not valid JSON"]),
        (CUT_OFF.encode(), ["clusters.jsonl:2: the file is cut off"]),
        (
            json.dumps(NO_CONTENT).encode(),
            ["clusters.jsonl:1: field 'articles[0].content'", "miss"],
        ),
        (json.dumps({"articles": []}).encode(), ["clusters.jsonl:1: field 'eid'"]),
        (json.dumps(TWICE).encode(), ["clusters.jsonl:1", "duplicate aid 'x'"]),
        (
            "\n".join([json.dumps(cluster())] * 2).encode(),
            ["clusters.jsonl:2: field 'eid'", "duplicate eid 'bridge' (first on line 1)"],
        ),
        (json.dumps(cluster(n=1)).encode(), ["clusters.jsonl:1: field 'articles'", "one article"]),
        (
            json.dumps(EMPTY).encode(),
            ["clusters.jsonl:1: field 'articles'", "all 3 articles are e"],
        ),
        ("{}".encode("utf-16"), ["clusters.jsonl: the file is UTF-16"]),
    ],
)
def test_bad_clusters(cli, server, content, parts):
    Path("clusters.jsonl").write_bytes(content)
    result = cli(*building(server), code=1)
    message = only_message(result)
    for part in parts:
        assert part in message
    assert server.calls == []
    assert not Path("refs.jsonl").exists()


def test_missing_file(cli, server):
    result = cli(*building(server))
    assert (result.code, only_message(result)) == (1, "clusters.jsonl: no such file")


def test_unbuildable_cluster_is_named_and_counted(cli, server):
    write_jsonl(Path("clusters.jsonl"), [cluster("good"), cluster("lonely", 1), EMPTY])
    result = cli(*building(server))
    # two of three clusters without a reference: more than 5 %
    assert result.code == 3
    assert "2 of 3 clusters without a result" in result.err
    assert "No question: cluster 'lonely' has one article" in result.out
    rows = [json.loads(line) for line in Path("refs.jsonl").read_text().splitlines()]
    assert [row["eid"] for row in rows] == ["good", "lonely", "bridge"]
    assert cli(*building(server), "--max-unscored", "0.7").code == 0


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (summary("s", "brigde"), ["summaries.jsonl:2: field 'eid'", "did you mean 'bridge'?"]),
        ({"eid": "bridge", "text": "t"}, ["summaries.jsonl:2: field 'system'"]),
        (summary("first"), ["summaries.jsonl:2", "duplicate"]),
    ],
)
def test_bad_summaries(cli, server, references, row, parts):
    write_jsonl(Path("summaries.jsonl"), [summary("first"), row])
    result = cli(*judging(server), code=1)
    message = only_message(result)
    for part in parts:
        assert part in message
    assert server.calls == []


def test_clusters_without_required_questions(cli, server, summaries):
    write_jsonl(Path("references.jsonl"), [cluster()])
    result = cli(*judging(server), code=1)
    assert "references.jsonl:1: field 'question_answers'" in only_message(result)


def test_references_without_questions(cli, server, summaries):
    write_jsonl(Path("references.jsonl"), [reference() | {"question_answers": []}])
    result = cli(*judging(server), code=1)
    assert "references.jsonl: nothing to judge: no cluster with a summary has q" in only_message(
        result
    )


def test_pairwise_needs_two_systems(cli, server, references):
    write_jsonl(Path("summaries.jsonl"), [summary("only")])
    result = cli(*judging(server), "--protocol", "pairwise", code=1)
    assert "two systems' summaries of one cluster" in only_message(result)


def test_articles_without_content_cannot_be_judged_against(cli, server, summaries):
    write_jsonl(Path("references.jsonl"), [EMPTY])
    result = cli(*judging(server), "--aspect", "faithfulness", code=1)
    assert "no cluster has both a summary and an article with content" in only_message(result)


@pytest.mark.parametrize(
    ("backend", "parts"),
    [
        ("opnai:gpt", ["unknown backend 'opnai'", "did you mean 'openai'?"]),
        ("gpt-4o", ["'gpt-4o' is not a backend; write it as provider:model"]),
        ("openai:gpt-4o-mini", ["OPENAI_API_KEY"]),
        ("anthropic:claude-x", ["ANTHROPIC_API_KEY"]),
        ("replay:nowhere.jsonl", ["nowhere.jsonl: "]),
    ],
)
def test_unusable_backends(cli, references, summaries, backend, parts):
    inputs = ("--references", references, "--summaries", summaries)
    options = ("--aspect", "coverage", "--protocol", "likert")
    result = cli("judge", *inputs, *options, "--backend", backend, "-o", "judgements.jsonl", code=1)
    message = only_message(result)
    for part in parts:
        assert part in message


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://u:p@host/v1"])
def test_invalid_base_url(cli, references, summaries, server, url):
    result = cli(*judging(server), "--base-url", url, code=1)
    assert "base URL" in only_message(result)


@pytest.mark.parametrize(
    ("output", "part"),
    [
        ("missing/out.jsonl", "missing/out.jsonl: the folder for this output does not exist"),
        (".", ".: expected a file to write, this is a folder"),
        ("/proc/out.jsonl", "/proc/out.jsonl: "),
        ("out.csv", "out.csv: records are written as .json or .jsonl"),
    ],
)
def test_unwritable_outputs(cli, references, summaries, server, output, part):
    result = cli(*judging(server), "-o", output, code=1)
    assert part in only_message(result)
    assert server.calls == []


def test_unwritable_report_raises_before_any_call(cli, references, summaries, server):
    result = cli(*judging(server), "--json", "missing/report.json", code=1)
    assert "missing/report.json: the folder for this report does not exist" in only_message(result)
    assert server.calls == []


def test_cache_folder_that_is_a_file(cli, references, summaries, server):
    Path("taken").write_text("x")
    result = cli(*judging(server), "--cache", "taken", code=1)
    assert "taken" in only_message(result)


@pytest.mark.parametrize(
    ("option", "file", "part"),
    [
        ("--prompt", None, "mine: no such file"),
        ("--scale", None, "mine: no such file"),
        ("--prompt", b"no front matter", "mine: expected TOML front matter"),
        ("--prompt", b"\xff\xfe", "mine: "),
        (
            "--prompt",
            b'+++\ntask="t"\nname="n"\nversion="x"\nabout="a"\n+++\n## user\nhi',
            "version",
        ),
        ("--scale", b"name = 3", "mine: field 'levels'"),
    ],
)
def test_unreadable_custom_prompts_and_scales(
    cli, references, summaries, server, option, file, part
):
    if file is not None:
        Path("mine").write_bytes(file)
    result = cli(*judging(server), option, "mine", code=1)
    assert part in only_message(result)


def test_a_custom_aspect_needs_a_criterion(cli, references, summaries, server):
    result = cli(*judging(server), "--aspect", "tone", code=1)
    assert "no built-in aspect 'tone'" in only_message(result)


def test_unsupported_aspects_of_local_backend_raise(cli, clusters, references, summaries):
    inputs = ("--references", references, "--summaries", summaries, "-o", "out.jsonl")
    assert "needs an LLM" in only_message(
        cli("build", clusters, "-o", "refs.jsonl", "--consolidation", "llm")
    )
    assert "need an LLM" in only_message(
        cli("summarize", clusters, "-o", "s.jsonl", "--backend", "local")
    )
    assert "can judge coverage, faithfulness and balance" in only_message(
        cli("judge", *inputs, "--aspect", "tone", "--protocol", "likert")
    )


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["build", "clusters.jsonl"], "Missing option '-o'"),
        (["build", "clusters.jsonl", "-o", "x", "--outptu", "y"], "--output"),
        (["judge", "--aspekt", "coverage"], "--aspect"),
        (["jugde"], "Did you mean 'fairjudge judge'?"),
        (["build", "c", "-o", "x", "--max-articles", "1"], "greater than or equal to 2"),
        (["build", "c", "-o", "x", "--concurrency", "none"], "not a whole number"),
        (["build", "c", "-o", "-", "--json", "-"], "cannot both go to standard output"),
        (["judge", "--protocol", "stars"], "'stars' is not one of"),
    ],
)
def test_usage_errors_exit_with_2_and_suggest_a_correction(cli, args, part):
    result = cli(*args, code=2)
    assert result.out == ""
    assert part in result.err


def test_skip_bad_counts_and_lists_skipped_rows(cli, server, references):
    rows = [summary("a"), {"eid": "bridge"}, summary("b"), summary("a")]
    write_jsonl(Path("summaries.jsonl"), rows)
    result = cli(*judging(server), "--skip-bad", "-o", "-", code=0)
    assert [row["system"] for row in result.rows()] == ["a", "b"]
    assert "Skipped 2 bad lines:\n  summaries.jsonl:2: field 'system'" in result.err
    assert "\n  summaries.jsonl:4: " in result.err
    report = json.loads(cli(*judging(server), "--skip-bad", "--json", "-").out)
    assert [line.split(": ")[0] for line in report["left_out"]] == [
        "summaries.jsonl:2",
        "summaries.jsonl:4",
    ]


def test_skip_bad_without_valid_rows_fails(cli, server):
    write_jsonl(Path("clusters.jsonl"), [{}, {}])
    result = cli(*building(server), "--skip-bad", code=1)
    assert "holds no clusters; the first of 2 bad lines is 1" in only_message(result)


def test_bom_crlf_nul_and_lone_surrogates_are_read(cli, server, summaries):
    odd = reference("odd \ud83d id") | {"extra": "\udc00"}
    odd["articles"][0]["content"] += " A NUL \x00 and half a pair \ud83d."
    odd["articles"][0]["title"] = "\x00\ud83d"
    lines = [json.dumps(odd), json.dumps(reference())]
    Path("references.jsonl").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n")
    write_jsonl(Path("summaries.jsonl"), [summary("s\x00y", "odd \ud83d id"), summary("s")])
    for aspect in ("coverage", "faithfulness"):
        result = cli(*judging(server), "--aspect", aspect, "-o", "-", code=0)
        assert [row["eid"] for row in result.rows()] == ["odd \ufffd id", "bridge"]
    again = cli(*judging(server), "--aspect", "faithfulness", "-o", "-")
    assert again.out == result.out
    Path("clusters.jsonl").write_bytes(Path("references.jsonl").read_bytes())
    built = cli(*building(server), "-o", "-", code=0)
    assert [row["eid"] for row in built.rows()] == ["odd \ufffd id", "bridge"]
    assert (
        cli("build", "clusters.jsonl", *openai(server), "-o", "-", "--consolidation", "llm").code
        == 0
    )


def test_attribute_missing_from_all_articles(cli, clusters, server):
    result = cli(
        "summarize", clusters, "-o", "s.jsonl", *openai(server), "--fair", "leaning", code=1
    )
    message = only_message(result)
    assert message.startswith("clusters.jsonl: field 'attributes': no article has the attribute")
    assert server.calls == []


def test_single_article_first_cluster_does_not_stop_the_build(cli, server):
    write_jsonl(Path("clusters.jsonl"), [cluster("lonely", 1), cluster("good")])
    cli(*building(server), "--max-unscored", "0.6", code=0)
    rows = [json.loads(line) for line in Path("refs.jsonl").read_text().splitlines()]
    assert [len(row["question_answers"]) > 0 for row in rows] == [False, True]


def test_skipped_lines_are_counted_by_reason_with_first_line_numbers(cli):
    good = {"eid": "e", "system": "a", "aspect": "coverage", "protocol": "likert", "judge": "m",
            "value": 3, "signature": "s"}  # fmt: skip
    rows = [json.dumps(row) for row in [*[{"eid": "e"}] * 5, good]]
    Path("j.jsonl").write_text("\n".join([*rows, "{broken", ""]), "utf-8")
    result = cli("audit", "parse", "j.jsonl", "--skip-bad", code=0)
    first, by_reason, system, *_ = result.err.splitlines()
    assert first == "Skipped 6 bad lines:"
    assert by_reason.startswith("  5 lines: field ")
    assert by_reason.endswith("(j.jsonl:1, j.jsonl:2, j.jsonl:3 and 2 more)")
    assert system.startswith("  j.jsonl:7: ")
