"""Whether the guaranteed agreement is reached, in simulation and for recorded judges.

    python benchmarks/guarantee_kept.py [--datasets 2000] [--json [FILE]]

Simulated: judges whose confidence predicts their errors well, poorly or not at all. Only confidence
and agreement are drawn, as ratings, binary answers and pairs do not differ otherwise; a document
has one item, or six of equal difficulty. The guarantee is violated if the true agreement on the
accepted items is below the target: in at most 5 % of data sets at 95 % confidence.

Recorded: the threshold is fitted on half of the labelled pairs of "Trust or Escalate" (human
choices, the judges' probabilities) and of LLMBar (right answers, both orders). The other half
measures whether the guarantee holds and how many calls are saved, over 200 random splits.
"""

from __future__ import annotations

import gzip
import json
import sys

import numpy as np
from _data import RECORDED_JUDGES, read_rows
from _machine import describe_machine, write_results
from _parallel import simulation_parser

from fairjudge.calibration.answers import answers
from fairjudge.calibration.guarantees import Guarantee, guarantee
from fairjudge.domain import Judgement

AGREEMENT, CONFIDENCE = 0.9, 0.95
JUDGES = {
    "good": lambda c: 0.78 + 0.22 * c,
    "well calibrated": lambda c: 0.5 + 0.5 * c,
    "overconfident": lambda c: 0.55 + 0.38 * c,
    "at the promise": lambda c: np.full_like(c, 0.9) - 1e-9,
    "uninformative": lambda c: np.full_like(c, 0.8),
}
N_TRUTH = 200_000


