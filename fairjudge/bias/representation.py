"""Representation bias: is the group identifiable from the summary (`news_bias` section 3.4).

Grammar and names are hidden before summaries are compared.
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
from fairjudge.text.folding import APOSTROPHES, DASHES, visible
from fairjudge.text.tokens import words

Ties: TypeAlias = Literal["half", "wrong"]
"""What an exact tie of both similarities counts: half right, or wrong as equation 4 is written."""
LeftOut: TypeAlias = Literal["empty", "alone_in_group", "no_other_group"]

_TIE = 1e-10
"""Similarities nearer than this are tied: rounding must not decide."""

FIRST_NAME, LAST_NAME, TITLE = MARKERS = ("FIRST_NAME", "LAST_NAME", "NAME_TITLE")
"""Markers of hidden names and titles; the underscore distinguishes them from words of a text."""

_MARKER = re.compile(rf"(?<!\w)({'|'.join(MARKERS)})(?!\w)")

# "her" answers to both "him" and "his", and "his" to both "her" and "hers". A cue would stay if
# they became different words, so all four become one.
_NEUTRAL = {
    "he": "they", "she": "they", "him": "their", "his": "their", "her": "their", "hers": "their",
    "himself": "themself", "herself": "themself",
}  # fmt: skip
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_NEUTRAL)})\b", re.IGNORECASE)
_TITLES = re.compile(r"\b(?:(?:Mrs|Mr|Ms|Miss|Mx)\b\.?|(?:Sir|Lady|Madam|Ma['’]am)\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryCredit:
    """Whether each summary's group was identified, shape (n,).

    ``credit`` is 1 if the group was identified, 0 if not, 0.5 for a tie, and 0 if left out;
    ``left_out`` maps a row to the reason.
    """

    credit: FloatArray
    tied: BoolArray
    left_out: Mapping[int, LeftOut]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinguishability:
    """What `DISTINGUISHABILITY` measures by one representation, by key, and each group's figure.

    ``by_original`` has the score over the summaries of each original, the largest first.
    """

    estimates: Mapping[str, Estimate | Undefined]
    by_group: Mapping[str, Estimate | Undefined]
    n_tied: int
    left_out: Mapping[LeftOut, int]
    by_original: Mapping[str, float]


def mask(text: str, people: Iterable[Person] = ()) -> str:
    """Neutralise third-person pronouns and gendered titles, and mask the people's names.

    Names are replaced as whole words in the case given (``"Will"`` but not ``"will"``).
    """
    everyone = tuple(people)
    text = visible(text)
    firsts = {visible(person.first_name) for person in everyone if person.first_name}
    lasts = {visible(person.last_name) for person in everyone if person.last_name} - firsts
    text = _replace(text, firsts, FIRST_NAME)
    text = _replace(text, lasts, LAST_NAME)
    return _PRONOUN.sub(_neutral, _TITLES.sub(TITLE, text))


def masked_words(text: str) -> list[str]:
    """Split masked text as `words` does, with each marker as one word of its own, in capitals."""
    return [
        word
        for piece in _MARKER.split(text)
        for word in ((piece,) if piece in MARKERS else words(piece))
    ]


def _replace(text: str, names: set[str], marker: str) -> str:
    if not names:
        return text
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    options = "|".join(map(_pattern, longest_first))
    return re.sub(rf"(?<!\w)(?:{options})(?!\w)", marker, text)


def _pattern(name: str) -> str:
    """Return a pattern for `name` with any hyphen or apostrophe that looks like its own."""
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

    `mask`'s markers count as one word each, and are no stop words.
    """
    left_out = frozenset(stop_words)
    vocabulary: dict[str, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for row, text in enumerate(texts):
        for word, times in Counter(masked_words(text)).items():
            if word not in left_out:
                rows.append(row)
                columns.append(vocabulary.setdefault(word, len(vocabulary)))
                values.append(float(times))
    shape = (len(texts), max(1, len(vocabulary)))
    build: Any = sparse.csr_array  # its many overloads only get in the way
    return build((values, (rows, columns)), shape=shape)


def distinguish(
    vectors: Any, groups: Sequence[Hashable], originals: Sequence[Hashable] | None = None
) -> SummaryCredit:
    """Guess each summary's group from the mean cosine similarity to the others of its original.

    Parameters
    ----------
    vectors : array or scipy sparse array of shape (n, d)
        A zero row (an empty summary) has no direction and is left out as ``empty``.
    groups
        The group that each summary's input discusses.
    originals
        Summaries are compared only with those of the same original; None compares all.

    Notes
    -----
    The mean of cosines to a group is the cosine's dot product with the sum of its unit vectors, so
    the n x n similarities are never formed: time and memory grow with n times d.
    """
    unit, empty = _unit_rows(vectors)
    n = unit.shape[0]
    shared = originals if originals is not None else (0,) * n
    gap = np.full(n, np.nan)
    left_out: dict[int, LeftOut] = dict.fromkeys(np.flatnonzero(empty).tolist(), "empty")
    members: dict[Hashable, list[int]] = defaultdict(list)
    for row, original in enumerate(shared):
        if not empty[row]:
            members[original].append(row)
    for rows in members.values():
        labels = [groups[row] for row in rows]
        gap[rows] = _gaps(unit[rows], labels)
        left_out |= _without_comparison(rows, labels)
    tied = np.abs(gap) <= _TIE
    return SummaryCredit(
        credit=np.where(tied, 0.5, np.nan_to_num(gap) > _TIE), tied=tied, left_out=left_out
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


def _gaps(unit: Any, labels: Sequence[Hashable]) -> FloatArray:
    """Return own-group less other-group mean similarity within one original; NaN without one."""
    coded, names = codes(labels)
    n = len(labels)
    one_hot = np.zeros((n, len(names)))
    one_hot[np.arange(n), coded] = 1.0
    # to_group[i, g] sums the similarities of summary i to group g, its own 1 included
    to_group = np.asarray(unit @ (unit.T @ one_hot))
    sizes = one_hot.sum(axis=0)[coded]
    own = to_group[np.arange(n), coded]
    to_others = to_group.sum(axis=1) - own
    gaps: FloatArray = divide(own - 1.0, sizes - 1.0) - divide(to_others, n - sizes)
    return gaps


def _without_comparison(rows: Sequence[int], labels: Sequence[Hashable]) -> dict[int, LeftOut]:
    sizes = Counter(labels)
    reasons: dict[int, LeftOut] = {}
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

    Assignments are not resampled, for the summaries of one original are compared with each other.
    """
    identified = distinguish(vectors, groups, originals)
    used = [row for row in range(len(groups)) if row not in identified.left_out]
    shared = originals if originals is not None else (0,) * len(groups)
    counts = GroupCredit(
        credit=identified.credit[used],
        documents=[shared[row] for row in used],
        n_excluded=n_excluded + len(identified.left_out),
    )
    row_groups = np.array([groups[row] for row in used], dtype=object)
    score = DISTINGUISHABILITY["score"]
    return Distinguishability(
        estimates={
            key: estimate.over_documents
            for key, estimate in DISTINGUISHABILITY.estimates(counts, resampling).items()
        },
        by_group={
            group: score.estimate(counts.among(row_groups == group), resampling).over_documents
            for group in dict.fromkeys(groups)
        },
        n_tied=int(identified.tied.sum()),
        left_out=dict(sorted(Counter(identified.left_out.values()).items())),
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
    """Accuracy of identifying each summary's group, in [0, 1]; only rows ``chosen`` count."""

    credit: FloatArray
    documents: Sequence[Hashable]
    n_excluded: int = 0
    chosen: BoolArray | None = None

    def among(self, chosen: BoolArray) -> GroupCredit:
        """Return the same of the summaries `chosen`."""
        return replace(self, chosen=chosen)

    def units(self) -> Units:
        """Return each summary's credit, its credit without ties, and whether it counts."""
        chosen = np.ones(len(self.credit)) if self.chosen is None else self.chosen.astype(float)
        columns = [self.credit * chosen, np.floor(self.credit) * chosen, chosen]
        return Units(
            counts=Counts.of(np.column_stack(columns), documents=self.documents),
            n=int(chosen.sum()),
            n_excluded=self.n_excluded,
        )


def _above_chance(sums: FloatArray, *, column: int) -> FloatArray:
    """Return 2 x accuracy - 1 (`news_bias` equation 4): 0 is chance, 1 always identified."""
    return 2.0 * divide(sums[:, column], sums[:, 2]) - 1.0


GroupCreditMeasure: TypeAlias = BiasMeasure[GroupCredit]

_against_chance = partial(
    GroupCreditMeasure,
    units=GroupCredit.units,
    why=lambda _: "no original has summaries of two groups, two of one at least",
    null=0.0,
)

DISTINGUISHABILITY: Final[BiasMeasures[GroupCredit]] = BiasMeasures(
    "distinguishability",
    _against_chance(
        key="score",
        label="Distinguishability",
        corpus_formula=lambda _, sums: _above_chance(sums, column=0),
        across="0 is chance, 1 always right",
        note="2 x accuracy - 1 of telling the group from the summary; 0 is chance.",
    ),
    _against_chance(
        key="strict",
        label="Distinguishability, ties as wrong",
        corpus_formula=lambda _, sums: _above_chance(sums, column=1),
        shown=False,
    ),
)
"""The measures of ``bias distinguishability``, one set for each representation.

``strict`` counts ties as wrong, as equation 4 is written: identical summaries then have -1.
``score`` counts a tie as half, so that they have 0.
"""
