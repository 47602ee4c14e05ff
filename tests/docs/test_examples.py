"""Every example in README.md, SKILL.md and docs/ runs.

A file's blocks run in order, in one folder that holds the files of the bundled example; Python
blocks of a file share their names. In a console block the lines that start with `$ fairjudge` run,
and must end with exit code 0. A block is left out where an HTML comment directly above it says
why: `<!-- not run: needs a key -->`; `<!-- local model -->` says that it needs the extra [local].
"""

import re
import shlex
import shutil
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_tools import Done

from fairjudge.datasets import example_path

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "README.md", ROOT / "SKILL.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>python|console)[^\n]*\n(?P<body>.*?)^ *```",
    re.DOTALL | re.MULTILINE,
)
COMMENT_ABOVE = re.compile(r"<!--(?P<comment>(?:(?!-->).)*)-->[ \t]*\n\Z", re.DOTALL)
NOT_RUN = re.compile(r"\s*not run:(?P<reason>.*)", re.DOTALL)
LOCAL = "local model"


@dataclass(frozen=True)
class Block:
    """One fenced example."""

    language: str
    body: str
    line: int
    comment: str

    @property
    def skipped(self) -> bool:
        return NOT_RUN.match(self.comment) is not None


def blocks(text: str) -> Iterator[Block]:
    """Yield the examples of a page."""
    for match in FENCE.finditer(text):
        above = COMMENT_ABOVE.search(text[: match.start()])
        yield Block(
            language=match["language"],
            body=textwrap.dedent(match["body"]),
            line=text.count("\n", 0, match.start()) + 1,
            comment=above["comment"].strip() if above else "",
        )


def commands(body: str) -> list[list[str]]:
    """Return the words of every `$ fairjudge` command, continued lines joined."""
    joined = body.replace("\\\n", " ")
    lines = [line[2:] for line in joined.splitlines() if line.startswith("$ fairjudge ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def _pages() -> Iterator[Any]:
    for path in FILES:
        text = list(blocks(path.read_text("utf-8")))
        if all(block.skipped for block in text):
            continue
        local = any(block.comment == LOCAL for block in text)
        yield pytest.param(path, id=path.name, marks=[pytest.mark.local_model] if local else [])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the bundled example, a cache of its own, and no keys."""
    for name in ("clusters.json", "references.json", "summaries.jsonl", "labels.jsonl"):
        shutil.copyfile(example_path(name), tmp_path / name)  # type: ignore[arg-type]
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", list(_pages()))
def test_examples_run(path: Path, folder: Path, cli: Callable[..., Done]) -> None:
    text = [block for block in blocks(path.read_text("utf-8")) if not block.skipped]
    if any(block.comment == LOCAL for block in text):
        pytest.importorskip("torch", reason="needs the extra [local]")
    names: dict[str, Any] = {"__name__": "__example__"}
    for block in text:
        if block.language == "python":
            code = "\n" * block.line + block.body  # so that a traceback names the page's line
            exec(compile(code, str(path), "exec"), names)  # noqa: S102  # our own documentation
            continue
        for words in commands(block.body):
            result = cli(*words)
            assert result.code == 0, f"{path.name}:{block.line}: {words}\n{result.err}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_skipped_examples_state_a_reason(path: Path) -> None:
    for block in blocks(path.read_text("utf-8")):
        match = NOT_RUN.match(block.comment)
        if match is not None:
            assert match["reason"].strip(), f"{path.name}:{block.line}: give a reason"
        else:
            assert block.comment in {"", LOCAL}, f"{path.name}:{block.line}: {block.comment!r}"


def test_examples_are_found_in_order_with_the_text_above() -> None:
    page = textwrap.dedent(
        """\
        text
        <!-- not run: needs a key -->
        ```console
        $ fairjudge judge --aspect \\
            coverage
        a printed line
        $ ls
        ```
        <!-- far away -->

        ```python
        x = 1
        ```
        """
    )
    first, second = blocks(page)
    assert (first.skipped, first.line, second.skipped, second.comment) == (True, 3, False, "")
    assert commands(first.body) == [["judge", "--aspect", "coverage"]]
    assert second.body == "x = 1\n"
