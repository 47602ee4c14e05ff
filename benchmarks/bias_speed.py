"""Time of distinguishability on as many summaries as in the published study.

    python benchmarks/bias_speed.py

683 originals with 20 inputs each are 13,660 summaries. Required on 2 cores: 60 s and 1 GiB for
both representations, intervals included. The summaries and the dense vectors are random, since
the time depends only on their size; it includes masking the texts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from _machine import describe_machine, peak_gib, quickest

from fairjudge.bias.entity_analysis import ENTITIES, EntityCounts
from fairjudge.bias.people import PeopleCounts, Person, inclusion_bias
from fairjudge.bias.representation import count_vectors, distinguishability, mask
from fairjudge.bias.resampling import Counts
from fairjudge.domain import Undefined
from fairjudge.stats.resampling import Resampling

N_ORIGINALS, N_INPUTS, N_WORDS, N_VOCABULARY, N_DIMENSIONS = 683, 20, 60, 20_000, 384


def print_time(name: str, work: Callable[[], object]) -> None:
    """Run `work` once, and print its time and the peak memory so far."""
    print(f"{name:<52} {quickest(work, repeats=1):6.2f} s   peak {peak_gib():4.2f} GiB")


def main() -> None:
    """Time the measures on random summaries."""
    print(describe_machine())
    rng = np.random.default_rng(0)
    n = N_ORIGINALS * N_INPUTS
    # Zipf's law, so that the counts are as sparse as those of prose
    words = np.minimum(rng.zipf(1.3, size=(n, N_WORDS)), N_VOCABULARY)
    texts = ["Mr. Ray Orme says he " + " ".join(f"w{word}" for word in row) for row in words]
    dense = rng.normal(size=(n, N_DIMENSIONS)).astype(np.float32)
    groups = ["female", "male"] * (n // 2)
    originals = np.repeat(np.arange(N_ORIGINALS), N_INPUTS).tolist()
    people = [Person(id="0", first_name="Ray", last_name="Orme", group="male")]
    resampling = Resampling(rng=np.random.default_rng(0), n_resamples=2000)

    def counts() -> None:
        vectors = count_vectors([mask(text, people) for text in texts])
        distinguishability(vectors, groups, originals, resampling=resampling)

    def inclusion() -> None:
        n_in_source = np.full((n, 2), 3)
        row_keys = {"documents": originals, "assignments": np.tile(np.arange(10), n // 10).tolist()}
        n_included = rng.binomial(n_in_source, 0.4)
        people = PeopleCounts(
            included=Counts.from_rows(n_included, **row_keys),
            in_source=Counts.from_rows(n_in_source, **row_keys),
            groups=("female", "male"),
        )
        counts = EntityCounts(people=people, hallucinations=Undefined(why="no hallucinated people"))
        ENTITIES["inclusion"].estimate(counts, resampling)
        inclusion_bias(people, resampling=resampling)

    print_time(f"counts, {n} summaries, by original", counts)
    print_time(
        f"dense, {n} summaries, by original",
        lambda: distinguishability(dense, groups, originals, resampling=resampling),
    )
    print_time(
        f"dense, {n} summaries, all compared with all",
        lambda: distinguishability(dense, groups, resampling=resampling),
    )
    print_time(
        f"counts, {n} summaries, all compared with all",
        lambda: distinguishability(count_vectors(texts), groups, resampling=resampling),
    )
    print_time(f"entity inclusion, {n} summaries, both intervals", inclusion)


if __name__ == "__main__":
    main()
