"""Plots: every value a named mark, told apart without colour, safe, and alike for like input."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from calibration_study import EVIL, study
from hypothesis import given, settings
from hypothesis import strategies as st

from fairjudge.reports.calibration_page import calibration_page
from fairjudge.reports.drawing import Mark, shorten_distinctly, shorten_label
from fairjudge.reports.plots import Curve, CurvePlot, ForestPlot, ForestRow, ReliabilityPlot
from fairjudge.reports.svg import to_svg

SQUARE = Mark(shape="square", filled=True)
DIAMOND = Mark(shape="diamond", filled=True)
CIRCLE = Mark(shape="circle", filled=False)


@pytest.fixture
def mpl():
    return pytest.importorskip("matplotlib", reason="needs the extra [plots]")


def row(label="alpha", value=0.5, low=0.25, high=0.75, *, mark=SQUARE, text="0.50"):
    return ForestRow(label=label, value=value, low=low, high=high, text=text, mark=mark)


def curve(*points, name="alpha", mark=SQUARE):
    return Curve(name=name, points=points, mark=mark)


def forest_plot(rows, **how):
    return to_svg(ForestPlot(rows=rows, **how))


def curve_plot(curves, **how):
    return to_svg(CurvePlot(curves=curves, **how))


def reliability_plot(bins, **how):
    return to_svg(ReliabilityPlot(bins=bins, **how))


def parsed(plot):
    """Return the root, after what holds for every plot."""
    root = ET.fromstring(plot)  # noqa: S314  # our own
    assert {node.tag for node in root.iter()} <= {
        "svg", "title", "path", "text", "tspan", "defs", "use", "g"
    }  # fmt: skip
    assert not {"style", "clip-path"} & {name for node in root.iter() for name in node.attrib}
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.findtext("title")
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    values = " ".join(value for node in root.iter("path") for value in node.attrib.values())
    assert not re.search(r"nan|inf|url", values)
    ids = {node.get("id") for node in root.iter() if node.get("id")}
    assert {node.get("href")[1:] for node in root.iter("use")} <= ids
    return root


def marks(root):
    """Return fill and place of every mark, by its tooltip."""
    by_name = {}
    for group in root.iter("g"):
        use = group.find("use")
        if (text := group.findtext("title")) is not None and use is not None:
            kind = "full" if use.get("fill") == "#0b4f8a" else "hollow"
            by_name[text] = (kind, float(use.get("x")), float(use.get("y")))
    return by_name


def texts(root):
    return [node.text for tag in ("text", "tspan") for node in root.iter(tag) if node.text]


def lines(root):
    """Return the ends of all straight lines, and whether each is dashed."""
    items = []
    for node in root.iter("path"):
        ends = [float(n) for n in re.findall(r"-?[\d.]+", node.get("d"))]
        if len(ends) == 4:
            items.append((tuple(ends), node.get("stroke-dasharray") is not None))
    return items


def test_forest_plot_places_values_correctly(mpl):
    rows = (row("alpha", 0.5), row("beta", 0.0, 0.0, 0.0, mark=CIRCLE))
    root = parsed(forest_plot(rows, name="n", x_label="share", span=(0.0, 1.0)))
    # 0 to 1 lies on 4 to 96 % of 360 pixels; rows are 38 pixels apart from 8 on, marks at .67.
    assert marks(root) == {
        "alpha: 0.50": ("full", 180, pytest.approx(8 + 38 * 0.67, abs=0.1)),
        "beta: 0.50": ("hollow", 14.4, pytest.approx(8 + 38 * 1.67, abs=0.1)),
    }
    assert {"alpha", "beta", "share", "0", "0.4", "1"} <= set(texts(root))
    (ends,) = [ends for ends, _ in lines(root) if ends[0] == 97.2 and ends[2] == 262.8]
    assert ends[1] == ends[3] == pytest.approx(8 + 38 * 0.67, abs=0.1)


def test_vertical_lines_cross_no_text(mpl):
    rows = [row("alpha", 0.5), row("beta", -0.5, -0.8, 0.3)]
    root = parsed(forest_plot(rows, name="n", x_label="a", span=(-1.0, 1.0), band=(0.1, 0.3)))
    upright = [ends for ends, _ in lines(root) if ends[0] == ends[2] and ends[1] != ends[3]]
    tops = [float(node.get("y")) for node in root.iter("text") if node.text in {"alpha", "beta"}]
    assert len(upright) >= 2 * len(tops)
    for top in tops:
        assert not [ends for ends in upright if min(ends[1::2]) < top < max(ends[1::2])]


def test_row_without_value_states_the_reason_and_has_no_mark(mpl):
    rows = (row("alpha", None, None, None, text="undefined"), row("beta", 0.1, None, None))
    root = parsed(forest_plot(rows, name="n", x_label="a"))
    assert list(marks(root)) == ["beta: 0.50"]
    assert "undefined" in texts(root)


def test_band_has_two_borders_and_stays_in_the_plot(mpl):
    root = parsed(forest_plot([row()], name="n", x_label="a", span=(0.0, 1.0), band=(0.25, 2.0)))
    assert {ends[0] for ends, dashed in lines(root) if dashed} == {97.2, 345.6}
    (band,) = [node for node in root.iter("path") if node.get("fill") == "#eff0f2"]
    corners = [float(x) for x in re.findall(r"[ML] (\S+)", band.get("d"))]
    assert (min(corners), max(corners)) == (97.2, 345.6)  # what is beyond the span ends with it


def test_reliability_diagram_has_one_mark_per_bin(mpl):
    points = [
        {"mean_score": 1, "mean_label": {"value": 2, "low": 1.5, "high": 2.5}, "n": 4},
        {"mean_score": 5, "mean_label": {"value": 9, "low": None, "high": None}, "n": 1},
    ]
    root = parsed(reliability_plot(points, scale=(1, 5), name="n", mark=CIRCLE))
    # 1 to 5 lies on 15 to 97 % of 340 pixels across, and on 13 to 96 % of 330 upwards.
    assert marks(root) == {
        "score 1.00, humans 2.00, 4 items": ("hollow", 51, pytest.approx(218.6, abs=0.1)),
        "score 5.00, humans 9.00, 1 item": ("hollow", 329.8, pytest.approx(13.2, abs=0.1)),
    }
    assert sum(dashed for _, dashed in lines(root)) == 1


def test_curves_are_labelled_and_differ_in_dashes(mpl):
    curves = (
        curve((10, 0.8), (100, 0.4), (1000, 0.2), name="with"),
        curve((10, 0.6), (1000, 0.1), name="without", mark=CIRCLE),
    )
    plot = curve_plot(curves, name="n", x_label="labels", y_label="half-width")
    text = texts(parsed(plot))
    assert {"with", "without", "labels", "half-width", "0.4", "10", "50", "1000"} <= set(text)
    assert plot.count("stroke-dasharray") == 2  # one curve, and its line in the legend


def test_ticks_of_a_logarithmic_axis_grow_sparser_over_many_powers(mpl):
    def ticks(low, high):
        plot = curve_plot([curve((low, 1), (high, 1))], name="n", x_label="a", y_label="u")
        return {text for text in texts(parsed(plot)) if re.fullmatch(r"\d{2,}", text)}

    assert ticks(10, 300) == {"10", "20", "50", "100", "200"}
    assert ticks(10, 5000) == {"10", "100", "1000"}
    assert len(ticks(30, 40)) >= 2  # no 1, 2 or 5 times a power lies between


def test_shapes_differ_without_colour(mpl):
    rows = [row(str(mark), mark=mark) for mark in (SQUARE, DIAMOND, CIRCLE)]
    root = parsed(forest_plot(rows, name="n", x_label="a"))
    items = [node.find("defs/path") for node in root.iter("g") if node.find("title") is not None]
    assert len({node.get("d") for node in items}) == 3


HOSTILE = f"{EVIL} $x^{{$ \\frac \x1b[2J\x00\ud800 & \u4e2d\u0627"


def test_labels_are_escaped(mpl):
    plots = (
        forest_plot([row(HOSTILE, text="$1$")], name=HOSTILE, x_label=HOSTILE),
        curve_plot([curve((1, 1), name=HOSTILE)], name=HOSTILE, x_label=HOSTILE, y_label=HOSTILE),
    )
    for plot in plots:
        text = " ".join(texts(parsed(plot)))
        assert "<script>" in text
        assert not any(ord(character) < 32 for character in text)
    assert "$1$" in texts(parsed(plots[0]))


def test_long_labels_are_shortened_with_full_tooltip(mpl):
    label = "a" * 80
    root = parsed(forest_plot([row(label)], name="n", x_label="a"))
    assert next(iter(marks(root))) == f"{label}: 0.50"
    text = next(text for text in texts(root) if text.startswith("aa"))
    assert text.endswith("…")
    assert len(text) == 54 - len("0.50") - 3


BIN = {"mean_score": 1, "mean_label": {"value": 2, "low": None, "high": None}, "n": 1}


def test_interval_beyond_the_axis_ends_in_an_arrow(mpl):
    def tips(high):
        plot = forest_plot([row(high=high)], name="n", x_label="a", span=(0.0, 1.0))
        return {node.get("d") for node in parsed(plot).iter("path") if node.get("id")}

    assert len(tips(2.0)) > len(tips(0.9))


def test_degenerate_input_makes_a_plot_or_nothing(mpl):
    assert forest_plot([], name="n", x_label="a") == ""
    assert forest_plot([row(value=None)], name="n", x_label="a") == ""
    assert reliability_plot([], scale=(1, 5), name="n", mark=SQUARE) == ""
    assert curve_plot([], name="n", x_label="a", y_label="u") == ""
    assert curve_plot([curve()], name="n", x_label="a", y_label="u") == ""
    assert curve_plot([curve((math.nan, 1.0))], name="n", x_label="a", y_label="u") == ""
    for plot in (
        forest_plot([row(value=math.nan, low=math.nan)], name="n", x_label="a"),
        forest_plot([row()], name="n", x_label="a", span=(1.0, 1.0)),
        forest_plot([row(value=0.0, low=0.0, high=0.0)], name="n", x_label=""),
        reliability_plot([BIN], scale=(1, 1), name="n", mark=SQUARE),
        curve_plot([curve((7, 0.0))], name="n", x_label="a", y_label="u"),
        curve_plot([curve((0, 1), (3, 1)), curve(name="b")], name="n", x_label="a", y_label="u"),
        curve_plot(
            [curve((1, math.nan), (2, -1.0), (3, math.inf))], name="n", x_label="a", y_label="u"
        ),
    ):
        parsed(plot)


@given(
    values=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=4),
    span=st.one_of(st.none(), st.tuples(st.floats(-5, 0), st.floats(0, 5))),
)
@settings(max_examples=25, deadline=None)
def test_every_mark_is_inside_the_plot(values, span):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    rows = [row(f"r{place}", value, value, value) for place, value in enumerate(values)]
    result = marks(parsed(forest_plot(rows, name="n", x_label="a", span=span)))
    assert len(result) == len(values)
    assert all(14.4 <= x <= 345.6 for _, x, _ in result.values())


def test_user_matplotlib_style_is_neither_used_nor_changed(mpl):
    rows = [row(), row("beta", -0.5, -1.0, 0.0)]
    plain = forest_plot(rows, name="n", x_label="a")
    with mpl.rc_context({"font.size": 30, "lines.marker": "x", "axes.xmargin": 0.4}):
        before = dict(mpl.rcParams)
        assert forest_plot(rows, name="n", x_label="a") == plain
        assert dict(mpl.rcParams) == before


_ELSEWHERE = """
import sys
from fairjudge.reports.drawing import Mark
from fairjudge.reports.plots import Curve, CurvePlot
from fairjudge.reports.svg import to_svg
assert "matplotlib" not in sys.modules
mark = Mark(shape="square", filled=True)
one = Curve(name="alpha", points=((10, 1), (90, 0.5)), mark=mark)
print(to_svg(CurvePlot(curves=[one], name="n", x_label="a", y_label="u")), end="")
assert "matplotlib.pyplot" not in sys.modules
"""


def test_equal_input_gives_equal_bytes_across_processes(mpl):
    svg = curve_plot([curve((10, 1), (90, 0.5))], name="n", x_label="a", y_label="u")
    again = curve_plot([curve((10, 1), (90, 0.5))], name="n", x_label="a", y_label="u")
    command = [sys.executable, "-c", _ELSEWHERE]
    elsewhere = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert svg == again == elsewhere


def test_page_without_matplotlib_has_tables_and_names_the_extra(monkeypatch):
    for name in [module for module in sys.modules if module.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # every import of it fails
    page = calibration_page(study(EVIL))
    assert "<svg" not in page
    assert "<figure" not in page
    assert page.count("pip install 'fairjudge[plots]'") == 1
    assert "Reliability: mean human label" in page


@pytest.mark.parametrize(
    ("label", "shortened"),
    [
        ("short", "short"),
        ("x" * 20, "x" * 20),
        ("x" * 21, "x" * 19 + "…"),
        ("W" * 20, "W" * 11 + "…"),
        ("新" * 20, "新" * 9 + "…"),
        ("", ""),
    ],
)
def test_wide_labels_leave_room_for_numbers(label, shortened):
    assert shorten_label(label, 20) == shortened


def test_labels_with_common_prefix_are_shortened_in_the_middle():
    judges = ["gpt-3.5, scale likert-1-5@ee6b", "gpt-3.5, scale options-A-B@f39e", "claude-3"]
    assert shorten_distinctly(judges, [16, 16, 16]) == [
        "gpt-3.5…5@ee6b",
        "gpt-3.5…B@f39e",
        "claude-3",
    ]
    # cut at the end where that tells them apart, and one label twice is no other label
    assert shorten_distinctly(["a long name", "other name", "other name"], [6, 6, 6]) == [
        "a lon…", "other…", "other…",
    ]  # fmt: skip
