"""Commands: train, export, calibrate, evaluate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fairjudge.scorers.trained_models import load_trained_models, trained_identity
from training import data

app = typer.Typer(
    help="Train the models that ship in fairjudge/scorers/trained.", no_args_is_help=True
)
Folder = Annotated[Path, typer.Option(help="Where checkpoints and curves are kept.")]
Source = Annotated[Path, typer.Option("--data", help="Folder of the shared data.")]
Target = Annotated[Path, typer.Option(help="Where what ships is written.")]
RUN = data.ROOT / "build" / "training"
SHIPPED = data.ROOT / "fairjudge" / "scorers" / "trained"


def _use(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)


@app.command()
def train(
    *,
    folder: Folder = RUN,
    source: Source = data.DATA,
    begin: Annotated[
        Path | None, typer.Option(help="Folder of weights that shipped, to go on training from.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Steps in all.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after these, to go on later.")] = None,
    every: Annotated[int, typer.Option(help="Steps between rows of the learning curve.")] = 250,
    threads: int = 2,
) -> None:
    """Train from the checkpoint in the folder, or from the start where there is none."""
    from training import run as running

    _use(threads)
    settings = running.CONTINUED if begin else running.Settings()
    weights = None
    if begin:
        weights = running.shipped_weights(begin)
        settings = replace(settings, begin=trained_identity(begin))
    settings = replace(settings, steps=steps or settings.steps)
    run = running.Run(folder, settings, source=source, begin=weights)
    typer.echo("goes on" if run.restore() else "starts")
    done = run.go_on(minutes=minutes, every=every, say=typer.echo)
    curve(folder=folder)
    raise typer.Exit(0 if done else 3)


@app.command()
def curve(*, folder: Folder = RUN) -> None:
    """Print the learning curve."""
    lines = (folder / "curve.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    typer.echo("  ".join(f"{name:>8}" for name in found[0]))
    for row in found:
        typer.echo("  ".join(f"{value:>8}" for value in row.values()))


@app.command()
def export(
    *,
    folder: Folder = RUN,
    source: Source = data.DATA,
    target: Target = SHIPPED,
    limit: Annotated[
        int, typer.Option(help="Maximum examples that a head is calibrated on.")
    ] = data.CALIBRATE,
    share: Annotated[
        float, typer.Option(min=0, max=1, help="Of the run, the rest of what it began from.")
    ] = 1.0,
    threads: int = 2,
) -> None:
    """Write the checkpoint's weights, calibrated and in 8 bits, where they ship."""
    from training import export as exporting

    _use(threads)
    record = exporting.export(folder, target, source=source, limit=limit, share=share)
    typer.echo(json.dumps(record["calibration"]))


@app.command()
def calibrate(*, source: Source = data.DATA, target: Target = SHIPPED, threads: int = 2) -> None:
    """Fit how sure the weights that ship are of statements about documents; no training."""
    from training import export as exporting

    _use(threads)
    record = exporting.recalibrate(target, source=source)
    typer.echo(json.dumps(record["calibration"]))


@app.command()
def evaluate(
    *,
    source: Source = data.DATA,
    target: Target = SHIPPED,
    limit: Annotated[int, typer.Option(help="Maximum examples of a data set.")] = 2400,
    only: Annotated[list[str] | None, typer.Option(help="These parts alone.")] = None,
    threads: int = 2,
) -> None:
    """Measure what ships, print it, and write the record and the model card."""
    from training.evaluate import measure, write_card

    _use(threads)
    models = load_trained_models(folder=target)
    found = measure(models, source=source, limit=limit, say=typer.echo, only=only or ())
    write_card(target, found)


if __name__ == "__main__":
    app()
