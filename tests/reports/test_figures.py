"""Figures of results: what they hold, where labels stand, that nothing leaves the axes."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from fairjudge.calibration.confusion import confusion_levels
from fairjudge.domain import Judgement
from fairjudge.reports import svg
from fairjudge.reports.drawing import CURVE_MARKS, HUMAN_MARK, JUDGE_MARK, Mark
from fairjudge.reports.leaderboard_table import leaderboard_parts
from fairjudge.reports.parts import Group, Plot
from fairjudge.reports.plots import Curve, CurvePlot, ForestPlot, ForestRow, ReliabilityPlot
from fairjudge.reports.point_plots import (
    BarPlot,
    Bars,
    Cell,
    MatrixPlot,
    Point,
    ScatterPlot,
    spread,
)
from fairjudge.reports.result_figures import (
    answers_plots,
    confusion_plot,
    outlets_plot,
    ranks_plot,
    ratings_plot,
    systems_plot,
    wins_plot,
)
from fairjudge.reports.svg import figure_style, to_svg
from fairjudge.scores.leaderboards import leaderboards

SYSTEMS = [
    "GPT-4o",
    "Llama-3.1-70B-Instruct",
    "a",
    "Ein sehr langer Name eines Systems",
    "新しい要約システム",
]


def figure(value, low=None, high=None, **more):
    return {"value": value, "low": low, "high": high, **more}


def ranking(n):
    names = [f"{SYSTEMS[k % 5]} {k}" for k in range(n)]
    return {
        "systems": [
            {"system": name, "rank": k + 1, "best_rank": max(1, k), "worst_rank": min(n, k + 3)}
            for k, name in enumerate(names)
        ],
        "pairs": [
            {"system_a": a, "system_b": b, "wins": 6, "ties": 1, "losses": 3}
            for a, b in itertools.combinations(names, 2)
        ],
    }


def calibrated(**more):
    counts = [[3, 2, 0], [1, 20, 4], [0, 5, 10]]
    return {
        "protocol": "likert",
        "scales": {"judge": [1, 3], "labels": [1, 3]},
        "confusion": {"rows": [1, 2, 3], "columns": [1, 2, 3], "counts": counts},
        "ppi": [
            {"kind": "mean", "system": name, "naive": figure(2 + k / 50, 1.5, 2.9),
             "classical": figure(2.0, 1.6, 2.2)}
            for k, name in enumerate(SYSTEMS * 4)
        ],
    } | more  # fmt: skip


def covered(n):
    return [
        {
            "judge": "j",
            "system": f"{name} {k}",
            "slices": {
                "coverage by outlet": {f"outlet {m}.example.com": figure(m / 40, n=m + 1)
                                       for m in range(40)}
            },
            "answers": [
                {"eid": eid, "question": "What will it cost?", "value": m / 8,
                 "answer": f"Answer {m} in so many words that they need two lines and more"}
                for eid in ("e1", "e2")
                for m in range(8)
            ],
        }
        for k, name in enumerate(SYSTEMS[:n])
    ]  # fmt: skip


def every_figure():
    row = ForestRow(
        label="alpha", value=0.5, low=0.2, high=9.0, text="0.50 [0.20, 9.00]", mark=JUDGE_MARK
    )
    bins = [{"mean_score": 1, "mean_label": figure(9, 1, 12), "n": 4}]
    curves = [Curve(name=f"curve {k}", points=((1, 9), (3, 4)), mark=m)
              for k, m in enumerate(CURVE_MARKS)]  # fmt: skip
    yield ForestPlot(name="forest", rows=[row] * 3, x_label="share", span=(0.0, 1.0))
    yield ReliabilityPlot(name="reliability", bins=bins, scale=(1, 5), mark=HUMAN_MARK)
    yield CurvePlot(
        name="curves", curves=curves, x_label="labels", y_label="width", logarithmic=False
    )
    yield ranks_plot(ranking(9)["systems"], "x").figure
    yield wins_plot(ranking(3), "x").figure
    yield wins_plot(ranking(11), "x").figure
    yield confusion_plot(calibrated(), "x").figure
    yield ratings_plot(calibrated(), "x").figure
    yield systems_plot(calibrated(), "x").figure
    yield outlets_plot("coverage by outlet", covered(5)).figure
    yield from (plot.figure for plot in answers_plots(covered(4)))


def draw(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    layout = figure.layout
    with figure_style(figure.name):
        whole = Figure(figsize=(layout.width / 72, layout.height / 72), dpi=72)
        axes = whole.add_axes(layout.box)
        figure.draw(axes)
        canvas = FigureCanvasAgg(whole)
        canvas.draw()
    return axes, canvas.get_renderer()


def boxes_of_texts(axes, renderer):
    from matplotlib.text import Text

    texts = [t for t in axes.figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    limits = {"x": sorted(axes.get_xlim()), "y": sorted(axes.get_ylim())}
    for axis, ticks in (("x", axes.xaxis), ("y", axes.yaxis)):
        low, high = limits[axis]
        beyond = [t for t in ticks.get_major_ticks() if not low <= t.get_loc() <= high]
        hidden = [label for tick in beyond for label in (tick.label1, tick.label2)]
        if not ticks.get_visible():
            hidden += ticks.get_majorticklabels()
        texts = [t for t in texts if t not in hidden]
    # An annotation's own box holds its arrow too.
    return [(t.get_text(), Text.get_window_extent(t, renderer)) for t in texts]


@pytest.mark.parametrize(
    "one", list(every_figure()), ids=lambda figure: figure.name.partition(": ")[0]
)
def test_labels_do_not_overlap_and_stay_inside_the_figure(one):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    axes, renderer = draw(one)
    boxes = boxes_of_texts(axes, renderer)
    assert len(boxes) >= 3
    for (text, box), (other, beside) in itertools.combinations(boxes, 2):
        # A pixel of leading may be shared; letters may not.
        apart = (
            box.x1 <= beside.x0 + 1 or beside.x1 <= box.x0 + 1
            or box.y1 <= beside.y0 + 2 or beside.y1 <= box.y0 + 2
        )  # fmt: skip
        assert apart, (text, other)
    for text, box in boxes:
        # Matplotlib's own font is wider than a page's; half a letter may go past the edge there.
        assert box.x0 >= -4, text
        assert box.x1 <= one.layout.width + 4, text
        assert box.y0 >= -2, text
        assert box.y1 <= one.layout.height + 2, text


@pytest.mark.parametrize(
    "one", list(every_figure()), ids=lambda figure: figure.name.partition(": ")[0]
)
def test_bars_marks_and_intervals_stay_inside_the_axes(one):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    axes, _ = draw(one)
    (left, right), (bottom, top) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    for patch in axes.patches:
        box = patch.get_bbox() if hasattr(patch, "get_bbox") else patch.get_extents()
        assert left - 1e-9 <= box.x0 <= box.x1 <= right + 1e-9
        assert bottom - 1e-9 <= box.y0 <= box.y1 <= top + 1e-9
    for line in axes.lines:
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        assert np.all((left - 1e-9 <= x) & (x <= right + 1e-9))
        assert np.all((bottom - 1e-9 <= y) & (y <= top + 1e-9))


def test_every_figure_can_be_embedded_in_a_page():
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    for item in every_figure():
        element = to_svg(item)
        assert element.startswith("<svg ")
        assert "url(" not in element
        assert "style=" not in element
        assert to_svg(item) == element


def test_win_matrix_counts_ties_half_and_both_directions():
    group = {
        "systems": [{"system": "x"}, {"system": "y"}, {"system": "z"}],
        "pairs": [{"system_a": "x", "system_b": "y", "wins": 6, "ties": 1, "losses": 3}],
    }
    cells = wins_plot(group, "t").figure.cells
    assert (cells[0][1].text, cells[0][1].note) == ("65 %", "n 10")  # Python rounds 6.5 / 10
    assert (cells[1][0].text, cells[1][0].note) == ("35 %", "n 10")
    assert cells[0][0] is cells[0][2] is cells[2][1] is None


def test_confusion_matrix_is_normalised_by_row():
    cells = confusion_plot(calibrated(), "t").figure.cells
    assert [cell.text for cell in cells[1]] == ["1", "20", "4"]
    assert [cell.note for cell in cells[1]] == ["4 %", "80 %", "16 %"]
    assert cells[0][2].note == ""


def test_distributions_need_one_scale_and_sum_to_one():
    figure = ratings_plot(calibrated(), "t").figure
    assert [bars.name for bars in figure.series] == ["judge", "humans"]
    assert [sum(bars.percent) for bars in figure.series] == [pytest.approx(100)] * 2
    assert figure.series[1].percent[0] == pytest.approx(100 * 4 / 45)
    other = calibrated(confusion={"rows": [0, 1], "columns": [1, 2], "counts": [[1, 0], [0, 1]]})
    assert ratings_plot(other, "t").figure.empty


def test_pairwise_and_binary_values_are_shown_as_words():
    counts = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    levels = [-1.0, 0.0, 1.0]
    pairs = calibrated(
        protocol="pairwise", confusion={"rows": levels, "columns": levels, "counts": counts}
    )
    assert confusion_plot(pairs, "t").figure.rows == ["second better", "tie", "first better"]
    yes = {"rows": [0.0, 1.0], "columns": [0.0, 1.0], "counts": [[1, 0], [0, 1]]}
    binary = calibrated(protocol="binary", confusion=yes)
    assert confusion_plot(binary, "t").figure.rows == ["no", "yes"]


def test_text_alternative_contains_every_number():
    name = wins_plot(ranking(3), "x").figure.name
    assert name.startswith("Wins, x: ")
    assert name.count("65 %") == 3
    assert f'aria-label="{name}"' in to_svg(wins_plot(ranking(3), "x").figure)


@pytest.mark.parametrize(
    ("scale", "values", "levels"),
    [
        ((1, 5), [1, 2.5, 4], (1, 2, 3, 4, 5)),
        ((0, 1), [0, 1, 1], (0, 1)),
        ((0, 1), [0.2, 1], (0, 0.25, 0.5, 0.75, 1)),
        ((-1, 1), [-1, 0, 0.5], (-1, 0, 1)),
        ((0, 100), [3, 70], (0, 25, 50, 75, 100)),
        ((2, 2), [2, 2], (2,)),
    ],
)
def test_levels_follow_the_scale(scale, values, levels):
    assert confusion_levels(scale, np.array(values)) == levels


@pytest.mark.parametrize("wishes", [[0.5] * 6, [0, 0, 0, 1], [0.9, 0.95, 1.0], [0.1, 0.8], [1.0]])
def test_names_are_spaced_in_order(wishes):
    places = spread(wishes, 0.15)
    assert all(b - a >= 0.15 - 1e-9 for a, b in itertools.pairwise(places))
    assert places[0] >= -1e-9
    assert places[-1] <= 1 + 1e-9


def test_figures_without_values_are_empty():
    assert ranks_plot([{"system": "x", "rank": 1, "best_rank": None}], "t").figure.empty
    assert wins_plot({"systems": [{"system": "x"}]}, "t").figure.empty
    assert confusion_plot({"confusion": None}, "t").figure.empty
    assert systems_plot(calibrated(ppi=[]), "t").figure.empty
    assert list(answers_plots([{"judge": "j", "system": "x"}])) == []
    assert BarPlot(name="n", levels=(), series=(), x_label="").empty
    point = Point(name="x", x=figure(1.0), y=figure(None))
    assert ScatterPlot(name="n", points=[point] * 3, x_label="a", y_label="u").empty
    assert not BarPlot(
        name="n", levels=["1"], x_label="v",
        series=[Bars(name="judge", mark=Mark(shape="square", filled=True), percent=[100.0])],
    ).empty  # fmt: skip


def luminance(colour):
    """WCAG 2's relative luminance of sRGB, 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def contrast(first, other):
    darker, lighter = sorted((luminance(first), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def when_dark(colour):
    """What the style sheet's filter makes of a colour (CSS Filter Effects, section 9)."""
    css = Path(svg.__file__).with_name("page.css").read_text("utf-8")
    assert "figure svg { filter: invert(.9) hue-rotate(180deg); }" in css
    inverted = 0.9 - 0.8 * np.array(colour[:3])
    turned = 2 * np.array([[0.213, 0.715, 0.072]] * 3) - np.eye(3)
    return np.clip(turned @ inverted, 0, 1)


@pytest.mark.parametrize("scheme", [lambda colour: colour[:3], when_dark], ids=["light", "dark"])
def test_text_on_cells_of_every_share_is_legible(scheme):
    colors = pytest.importorskip("matplotlib.colors", reason="needs the extra [plots]")
    shares = [*np.linspace(0, 1, 21), None]
    cells = [[Cell(text="1", share=share, note="n 2") for share in shares], [None] * len(shares)]
    plot = MatrixPlot(
        name="m", rows=["a", "b"], columns=[str(n) for n in range(22)], cells=cells,
        row_title="d", column_title="a",
    )  # fmt: skip
    axes, _ = draw(plot)
    patches = {(round(p.get_x()), round(p.get_y())): p.get_facecolor() for p in axes.patches}
    letters = [text for text in axes.texts if text.get_text() in {"1", "n 2", "–"}]
    assert len(letters) == 3 * 22
    for text in letters:
        x, y = text.get_position()
        shade = patches[int(x), int(y)]
        assert contrast(scheme(colors.to_rgb(text.get_color())), scheme(shade)) >= 4.5
    row = [luminance(patches[x, 0][:3]) for x in range(21)]
    assert row == sorted(row, reverse=True)  # a higher share is darker


def test_means_are_shown_with_possible_ranks():
    rng = np.random.default_rng(0)
    rows = [
        Judgement(eid=f"d{n}", system=system, aspect="coverage", protocol="likert", judge="j",
                  value=float(np.clip(np.rint(level + rng.normal(0, 0.7)), 1, 5)), scored_by="llm")
        for n in range(30)
        for system, level in (("good", 4), ("as good", 4), ("bad", 2))
    ]  # fmt: skip
    (board,) = leaderboards(rows, n_resamples=200)
    ranks = {standing.score.system: standing.ranks for standing in board.standings}
    assert ranks == {"good": (1, 2), "as good": (1, 2), "bad": (3, 3)}
    (group,) = [part for part in leaderboard_parts([board]) if isinstance(part, Group)]
    _, plot, _ = group.parts
    assert isinstance(plot, Plot)
    assert plot.figure.name.startswith("Ranks, coverage, likert, by j: ")
    assert "bad 3 [3, 3]" in plot.figure.name
    assert "the best and the worst that the 95 % intervals" in plot.figure.x_label
    few = leaderboards([row for row in rows if row.eid in {"d0", "d1"}], n_resamples=200)
    (group,) = [part for part in leaderboard_parts(few) if isinstance(part, Group)]
    _, plot, _ = group.parts
    assert isinstance(plot, Plot)
    assert plot.figure.empty
