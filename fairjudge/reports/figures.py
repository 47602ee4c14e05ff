"""Figures of JSON as text and as rows of plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import floor, log10
from typing import Any, TypeAlias

from fairjudge.protocols import protocol_label
from fairjudge.reports.drawing import CURVE_MARKS, PLAIN, Mark
from fairjudge.reports.parts import Group, Plot
from fairjudge.reports.plots import Curve, CurvePlot, ForestPlot, ForestRow
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import pluralize
from fairjudge.text.printable import printable

Json: TypeAlias = Mapping[str, Any]

PERCENT = (0.0, 100.0)
MAX_NAMED = 3
"""How many of a list a sentence names."""


def interval(figure: Json | None, *, digits: int = 2, ends: int | None = None) -> str:
    """Return ``value [low, high]`` with `digits` decimals, `ends` of them in the interval.

    A dash stands where there is no value.
    """
    if figure is None or figure.get("value") is None:
        return "-"
    value = number(figure["value"], digits=digits)
    between = bounds(figure, digits=digits if ends is None else ends)
    return value if between == "-" else f"{value} [{between}]"


def dollars(value: float | None) -> str:
    """Return US dollars with four decimals, small amounts with two digits; None is unknown."""
    if value is None:
        return "unknown"
    small = 0.0 < value < 0.001
    return f"{value:.{1 - floor(log10(value))}f}" if small else f"{value:.4f}"


def bounds(figure: Json, *, digits: int = 2) -> str:
    """Return ``low, high``, or a dash."""
    if figure.get("low") is None or figure.get("high") is None:
        return "-"
    return ", ".join(number(figure[end], digits=digits) for end in ("low", "high"))


def share_in_percent(share: float | None) -> str:
    """Return a share in percent, with one decimal; a dash where there is none."""
    return number(None if share is None else 100 * share, digits=1)


def in_percent(share: Json) -> Json:
    """Return a figure that is a share, or a difference of shares, in percent."""
    ends = {end: share.get(end) for end in ("value", "low", "high")}
    return {**share, **{end: None if value is None else 100 * value for end, value in ends.items()}}


def percent(figure: Json | None) -> str:
    """Return percent with its interval, short enough for a narrow terminal."""
    return interval(figure, digits=1, ends=0)


def negated(figure: Json) -> Json:
    """Return a difference with the opposite sign."""
    ends = {"value": "value", "low": "high", "high": "low"}
    turned = {end: figure.get(other) for end, other in ends.items()}
    return {**figure, **{end: None if bound is None else -bound for end, bound in turned.items()}}


def why(figure: Json | None) -> str:
    """Return why a figure has no value; "" if it has one."""
    return "" if figure is None or figure.get("value") is not None else str(figure.get("why") or "")


def why_no_interval(figure: Json | None) -> str:
    """Return why a figure with a value has no interval; "" if it has one."""
    if figure is None or figure.get("value") is None or figure.get("low") is not None:
        return ""
    return str(figure.get("method") or "no interval")


def protocol_of(group: Json) -> str:
    """Return the protocol, with the unit where parts were judged: ``"binary by answer"``."""
    return protocol_label(str(group["protocol"]), str(group.get("unit", "")))


def by_unit(group: Json) -> str:
    """Return the unit in words, such as ``" by article"``; "" for whole summaries."""
    return protocol_label("", str(group.get("unit", "")))


def p_value(p: Json | float | None, test: Json | None = None) -> str:
    """Return a p-value, or that of a figure, as text; a dash where there is none.

    `test` is the figure whose p-value `p` corrects. Where its resamples could give no smaller one,
    the true p may be: ``<= 0.002``.
    """
    if isinstance(p, Mapping):
        p, test = p.get("p_value"), p
    if p is None:
        return "-"
    if p < 0.001:
        return "< 0.001"
    return f"<= {number(p, digits=3)}" if _at_floor(test or {}) else number(p, digits=3)


def holm(figure: Json) -> str:
    """Return the p-value of a figure after Holm's correction."""
    return p_value(figure.get("p_holm"), figure)


