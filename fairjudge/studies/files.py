"""The study file (TOML; docs/study.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fairjudge.api.calibrating import Margin
from fairjudge.backends.budgeting import Budget
from fairjudge.backends.pricing import load_prices
from fairjudge.calibration.choices import CalibratorName, CovariateName
from fairjudge.datasets._problems import explain_validation_error
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.files import read_file, read_toml
from fairjudge.judges.cascades import read_cascade
from fairjudge.judges.criterion_files import read_criterion_file
from fairjudge.options.building import BuildOptions
from fairjudge.options.checking import make_options
from fairjudge.options.declaring import LabelScale, Resamples, Seed
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.options.summarizing import SummarizeOptions
from fairjudge.run.sweeping import settings_of
from fairjudge.scores.juries import JuryRule
from fairjudge.studies.key_lines import find_line, find_message_line
from fairjudge.text.suggestions import did_you_mean

Audit: TypeAlias = Literal["checks", "order", "verbosity"]
"""Audits that require further calls; the others use the existing judgements."""
Measure: TypeAlias = Literal["coverage", "proportional"]
LOCAL_MODEL = "local"
"""The name of the model that needs no table."""


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Names: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
_Paths: TypeAlias = Annotated[tuple[Path, ...], BeforeValidator(_as_list)]
_Name: TypeAlias = Annotated[str, Field(pattern=r"^[\w.-]{1,60}$")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Open(_Table):
    """A table that also accepts the options of a command, by their names in Python."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def options(self) -> Mapping[str, Any]:
        return self.__pydantic_extra__ or {}


class DataTable(_Table):
    """Input files, relative to the study file's folder."""

    clusters: Path | None = None
    references: Path | None = None
    summaries: _Paths = ()
    labels: Path | None = None


class ModelTable(_Open):
    """A named model of a study: ``backend``, and options of `fairjudge.Model`."""

    backend: str = LOCAL_MODEL


class BudgetTable(_Table):
    """Budget of all steps together, across all runs."""

    max_cost: float | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    prices: Path | None = None


class BuildTable(_Open):
    """Building of references; options of ``build``."""

    model: str = LOCAL_MODEL


class SummarizeTable(_Open):
    """A system that writes summaries; options of ``summarize``."""

    model: str
    system: _Name


class JudgeTable(_Open):
    """A judge; options of ``judge``. Several models form a jury."""

    name: _Name | None = None
    model: _Names = (LOCAL_MODEL,)
    jury: JuryRule = "mean"
    criterion: Path | None = None
    audits: tuple[Audit, ...] = ()


class CalibrateTable(_Table):
    """Calibration of the judges against ``labels``; options of ``calibrate``."""

    method: CalibratorName = "isotonic"
    annotators: _Names = ("*",)
    label_scale: LabelScale = None
    margin: Margin = 0.2
    covariates: tuple[CovariateName, ...] = ()
    resamples: Resamples = Field(
        default=2000, validation_alias=AliasChoices("n_resamples", "resamples")
    )


class FairnessTable(_Table):
    """Fairness over one attribute of articles; ``scorer`` is a judge of this file, or "local"."""

    attribute: str
    bins: tuple[float, ...] = ()
    measures: tuple[Measure, ...] = ("coverage", "proportional")
    scorer: str = LOCAL_MODEL


class StudyFile(_Table):
    """The tables of a study file; ``limit`` is the number of items per judge."""

    title: str = "FairJudge study"
    seed: Seed = 0
    limit: int | None = Field(default=None, ge=1)
    data: DataTable
    models: dict[str, ModelTable] = {}
    budget: BudgetTable = BudgetTable()
    build: BuildTable | None = None
    summarize: tuple[SummarizeTable, ...] = ()
    judge: tuple[JudgeTable, ...] = Field(min_length=1)
    calibrate: CalibrateTable | None = None
    fairness: tuple[FairnessTable, ...] = ()


