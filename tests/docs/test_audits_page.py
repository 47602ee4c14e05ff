"""What docs/audits.md quotes is what the scripts' results hold."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_measured_blocks_match_the_results() -> None:
    script = ROOT / "benchmarks" / "audits_page.py"
    result = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr or "run benchmarks/audits_page.py"
