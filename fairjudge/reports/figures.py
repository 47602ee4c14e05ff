"""Statistics of JSON (``value``, ``low``, ``high``) as text and as rows of plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import floor, log10
from typing import Any, TypeAlias

from fairjudge.protocols import protocol_label
from fairjudge.reports.drawing import CURVE_MARKS, JUDGE_MARK, Mark
from fairjudge.reports.parts import Group, Plot
from fairjudge.reports.plots import Curve, CurvePlot, ForestPlot, ForestRow
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import pluralize
from fairjudge.text.printable import printable

Json: TypeAlias = Mapping[str, Any]

PERCENT = (0.0, 100.0)
MAX_NAMED = 3
"""Maximum number of items listed in a sentence."""


def interval(figure: Json | None, *, digits: int = 2, bound_digits: int | None = None) -> str:
    """Return ``value [low, high]`` with `digits` decimals, the bounds with `bound_digits`.

    A dash without a value.
    """
    if figure is None or figure.get("value") is None:
        return "-"
    value = number(figure["value"], digits=digits)
    between = bounds(figure, digits=digits if bound_digits is None else bound_digits)
    return value if between == "-" else f"{value} [{between}]"


def dollars(value: float | None) -> str:
    """Return US dollars with four decimals, small amounts with two significant digits."""
    if value is None:
        return "unknown"
    is_small = 0.0 < value < 0.001
    return f"{value:.{1 - floor(log10(value))}f}" if is_small else f"{value:.4f}"


def bounds(figure: Json, *, digits: int = 2) -> str:
    """Return ``low, high``, or a dash."""
    if figure.get("low") is None or figure.get("high") is None:
        return "-"
    return ", ".join(number(figure[bound], digits=digits) for bound in ("low", "high"))


def share_in_percent(share: float | None) -> str:
    """Return a share in percent, with one decimal; a dash without a value."""
    return number(None if share is None else 100 * share, digits=1)


def in_percent(share: Json) -> Json:
    """Convert a share, or a difference of shares, to percent."""
    values = {name: share.get(name) for name in ("value", "low", "high")}
    return {
        **share,
        **{name: None if value is None else 100 * value for name, value in values.items()},
    }


def percent(figure: Json | None) -> str:
    """Return a percentage with its interval, short enough for a narrow terminal."""
    return interval(figure, digits=1, bound_digits=0)


def negate(figure: Json) -> Json:
    """Return a difference with the opposite sign."""
    opposite = {"value": "value", "low": "high", "high": "low"}
    values = {name: figure.get(opposite_name) for name, opposite_name in opposite.items()}
    return {**figure, **{name: None if bound is None else -bound for name, bound in values.items()}}


def undefined_reason(figure: Json | None) -> str:
    """Return the reason why a statistic has no value, or "" if it has one."""
    return "" if figure is None or figure.get("value") is not None else str(figure.get("why") or "")


def no_interval_reason(figure: Json | None) -> str:
    """Return the reason why a statistic with a value has no interval, or "" if it has one."""
    if figure is None or figure.get("value") is None or figure.get("low") is not None:
        return ""
    return str(figure.get("method") or "no interval")


def protocol_in_words(group: Json) -> str:
    """Return the protocol, with the unit if parts were judged: ``"binary by answer"``."""
    return protocol_label(str(group["protocol"]), str(group.get("unit", "")))


def unit_suffix(group: Json) -> str:
    """Return the unit in words, such as ``" by article"``; "" for whole summaries."""
    return protocol_label("", str(group.get("unit", "")))


def p_value(p: Json | float | None, test: Json | None = None) -> str:
    """Return a p-value, or that of a statistic, as text; a dash without one.

    `test` is the statistic whose corrected p-value is `p`. At the smallest p-value that its
    resamples allow, the text is an upper bound: ``<= 0.002``.
    """
    if isinstance(p, Mapping):
        p, test = p.get("p_value"), p
    if p is None:
        return "-"
    if p < 0.001:
        return "< 0.001"
    return f"<= {number(p, digits=3)}" if _at_floor(test or {}) else number(p, digits=3)


def holm(figure: Json) -> str:
    """Return the p-value of a statistic after Holm's correction, as text."""
    return p_value(figure.get("p_holm"), figure)


