"""Builds of the project, installed as users do: a wheel, and an editable install."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def source_copy(folder: Path) -> Path:
    """Copy the files tracked by git, keeping symbolic links, and return their folder."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    result = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True)
    names = [name for name in result.stdout.decode().split("\0") if (ROOT / name).is_file()]
    folder.mkdir()
    for name in (name for name in names if not name.startswith(("tests/", "benchmarks/"))):
        to = folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes((ROOT / name).read_bytes())
    for link in (ROOT / "fairjudge").iterdir():
        if link.is_symlink():
            (folder / "fairjudge" / link.name).symlink_to(link.readlink())
    return folder


def built(kind: str, source: Path, folder: Path) -> Path:
    """Return the built file of a kind: ``"wheel"``, ``"editable"`` or ``"sdist"``."""
    folder.mkdir(parents=True, exist_ok=True)
    code = f"from setuptools import build_meta; build_meta.build_{kind}({str(folder)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, check=True)
    (path,) = folder.iterdir()
    return path


def environment_of(made: Path | None, folder: Path) -> Path:
    """Return the Python of a new environment with this one's packages and the wheel `made`."""
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    if made is not None:
        with zipfile.ZipFile(made) as wheel:
            wheel.extractall(site)  # noqa: S202 - it was built just now
    folders = [path for path in sys.path if path.endswith("site-packages")]
    (site / "z_others.pth").write_text("\n".join(folders) + "\n")
    return folder / "bin" / "python"


def unpacked(sdist: Path, folder: Path) -> Path:
    """Extract a source archive, and return its folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    return source