def draw(
    rng: np.random.Generator, judge: str, n_documents: int, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw confidences, agreement and documents; a document's items have the same difficulty."""
    documents = np.repeat(np.arange(n_documents), size)
    own = rng.beta(2.0, 1.2, n_documents)[documents]
    alone = rng.beta(2.0, 1.2, documents.size)
    confidence = np.where(rng.random(documents.size) < 0.5, own, alone) if size > 1 else alone
    right = JUDGES[judge](confidence)
    shared = rng.random(n_documents)[documents]
    rolled = np.where(rng.random(documents.size) < 0.4, shared, rng.random(documents.size))
    return confidence, ((rolled if size > 1 else shared) < right).astype(float), documents


def simulate(judge: str, n_documents: int, size: int, n_datasets: int) -> dict[str, object]:
    """Return how often the guarantee is violated, and the mean share of accepted items."""
    confidence, _, _ = draw(np.random.default_rng(7), judge, N_TRUTH // size, size)
    right = JUDGES[judge](confidence)
    broken, shares = 0, []
    for seed in range(n_datasets):
        rng = np.random.default_rng([seed, n_documents, size, list(JUDGES).index(judge)])
        c, y, documents = draw(rng, judge, n_documents, size)
        result = guarantee(
            c, y, documents.tolist(), agreement=AGREEMENT, confidence=CONFIDENCE, rng=rng
        )
        assert isinstance(result, Guarantee)
        inside = confidence >= (np.inf if result.threshold is None else result.threshold)
        broken += bool(inside.any() and right[inside].mean() < AGREEMENT - 1e-12)
        shares.append(inside.mean())
    return {
        "judge": judge,
        "n_documents": n_documents,
        "items_per_document": size,
        "broken": round(100 * broken / n_datasets, 2),
        "kept": round(100 * float(np.mean(shares)), 1),
        "n_datasets": n_datasets,
    }


def trust_or_escalate(judge: str) -> tuple[np.ndarray, np.ndarray]:
    """Return confidence and agreement with humans on 500 pairs, one per document."""
    rows = read_rows(RECORDED_JUDGES / "trust_or_escalate" / f"{judge}.jsonl.gz")
    judgements = [
        Judgement(
            eid=str(n),
            system_a="1",
            system_b="2",
            aspect="preference",
            protocol="pairwise",
            judge=judge,
            value="a" if row["probs"][0] >= row["probs"][1] else "b",
            probabilities={"a": row["probs"][0], "b": row["probs"][1]},
        )
        for n, row in enumerate(rows)
    ]
    result = answers(judgements)
    people = [1.0 if row["preferences"]["human"] == 1 else -1.0 for row in rows]
    return _arrays(list(result.values()), people)


def llmbar(judge: str, prompt: str) -> tuple[np.ndarray, np.ndarray]:
    """Return confidence and agreement on LLMBar's natural pairs, each judged in both orders."""
    judgements, people = [], []
    for path in sorted(
        (RECORDED_JUDGES / "llmbar").glob(f"llmbar-natural.{judge}.{prompt}.json.gz")
    ):
        rows = json.loads(gzip.decompress(path.read_bytes()))
        for n, row in enumerate(rows):
            result = row["results"][0]
            verdicts = [result[f"swap = {swap}"]["winner"] for swap in (False, True)]
            if not all(verdict in {"1", "2"} for verdict in verdicts):
                continue
            people.append(1.0 if row["label"] == 1 else -1.0)
            judgements += [
                Judgement(
                    eid=f"{path.name} {n}",
                    system_a="1",
                    system_b="2",
                    order=order,
                    aspect="instruction",
                    protocol="pairwise",
                    judge=judge,
                    value="a" if verdict == "1" else "b",
                )
                for order, verdict in zip(("ab", "ba"), verdicts, strict=True)
            ]
    return _arrays(list(answers(judgements).values()), people)


def _arrays(verdicts: list, people: list[float]) -> tuple[np.ndarray, np.ndarray]:
    confidence = np.array([answer.confidence for answer in verdicts])
    agrees = [answer.value == label for answer, label in zip(verdicts, people, strict=True)]
    return confidence, np.array(agrees, dtype=float)


def halves(name: str, data: tuple[np.ndarray, np.ndarray], promised: float) -> dict[str, object]:
    """Fit on random halves, and evaluate on the others."""
    confidence, agrees = data
    n = agrees.size
    kept_shares, agreements, met, fitted = [], [], 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        fit, other = np.split(rng.permutation(n), [n // 2])
        result = guarantee(
            confidence[fit], agrees[fit], fit.tolist(), agreement=promised, confidence=CONFIDENCE,
            rng=rng,
        )  # fmt: skip
        threshold = result.threshold if isinstance(result, Guarantee) else None
        inside = confidence[other] >= (np.inf if threshold is None else threshold)
        kept_shares.append(float(inside.mean()))
        if inside.any():
            fitted += 1
            agreements.append(float(agrees[other][inside].mean()))
            met += int(agreements[-1] >= promised)
    return {
        "judge": name,
        "n": n,
        "agreement_of_all": round(100 * float(agrees.mean()), 1),
        "promised": round(100 * promised),
        "found_a_threshold": round(100 * fitted / 200, 1),
        "kept_agreement": round(100 * float(np.mean(agreements)), 1) if agreements else None,
        "halves_below_it": round(100 * (fitted - met) / 200, 1),
        "calls_saved": round(100 * float(np.mean(kept_shares)), 1),
    }


def main() -> int:
    """Run all simulations and data sets."""
    options = simulation_parser(__doc__, "guarantee_kept").parse_args()
    recorded = []
    if RECORDED_JUDGES.is_dir():
        for judge in ("gpt-3.5-turbo", "mistral-7b-instruct"):
            for promised in (0.8, 0.85):
                recorded.append(
                    halves(f"{judge} (Trust or Escalate)", trust_or_escalate(judge), promised)
                )
                print(*recorded[-1].values(), flush=True)
        for judge, prompt in (("ChatGPT", "Vanilla"), ("ChatGPT", "CoT"), ("LLaMA2", "Vanilla")):
            for promised in (0.7, 0.8):
                result = halves(
                    f"{judge}, {prompt} (LLMBar natural)", llmbar(judge, prompt), promised
                )
                recorded.append(result)
                print(*result.values(), flush=True)
    simulated = []
    for judge in JUDGES:
        for n_documents, size in ((100, 1), (400, 1), (150, 6)):
            simulated.append(simulate(judge, n_documents, size, options.datasets))
            print(*simulated[-1].values(), flush=True)
    results = {"machine": describe_machine(), "simulated": simulated, "recorded": recorded}
    write_results(options.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
