"""No interface says what new users stumbled at: help, messages, pages, docs."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PHRASES = (
    r"at first sight",
    r"beyond chance",
    r"took no part",
    r"takes? no part",
    r"not at one\b",
    r"kept out\b(?!, (?:AUC|balanced accuracy))",
    r"labels (?:would )?buy",
    r"for want of width",
    r"who is covered",
    r"must hold of any judge",
    r"on several machines",
    r"\bworthless\b",
    r"may be as good",
    r"errs otherwise",
    r"may (?:not )?stand in for a person",
    r"explains no gap",
    r"half as many again",
    r"with stand-ins",
    r"so often, each",
    r"balanced over yes and no",
    r"no agreement with people shown",
    r"say next to nothing",
    r"nobody was asked again",
    r"by so many wordings",
    r"\btook nothing\b",
    r"\bstands? level\b",
    r"\bbehind: ",
    r"\bsways\b",
    r"\btold best\b",
    r"\bnothing is (?:said|known) of (?!\{name)",
    r"\bby chance alone\b",
    r"\btells? (?:no )?systems apart\b",
    r"\bcannot be told\b",
    r"\bpreference for a place\b",
    r"\bnot said here\b",
    r"\bdocuments held out\b",
    r"\bfor want of\b",
    r"\btreats? unlike\b",
    r"\bgoes? with people\b",
    r"\bnearer to people\b",
    r"\bfollows the place\b",
    r"\bsurely moved\b",
    r"\bin whatever words\b",
    r"\bwent as invalid\b",
    r"\bborne out\b",
    r"\bneeds no judge\b",
    r"\bpromised agreement\b",
    r"\bunder a promise\b",
    r"\bbeyond all numbers\b",
    r"\bquestions wanted\b",
    r"\bwhoever is asked\b",
    r"\bmend it\b",
    r"\bwithout a judge>",
    r"\basks? nobody\b",
    r"\btold by (?:its |their )?content\b",
    r"\bat least so often\b",
    r"\bafter so many\b",
    r"\bwhy so many\b",
    r"\bwhoever (?!whole)",
    r"\bsuch as it is\b",
    r"\bwhat is told\b",
    r"\bgoes? on from (?:here|there)\b",
    r"\bno LLM was asked\b",
    r"\bLLM is asked between\b",
    r"\bwhom a system met\b",
    r"\bnobody (?:is|was|has|who|knows|reads)\b",
    r"\basked for once more\b",
    r"\b(?:first|second) variable\b",
    r"\bnothing beside the judge\b",
    r"\bof one's own\b",
    r"\bnobody awaits\b",
    r"\btold (?:rightly|less surely)\b",
    r"\bsays? what is asked\b",
    r"\bwhat it was held against\b",
    r"\ba rule is enough\b",
)
STUMBLED_AT = re.compile("|".join(PHRASES), re.IGNORECASE)
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
SOURCES = sorted(
    path
    for folder in ("fairjudge", "graphs", "calibration")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".html", ".js"}
)


def texts(path):
    """Return what `path` may say: strings of Python, joined over their lines, or the whole file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [text]
    nodes = ast.walk(ast.parse(text))
    return [
        node.value for node in nodes if isinstance(node, ast.Constant) and type(node.value) is str
    ]


@pytest.mark.parametrize("paths", [PAGES, SOURCES], ids=["docs", "sources"])
def test_no_text_contains_a_listed_phrase(paths):
    assert len(paths) > 15
    hits = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in paths
        for text in texts(path)
        for hit in STUMBLED_AT.finditer(" ".join(text.split()))
    ]
    assert not hits


@pytest.mark.parametrize(
    "text",
    ["At first\nsight", "a leads beyond chance.", "31 took no part", "a and b stand\n level in x"],
)
def test_phrases_are_matched_across_lines_ignoring_case(text):
    assert STUMBLED_AT.search(" ".join(text.split()))
