"""Run every target of `fuzz_targets` under atheris, each in its own process."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def fuzz_one(name: str, seconds: int, corpus: Path) -> None:
    """Fuzz one target until the time is up or it crashes, then exit the process."""
    import atheris

    with atheris.instrument_imports(include=["fairjudge"]):
        from fuzz_targets import TARGETS
    options = [
        f"-max_total_time={seconds}",
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], TARGETS[name])
    atheris.Fuzz()


def seeds(corpus: Path) -> None:
    """Write the valid rows of the Hypothesis tests as the fuzzer's initial corpus."""
    import json

    from faults.test_fuzz import MARKUP, SOUND

    for number, row in enumerate(SOUND):
        (corpus / f"row{number}").write_text(json.dumps(row) + "\n", "utf-8")
    (corpus / "words").write_text("Good.\nVerdict: 4\n" + " ".join(MARKUP), "utf-8")


def main() -> int:
    """Fuzz the targets on the command line for SECONDS each."""
    sys.path.insert(0, str(Path(__file__).parent))
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        fuzz_one(arguments[1], int(arguments[2]), Path(arguments[3]))
        return 0
    from fuzz_targets import TARGETS

    seconds = arguments[0] if arguments else "30"
    failed = []
    for name in arguments[1:] or TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            seeds(Path(folder))
            command = [sys.executable, __file__, "--one", name, seconds, folder]
            result = subprocess.run(command, check=False, capture_output=True, text=True)
        (n_runs,) = re.findall(r"number_of_executed_units: (\d+)", result.stderr) or ["?"]
        how = "crashed" if result.returncode else "no crash"
        print(f"{name}: {how} in {n_runs} runs", flush=True)  # noqa: T201
        if result.returncode:
            print(result.stderr[-4000:], flush=True)  # noqa: T201
            failed.append(name)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
