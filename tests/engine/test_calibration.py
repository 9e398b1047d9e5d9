"""Calibration maps against scikit-learn, and the measures of probabilities against definitions."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.svm import LinearSVC

from aucstudio.engine.calibration import KINDS, TILT, calibrate, restore_calibration
from aucstudio.engine.reliability import (
    brier_score,
    calibration_error,
    decompose,
    log_score,
    reliability,
)
from aucstudio.engine.roc import auc


def drawn(rows=600, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < share
    return positive, rng.normal(size=rows) + 1.5 * positive


def smoothed(positive):
    m, n = positive.sum(), (~positive).sum()
    return 1 / (n + 2), (m + 1) / (m + 2)


def test_isotonic_matches_scikit_learn_within_the_tilt():
    positive, scores = drawn()
    low, high = smoothed(positive)
    oracle = IsotonicRegression(y_min=low, y_max=high, out_of_bounds="clip").fit(scores, positive)
    new = np.linspace(-8, 9, 2001)
    assert calibrate("isotonic", positive, scores)(new) == pytest.approx(
        oracle.predict(new), abs=TILT
    )


def test_platt_matches_scikit_learn():
    positive, scores = drawn()
    X = scores[:, None]
    svm = LinearSVC().fit(X, positive)
    oracle = CalibratedClassifierCV(FrozenEstimator(svm), method="sigmoid").fit(X, positive)
    held_out = svm.decision_function(X)
    ours = calibrate("platt", positive, held_out)(held_out)
    assert ours == pytest.approx(oracle.predict_proba(X)[:, 1], abs=2e-4)


def weighted_logistic(features, positive):
    """Fit Platt's targets as rows of both classes with weights."""
    low, high = smoothed(positive)
    target = np.where(positive, high, low)
    both = np.concatenate([features, features])
    classes = np.repeat([1, 0], len(target))
    model = LogisticRegression(C=1e10, tol=1e-12, max_iter=10_000)
    model.fit(both, classes, np.concatenate([target, 1 - target]))
    return model


def test_platt_and_beta_minimise_log_loss_on_platts_targets():
    positive, scores = drawn()
    scores = np.where(scores > 1, 3 * scores - 2, scores)  # two slopes
    platt = weighted_logistic(scores[:, None], positive)
    q = platt.predict_proba(scores[:, None])[:, 1]
    assert calibrate("platt", positive, scores)(scores) == pytest.approx(q, abs=2 * TILT)
    features = np.stack([np.log(q), -np.log1p(-q)], axis=1)
    beta = weighted_logistic(features, positive)
    assert beta.coef_.min() > 0
    expected = beta.predict_proba(features)[:, 1]
    assert calibrate("beta", positive, scores)(scores) == pytest.approx(expected, abs=5e-6)


