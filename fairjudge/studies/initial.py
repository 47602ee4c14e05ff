"""A commented study file, from the data that is there."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairjudge.converting import DATA, Settings, command_for, convert_files, holds_data
from fairjudge.datasets import read_clusters, read_labels, read_summaries
from fairjudge.datasets.recognising import recognise
from fairjudge.domain import Cluster
from fairjudge.errors import InputError
from fairjudge.studies.experiments import EXPERIMENTS
from fairjudge.text.counting import pluralize
from fairjudge.text.spellings import with_labels

_MAX_VALUES = 8
"""An attribute with more values than this groups nothing by itself."""
_COLUMN = 44
_MODELS = """\
# A model, by a name of your own; 'fairjudge backends list' shows the providers. "local" needs no
# table: it is bundled, needs no key, and is a weak judge.
# [models.main]
# backend = "openai:gpt-4o-mini"
# concurrency = 8

# What all steps may spend together, over all starts.
# [budget]
# max_cost = 5.0                             # US dollars
# max_calls = 10000
"""
_WRITERS = """\
# A system whose summaries are written for this study; as many tables as systems.
# [[summarize]]
# system = "main-direct"
# model = "main"
# strategy = "direct"                        # or "extract", "differences"
# n_sentences = 5
"""
_JUDGES = """\
# A judge; as many tables as aspects, protocols and models. Several models are a jury.
[[judge]]
name = "coverage"
aspect = "coverage"
protocol = "checklist"                       # says of each answer whether it is covered
model = "local"
# audits = ["checks", "verbosity"]           # these ask the model more; the others are made anyway

[[judge]]
name = "faithfulness"
aspect = "faithfulness"
protocol = "likert"
model = "local"
"""


@dataclass(slots=True)
class FoundData:
    """The files of each kind, with a few words on what they hold."""

    clusters: dict[Path, str] = field(default_factory=dict)
    references: dict[Path, str] = field(default_factory=dict)
    summaries: dict[Path, str] = field(default_factory=dict)
    labels: dict[Path, str] = field(default_factory=dict)
    attributes: dict[str, list[str]] = field(default_factory=dict)

    def add(self, path: Path) -> bool:
        """Take note of a file; say whether it is in one of our layouts."""
        try:
            kind = recognise(path).kind
        except InputError:
            return False
        if command_for(path, kind) is not None:
            return False
        match kind:
            case "clusters" | "references":
                clusters = read_clusters(path).records
                n_articles = sum(len(cluster.articles) for cluster in clusters)
                sentence = (
                    f"{pluralize(len(clusters), 'cluster')}, {pluralize(n_articles, 'article')}"
                )
                (self.clusters if kind == "clusters" else self.references)[path] = sentence
                self.attributes |= _attributes(clusters)
            case "summaries":
                summaries = read_summaries(path).records
                systems = {summary.system for summary in summaries}
                self.summaries[path] = (
                    f"{pluralize(len(summaries), 'summary', 'summaries')} by "
                    f"{pluralize(len(systems), 'system')}"
                )
            case "labels":
                labels = read_labels(path).records
                aspects = ", ".join(sorted({label.aspect for label in labels}))
                self.labels[path] = f"{pluralize(len(labels), 'label')} on {aspects}"
            case _:
                pass
        return True


def find_data(places: Sequence[Path], *, converted: Path) -> FoundData:
    """Return what the files, and the files right in the folders, of `places` hold.

    What is in another layout is converted to files of ours in the folder `converted`.
    """
    found_data = FoundData()
    others = [path for path in _files(places) if not found_data.add(path)]
    for path in _converted(others, converted):
        found_data.add(path)
    if not found_data.clusters and not found_data.references:
        raise InputError("no clusters or references here: see docs/your-data.md", path=places[0])
    return found_data


def _converted(paths: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    """Return the files to which those of `paths` that hold data were converted."""
    held = [path for path in paths if holds_data(path)]
    return convert_files(held, Settings()).write(folder) if held else ()


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_dir():
            yield from sorted(file for file in place.iterdir() if file.suffix in DATA)
        elif place.exists():
            yield place
        else:
            raise InputError("no such file or folder", path=place)


def _attributes(clusters: Sequence[Cluster]) -> dict[str, list[str]]:
    """Return the attributes that group articles, each with its values."""
    values: dict[str, Counter[str]] = {}
    for cluster in with_labels(clusters):
        for article in cluster.articles:
            for name, value in article.attributes.items():
                values.setdefault(name, Counter())[str(value)] += 1
    return {
        name: sorted(counts) for name, counts in values.items() if 2 <= len(counts) <= _MAX_VALUES
    }


def study_text(found: FoundData, path: Path, *, like: str | None = None) -> str:
    """Return the study file that is to stand at `path`, of the paper `like` of `EXPERIMENTS`."""
    if like is None:
        parts = (_MODELS, _build(found, _WRITERS), _JUDGES, *_rest(found))
        return "\n".join((_head(path), _data(found, path), *parts))
    experiment = EXPERIMENTS[like]
    header = (
        f"# As {experiment.paper}.\n# The paper has more, command by command: {experiment.after}.\n"
    )
    writers = experiment.writers.replace("ATTRIBUTE", next(iter(found.attributes), "ATTRIBUTE"))
    parts = (header, _MODELS, _build(found, writers), experiment.judges)
    measured = _rest(found, measures=experiment.measures, scorer="local", like=like)
    return "\n".join((_head(path), _data(found, path), *parts, *measured))


def _head(path: Path) -> str:
    return f"""\
