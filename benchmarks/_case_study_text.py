"""The text of the case study: every figure, and every word that depends on one, from the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from fairjudge.backends.pricing import load_prices
from fairjudge.domain import Judgement
from fairjudge.protocols import ModelRef
from fairjudge.reports.calibration_page import verdict
from fairjudge.reports.calibration_tables import shown
from fairjudge.reports.tables import TextTable, columns, to_markdown

ASPECTS = ("consistency", "relevance")
MODEL = ModelRef(provider="openai", model="gpt-3.5-turbo")
CHARACTERS_A_TOKEN = 4
"""OpenAI's rule of thumb for English."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """One protocol's judgements, and what reading and paying for them took."""

    judgements: tuple[Judgement, ...]
    n_replies: int
    n_repeated: int
    input_tokens: float
    output_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All that the document tells of."""

    replies: Mapping[str, Replies]
    groups: Mapping[tuple[str, str], Json]
    comparisons: Sequence[Json]
    position: Sequence[Json]


def document(found: Study) -> str:
    """Return the document."""
    return "\n".join(
        (
            "# Case study: which protocol, and how far to trust it",
            "",
            "Written by `python benchmarks/case_study.py FOLDER`; do not edit by hand.",
            "",
            *_data(found),
            *_protocols(found),
            *_costs(found),
            *_labels(found),
            *_distrust(found),
        )
    )


def best_protocol(found: Study) -> str:
    """Return the protocol with the highest pooled Spearman, averaged over aspects."""
    return max(found.replies, key=lambda name: fmean(_rho(found, name, one) for one in ASPECTS))


def _rho(found: Study, name: str, aspect: str) -> float:
    return float(found.groups[name, aspect]["agreement"]["pooled"]["spearman"]["value"])


def _data(found: Study) -> Iterator[str]:
    group = next(iter(found.groups.values()))
    yield (
        f"The data: {group['n_items']} summaries of {group['n_documents']} news articles by "
        f"{group['n_systems']} systems (SummEval, Fabbri et al. 2021), each rated from 1 to 5 by "
        f"{len(group['annotators'])} experts. The judge: GPT-3.5, whose replies to three protocols "
        "and to head-to-head questions Shen et al. (2023) recorded. FairJudge read the replies "
        "with the parser that live runs use, and held them against the mean of the experts. All "
        "intervals are 95 % and take documents, not summaries, as the unit.\n"
    )
    yield to_markdown(
        TextTable(
            title="Replies as read",
            columns=columns("protocol", *_READ, numbers=_READ),
            rows=tuple(
                (
                    name,
                    str(one.n_replies),
                    str(len(one.judgements)),
                    str(one.n_repeated),
                    str(sum(row.unscored is not None for row in one.judgements)),
                )
                for name, one in found.replies.items()
            ),
        )
    )


_READ = ("replies", "judgements", "judged again", "unscored")
_AGREEMENT = ("Spearman", "Pearson", "Kendall tau-b", "per document", "systems")


def _protocols(found: Study) -> Iterator[str]:
    best = best_protocol(found)
    yield "## Which protocol\n"
    yield (
        f"**{best.capitalize()}.** Its pooled Spearman correlation with the experts, averaged over "
        f"both aspects, is the highest of the three. {_differences(found, best)}\n"
    )
    for aspect in ASPECTS:
        yield to_markdown(_agreement_table(found, aspect))
    yield (
        "The last two columns are Spearman's correlation within documents, averaged, and between "
        "the systems' means. 'Experts' are each expert against the mean of the others: the "
        "ceiling. A judge that is good between systems can be poor at telling good summaries of "
        "one document from bad ones.\n"
    )
    yield to_markdown(
        TextTable(
            title="Error in units of the labels: as judged, and calibrated on other documents",
            columns=columns("protocol", "aspect", *_ERRORS, numbers=_ERRORS),
            rows=tuple(
                (
                    name,
                    aspect,
                    shown(group["calibration"]["before"]["bias"]),
                    shown(group["calibration"]["before"]["rmse"]),
                    shown(group["calibration"]["after"]["rmse"]),
                )
                for name in found.replies
                for aspect in ASPECTS
                for group in (found.groups[name, aspect],)
            ),
        )
    )

    yield f"{_calibrate_first(found, best)}\n"


_ERRORS = ("mean error", "RMSE as judged", "RMSE calibrated")


def _differences(found: Study, best: str) -> str:
    said = []
    for row in found.comparisons:
        pair = [row["first"].rsplit(" (", 1)[0], row["second"].rsplit(" (", 1)[0]]
        if best not in pair:
            continue
        other = pair[1 - pair.index(best)]
        p = row["adjusted_p_value"]
        is_first = pair[0] == best
        difference = row["difference"]
        value = difference["value"] if is_first else -difference["value"]
        ends = sorted((1 if is_first else -1) * difference[end] for end in ("low", "high"))
        shows = "beyond chance" if p < 0.05 else "it may be chance"
        said.append(
            f"Its lead over {other} for {row['aspect']} is {value:+.2f} [{ends[0]:.2f}, "
            f"{ends[1]:.2f}] (p = {p:.3f} by Holm over the aspect's pairs): {shows}."
        )
    return " ".join(said)


