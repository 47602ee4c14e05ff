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
from fairjudge.datasets._problems import explain
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.files import read_file, read_toml
from fairjudge.judges.cascades import read_cascade
from fairjudge.judges.criterion_files import read_criterion_file
from fairjudge.options.building import BuildOptions
from fairjudge.options.checking import checked
from fairjudge.options.declaring import LabelScale, Resamples, Seed
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.options.summarizing import SummarizeOptions
from fairjudge.run.sweeping import settings_of
from fairjudge.scores.juries import JuryRule
from fairjudge.studies.places import line_named_in, line_of
from fairjudge.text.suggestions import did_you_mean

Audit: TypeAlias = Literal["checks", "order", "verbosity"]
"""Audits that ask the model; the others are made of the judgements that are there."""
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
    """A table that also takes the options of a command, by their names in Python."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def options(self) -> Mapping[str, Any]:
        return self.__pydantic_extra__ or {}


class DataTable(_Table):
    """Files, from the study file's folder."""

    clusters: Path | None = None
    references: Path | None = None
    summaries: _Paths = ()
    labels: Path | None = None


class ModelTable(_Open):
    """A named model of a study: ``backend``, and options of `fairjudge.Model`."""

    backend: str = LOCAL_MODEL


class BudgetTable(_Table):
    """Limits of spending for all steps and starts."""

    max_cost: float | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    prices: Path | None = None


class BuildTable(_Open):
    """References are built; options of ``build``."""

    model: str = LOCAL_MODEL


class SummarizeTable(_Open):
    """A system that writes summaries; options of ``summarize``."""

    model: str
    system: _Name


class JudgeTable(_Open):
    """A judge; options of ``judge``. Several models are a jury."""

    name: _Name | None = None
    model: _Names = (LOCAL_MODEL,)
    jury: JuryRule = "mean"
    criterion: Path | None = None
    audits: tuple[Audit, ...] = ()


class CalibrateTable(_Table):
    """The judges are measured against ``labels``; options of ``calibrate``."""

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
    """The tables of a study file; with ``limit`` each judge judges its first items only."""

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
"""The tables that take no options of a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePart:
    """One judge of a study: its options checked, its files found."""

    name: str
    models: tuple[Model, ...]
    jury: JuryRule
    options: JudgeOptions
    audits: tuple[Audit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study file that was read and checked; paths are from where the program runs."""

    path: Path
    tables: StudyFile
    data: DataTable
    build: tuple[Model, BuildOptions] | None
    writers: tuple[tuple[SummarizeOptions, Model], ...]
    judges: tuple[JudgePart, ...]

    def asking(self, change: Callable[[Model], Model]) -> Study:
        """Return this study with every language model changed."""

        def of(model: Model) -> Model:
            return model if model.llm is None else change(model)

        return replace(
            self,
            build=None if self.build is None else (of(self.build[0]), self.build[1]),
            writers=tuple((options, of(model)) for options, model in self.writers),
            judges=tuple(
                replace(judge, models=tuple(of(model) for model in judge.models))
                for judge in self.judges
            ),
        )

    def place_of(self, message: str) -> str:
        """Return the file and, if `message` begins with a table, its line."""
        return _place_of(message, self.path)

    def budget(self) -> Budget:
        """Return the budget shared by all steps."""
        budget = self.tables.budget
        return Budget(
            max_calls=budget.max_calls,
            max_cost_usd=budget.max_cost,
            prices=load_prices(_beside(self.path, budget.prices)),
        )


def read_study(path: str | Path, *, cache: str | Path | None = None) -> Study:
    """Read a study file and check all that can be checked before any work.

    ``cache`` is the folder of the response cache, for all models.
    """
    path = Path(path)
    table = read_toml(path)
    try:
        tables = StudyFile.model_validate(table)
    except ValidationError as error:
        raise _unreadable(error, table, path) from None
    try:
        return _resolved(path, tables, cache)
    except ConfigurationError as error:
        raise ConfigurationError(f"{_place_of(str(error), path)}: {error}") from None


def _place_of(message: str, path: Path) -> str:
    line = line_named_in(message, read_file(path).decode("utf-8"))
    return str(path) if line is None else f"{path}:{line}"