# A study: what is judged, by whom, and what is made of it. Paths are from this file's folder.
#
#     fairjudge study {path.name} --plan     what it would ask and cost, before the first call
#     fairjudge study {path.name}            run it, or go on where it stopped

title = "FairJudge study"
seed = 0                                     # of all resampling
"""


def _data(found: FoundData, path: Path) -> str:
    lines = ["[data]"]
    for name, files in (("clusters", found.clusters), ("references", found.references)):
        lines += _one(name, files, path)
    listed = ", ".join(_quoted(summary, path) for summary in found.summaries)
    description = "; ".join(found.summaries.values()) or "or have some written: see [[summarize]]"
    lines.append(_line(f"summaries = [{listed}]", description))
    lines += _one("labels", found.labels, path)
    return "\n".join(lines) + "\n"


def _one(name: str, files: dict[Path, str], path: Path) -> Iterator[str]:
    for place, (file, description) in enumerate(files.items()):
        line = _line(f"{name} = {_quoted(file, path)}", description)
        yield line if place == 0 else f"# {line}"


def _line(text: str, said: str) -> str:
    return f"{text:<{_COLUMN}} # {said}"


def _quoted(file: Path, path: Path) -> str:
    """Return `file` as seen from the study file's folder; JSON quotes as TOML does."""
    return json.dumps(Path(os.path.relpath(file, path.parent)).as_posix(), ensure_ascii=False)


def _build(found: FoundData, writers: str) -> str:
    if found.references:
        return writers
    return f"""\
[build]                                      # questions that sources answer differently
model = "local"
n_questions = 12

{writers}"""


def _rest(
    found: FoundData,
    *,
    measures: Sequence[str] | None = None,
    scorer: str = "coverage",
    like: str = "",
) -> Iterator[str]:
    if like == "diversesumm" and not found.labels:
        yield "# [calibrate] needs labels: 'fairjudge annotate' collects them.\n"
    if measures and not found.attributes:
        yield "# [[fairness]] needs articles with an attribute, such as their outlets' leaning.\n"
    if found.labels:
        yield """\
[calibrate]                                  # the judges against people's labels
method = "isotonic"
"""
    listed = "" if measures is None else f"measures = {json.dumps(list(measures))}\n"
    for name, values in () if measures == () else found.attributes.items():
        yield f"""\
[[fairness]]
{_line(f"attribute = {json.dumps(name, ensure_ascii=False)}", ", ".join(values))}
{listed}{_line(f"scorer = {json.dumps(scorer)}", _SCORERS[scorer])}
"""


_SCORERS = {"coverage": 'that judge\'s verdicts, or "local"', "local": "or the name of a judge"}
