"""Alignment: improve a judge's prompt with human labels, and test the improvement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from fairjudge.api.blocking import blocking
from fairjudge.api.findings import Findings
from fairjudge.options.checking import as_names, checks_arguments
from fairjudge.options.declaring import Annotators, LabelScale, Level, Opt
from fairjudge.options.models import Model, as_model

if TYPE_CHECKING:
    from fairjudge.judges.asking import ReferenceUnit


@checks_arguments
async def aalign(
    references: object,
    summaries: object,
    labels: object,
    *,
    model: Model | str,
    aspect: str,
    protocol: Literal["likert", "binary", "pairwise"] = "likert",
    folder: Annotated[
        str | Path | None,
        Opt(
            "Folder of candidates, runs and align.json. Default: a folder under the cache folder, "
            "identified by the labelled items.",
            short="-o",
        ),
    ] = None,
    candidates: Annotated[
        Sequence[str] | None,
        Opt(
            "Kind of candidates to try: anchors (reworded by the model), examples (from the "
            "labels), scale (other scales; not for pairs). Repeatable. Default: all that apply.",
            flag="--try",
            metavar="[anchors|examples|scale]",
        ),
    ] = None,
    rewordings: Annotated[int, Opt("Number of anchor sets the model writes.", ge=1, le=10)] = 2,
    annotators: Annotators = "*",
    label_scale: LabelScale = None,
    attributes: Annotated[
        Sequence[str],
        Opt(
            "Also audit by this attribute of the articles; a document has the value of more than "
            "half of its articles. Repeatable.",
            flag="--attribute",
            metavar="<name>",
        ),
    ] = (),
    level: Level = 0.95,
    seed: Annotated[
        int, Opt("Seed of the split into examples, development and test set.", flag="--split-seed")
    ] = 0,
    reopen: Annotated[
        bool, Opt("Reuse a test set that was opened for other candidates; openings are counted.")
    ] = False,
    prompt: str | Path | None = None,
    scale: str | Path | None = None,
    reference_unit: ReferenceUnit | None = None,
    temperature: float | None = None,
) -> Findings:
    """Try other prompts for a judge, and keep one only if it is better on a sealed test set.

    Use ``await aalign(...)`` in async code, and ``align(...)`` elsewhere, including notebooks.

    Documents are split into examples, a development set and a test set. Candidates are generated
    from the examples and compared on the development set; the best is tested once. It is kept if it
    agrees with the human labels better than the current prompt and has a smaller error after both
    are calibrated. Pairs are judged in both orders, and compared with human preferences.

    Parameters
    ----------
    references, summaries
        As in `Judge`.
    labels
        Human labels of whole summaries on `aspect` (of pairs with ``protocol="pairwise"``): a path
        or a list. A ``note`` may contain the annotator's reason. If no pair is labelled,
        preferences are derived from ratings of both summaries by one annotator.
    model : Model or str
        The model that judges and writes anchors.
    candidates
        Kinds of candidates: ``"anchors"``, ``"examples"``, ``"scale"``; by default all that apply
        to the protocol (``"scale"`` does not apply to pairs).
    rewordings : int
        Number of anchor sets that the model writes, 1 to 10.
    folder : path, optional
        Folder of candidates, runs and the record of test openings; by default under the cache
        folder, identified by the labelled items.
    reopen : bool
        Reuse a test set that was opened for other candidates; openings are counted.
    annotators, label_scale
        Patterns of annotator names to include; lowest and highest value of the labels.
    attributes
        Attributes of the articles by which the audits group documents, as in `fairness`.
    level : float
        Confidence level of the intervals over documents.
    seed : int
        Random seed of the split and the intervals.
    prompt, scale : path, optional
        Your own current prompt and scale.
    reference_unit, temperature
        As in `Judge`.

    Returns
    -------
    Findings
        ``["kept"]``, ``["decision"]`` with both intervals, ``["candidates"]``, ``["audits"]`` of
        the current and new prompt, ``["n_opened"]``, and ``["criterion"]``, the file for
        ``fairjudge judge --criterion``.

    Raises
    ------
    FairJudgeError
        If an argument is invalid, there are too few labelled documents, the test set was opened
        before, or replies are missing.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.align(
    ...     "references.jsonl",
    ...     "summaries.jsonl",
    ...     "labels.jsonl",
    ...     model=fj.Model("openai:gpt-4o-mini", max_cost=5),
    ...     aspect="coverage",
    ... )  # doctest: +SKIP
    >>> report["kept"], report["criterion"]  # doctest: +SKIP
    >>> item = {"eid": "e", "system": "s"}
    >>> labels = [item | {"aspect": "faithfulness", "annotator": "a", "value": 3}]
    >>> events = [{"eid": "e", "articles": [{"aid": "a", "content": "It rained."}]}]
    >>> texts = [item | {"text": "Rain."}]
    >>> fj.align(events, texts, labels, model="openai:gpt-4o-mini", aspect="faithfulness")
    Traceback (most recent call last):
        ...
    fairjudge.errors.InputError: 1 labelled document: align needs 25 or more, ...
    """
    from fairjudge.aligning.items import LabelReading
    from fairjudge.aligning.material import AlignOptions, kinds_tried, prepare, read_sources
    from fairjudge.aligning.running import align_loaded
    from fairjudge.api.progress import bars
    from fairjudge.datasets import read_labels, read_summaries
    from fairjudge.options.checking import make_options
    from fairjudge.options.judging import JudgeOptions

    model_options = as_model(model)
    judge_arguments = {
        "aspect": aspect,
        "protocol": protocol,
        "prompt": prompt,
        "scale": scale,
        "reference_unit": reference_unit,
        "temperature": temperature,
    }
    judging = make_options(JudgeOptions, judge_arguments, "align")
    arguments = {
        "judging": judging,
        "kinds": kinds_tried(candidates, judging),
        "attributes": tuple(attributes),
        "rewordings": rewordings,
        "reading": LabelReading(annotators=as_names(annotators), scale=label_scale),
        "seed": seed,
        "level": level,
        "reopen": reopen,
    }
    options = make_options(AlignOptions, arguments, "align")
    material = prepare(
        read_sources(references, judging),
        (read_summaries(summaries),),
        read_labels(labels),
        options=options,
    )
    with bars(model_options.progress) as progress_bars:
        outcome = await align_loaded(
            material,
            options=options,
            model=progress_bars.with_retry_bar(model_options),
            folder=None if folder is None else Path(folder),
            progress=progress_bars.counter,
        )
    return Findings("align", outcome.report)


align = blocking(aalign)
