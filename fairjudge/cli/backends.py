"""``fairjudge backends list``: the backends, and the package and key of each."""

from __future__ import annotations

from dataclasses import asdict

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.errors import MissingExtraError

app = Application(name="backends", help="The backends: providers of models, and the local one.")


@app.command("list")
def list_(*, json_file: opt.Json = None) -> None:
    """List the backends, the package and the key that each needs, and whether these are present.

    A backend is written provider:model, such as openai:gpt-4o-mini. Any server that speaks a
    provider's format serves with --base-url.
    """
    import importlib.util

    from fairjudge.backends import LOCAL, LOCAL_LARGE, backend_kinds
    from fairjudge.reports.tables import TextTable, columns, print_table
    from fairjudge.scorers import large_package

    local_here = large_here = importlib.util.find_spec("torch") is not None
    try:
        large_package.check_installed()
    except MissingExtraError:
        large_here = False
    description = "embedded: small trained models, no LLM, no key"
    larger = "the same by a larger encoder: better, and slow without a GPU"
    rows = [
        (LOCAL, description, _package("local", is_installed=local_here)),
        (LOCAL_LARGE, larger, _package("local-large", is_installed=large_here)),
    ]
    for kind in backend_kinds():
        key = "" if kind.has_key else f"{kind.key_variable} is not set"
        package = _package(kind.extra, is_installed=kind.is_installed) if kind.extra else "ready"
        state = key if package == "ready" and key else package
        rows.append((f"{kind.provider}:...", kind.what, state))
    if json_file != "-":
        heads = columns("backend", "what it is", "state")
        print_table(TextTable(title="Backends", columns=heads, rows=tuple(rows)))
    kinds = [
        asdict(kind)
        | {"needs": kind.package, "installed": kind.is_installed, "has_key": kind.has_key}
        for kind in backend_kinds()
    ]
    local = {LOCAL: {"installed": local_here}, LOCAL_LARGE: {"installed": large_here}}
    display.write_json(json_file, local | {"backends": kinds})


def _package(extra: str | None, *, is_installed: bool) -> str:
    return "ready" if is_installed else f"pip install 'fairjudge[{extra}]'"
