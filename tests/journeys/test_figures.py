"""Figures of a study: from the command line to files, and from Python to one's own axes."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_tools import Done

import fairjudge as fj
from fairjudge.errors import ConfigurationError

SYSTEMS = ("lead", "gpt", "llama", "mistral")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Pairs in both orders by a judge that prefers what stands first, and ratings with labels."""
    rng = random.Random(0)
    pairs, ratings, labels = [], [], []
    for document in range(24):
        eid = f"d{document}"
        for a, b in itertools.combinations(range(4), 2):
            if rng.random() < 0.4:
                continue
            for order, favour in (("ab", 0.5), ("ba", -0.5)):
                gap = (a - b) + favour + rng.gauss(0, 1)
                value = "tie" if abs(gap) < 0.2 else "a" if gap > 0 else "b"
                pairs.append(
                    {"eid": eid, "system_a": SYSTEMS[a], "system_b": SYSTEMS[b], "order": order,
                     "aspect": "coverage", "protocol": "pairwise", "judge": "j", "value": value}
                )  # fmt: skip
        for place, system in enumerate(SYSTEMS):
            item = {"eid": eid, "system": system, "aspect": "coverage"}
            quality = 2 + place / 2 + rng.gauss(0, 1)
            for rows, more in (
                (ratings, {"protocol": "likert", "judge": "j"}),
                (labels, {"annotator": "ann"}),
                (labels, {"annotator": "bob"}),
            ):
                value = min(5, max(1, round(quality + rng.gauss(0, 0.5))))
                rows.append(item | more | {"value": value})
    folder = tmp_path_factory.mktemp("study")
    for name, rows in (("p", pairs), ("j", ratings), ("l", labels)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    return folder


def stems(folder: Path) -> list[str]:
    return sorted(path.stem.partition("-")[2] for path in folder.glob("*.svg"))


def test_plots_of_ranks_wins_and_position_are_saved(
    folder: Path, cli_in: Callable[..., Done]
) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    cli_in(folder, "rank", "p.jsonl", "--figures", "ranks", code=0)
    assert stems(folder / "ranks") == [
        "ranking-by-j-coverage", "ranks-coverage-by-j", "wins-coverage-by-j"
    ]  # fmt: skip
    cli_in(folder, "report", "p.jsonl", "-o", "page.html", "--figures", "all", code=0)
    assert [name for name in stems(folder / "all") if "by-pair-of-systems" in name]
    page = (folder / "page.html").read_text("utf-8")
    assert page.count("<svg") == len(stems(folder / "all"))  # each figure once, and no more


def test_audits_and_fairness_save_plots(folder: Path, cli_in: Callable[..., Done]) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    result = cli_in(folder, "audit", "position", "p.jsonl", "--figures", "position", code=0)
    assert stems(folder / "position") == [
        "position-bias-by-pair-of-systems-coverage-by-j", "position-coverage-by-j"
    ]  # fmt: skip
    assert "Written: position (2 figures as SVG, PDF, PNG)" in result.err
    clusters, summaries = [], []
    for document in range(6):
        articles = [
            {
                "aid": f"a{n}",
                "content": f"The {word} stands by the river.",
                "attributes": {"sentiment": value},
            }
            for n, (word, value) in enumerate(
                [("mill", "good"), ("bridge", "bad"), ("tower", "good"), ("gate", "bad")]
            )
        ]
        clusters.append({"eid": f"d{document}", "articles": articles})
        summaries.append(
            {"eid": f"d{document}", "system": "s", "text": "The mill stands by the river."}
        )
    for name, rows in (("clusters", clusters), ("summaries", summaries)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    words = ["clusters.jsonl", "--summaries", "summaries.jsonl", "--attribute", "sentiment"]
    result = cli_in(folder, "fairness", "proportional", *words, "--scorer", "unigrams",
                     "--figures", "shares", code=0)  # fmt: skip
    assert "Written: shares" in result.err
    assert "ratio-of-shares-s" in stems(folder / "shares")
    words = ["oracle", "clusters.jsonl", "--attribute", "sentiment", "--documents", "2"]
    result = cli_in(
        folder, "fairness", *words, "--json", "oracle.json", "--figures", "oracle", code=0
    )
    assert stems(folder / "oracle") == ["biased-minus-balanced-pseudo-summaries"]
    bur = json.loads((folder / "oracle.json").read_text("utf-8"))["measures"]["bur"]["difference"]
    (figure,) = (folder / "oracle").glob("*.svg")
    assert f"{bur['value']:.2f} [{bur['low']:.2f}" in figure.read_text("utf-8")


def test_judge_against_human_plot_from_json_and_page(
    folder: Path, cli_in: Callable[..., Done]
) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    words = ["calibrate", "j.jsonl", "--labels", "l.jsonl", "--resamples", "100"]
    cli_in(folder, *words, "--json", "c.json", "--html", "c.html", "--figures", "people", code=0)
    confusion = json.loads((folder / "c.json").read_text("utf-8"))["groups"][0]["confusion"]
    assert sum(map(sum, confusion["counts"])) == 24 * 4
    assert confusion["rows"] == confusion["columns"] == [1, 2, 3, 4, 5]
    names = " ".join(stems(folder / "people"))
    for name in ("judge-by-humans", "ratings-by-judge-and-humans", "systems-judge-against-humans"):
        assert name in names
    assert "Judge by humans, j, coverage, likert: 1:" in (folder / "c.html").read_text("utf-8")


def test_result_draws_on_given_axes(folder: Path) -> None:
    mpl = pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    pairs, ratings, labels = (str(folder / f"{name}.jsonl") for name in "pjl")
    repeats = folder / "repeats.jsonl"
    repeats.write_text(2 * Path(ratings).read_text("utf-8"), "utf-8")
    results = [
        fj.audit.stability(repeats),
        fj.rank(pairs),
        fj.compare(ratings, ratings),
        fj.calibrate(ratings, labels, n_resamples=100),
        fj.audit.position(pairs),
    ]
    for result in results:
        _fig, ax = plt.subplots()
        assert result.plots
        assert result.plot(ax) is ax
        assert ax.lines or ax.patches or ax.collections
        assert result.plot(name=result.plots[-1].upper()) is not ax  # new axes
        plt.close("all")
    with pytest.raises(ConfigurationError, match="no figure 'pie'; there are: Ranking by j"):
        results[1].plot(name="pie")


def test_ratios_of_shares_are_drawn_as_counted_by_hand(tmp_path: Path) -> None:
    mpl = pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    mpl.use("Agg")
    good, bad = "sunny sunny sunny", "rainy"  # shares of .75 and .25
    articles = [
        {"aid": aid, "content": text, "attributes": {"mood": aid}}
        for aid, text in (("good", good), ("bad", bad))
    ]
    clusters = [{"eid": f"e{n}", "articles": articles} for n in range(6)]
    # good has .5, .6 and 1 of the summaries: .67, .8 and 1.33 of its share; bad 2, 1.6 and 0.
    texts = ["sunny rainy", "sunny sunny sunny rainy rainy", "sunny"]
    summaries = [{"eid": f"e{n}", "system": "s", "text": texts[n // 2]} for n in range(6)]
    report = fj.fairness.proportionality(clusters, summaries, attribute="mood")
    ax = report.plot(name="ratio of shares, s")
    heights = {
        bars.get_label(): [round(bar.get_height()) for bar in bars] for bars in ax.containers
    }
    by_name = dict(zip((t.get_text() for t in ax.get_legend().get_texts()), heights.values(),
                       strict=True))  # fmt: skip
    third = {"good": (3, 4, 6), "bad": (0, 8, 10)}  # 0.8 lies in the bin that begins there
    for value, places in third.items():
        assert [n for n, height in enumerate(by_name[value]) if height] == list(places)
        assert {height for height in by_name[value] if height} == {33}
    assert [text.get_text() for text in ax.get_xticklabels()][-2:] == ["1.8", "2+"]


def test_leaderboard_plots_its_means(folder: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra [plots]").use("Agg")
    rows = [json.loads(line) for line in (folder / "j.jsonl").read_text("utf-8").splitlines()]
    board = fj.JudgeResult(fj.read_judgements(rows).records).leaderboard(n_resamples=100)
    texts = [text.get_text() for text in board.plot().texts]
    assert {row["system"] for row in board} <= set(texts)


def test_without_matplotlib_the_error_names_the_extra(folder: Path) -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import fairjudge as fj\nfrom fairjudge.errors import ConfigurationError\n"
        "try:\n    fj.rank('p.jsonl').plot()\n"
        "except ConfigurationError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-c", script]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert process.stdout.strip() == "plot needs an extra: pip install 'fairjudge[plots]'", (
        process.stderr
    )