def _calibrate_first(found: Study, best: str) -> str:
    """Say how near the labels the recommended protocol is, before and after calibration."""

    def rank(stage: str, aspect: str) -> tuple[float, int]:
        errors = {
            name: found.groups[name, aspect]["calibration"][stage]["rmse"]["value"]
            for name in found.replies
        }
        return errors[best], 1 + sum(error < errors[best] for error in errors.values())

    said = []
    for aspect in ASPECTS:
        (before, place_before), (after, place_after) = (
            rank(stage, aspect) for stage in ("before", "after")
        )
        said.append(
            f"for {aspect} {before:.2f} as judged (rank {place_before} of {len(found.replies)} "
            f"protocols) and {after:.2f} calibrated (rank {place_after})"
        )
    return (
        f"Ranking summaries and meeting the experts' scale are two things. The RMSE of "
        f"'{best}' is {'; '.join(said)}. Do not report its scores uncalibrated."
    )


def _agreement_table(found: Study, aspect: str) -> TextTable:
    groups = {name: found.groups[name, aspect] for name in found.replies}
    some = next(iter(groups.values()))
    sources = {
        **{name: group["agreement"] for name, group in groups.items()},
        "experts": some["human"],
        **some["baselines"],
    }
    return TextTable(
        title=f"{aspect.capitalize()}: agreement with the experts",
        columns=columns("who", *_AGREEMENT, numbers=_AGREEMENT),
        rows=tuple(
            (
                name.replace("_", " "),
                *(_three(one["pooled"][key]) for key in ("spearman", "pearson", "kendall")),
                *(_three(one[level]["spearman"]) for level in ("per_document", "system")),
            )
            for name, one in sources.items()
        ),
    )


def _three(figure: Json) -> str:
    """Return a figure with three decimals, to be held against published ones."""
    if figure["value"] is None:
        return "-"
    return f"{figure['value']:.3f} [{figure['low']:.2f}, {figure['high']:.2f}]"


def _costs(found: Study) -> Iterator[str]:
    price = load_prices().price(MODEL)
    heads = ("tokens in", "tokens out", "USD per 1,000 summaries")
    yield "## What it costs\n"
    yield to_markdown(
        TextTable(
            title="Mean tokens of one question about one aspect",
            columns=columns("protocol", *heads, numbers=heads),
            rows=tuple(
                (
                    name,
                    f"{one.input_tokens:.0f}",
                    f"{one.output_tokens:.1f}",
                    "-" if price is None else f"{_usd(one, price.input, price.output):.2f}",
                )
                for name, one in found.replies.items()
            ),
        )
    )
    yield (
        f"Tokens are characters divided by {CHARACTERS_A_TOKEN}, of article, summary and reply; "
        "the instructions around them were not recorded and come on top. "
        + (
            ""
            if price is None
            else f"Prices: {price.input:.2f} USD a million tokens in, {price.output:.2f} out "
            f"({price.source}, {price.date:%Y-%m-%d}). "
        )
        + _cheapest(found)
        + "\n"
    )


def _usd(one: Replies, price_in: float, price_out: float) -> float:
    return 1000 * (one.input_tokens * price_in + one.output_tokens * price_out) / 1e6


def _cheapest(found: Study) -> str:
    best = best_protocol(found)
    lengths = {name: one.output_tokens for name, one in found.replies.items()}
    others = [length for name, length in lengths.items() if name != best]
    said = ", ".join(
        f"{lengths[best] / length:.1f} times as many as {name}"
        for name, length in lengths.items()
        if name != best
    )
    word = "more" if lengths[best] > min(others) else "no more"
    return f"The recommended protocol writes {word} tokens than the cheapest other: {said}."


def _labels(found: Study) -> Iterator[str]:
    best = best_protocol(found)
    yield "## How many labels tell the systems apart\n"
    for aspect in ASPECTS:
        group = found.groups[best, aspect]
        planning, n_documents = group["planning"], group["n_documents"]
        pairs = planning["to_separate"]
        yield to_markdown(_separation_table(aspect, planning, n_documents))
        undecided = [one for one in pairs if one.get("with_judge") is None]
        decided = [one["with_judge"] for one in pairs if one.get("with_judge") is not None]
        yield (
            f"All {len(pairs)} pairs of the {group['n_systems']} systems, {aspect}: "
            + (
                f"{len(undecided)} would not be told apart by labels on all "
                f"{planning['n_judged']} documents, because the systems are too close; "
                if undecided
                else ""
            )
            + f"the hardest of the other pairs needs {max(decided)} labelled documents, half of "
            f"them need at most {sorted(decided)[(len(decided) - 1) // 2]}.\n"
        )
        yield f"{_saved(planning)}\n"
    yield (
        "These plans take the differences found here for the truth and ask for an interval of the "
        "difference that leaves 0 out, with PPI++ when the judge scores the rest of "
        f"{found.groups[best, ASPECTS[0]]['planning']['n_judged']} documents. They test each pair "
        "alone: to claim a whole ranking takes more.\n"
    )