def _unreadable(error: ValidationError, table: Mapping[str, Any], path: Path) -> InputError:
    """Return the first error: an unknown name, or an invalid value."""
    text = read_file(path).decode("utf-8")
    for item in error.errors(include_url=False):
        if item["type"] == "extra_forbidden":
            *within, name = item["loc"]
            kind = _TABLES[str(within[0])] if within else StudyFile
            names = [field.alias or key for key, field in kind.model_fields.items()]
            hint = did_you_mean(str(name), names) or f"; there are: {', '.join(names)}"
            where = f"[{within[0]}] has" if within else "a study has"
            problem = f"{where} no {str(name)!r}{hint}"
            return InputError(problem, path=path, line=line_of(text, item["loc"]))
    field, problem = explain(error, table)
    line = line_of(text, error.errors(include_url=False)[0]["loc"])
    return InputError(problem, path=path, line=line, field=field)


def _resolved(path: Path, tables: StudyFile, cache: str | Path | None) -> Study:
    data = DataTable(**{name: _beside(path, value) for name, value in tables.data})
    models = _models(path, tables, cache)

    def model(name: str, of: str) -> Model:
        if name not in models:
            names = ", ".join(models)
            raise ConfigurationError(f"{of}: no [models.{name}]; there are: {names}")
        return models[name]

    build = tables.build and (
        model(tables.build.model, "[build]"),
        checked(BuildOptions, tables.build.options, "[build]", beside=BuildTable.model_fields),
    )
    judges = tuple(_judge(path, table, place, model) for place, table in enumerate(tables.judge, 1))
    writers = tuple(
        (_writing(table), model(table.model, f"[[summarize]] {table.system}"))
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
    ours = {"target", "cache", "store", "max_cost", "max_calls", "prices", "progress"}
    prices = _beside(path, tables.budget.prices)
    for name, table in tables.models.items():
        of = f"[models.{name}]"
        if clashes := sorted(ours & table.options.keys()):
            raise ConfigurationError(f"{of}: no option {clashes[0]!r}; budgets are in [budget]")
        settings = {**table.options, "target": table.backend, "cache": cache, "prices": prices}
        models_by_name[name] = checked(Model, settings, of, beside=ModelTable.model_fields)
    return models_by_name


def _writing(table: SummarizeTable) -> SummarizeOptions:
    of = f"[[summarize]] {table.system}"
    settings = {"system": table.system, **table.options}
    options = checked(SummarizeOptions, settings, of, beside=SummarizeTable.model_fields)
    settings_of(options)  # refuses sweeps that cannot be read
    return options


def _judge(path: Path, table: JudgeTable, place: int, model: Any) -> JudgePart:
    of = f"[[judge]] number {place}" if table.name is None else f"[[judge]] {table.name}"
    settings = dict(table.options)
    if table.criterion is not None:
        own = read_criterion_file(path.parent / table.criterion)
        values = {"aspect": own.aspect, "protocol": own.protocol, **own.single_options}
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
        raise ConfigurationError(f"{of}: give an aspect, or a criterion that names one")
    options = checked(JudgeOptions, settings, of, beside=JudgeTable.model_fields)
    paths = {field.name: _beside(path, getattr(options, field.name)) for field in fields(options)}
    options = replace(options, **paths)
    plans = options.plans()
    return JudgePart(
        name=table.name or "+".join(plan.aspect for plan in plans) + f"-{plans[0].protocol}",
        models=tuple(model(name, of) for name in table.model),
        jury=table.jury,
        options=options,
        audits=table.audits,
    )


def _beside(path: Path, value: Any) -> Any:
    """Return a path, or several, as seen from the folder of the study file; else `value`."""
    if isinstance(value, Path):
        return path.parent / value
    if isinstance(value, tuple):
        return tuple(_beside(path, part) for part in value)
    return value


def _check(study: Study) -> None:
    """Reject what would fail half-way."""
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
    wrong = {
        "[data]: give clusters, references or both": not (data.clusters or data.references),
        "[data]: give summaries, or have some written by [[summarize]]": not data.summaries
        and not study.writers,
        "references are given: leave out [build], or [data] references": study.build is not None
        and data.references is not None,
        "[data]: [build] and [[summarize]] need clusters": data.clusters is None
        and bool(study.build or study.writers),
        "[calibrate] needs [data] labels": tables.calibrate is not None and data.labels is None,
    }
    for problem in (text for text, holds in wrong.items() if holds):
        raise ConfigurationError(problem)


def _check_names(of: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"{of}: two are called {name!r}; give each a name of its own")
