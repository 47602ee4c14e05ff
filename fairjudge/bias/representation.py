"""Representation bias: identifiability of the group from the summary (`news_bias` section 3.4).

Gendered words and names are masked before summaries are compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from scipy import sparse

from fairjudge.bias.measures import BiasMeasure, BiasMeasures
from fairjudge.bias.people import Person
from fairjudge.bias.resampling import Counts, Units
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import BoolArray, FloatArray, codes
from fairjudge.stats.bootstrap import divide
from fairjudge.stats.resampling import Resampling
from fairjudge.text.folding import APOSTROPHES, DASHES, strip_invisible
from fairjudge.text.tokens import words

Ties: TypeAlias = Literal["half", "wrong"]
"""Credit of an exact tie of both similarities: half, or none as in equation 4."""
ExclusionReason: TypeAlias = Literal["empty", "alone_in_group", "no_other_group"]

_TIE = 1e-10
"""Similarities that differ by at most this are tied, to be robust to rounding."""

FIRST_NAME, LAST_NAME, TITLE = MARKERS = ("FIRST_NAME", "LAST_NAME", "NAME_TITLE")
"""Markers of masked names and titles; the underscore distinguishes them from words of a text."""

_MARKER = re.compile(rf"(?<!\w)({'|'.join(MARKERS)})(?!\w)")

# "her" corresponds to both "him" and "his", and "his" to both "her" and "hers". Different
# replacements would reveal the gender, so all four have the same one.
_NEUTRAL = {
    "he": "they", "she": "they", "him": "their", "his": "their", "her": "their", "hers": "their",
    "himself": "themself", "herself": "themself",
}  # fmt: skip
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_NEUTRAL)})\b", re.IGNORECASE)
_TITLES = re.compile(r"\b(?:(?:Mrs|Mr|Ms|Miss|Mx)\b\.?|(?:Sir|Lady|Madam|Ma['’]am)\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryCredit:
    """Whether each summary's group was identified, shape (n,).

    ``credit`` is 1 if the group was identified, 0.5 for a tie, 0 if not or if excluded;
    ``left_out`` maps an excluded row to the reason.
    """

    credit: FloatArray
    tied: BoolArray
    left_out: Mapping[int, ExclusionReason]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinguishability:
    """The measures of `DISTINGUISHABILITY` for one representation, by key, and each group's score.

    ``by_original`` has the score over the summaries of each original, largest first.
    """

    estimates: Mapping[str, Estimate | Undefined]
    by_group: Mapping[str, Estimate | Undefined]
    n_tied: int
    left_out: Mapping[ExclusionReason, int]
    by_original: Mapping[str, float]


def mask(text: str, people: Iterable[Person] = ()) -> str:
    """Mask third-person pronouns, gendered titles and the people's names.

    Names are replaced as whole words and case-sensitively (``"Will"`` but not ``"will"``).
    """
    all_people = tuple(people)
    text = strip_invisible(text)
    first_names = {strip_invisible(person.first_name) for person in all_people if person.first_name}
    last_names = {
        strip_invisible(person.last_name) for person in all_people if person.last_name
    } - first_names
    text = _replace(text, first_names, FIRST_NAME)
    text = _replace(text, last_names, LAST_NAME)
    return _PRONOUN.sub(_neutral, _TITLES.sub(TITLE, text))


def masked_words(text: str) -> list[str]:
    """Split masked text as `words` does, with each marker as a separate word, in capitals."""
    return [
        word
        for piece in _MARKER.split(text)
        for word in ((piece,) if piece in MARKERS else words(piece))
    ]


def _replace(text: str, names: set[str], marker: str) -> str:
    if not names:
        return text
    names_by_length = sorted(names, key=lambda name: (-len(name), name))
    options = "|".join(map(_pattern, names_by_length))
    return re.sub(rf"(?<!\w)(?:{options})(?!\w)", marker, text)


def _pattern(name: str) -> str:
    """Return a regex for `name` that accepts any look-alike hyphen or apostrophe."""
    return "".join(
        f"[{re.escape(DASHES)}]"
        if character in DASHES
        else f"[{re.escape(APOSTROPHES)}]"
        if character in APOSTROPHES
        else re.escape(character)
        for character in name
    )


def _neutral(match: re.Match[str]) -> str:
    word = match.group()
    neutral = _NEUTRAL[word.lower()]
    return neutral.capitalize() if word[0].isupper() else neutral


def count_vectors(texts: Sequence[str], *, stop_words: Collection[str] = ()) -> Any:
    """Return word counts as a scipy csr_array of shape (n, vocabulary).

    Each marker of `mask` counts as one word and is not a stop word.
    """
    excluded_words = frozenset(stop_words)
    vocabulary: dict[str, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for row, text in enumerate(texts):
        for word, n in Counter(masked_words(text)).items():
            if word not in excluded_words:
                rows.append(row)
                columns.append(vocabulary.setdefault(word, len(vocabulary)))
                values.append(float(n))
    shape = (len(texts), max(1, len(vocabulary)))
    build: Any = sparse.csr_array  # untyped: its overloads do not match
    return build((values, (rows, columns)), shape=shape)


def distinguish(
    vectors: Any, groups: Sequence[Hashable], originals: Sequence[Hashable] | None = None
) -> SummaryCredit:
    """Predict each summary's group from its mean cosine similarity to others of the same original.

    Parameters
    ----------
    vectors : array or scipy sparse array of shape (n, d)
        A zero row (an empty summary) is excluded as ``empty``.
    groups
        The group of each summary's input.
    originals
        Summaries are compared only with those of the same original; None compares all.

    Notes
    -----
    The mean cosine to a group is the dot product with the mean of its unit vectors, so
    the n x n similarities are never computed: time and memory grow with n times d.
    """
    unit_vectors, is_empty = _unit_rows(vectors)
    n = unit_vectors.shape[0]
    original_by_row = originals if originals is not None else (0,) * n
    gaps = np.full(n, np.nan)
    left_out: dict[int, ExclusionReason] = dict.fromkeys(np.flatnonzero(is_empty).tolist(), "empty")
    members: dict[Hashable, list[int]] = defaultdict(list)
    for row, original in enumerate(original_by_row):
        if not is_empty[row]:
            members[original].append(row)
    for rows in members.values():
        labels = [groups[row] for row in rows]
        gaps[rows] = _gaps(unit_vectors[rows], labels)
        left_out |= _exclusions(rows, labels)
    is_tied = np.abs(gaps) <= _TIE
    return SummaryCredit(
        credit=np.where(is_tied, 0.5, np.nan_to_num(gaps) > _TIE), tied=is_tied, left_out=left_out
    )


def _unit_rows(vectors: Any) -> tuple[Any, BoolArray]:
    if sparse.issparse(vectors):
        build: Any = sparse.csr_array
        unit: Any = build(vectors, dtype=np.float64, copy=True)
        unit.eliminate_zeros()
        norms = np.sqrt(np.asarray(unit.multiply(unit).sum(axis=1)).ravel())
        unit.data /= np.repeat(norms, np.diff(unit.indptr))
    else:
        dense = np.asarray(vectors, dtype=np.float64)
        norms = np.linalg.norm(dense, axis=1)
        unit = np.nan_to_num(divide(dense, norms[:, None]))
    if not np.isfinite(norms).all():
        raise StatisticsError("vectors must be finite")
    return unit, norms == 0.0


def _gaps(unit_vectors: Any, labels: Sequence[Hashable]) -> FloatArray:
    """Return own-group minus other-group mean similarity within one original; NaN if undefined."""
    group_codes, names = codes(labels)
    n = len(labels)
    one_hot = np.zeros((n, len(names)))
    one_hot[np.arange(n), group_codes] = 1.0
    # group_similarity[i, g] sums the similarities of summary i to group g, including itself (1)
    group_similarity = np.asarray(unit_vectors @ (unit_vectors.T @ one_hot))
    sizes = one_hot.sum(axis=0)[group_codes]
    own_similarity = group_similarity[np.arange(n), group_codes]
    other_similarity = group_similarity.sum(axis=1) - own_similarity
    gaps: FloatArray = divide(own_similarity - 1.0, sizes - 1.0) - divide(
        other_similarity, n - sizes
    )
    return gaps


def _exclusions(rows: Sequence[int], labels: Sequence[Hashable]) -> dict[int, ExclusionReason]:
    sizes = Counter(labels)
    reasons: dict[int, ExclusionReason] = {}
    for row, label in zip(rows, labels, strict=True):
        if sizes[label] == len(rows):
            reasons[row] = "no_other_group"
        elif sizes[label] == 1:
            reasons[row] = "alone_in_group"
    return reasons


def distinguishability(
    vectors: Any,
    groups: Sequence[str],
    originals: Sequence[Hashable] | None = None,
    *,
    resampling: Resampling,
    n_excluded: int = 0,
) -> Distinguishability:
    """Compute equation 4 with a bootstrap over originals; see `distinguish`.

    Assignments are not resampled, since the summaries of an original are compared with each other.
    """
    credit = distinguish(vectors, groups, originals)
    included_rows = [row for row in range(len(groups)) if row not in credit.left_out]
    original_by_row = originals if originals is not None else (0,) * len(groups)
    counts = GroupCredit(
        credit=credit.credit[included_rows],
        documents=[original_by_row[row] for row in included_rows],
        n_excluded=n_excluded + len(credit.left_out),
    )
    row_groups = np.array([groups[row] for row in included_rows], dtype=object)
    score = DISTINGUISHABILITY["score"]
    return Distinguishability(
        estimates={
            key: estimate.over_documents
            for key, estimate in DISTINGUISHABILITY.estimates(counts, resampling).items()
        },
        by_group={
            group: score.estimate(
                counts.restrict_to(row_groups == group), resampling
            ).over_documents
            for group in dict.fromkeys(groups)
        },
        n_tied=int(credit.tied.sum()),
        left_out=dict(sorted(Counter(credit.left_out.values()).items())),
        by_original=_by_original(counts),
    )


def _by_original(counts: GroupCredit) -> dict[str, float]:
    credit_by_original: dict[str, list[float]] = defaultdict(list)
    for original, credit in zip(counts.documents, counts.credit.tolist(), strict=True):
        credit_by_original[str(original)].append(credit)
    scores = {
        original: 2.0 * sum(values) / len(values) - 1.0
        for original, values in credit_by_original.items()
    }
    return dict(sorted(scores.items(), key=lambda each: (-each[1], each[0])))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCredit:
    """Credit for identifying each summary's group, in [0, 1], of the rows in ``selection``."""

    credit: FloatArray
    documents: Sequence[Hashable]
    n_excluded: int = 0
    selection: BoolArray | None = None

    def restrict_to(self, selection: BoolArray) -> GroupCredit:
        """Return the credit restricted to the summaries in `selection`."""
        return replace(self, selection=selection)

    def units(self) -> Units:
        """Return each summary's credit, credit with ties as wrong, and whether it is selected."""
        selection = (
            np.ones(len(self.credit)) if self.selection is None else self.selection.astype(float)
        )
        columns = [self.credit * selection, np.floor(self.credit) * selection, selection]
        return Units(
            counts=Counts.from_rows(np.column_stack(columns), documents=self.documents),
            n=int(selection.sum()),
            n_excluded=self.n_excluded,
        )


