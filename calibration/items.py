"""Join of judgements and labels; rows that are not used are counted by reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairjudge.calibration.drawn_ppi import DRAWN_NOTE, inclusion_probabilities_of
from fairjudge.calibration.grouping import WHOLE, GroupFields, GroupKey, group_judgements
from fairjudge.calibration.labels import (
    SIGNS,
    ItemKey,
    Labels,
    exact_mean,
    item_key,
    order_by_name,
    system_name,
)
from fairjudge.calibration.parts import (
    HumanValues,
    average_parts,
    summary_inclusion_probabilities,
    whole_key,
)
from fairjudge.calibration.scales import Scale, infer_scale
from fairjudge.domain import Judgement, Label, Order, ProtocolName, Undefined
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.matching import Match, harmonize_ids, match
from fairjudge.stats._arrays import BoolArray, FloatArray
from fairjudge.text.own_aspects import built_in_aspects, own_aspects_advice

JUDGE_SIDE, LABELS_SIDE = "the judge's scores", "people's mean labels"
"""Names of the two variables of most correlations, for sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts of the rows of one group, by treatment.

    ``repeated`` judgements (all but the first of an item) are averaged, as are ``repeated_labels``
    (all but the first of an annotator and item). ``mistyped`` judgements have a value that the
    protocol does not allow. ``one_order`` counts pairs judged in only one order.
    ``adjudicated_labels`` are excluded.
    """

    judgements: int
    unscored: Mapping[str, int]
    repeated: int
    mistyped: int
    off_scale: int
    one_order: int
    repeated_labels: int
    adjudicated_labels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedItems(GroupFields):
    """The judged items of one judge, aspect, protocol and unit, joined with their labels.

    ``keys``, ``documents``, ``systems``, ``judged``, ``human``, ``inclusion_probabilities``,
    ``ratings`` and ``present`` describe the n items with both a score and a label. ``ratings`` and
    ``present`` have shape (n, m) for m annotators; ``human`` is the mean label. Values of pairs are
    from -1 (the second is better) to 1. ``rest`` and ``judged_rest`` are the scored items without
    a label, ``unjudged`` the labelled items without a score. ``match`` compares the items that have
    a judgement, scored or not, with the labelled items. If ``averaged_labels``, ``human`` averages
    labels of parts.
    """

    keys: tuple[ItemKey, ...]
    documents: tuple[str, ...]
    systems: tuple[str, ...]
    judged: FloatArray
    human: FloatArray
    inclusion_probabilities: FloatArray | Undefined | None
    annotators: tuple[str, ...]
    ratings: FloatArray
    present: BoolArray
    probabilities: tuple[Mapping[str, float] | None, ...]
    rest: tuple[ItemKey, ...]
    judged_rest: FloatArray
    unjudged: tuple[ItemKey, ...]
    match: Match[ItemKey]
    judge_scale: Scale
    label_scale: Scale
    counts: Counts
    notes: tuple[str, ...]
    averaged_labels: bool = False

    def labels_of(self, row: int) -> dict[str, float]:
        """Return an item's labels by annotator."""
        present = np.flatnonzero(self.present[row])
        return {self.annotators[j]: float(self.ratings[row, j]) for j in present}