def equals_p(p: str) -> str:
    """Return a p-value for a sentence: ``p = 0.02``, ``p <= 0.002``."""
    return f"p {p}" if p.startswith("<") else f"p = {p}"


def _at_floor(test: Json) -> bool:
    p, floor = test.get("p_value"), test.get("p_floor")
    return p is not None and floor is not None and bool(p <= floor)


def tally(counts: Mapping[str, int], words: Mapping[str, str] | None = None) -> str:
    """Return nonzero counts: ``2 refused, 1 off_scale``; `words` replace names."""
    return ", ".join(f"{n:,} {(words or {}).get(name, name)}" for name, n in counts.items() if n)


def sentence(text: str) -> str:
    """Return `text` with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def first_items(items: Iterable[str], limit: int = MAX_NAMED, *, between: str = ", ") -> str:
    """Return the first `limit` items, and the number of the others: ``a, b and 3 more``."""
    every = list(items)
    n_hidden = len(every) - limit
    return between.join(every[:limit]) + (f" and {n_hidden} more" if n_hidden > 0 else "")


def cut(text: str, *, longest: int) -> str:
    """Return `text` on one line of at most `longest` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def row(
    label: str, estimate: Json | None, *, mark: Mark = JUDGE_MARK, digits: int = 2
) -> ForestRow:
    """Return a statistic as a row of a forest plot."""
    statistic = estimate if estimate is not None and estimate.get("value") is not None else {}
    values = {name: statistic.get(name) for name in ("value", "low", "high")}
    text = interval(estimate, digits=digits) if statistic else "undefined"
    return ForestRow(label=label, **values, text=text, mark=mark)


def forest(
    rows: Sequence[ForestRow],
    *,
    title: str,
    x_label: str,
    span: tuple[float, float] | None = None,
    band: tuple[float, float] | None = None,
    caption: str = "",
    integers: bool = False,
) -> Plot:
    """Return a forest plot whose text alternative is its title and all rows."""
    texts = "; ".join(f"{line.label} {line.text}" for line in rows)
    name = f"{title.replace(': ', ', ')}: {texts}"  # the title of a figure ends at a colon
    figure = ForestPlot(
        name=name, rows=rows, x_label=x_label, span=span, band=band, integers=integers
    )
    return Plot(figure, caption)


def plot_with_table(
    text_table: TextTable,
    rows: Sequence[ForestRow],
    x_label: str,
    *,
    span: tuple[float, float] | None = None,
    caption: str = "",
) -> Group:
    """Return a forest plot and `text_table`, with the same title."""
    plot = forest(rows, title=text_table.title, x_label=x_label, span=span, caption=caption)
    return Group((plot, text_table))


def curves(
    points: Mapping[str, Iterable[tuple[float, float]]],
    *,
    name: str,
    x_label: str,
    y_label: str,
    logarithmic: bool = False,
    caption: str = "",
) -> Plot:
    """Return the plot of one curve per system; only the first ones if marks run out."""
    shown_curves = [
        Curve(name=system, points=tuple(curve_points), mark=mark)
        for (system, curve_points), mark in zip(points.items(), CURVE_MARKS, strict=False)
    ]
    if len(points) > len(shown_curves):
        caption = (
            f"The plot shows the first {pluralize(len(shown_curves), 'system')}, the table all."
        )
    figure = CurvePlot(
        curves=shown_curves, name=name, x_label=x_label, y_label=y_label, logarithmic=logarithmic
    )
    return Plot(figure, caption)


def significant_sign(figure: Json) -> int:
    """Return 1 or -1 if a statistic is significantly above or below 0, else 0.

    Significant: the whole interval is on that side, and p is below 0.05 if there is a test.
    """
    low, high, p = (figure.get(name) for name in ("low", "high", "p_value"))
    if low is None or high is None or (p is not None and p >= 0.05):
        return 0
    return int(low > 0) - int(high < 0)


def significant_words(figure: Json, *, above: str, below: str, neither: str) -> str:
    """Return `above` or `below` if a statistic differs significantly from 0, else `neither`."""
    return {1: above, -1: below, 0: neither}[significant_sign(figure)]


def judge_and_aspect(group: Json) -> str:
    """Return the judge, aspect and unit of a group, for a sentence."""
    return f"{group['judge']} in {group['aspect']}{unit_suffix(group)}"
