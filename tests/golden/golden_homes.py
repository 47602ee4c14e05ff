"""Imports of the golden values' sources; if one is moved, only its line here changes."""

from fairjudge import __version__
from fairjudge.aligning.candidates import other_scales
from fairjudge.annotation.items import build_items
from fairjudge.annotation.items import digest as items_digest
from fairjudge.annotation.tasks import label_task
from fairjudge.backends.keys import prompt_key, request_key
from fairjudge.datasets import read_references, read_summaries
from fairjudge.judges.asking import AskedAspect
from fairjudge.judges.criteria import builtin_criterion
from fairjudge.parsing import PARSER_VERSION
from fairjudge.ports import (
    Completion,
    CompletionRequest,
    DecisionRequest,
    Message,
    ModelRef,
    Question,
    TokenAlternatives,
)
from fairjudge.scales import binary, likert, load_scale, options, pairwise, stars

__all__ = [
    "PARSER_VERSION",
    "AskedAspect",
    "Completion",
    "CompletionRequest",
    "DecisionRequest",
    "Message",
    "ModelRef",
    "Question",
    "TokenAlternatives",
    "__version__",
    "binary",
    "build_items",
    "builtin_criterion",
    "items_digest",
    "label_task",
    "likert",
    "load_scale",
    "options",
    "other_scales",
    "pairwise",
    "prompt_key",
    "read_references",
    "read_summaries",
    "request_key",
    "stars",
]
