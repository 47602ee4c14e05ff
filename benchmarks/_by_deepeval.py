"""The work of `_mock_run.py` through DeepEval: python _by_deepeval.py N [--keep]; prints JSON.

With --keep DeepEval writes its results after every case, as its command line does.

Runs in an environment of its own (see overhead.py), so it imports nothing of FairJudge.
"""

import contextlib
import io
import json
import os
import random
import resource
import sys
import time
from importlib.metadata import version
from typing import Any

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "ERROR_REPORTING": "NO"}

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams

REPLY = {"reason": "The summary follows the article closely.", "score": 7}


class Mock(DeepEvalBaseLLM):
    """A model in this process."""

    def load_model(self) -> "Mock":
        """Load nothing."""
        return self

    def generate(self, prompt: str, schema: Any = None) -> Any:  # noqa: ARG002
        """Answer."""
        return json.dumps(REPLY) if schema is None else schema(**REPLY)

    async def a_generate(self, prompt: str, schema: Any = None) -> Any:
        """Answer."""
        return self.generate(prompt, schema)

    def get_model_name(self) -> str:
        """Return a name."""
        return "mock"


def main() -> None:
    """Judge N prompts of 10,000 characters with the mock model."""
    n = int(sys.argv[1])
    rng = random.Random(1)  # noqa: S311
    stock = " ".join("".join(rng.choices("abcdefghij", k=6)) for _ in range(1330))
    cases = [LLMTestCase(input=f"Item {i}: {stock}", actual_output="A summary.") for i in range(n)]
    metric = GEval(
        name="Faithfulness",
        evaluation_steps=["Say how far the article supports the summary."],
        evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
        model=Mock(),
    )
    wall, cpu = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        result = evaluate(
            cases,
            [metric],
            async_config=AsyncConfig(max_concurrent=8),
            cache_config=CacheConfig(write_cache="--keep" in sys.argv, use_cache=False),
            display_config=DisplayConfig(show_indicator=False, print_results=False),
        )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results = {"wall_seconds": wall, "cpu_seconds": cpu, "peak_mib": peak}
    print(json.dumps({**results, "n": len(result.test_results), "version": version("deepeval")}))


if __name__ == "__main__":
    main()
