"""Run the notebooks of examples/ as Jupyter does, and record the outputs of their cells.

    python tests/notebooks.py examples/trusting_a_judge.ipynb

runs a notebook in a temporary folder, and stores the outputs in it.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import json
import os
import sys
import tempfile
from pathlib import Path
from pprint import pformat
from typing import Any

Json = dict[str, Any]


def code_cells(notebook: Json) -> list[Json]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


async def run_all(path: Path) -> tuple[Json, list[Json]]:
    """Run the cells in order, within the running event loop.

    Return the final namespace, and each cell's outputs by media type.
    """
    names: Json = {"__name__": "__main__"}
    outputs = []
    for number, cell in enumerate(code_cells(json.loads(path.read_text("utf-8"))), start=1):
        title = f"{path.name}:{number}"
        body = ast.parse("".join(cell["source"]), title).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        await _run(ast.Module(body, type_ignores=[]), title, names)
        value = None
        if isinstance(last, ast.Expr):
            value = await _run(ast.Expression(last.value), title, names)
        outputs.append({} if value is None else shown(value))
    return names, outputs


async def _run(tree: ast.Module | ast.Expression, title: str, names: Json) -> object:
    mode = "eval" if isinstance(tree, ast.Expression) else "exec"
    code = compile(tree, title, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)  # noqa: S307  # our own notebook
    return await result if inspect.isawaitable(result) else result


def shown(value: object) -> dict[str, str]:
    """Return Jupyter's display of a value, by media type."""
    plain = value if isinstance(value, (dict, list, tuple)) else None
    outputs = {"text/plain": repr(value) if plain is None else pformat(plain, sort_dicts=False)}
    html = getattr(value, "_repr_html_", None)
    return outputs if html is None else {"text/html": html(), **outputs}


def stored(cell: Json) -> dict[str, str]:
    """Return a cell's output stored in a notebook, by media type."""
    return {
        media_type: "".join(lines)
        for output in cell["outputs"]
        for media_type, lines in output["data"].items()
    }


def record(path: Path) -> None:
    """Run a notebook and store its outputs."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["XDG_CACHE_HOME"] = folder
        _, outputs = asyncio.run(run_all(path))
    notebook = json.loads(path.read_text("utf-8"))
    for number, (cell, output) in enumerate(
        zip(code_cells(notebook), outputs, strict=True), start=1
    ):
        cell["execution_count"] = number
        cell["outputs"] = (
            [
                {
                    "data": {name: text.splitlines(keepends=True) for name, text in output.items()},
                    "execution_count": number,
                    "metadata": {},
                    "output_type": "execute_result",
                }
            ]
            if output
            else []
        )
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        record(Path(name).resolve())