def _saved(planning: Json) -> str:
    """Say what the judge is worth in labels."""
    both = [
        (one["with_judge"], one["without_judge"])
        for one in planning["to_separate"]
        if one.get("with_judge") and one.get("without_judge")
    ]
    share = median(1 - with_judge / without for with_judge, without in both)
    point = min(planning["curve"], key=lambda one: abs(one["n_labels"] - 100))
    return (
        f"The judge saves {share:.0%} of the labels (median over the pairs that can be told apart). "
        f"With {point['n_labels']} labels, one system's mean is known to within "
        f"{point['with_judge']:.2f} points with the judge and {point['without_judge']:.2f} without."
    )


def _separation_table(aspect: str, planning: Json, n_documents: int) -> TextTable:
    pairs = planning["to_separate"]
    limits = sorted({20, 50, n_documents, 200, 500, planning["n_judged"]})

    def told(name: str, limit: int) -> str:
        return str(sum(one.get(name) is not None and one[name] <= limit for one in pairs))

    heads = ("labelled documents", "with the judge", "labels alone")
    return TextTable(
        title=f"{aspect.capitalize()}: pairs of systems told apart, of {len(pairs)}",
        columns=columns(*heads, numbers=heads),
        rows=tuple(
            (str(limit), told("with_judge", limit), told("without_judge", limit))
            for limit in limits
        ),
    )


def _distrust(found: Study) -> Iterator[str]:
    yield "## Where not to trust the judge\n"
    best = best_protocol(found)
    yield to_markdown(_verdicts(found))
    for aspect in ASPECTS:
        yield _unfair(found.groups[best, aspect], aspect)
    heads = ("pairs", "first, %", "second, %", "same both ways, %")
    yield to_markdown(
        TextTable(
            title="Head-to-head, every pair asked in both orders: verdicts that follow the place",
            columns=columns("aspect", *heads, numbers=heads),
            rows=tuple(
                (
                    one["aspect"],
                    str(one["n_pairs"]),
                    *(_percent(one[name]) for name in ("first", "second", "consistency")),
                )
                for one in found.position
            ),
        )
    )
    for one in found.position:
        yield _leaning(one)


def _verdicts(found: Study) -> TextTable:
    return TextTable(
        title="At first sight",
        columns=columns("protocol", "aspect", "finding", "alternative annotator test"),
        rows=tuple(
            (
                name,
                aspect,
                verdict(group),
                _replaces(group["replaceability"]),
            )
            for name in found.replies
            for aspect in ASPECTS
            for group in (found.groups[name, aspect],)
        ),
        notes=(
            "The test asks whether the judge could stand in for one of the experts (Calderon et "
            "al. 2025), on uncalibrated scores. It compares distances from the labels: a protocol "
            "nearer the experts' level passes more easily, even if it ranks summaries less well.",
        ),
    )


def _replaces(found: Json) -> str:
    if "why" in found:
        return f"not run: {found['why']}"
    word = "passes" if found["passes"] else "fails"
    return f"{word}: wins over {found['winning_rate']:.0%} of the experts"


def _unfair(group: Json, aspect: str) -> str:
    said = []
    for name, groups in group["fairness"]["groups"].items():
        flagged = sorted(
            (one for one in groups if one["flagged"]), key=lambda one: one["error_gap"]["value"]
        )
        if flagged:
            shown_groups = ", ".join(
                f"{one['group']} ({one['error_gap']['value']:+.2f})" for one in flagged
            )
            said.append(f"by {name}: {shown_groups}")
    if not said:
        return f"For {aspect}, no group of summaries is flagged.\n"
    return (
        f"For {aspect}, even calibrated scores err otherwise for some groups than for the rest "
        f"(points on the scale; above 0 the judge flatters; flagged at a false discovery rate of "
        f"5 %, for the mean error or its size), {'; '.join(said)}.\n"
    )


def _percent(figure: Json) -> str:
    return f"{figure['value']:.1f} [{figure['low']:.1f}, {figure['high']:.1f}]"


def _leaning(one: Json) -> str:
    first, second = one["first"], one["second"]
    if first["high"] < second["low"] or second["high"] < first["low"]:
        place = "first" if first["value"] > second["value"] else "second"
        leans = f"the judge leans to the {place} place"
    else:
        leans = "neither place is clearly preferred"
    flips = 100 - one["consistency"]["value"]
    return (
        f"For {one['aspect']}, {leans}; of {one['n_pairs']} pairs, {flips:.1f} % get another "
        "verdict when the order is swapped. Ask both orders, and count a changed verdict as a "
        "tie.\n"
    )
