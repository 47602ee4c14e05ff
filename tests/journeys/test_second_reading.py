"""References read twice: hedged groups joined, facets dropped, passages checked."""

from __future__ import annotations

import json
import re
from pathlib import Path

from cli_tools import by_article, openai, text_of, write_jsonl
from stub_server import Call, Reply

TEXTS = {
    "a": "The dam is safe, the owner said. The town paid for it.",
    "b": "Engineers said the dam is probably not safe. The state paid for it.",
    "c": "The dam is not safe, a report found. A rumor about the dam went round.",
    "d": "It is doubtful that the dam is safe. Nobody was hurt.",
}
QUESTIONS = ("How true is it that the dam is safe?", "Who paid for the dam?")
QUOTES = {
    "a": [(1, "The dam is safe, the owner said."), (2, "The town paid for it.")],
    "b": [(1, "Engineers said the dam is probably not safe."), (2, "The state paid for it.")],
    "c": [(1, "The dam is not safe, a report found."), (1, "A rumor about the dam went round.")],
    "d": [(1, "It is doubtful that the dam is safe.")],
}
LABELS = {
    1: [("The dam is safe.", [1]), ("The dam is not safe.", [3, 4]),
        ("It is doubtful that the dam is safe.", [2, 5])],
    2: [("The town paid for it.", [6]), ("The state paid for it.", [7])],
}  # fmt: skip


def reply(text: str) -> dict[str, object]:
    """Answer as a reader would who errs once: the rumor stands under "not safe"."""
    if '{"questions": [{' in text:
        answers = [
            {"answer": "It is.", "articles": [1, 2]},
            {"answer": "It is not.", "articles": [3]},
        ]
        kinds = zip(QUESTIONS, ("rivals", "facets"), strict=True)
        return {"questions": [{"question": q, "kind": k, "answers": answers} for q, k in kinds]}
    if '{"answers": [{' in text:
        (name,) = (name for name, body in TEXTS.items() if body in text)
        fields = {"speaker": None, "stance": "endorses", "gloss": None}
        return {"answers": [{"question": n, "quote": q, **fields} for n, q in QUOTES[name]]}
    if '{"sorted": [{' in text:
        rows = [
            {
                "question": number,
                "groups": [
                    {"label": label, "answers": numbers, "disputed_by": []}
                    for label, numbers in groups
                ],
                "rivals": [[1, 2], [1, 3]] if number == 1 else [],
                "invalid": [],
            }
            for number, groups in LABELS.items()
        ]
        return {"sorted": rows}
    messages = by_article(text)
    assert messages is not None
    rumors = re.findall(r"^(\d+)\. article \d+, answer \d+: A rumor", text, re.MULTILINE)
    return messages | {"unsupported": [int(number) for number in rumors]}


def answer(call: Call) -> Reply:
    return Reply(text=json.dumps(reply(text_of(call))))


def test_second_reading_makes_groups_consistent(cli, server, own_home):
    server.answer = answer
    articles = [{"aid": aid, "content": text} for aid, text in TEXTS.items()]
    write_jsonl(Path("clusters.jsonl"), [{"eid": "dam", "articles": articles}])

    def build(*options: str) -> tuple[str, dict[str, object]]:
        result = cli(
            "build", "clusters.jsonl", "-o", "refs.jsonl", *options, *openai(server), code=0
        )
        return " ".join(result.out.split()), json.loads(Path("refs.jsonl").read_text("utf-8"))

    printed, once = build()
    (question,) = once["question_answers"]
    # "not safe" and "doubtful" are one group, by the weaker label; the rumor is in it
    assert question["group_labels"] == ["It is doubtful that the dam is safe.", "The dam is safe."]
    assert [[item["aid"] for item in g] for g in question["answer_groups"]] == [list("bccd"), ["a"]]
    assert question["rivals"] == [[0, 1]]
    why = "most of its answers can be true together (1 question kept)"
    assert once["meta"]["dropped_questions"] == [{"question": QUESTIONS[1], "why": why}]
    assert f"Dropped: {QUESTIONS[1]} ({why})" in printed

    printed, twice = build("--complete", "--facets", "2")
    first, second = twice["question_answers"]
    assert [[item["aid"] for item in g] for g in first["answer_groups"]] == [list("bcd"), ["a"]]
    assert second["kind"] == "facets"
    assert twice["meta"]["dropped_answers"] == {"does not say its group's label": 1}
    assert "Answers dropped: 1: does not say its group's label" in printed
    assert not server.errors
