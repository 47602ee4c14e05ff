"""Several criteria in one call, and two runs compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import openai, text_of, write_jsonl
from stub_server import Reply

ASKED = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
BOTH = (*ASKED, "--aspect", "faithfulness", "--aspect", "coverage", "--together")


def together(server, *more: str, protocol: str = "likert") -> tuple[str, ...]:
    return ("judge", *BOTH, "--protocol", protocol, *openai(server), "-o", "out.jsonl", *more)


def rows(path: str = "out.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def reply(faithfulness: str, coverage: str) -> Reply:
    entries = {"faithfulness": {"verdict": faithfulness}, "coverage": {"verdict": coverage}}
    return Reply(text=json.dumps(entries))


def test_one_call_per_item_gives_one_judgement_per_aspect(cli, references, summaries, server):
    server.answer = lambda call: reply("5", "2")
    cli(*together(server), "--json", "out.json", code=0)
    assert len(server.calls) == 6
    rows_written = rows()
    assert [(row["aspect"], row["value"]) for row in rows_written[:2]] == [
        ("faithfulness", 5), ("coverage", 2),
    ]  # fmt: skip
    assert len(rows_written) == 12
    assert rows_written[0]["together"] == ["faithfulness", "coverage"]
    pair, other = json.loads(Path("out.json").read_text())["together"]
    assert pair["systems"]["system0"]["mean"] == 5
    assert (other["aspect"], other["systems"]["system0"]["mean"]) == ("coverage", 2)
    prompt = text_of(server.calls[0])
    assert 'Criterion "faithfulness"' in prompt
    assert 'Criterion "coverage"' in prompt
    assert "<article" in prompt
    assert "<reference" in prompt


def test_two_aspects_need_the_together_option(cli, references, summaries, server):
    result = cli(*(part for part in together(server) if part != "--together"), code=2)
    assert "several aspects need --together" in result.err
    assert not server.calls


def test_missing_verdict_is_requested_alone(cli, references, summaries, server):
    """Coverage is left out, and so is it when asked again: the faithfulness stands."""
    server.answer = lambda call: Reply(text="Faithfulness: 4")
    cli(*together(server), code=3)
    assert [(row["value"], row["unscored"]) for row in rows()[:2]] == [
        (4, None), (None, "unparseable"),
    ]  # fmt: skip
    again = [text_of(call) for call in server.calls if "on the criterion" in text_of(call)]
    assert again
    assert all('the criterion "coverage" alone' in text for text in again)


def test_repaired_verdict_is_used_for_its_criterion(cli, references, summaries, server):
    server.answer = lambda call: Reply(
        text="Verdict: 3" if "on the criterion" in text_of(call) else "Faithfulness: 4"
    )
    assert cli(*together(server)).code == 0
    assert [row["value"] for row in rows()[:2]] == [4, 3]


def test_custom_criterion_is_described_by_its_rule(cli, references, summaries, server):
    Path("p.md").write_text(
        '+++\ntask = "own"\nname = "p"\nversion = 1\nabout = "x"\n+++\n'
        "## user\n{{text}} {{scale}}\n"
    )
    Path("s.toml").write_text(
        'name = "s"\nkind = "number"\n[[levels]]\nanswer = "1"\nvalue = 1\n'
        '[[levels]]\nanswer = "2"\nvalue = 2\n'
    )
    own = {"aspect": "fluency", "prompt": "p.md", "scale": "s.toml", "rule": "Does it read well?"}
    Path("c.toml").write_text("".join(f"{k} = {json.dumps(v)}\n" for k, v in own.items()))
    server.answer = lambda call: Reply(text="Faithfulness: 4\nFluency: 2")
    cli("judge", *ASKED, "--aspect", "faithfulness", "--criterion", "c.toml", "--together",
               "--protocol", "likert", *openai(server), "-o", "out.jsonl", code=0)  # fmt: skip
    assert [row["value"] for row in rows()[:2]] == [4, 2]
    assert "Does it read well?" in text_of(server.calls[0])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--samples", "3"), "--samples cannot be combined with --together"),
        (("--aspect", "clarity"), "its criterion file needs a 'rule'"),
        (("--aspect", "coverage"), "different aspects"),
        (("--backend", "anthropic:x"), "--together needs one --backend"),
    ],
)
def test_incompatible_aspects_cannot_be_judged_together(
    cli, references, summaries, server, monkeypatch, more, message
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    result = cli(*together(server, *more), code=1)
    assert message in result.err


def test_pairs_are_not_judged_together(cli, references, summaries, server):
    result = cli(*together(server, protocol="pairwise"), code=1)
    assert "--together requires protocol likert or binary, not pairwise" in result.err


def test_several_aspects_without_together_do_not_run(cli, references, summaries, server):
    result = cli("judge", *ASKED, "--aspect", "faithfulness", "--aspect", "coverage", "--protocol",
               "likert", *openai(server), "-o", "out.jsonl", code=2)  # fmt: skip
    assert "--together" in result.err


def test_plan_counts_one_call_per_item(cli, references, summaries, server):
    result = cli("batch", "plan", *BOTH, "--protocol", "likert", "--backend", "openai:stub-model",
               "--json", "-")  # fmt: skip
    assert json.loads(result.out)["models"][0]["calls"] == 6


def rated(n: int, value: float | None, **more: object) -> dict:
    row = {"eid": f"d{n // 2}", "system": f"s{n % 2}", "aspect": "coverage", "judge": "j"}
    unscored = None if value is not None else "refused"
    return {**row, "protocol": "likert", "value": value, "unscored": unscored, **more}


def test_two_runs_are_compared_per_item(cli):
    """System s1 rises by 1 on all 10 documents: half agree, the mean shift is 0.5."""
    write_jsonl(Path("a.jsonl"), [rated(n, 1 + n % 4) for n in range(20)])
    write_jsonl(Path("b.jsonl"), [rated(n, 1 + n % 4 + n % 2) for n in range(20)] + [rated(40, 1)])
    result = cli(
        "compare", "a.jsonl", "b.jsonl", "--json", "out.json", "--html", "page.html", code=0
    )
    (group,) = json.loads(Path("out.json").read_text())["groups"]
    assert (group["n_items"], group["n_only_second"]) == (20, 1)
    assert group["agreement"]["value"] == group["shift"]["value"] == 0.5
    shifts = {item["system"]: item["shift"]["value"] for item in group["systems"]}
    assert shifts == {"s0": 0.0, "s1": 1.0}
    assert "Systems in both runs" in result.out
    page = Path("page.html").read_text()
    assert "Comparison of two runs" in page
    assert "1.00 [1.00, 1.00]" in page


def test_repeats_are_averaged_and_pairs_aligned_before_comparison(cli):
    pair = {"eid": "d", "aspect": "coverage", "judge": "j", "protocol": "pairwise"}
    first = {**pair, "system_a": "x", "system_b": "y", "order": "ab", "value": "a"}
    turned = {**pair, "system_a": "y", "system_b": "x", "order": "ab", "value": "b"}
    repeats = [rated(0, value, repeat=n) for n, value in enumerate((2, 4))]
    write_jsonl(Path("a.jsonl"), [*repeats, rated(1, None), first])
    write_jsonl(Path("b.jsonl"), [rated(0, 3), rated(1, 5), turned])
    result = cli("compare", "a.jsonl", "b.jsonl", "--json", "-", code=0)
    groups = json.loads(result.out)["groups"]
    assert [group["agreement"]["value"] for group in groups] == [1.0, 1.0]
    assert groups[0]["n_unscored_first"] == 1


def test_disjoint_runs_raise(cli):
    write_jsonl(Path("a.jsonl"), [rated(0, 2)])
    write_jsonl(Path("b.jsonl"), [rated(0, 2, aspect="faithfulness")])
    result = cli("compare", "a.jsonl", "b.jsonl", code=1)
    assert "nothing to compare" in result.err
