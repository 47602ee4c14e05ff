"""The files of a candidate, which ``fairjudge judge`` takes as they are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from fairjudge.judges.candidates import Candidate, scale_text
from fairjudge.options.judging import JudgeOptions
from fairjudge.records import write_atomically
from fairjudge.run.runs import make_folder


def using(judging: JudgeOptions, folder: Path, name: str) -> JudgeOptions:
    """Return `judging` with the prompt and the scale of the candidate `name` in `folder`."""
    return replace(judging, prompt=folder / f"{name}.md", scale=folder / f"{name}.scale.toml")


def write_candidate(candidate: Candidate, folder: Path, aspect: str) -> None:
    """Write template, scale and criterion of `candidate`: ``fairjudge judge`` takes them."""
    make_folder(folder)
    write_atomically(folder / f"{candidate.name}.md", candidate.prompt)
    write_atomically(folder / f"{candidate.name}.scale.toml", scale_text(candidate.scale))
    write_atomically(folder / f"{candidate.name}.toml", criterion_text(candidate, aspect))


def criterion_text(candidate: Candidate, aspect: str, *, folder: str = "") -> str:
    """Return the criterion file of `candidate`, whose files lie in `folder` beside it."""
    named = {
        "aspect": aspect,
        "prompt": f"{folder}{candidate.name}.md",
        "scale": f"{folder}{candidate.name}.scale.toml",
    }
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in named.items())