def join(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    annotators: Sequence[str] = ("*",),
    label_scale: Scale | None = None,
) -> tuple[JoinedItems, ...]:
    """Join judgements and labels by eid, system or systems, aspect and unit.

    Returns one `JoinedItems` per judge, aspect, protocol and kind of unit, in order of appearance,
    including those without labels.

    Parameters
    ----------
    annotators
        Shell patterns; labels of other annotators are excluded.
    label_scale
        Lowest and highest label; by default the first usual scale that contains at least half of
        the labels.

    Notes
    -----
    Judgements and labels of the same kind of unit are joined by item. Otherwise parts (sentences,
    articles, answers) are averaged per summary, on either side, and summaries are joined. Pairs
    without labels get the difference of the labels of their two summaries. Both orders of a pair
    are averaged: two equal winners are a win, different winners a tie, a winner and a tie half a
    win.

    Raises
    ------
    InputError
        If no label is by a matching annotator, of a judged aspect, or of a judged item; if
        annotators use different scales; or if a label is off its scale.
    """
    rows = tuple(judgements)
    labels_by_aspect = Labels.by_aspect(harmonize_ids(labels, rows), annotators)
    judgements_by_group = group_judgements(rows)
    judged_aspects = {key.aspect for key in judgements_by_group}
    if judged_aspects and labels_by_aspect and not judged_aspects & labels_by_aspect.keys():
        built_in = sorted(labels_by_aspect.keys() & built_in_aspects())
        advice = f"judge an aspect that has labels (--aspect {built_in[0]})" if built_in else ""
        raise InputError(
            f"the labels are of {', '.join(map(repr, sorted(labels_by_aspect)))}, the judgements "
            f"of {', '.join(map(repr, sorted(judged_aspects)))}: nothing that was judged is "
            f"labelled; {advice or own_aspects_advice(labels_by_aspect)}",
            field="aspect",
        )
    joined_groups = tuple(
        _join_group(
            key,
            group,
            labels_by_aspect.get(key.aspect) or Labels(single={}, paired={}),
            label_scale,
        )
        for key, group in judgements_by_group.items()
    )
    if not any(items.match.matched_keys for items in joined_groups):
        for items in joined_groups:
            items.match.check()
    return joined_groups


