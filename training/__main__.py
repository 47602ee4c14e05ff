"""Commands: train, export, calibrate, evaluate."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fairjudge.scorers.trained_models import load_trained_models
from training import data

app = typer.Typer(
    help="Train the models that ship in fairjudge/scorers/trained.", no_args_is_help=True
)
Folder = Annotated[Path, typer.Option(help="Folder of the checkpoint and the learning curve.")]
Source = Annotated[Path, typer.Option("--data", help="Folder of the shared data.")]
Target = Annotated[Path, typer.Option(help="Folder of the released weights.")]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
RUN = data.ROOT / "build" / "training"
SHIPPED = data.ROOT / "fairjudge" / "scorers" / "trained"


class Base(StrEnum):
    """The published encoder from which training starts."""

    small = "all-MiniLM-L6-v2"
    large = "all-mpnet-base-v2"


@app.command()
def train(
    *,
    folder: Folder = RUN,
    source: Source = data.DATA,
    base: Annotated[Base, typer.Option(help="The published encoder to start from.")] = Base.small,
    teacher: Annotated[
        Path | None, typer.Option(help="Run folder of the larger base, for distillation.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Total number of steps.")] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after this many minutes; rerun to resume.")
    ] = None,
    every: Annotated[int, typer.Option(help="Steps between rows of the learning curve.")] = 250,
    device: Device = "cpu",
) -> None:
    """Train from the checkpoint in the folder, or from step 0 if there is none."""
    from training import run as running

    settings = running.SETTINGS[base.value]
    settings = replace(settings, steps=steps or settings.steps)
    network = None
    if teacher:
        record = json.loads((teacher / "record.json").read_text(encoding="utf-8"))
        identity = f"{record['settings']['base']} after {record['step']} steps"
        settings = replace(settings, teacher=identity)
        weights = running.weights_of(teacher)
        network = running.with_weights(weights, base=record["settings"]["base"]).to(device)
    run = running.Run(folder, settings, source=source, teacher=network, device=device)
    typer.echo("goes on" if run.restore() else "starts")
    done = run.go_on(minutes=minutes, every=every, say=typer.echo)
    curve(folder=folder)
    raise typer.Exit(0 if done else 3)


@app.command()
def curve(*, folder: Folder = RUN) -> None:
    """Print the learning curve."""
    rows = data.read_curve(folder)
    typer.echo("  ".join(f"{name:>8}" for name in rows[0]))
    for row in rows:
        typer.echo("  ".join(f"{value:>8}" for value in row.values()))


@app.command()
def export(
    *,
    folders: Annotated[
        list[Path] | None,
        typer.Option("--folder", help="Folder of a run; the weights of several are averaged."),
    ] = None,
    source: Source = data.DATA,
    target: Target = SHIPPED,
    device: Device = "cpu",
) -> None:
    """Write the checkpoint's weights for release, calibrated and in 8 bits."""
    from training import export as exporting

    record = exporting.export(folders or [RUN], target, source=source, device=device)
    typer.echo(json.dumps(record["calibration"]))


@app.command()
def calibrate(
    *,
    source: Source = data.DATA,
    target: Target = SHIPPED,
    only: Annotated[list[str] | None, typer.Option(help="Only this fit (repeatable).")] = None,
) -> None:
    """Calibrate the released weights again, without training."""
    from training import export as exporting

    record = exporting.recalibrate(target, source=source, only=only or ())
    typer.echo(json.dumps(record["calibration"]))


@app.command()
def evaluate(
    *,
    source: Source = data.DATA,
    target: Target = SHIPPED,
) -> None:
    """Evaluate the released weights; print the measures, write the record and the model card."""
    from training.evaluate import measure, write_card

    models = load_trained_models(folder=target)
    write_card(target, measure(models, source=source, say=typer.echo))


if __name__ == "__main__":
    app()