def equals_p(p: str) -> str:
    """Return a shown p-value as it stands in a sentence: ``p = 0.02``, ``p <= 0.002``."""
    return f"p {p}" if p.startswith("<") else f"p = {p}"


def _at_floor(test: Json) -> bool:
    p, floor = test.get("p_value"), test.get("p_floor")
    return p is not None and floor is not None and bool(p <= floor)


def tally(counts: Mapping[str, int], words: Mapping[str, str] | None = None) -> str:
    """Return ``2 refused, 1 off_scale``, in `words` where these have the name."""
    return ", ".join(f"{n:,} {(words or {}).get(name, name)}" for name, n in counts.items() if n)


def sentence(text: str) -> str:
    """Return a remark as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def first_items(items: Iterable[str], limit: int = MAX_NAMED, *, between: str = ", ") -> str:
    """Return the first items, and how many more there are."""
    every = list(items)
    more = len(every) - limit
    return between.join(every[:limit]) + (f" and {more} more" if more > 0 else "")


def cut(text: str, *, longest: int) -> str:
    """Return `text` on one line of at most `longest` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def row(label: str, estimate: Json | None, *, mark: Mark = PLAIN, digits: int = 2) -> ForestRow:
    """Return a figure as a row of a forest plot."""
    defined = estimate if estimate is not None and estimate.get("value") is not None else {}
    ends = {end: defined.get(end) for end in ("value", "low", "high")}
    text = interval(estimate, digits=digits) if defined else "undefined"
    return ForestRow(label=label, **ends, text=text, mark=mark)


def forest(
    rows: Sequence[ForestRow],
    *,
    title: str,
    across: str,
    span: tuple[float, float] | None = None,
    band: tuple[float, float] | None = None,
    caption: str = "",
    whole: bool = False,
) -> Plot:
    """Return a forest plot named by its title and all its rows."""
    texts = "; ".join(f"{line.label} {line.text}" for line in rows)
    name = f"{title.replace(': ', ', ')}: {texts}"  # the title of a figure ends at a colon
    figure = ForestPlot(name=name, rows=rows, across=across, span=span, band=band, whole=whole)
    return Plot(figure, caption)


def plotted(
    table: TextTable,
    rows: Sequence[ForestRow],
    across: str,
    *,
    span: tuple[float, float] | None = None,
    caption: str = "",
) -> Group:
    """Return `table` beside a forest plot of the same name."""
    plot = forest(rows, title=table.title, across=across, span=span, caption=caption)
    return Group((plot, table))


def curves(
    points: Mapping[str, Iterable[tuple[float, float]]],
    *,
    name: str,
    across: str,
    up: str,
    logarithmic: bool = False,
    caption: str = "",
) -> Plot:
    """Return the curve of each system, of more than there are marks the first ones."""
    drawn = [
        Curve(name=system, points=tuple(of_system), mark=mark)
        for (system, of_system), mark in zip(points.items(), CURVE_MARKS, strict=False)
    ]
    if len(points) > len(drawn):
        caption = f"The plot shows the first {pluralize(len(drawn), 'system')}, the table all."
    figure = CurvePlot(curves=drawn, name=name, across=across, up=up, logarithmic=logarithmic)
    return Plot(figure, caption)


def significant_sign(figure: Json) -> int:
    """Return 1 or -1 where the figure lies significantly above or below 0, else 0.

    Significantly: the whole interval does, and p is below 0.05 where there is a test.
    """
    low, high, p = (figure.get(name) for name in ("low", "high", "p_value"))
    if low is None or high is None or (p is not None and p >= 0.05):
        return 0
    return int(low > 0) - int(high < 0)


def significant_words(figure: Json, *, above: str, below: str, neither: str) -> str:
    """Return the words for a figure significantly above 0, below it, or neither."""
    return {1: above, -1: below, 0: neither}[significant_sign(figure)]


def who_in(group: Json) -> str:
    """Return the judge, aspect and unit of a group, for a sentence."""
    return f"{group['judge']} in {group['aspect']}{by_unit(group)}"
