"""Measure the code of a checkout: sizes, imports, long functions, options, names of protocols.

    python benchmarks/house.py BEFORE AFTER --json figures.json

Each checkout is a column. Code lines contain something other than comments and docstrings. An
importer is another module of the package, including late imports and imports for types only. A
function's lines are the code lines of its body, including nested functions.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from _machine import write_results

PACKAGE = "fairjudge"
LINKED = ("calibration", "graphs", "prompts")
"""Folders at the root that are subpackages."""
PROTOCOLS = {"likert", "binary", "pairwise", "checklist", "ranking"}
N_LONGEST = 10
_SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
Functions = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """One module: its tree, its code lines, and the names that it imports."""

    def __init__(self, name: str, text: str, *, is_package: bool) -> None:
        self.name = name
        self.tree = ast.parse(text)
        self.code_lines = _code_lines(text, self.tree)
        self._is_package = is_package

    def imported(self) -> Iterator[str]:
        """Yield the dotted names of the imported modules and of the imported members."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = ".".join(filter(None, (self._parent(node.level), node.module)))
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)

    def _parent(self, level: int) -> str:
        parts = self.name.split(".")
        return ".".join(parts[: len(parts) + self._is_package - level]) if level else ""


def _code_lines(text: str, tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that contain code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and _is_text(statement.value):
                lines.difference_update(range(statement.lineno, (statement.end_lineno or 0) + 1))
    return lines


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def modules_of(checkout: Path) -> dict[str, Module]:
    """Return the modules of a checkout by name, including root folders that are not linked."""
    folders = {PACKAGE: checkout / PACKAGE}
    folders |= {f"{PACKAGE}.{name}": checkout / name for name in LINKED}
    results: dict[str, Module] = {}
    for prefix, folder in folders.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join((prefix, *(parts[:-1] if is_package else parts)))
            results[name] = Module(name, path.read_text("utf-8"), is_package=is_package)
    return results


def importers(modules: Mapping[str, Module]) -> Mapping[str, set[str]]:
    """Return, for each module, the modules that import it by a statement."""
    results: dict[str, set[str]] = {name: set() for name in modules}
    for module in modules.values():
        for name in set(module.imported()):
            if name in results and name != module.name:
                results[name].add(module.name)
    return results


def function_lines(modules: Mapping[str, Module]) -> list[tuple[int, str]]:
    """Return every function with the code lines of its body, the longest first."""
    results = []
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, Functions):
                span = range(node.body[0].lineno, (node.end_lineno or 0) + 1)
                results.append((len(module.code_lines & set(span)), f"{module.name}:{node.name}"))
    return sorted(results, key=lambda function: (-function[0], function[1]))


def _names_protocol(node: ast.expr | None) -> bool:
    """Return whether `node` is a protocol's name, or a collection that contains one."""
    if isinstance(node, ast.Constant):
        return node.value in PROTOCOLS if isinstance(node.value, str) else False
    return isinstance(node, ast.Tuple | ast.List | ast.Set) and any(map(_names_protocol, node.elts))


def compared_protocols(module: Module) -> int:
    """Count comparisons (``==``, ``!=``, ``in``, ``not in``) and cases with protocols' names."""
    n = 0
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Compare):
            n += any(map(_names_protocol, (node.left, *node.comparators)))
        elif isinstance(node, ast.match_case):
            values = (
                match.value for match in ast.walk(node.pattern) if isinstance(match, ast.MatchValue)
            )
            n += any(map(_names_protocol, values))
    return n


def calls_of(module: Module, *names: str) -> int:
    """Count calls of functions with the dotted `names`."""
    calls = (node.func for node in ast.walk(module.tree) if isinstance(node, ast.Call))
    return sum(ast.unparse(call) in names for call in calls)


def figures(checkout: Path) -> dict[str, Any]:
    """Return all measures of a checkout."""
    modules = modules_of(checkout)
    within = {name: name.split(".") for name in modules}
    lines: Counter[str] = Counter()
    for name, module in modules.items():
        deep = len(within[name]) > 2 or any(other.startswith(f"{name}.") for other in modules)
        folder = within[name][1] if deep and name != PACKAGE else "(root)"
        lines[folder] += len(module.code_lines)
    compared = {name: n for name, module in modules.items() if (n := compared_protocols(module))}
    cli = [module for name, module in modules.items() if name.startswith(f"{PACKAGE}.cli")]
    alone = sorted(name for name, sources in importers(modules).items() if len(sources) == 1)
    sizes = sorted(len(module.code_lines) for module in modules.values())
    return {
        "modules": len(modules),
        "root modules": sum(
            len(parts) == 2 and not any(other.startswith(f"{name}.") for other in modules)
            for name, parts in within.items()
        ),
        "code lines": sum(lines.values()),
        "median module": sizes[len(sizes) // 2],
        "longest module": sizes[-1],
        "modules with one importer": len(alone),
        "options: typer.Option": sum(calls_of(module, "typer.Option") for module in cli),
        "options: typer.Argument": sum(calls_of(module, "typer.Argument") for module in cli),
        "options: Opt": sum(calls_of(module, "Opt") for module in modules.values()),
        "comparisons with a protocol's name": sum(compared.values()),
        "modules with such comparisons": len(compared),
        "lines by folder": dict(sorted(lines.items())),
        "longest functions": [f"{n} {name}" for n, name in function_lines(modules)[:N_LONGEST]],
        "comparisons by module": dict(sorted(compared.items())),
        "one importer": alone,
    }


def table(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table with one row per measure and one column per checkout."""
    rows = [[""] + [name[-20:] for name in columns]]
    for name, value in next(iter(columns.values())).items():
        if isinstance(value, int):
            rows.append([name, *(str(column[name]) for column in columns.values())])
    folders = sorted(
        {folder for column in columns.values() for folder in column["lines by folder"]}
    )
    for folder in folders:
        counts = (str(column["lines by folder"].get(folder, 0)) for column in columns.values())
        rows.append([f"lines of {folder}", *counts])
    for place in range(N_LONGEST):
        longest = (column["longest functions"][place] for column in columns.values())
        rows.append([f"function {place + 1}", *longest])
    yield from ("  ".join([f"{row[0]:<36}", *(f"{cell:>20}" for cell in row[1:])]) for row in rows)


def main() -> None:
    """Print the measures of the checkouts on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", nargs="+", type=Path, help="folders with fairjudge/")
    parser.add_argument("--json", type=Path, help="also write the figures, with all names, here")
    options = parser.parse_args()
    columns = {str(checkout): figures(checkout) for checkout in options.checkouts}
    print("\n".join(table(columns)))
    write_results(options.json, columns)


if __name__ == "__main__":
    main()
