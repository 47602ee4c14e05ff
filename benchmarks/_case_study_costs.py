"""The sections of the case study on costs: the price of the judge, and the labels it saves."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from _case_study_data import ASPECTS, CHARACTERS_PER_TOKEN, Json, Replies, Study, best_protocol

from fairjudge.backends.pricing import load_prices
from fairjudge.ports import ModelRef
from fairjudge.reports.tables import TextTable, columns, to_markdown
from fairjudge.text.counting import percentage

MODEL = ModelRef(provider="openai", model="gpt-3.5-turbo")


def costs(study: Study) -> Iterator[str]:
    """Return the section on the judge's price."""
    price = load_prices().price(MODEL)
    heads = ("input tokens", "output tokens", "USD per 1,000 summaries")
    yield "## Costs\n"
    yield to_markdown(
        TextTable(
            title="Mean tokens per summary and aspect",
            columns=columns("protocol", *heads, numbers=heads),
            rows=tuple(
                (
                    name,
                    f"{replies.input_tokens:.0f}",
                    f"{replies.output_tokens:.1f}",
                    "-" if price is None else f"{1000 * _usd(replies):.2f}",
                )
                for name, replies in study.replies.items()
            ),
        )
    )
    yield (
        f"Tokens are characters divided by {CHARACTERS_PER_TOKEN}, of article, summary and reply; "
        "the instructions were not recorded and are not included. "
        + (
            ""
            if price is None
            else f"Prices of {MODEL} are from {price.source.partition(' ')[0]}. "
        )
        + _cheapest(study)
        + "\n"
    )


def _usd(replies: Replies) -> float:
    """Return the price of a mean reply."""
    price = load_prices().price(MODEL)
    assert price is not None
    return price.cost_usd(input_tokens=replies.input_tokens, output_tokens=replies.output_tokens)


def _cheapest(study: Study) -> str:
    best = best_protocol(study)
    lengths = {name: replies.output_tokens for name, replies in study.replies.items()}
    other_lengths = [length for name, length in lengths.items() if name != best]
    ratios = ", ".join(
        f"{lengths[best] / length:.1f} times as many as {name}"
        for name, length in lengths.items()
        if name != best
    )
    word = "more" if lengths[best] > min(other_lengths) else "no more"
    return f"The recommended protocol writes {word} tokens than the cheapest other: {ratios}."


def labels(study: Study) -> Iterator[str]:
    """Return the section on the number of labels needed to separate the systems."""
    best = best_protocol(study)
    yield "## Labels required to separate the systems\n"
    for aspect in ASPECTS:
        group = study.groups[best, aspect]
        planning, n_documents = group["planning"], group["n_documents"]
        pairs = planning["to_separate"]
        yield to_markdown(_separation_table(aspect, planning, n_documents))
        undecided = [pair for pair in pairs if pair.get("with_judge") is None]
        decided = [pair["with_judge"] for pair in pairs if pair.get("with_judge") is not None]
        yield (
            f"All {len(pairs)} pairs of the {group['n_systems']} systems, {aspect}: "
            + (
                f"{len(undecided)} would not be separated by labels on all "
                f"{planning['n_judged']} documents, because the systems are too close; "
                if undecided
                else ""
            )
            + f"the hardest of the other pairs requires {max(decided)} labelled documents, half of "
            f"them at most {sorted(decided)[(len(decided) - 1) // 2]}.\n"
        )
        yield f"{_saved(planning)}\n"
    yield (
        "These plans assume that the observed differences are the true ones, and require an "
        "interval of the difference that excludes 0, with PPI++ if the judge scores the rest of "
        f"{study.groups[best, ASPECTS[0]]['planning']['n_judged']} documents. They test each pair "
        "separately: a complete ranking requires more.\n"
    )


def _saved(planning: Json) -> str:
    """Return a sentence on how many labels the judge saves."""
    label_counts = [
        (pair["with_judge"], pair["without_judge"])
        for pair in planning["to_separate"]
        if pair.get("with_judge") and pair.get("without_judge")
    ]
    share = median(1 - with_judge / without for with_judge, without in label_counts)
    point = min(planning["curve"], key=lambda point: abs(point["n_labels"] - 100))
    return (
        f"The judge saves {percentage(share)} of the labels (median over the separable pairs). "
        f"With {point['n_labels']} labels, one system's mean has a margin of error of "
        f"{point['with_judge']:.2f} points with the judge and {point['without_judge']:.2f} without."
    )


def _separation_table(aspect: str, planning: Json, n_documents: int) -> TextTable:
    pairs = planning["to_separate"]
    limits = sorted({20, 50, n_documents, 200, 500, planning["n_judged"]})

    def n_separated(name: str, limit: int) -> str:
        return str(sum(pair.get(name) is not None and pair[name] <= limit for pair in pairs))

    heads = ("labelled documents", "with the judge", "labels only")
    return TextTable(
        title=f"{aspect.capitalize()}: separated pairs of systems, of {len(pairs)}",
        columns=columns(*heads, numbers=heads),
        rows=tuple(
            (str(limit), n_separated("with_judge", limit), n_separated("without_judge", limit))
            for limit in limits
        ),
    )