def only_group(joined_groups: Sequence[JoinedItems], *, path: str) -> JoinedItems:
    """Return the only group of the judgements in `path`.

    Raises
    ------
    InputError
        If there is no group, or more than one.
    """
    if len(joined_groups) == 1:
        return joined_groups[0]
    groups = "; ".join(items.group.title for items in joined_groups)
    raise InputError(
        f"expected one judge, aspect, protocol and unit, found {len(joined_groups)}"
        + (f": {groups}; keep one of them in a file of its own" if joined_groups else ""),
        path=path,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgeValues:
    """The judge's values, one per item; ``items`` are all items with a row, scored or not."""

    items: tuple[ItemKey, ...]
    values: Mapping[ItemKey, float]
    probabilities: Mapping[ItemKey, Mapping[str, float]]
    scale: Scale
    counts: Counts

    def averaged(self) -> _JudgeValues:
        """Average values of parts per summary, or pair."""
        return replace(
            self,
            items=tuple(dict.fromkeys(map(whole_key, self.items))),
            values=average_parts(self.values),
            probabilities={},
        )


def _join_group(
    group: GroupKey, rows: Sequence[Judgement], labels: Labels, given_scale: Scale | None
) -> JoinedItems:
    paired = PROTOCOLS[group.protocol].paired
    labels, unit = labels.for_unit(group.unit, paired=paired)
    label_scale = labels.scale(group.protocol, given_scale)
    judge_values, notes = _collect_values(rows, group.protocol, labels), []
    if group.unit not in {unit, WHOLE}:
        judge_values = judge_values.averaged()
        notes.append("judgements of parts are averaged over each summary, as the labels are")
    human_values, notes_on_labels = _human_values(group, labels, unit, judge_values.items)
    notes += notes_on_labels
    if paired:
        width = 1.0 if labels.paired else label_scale[1] - label_scale[0]
        label_scale = (-width, width)
    means = human_values.means
    # If no pair has two labels, match against the single labels, to show the reason.
    labelled_items: Iterable[ItemKey] = labels.single if paired and not means else means
    values = judge_values.values
    keys = tuple(key for key in values if key in means)
    unlabelled_keys = tuple(key for key in values if key not in means)
    inclusion_probabilities = inclusion_probabilities_of(
        keys,
        summary_inclusion_probabilities(labels.inclusion_probabilities)
        if human_values.averaged
        else labels.inclusion_probabilities,
    )
    if inclusion_probabilities is not None:
        notes.append(DRAWN_NOTE)
    annotators, ratings, present = rating_table([human_values.ratings[key] for key in keys])
    return JoinedItems(
        **group._asdict(),
        keys=keys,
        documents=tuple(key[0] for key in keys),
        systems=tuple(system_name(key) for key in keys),
        judged=np.array([values[key] for key in keys]),
        human=np.array([means[key] for key in keys]),
        inclusion_probabilities=inclusion_probabilities,
        annotators=annotators,
        ratings=ratings,
        present=present,
        probabilities=tuple(judge_values.probabilities.get(key) for key in keys),
        rest=unlabelled_keys,
        judged_rest=np.array([values[key] for key in unlabelled_keys]),
        unjudged=tuple(key for key in means if key not in values),
        match=match(judge_values.items, labelled_items, names=("judged item", "labelled item")),
        judge_scale=judge_values.scale,
        label_scale=label_scale,
        counts=judge_values.counts,
        notes=tuple(notes),
        averaged_labels=human_values.averaged,
    )


def _human_values(
    group: GroupKey, labels: Labels, unit: str, judged_items: Iterable[ItemKey]
) -> tuple[HumanValues, list[str]]:
    """Return the human values of a group's items, from labels of `unit`, and notes on them."""
    notes, ratings_by_item = [], labels.paired or labels.single
    if unit in {group.unit, WHOLE}:
        human_values = HumanValues.from_labels(ratings_by_item)
    else:
        human_values = HumanValues.from_part_labels(ratings_by_item)
        notes.append(f"labels are of single parts ({unit}): averaged over each summary")
    if PROTOCOLS[group.protocol].paired and not labels.paired:
        human_values = human_values.differences(judged_items)
        notes.append("pairs have the difference of their summaries' labels as human value")
    if not human_values.means:
        notes.append(f"no labels for aspect {group.aspect!r}")
    return human_values, notes


def rating_table(
    labels: Sequence[Mapping[str, float]],
) -> tuple[tuple[str, ...], FloatArray, BoolArray]:
    """Return the sorted annotators, and ratings and their presence by item, shape (n, m)."""
    annotators = tuple(sorted({annotator for by_annotator in labels for annotator in by_annotator}))
    column_by_annotator = {annotator: column for column, annotator in enumerate(annotators)}
    ratings = np.zeros((len(labels), len(annotators)))
    present = np.zeros(ratings.shape, dtype=bool)
    for row, by_annotator in enumerate(labels):
        for annotator, value in by_annotator.items():
            (
                ratings[row, column_by_annotator[annotator]],
                present[row, column_by_annotator[annotator]],
            ) = value, True
    return annotators, ratings, present


def _collect_values(
    rows: Sequence[Judgement], protocol: ProtocolName, labels: Labels
) -> _JudgeValues:
    unscored_counts: Counter[str] = Counter()
    n_mistyped = 0
    values_by_order: dict[tuple[ItemKey, Order | None], list[float]] = defaultdict(list)
    probabilities: dict[ItemKey, Mapping[str, float]] = {}
    for row in rows:
        key, sign = item_key(row)
        if row.unscored is not None:
            unscored_counts[row.unscored] += 1
        elif isinstance(row.value, str) is not PROTOCOLS[protocol].paired:
            n_mistyped += 1
        else:
            value = SIGNS[row.value] if isinstance(row.value, str) else float(row.value or 0.0)
            values_by_order[key, order_by_name(row, sign)].append(sign * value)
            if row.probabilities is not None and not PROTOCOLS[protocol].paired:
                probabilities[key] = row.probabilities
    scale = infer_scale(
        np.array([v for values_of_item in values_by_order.values() for v in values_of_item]),
        protocol,
    )
    values_on_scale = {
        item_and_order: [v for v in values_of_item if scale[0] <= v <= scale[1]]
        for item_and_order, values_of_item in values_by_order.items()
    }
    means_by_item: dict[ItemKey, list[float]] = defaultdict(list)
    for (key, _), values_of_item in values_on_scale.items():
        if values_of_item:
            means_by_item[key].append(exact_mean(values_of_item))
    n_one_order = sum(len(orders) == 1 for orders in means_by_item.values())
    n_typed = sum(map(len, values_by_order.values()))
    return _JudgeValues(
        items=tuple(dict.fromkeys(item_key(row)[0] for row in rows)),
        values={key: exact_mean(means) for key, means in means_by_item.items()},
        probabilities=probabilities,
        scale=scale,
        counts=Counts(
            judgements=len(rows),
            unscored=dict(unscored_counts),
            repeated=n_typed - len(values_by_order),
            mistyped=n_mistyped,
            off_scale=n_typed - sum(map(len, values_on_scale.values())),
            one_order=n_one_order if PROTOCOLS[protocol].paired else 0,
            repeated_labels=labels.repeated,
            adjudicated_labels=labels.adjudicated,
        ),
    )