def cases():
    rng = np.random.default_rng(3)
    positive, scores = drawn(80, seed=1)
    halves = np.arange(40) >= 20
    return {
        "usual": (positive, scores),
        "rounded": (positive, np.round(scores)),
        "separated": (halves, np.arange(40.0)),
        "reversed": (halves, -np.arange(40.0)),
        "tied": (halves, np.full(40, 7.0)),
        "two rows": (np.array([False, True]), np.array([0.0, 1.0])),
        "two rows reversed": (np.array([True, False]), np.array([0.0, 1.0])),
        "huge": (positive, 1e300 * scores),
        "largest": (halves, np.where(halves, 1.7e308, -1.7e308)),
        "tiny": (positive, 1e-300 * scores),
        "far from 0": (positive, scores + 1e9),
        "heavy tails": (positive, rng.standard_cauchy(80) ** 3 + positive),
        "one outlier": (positive, np.append(scores[1:], 1e200)),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", cases())
def test_calibration_preserves_the_ranking(kind, case):
    positive, scores = cases()[case]
    made = calibrate(kind, positive, scores)
    found = made(scores)
    assert np.isfinite(found).all()
    assert (found > 0).all()
    assert (found < 1).all()
    assert auc(positive, found) == auc(positive, scores)
    assert len(np.unique(found)) == len(np.unique(scores)) or case in ("one outlier", "heavy tails")
    beyond = np.linspace(scores.max() / 2, scores.max() * 2, 9) if case == "usual" else scores
    assert (np.diff(made(np.unique(beyond))) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_scores_outside_the_fitted_range_keep_their_order(kind):
    made = calibrate(kind, *drawn())
    outside = np.concatenate([-np.logspace(5, 1, 30), np.logspace(1, 5, 30)])
    assert (np.diff(made(outside)) > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_calibration_recovers_probabilities_of_a_logistic_model(kind):
    rng = np.random.default_rng(5)
    scores = rng.normal(size=20_000)
    truth = 1 / (1 + np.exp(1 - 2 * scores))
    found = calibrate(kind, rng.random(20_000) < truth, scores)(scores)
    assert np.mean(np.abs(found - truth)) < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_calibration_map_is_restored_from_its_arrays(kind):
    positive, scores = drawn()
    made = calibrate(kind, positive, scores)
    again = restore_calibration(made.kind, made.form, made.settings(), made.arrays())
    assert np.array_equal(again(scores), made(scores))


@pytest.mark.parametrize(
    "spoil",
    [
        {"scale": 0.0},
        {"scale": np.inf},
        {"centre": np.nan},
        {"knots": np.array([1.0, 0.0]), "values": np.array([0.1, 0.2])},
        {"knots": np.array([0.0, 1.0]), "values": np.array([0.3, 0.2])},
        {"knots": np.array([0.0, 1.0]), "values": np.array([0.3, 1.2])},
        {"knots": np.zeros(0), "values": np.zeros(0)},
        {"slope": 1.0},
    ],
)
def test_invalid_calibration_parameters_are_refused(spoil):
    made = calibrate("isotonic", *drawn())
    given = {**made.settings(), **made.arrays(), **spoil}
    arrays = {name: given.pop(name) for name in made.arrays()}
    with pytest.raises(ValueError, match="calibration"):
        restore_calibration("isotonic", "steps", given, arrays)


@pytest.mark.parametrize(
    ("positive", "scores", "words"),
    [
        ([True, True], [0.0, 1.0], "both classes"),
        ([False, True], [0.0, np.nan], "finite"),
        ([False, True], [0.0, 1.0, 2.0], "one score per row"),
        ([], [], "both classes"),
    ],
)
def test_invalid_calibration_data_are_refused(positive, scores, words):
    for kind in KINDS:
        with pytest.raises(ValueError, match=words):
            calibrate(kind, np.array(positive, bool), np.array(scores))
    with pytest.raises(ValueError, match="isotonic, platt, beta"):
        calibrate("magic", np.array([True, False]), np.zeros(2))


def test_brier_and_log_score_match_scikit_learn():
    positive, scores = drawn()
    p = calibrate("platt", positive, scores)(scores)
    assert brier_score(positive, p) == pytest.approx(brier_score_loss(positive, p))
    assert log_score(positive, p) == pytest.approx(log_loss(positive, p))


@pytest.mark.parametrize("score", [brier_score, log_score])
def test_score_decomposition_is_exact_and_non_negative(score):
    positive, scores = drawn()
    p = calibrate("platt", positive, scores)(scores)
    good, bad = decompose(score, positive, p), decompose(score, positive, p**3)
    for found in (good, bad):
        parts = found.miscalibration - found.discrimination + found.uncertainty
        assert found.value == pytest.approx(parts)
        assert min(found.miscalibration, found.discrimination, found.uncertainty) >= 0
    # An increasing map changes the miscalibration only.
    assert bad.discrimination == pytest.approx(good.discrimination)
    assert bad.miscalibration > 2 * good.miscalibration
    own = calibrate("isotonic", positive, scores)(scores)
    assert decompose(brier_score, positive, own).miscalibration < 1e-4


def test_bins_have_equal_counts_and_shares_of_scikit_learn():
    positive, scores = drawn(1000)
    p = calibrate("platt", positive, scores)(scores)
    found = reliability(positive, p)
    assert found.rows.tolist() == [100] * 10
    shares, means = calibration_curve(positive, p, n_bins=10, strategy="quantile")
    assert found.share == pytest.approx(shares)
    assert found.mean == pytest.approx(means)
    assert (found.low <= found.share).all()
    assert (found.share <= found.high).all()


def test_equal_probabilities_share_a_bin():
    positive = np.arange(100) % 3 == 0
    found = reliability(positive, np.repeat([0.1, 0.2, 0.9], [70, 20, 10]))
    assert found.rows.tolist() == [70, 30] or found.rows.tolist() == [70, 20, 10]
    assert reliability(positive, np.full(100, 0.5)).rows.tolist() == [100]
    assert reliability(positive[:3], np.array([0.1, 0.2, 0.3])).rows.tolist() == [3]
    with pytest.raises(ValueError, match="needs rows"):
        reliability(positive[:0], np.zeros(0))


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "share"), [(600, 0.3), (400, 0.05), (100, 0.5)])
def test_reliability_bars_have_simultaneous_coverage(rows, share):
    # Ten pointwise 95 % bars would all cover the truth in only about 60 of 100 samples.
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        p = rng.beta(4 * share, 4 * (1 - share), rows)
        found = reliability(rng.random(rows) < p, p)
        held += ((found.low <= found.mean) & (found.mean <= found.high)).all()
    assert held >= 300 * 0.95 - 10


def test_calibration_error_is_the_mean_distance_of_the_bins():
    positive = np.tile([True, False], 100)
    assert calibration_error(positive, np.full(200, 0.8)) == (pytest.approx(0.3), "")


def test_calibration_error_is_undefined_for_few_rows():
    value, reason = calibration_error(np.tile([True, False], 20), np.full(40, 0.5))
    assert np.isnan(value)
    assert reason == "40 rows are too few: it takes 60"
    value, reason = calibration_error(np.arange(100) < 4, np.full(100, 0.5))
    assert np.isnan(value)
    assert "4 rows of a class" in reason


def test_the_last_bin_is_halved_while_its_halves_have_twenty_rows():
    p = np.linspace(0.0, 1.0, 1_000)
    plain, halved = (reliability(p > 0.99, p, halvings=k) for k in (0, 9))
    assert plain.rows.tolist() == [100] * 10
    assert halved.rows.tolist() == [100] * 9 + [50, 25, 25]
    assert halved.positives.sum() == plain.positives.sum()
