"""Insert small faults into a copy of the package, one at a time, and report the undetected ones."""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import importlib.util
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
ALL = ("stats", "calibration", "fairness", "bias", "domain", "text", "parsing", "backends", "cache")
"""What is mutated unless something is named: what computes, what reads, and what asks and keeps."""
WHOLE_PROGRAM = frozenset({"cli", "cluster", "docs", "examples", "faults", "scales", "stores"})
"""Folders of tests that drive whole commands: too slow to run for each mutant."""
AT_ROOT = ("calibration", "graphs", "prompts")
"""Packages that stand at the root and install as fairjudge.*."""
NOT_COPIED = (".*", "build", "__pycache__", "*.egg-info", "node_modules")
MAX_IMPORTING = 20
"""Of what more tests import than this, as fairjudge.domain, these many see most faults."""
OPTIONAL = ("litellm", "transformers")
"""Packages without which the tests of modules with their name skip."""
MAX_SHOWN = 200
MAX_PER_NAME = 8
"""Letters of a package's name by which its commands' tests are found: calibrate of calibration."""
MAX_CPU_SECONDS = 120
MAX_WALL_SECONDS = 900.0
"""What a mutant's tests may take; of a processor, so that a busy machine makes no difference."""
MAX_TEST_SECONDS = 120
"""What a single test may take: one that waits for ever ends the run, however many there are."""
TIMED_OUT = (None, -signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM)
PASSED = (0, 5)
"""pytest's exit codes: all passed, and no test was left to run, so that none noticed anything."""
HEAVY = (
    "numpy",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.isotonic",
    "sklearn.linear_model",
    "statsmodels.api",
    "pydantic",
    "aiohttp",
    "openai",
    "anthropic",
    "langchain_openai",
    "langgraph.graph",
)
LEFT_OUT = "not slow and not browser and not local_model"

