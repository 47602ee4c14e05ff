"""``fairjudge batch``: plans of runs, and batch files for providers."""

from __future__ import annotations

from fairjudge.cli.application import Application
from fairjudge.cli.plan import load_batch, plan

app = Application(
    name="batch",
    help="Plan a run, and have a provider's batch service answer its requests.",
    no_args_is_help=True,
)
app.command("plan")(plan)
app.command("load")(load_batch)
