"""Figures for papers, from commands' JSON: ranks, wins, confusion, ratings, systems, coverage.

Pages, ``--figures`` and ``.plot()`` draw the same figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.drawing import BASELINE_MARK, HUMAN_MARK, JUDGE_MARK, Mark
from fairjudge.reports.figures import Json, forest, row
from fairjudge.reports.parts import Plot
from fairjudge.reports.point_plots import BarPlot, Bars, Cell, MatrixPlot, Point, ScatterPlot
from fairjudge.text.counting import percentage, pluralize

_HOLLOW = Mark(shape=HUMAN_MARK.shape, filled=False)
_BAR_MARKS = (JUDGE_MARK, HUMAN_MARK, BASELINE_MARK, _HOLLOW)
"""Styles of bars: they differ by colour and fill."""
_BIN, _LAST_BIN = 0.2, 10
"""Width of a bin of share ratios, and the index of the last one, which has no upper limit."""
_VERDICTS = {-1.0: "second better", 0.0: "tie", 1.0: "first better"}
_YES_OR_NO = {0.0: "no", 1.0: "yes"}
RANK_INTERVAL = "ranks compatible with the data, simultaneously for all systems"
MAX_ROWS = 30
"""Maximum number of rows of a heat map; the table has all."""


def ranks_plot(systems: Sequence[Json], title: str, *, definition: str = RANK_INTERVAL) -> Plot:
    """Return the plot of ranks with their ranges; `definition` is that of the ranges."""
    keys = {"value": "rank", "low": "best_rank", "high": "worst_rank"}
    rows = [
        row(system["system"], {field: system[name] for field, name in keys.items()}, digits=0)
        for system in systems
        if system.get("best_rank") is not None
    ]
    return forest(
        rows,
        title=f"Ranks, {title}",
        x_label=f"rank; the interval: {definition}",
        span=(1.0, float(max(len(systems), 2))),
        integers=True,
    )


def wins_plot(group: Json, title: str) -> Plot:
    """Return the plot of each system's win rates against the others; ties count half."""
    names = [system["system"] for system in group["systems"]]
    cell_by_pair: dict[tuple[str, str], Cell] = {}
    for pair in group.get("pairs", ()):
        n = pair["wins"] + pair["ties"] + pair["losses"]
        first, second = pair["system_a"], pair["system_b"]
        cell_by_pair[first, second] = _share_cell((pair["wins"] + pair["ties"] / 2) / n, f"n {n}")
        cell_by_pair[second, first] = _share_cell((pair["losses"] + pair["ties"] / 2) / n, f"n {n}")
    cells = [[cell_by_pair.get((first, second)) for second in names] for first in names]
    return _matrix(
        f"Wins, {title}", names, names, cells, row_title="wins of", column_title="against",
        caption="Percent of comparisons won by the system of the row (ties count half), and their "
        "number. A dash: never compared.",
    )  # fmt: skip


def confusion_plot(group: Json, title: str) -> Plot:
    """Return the confusion matrix of the judge's and human values."""
    confusion = group.get("confusion")
    if not confusion:
        return _empty_plot(title)
    cells = [[_count_cell(n, sum(line)) for n in line] for line in confusion["counts"]]
    rows, columns = (_level_names(group, confusion[side]) for side in ("rows", "columns"))
    return _matrix(
        f"Judge by humans, {title}", rows, columns, cells, row_title="judge", column_title="humans",
        caption="Number of items, and their percentage of the row (of the judge's value). Means "
        "are rounded to the nearest value.",
    )  # fmt: skip


def ratings_plot(group: Json, title: str) -> Plot:
    """Return the distributions of ratings by the judge and by humans, if their scales are equal."""
    confusion = group.get("confusion")
    if not confusion or confusion["rows"] != confusion["columns"]:
        return _empty_plot(title)
    by_judge = confusion["counts"]
    by_people = zip(*by_judge, strict=True)
    n = sum(map(sum, by_judge)) or 1
    levels = _level_names(group, confusion["rows"])
    series = [
        Bars(name=name, mark=mark, percent=[100.0 * sum(counts) / n for counts in side])
        for name, mark, side in (("judge", JUDGE_MARK, by_judge), ("humans", _HOLLOW, by_people))
    ]
    return _bars(
        f"Ratings by judge and humans, {title}", levels, series, x_label="value",
        caption=f"The same {pluralize(n, 'item')}; human ratings are means of labels.",
    )  # fmt: skip


