"""Record golden values again: ``python tests/golden/record.py NAME...``, or ``--all``.

Only to be run by hand, for a change that intentionally invalidates runs, replies or labels.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("golden.json")
ABSENT = "(absent)"


@functools.cache
def read_golden() -> dict[str, Any]:
    """Return the recorded values by case."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def differences(recorded: Any, new: Any) -> list[str]:
    """Return one line per different value, with its position."""
    before, now = dict(_flat(recorded)), dict(_flat(json.loads(json.dumps(new))))
    return [
        f"{place}: {_text(before, place)} -> {_text(now, place)}"
        for place in sorted(before.keys() | now.keys())
        if _text(before, place) != _text(now, place)
    ]


def _text(values: dict[str, Any], place: str) -> str:
    return repr(values[place]) if place in values else ABSENT


def _flat(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, field in value.items():
            yield from _flat(field, f"{place}.{name}" if place else name)
    elif isinstance(value, list) and value:
        for number, field in enumerate(value):
            yield from _flat(field, f"{place}[{number}]")
    else:
        yield place, value


def main() -> None:
    """Write the values of the cases on the command line."""
    tests = Path(__file__).parents[1]
    sys.path[:0] = [str(tests), str(Path(__file__).parent), str(tests.parent)]
    from golden_cases import CASES, LOCAL_CASES
    from scripted_plugin import install

    cases = CASES | LOCAL_CASES
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases to record")
    parser.add_argument("--all", action="store_true", help="record every case")
    request = parser.parse_args()
    names = list(cases) if request.all else request.names
    if not names:
        parser.error("name the cases to record, or give --all")
    with tempfile.TemporaryDirectory() as folder:
        sys.path.append(str(install(Path(folder) / "site")))
        recorded = dict(read_golden())
        for number, name in enumerate(names):
            place = Path(folder) / str(number)
            place.mkdir()
            recorded[name] = cases[name](place)
    by_name = {name: recorded[name] for name in cases if name in recorded}
    FILE.write_text(json.dumps(by_name, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