COMPARED: Mapping[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: (r"is\s+not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: (r"not\s+in", ("in",)),
}
COMPUTED: Mapping[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}


@dataclass(frozen=True, slots=True, order=True)
class Mutant:
    """A byte range of one file, and its replacement."""

    path: str
    line: int
    begin: int
    end: int
    by: str

    def applied(self, source: bytes) -> bytes:
        """Return the file's content with the fault."""
        return source[: self.begin] + self.by.encode() + source[self.end :]

    def lines(self, source: bytes) -> tuple[str, str]:
        """Return the line with the fault, before and after; several lines are joined."""
        first = source.rfind(b"\n", 0, self.begin) + 1
        last = source.find(b"\n", self.end)
        last = len(source) if last < 0 else last
        after = source[first : self.begin] + self.by.encode() + source[self.end : last]
        return _one_line(source[first:last]), _one_line(after)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of tests: killed (one failed), lived (none did), timed out; and the failures."""

    how: str
    failing: tuple[str, ...] = ()


def _one_line(text: bytes) -> str:
    line = " ".join(text.decode().split())
    return line if len(line) <= MAX_SHOWN else line[:MAX_SHOWN] + " ..."


class _Finder(ast.NodeVisitor):
    """A collector of the mutants of one file; unobservable code such as annotations has none."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        self.source = source
        self.mutants: list[Mutant] = []
        self._line_begins = [0]
        for line in source.splitlines(keepends=True):
            self._line_begins.append(self._line_begins[-1] + len(line))

    def _begin(self, node: Any) -> int:
        return self._line_begins[node.lineno - 1] + int(node.col_offset)

    def _end(self, node: Any) -> int:
        return self._line_begins[node.end_lineno - 1] + int(node.end_col_offset)

    def _replace(self, begin: int, end: int, by: str) -> None:
        line = self.source.count(b"\n", 0, begin) + 1
        self.mutants.append(Mutant(self.path, line, begin, end, by))

    def _between(self, left: ast.AST, right: ast.AST, operator: str, by: str) -> None:
        """Replace the operator, a pattern, between two nodes."""
        begin, end = self._end(left), self._begin(right)
        if match := re.search(operator.encode(), self.source[begin:end]):
            self._replace(begin + match.start(), begin + match.end(), by)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, node.comparators, strict=False):
            pattern, operators = COMPARED[type(operator)]
            for replacement in operators:
                self._between(left, right, pattern, replacement)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        operator = COMPUTED.get(type(node.op))
        if (
            operator
            and not _is_text(node.left)
            and not (_is_type(node.left) or _is_type(node.right))
        ):
            self._between(node.left, node.right, re.escape(operator[0]), operator[1])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if operator := COMPUTED.get(type(node.op)):
            self._between(node.target, node.value, re.escape(operator[0]) + "=", operator[1] + "=")
        self.visit(node.value)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, *words)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace(self._begin(node), self._begin(node.operand), "")
        elif isinstance(node.op, ast.USub):
            self._replace(self._begin(node), self._begin(node.operand), "+")
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            begin, end = self._begin(test), self._end(test)
            self._replace(begin, end, f"not ({self.source[begin:end].decode()})")

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self._negate(node.test)
            self.generic_visit(node)

    visit_While = visit_IfExp = visit_If  # noqa: N815

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(self._begin(node), self._end(node), str(not node.value))
        elif isinstance(node.value, int | float):
            self._replace(self._begin(node), self._end(node), repr(node.value + 1))

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        if ast.unparse(node.value) not in {"None", "True", "False"}:
            self._replace(self._begin(node.value), self._end(node.value), "None")
        self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        self._visit_body(node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_body(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # a guard of zip's that never fires in sound code
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Skip the texts of errors."""

    visit_JoinedStr = visit_Assert = visit_Raise  # noqa: N815

    def _visit_body(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)


def _is_text(node: ast.expr) -> bool:
    """Return whether `%` or `+` concatenates text at this node."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _is_type(node: ast.expr) -> bool:
    """Return whether `|` builds a union of types at this node."""
    if isinstance(node, ast.Constant):
        return node.value is None
    if not isinstance(node, ast.Name):
        return False
    return isinstance(getattr(builtins, node.id, None), type) or node.id.lstrip("_")[:1].isupper()


def candidates(path: str, source: bytes) -> list[Mutant]:
    """Return all potential mutants of a file, in order."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return sorted(set(finder.mutants))


def is_program(mutant: Mutant, source: bytes) -> bool:
    """Return whether the mutated file is valid Python and a different program."""
    try:
        mutated_tree = ast.parse(mutant.applied(source))
    except SyntaxError:
        return False
    return ast.dump(mutated_tree) != ast.dump(ast.parse(source))


def files_of(root: Path, place: str) -> list[str]:
    """Return the files of `place`: a package or module in fairjudge, or a path."""
    base = root if place.endswith(".py") or place.startswith("fairjudge/") else root / "fairjudge"
    if place in AT_ROOT:
        base = root
    folder = base / place
    if folder.is_dir():
        result = sorted(folder.rglob("*.py"))
    elif folder.is_file():
        result = [folder]
    else:
        result = sorted(base.glob(f"{place}.py")) + sorted(base.glob(f"{place}_*.py"))
    if not result:
        raise SystemExit(f"error: there is nothing called {place!r} below fairjudge")
    return [path.relative_to(root).as_posix() for path in result]


def draw(root: Path, places: Sequence[str], *, n: int, seed: int) -> list[Mutant]:
    """Return `n` random mutants of the places; all mutants of a place `FILE:LINE`."""
    sources: dict[str, bytes] = {}
    chosen: list[Mutant] = []
    drawn_from: list[Mutant] = []
    for place in places:
        path, _, line = place.partition(":")
        for file in files_of(root, path):
            sources[file] = (root / file).read_bytes()
            result = candidates(file, sources[file])
            if line:
                chosen += [mutant for mutant in result if mutant.line == int(line)]
            else:
                drawn_from += result
    random.Random(seed).shuffle(drawn_from)
    sound = (mutant for mutant in drawn_from if is_program(mutant, sources[mutant.path]))
    chosen = [mutant for mutant in chosen if is_program(mutant, sources[mutant.path])]
    return chosen + sorted(islice(sound, n))


def relevant_tests(path: str, tests: Mapping[str, str]) -> list[list[str]]:
    """Return the test files relevant to a module, in lists to run in order.

    First those named after it or importing it, which detect most faults; then those in its folder;
    then those of complete commands named after its package.
    """
    parts = path.removesuffix(".py").split("/")
    parts = parts if parts[0] == "fairjudge" else ["fairjudge", *parts]
    package, dotted = ".".join(parts[:-1]), ".".join(parts)
    import_pattern = re.compile(
        rf"{re.escape(dotted)}\b|from {re.escape(package)} import [^\n]*\b{re.escape(parts[-1])}\b"
    )
    folders = {name: name.split("/")[1:-1] for name in tests}
    near = [name for name, folder in folders.items() if not WHOLE_PROGRAM & set(folder)]
    same_folder = [name for name in near if folders[name] == parts[1:-1]]
    files = [name for name in same_folder if f"/test_{parts[-1].strip('_')}" in name]
    importers = [name for name in near if import_pattern.search(tests[name])]
    first = list(dict.fromkeys([*files, *importers[:MAX_IMPORTING]]))
    folder_tests = [name for name in same_folder if name not in first] if len(parts) > 2 else []
    package_test = f"/test_{parts[1].partition('_')[0][:MAX_PER_NAME]}"
    commands = [name for name in tests if name not in near and package_test in name]
    return [items for items in (first, folder_tests, commands) if items]


@contextmanager
def copy_of(root: Path) -> Iterator[Path]:
    """Yield a temporary copy of the tree in which `fairjudge` is a complete package."""
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, "tree")
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
        for name in AT_ROOT:
            if (copy / name).is_dir() and not (copy / "fairjudge" / name).exists():
                (copy / "fairjudge" / name).symlink_to(Path("..", name))
        yield copy


def run_tests(copy: Path, options: Sequence[str]) -> Outcome:
    """Run tests on the copy, in a separate process."""
    log = copy.parent / "tests.xml"
    log.unlink(missing_ok=True)
    process = multiprocessing.get_context("fork").Process(
        target=_test, args=(copy, [f"--junitxml={log}", "-o", "junit_family=xunit1", *options])
    )
    process.start()
    try:
        process.join(MAX_WALL_SECONDS)
        code = process.exitcode
    finally:  # with the servers and commands that they started
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.kill()
        process.join()
    if code is None or code < 0:
        return Outcome("timed out" if code in TIMED_OUT else "killed")
    failing = tuple(_failing(log)) if log.exists() else ()
    return Outcome("lived" if code in PASSED else "killed", failing)


def _failing(log: Path) -> Iterator[str]:
    for case in ET.parse(log).iter("testcase"):  # noqa: S314  # pytest wrote it
        if case.find("failure") is not None or case.find("error") is not None:
            file = str(case.get("file"))
            within = str(case.get("classname")).split(".")[len(Path(file).parts) :]
            yield "::".join([file, *within, str(case.get("name"))])


class _Alarm:
    """A pytest plugin that exits the process if a test takes too long."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        signal.alarm(MAX_TEST_SECONDS)
        try:
            return (yield)
        finally:
            signal.alarm(0)


def _test(copy: Path, options: Sequence[str]) -> None:
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS + 5))
    os.chdir(copy)
    sys.path[0] = os.environ["PYTHONPATH"] = str(copy)
    # A file of the same size and second would be taken for the one compiled before.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    hypothesis.settings.register_profile(
        "mutants", derandomize=True, deadline=None, database=None, max_examples=25
    )
    hypothesis.settings.load_profile("mutants")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    plugins = ("no:cacheprovider", "pytest_asyncio.plugin", "_hypothesis_pytestplugin")
    always = [word for plugin in plugins for word in ("-p", plugin)]
    always += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    sys.exit(int(pytest.main([*always, "-m", LEFT_OUT, *options], plugins=[_Alarm()])))