def share_ratios_plot(system: str, samples: Sequence[Json], tau: float | None) -> Plot:
    """Return the distribution of p_y / p_x of each value over a system's summaries.

    Source: FairSumm, section 6.5 and Figure 4.
    """
    ratios: dict[str, Counter[int]] = {}
    for sample in samples:
        for value, source, summary in zip(
            sample["values"], sample["source"], sample["summary"], strict=True
        ):
            if source > 0:
                bin_index = int(summary / source / _BIN + 1e-9)  # 0.6 / 0.2 is 2.999...
                ratios.setdefault(value, Counter())[min(bin_index, _LAST_BIN)] += 1
    series = [
        Bars(
            name=value,
            mark=mark,
            percent=[
                100.0 * counts[bin_index] / counts.total() for bin_index in range(_LAST_BIN + 1)
            ],
        )
        for (value, counts), mark in zip(ratios.items(), _BAR_MARKS, strict=False)
    ]
    levels = [f"{bin_index * _BIN:.1f}" for bin_index in range(_LAST_BIN)] + [
        f"{_LAST_BIN * _BIN:.0f}+"
    ]
    tau_remark = "" if tau is None else f" Below {tau:g} a summary under-represents the value."
    remark = ""
    if len(ratios) > len(series):
        remark = f" The first {len(series)} of {pluralize(len(ratios), 'value')}."
    return _bars(
        f"Ratio of shares, {system}", levels, series,
        x_label="p_y / p_x, from",
        caption="Share of a value in the summary (p_y) over that in the sources (p_x), in bins of "
        f"{_BIN:g}.{tau_remark}{remark}",
    )  # fmt: skip


def _bars(
    title: str, levels: Sequence[str], series: Sequence[Bars], *, x_label: str, caption: str
) -> Plot:
    """Return a bar plot whose text alternative is its title and all bars."""
    texts = "; ".join(
        f"{bars.name} " + ", ".join(
            f"{level} {percent:.0f} %"
            for level, percent in zip(levels, bars.percent, strict=True)
        )
        for bars in series
    )  # fmt: skip
    figure = BarPlot(name=f"{title}: {texts}", levels=levels, series=series, x_label=x_label)
    return Plot(figure, caption)


def systems_plot(group: Json, title: str) -> Plot:
    """Return the plot of each system's mean judge score against its mean human label."""
    means = [estimate for estimate in group.get("ppi", ()) if estimate["kind"] == "mean"]
    scales = group["scales"]
    points = [
        Point(name=estimate["system"], x=estimate["naive"], y=estimate["classical"])
        for estimate in means
    ]
    defined_points = [p for p in points if None not in (p.x.get("value"), p.y.get("value"))]
    texts = "; ".join(
        f"{p.name} judge {p.x['value']:.2f}, humans {p.y['value']:.2f}" for p in defined_points
    )
    figure = ScatterPlot(
        name=f"Systems, judge against humans, {title}: {texts}", points=points,
        x_label="judge's mean", y_label="human mean",
        same_scale=scales["judge"] == scales["labels"],
    )  # fmt: skip
    return Plot(
        figure,
        "One square per system, with both 95 % intervals; the means are equal on the dashed line.",
    )


def position_pairs_plot(group: Json) -> Plot:
    """Return the plot of position bias (first minus second) per pair of systems."""
    pairs = islice(group.get("by_systems", {}).items(), MAX_ROWS)
    rows = [row(name, pair["first_minus_second"], digits=1) for name, pair in pairs]
    return forest(
        rows if len(rows) > 1 else [],
        title=f"Position bias by pair of systems, {group['aspect']}, by {group['judge']}",
        x_label="first minus second, percentage points; 0 without position bias",
    )


