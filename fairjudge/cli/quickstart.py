"""``fairjudge quickstart``: the whole job on the bundled example."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

from fairjudge.cli import display, judge_display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt


def quickstart(
    output: Annotated[Path, Opt("Folder to write into; made if need be.", short="-o")] = Path(
        "quickstart-output"
    ),
    *,
    quiet: opt.Quiet = False,
) -> None:
    """Build references for two bundled stories, judge three summaries of each, write a report.

    Everything runs on this machine, with the embedded models: no key, no model hub, no GPU. The
    stories, outlets and people are invented. One summary is thorough, one tells a single side, one
    gets facts wrong.
    """
    from fairjudge.analysis.reporting import make_report
    from fairjudge.datasets import example_path
    from fairjudge.engine.runs import make_folder
    from fairjudge.options.building import BuildOptions
    from fairjudge.options.judging import JudgeOptions
    from fairjudge.options.models import Model
    from fairjudge.run.building import build_file
    from fairjudge.run.judged import judge_report
    from fairjudge.run.jury import judge_files

    model = Model()
    opt.check_local("quickstart", model)
    make_folder(output)
    clusters, summaries = output / "clusters.json", output / "summaries.jsonl"
    shutil.copyfile(example_path("clusters.json"), clusters)
    shutil.copyfile(example_path("summaries.jsonl"), summaries)
    references = output / "references.jsonl"

    say(f"$ fairjudge build {clusters} -o {references}\n")
    with display.bars(quiet=quiet) as shown:
        built = build_file(
            clusters,
            references,
            options=BuildOptions(),
            model=model,
            run=None,
            skip_bad=False,
            progress=shown,
        )
    display.built(built, output=references, json_file=str(output / "references.report.json"))

    for aspect in ("coverage", "balance", "faithfulness"):
        judgements = output / f"{aspect}.jsonl"
        say(
            f"\n$ fairjudge judge --references {references} --summaries {summaries} \\\n"
            f"    --aspect {aspect} --protocol likert -o {judgements}\n"
        )
        options = JudgeOptions(aspect=aspect, protocol="likert")
        with display.bars(quiet=quiet) as shown:
            judged = judge_files(
                references,
                summaries,
                judgements,
                options=options,
                models=[model],
                run=None,
                skip_bad=False,
                progress=shown.counter("judging"),
            )
        judge_display.show_judged(
            judge_report(judged, options),
            output=judgements,
            json_file=str(output / f"{aspect}.report.json"),
        )

    page = output / "report.html"
    say(f"\n$ fairjudge report {output} -o {page}")
    make_report(output, title="FairJudge quickstart").save(page)

    say(f"\nOpen {page} in a browser to read it all. Files:")
    for path in sorted(output.iterdir()):
        say(f"  {path}")