_TABLES: Mapping[str, type[_Table]] = {
    "data": DataTable,
    "budget": BudgetTable,
    "calibrate": CalibrateTable,
    "fairness": FairnessTable,
}
"""The tables that do not accept options of a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePart:
    """One judge of a study, with checked options and resolved paths."""

    name: str
    models: tuple[Model, ...]
    jury: JuryRule
    options: JudgeOptions
    audits: tuple[Audit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A checked study file; paths are relative to the working directory."""

    path: Path
    tables: StudyFile
    data: DataTable
    build: tuple[Model, BuildOptions] | None
    writers: tuple[tuple[SummarizeOptions, Model], ...]
    judges: tuple[JudgePart, ...]

    def map_llms(self, change: Callable[[Model], Model]) -> Study:
        """Return this study with `change` applied to every language model."""

        def change_llm(model: Model) -> Model:
            return model if model.llm is None else change(model)

        return replace(
            self,
            build=None if self.build is None else (change_llm(self.build[0]), self.build[1]),
            writers=tuple((options, change_llm(model)) for options, model in self.writers),
            judges=tuple(
                replace(judge, models=tuple(change_llm(model) for model in judge.models))
                for judge in self.judges
            ),
        )

    def location(self, message: str) -> str:
        """Return the file's path and, if `message` begins with a table, its line."""
        return _location(message, self.path)

    def budget(self) -> Budget:
        """Return the budget shared by all steps."""
        budget = self.tables.budget
        return Budget(
            max_calls=budget.max_calls,
            max_cost_usd=budget.max_cost,
            prices=load_prices(_resolve_paths(self.path, budget.prices)),
        )


def read_study(path: str | Path, *, cache: str | Path | None = None) -> Study:
    """Read a study file and check its tables and options.

    ``cache`` is the folder of the response cache for all models.
    """
    path = Path(path)
    table = read_toml(path)
    try:
        tables = StudyFile.model_validate(table)
    except ValidationError as error:
        raise _first_problem(error, table, path) from None
    try:
        return _resolve(path, tables, cache)
    except ConfigurationError as error:
        raise ConfigurationError(f"{_location(str(error), path)}: {error}") from None


def _location(message: str, path: Path) -> str:
    line = find_message_line(message, read_file(path).decode("utf-8"))
    return str(path) if line is None else f"{path}:{line}"


def _first_problem(error: ValidationError, table: Mapping[str, Any], path: Path) -> InputError:
    """Return the first problem: an unknown name or an invalid value."""
    text = read_file(path).decode("utf-8")
    for item in error.errors(include_url=False):
        if item["type"] == "extra_forbidden":
            *within, name = item["loc"]
            kind = _TABLES[str(within[0])] if within else StudyFile
            names = [field.alias or key for key, field in kind.model_fields.items()]
            hint = did_you_mean(str(name), names) or f"; there are: {', '.join(names)}"
            subject = f"[{within[0]}] has" if within else "a study has"
            problem = f"{subject} no {str(name)!r}{hint}"
            return InputError(problem, path=path, line=find_line(text, item["loc"]))
    field, problem = explain_validation_error(error, table)
    line = find_line(text, error.errors(include_url=False)[0]["loc"])
    return InputError(problem, path=path, line=line, field=field)


def _resolve(path: Path, tables: StudyFile, cache: str | Path | None) -> Study:
    data = DataTable(**{name: _resolve_paths(path, value) for name, value in tables.data})
    models = _models(path, tables, cache)

    def model(name: str, table: str) -> Model:
        if name not in models:
            names = ", ".join(models)
            raise ConfigurationError(f"{table}: no [models.{name}]; there are: {names}")
        return models[name]

    build = tables.build and (
        model(tables.build.model, "[build]"),
        make_options(
            BuildOptions, tables.build.options, "[build]", other_names=BuildTable.model_fields
        ),
    )
    judges = tuple(
        _judge(path, table, number, model) for number, table in enumerate(tables.judge, 1)
    )
    writers = tuple(
        (_summarize_options(table), model(table.model, f"[[summarize]] {table.system}"))
        for table in tables.summarize
    )
    study = Study(
        path=path, tables=tables, data=data, build=build or None, writers=writers, judges=judges
    )
    _check(study)
    return study


def _models(path: Path, tables: StudyFile, cache: str | Path | None) -> dict[str, Model]:
    if LOCAL_MODEL in tables.models:
        raise ConfigurationError("[models.local]: 'local' is the bundled model; choose a name")
    models_by_name = {LOCAL_MODEL: Model(LOCAL_MODEL, cache=cache)}
    study_options = {"target", "cache", "store", "max_cost", "max_calls", "prices", "progress"}
    prices = _resolve_paths(path, tables.budget.prices)
    for name, table in tables.models.items():
        header = f"[models.{name}]"
        if clashes := sorted(study_options & table.options.keys()):
            raise ConfigurationError(f"{header}: no option {clashes[0]!r}; budgets are in [budget]")
        settings = {**table.options, "target": table.backend, "cache": cache, "prices": prices}
        models_by_name[name] = make_options(
            Model, settings, header, other_names=ModelTable.model_fields
        )
    return models_by_name


