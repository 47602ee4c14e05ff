"""The text of the case study: all numbers, and all words that depend on them, from the data."""

from __future__ import annotations

from collections.abc import Iterator

from _case_study_costs import costs, labels
from _case_study_data import ASPECTS, Json, Study, best_protocol, rho
from _figures import interval_text

from fairjudge.reports.calibration_tables import baseline_name, best_baseline
from fairjudge.reports.decision_tables import verdict
from fairjudge.reports.figures import interval
from fairjudge.reports.tables import TextTable, columns, to_markdown
from fairjudge.text.counting import percentage


def document(study: Study) -> str:
    """Return the document."""
    return "\n".join(
        (
            "# Case study: which protocol, and how far to trust it",
            "",
            "Written by `python benchmarks/case_study.py FOLDER`; do not edit by hand.",
            "",
            *_in_short(study),
            *_data(study),
            *_protocols(study),
            *costs(study),
            *labels(study),
            *_distrust(study),
        )
    )


def _in_short(study: Study) -> Iterator[str]:
    best = best_protocol(study)
    yield (
        f"In short: of the three protocols use '{best}', and calibrate it. It reaches a pooled "
        "Spearman correlation with the experts of "
        + "; ".join(
            f"{rho(study, best, aspect):.2f} for {aspect} (experts: "
            f"{study.groups[best, aspect]['human']['pooled']['spearman']['value']:.2f} with one "
            "another)"
            for aspect in ASPECTS
        )
        + ". Head-to-head, "
        + " and ".join(
            f"{100 - audit['consistency']['value']:.0f} % of its verdicts for {audit['aspect']}"
            for audit in study.position
        )
        + " change when the order of the summaries is swapped.\n"
    )


def _data(study: Study) -> Iterator[str]:
    group = next(iter(study.groups.values()))
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
                    str(replies.n_replies),
                    str(len(replies.judgements)),
                    str(replies.n_repeated),
                    str(sum(row.unscored is not None for row in replies.judgements)),
                )
                for name, replies in study.replies.items()
            ),
        )
    )


_READ = ("replies", "judgements", "judged again", "unscored")
_AGREEMENT = ("Spearman", "Pearson", "Kendall tau-b", "per document", "systems")


def _protocols(study: Study) -> Iterator[str]:
    best = best_protocol(study)
    yield "## Which protocol\n"
    yield (
        f"**{best.capitalize()}.** Its pooled Spearman correlation with the experts, averaged over "
        f"both aspects, is the highest of the three. {_differences(study, best)}\n"
    )
    for aspect in ASPECTS:
        yield to_markdown(_agreement_table(study, aspect))
    yield (
        "The last two columns are Spearman's correlation within documents, averaged, and between "
        "the systems' means. 'Experts' are each expert against the mean of the others: the "
        "ceiling. A judge that is good between systems can be poor at telling good summaries of "
        "one document from bad ones.\n"
    )
    yield f"{' '.join(_beside_baseline(study, best, aspect) for aspect in ASPECTS)} {_SUPPORT}\n"
    yield to_markdown(
        TextTable(
            title="Error in units of the labels: as judged, and calibrated on other documents",
            columns=columns("protocol", "aspect", *_ERRORS, numbers=_ERRORS),
            rows=tuple(
                (
                    name,
                    aspect,
                    interval(group["calibration"]["before"]["bias"]),
                    interval(group["calibration"]["before"]["rmse"]),
                    interval(group["calibration"]["after"]["rmse"]),
                )
                for name in study.replies
                for aspect in ASPECTS
                for group in (study.groups[name, aspect],)
            ),
        )
    )

    yield f"{_calibrate_first(study, best)}\n"


_ERRORS = ("mean error", "RMSE as judged", "RMSE calibrated")


def _differences(study: Study, best: str) -> str:
    sentences = []
    for row in study.comparisons:
        pair = [row["first"].rsplit(" (", 1)[0], row["second"].rsplit(" (", 1)[0]]
        if best not in pair:
            continue
        other = pair[1 - pair.index(best)]
        p = row["adjusted_p_value"]
        is_first = pair[0] == best
        difference = row["difference"]
        value = difference["value"] if is_first else -difference["value"]
        ends = sorted((1 if is_first else -1) * difference[end] for end in ("low", "high"))
        shows = "significant" if p < 0.05 else "not significant"
        sentences.append(
            f"Its lead over {other} for {row['aspect']} is {value:+.2f} [{ends[0]:.2f}, "
            f"{ends[1]:.2f}] (p = {p:.3f} by Holm over the aspect's pairs): {shows}."
        )
    return " ".join(sentences)


def _calibrate_first(study: Study, best: str) -> str:
    """Compare the recommended protocol with the labels, before and after calibration."""

    def rank(stage: str, aspect: str) -> tuple[float, int]:
        errors = {
            name: study.groups[name, aspect]["calibration"][stage]["rmse"]["value"]
            for name in study.replies
        }
        return errors[best], 1 + sum(error < errors[best] for error in errors.values())

    figures = []
    for aspect in ASPECTS:
        (before, place_before), (after, place_after) = (
            rank(stage, aspect) for stage in ("before", "after")
        )
        figures.append(
            f"for {aspect} {before:.2f} as judged (rank {place_before} of {len(study.replies)} "
            f"protocols) and {after:.2f} calibrated (rank {place_after})"
        )
    return (
        f"Ranking summaries and meeting the experts' scale are two things. The RMSE of "
        f"'{best}' is {'; '.join(figures)}. Do not report its scores uncalibrated."
    )


