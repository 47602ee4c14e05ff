"""The work of `_mock_run.py` through inspect_ai: python _by_inspect_ai.py N; prints JSON.

Runs in an environment of its own (see overhead.py), so it imports nothing of FairJudge.
"""

import json
import random
import resource
import sys
import tempfile
import time
from importlib.metadata import version

from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate

REPLY = "The summary follows the article closely and adds nothing of its own.\nVerdict: 3"


def reply() -> ModelOutput:
    """Return the mock's reply with its usage; else inspect_ai would load a tokenizer to count."""
    output = ModelOutput.from_content("mockllm/model", REPLY)
    output.usage = ModelUsage(input_tokens=2500, output_tokens=20, total_tokens=2520)
    return output


def main() -> None:
    """Judge N prompts of 10,000 characters with the mock model."""
    n = int(sys.argv[1])
    rng = random.Random(1)  # noqa: S311
    stock = " ".join("".join(rng.choices("abcdefghij", k=6)) for _ in range(1420))
    samples = [Sample(id=i, input=f"Item {i}: {stock}", target="3") for i in range(n)]
    task = Task(dataset=samples, solver=generate(), scorer=pattern(r"Verdict: (\d)"))
    model = get_model(
        "mockllm/model",
        custom_outputs=(reply() for _ in range(n)),
    )
    wall, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        (log,) = run_eval(task, model=model, log_dir=folder, display="none", max_connections=8)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    n_completed = log.results.completed_samples if log.results else 0
    results = {"wall_seconds": wall, "cpu_seconds": cpu, "peak_mib": peak, "n": n_completed}
    print(json.dumps({**results, "version": version("inspect_ai")}))


if __name__ == "__main__":
    main()