def _above_chance(sums: FloatArray, *, column: int) -> FloatArray:
    """Return 2 x accuracy - 1 (`news_bias` equation 4): 0 is chance, 1 is always correct."""
    return 2.0 * divide(sums[:, column], sums[:, 2]) - 1.0


GroupCreditMeasure: TypeAlias = BiasMeasure[GroupCredit]

_credit_measure = partial(
    GroupCreditMeasure,
    units=GroupCredit.units,
    why=lambda _: "no original has summaries of two groups, with at least two of one group",
    null=0.0,
)

DISTINGUISHABILITY: Final[BiasMeasures[GroupCredit]] = BiasMeasures(
    "distinguishability",
    _credit_measure(
        key="score",
        label="Distinguishability",
        corpus_formula=lambda _, sums: _above_chance(sums, column=0),
        axis_label="0 is chance, 1 always right",
        note="2 x accuracy - 1 of telling the group from the summary; 0 is chance.",
    ),
    _credit_measure(
        key="strict",
        label="Distinguishability, ties as wrong",
        corpus_formula=lambda _, sums: _above_chance(sums, column=1),
        shown=False,
    ),
)
"""The measures of ``bias distinguishability``, computed for each representation.

``strict`` counts ties as wrong, as in equation 4, so that identical summaries score -1. ``score``
counts a tie as half, so that they score 0.
"""
