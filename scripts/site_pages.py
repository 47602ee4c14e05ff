"""Pages of the site outside docs/: README.md as its first page, and files that pages link to.

This file is a hook in `mkdocs.yml`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\((?:\.\./|docs/)?([\w./-]+)(?:#[\w-]*)?\)")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the first page, and every file of the project that a page links to."""
    readme = (ROOT / "README.md").read_text("utf-8")
    texts = [readme]
    texts += [one.content_string for one in files.documentation_pages() if "/" not in one.src_uri]
    linked = {name for text in texts for name in LINK.findall(text)}
    known = {one.src_uri for one in files}
    for name in sorted(linked - known):
        if (ROOT / name).is_file():
            path = str(ROOT / name)
            aside = InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, name, abs_src_path=path, inclusion=aside))
    files.append(File.generated(config, "index.md", content=readme))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001
    """Return the page with links to the files that `on_files` added."""
    within = "/" in page.file.src_uri
    return markdown if within else markdown.replace("](../", "](").replace("](docs/", "](")