def preload() -> None:
    """Import third-party packages that tests use, once for all processes."""
    for name in HEAVY:
        with suppress(ImportError):
            importlib.import_module(name)


def known_equivalents(root: Path) -> dict[tuple[str, str, str], str]:
    """Return the reasons why mutants (path, line before, line after) are equivalent."""
    path = root / "tests" / "equivalent_mutants.toml"
    rows = tomllib.loads(path.read_text("utf-8")).get("mutant", []) if path.exists() else []
    return {(row["path"], row["before"], row["after"]): row["why"] for row in rows}


def judge(root: Path, mutants: Sequence[Mutant]) -> Counter[str]:
    """Run the tests of each mutant, print the survivors, and return the counts of outcomes.

    A test that fails on the unchanged copy is excluded, and the mutants that it killed run again.
    """
    texts = {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in sorted((root / "tests").rglob("test_*.py"))
    }
    equivalent = known_equivalents(root)
    counts: Counter[str] = Counter()
    unsound: dict[str, bool] = {}
    preload()
    with copy_of(root) as copy:
        for mutant in mutants:
            before, after = mutant.lines((copy / mutant.path).read_bytes())
            reason = equivalent.get((mutant.path, before, after), "")
            tests = relevant_tests(mutant.path, texts)
            begun = time.monotonic()
            if reason:
                how = "equivalent"
            elif reason := _lacks(mutant.path):
                how = "not run"
            else:
                how = _run_one(copy, mutant, tests, unsound)
            counts[how] += 1
            reason = reason or f"{time.monotonic() - begun:.0f} s"
            print(f"{how}: {mutant.path}:{mutant.line} ({reason})", flush=True)  # noqa: T201
            if how != "killed":
                print(f"  - {before}\n  + {after}", flush=True)  # noqa: T201
    for test in sorted(test for test, fails in unsound.items() if fails):
        print(f"left out, since it fails without a mutant: {test}")  # noqa: T201
    return counts


