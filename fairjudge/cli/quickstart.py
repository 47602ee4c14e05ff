"""``fairjudge quickstart``: the whole job on the bundled example."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.reports.row_tables import side_by_side
from fairjudge.reports.tables import TextTable, number, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairjudge.domain import Reference
    from fairjudge.options.models import Model
    from fairjudge.run.judged import JudgeReport

ASPECTS = {
    "coverage": "how many of the answers above the summary gives",
    "balance": "how well it covers the articles that it covers least, whether correctly or not",
    "faithfulness": "whether the articles support its statements",
}
"""The judged aspects, with their explanations for newcomers."""


def quickstart(
    output: Annotated[
        Path, Opt("Folder to write into; created where it does not exist.", short="-o")
    ] = Path("quickstart-output"),
    *,
    quiet: opt.Quiet = False,
) -> None:
    """Build references for two bundled stories, judge three summaries of each, write a report.

    Everything runs on this machine, with the embedded models: no key, no model hub, no GPU. The
    stories, outlets and people are invented. One summary is thorough, one is one-sided, one has
    wrong facts.
    """
    from fairjudge.analysis.reporting import make_report
    from fairjudge.datasets import example_path
    from fairjudge.engine.runs import make_folder
    from fairjudge.options.models import Model

    # A cache of its own: quickstarts of other checkouts use the same inputs at the same time.
    model = Model(cache=output / "cache")
    opt.check_local("quickstart", model)
    make_folder(output)
    clusters, summaries = output / "clusters.json", output / "summaries.jsonl"
    shutil.copyfile(example_path("clusters.json"), clusters)
    shutil.copyfile(example_path("summaries.jsonl"), summaries)
    references = output / "references.jsonl"
    say(
        "Two invented stories, and three summaries of each: one thorough, one one-sided, one with "
        "wrong facts.\n\n1. What do the articles say?\n"
        f"$ fairjudge build {clusters} -o {references}\n"
    )
    _say_answers(_build(clusters, references, model, quiet=quiet))
    say(
        f"\n{display.WITHOUT_LLM}\n\n"
        f"2. How good are the summaries? (ASPECT: {', '.join(ASPECTS)})\n"
        f"$ fairjudge judge --references {references} --summaries {summaries} \\\n"
        f"    --aspect ASPECT --protocol likert -o {output / 'ASPECT.jsonl'}\n"
    )
    print_table(_scores(_judge(references, summaries, model, quiet=quiet)))
    page = output / "report.html"
    make_report(output, title="FairJudge quickstart").save(page)
    files = (path.name for path in sorted(output.iterdir()) if path.is_file())
    say(
        f"\n3. Read the report in a browser: {page}\n$ fairjudge report {output} -o {page}\n\n"
        f"Files written: {', '.join(files)}"
    )


def _build(clusters: Path, output: Path, model: Model, *, quiet: bool) -> list[Reference]:
    """Build the references of `clusters`, and write them and their report."""
    from fairjudge.options.building import BuildOptions
    from fairjudge.run.building import build_file

    with display.bars(quiet=quiet) as progress_bars:
        built = build_file(
            clusters,
            output,
            options=BuildOptions(),
            model=model,
            run=None,
            skip_bad=False,
            progress=progress_bars,
        )
    display.write_json(str(output.with_suffix(".report.json")), built.to_dict())
    return [cluster.reference for cluster in built.clusters]


def _say_answers(references: Iterable[Reference]) -> None:
    """Show each question with its answers, and the outlets that give them."""
    for reference in references:
        outlets = {article.aid: article.domain or article.aid for article in reference.articles}
        for question in reference.question_answers:
            say(question.question)
            for group in question.answer_groups:
                outlet_names = dict.fromkeys(outlets[answer.aid] for answer in group)
                say(f"  {group[0].answer} ({', '.join(outlet_names)})")


def _judge(
    references: Path, summaries: Path, model: Model, *, quiet: bool
) -> dict[str, JudgeReport]:
    """Judge each aspect, and write its judgements and its report beside the references."""
    from fairjudge.options.judging import JudgeOptions
    from fairjudge.run.judged import judge_report
    from fairjudge.run.jury import judge_files

    reports = {}
    for aspect in ASPECTS:
        options = JudgeOptions(aspect=aspect, protocol="likert")
        output = references.with_name(f"{aspect}.jsonl")
        with display.bars(quiet=quiet) as progress_bars:
            outcome = judge_files(
                references,
                summaries,
                output,
                options=options,
                models=[model],
                run=None,
                skip_bad=False,
                progress=progress_bars.counter("judging"),
            )
        reports[aspect] = judge_report(outcome, options)
        display.write_json(str(output.with_suffix(".report.json")), reports[aspect].to_dict())
    return reports


def _scores(reports: Mapping[str, JudgeReport]) -> TextTable:
    """Return each system's mean by aspect, and how far to trust it."""
    from fairjudge.domain import Undefined
    from fairjudge.scores.leaderboards import MIN_CLUSTERS

    means = {
        aspect: {
            score.system: None if isinstance(score.mean, Undefined) else score.mean
            for score in report.aspects[0].outcome.scores
        }
        for aspect, report in reports.items()
    }
    return side_by_side(
        "Mean rating, 1 to 5",
        "summary",
        {system: system for by_system in means.values() for system in by_system},
        means,
        format_cell=number,
        notes=(
            *(f"{aspect}: {meaning}." for aspect, meaning in ASPECTS.items()),
            "Compare all three: a summary with wrong facts may still cover more articles than a "
            "one-sided one.",
            f"Two stories are too few to compare systems (at least {MIN_CLUSTERS}). The "
            "embedded models are weak judges (docs/local.md): choose an LLM with --backend, and "
            "measure its agreement with human labels (fairjudge calibrate).",
        ),
    )