def _summarize_options(table: SummarizeTable) -> SummarizeOptions:
    header = f"[[summarize]] {table.system}"
    settings = {"system": table.system, **table.options}
    options = make_options(
        SummarizeOptions, settings, header, other_names=SummarizeTable.model_fields
    )
    settings_of(options)  # raises for invalid sweeps
    return options


def _judge(path: Path, table: JudgeTable, number: int, model: Any) -> JudgePart:
    header = f"[[judge]] number {number}" if table.name is None else f"[[judge]] {table.name}"
    settings = dict(table.options)
    if table.criterion is not None:
        criterion = read_criterion_file(path.parent / table.criterion)
        values = {
            "aspect": criterion.aspect,
            "protocol": criterion.protocol,
            **criterion.single_options,
        }
        settings = {
            **{
                name: value.absolute() if isinstance(value, Path) else value
                for name, value in values.items()
                if value is not None
            },
            **settings,
        }
    if isinstance(settings.get("cascade"), str):
        settings["cascade"] = read_cascade(path.parent / settings["cascade"])
    if "aspect" not in settings:
        raise ConfigurationError(f"{header}: give an aspect, or a criterion that has one")
    options = make_options(JudgeOptions, settings, header, other_names=JudgeTable.model_fields)
    paths = {
        field.name: _resolve_paths(path, getattr(options, field.name)) for field in fields(options)
    }
    options = replace(options, **paths)
    plans = options.plans()
    return JudgePart(
        name=table.name or "+".join(plan.aspect for plan in plans) + f"-{plans[0].protocol}",
        models=tuple(model(name, header) for name in table.model),
        jury=table.jury,
        options=options,
        audits=table.audits,
    )


def _resolve_paths(path: Path, value: Any) -> Any:
    """Return a path, or a tuple of them, resolved in the study file's folder; else `value`."""
    if isinstance(value, Path):
        return path.parent / value
    if isinstance(value, tuple):
        return tuple(_resolve_paths(path, part) for part in value)
    return value


def _check(study: Study) -> None:
    """Raise for tables that contradict each other."""
    _check_data(study)
    _check_names("[[judge]]", [judge.name for judge in study.judges])
    _check_names("[[summarize]]", [str(writer.system) for writer, _ in study.writers])
    has_questions = study.build is not None or study.data.references is not None
    for judge in study.judges:
        if judge.options.needs_questions and not has_questions:
            raise ConfigurationError(
                f"[[judge]] {judge.name} needs questions: "
                "give [data] references, or a [build] table"
            )
        if judge.audits and len(judge.models) > 1:
            raise ConfigurationError(f"[[judge]] {judge.name}: audits ask one model, not a jury")
    scorers = [LOCAL_MODEL, *(judge.name for judge in study.judges)]
    for table in study.tables.fairness:
        if table.scorer not in scorers:
            names = ", ".join(scorers)
            raise ConfigurationError(f"[[fairness]]: no scorer {table.scorer!r}; known: {names}")
    for writer, model in study.writers:
        if model.llm is None:
            raise ConfigurationError(f"[[summarize]] {writer.system}: summaries need an LLM")


def _check_data(study: Study) -> None:
    tables, data = study.tables, study.data
    problems = {
        "[data]: give clusters, references or both": not (data.clusters or data.references),
        "[data]: give summaries, or have some written by [[summarize]]": not data.summaries
        and not study.writers,
        "[build] and [data] references exclude each other: remove one": study.build is not None
        and data.references is not None,
        "[data]: [build] and [[summarize]] need clusters": data.clusters is None
        and bool(study.build or study.writers),
        "[calibrate] needs [data] labels": tables.calibrate is not None and data.labels is None,
    }
    for problem in (text for text, is_present in problems.items() if is_present):
        raise ConfigurationError(problem)


def _check_names(header: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"{header}: two are called {name!r}; choose distinct names")