_SUPPORT = (
    "Embedding support is FairJudge's own local scorer, which asks no LLM; its weights were fitted "
    "on the experts' consistency ratings of half of these documents, so that for consistency it "
    "is flattered here (docs/local.md has the other half)."
)


def _beside_baseline(study: Study, best: str, aspect: str) -> str:
    name, value = best_baseline(study.groups[best, aspect])
    judge = study.groups[best, aspect]["agreement"]["pooled"]["spearman"]
    beaten = value is not None and judge["low"] > value
    return f"For {aspect} the best baseline is '{name}' ({value:.2f}): '{best}' " + (
        "beats it." if beaten else "is not significantly better."
    )


def _agreement_table(study: Study, aspect: str) -> TextTable:
    groups = {name: study.groups[name, aspect] for name in study.replies}
    group = next(iter(groups.values()))
    sources = {
        **{name: group["agreement"] for name, group in groups.items()},
        "experts": group["human"],
        **group["baselines"],
    }
    return TextTable(
        title=f"{aspect.capitalize()}: agreement with the experts",
        columns=columns("who", *_AGREEMENT, numbers=_AGREEMENT),
        rows=tuple(
            (
                baseline_name(name),
                *(_published(source["pooled"][key]) for key in ("spearman", "pearson", "kendall")),
                *(_published(source[level]["spearman"]) for level in ("per_document", "system")),
            )
            for name, source in sources.items()
        ),
    )


def _published(figure: Json) -> str:
    """Return a number with three decimals, to compare it with published ones."""
    if figure["value"] is None:
        return "-"
    return f"{figure['value']:.3f} [{figure['low']:.2f}, {figure['high']:.2f}]"


def _distrust(study: Study) -> Iterator[str]:
    yield "## Where not to trust the judge\n"
    best = best_protocol(study)
    yield to_markdown(_verdicts(study))
    for aspect in ASPECTS:
        yield _unfair(study.groups[best, aspect], aspect)
    heads = ("pairs", "first, %", "second, %", "same both ways, %")
    yield to_markdown(
        TextTable(
            title="Head-to-head, every pair asked in both orders: verdicts that follow the place",
            columns=columns("aspect", *heads, numbers=heads),
            rows=tuple(
                (
                    audit["aspect"],
                    str(audit["n_pairs"]),
                    *(
                        interval_text(audit[name], digits=1)
                        for name in ("first", "second", "consistency")
                    ),
                )
                for audit in study.position
            ),
        )
    )
    for audit in study.position:
        yield _leaning(audit)


def _verdicts(study: Study) -> TextTable:
    return TextTable(
        title="Summary",
        columns=columns("protocol", "aspect", "finding", "alternative annotator test"),
        rows=tuple(
            (
                name,
                aspect,
                verdict(group),
                _replaces(group["replaceability"]),
            )
            for name in study.replies
            for aspect in ASPECTS
            for group in (study.groups[name, aspect],)
        ),
        notes=(
            "The test asks whether the judge could stand in for one of the experts (Calderon et "
            "al. 2025), on uncalibrated scores. It compares distances from the labels: a protocol "
            "nearer the experts' level passes more easily, even if it ranks summaries less well.",
        ),
    )


def _replaces(test: Json) -> str:
    if "why" in test:
        return f"not run: {test['why']}"
    word = "passed" if test["passes"] else "not passed"
    return f"{word}: beats {percentage(test['winning_rate'])} of the experts"


def _unfair(group: Json, aspect: str) -> str:
    flags = []
    for name, groups in group["fairness"]["groups"].items():
        flagged = sorted(
            (entry for entry in groups if entry["flagged"]),
            key=lambda entry: entry["error_gap"]["value"],
        )
        if flagged:
            shown_groups = ", ".join(
                f"{entry['group']} ({entry['error_gap']['value']:+.2f})" for entry in flagged
            )
            flags.append(f"by {name}: {shown_groups}")
    if not flags:
        return f"For {aspect}, no group of summaries is flagged.\n"
    return (
        f"For {aspect}, even calibrated scores err otherwise for some groups than for the rest "
        f"(points on the scale; above 0 the judge flatters; flagged at a false discovery rate of "
        f"5 %, for the mean error or its size), {'; '.join(flags)}.\n"
    )


def _leaning(audit: Json) -> str:
    first, second = audit["first"], audit["second"]
    if first["high"] < second["low"] or second["high"] < first["low"]:
        place = "first" if first["value"] > second["value"] else "second"
        leans = f"the judge leans to the {place} place"
    else:
        leans = "neither place is clearly preferred"
    flips = 100 - audit["consistency"]["value"]
    return (
        f"For {audit['aspect']}, {leans}; of {audit['n_pairs']} pairs, {flips:.1f} % get another "
        "verdict when the order is swapped. Ask both orders, and count a changed verdict as a "
        "tie.\n"
    )
