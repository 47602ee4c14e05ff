"""Figures of results that a paper shows: ranks, wins, confusion, ratings, systems, coverage.

Each is made of the JSON that a command writes; pages, ``--figures`` and ``.plot()`` draw the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.drawing import BY_PEOPLE, OTHER, PLAIN, Mark
from fairjudge.reports.figures import Json, forest, row
from fairjudge.reports.parts import Plot
from fairjudge.reports.point_plots import BarPlot, Bars, Cell, MatrixPlot, Point, ScatterPlot
from fairjudge.text.counting import percentage, pluralize

_HOLLOW = Mark(shape=BY_PEOPLE.shape, filled=False)
_BARS = (PLAIN, BY_PEOPLE, OTHER, _HOLLOW)
"""What tells bars apart: colour, and filled or not."""
_BIN, _LAST_BIN = 0.2, 10
"""Width of a bin of shares' ratios, and the number of the one that has all from 2 upwards."""
_VERDICTS = {-1.0: "second better", 0.0: "tie", 1.0: "first better"}
_YES_OR_NO = {0.0: "no", 1.0: "yes"}
RANKS_HELD = "those that the data allow, for all systems at once"
MAX_ROWS = 30
"""Rows of a heat map; the table beside it has all."""


def ranks_plot(systems: Sequence[Json], title: str, *, allowed: str = RANKS_HELD) -> Plot:
    """Return each system's rank with those that the data allow; `allowed` says how."""
    ends = {"value": "rank", "low": "best_rank", "high": "worst_rank"}
    rows = [
        row(system["system"], {end: system[name] for end, name in ends.items()}, digits=0)
        for system in systems
        if system.get("best_rank") is not None
    ]
    return forest(
        rows,
        title=f"Ranks, {title}",
        across=f"rank; the interval: {allowed}",
        span=(1.0, float(max(len(systems), 2))),
        whole=True,
    )


def wins_plot(group: Json, title: str) -> Plot:
    """Return how often the system of a row beat that of a column; ties count half."""
    names = [system["system"] for system in group["systems"]]
    won: dict[tuple[str, str], Cell] = {}
    for pair in group.get("pairs", ()):
        n = pair["wins"] + pair["ties"] + pair["losses"]
        first, second = pair["system_a"], pair["system_b"]
        won[first, second] = _share_cell((pair["wins"] + pair["ties"] / 2) / n, f"n {n}")
        won[second, first] = _share_cell((pair["losses"] + pair["ties"] / 2) / n, f"n {n}")
    cells = [[won.get((first, second)) for second in names] for first in names]
    return _matrix(
        f"Wins, {title}", names, names, cells, down="wins of", across="against",
        caption="Percent of the comparisons that the system of the row won, ties half; below it "
        "their number. A dash: never compared.",
    )  # fmt: skip


def confusion_plot(group: Json, title: str) -> Plot:
    """Return how often the judge gave which value where people gave which."""
    confusion = group.get("confusion")
    if not confusion:
        return _nothing(title)
    cells = [[_count_cell(n, sum(line)) for n in line] for line in confusion["counts"]]
    rows, columns = (_level_names(group, confusion[side]) for side in ("rows", "columns"))
    return _matrix(
        f"Judge by people, {title}", rows, columns, cells, down="judge", across="people",
        caption="Number of items, and their percent of the row: of what the judge gave this value. "
        "Means count as the nearest value.",
    )  # fmt: skip


def ratings_plot(group: Json, title: str) -> Plot:
    """Return a plot of the ratings of judge and people, if their scales are equal."""
    confusion = group.get("confusion")
    if not confusion or confusion["rows"] != confusion["columns"]:
        return _nothing(title)
    by_judge = confusion["counts"]
    by_people = zip(*by_judge, strict=True)
    n = sum(map(sum, by_judge)) or 1
    levels = _level_names(group, confusion["rows"])
    series = [
        Bars(name=name, mark=mark, percent=[100.0 * sum(counts) / n for counts in side])
        for name, mark, side in (("judge", PLAIN, by_judge), ("people", _HOLLOW, by_people))
    ]
    return _bars(
        f"Ratings of judge and people, {title}", levels, series, across="value",
        caption=f"The same {pluralize(n, 'item')}; people's is the mean of their labels.",
    )  # fmt: skip


def share_ratios_plot(system: str, samples: Sequence[Json], tau: float | None) -> Plot:
    """Return how p_y / p_x of each value is distributed over a system's summaries.

    Source: FairSumm, section 6.5 and Figure 4.
    """
    ratios: dict[str, Counter[int]] = {}
    for sample in samples:
        for value, source, summary in zip(
            sample["values"], sample["source"], sample["summary"], strict=True
        ):
            if source > 0:
                place = int(summary / source / _BIN + 1e-9)  # 0.6 / 0.2 is 2.999...
                ratios.setdefault(value, Counter())[min(place, _LAST_BIN)] += 1
    series = [
        Bars(
            name=value,
            mark=mark,
            percent=[100.0 * counts[place] / counts.total() for place in range(_LAST_BIN + 1)],
        )
        for (value, counts), mark in zip(ratios.items(), _BARS, strict=False)
    ]
    levels = [f"{place * _BIN:.1f}" for place in range(_LAST_BIN)] + [f"{_LAST_BIN * _BIN:.0f}+"]
    under = "" if tau is None else f" Below {tau:g} a summary under-represents the value."
    more = ""
    if len(ratios) > len(series):
        more = f" The first {len(series)} of {pluralize(len(ratios), 'value')}."
    return _bars(
        f"Ratio of shares, {system}", levels, series,
        across="p_y / p_x, from",
        caption="Share of a value in the summary (p_y) over that in the sources (p_x), in bins of "
        f"{_BIN:g}.{under}{more}",
    )  # fmt: skip


