"""Judge summaries of many documents with LLMs, and know how far the judge can be trusted.

Everything public is here; it is imported when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it; `typing` itself waits until it is needed
if TYPE_CHECKING:
    from typing import Any

    from fairjudge import bias, fairness
    from fairjudge.analysis.calibrating import read_calibrators
    from fairjudge.api import audit
    from fairjudge.api.aligning import aalign, align
    from fairjudge.api.building import References, abuild, build
    from fairjudge.api.calibrating import Calibration, calibrate
    from fairjudge.api.cascading import Cascade, cascade
    from fairjudge.api.comparing import check, compare, rank
    from fairjudge.api.converting import convert
    from fairjudge.api.findings import Findings
    from fairjudge.api.interchange import export, import_replies
    from fairjudge.api.judging import Judge, JudgeResult
    from fairjudge.api.reporting import report
    from fairjudge.api.summarizing import Summaries, asummarize, summarize
    from fairjudge.converting.records import Converted
    from fairjudge.datasets import (
        example_path,
        read_clusters,
        read_judgements,
        read_labels,
        read_references,
        read_summaries,
    )
    from fairjudge.domain import Estimate, Undefined
    from fairjudge.errors import FairJudgeError
    from fairjudge.importing import import_file
    from fairjudge.options.models import Model
    from fairjudge.studies.running import StudyResult, study

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

__all__ = [  # names that `__getattr__` finds
    "Calibration",
    "Cascade",
    "Converted",
    "Estimate",
    "FairJudgeError",
    "Findings",
    "Judge",
    "JudgeResult",
    "Model",
    "References",
    "StudyResult",
    "Summaries",
    "Undefined",
    "__version__",
    "aalign",
    "abuild",
    "align",
    "asummarize",
    "audit",
    "bias",
    "build",
    "calibrate",
    "cascade",
    "check",
    "compare",
    "convert",
    "example_path",
    "export",
    "fairness",
    "import_file",
    "import_replies",
    "rank",
    "read_calibrators",
    "read_clusters",
    "read_judgements",
    "read_labels",
    "read_references",
    "read_summaries",
    "report",
    "study",
    "summarize",
]


if not TYPE_CHECKING:  # to which every name would exist

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
