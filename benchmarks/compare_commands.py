"""Compare the output and files of two checkouts' commands, byte by byte after masking.

``record`` runs every line of `LINES` in a checkout, with its own Python, on made-up data and a
stub model on loopback, and stores exit code, output and every written file::

    cd benchmarks
    python compare_commands.py record --checkout DIR --python DIR/.venv/bin/python --out A
    python compare_commands.py compare A B --allow schema

``compare`` lists the differences, JSON by JSON. All lines of a checkout run in one process, one
after another, in one folder: later lines read files of earlier ones. Masked are the port of the
stub, the folders, dates, durations, marks around untrusted text, and hashes of these (`MASKS`),
which the golden tests check instead. Standard error is stored but not compared.
To add a line, add an entry to `LINES` in ``_command_lines.py``: a name and a command, in which
``{llm}`` stands for the stub's options.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import hashlib
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _command_lines import LINES

TESTS = Path(__file__).resolve().parents[1] / "tests"
SHOWN_DIFFERENCES = 12
"""Differences shown of one line at most."""


def record(options: argparse.Namespace) -> int:
    """Run all command lines in one Python process of the checkout, and record their output."""
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    words = [
        options.python,
        __file__,
        "_work",
        "--checkout",
        options.checkout,
        "--out",
        options.out,
    ]
    process = subprocess.run([*map(str, words), "--only", options.only], check=False)
    return process.returncode


def work(options: argparse.Namespace) -> int:
    """Run the lines in this process, in a temporary folder."""
    out = options.out.resolve()
    sys.path[:] = [str(options.checkout.resolve()), *sys.path[1:], str(TESTS)]
    sys.path.append(str(Path(__file__).parent))
    from _command_model import open_models
    from _command_world import STUDY, write_world

    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, open_models() as models, contextlib.chdir(folder):
        _set_environment(Path(folder))
        write_world()
        Path("study.toml").write_text(STUDY.replace("URL", models.url + "/v1"))
        for name, line in LINES:
            if fnmatch.fnmatch(name, options.only):
                _one(
                    name,
                    models.fill(line, name),
                    out,
                    places=(models.url, str(Path(folder).resolve())),
                )
    print(f"{len(LINES)} lines in {time.monotonic() - began:.0f} s: {out}")
    if unknown := _unknown_options(out):
        print(f"these lines have an option that is none: {', '.join(unknown)}")
    return int(bool(unknown))


def _set_environment(folder: Path) -> None:
    for name in [name for name in os.environ if "proxy" in name.lower() or "API_" in name]:
        del os.environ[name]
    os.environ |= {
        "XDG_CACHE_HOME": str(folder / "cache"),
        "COLUMNS": "100",
        "OPENAI_API_KEY": "key-of-the-stub",
        "ANTHROPIC_API_KEY": "key-of-the-stub",
        "HF_HUB_OFFLINE": "1",
    }


def _one(name: str, line: str, out: Path, *, places: tuple[str, ...]) -> None:
    """Run one line, and store its output and files."""
    before = _files()
    folder = out / name
    folder.mkdir()
    code = _run(shlex.split(line), folder)
    print(f"{name}: {code}", flush=True)
    (folder / "code").write_text(f"{code}\n")
    for path in sorted(_files().items() - before.items()):
        source = Path(path[0])
        target = folder / "files" / source
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix != ".parquet":
            with contextlib.suppress(UnicodeDecodeError):
                file.write_text(_masked(file.read_text("utf-8"), places, name=name), "utf-8")


def _unknown_options(out: Path) -> list[str]:
    """Return the lines that failed since the command has no such option."""
    return [
        name
        for name, line in LINES
        if "--no-such-option" not in line
        and (stderr := out / name / "stderr").exists()
        and "No such option" in stderr.read_text("utf-8", "replace")
    ]


def _files() -> dict[str, str]:
    """Return the files of this folder, except caches and runs, with hashes of their content."""
    hidden = {"cache", "over", "runs"}
    return {
        path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path().rglob("*")
        if path.is_file() and not hidden & set(path.parts) and path.suffix not in {".db", ".lock"}
    }


def _run(words: list[str], folder: Path) -> object:
    """Run ``fairjudge`` in this process and return its exit code; output goes to files."""
    saved = [os.dup(1), os.dup(2)]
    argv, sys.argv = sys.argv, ["fairjudge", *words]
    code: object = 0
    try:
        for number, name in ((1, "stdout"), (2, "stderr")):
            with (folder / name).open("wb") as file:
                os.dup2(file.fileno(), number)
        try:
            runpy.run_module("fairjudge", run_name="__main__")
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException as error:  # kept as what the line came to
            code = f"{type(error).__name__}: {error}"
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        sys.argv = argv
        for number, old in zip((1, 2), saved, strict=True):
            os.dup2(old, number)
            os.close(old)
    return code


MASKS: tuple[tuple[str, str], ...] = (
    (r"\b(judge|build|summarize|split|align|audit-\w+)-[0-9a-f]{12}\b", r"\1-RUN"),
    (r"(</?\w+) [0-9a-f]{12}\b", r"\1 MARK"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z|\+00:00)?", "WHEN"),
    (r'("(?:size_bytes|seconds|\w*[tT]imeUnixNano)": ?)"?[\d.e+-]+"?', r'\1"VARIES"'),
    # Hashes with the port in them, or of files with a time in them; 12 digits address a row.
    (r'"[0-9a-f]{12}"', '"HASH"'),
    (r'("(?:key|checksum|candidates)": ?)"[0-9a-f]{16,64}"', r'\1"HASH"'),
    (r'("[^"]+\.(?:jsonl?|html)": ?)"[0-9a-f]{64}"', r'\1"HASH"'),
)
"""What differs from run to run, and what stands in its place."""
STUDY_SECONDS = r"(?m)( +)\d+\.\d *$"


def _masked(text: str, places: tuple[str, ...], *, name: str) -> str:
    """Mask in `text`, written by the line `name`, all values that vary between runs."""
    for place in places:
        text = text.replace(place, "PLACE")
        text = text.replace(place.removeprefix("http://"), "PLACE")
    masks = (*MASKS, (STUDY_SECONDS, " SECONDS")) if name.startswith("study") else MASKS
    for pattern, instead in masks:
        text = re.sub(pattern, instead, text)
    return text


def compare(options: argparse.Namespace) -> int:
    """Print the differences between two recordings; return 1 if there are any."""
    names = sorted(
        {path.name for folder in (options.first, options.second) for path in folder.iterdir()}
    )
    changed = 0
    for name in names:
        lines = list(
            _line_differences(options.first / name, options.second / name, set(options.allow))
        )
        changed += bool(lines)
        if lines:
            print(f"{name}:")
            more = len(lines) - SHOWN_DIFFERENCES
            print("\n".join(f"  {line}" for line in lines[:SHOWN_DIFFERENCES]))
            print(f"  and {more} more\n" if more > 0 else "")
    print(f"{changed} of {len(names)} lines differ")
    return int(changed > 0)


def _line_differences(first: Path, second: Path, allowed: set[str]) -> Iterator[str]:
    paths = {
        path.relative_to(folder)
        for folder in (first, second)
        for path in folder.rglob("*")
        if path.is_file() and path.name != "stderr"
    }
    for path in sorted(paths):
        before, now = first / path, second / path
        if not before.exists() or not now.exists():
            yield f"{path}: only in {'the second' if now.exists() else 'the first'}"
        elif before.read_bytes() != now.read_bytes():
            yield from (
                f"{path}: {difference}" for difference in _differences(before, now, allowed)
            )


def _differences(before: Path, now: Path, allowed: set[str]) -> Iterator[str]:
    values = [_as_json(path) for path in (before, now)]
    if None in values:
        texts = [path.read_text("utf-8", "replace").splitlines() for path in (before, now)]
        for number in range(max(map(len, texts))):
            old, new = (text[number] if number < len(text) else None for text in texts)
            if old != new:
                yield f"line {number + 1}: {old!r:.160} -> {new!r:.160}"
        return
    first, second = (dict(_flat(value, allowed)) for value in values)
    for place in sorted(first.keys() | second.keys()):
        if first.get(place, "(absent)") != second.get(place, "(absent)"):
            old, new = first.get(place, "(absent)"), second.get(place, "(absent)")
            yield f"{place}: {old!r:.80} -> {new!r:.80}"


def _as_json(path: Path) -> Any:
    """Return the content of a JSON file, or of a JSONL file as a list; else None."""
    text = path.read_text("utf-8", "replace")
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines()] or None
    except ValueError:
        return None


def _flat(value: Any, allowed: set[str], place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            if name not in allowed:
                yield from _flat(item, allowed, f"{place}.{name}")
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _flat(item, allowed, f"{place}[{number}]")
    else:
        yield place, value


def main() -> int:
    """Run the subcommand."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(required=True, metavar="record|compare")
    for name, call in (("record", record), ("_work", work)):
        part = parts.add_parser(name, help="run every line in a checkout")
        part.add_argument("--checkout", type=Path, required=True, help="folder with fairjudge/")
        part.add_argument("--python", default=sys.executable, help="its Python")
        part.add_argument("--out", type=Path, required=True, help="where results go; emptied")
        part.add_argument("--only", default="*", help="lines of such names, such as 'judge-*'")
        part.set_defaults(call=call)
    part = parts.add_parser("compare", help="show what differs between two recordings")
    part.add_argument("first", type=Path)
    part.add_argument("second", type=Path)
    part.add_argument("--allow", nargs="*", default=[], help="keys of JSON that may differ")
    part.set_defaults(call=compare)
    options = parser.parse_args()
    return int(options.call(options))


if __name__ == "__main__":
    sys.exit(main())
