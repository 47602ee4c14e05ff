"""Every dotted name and every link in the docs leads somewhere."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "design" / "README.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
]
NAME = re.compile(r"`(fairjudge(?:\.\w+)+)`")
LINK = re.compile(r"\]\((?!https?://)([^)#]+)")


def exists(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return hasattr(importlib.import_module(module), attribute)
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_names_and_links_resolve(page: Path) -> None:
    text = re.sub(r"```diff\n.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    assert [name for name in sorted(set(NAME.findall(text))) if not exists(name)] == []
    assert [link for link in LINK.findall(text) if not (page.parent / link).exists()] == []


def test_tests_named_on_the_security_page_exist():
    text = (ROOT / "docs" / "security.md").read_text("utf-8")
    pages = set(re.findall(r"`(?:tests/)?([\w/]+\.py)`", text))
    files = [path.relative_to(ROOT / "tests").as_posix() for path in ROOT.glob("tests/**/*.py")]
    tests = {name for name in pages if "test_" in name or name == "hostile_cases.py"}
    assert len(tests) > 10
    for name in sorted(tests):
        assert any(f"/{path}".endswith(f"/{name}") for path in files), f"no {name} in tests"