def _lacks(path: str) -> str:
    """Return the missing optional package without which a module's tests are skipped, if any."""
    package = Path(path).stem.partition("_")[0]
    is_missing = package in OPTIONAL and importlib.util.find_spec(package) is None
    return f"{package} is not installed" if is_missing else ""


def _run_one(
    copy: Path, mutant: Mutant, tests: Sequence[Sequence[str]], unsound: dict[str, bool]
) -> str:
    """Return a mutant's outcome; ``unsound`` maps failed tests to whether they always fail."""
    sound = (copy / mutant.path).read_bytes()
    for items in tests:
        while True:
            deselections = [f"--deselect={test}" for test, fails in unsound.items() if fails]
            (copy / mutant.path).write_bytes(mutant.applied(sound))
            try:
                outcome = run_tests(copy, ["-x", *deselections, *items])
            finally:
                (copy / mutant.path).write_bytes(sound)
            for test in outcome.failing:
                if test not in unsound:
                    unsound[test] = test in run_tests(copy, [test]).failing
            if not any(unsound[test] for test in outcome.failing):
                break
        if outcome.how != "lived":
            return outcome.how
    return "lived"


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """Run random mutants and print a summary; return 1 if a mutant lived and is not equivalent."""
    parser = argparse.ArgumentParser(prog="scripts/mutate", description=__doc__)
    parser.add_argument("places", nargs="*", metavar="PLACE", help="stats, stats/levels, FILE:LINE")
    parser.add_argument("-n", type=int, default=60, help="mutants to draw (default 60)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="say what was drawn, and run nothing")
    options = parser.parse_args(arguments)
    mutants = draw(root, options.places or ALL, n=options.n, seed=options.seed)
    if options.list:
        for mutant in mutants:
            before, after = mutant.lines((root / mutant.path).read_bytes())
            print(f"{mutant.path}:{mutant.line}\n  - {before}\n  + {after}")  # noqa: T201
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        counts = judge(root, mutants)
    except KeyboardInterrupt:
        print("interrupted; what was run stands above", file=sys.stderr)  # noqa: T201
        return 130
    parts = ", ".join(f"{n} {how}" for how, n in sorted(counts.items()))
    print(f"{len(mutants)} mutants: {parts}")  # noqa: T201
    return int(bool(counts["lived"]))


if __name__ == "__main__":
    sys.exit(main())