def _bars(
    title: str, levels: Sequence[str], series: Sequence[Bars], *, across: str, caption: str
) -> Plot:
    """Return a bar plot named by its title and all its bars."""
    texts = "; ".join(
        f"{bars.name} " + ", ".join(
            f"{level} {percent:.0f} %"
            for level, percent in zip(levels, bars.percent, strict=True)
        )
        for bars in series
    )  # fmt: skip
    figure = BarPlot(name=f"{title}: {texts}", levels=levels, series=series, across=across)
    return Plot(figure, caption)


def systems_plot(group: Json, title: str) -> Plot:
    """Return each system's mean by the judge against its mean by people."""
    means = [estimate for estimate in group.get("ppi", ()) if estimate["kind"] == "mean"]
    scales = group["scales"]
    points = [
        Point(name=estimate["system"], x=estimate["naive"], y=estimate["classical"])
        for estimate in means
    ]
    defined = [p for p in points if None not in (p.x.get("value"), p.y.get("value"))]
    texts = "; ".join(
        f"{p.name} judge {p.x['value']:.2f}, people {p.y['value']:.2f}" for p in defined
    )
    figure = ScatterPlot(
        name=f"Systems, judge against people, {title}: {texts}", points=points,
        across="judge's mean", up="people's mean", same_scale=scales["judge"] == scales["labels"],
    )  # fmt: skip
    return Plot(
        figure,
        "A square a system, with 95 % intervals both ways; on a dashed line judge and people agree "
        "on the level.",
    )


def position_pairs_plot(group: Json) -> Plot:
    """Return for each pair of systems how much more often the judge named what stood first."""
    pairs = islice(group.get("by_systems", {}).items(), MAX_ROWS)
    rows = [row(name, pair["first_minus_second"], digits=1) for name, pair in pairs]
    return forest(
        rows if len(rows) > 1 else [],
        title=f"Position bias by pair of systems, {group['aspect']}, by {group['judge']}",
        across="first less second, percentage points; 0 without position bias",
    )


def outlets_plot(by: str, groups: Sequence[Json]) -> Plot:
    """Return how far each system covers each outlet (or question)."""
    names = list(dict.fromkeys(name for group in groups for name in group["slices"][by]))
    cells = [
        [_slice_cell(group["slices"][by].get(name)) for group in groups]
        for name in names[:MAX_ROWS]
    ]
    dimension = by.partition(" by ")[2]
    more = len(names) > MAX_ROWS
    return _matrix(
        f"{by.capitalize()}, by {groups[0]['judge']}", names[:MAX_ROWS],
        [group["system"] for group in groups], cells, down=dimension, across="system",
        caption="Percent covered, and the number of clusters or answers it rests on."
        + (f" The first {MAX_ROWS} of {len(names)}; the table has all." if more else ""),
    )  # fmt: skip


def answers_plots(groups: Sequence[Json]) -> Iterator[Plot]:
    """Yield for each event which system covers which answer."""
    groups = [group for group in groups if group.get("answers")]
    systems = [group["system"] for group in groups]
    covered = [
        {
            (answer["eid"], answer["question"], answer["answer"]): answer["value"]
            for answer in group["answers"]
        }
        for group in groups
    ]
    every = list(dict.fromkeys(chain.from_iterable(covered)))
    for eid in dict.fromkeys(key[0] for key in every):
        rows = [key for key in every if key[0] == eid][:MAX_ROWS]
        cells = [
            [_share_cell(shares[key]) if key in shares else None for shares in covered]
            for key in rows
        ]
        questions = list(dict.fromkeys(key[1] for key in rows))
        question_list = "; ".join(f"Q{n}: {question}" for n, question in enumerate(questions, 1))
        names = [f"Q{questions.index(key[1]) + 1}: {key[2]}" for key in rows]
        yield _matrix(
            f"Answers covered, {eid}, by {groups[0]['judge']}", names, systems, cells,
            down="answer", across="system",
            caption=f"Event {eid}: percent of each answer that a summary covers. {question_list}",
        )  # fmt: skip


def _matrix(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[Cell | None]],
    *,
    down: str,
    across: str,
    caption: str,
) -> Plot:
    """Return a heat map named by its title and all its cells."""
    texts = "; ".join(
        f"{name}: " + ", ".join(
            f"{column} {cell.text}"
            for column, cell in zip(columns, line, strict=True)
            if cell is not None
        )
        for name, line in zip(rows, cells, strict=True)
    )  # fmt: skip
    figure = MatrixPlot(
        name=f"{title}: {texts}", rows=rows, columns=columns, cells=cells, down=down, across=across
    )
    return Plot(figure, caption)


def _nothing(title: str) -> Plot:
    return Plot(MatrixPlot(name=title, rows=(), columns=(), cells=(), down="", across=""))


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
    """Return values as they are shown: verdicts in words."""
    words = _VERDICTS if PROTOCOLS[group["protocol"]].paired else {}
    if list(levels) == list(_YES_OR_NO) and not words:
        words = _YES_OR_NO
    return [words.get(level, f"{level:g}") for level in levels]