def outlets_plot(slice_name: str, groups: Sequence[Json]) -> Plot:
    """Return the heat map of each system's coverage per outlet (or question)."""
    names = list(dict.fromkeys(name for group in groups for name in group["slices"][slice_name]))
    cells = [
        [_slice_cell(group["slices"][slice_name].get(name)) for group in groups]
        for name in names[:MAX_ROWS]
    ]
    dimension = slice_name.partition(" by ")[2]
    is_truncated = len(names) > MAX_ROWS
    return _matrix(
        f"{slice_name.capitalize()}, by {groups[0]['judge']}", names[:MAX_ROWS],
        [group["system"] for group in groups], cells, row_title=dimension, column_title="system",
        caption="Percent covered, and the number of clusters or answers."
        + (f" The first {MAX_ROWS} of {len(names)}; the table has all." if is_truncated else ""),
    )  # fmt: skip


def answers_plots(groups: Sequence[Json]) -> Iterator[Plot]:
    """Yield, per event, the heat map of each system's coverage of each answer."""
    groups = [group for group in groups if group.get("answers")]
    systems = [group["system"] for group in groups]
    shares_by_system = [
        {
            (answer["eid"], answer["question"], answer["answer"]): answer["value"]
            for answer in group["answers"]
        }
        for group in groups
    ]
    keys = list(dict.fromkeys(chain.from_iterable(shares_by_system)))
    for eid in dict.fromkeys(key[0] for key in keys):
        rows = [key for key in keys if key[0] == eid][:MAX_ROWS]
        cells = [
            [_share_cell(shares[key]) if key in shares else None for shares in shares_by_system]
            for key in rows
        ]
        questions = list(dict.fromkeys(key[1] for key in rows))
        question_list = "; ".join(f"Q{n}: {question}" for n, question in enumerate(questions, 1))
        names = [f"Q{questions.index(key[1]) + 1}: {key[2]}" for key in rows]
        yield _matrix(
            f"Answers covered, {eid}, by {groups[0]['judge']}", names, systems, cells,
            row_title="answer", column_title="system",
            caption=f"Event {eid}: percent of each answer that a summary covers. {question_list}",
        )  # fmt: skip


def _matrix(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[Cell | None]],
    *,
    row_title: str,
    column_title: str,
    caption: str,
) -> Plot:
    """Return a heat map whose text alternative is its title and all cells."""
    texts = "; ".join(
        f"{name}: " + ", ".join(
            f"{column} {cell.text}"
            for column, cell in zip(columns, line, strict=True)
            if cell is not None
        )
        for name, line in zip(rows, cells, strict=True)
    )  # fmt: skip
    figure = MatrixPlot(
        name=f"{title}: {texts}",
        rows=rows,
        columns=columns,
        cells=cells,
        row_title=row_title,
        column_title=column_title,
    )
    return Plot(figure, caption)


def _empty_plot(title: str) -> Plot:
    return Plot(
        MatrixPlot(name=title, rows=(), columns=(), cells=(), row_title="", column_title="")
    )


def _share_cell(share: float, note: str = "") -> Cell:
    return Cell(text=percentage(share), share=share, note=note)


def _count_cell(n: int, total: int) -> Cell:
    share = n / total if total else 0.0
    return Cell(text=str(n), share=share, note=percentage(share) if n else "")


def _slice_cell(figure: Json | None) -> Cell | None:
    if figure is None or figure.get("value") is None:
        return None
    return _share_cell(figure["value"], f"n {figure['n']}" if figure.get("n") else "")


def _level_names(group: Json, levels: Sequence[float]) -> list[str]:
    """Return the names of values: verdicts in words, others as numbers."""
    words = _VERDICTS if PROTOCOLS[group["protocol"]].paired else {}
    if list(levels) == list(_YES_OR_NO) and not words:
        words = _YES_OR_NO
    return [words.get(level, f"{level:g}") for level in levels]
