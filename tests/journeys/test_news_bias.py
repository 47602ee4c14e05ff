"""From plain news to the experiments of News bias: mark people, make inputs, induce a bias.

The summarizer is a server on loopback: it names everybody whom its input names, and women alone
where its prompt asks for a focus on women. All else is real, spaCy included.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_tools import openai, text_of, write_jsonl
from stub_server import Call, Reply, StubServer

pytestmark = pytest.mark.local_model
WOMEN, MEN = ("Mary", "Patricia", "Linda", "Susan"), ("James", "John", "Robert", "Michael")
PLAIN = "stub-model-direct"
FOCUS = "Please put a particular focus on the women mentioned in the text"
TEMPLATE = """+++
task = "mine"
name = "{name}"
version = 1
about = "One of a pool."
+++
## user
{{{{articles}}}}

{ask}
"""
LASTS = ("Johnson", "Smith", "Williams", "Brown", "Jones", "Miller")


def names_everybody(call: Call) -> Reply:
    text = text_of(call)
    result = re.findall(rf"\b((?:{'|'.join(WOMEN + MEN)}) (?:{'|'.join(LASTS)}))\b", text)
    names = list(dict.fromkeys(result))
    women = [name for name in names if name.split()[0] in WOMEN]
    names = women if FOCUS in text else names[:1]  # else whoever comes first
    return Reply(text=" ".join(f"{name} spoke." for name in names) or "Nobody spoke.")


@pytest.fixture
def census() -> str:
    Path("census").mkdir()
    for gender, names in (("female", WOMEN), ("male", MEN)):
        rows = [f"{name.upper():<15}{3 - n / 10:6.3f}{3.0:7.3f}{n + 1:7}"
                for n, name in enumerate(names)]  # fmt: skip
        Path(f"census/dist.{gender}.first").write_text("\n".join(rows) + "\n")
    return "census"


def test_prompted_bias_is_detected(cli, server: StubServer, census):
    pytest.importorskip("spacy")
    texts = [
        f"{WOMEN[n % 4]} {LASTS[n]} met {MEN[n % 4]} {LASTS[(n + 1) % 6]} in Paris on Monday. "
        f"{LASTS[n]} said she was sorry. He left the room."
        for n in range(6)
    ]
    rows = [{"eid": f"e{n}", "articles": [{"aid": "1", "content": text}]}
            for n, text in enumerate(texts)]  # fmt: skip
    write_jsonl(Path("c.jsonl"), rows)
    cli("bias", "annotate", "c.jsonl", "-o", "d.jsonl", "--census", census, code=0)
    command = ("bias", "inputs", "d.jsonl", "-o", "i.jsonl", "--census", census, "--variants", "4")
    assert cli(*command).code == 0
    inputs = [json.loads(line) for line in Path("i.jsonl").read_text().splitlines()]
    assert len({item["controlled"]["original"] for item in inputs}) >= 5

    for n, ask in enumerate(("Sum this up.", "Write a short summary of this article.")):
        Path(f"p{n}.md").write_text(TEMPLATE.format(name=f"p{n}", ask=ask))
    server.answer = names_everybody
    cli(
        "summarize", "i.jsonl", "-o", "s.jsonl", *openai(server), "--prompt", "p0.md",
        "--prompt", "p1.md", "--sweep", f"instruction={FOCUS}", code=0,
    )  # fmt: skip
    by_name = {("Sum this up." in text_of(call)) for call in server.calls}
    assert by_name == {True, False}  # both prompts were drawn

    rows = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    focused = f"{PLAIN}+instruction={FOCUS}"
    assert {row["system"] for row in rows} == {PLAIN, focused}
    cli("bias", "entities", "i.jsonl", "--summaries", "s.jsonl", "--census", census,
               "--json", "b.json", code=0)  # fmt: skip
    data = json.loads(Path("b.json").read_text("utf-8"))
    (pair,) = data["systems"][focused]["odds_ratios"]
    assert pair["exact"]["p_value"] < 1e-3
    assert data["systems"][focused]["inclusion"]["at_least"] > 1
    (plain,) = data["systems"][PLAIN]["odds_ratios"]
    # mirrored inputs: whoever comes first is a woman as often as a man
    assert plain["exact"]["p_value"] == pytest.approx(1.0)
    assert "none of" in " ".join(data["findings"])

    judged = [
        {"eid": row["eid"], "system": row["system"], "aspect": "relevance", "judge": "j",
         "protocol": "likert", "value": 4}
        for row in rows
    ]  # fmt: skip
    write_jsonl(Path("j.jsonl"), judged)
    cli("bias", "quality", "i.jsonl", "--judgements", "j.jsonl", "--json", "q.json", code=0)
    assert cli("report", "b.json", "q.json", "-o", "page.html").code == 0
    assert "Quality by group of inputs" in Path("page.html").read_text("utf-8")


def test_annotated_content_words_change_with_the_names(cli, census):
    """Inputs with and without the marks differ in these words alone."""
    text = "Chairman James Smith met Mary Jones , a chairwoman , on Monday ."
    tokens = text.split()
    words = {"female": "chairwoman", "male": "chairman"}
    marks = [
        {"span": [0, 1], "people": [[1, 3]], **words},
        {"span": [8, 9], "people": [[4, 6]], **words},
    ]
    document = {"id": "d", "tokens": tokens, "people": [[1, 3], [4, 6]]}
    texts = {}
    for name, marked in (("with", {"content_words": marks}), ("without", {})):
        write_jsonl(Path(f"{name}.jsonl"), [document | marked])
        cli("bias", "inputs", f"{name}.jsonl", "-o", f"{name}-inputs.jsonl",
                   "--census", census, "--variants", "4", code=0)  # fmt: skip
        rows = map(json.loads, Path(f"{name}-inputs.jsonl").read_text().splitlines())
        texts[name] = [row["articles"][0]["content"] for row in rows]
    for changed, plain in zip(texts["with"], texts["without"], strict=True):
        first, second = (re.search(rf"{p} (\w+)", plain)[1] for p in ("Chairman", "met"))
        fitting = ["chairwoman" if name in WOMEN else "chairman" for name in (first, second)]
        expected = plain.replace("Chairman", fitting[0].capitalize()).replace(
            "chairwoman", fitting[1]
        )
        assert changed == expected
    assert texts["with"] != texts["without"]
