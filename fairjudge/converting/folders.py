"""Folders of text files with one article or summary each, by the names of folders and files.

Articles are ``articles/CLUSTER/ARTICLE.txt`` or ``articles/CLUSTER.txt``, summaries
``summaries/SYSTEM/CLUSTER.txt`` or ``summaries/CLUSTER/SYSTEM.txt``; the folder of a cluster may
also contain both, in such folders or in files such as ``article1.txt`` and ``summary_SYSTEM.txt``.
Texts without such names are articles.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from fairjudge.converting.columns import name_key, system_name
from fairjudge.converting.layouts import Layout, Settings
from fairjudge.converting.records import Entry, Kind
from fairjudge.converting.roles import REFERENCE
from fairjudge.converting.texts import articles_of, cluster, summary
from fairjudge.datasets._source import decode_text, read_bytes
from fairjudge.importing.records import Skipped
from fairjudge.text.counting import pluralize

_Content: TypeAlias = Literal["articles", "summaries", "references"]
_NAMES: Mapping[str, _Content] = {
    **dict.fromkeys(
        ("articles", "article", "documents", "sources", "source", "inputs", "input", "news"),
        "articles",
    ),
    **dict.fromkeys(
        ("summaries", "summary", "outputs", "output", "predictions", "generated", "systems"),
        "summaries",
    ),
    **dict.fromkeys(("references", "reference", "gold", "human", "humansummaries"), "references"),
}
"""Contents of the files in a folder, by the key of its name."""
_FILE_NAMES: Mapping[str, _Content] = {
    **dict.fromkeys(("summary", "summaries", "output", "prediction", "generated"), "summaries"),
    **dict.fromkeys(("reference", "gold"), "references"),
}
"""Contents of a file in a cluster's folder, by a word before or after the system in its name."""
_WHAT = f"(?P<what>{'|'.join(_FILE_NAMES)})"
_SYSTEM_LAST = re.compile(rf"{_WHAT}(?:[\s_.-]+(?P<system>.+))?", re.IGNORECASE)
_SYSTEM_FIRST = re.compile(rf"(?P<system>.+?)[\s_.-]+{_WHAT}", re.IGNORECASE)
_TEXTS = frozenset({".txt", ".md", ".text"})
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A text file; ``ids`` are the names of its folders and its own name."""

    path: Path
    content: _Content
    ids: tuple[str, ...]


def texts_of(folder: Path, *, is_only_data: bool) -> tuple[TextFile, ...]:
    """Return the text files in `folder`, only those in folders with usual names if there are any.

    Otherwise all texts are returned if the folder has no other data (`is_only_data`), else those
    in folders of clusters.
    """
    paths = sorted(_text_paths(folder), key=_sort_key)
    if usual_paths := [path for path in paths if _has_usual_name(path, folder)]:
        return tuple(_text_file(path, folder) for path in usual_paths)
    paths = [path for path in paths if is_only_data or path.parent != folder]
    base = _folder_of_clusters(paths, folder)
    files = [_text_file(path, base) for path in paths]
    return tuple(files if is_only_data else _in_clusters(files, folder))


def _folder_of_clusters(paths: Sequence[Path], folder: Path) -> Path:
    """Return the folder within `folder` that contains all folders of clusters, else `folder`."""
    parts = [path.relative_to(folder).parts for path in paths]
    firsts = {names[0] for names in parts if len(names) > 2}
    if len(firsts) == 1 and all(len(names) > 2 for names in parts):
        return _folder_of_clusters(paths, folder / firsts.pop())
    return folder


def _in_clusters(files: Sequence[TextFile], folder: Path) -> list[TextFile]:
    """Return the texts in folders of clusters within a common folder, or within `folder`.

    Directly in `folder`, only clusters with both articles and summaries by file name count.
    """
    by_folder: dict[Path, list[TextFile]] = {}
    for file in files:
        by_folder.setdefault(file.path.parent.parent, []).append(file)
    return [
        file
        for parent, siblings in by_folder.items()
        if len({file.path.parent for file in siblings}) > 1
        if (folder in parent.parents)
        or (parent == folder and {file.content for file in siblings} > {"articles"})
        for file in siblings
    ]


def text_folders(folder: Path, *, is_only_data: bool) -> list[Path]:
    """Return the folders within `folder`, or itself, whose texts `texts_of` returns."""
    files = texts_of(folder, is_only_data=is_only_data)
    firsts = list(dict.fromkeys(folder / file.path.relative_to(folder).parts[0] for file in files))
    have_usual_names = any(name_key(path.name) in _NAMES for path in firsts)
    of_clusters = any(file.path.parent in {folder, *firsts} for file in files)
    if any(file.path.parent == folder for file in files) or (
        not have_usual_names and (is_only_data or of_clusters)
    ):
        return [folder] if files else []
    return firsts


def layout_of(files: Sequence[TextFile], settings: Settings) -> Layout:
    """Return the layout of text files."""
    counts = Counter(file.content for file in files)
    kinds: dict[Kind, int] = {
        "clusters": counts["articles"],
        "summaries": counts["summaries"] + counts["references"],
    }
    parts = (
        pluralize(counts["articles"], "article"),
        pluralize(counts["summaries"], "summary", "summaries"),
        pluralize(counts["references"], "reference summary", "reference summaries"),
    )
    nonzero_parts = [part for part in parts if not part.startswith("0 ")]
    return Layout(
        name=f"one text per file: {', '.join(nonzero_parts)}",
        kinds=frozenset(kind for kind, n in kinds.items() if n),
        entries=lambda: _entries(files, settings),
    )


def _text_paths(folder: Path) -> Iterator[Path]:
    for parent, folder_names, names in os.walk(folder):
        is_deepest = len(Path(parent).relative_to(folder).parts) >= _MAX_DEPTH
        folder_names[:] = (
            [] if is_deepest else [name for name in folder_names if not name.startswith(".")]
        )
        paths = (Path(parent, name) for name in names if not name.startswith("."))
        yield from (path for path in paths if path.suffix.lower() in _TEXTS)


def _sort_key(path: Path) -> list[tuple[int, str]]:
    """Return a key that sorts ``2.txt`` before ``10.txt``."""
    return [(int(part or 0), text) for text, part in re.findall(r"(\D*)(\d*)", str(path))]


def _has_usual_name(path: Path, folder: Path) -> bool:
    return any(name_key(part) in _NAMES for part in _folders(path, folder))


def _folders(path: Path, folder: Path) -> tuple[str, ...]:
    return (folder.resolve().name, *path.relative_to(folder).parts[:-1])


def _text_file(path: Path, folder: Path) -> TextFile:
    folders = _folders(path, folder)
    contents = [_NAMES[name_key(part)] for part in folders if name_key(part) in _NAMES]
    ids = tuple(part for part in folders[1:] if name_key(part) not in _NAMES)
    content = contents[-1] if contents else "articles"
    has_usual_name = any(name_key(part) in _NAMES for part in folders[1:])
    if ids and not has_usual_name and (name_parts := _content_and_system(system_name(path))):
        content, system = name_parts
        return TextFile(path=path, content=content, ids=(system, *ids) if system else ids)
    return TextFile(path=path, content=content, ids=(*ids, system_name(path)))


def _content_and_system(name: str) -> tuple[_Content, str] | None:
    """Return the content and the system in a name such as ``summary_gpt``, else None."""
    match = _SYSTEM_LAST.fullmatch(name) or _SYSTEM_FIRST.fullmatch(name)
    return match and (_FILE_NAMES[match["what"].lower()], match["system"] or "")


def _entries(files: Sequence[TextFile], settings: Settings) -> Iterator[Entry]:
    documents: dict[str, list[str]] = {}
    for file in files:
        if file.content == "articles":
            eid = "/".join(file.ids[:-1]) or file.ids[-1]
            documents.setdefault(eid, []).append(_text(file.path))
    for eid, texts in documents.items():
        cells = texts[0] if len(texts) == 1 else texts
        if articles := articles_of(cells, split=settings.split):
            yield cluster(eid, articles)
        else:
            yield Skipped(line=0, why="a cluster without an article that has text")
    for file in files:
        if file.content == "articles":
            continue
        eid, system = _cluster_and_system(file, documents, settings)
        if not (text := _text(file.path).strip()):
            yield Skipped(line=0, why="a file without text")
        else:
            yield summary(eid, system, text)


def _cluster_and_system(
    file: TextFile, eids: Mapping[str, object], settings: Settings
) -> tuple[str, str]:
    """Return the cluster and the system of a summary; `eids` are the known clusters."""
    eid = next((name for name in reversed(file.ids) if name in eids), file.ids[-1])
    names = [name for name in file.ids if name != eid]
    if not names and len(file.ids) == 1 and name_key(file.path.stem) in _FILE_NAMES:
        return eid, settings.system or REFERENCE
    if file.content == "references":
        return eid, REFERENCE if not names else f"{REFERENCE}-{'-'.join(names)}"
    return eid, "/".join(names) or settings.system or file.path.parent.name


def _text(path: Path) -> str:
    return decode_text(read_bytes(path), path) if path.stat().st_size else ""
