"""``fairjudge quickstart``: the whole job on the bundled example."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say


def quickstart(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder to write into; made if need be.")
    ] = Path("quickstart-output"),
    *,
    quiet: opt.Quiet = False,
) -> None:
    """Build references for two bundled stories, judge three summaries of each, write a report.

    Everything runs on this machine, with the embedded models: no key, no model hub, no GPU. The
    stories, outlets and people are invented. One summary is thorough, one tells a single side, one
    gets facts wrong.
    """
    from fairjudge.analysis.reporting import make_report
    from fairjudge.cli import display, judge_display, progress
    from fairjudge.datasets import example_path
    from fairjudge.run.builders import BuildOptions
    from fairjudge.run.building import build_file
    from fairjudge.run.judging import judge_files
    from fairjudge.run.material import JudgeOptions
    from fairjudge.run.models import ModelOptions
    from fairjudge.run.runs import make_folder

    make_folder(output)
    clusters, summaries = output / "clusters.json", output / "summaries.jsonl"
    shutil.copyfile(example_path("clusters.json"), clusters)
    shutil.copyfile(example_path("summaries.jsonl"), summaries)
    references = output / "references.jsonl"
    model = ModelOptions()

    def counted(total: int) -> progress.Advance:
        return progress.counter(shown, "judging", total=total)

    say(f"$ fairjudge build {clusters} -o {references}\n")
    with progress.display(quiet=quiet) as shown:
        built = build_file(
            clusters,
            references,
            options=BuildOptions(),
            model=model,
            run=None,
            skip_bad=False,
            progress=progress.BuildBars(shown),
        )
    display.built(built, output=references, json_file=str(output / "references.report.json"))

    for aspect in ("coverage", "faithfulness"):
        judgements = output / f"{aspect}.jsonl"
        say(
            f"\n$ fairjudge judge --references {references} --summaries {summaries} \\\n"
            f"    --aspect {aspect} --protocol likert -o {judgements}\n"
        )
        with progress.display(quiet=quiet) as shown:
            judged = judge_files(
                references,
                summaries,
                judgements,
                options=JudgeOptions(aspect=aspect, protocol="likert"),
                model=model,
                run=None,
                skip_bad=False,
                progress=counted,
            )
        report = str(output / f"{aspect}.report.json")
        judge_display.show_judged(judged, (judged,), output=judgements, json_file=report)

    page = output / "report.html"
    say(f"\n$ fairjudge report {output} -o {page}")
    make_report(output, title="FairJudge quickstart").save(page)

    say(f"\nOpen {page} in a browser to read it all. Files:")
    for path in sorted(output.iterdir()):
        say(f"  {path}")
