"""``fairjudge backends list``: the backends, with the package and API key of each."""

from __future__ import annotations

from dataclasses import asdict

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.errors import MissingExtraError

app = Application(name="backends", help="List the backends: model providers and local models.")


@app.command("list")
def list_(*, json_file: opt.Json = None) -> None:
    """List the backends, with the package and API key each needs and whether they are present.

    A backend is written PROVIDER:MODEL, such as openai:gpt-4o-mini. Servers that implement a
    provider's API can be used with --base-url.
    """
    import importlib.util

    from fairjudge.backends import LOCAL, LOCAL_LARGE, backend_kinds
    from fairjudge.reports.tables import TextTable, columns, print_table
    from fairjudge.scorers import large_package

    local_installed = large_installed = importlib.util.find_spec("torch") is not None
    try:
        large_package.check_installed()
    except MissingExtraError:
        large_installed = False
    local_description = "embedded: small trained models, no LLM, no key"
    large_description = "with a larger encoder: more accurate, slow without a GPU"
    rows = [
        (LOCAL, local_description, _package("local", is_installed=local_installed)),
        (LOCAL_LARGE, large_description, _package("local-large", is_installed=large_installed)),
    ]
    for kind in backend_kinds():
        key = "" if kind.has_key else f"{kind.key_variable} is not set"
        package = _package(kind.extra, is_installed=kind.is_installed) if kind.extra else "ready"
        state = key if package == "ready" and key else package
        rows.append((f"{kind.provider}:...", kind.what, state))
    if json_file != "-":
        headers = columns("backend", "description", "state")
        print_table(TextTable(title="Backends", columns=headers, rows=tuple(rows)))
    kinds = [
        asdict(kind)
        | {"needs": kind.package, "installed": kind.is_installed, "has_key": kind.has_key}
        for kind in backend_kinds()
    ]
    local = {LOCAL: {"installed": local_installed}, LOCAL_LARGE: {"installed": large_installed}}
    display.write_json(json_file, local | {"backends": kinds})


def _package(extra: str | None, *, is_installed: bool) -> str:
    return "ready" if is_installed else f"pip install 'fairjudge[{extra}]'"
