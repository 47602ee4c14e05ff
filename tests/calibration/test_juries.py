"""Fitted juries, against numpy's least squares, scikit-learn's stacking and by hand."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from benchmarks._jury_simulation import SETTINGS, simulate_juries
from fairjudge.analysis.calibrating import apply_to
from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.analysis import Settings, analyse
from fairjudge.calibration.applying import apply_calibrators
from fairjudge.calibration.calibrators import assign_folds
from fairjudge.calibration.effective_number import effective_number
from fairjudge.calibration.juries import (
    PRIOR_ITEMS,
    FittedJury,
    JuryItems,
    fit_members,
    fit_stacking,
    jury_from_dict,
)
from fairjudge.calibration.jury_assessment import (
    BEST,
    MEAN_CALIBRATED,
    held_out_scores,
    measure_jury,
)
from fairjudge.calibration.jury_resampling import resampled_losses
from fairjudge.domain import Judgement, Label, Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.scores.settings import separate_settings

FEW = Resampling(n_resamples=200)


def items(n_documents=60, *, noise=(0.5, 0.7, 0.9), shared=0.4, missing=0.0, seed=0, per=3):
    """Return judges of noisy, correlated errors on quality; labels are the quality."""
    rng = np.random.default_rng(seed)
    documents = np.repeat(np.arange(n_documents), per)
    quality = rng.normal(size=n_documents)[documents] * 0.6 + rng.normal(size=documents.size) * 0.8
    common = shared * rng.normal(size=(documents.size, 1))
    scores = (
        quality[:, None] + common + np.array(noise) * rng.normal(size=(documents.size, len(noise)))
    )
    scores[rng.random(scores.shape) < missing] = np.nan
    return JuryItems(
        scores=scores,
        rescaled_scores=scores,
        covariates=np.empty((documents.size, 0)),
        labels=quality,
        documents=tuple(map(str, documents)),
    )


def figures(items, **options):
    names = [f"j{place}" for place in range(items.scores.shape[1])]
    return measure_jury(
        items,
        names,
        weights=np.zeros(len(names)),
        method=options.get("method", "linear"),
        n_folds=10,
        resampling=FEW,
        rng=np.random.default_rng(0),
    )


def test_weights_match_penalised_least_squares():
    """Rows that say 'all members alike' are added to numpy's least squares."""
    data = items()
    values, labels = data.scores, data.labels
    result = fit_stacking(values, labels, n_members=3)
    centred, y = values - values.mean(axis=0), labels - labels.mean()
    size = values.var(axis=0).mean()
    extra = np.sqrt(PRIOR_ITEMS * size) * (np.eye(3) - 1 / 3)
    theirs = np.linalg.lstsq(np.vstack([centred, extra]), np.r_[y, np.zeros(3)], rcond=None)[0]
    intercept, weights = result.weights(np.ones(3, dtype=bool))
    assert weights == pytest.approx(theirs, abs=1e-12)
    assert intercept == pytest.approx(labels.mean() - theirs @ values.mean(axis=0), abs=1e-12)


def test_missing_members_leave_the_regression_on_the_others():
    data = items()
    values = data.scores.copy()
    result = fit_stacking(values, data.labels, n_members=3)
    alone = fit_stacking(values[:, :2], data.labels, n_members=2)
    values[:, 2] = np.nan
    assert result(values) == pytest.approx(alone(values[:, :2]), abs=1e-10)
    values[:] = np.nan
    assert np.isnan(result(values)).all()


def test_missing_member_beats_mean_imputation():
    """Filled with its mean, the others would weigh too little: the error is larger."""
    data = items(400, noise=(0.5, 0.5), shared=0.0)
    result = fit_stacking(data.scores, data.labels, n_members=2)
    first = data.scores.copy()
    first[:, 1] = np.nan
    filled = data.scores.copy()
    filled[:, 1] = filled[:, 1].mean()
    ours, theirs = (np.mean((result(items) - data.labels) ** 2) for items in (first, filled))
    assert ours < 0.95 * theirs


def test_covariates_get_weights():
    data = items(100)
    rng = np.random.default_rng(1)
    length = rng.normal(size=len(data.labels))
    labels = data.labels + length
    alone = fit_stacking(data.scores, labels, n_members=3)
    with_length = np.column_stack([data.scores, length])
    result = fit_stacking(with_length, labels, n_members=3)
    rmse = [
        np.sqrt(np.mean((item - labels) ** 2)) for item in (alone(data.scores), result(with_length))
    ]
    assert rmse[1] < 0.6 * rmse[0]
    _, weights = result.weights(np.ones(4, dtype=bool))
    assert weights[3] == pytest.approx(1.0, abs=0.1)


