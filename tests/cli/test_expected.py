"""``judge --token-probabilities`` over HTTP: token lists as servers send them, and rows without."""

from __future__ import annotations

import itertools
from math import exp
from pathlib import Path

import pytest
from cli_tools import judging
from json_files import read_json, read_judgements
from stub_server import Reply

TEXT = '{"reasoning":"ok","verdict":"4"}'
VERDICT = [("4", -0.69), ("3", -0.92), ("5", -2.3)]
BEFORE, AFTER = ('{"', "reasoning", '":"', "ok", '","', "verdict", '":"'), ('"}',)
EXPECTED = sum(int(a) * exp(p) for a, p in VERDICT) / sum(exp(p) for _, p in VERDICT)


def place(token, alternatives=None):
    listed = alternatives or [(token, -0.01)]
    top = [{"token": a, "logprob": p, "bytes": list(a.encode())} for a, p in listed]
    return {"token": token, "logprob": listed[0][1], "top_logprobs": top}


def reply(before=BEFORE, after=AFTER, *, text=TEXT, alternatives=VERDICT) -> Reply:
    verdict = place(alternatives[0][0], alternatives)
    return Reply(text=text, logprobs=[*map(place, before), verdict, *map(place, after)])


EMOJI = TEXT.replace("ok", "ok 😀")
SERVERS = {
    "plain": reply(),
    "end token": reply(after=('"}', "<|im_end|>")),
    "two end tokens and a line": reply(after=('"}\n', "<|eot_id|>", "")),
    "escaped bytes": reply(
        (*BEFORE[:3], "ok ", "\\xf0\\x9f\\x98", "\\x80", *BEFORE[4:]), text=EMOJI
    ),
    "undecoded bytes": reply((*BEFORE[:3], "ok ", "\ufffd", "\ufffd", *BEFORE[4:]), text=EMOJI),
    "sentencepiece bytes": reply(
        (*BEFORE[:3], "ok ", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", *BEFORE[4:]), text=EMOJI
    ),
    "reasoning first": reply(("<think>", "maybe 3", "</think>", "\n\n", *BEFORE)),
    "harmony": reply(
        ("<|channel|>", "analysis", "<|message|>", "maybe ", "3", "<|end|>", "<|start|>", *BEFORE),
        ('"}', "<|return|>"),
    ),
    "glued": reply(BEFORE[:-1], (), alternatives=[(f'":"{a}"}}', p) for a, p in VERDICT]),
    "bytes after the verdict": reply(
        ("Verdict: ",), (" ", "\ufffd", "\ufffd"), text="Verdict: 4 😀"
    ),
}
SILENT = {
    "other tokens": (reply(text=TEXT.replace("}", " }")), "do not add up to the text"),
    "one token": (Reply(text=TEXT, logprobs=[place(TEXT)]), "no token stands at the verdict"),
    "ids": (Reply(text=TEXT, logprobs=[place("token_id:90"), place("token_id:19")]), "add up"),
    "sentinel": (
        reply(alternatives=[("4", -9999.0), ("3", -0.92), ("5", -2.3)]),
        "the verdict's own token has no probability",
    ),
    "none": (Reply(text=TEXT), "the backend gave no token probabilities"),
}


@pytest.mark.parametrize("kind", SERVERS)
def test_value_is_the_mean_under_the_probabilities(cli, references, summaries, server, kind):
    """exp(-0.69), exp(-0.92), exp(-2.3) on 4, 3, 5 are 0.502, 0.399, 0.100: 3.70 over their sum."""
    server.answer = lambda _: SERVERS[kind]
    result = cli(*judging(server), "--token-probabilities", "--json", "out.json", code=0)
    assert pytest.approx(3.702, abs=1e-3) == EXPECTED
    assert [row["value"] for row in read_judgements()] == [pytest.approx(EXPECTED)] * 6
    assert all("without_probabilities" not in row for row in read_judgements())
    assert "token probabilities" not in result.out
    assert "without_probabilities" not in read_json("out.json")


@pytest.mark.parametrize("kind", SILENT)
def test_row_without_probabilities_states_the_reason(cli, references, summaries, server, kind):
    reply, why = SILENT[kind]
    server.answer = lambda _: reply
    result = cli(*judging(server), "--token-probabilities", "--json", "out.json", code=0)
    assert [row["value"] for row in read_judgements()] == [4] * 6
    (reason,) = {row["without_probabilities"] for row in read_judgements()}
    assert why in reason
    assert f"No score comes from token probabilities: 6 {reason}." in " ".join(result.out.split())
    assert read_json("out.json")["without_probabilities"] == {reason: 6}


def test_mean_over_mixed_rows_is_marked_everywhere(cli, references, summaries, server):
    import fairjudge as fj

    turn = itertools.count()
    server.answer = lambda _: SERVERS["plain"] if next(turn) % 3 else SILENT["none"][0]
    command = cli(*judging(server), "--token-probabilities", "--json", "out.json")
    text = (
        "2 of 6 scores do not come from token probabilities, so means mix both kinds: "
        "2 the backend gave no token probabilities."
    )
    assert text in " ".join(command.out.split())
    assert text in read_json("out.json")["findings"]
    assert cli("report", "judgements.jsonl", "-o", "report.html").code == 0
    assert text in Path("report.html").read_text("utf-8")
    model = fj.Model("openai:stub-model", base_url=server.v1)
    judge = fj.Judge(model, aspect="coverage", protocol="likert", token_probabilities=True)
    result = judge(references, summaries)
    assert result.without_probabilities == {"the backend gave no token probabilities": 2}
    assert text in " ".join(str(result).split())


def test_samples_replace_probabilities_and_are_marked(cli, references, summaries, server):
    server.answer = lambda _: Reply(text=TEXT)
    cli(*judging(server), "--token-probabilities", "--samples", "3", code=0)
    assert {row["without_probabilities"] for row in read_judgements()} == {
        "the backend gave no token probabilities"
    }
    assert all(len(row["samples"]) == 3 for row in read_judgements())


def test_mixed_jury_names_members_without_probabilities(cli, references, summaries, server):
    def by_model(call):
        return SERVERS["plain"] if call.body["model"] == "one" else SILENT["none"][0]

    server.answer = by_model
    members = ("--backend", "openai:one", "--backend", "openai:two")
    result = cli(*judging(server), *members, "--expected", code=0)
    why = "openai:two: the backend gave no token probabilities"
    first = [row for row in read_judgements() if row["judge"].startswith("jury")]
    assert {row["without_probabilities"] for row in first} == {why}
    assert why in " ".join(result.out.split())


def test_no_note_without_expected(cli, references, summaries, server):
    server.answer = lambda _: Reply(text=TEXT)
    assert "token probabilities" not in cli(*judging(server)).out
    assert all("without_probabilities" not in row for row in read_judgements())
