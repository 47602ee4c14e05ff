"""What a benchmark ran on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np


def describe_machine() -> str:
    """Return one line: processor, cores, memory, Python and NumPy."""
    processor = platform.processor() or platform.machine()
    about = Path("/proc/cpuinfo")
    if about.exists():
        names = [
            line.split(":", 1)[1].strip()
            for line in about.read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ]
        processor = names[0] if names else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{processor}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"Python {platform.python_version()}, NumPy {np.__version__}"
    )
