"""Evaluate multi-document summaries with LLM judges, and measure how far to trust them.

All public names are here; each is imported at its first use.
"""

from __future__ import annotations

TYPE_CHECKING = False  # recognised by type checkers; avoids the import of `typing`
if TYPE_CHECKING:
    from typing import Any

    from fairjudge import bias as bias
    from fairjudge import fairness as fairness
    from fairjudge.analysis.calibrating import read_calibrators as read_calibrators
    from fairjudge.api import audit as audit
    from fairjudge.api.aligning import aalign as aalign
    from fairjudge.api.aligning import align as align
    from fairjudge.api.building import References as References
    from fairjudge.api.building import abuild as abuild
    from fairjudge.api.building import build as build
    from fairjudge.api.calibrating import Calibration as Calibration
    from fairjudge.api.calibrating import calibrate as calibrate
    from fairjudge.api.cascading import Cascade as Cascade
    from fairjudge.api.cascading import cascade as cascade
    from fairjudge.api.comparing import check as check
    from fairjudge.api.comparing import compare as compare
    from fairjudge.api.comparing import rank as rank
    from fairjudge.api.converting import convert as convert
    from fairjudge.api.findings import Findings as Findings
    from fairjudge.api.interchange import export as export
    from fairjudge.api.interchange import import_replies as import_replies
    from fairjudge.api.judging import Judge as Judge
    from fairjudge.api.judging import JudgeResult as JudgeResult
    from fairjudge.api.reporting import report as report
    from fairjudge.api.summarizing import Summaries as Summaries
    from fairjudge.api.summarizing import asummarize as asummarize
    from fairjudge.api.summarizing import summarize as summarize
    from fairjudge.converting.records import Converted as Converted
    from fairjudge.datasets import example_path as example_path
    from fairjudge.datasets import read_clusters as read_clusters
    from fairjudge.datasets import read_judgements as read_judgements
    from fairjudge.datasets import read_labels as read_labels
    from fairjudge.datasets import read_references as read_references
    from fairjudge.datasets import read_summaries as read_summaries
    from fairjudge.domain import Estimate as Estimate
    from fairjudge.domain import Undefined as Undefined
    from fairjudge.errors import FairJudgeError as FairJudgeError
    from fairjudge.importing import import_file as import_file
    from fairjudge.options.models import Model as Model
    from fairjudge.studies.running import StudyResult as StudyResult
    from fairjudge.studies.running import study as study

__version__ = "0.1.0"

_NAMES = {
    "analysis.calibrating": ("read_calibrators",),
    "api.aligning": ("aalign", "align"),
    "api.building": ("References", "abuild", "build"),
    "api.calibrating": ("Calibration", "calibrate"),
    "api.cascading": ("Cascade", "cascade"),
    "api.comparing": ("check", "compare", "rank"),
    "api.converting": ("convert",),
    "api.findings": ("Findings",),
    "api.interchange": ("export", "import_replies"),
    "api.judging": ("Judge", "JudgeResult"),
    "api.reporting": ("report",),
    "api.summarizing": ("Summaries", "asummarize", "summarize"),
    "converting.records": ("Converted",),
    "datasets": (
        "example_path",
        "read_clusters",
        "read_judgements",
        "read_labels",
        "read_references",
        "read_summaries",
    ),
    "domain": ("Estimate", "Undefined"),
    "errors": ("FairJudgeError",),
    "importing": ("import_file",),
    "options.models": ("Model",),
    "studies.running": ("StudyResult", "study"),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
_MODULES = {"audit": "api.audit", "bias": "bias", "fairness": "fairness"}

__all__ = ["__version__", *_MODULES, *_HOMES]  # noqa: PLE0604  # keys, which are strings


if not TYPE_CHECKING:  # which would accept every name

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"fairjudge.{_MODULES[name]}")
        if name in _HOMES:
            return getattr(import_module(f"fairjudge.{_HOMES[name]}"), name)
        raise AttributeError(f"module 'fairjudge' has no attribute {name!r}")


del TYPE_CHECKING


def __dir__() -> list[str]:
    return sorted(__all__)
