"""The inputs of a judging run: options, sources and summaries, checked and divided into tasks."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from fairjudge.datasets import (
    Loaded,
    check_distinct,
    match_summaries,
    read_clusters,
    read_references,
    read_summaries,
)
from fairjudge.domain import Cluster, JudgeTask, Reference, Summary
from fairjudge.engine.runs import digest
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.files import read_file
from fairjudge.judges.balance import BALANCE
from fairjudge.judges.checklist import CoverageForm, order_names
from fairjudge.judges.criteria import (
    WORDINGS,
    builtin_criterion,
    builtin_paraphrases,
    rule_template,
)
from fairjudge.judges.tasks import JudgingPlan, plan_tasks, repeat_tasks
from fairjudge.judges.together import joint_tasks
from fairjudge.options.judging import JudgeOptions
from fairjudge.prompting import Template, load_template, load_template_file
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.sentences import sentence_texts
from fairjudge.text.usable import ArticleLeftOut, articles_left_out

Sources: TypeAlias = Loaded[Reference] | Loaded[Cluster]


def first_template(options: JudgeOptions, plan: JudgingPlan) -> Template:
    """Return the prompt: the user's, that of the user's rule, or the built-in one."""
    if options.prompt is not None:
        return load_template_file(options.prompt)
    if options.rule is not None:
        return rule_template(options.rule, plan.protocol)
    per_answer = plan.reference_unit == "qa_pair"
    return builtin_criterion(plan.aspect, plan.protocol, per_answer=per_answer).template


def prompt_variants(options: JudgeOptions, plan: JudgingPlan) -> dict[str, Template]:
    """Return the prompts with which every item is judged, by name; empty if there is only one.

    Raises
    ------
    ConfigurationError
        If there are fewer prompts, two have the same name, or the protocol has no variants.
    """
    if options.prompt_variants == 1 and not options.paraphrases:
        return {}
    protocol = PROTOCOLS[plan.protocol]
    if protocol.itemized and plan.aspect == "coverage" and not options.paraphrases:
        template = load_template("judge", CoverageForm.prompt)
        return dict.fromkeys(order_names(options.prompt_variants), template)
    if protocol.itemized or protocol.listwise:
        raise ConfigurationError(
            f"a {plan.protocol} has one prompt: --prompt-variants do not go with it"
        )
    if options.prompt_variants > 1 + len(WORDINGS):
        raise ConfigurationError(f"--prompt-variants: each prompt has {1 + len(WORDINGS)}")
    built_in: tuple[Template, ...] = ()
    first = first_template(options, plan)
    if options.prompt is None and options.rule is None:
        per_answer = plan.reference_unit == "qa_pair"
        paraphrases = builtin_paraphrases(plan.aspect, plan.protocol, per_answer=per_answer)
        built_in = paraphrases[: options.prompt_variants - 1]
    elif options.prompt_variants > 1:
        raise ConfigurationError(
            "--prompt-variants only applies to built-in prompts; pass wordings of your own prompt "
            "with --paraphrase"
        )
    paraphrase_templates = map(load_template_file, options.paraphrases)
    templates = [
        (f"{template.name}.v{template.version}", template)
        for template in (first, *built_in, *paraphrase_templates)
    ]
    names = [name for name, _ in templates]
    if len(set(names)) < len(names):
        raise ConfigurationError(f"prompts need different names or versions, not {names!r}")
    return dict(templates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The validated inputs of judging."""

    sources: Sources
    summaries: tuple[Loaded[Summary], ...]
    options: JudgeOptions
    plan: JudgingPlan
    every_task: tuple[JudgeTask, ...]
    limit: int | None = None

    @property
    def tasks(self) -> tuple[JudgeTask, ...]:
        """The tasks of the first ``limit`` items, or of all."""
        if self.limit is None:
            return self.every_task
        items = dict.fromkeys(map(_item, self.every_task))
        first_items = set(islice(items, self.limit))
        return tuple(task for task in self.every_task if _item(task) in first_items)

    @property
    def n_left(self) -> int:
        """Number of tasks beyond ``limit``, for a later start."""
        return len(self.every_task) - len(self.tasks)

    @property
    def written(self) -> tuple[Summary, ...]:
        """All summaries."""
        return tuple(summary for file in self.summaries for summary in file)

    @property
    def references(self) -> tuple[Cluster, ...]:
        """Clusters or references to judge against, if judgements refer to them."""
        needs_sources = self.plan.aspect == BALANCE or PROTOCOLS[self.plan.protocol].itemized
        return tuple(
            source for source in self.sources if needs_sources or isinstance(source, Reference)
        )

    def identity(self) -> dict[str, Any]:
        """Return the run's identity apart from its models: options and input hashes."""
        options = replace(self.options, derive=())  # derived from the run's judgements
        return {
            # the user's files by content
            "options": {key: _by_content(value) for key, value in options.identity().items()},
            "references": digest(self.sources.records),
            "summaries": digest(self.written),
        }

    def not_judged(self) -> Counter[str]:
        """Count by cluster the judgements that are missing because there is nothing to judge.

        A lower bound, which assumes one question or one article per cluster.
        """
        return sum((self.not_judged_on(plan) for plan in self.options.plans()), Counter())

    def articles_left_out(self) -> tuple[ArticleLeftOut, ...]:
        """Return the articles of judged clusters that are in no prompt, if prompts contain any."""
        if all(plan.needs_questions for plan in self.options.plans()):
            return ()
        aids_by_eid: dict[str, set[str]] = defaultdict(set)
        for task in self.tasks:
            aids = aids_by_eid[task.eid]
            if not PROTOCOLS[task.protocol].itemized:  # checklists only show names of outlets
                aids.update(article.aid for article in task.articles)
        return articles_left_out(
            source
            for source in self.sources
            if source.eid in aids_by_eid and len(aids_by_eid[source.eid]) < len(source.articles)
        )

    def not_judged_on(self, plan: JudgingPlan) -> Counter[str]:
        """Return the counts of `not_judged` for the aspect of `plan`."""
        judged_eids = {task.eid for task in self.every_task if task.aspect == plan.aspect}
        n_summaries = Counter(
            summary.eid for summary in self.written if summary.eid not in judged_eids
        )
        n_verdicts = PROTOCOLS[plan.protocol].n_verdicts
        return Counter({eid: n_verdicts(n) for eid, n in n_summaries.items()})


