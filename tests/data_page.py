"""The layouts of docs/your-data.md: each layout's files and the commands that read them."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "your-data.md"
_BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Layout:
    """A section of the page."""

    title: str
    files: dict[str, str]
    lines: tuple[list[str], ...]

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            (folder / name).write_text(text, "utf-8")


def layouts() -> list[Layout]:
    """Return the sections of the page that read a file."""
    items = []
    for section in PAGE.read_text("utf-8").split("\n## ")[1:]:
        blocks = _BLOCK.findall(section)
        files = {name: text for _, name, text in blocks if name}
        lines = tuple(shlex.split(text)[1:] for kind, _, text in blocks if kind == "sh")
        if lines:
            items.append(Layout(section.partition("\n")[0], files, lines))
    return items


def write_tables(folder: Path) -> None:
    """Write the first layout's rows as Parquet and as a data set on disk, with the page's names."""
    import pyarrow as pa
    from pyarrow import parquet

    (text,) = layouts()[0].files.values()
    table = pa.Table.from_pylist([json.loads(line) for line in text.splitlines()])
    parquet.write_table(table, folder / "test.parquet")
    split = folder / "multi_news" / "test"
    split.mkdir(parents=True)
    with pa.ipc.new_stream(split / "data-00000-of-00001.arrow", table.schema) as stream:
        stream.write_table(table)
    (split / "state.json").write_text(
        '{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}'
    )
    (folder / "multi_news" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