def test_held_out_scores_exclude_their_document():
    """Labels that are pure noise are predicted no better than by their mean."""
    data = items(80)
    noise = np.random.default_rng(5).normal(size=80)[np.arange(240) // 3]
    blind = JuryItems(
        scores=data.scores,
        rescaled_scores=data.scores,
        covariates=data.covariates,
        labels=noise,
        documents=data.documents,
    )
    result = figures(blind, method="isotonic")
    assert result.rmse.value > noise.std()


def test_held_out_scores_match_a_fit_without_the_fold():
    data = items(30)
    result = held_out_scores(
        data, ["a", "b", "c"], method="linear", n_folds=5, rng=np.random.default_rng(3)
    )
    rng = np.random.default_rng(3)
    folds = assign_folds(data.documents, 5, rng)
    fitted = fit_members(data.subset(folds != 0), method="linear", rng=rng)
    test = data.subset(folds == 0)
    low, high = data.labels[folds != 0].min(), data.labels[folds != 0].max()
    expected = np.clip(fitted.stacking(fitted.values(test)), low, high)
    assert result.jury[folds == 0] == pytest.approx(expected, abs=1e-12)


def test_best_judge_is_selected_within_folds():
    """Twelve judges that know nothing: the one that looks best is no better on other documents."""
    rng = np.random.default_rng(2)
    data = items(40)
    many = JuryItems(
        scores=rng.normal(size=(120, 12)),
        rescaled_scores=rng.normal(size=(120, 12)),
        covariates=np.empty((120, 0)),
        labels=data.labels,
        documents=data.documents,
    )
    result = figures(many)
    own = {
        name: member.rmse.value for name, member in result.compared.items() if name.startswith("j")
    }
    assert result.compared[BEST].rmse.value >= min(own.values())
    assert result.compared[BEST].rmse.value > 0.98 * data.labels.std()


def test_best_available_judge_replaces_a_missing_one():
    data = items(60, missing=0.4)
    result = held_out_scores(
        data, ["a", "b", "c"], method="linear", n_folds=5, rng=np.random.default_rng(0)
    )
    scored = np.isfinite(data.scores)
    assert np.array_equal(np.isfinite(result.alternatives[BEST]), scored.any(axis=1))
    only = scored.sum(axis=1) == 1
    assert result.alternatives[BEST][only] == pytest.approx(
        [
            result.alternatives["abc"[int(np.argmax(row))]][where]
            for where, row in zip(np.flatnonzero(only), scored[only], strict=True)
        ]
    )


def test_gains_are_differences_of_root_mean_squares():
    data = items()
    result = held_out_scores(
        data, ["j0", "j1", "j2"], method="linear", n_folds=10, rng=np.random.default_rng(0)
    )
    text = figures(data)
    rmse = {
        name: np.sqrt(np.mean((scores - data.labels) ** 2))
        for name, scores in {"jury": result.jury, **result.alternatives}.items()
    }
    assert text.rmse.value == pytest.approx(rmse["jury"], abs=1e-12)
    for name, other in text.compared.items():
        assert other.rmse.value == pytest.approx(rmse[name], abs=1e-12)
        assert other.gain.value == pytest.approx(rmse[name] - rmse["jury"], abs=1e-12)


def test_good_jury_gains_and_a_copied_judge_adds_nothing():
    data = items(150, noise=(0.6, 0.6), shared=0.0)
    doubled = JuryItems(
        scores=data.scores[:, [0, 1, 1]],
        rescaled_scores=data.scores[:, [0, 1, 1]],
        covariates=data.covariates,
        labels=data.labels,
        documents=data.documents,
    )
    result = figures(doubled)
    assert result.compared[BEST].gain.low > 0
    assert [member.adds for member in result.members] == [True, False, False]
    assert result.members[1].loss.value == pytest.approx(0.0, abs=2e-3)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_sums_without_resampling_match_held_out_scores(missing):
    data = items(40, missing=missing)
    names = ["a", "b", "c"]
    result = held_out_scores(
        data, names, method="isotonic", n_folds=5, rng=np.random.default_rng(0)
    )
    ones = np.ones((1, 40))
    sums = resampled_losses(result.folds, ones, n_members=3)
    ways = [*(result.alternatives[name] for name in (BEST, *names)), *result.without.T]
    ways += [result.alternatives[MEAN_CALIBRATED], result.jury]
    squares = [np.nansum((way - data.labels) ** 2) for way in ways]
    # what is cut to the range of labels is not cut in the sums; EM ends within its tolerance
    assert sums.way[0] == pytest.approx(squares, rel=2e-3)
    on_same = [np.sum((result.jury - data.labels)[np.isfinite(way)] ** 2) for way in ways]
    assert sums.jury[0] == pytest.approx(on_same, rel=2e-3)


def resampled(items):
    """Return a resample's sums and, by fold, its fit, held-out rows and those drawn of others."""
    names = ["a", "b", "c"]
    result = held_out_scores(
        items, names, method="isotonic", n_folds=2, rng=np.random.default_rng(3)
    )
    counts = np.random.default_rng(1).multinomial(30, np.full(30, 1 / 30)).astype(float)
    rng = np.random.default_rng(3)
    folds = assign_folds(items.documents, 2, rng)
    row_counts = counts[np.arange(90) // 3].astype(int)
    again = []
    for fold in (0, 1):
        fitted = fit_members(items.subset(folds != fold), method="isotonic", rng=rng)
        sample = np.repeat(np.arange((folds != fold).sum()), row_counts[folds != fold])
        again.append((fitted, folds == fold, sample))
    return resampled_losses(result.folds, counts[None], n_members=3), row_counts, again


@pytest.mark.parametrize(("missing", "tolerance"), [(0.0, 1e-9), (0.3, 1e-3)])
def test_resample_weights_match_a_fit_on_its_rows(missing, tolerance):
    """By the same curves: stacking of rows that are repeated as drawn, where scores miss too."""
    data = items(30, noise=(0.6, 0.7, 0.6), missing=missing)
    sums, row_counts, folds = resampled(data)
    jury = 0.0
    for fitted, held_out, rows in folds:
        stacking = fit_stacking(fitted.held_out[rows], data.labels[~held_out][rows], n_members=3)
        errors = stacking(fitted.values(data.subset(held_out))) - data.labels[held_out]
        jury += row_counts[held_out] @ np.nan_to_num(errors) ** 2
    # One step of EM, with missing scores as all documents say, is .6 % off.
    assert sums.jury[0, 0] == pytest.approx(jury, rel=tolerance)


def test_resample_selection_matches_a_fit_on_its_rows():
    """By the same curves: the best member of rows that are repeated as drawn."""
    data = items(30, noise=(0.6, 0.7, 0.6))
    sums, row_counts, folds = resampled(data)
    best = 0.0
    for fitted, held_out, rows in folds:
        labels = data.labels[~held_out]
        errors = np.mean((fitted.held_out[rows] - labels[rows, None]) ** 2, axis=0)
        chosen = int(np.argmin(errors))
        x, values = fitted.held_out[:, chosen], fitted.values(data.subset(held_out))[:, chosen]
        lines = [np.polyfit(x[rows], labels[rows], 1), np.polyfit(x, labels, 1)]
        moved = values + np.polyval(lines[0] - lines[1], values)
        best += row_counts[held_out] @ (moved - data.labels[held_out]) ** 2
    assert sums.way[0, 0] == pytest.approx(best, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("setting", [SETTINGS[0], SETTINGS[4]], ids=["complete", "missing"])
def test_intervals_after_selection_and_fitting_cover(setting):
    """200 data sets: 95 % within three standard errors (4.6 points). One fit alone covers 85 %."""
    result = simulate_juries(200, setting)["coverage"]
    few = {name: share for name, share in result.items() if not 90.4 <= share <= 99.6}
    assert not few


def test_kish_of_equal_correlations_by_hand():
    """Errors of two judges that are one error and its copy: worth 1; independent ones: about 2."""
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(500, 2))
    options = {
        "documents": np.arange(500),
        "n_documents": 500,
        "resampling": FEW,
        "rng": rng,
    }
    assert effective_number(errors[:, [0, 0]], **options).number.value == pytest.approx(1.0)
    r = np.corrcoef(errors.T)[0, 1]
    number = effective_number(errors, **options)
    assert number.correlation.value == pytest.approx(r, abs=1e-12)
    assert number.number.value == pytest.approx(2 / (1 + r), abs=1e-12)
    assert number.without == (1.0, 1.0)


def test_mean_correlation_matches_numpy_on_shared_items():
    data = items(50, missing=0.3)
    errors = data.scores - data.labels[:, None]
    number = effective_number(
        errors,
        documents=np.arange(150) // 3,
        n_documents=50,
        resampling=FEW,
        rng=np.random.default_rng(0),
    )
    pairs = []
    for i, j in combinations(range(3), 2):
        is_known = np.isfinite(errors[:, i]) & np.isfinite(errors[:, j])
        pairs.append(np.corrcoef(errors[is_known, i], errors[is_known, j])[0, 1])
    assert number.correlation.value == pytest.approx(np.mean(pairs), abs=1e-12)
    assert number.number.value == pytest.approx(3 / (1 + 2 * np.mean(pairs)), abs=1e-12)
    assert number.without[0] == pytest.approx(2 / (1 + pairs[2]), abs=1e-12)
    assert number.correlation.low < number.correlation.value < number.correlation.high


def test_judges_without_shared_items_have_no_effective_number():
    errors = np.random.default_rng(0).normal(size=(40, 2))
    errors[:20, 0], errors[20:, 1] = np.nan, np.nan
    number = effective_number(
        errors,
        documents=np.arange(40),
        n_documents=40,
        resampling=FEW,
        rng=np.random.default_rng(0),
    )
    assert isinstance(number.number, Undefined)


def study(*, judges=("a", "b"), variants=(None,), protocol="likert", n=40):
    """Return judgements by several judges or prompts, and the labels."""
    rng = np.random.default_rng(0)
    judgements, labels = [], []
    for document in range(n):
        for system in ("x", "y"):
            where = {"eid": f"d{document}", "system": system, "aspect": "coverage"}
            quality = rng.integers(1, 6)
            labels.append(Label(**where, annotator="ann", value=float(quality)))
            for judge in judges:
                for variant in variants:
                    value = float(np.clip(quality + rng.integers(-1, 2), 1, 5))
                    by_name = {} if variant is None else {"variant": variant}
                    judgements.append(
                        Judgement(**where, protocol=protocol, judge=judge, value=value, **by_name)
                    )
    return judgements, labels


def analysed(judgements, labels, **settings):
    return analyse(
        judgements,
        labels,
        settings=Settings(resampling=FEW, **settings),
        summaries=[
            Summary(eid=f"d{n}", system=s, text="word " * (n + 1)) for n in range(40) for s in "xy"
        ],
    )


def test_jury_needs_two_judges():
    (jury,) = analysed(*study()).juries
    assert jury.names == ("a", "b")
    assert isinstance(jury.fitted, FittedJury)
    assert analysed(*study(judges=("a",))).juries == ()


def test_prompts_of_one_judge_form_a_jury():
    judgements, labels = study(judges=("a",), variants=("terse", "long"))
    (jury,) = analysed(judgements, labels).juries
    assert jury.names == ("a, prompt terse", "a, prompt long")
    applied = apply_calibrators([jury.fitted], judgements)
    assert applied.n_by_juries == 80
    assert (applied.judgements[0].model_extra or {})["members"].keys() == set(jury.names)


def test_jury_verdict_is_not_a_member():
    judgements, labels = study()
    texts = [
        row.model_copy(update={"judge": "jury-mean(a,b)", "members": {"a": 1.0, "b": 2.0}})
        for row in judgements
        if row.judge == "a"
    ]
    texts = [Judgement.model_validate(row.to_json()) for row in texts]
    (jury,) = analysed([*texts, *judgements], labels).juries
    assert jury.names == ("a", "b")


def test_constant_judge_is_excluded_and_reported():
    judgements, labels = study(judges=("a", "b", "c"))
    flat = [
        row.model_copy(update={"value": 3.0}) if row.judge == "c" else row for row in judgements
    ]
    (jury,) = analysed(flat, labels).juries
    assert jury.names == ("a", "b")
    assert "same score" in jury.left_out["c"]


def test_likert_and_binary_judges_form_one_jury():
    judgements, labels = study(judges=("a", "b"))
    mixed = [
        row
        if row.judge == "a"
        else row.model_copy(
            update={"protocol": "binary", "value": float(row.value > 3), "scored_by": "entailment"}
        )
        for row in judgements
    ]
    (jury,) = analysed(mixed, labels).juries
    assert jury.names == ("a", "b")
    assert jury.figures.effective.number.value > 1


def test_mixed_jury_value_is_numeric_in_any_member_order():
    judgements, labels = study(judges=("a", "b"))
    mixed = [
        row.model_copy(update={"protocol": "binary", "value": float(row.value > 3)})
        if row.judge == "a"
        else row
        for row in judgements
    ]
    (jury,) = analysed(mixed, labels).juries
    text = apply_calibrators([jury.fitted], mixed).judgements[0]
    assert text.protocol == "likert"
    assert 1 < text.value < 5


def test_one_judge_with_two_settings_forms_an_applicable_jury():
    judgements, labels = study(judges=("a",), variants=(1, 2))
    rows = [
        Judgement.model_validate(
            {**row.to_json(), "variant": None, "signature": f"judge:a|scale:{row.variant}"}
        )
        for row in judgements
    ]
    (jury,) = analysed(separate_settings(rows), labels).juries
    assert jury.names == ("a, scale 1", "a, scale 2")
    assert apply_to([jury.fitted], rows).n_by_juries == 80


def test_saved_jury_gives_the_same_scores():
    judgements, labels = study(judges=("a", "b", "c"))
    (jury,) = analysed(judgements, labels, covariates=("length",)).juries
    result = jury_from_dict(json.loads(json.dumps(jury.fitted.to_dict())))
    assert result == jury.fitted
    items = [row for row in judgements if not (row.judge == "b" and row.eid == "d0")]
    applied = apply_calibrators([result], items)
    assert applied.n_by_juries == 80
    first = applied.judgements[0]
    assert first.judge == "jury-fitted(a,b,c)"
    assert (first.model_extra or {})["n_scored"] == 2
    own = [row.value for row in judgements if row.eid == "d0" and row.system == "x"]
    assert first.value == pytest.approx(result(np.array([[own[0], np.nan, own[2]]]))[0], abs=1e-12)


def test_covariates_change_jury_scores():
    judgements, labels = study()
    (jury,) = analysed(judgements, labels, covariates=("length",)).juries
    scores = np.array([[3.0, 3.0], [3.0, 3.0]])
    short, long = jury.fitted(scores, np.array([[1.0], [3.0]]))
    assert short != long
    assert np.isfinite(jury.fitted(scores)).all()


def test_single_member_cannot_form_a_jury():
    judgements, labels = study()
    (jury,) = analysed(judgements, labels).juries
    assert (
        apply_calibrators([jury.fitted], [r for r in judgements if r.judge == "a"]).n_by_juries == 0
    )


def test_an_item_that_no_member_scored_is_unscored():
    judgements, labels = study()
    (jury,) = analysed(judgements, labels).juries
    silent = [
        row
        if row.eid != "d0"
        else Judgement.model_validate({**row.to_json(), "value": None, "unscored": "refused"})
        for row in judgements
    ]
    first = apply_calibrators([jury.fitted], silent).judgements[0]
    assert (first.value, first.unscored) == (None, "refused")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"fairjudge_jury": 2}, "fairjudge_jury"),
        ({"members": [1]}, "members"),
        ({"covariates": ["colour"]}, "covariates"),
        ({"label_range": [1]}, "label_range"),
        ({"stacking": None}, "stacking"),
        ({"stacking": {"means": [1.0], "covariance": [[1.0]], "n": 5}}, "means"),
        ({"stacking": {"means": [1, 1, 1], "covariance": [[1], [1], [1]], "n": 5}}, "covariance"),
        ({"stacking": {"means": [1, 1, 1], "covariance": [[1, 1, 1]] * 3, "n": 0}}, "n"),
    ],
)
def test_invalid_jury_input_is_named(change, field):
    (jury,) = analysed(*study()).juries
    with pytest.raises(InputError) as error:
        jury_from_dict(jury.fitted.to_dict() | change)
    assert error.value.field == field


def test_too_few_labels_give_no_jury():
    judgements, labels = study(n=10)
    (jury,) = analysed(judgements, labels).juries
    assert "needs" in next(iter(jury.left_out.values()))
    assert isinstance(jury.fitted, Undefined)


def test_intervals_cover_the_truth_in_most_of_a_hundred_data_sets():
    """Errors share a part: r of two judges is its variance over the root of theirs.

    The benchmark draws 2,000; of 100 fair intervals 95 hold the truth, give or take 2.2.
    """
    noise, shared = np.array([0.5, 0.7, 0.9]), 0.4
    spread = np.sqrt(shared**2 + noise**2)
    r = np.mean([shared**2 / (spread[i] * spread[j]) for i, j in combinations(range(3), 2)])
    hits = []
    for seed in range(100):
        data = items(60, noise=tuple(noise), shared=shared, seed=seed)
        number = effective_number(
            data.scores - data.labels[:, None],
            documents=np.arange(180) // 3,
            n_documents=60,
            resampling=FEW,
            rng=np.random.default_rng(seed),
        )
        assert number.number.low < number.number.value < number.number.high
        hits.append(number.number.low <= 3 / (1 + 2 * r) <= number.number.high)
    assert 0.88 <= np.mean(hits) <= 0.99
