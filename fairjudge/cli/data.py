"""``fairjudge data``: import from other tools, and export to them."""

from __future__ import annotations

from fairjudge.cli.application import Application
from fairjudge.cli.export import export
from fairjudge.cli.import_ import import_

app = Application(name="data", help="Import from other tools, and export to them.")
app.command("import")(import_)
app.command("export")(export)