def read_material(
    references: Path,
    summaries: Path | Sequence[Path],
    *,
    options: JudgeOptions,
    skip_bad: bool,
    limit: int | None = None,
) -> Material:
    """Read references (clusters, if no questions are needed) and summaries, and check them.

    Raises
    ------
    InputError
        If a file cannot be used, or there is nothing to judge.
    """
    sources: Sources = (
        read_references(references, skip_bad=skip_bad)
        if options.needs_questions
        else read_clusters(references, skip_bad=skip_bad)
    )
    paths = (summaries,) if isinstance(summaries, Path) else tuple(summaries)
    files = [read_summaries(path, skip_bad=skip_bad) for path in paths]
    return check_material(sources, files, options=options, limit=limit)


def check_material(
    sources: Sources,
    summaries: Sequence[Loaded[Summary]],
    *,
    options: JudgeOptions,
    limit: int | None = None,
) -> Material:
    """Match `summaries` with `sources` and cut the work into tasks; see `read_material`.

    With `limit`, the tasks are those of the first `limit` items (a summary, pair or ranking, or a
    unit of one). The run's identity does not depend on the limit.
    """
    plans = options.plans()
    files = tuple(match_summaries(file, sources) for file in summaries)
    check_distinct(files)
    records = tuple(summary for file in files for summary in file)
    single_tasks = joint_tasks(
        [
            plan_tasks(sources.records, records, plan, split_sentences=sentence_texts)
            for plan in plans
        ]
    )
    names = () if options.together else tuple(prompt_variants(options, plans[0]))
    tasks = repeat_tasks(single_tasks, repeats=options.repeats, variants=names)
    if not tasks:
        raise InputError(_reason_without_tasks(plans[0], sources), path=sources.path)
    return Material(
        sources=sources,
        summaries=files,
        options=options,
        plan=plans[0],
        every_task=tasks,
        limit=limit,
    )


def _item(task: JudgeTask) -> tuple[str, tuple[str, ...], str]:
    """Return the item of a task: its ids without order, prompt variant and repeat."""
    return task.eid, task.systems, task.unit


def _by_content(value: object) -> object:
    if isinstance(value, dict):
        return {name: _by_content(record) for name, record in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_by_content, value))
    return hashlib.sha256(read_file(value)).hexdigest() if isinstance(value, Path) else value


def _reason_without_tasks(plan: JudgingPlan, sources: Sources) -> str:
    if PROTOCOLS[plan.protocol].paired:
        return "nothing to judge: pairwise needs two systems' summaries of one cluster"
    if plan.needs_questions:
        with_questions = [
            source.eid for source in sources if getattr(source, "question_answers", ())
        ]
        reason = (
            f"those with questions, such as {with_questions[0]!r}, have no summary"
            if with_questions
            else "in these references 'fairjudge build' found no points; where the local model "
            "built them, an LLM is needed (fairjudge build --backend provider:model)"
        )
        return f"nothing to judge: no cluster with a summary has questions; {reason}"
    return "nothing to judge: no cluster has both a summary and an article with content"
