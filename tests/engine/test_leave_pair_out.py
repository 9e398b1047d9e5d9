"""Closed-form leave-pair-out against refits without the rows."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from aucstudio.engine import AUCRLS, AUCSVM, InvalidSetting, Stopped
from aucstudio.engine.fit import GivenKernel, row_numbers
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods.hold_out import HoldOut, rls_leave_pair_out
from aucstudio.engine.methods.least_squares import RLS
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.roc import auc, equal_error_threshold, roc_curve

pytestmark = pytest.mark.slow

LINEAR, GAUSSIAN = Kernel(), Kernel("rbf", gamma=0.4)


def overlapping(rows=14, features=3, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(rows) % 3 == 0)
    return rng.standard_normal((rows, features)) + positive[:, None] * 0.7, positive


def repeated(rows=14):
    """Return rows that occur twice, some of them in both classes."""
    X, positive = overlapping(rows)
    X[1], X[3] = X[0], X[2]
    return np.round(X[:, :2]), positive


def equal_rows():
    return np.full((9, 3), 0.1), np.arange(9) % 3 == 0


TABLES = {
    "few features": overlapping(),
    "one feature": overlapping(features=1),
    "more features than rows": overlapping(features=30),
    "repeated rows": repeated(),
    "two of a class": (overlapping(9)[0], np.arange(9) < 2),
    "constant feature": (np.insert(overlapping()[0], 1, 0.1, axis=1), overlapping()[1]),
    "equal rows": equal_rows(),
}
every_table = pytest.mark.parametrize(("X", "positive"), TABLES.values(), ids=TABLES)
every_kernel = pytest.mark.parametrize("kernel", [LINEAR, GAUSSIAN], ids=["linear", "rbf"])


def settings(kernel):
    return {"kernel": kernel.kind, "gamma": kernel.gamma}


def retrained(method, X, positive, held, kernel, **more):
    """Return a method fitted without the held-out rows, and these rows."""
    left = np.setdiff1d(np.arange(len(X)), held)
    return method(**settings(kernel), **more).fit(X[left], positive[left]), X[held]


def retrained_pairs(X, positive, lam, kernel):
    p, n = np.flatnonzero(positive), np.flatnonzero(~positive)
    scores = np.empty((2, len(p), len(n)))
    for i, first in enumerate(p):
        for j, second in enumerate(n):
            fitted, rows = retrained(
                AUCRLS, X, positive, [first, second], kernel, regularization=lam
            )
            scores[:, i, j] = fitted.scorer_(rows)
    return scores


def ordered_share(f, g):
    difference, tie = f - g, 1e-12 * np.abs([f, g]).max()
    return np.mean((difference > tie) + 0.5 * (np.abs(difference) <= tie))


def leave_pair_out_scores(X, positive, lam, kernel):
    """Return both scores of every held-out pair by AUC-RLS; a linear kernel measures them from
    the first row, so that the two scores of a pair share a constant with no meaning.
    """
    system = HoldOut(X, positive, [lam], kernel, Monitor())
    chunks = [(f, g) for _, f, g in system.pair_scores(0)]
    return np.vstack([f for f, _ in chunks]), np.vstack([g for _, g in chunks])


def looked_up(K, positive, lam):
    """Return the arguments for rows with a precomputed kernel matrix."""
    return row_numbers(K), positive, lam, GivenKernel(matrix=K)


def leave_pair_out_auc(X, positive, grid, kernel, monitor=None):
    system = HoldOut(X, positive, grid, kernel, monitor or Monitor())
    return np.array([system.outcomes(k).auc for k in range(len(system.regularizations))])


# --- pairs -----------------------------------------------------------------------------------


@every_table
@every_kernel
@pytest.mark.parametrize("lam", [1e-3, 0.1, 30.0])
def test_pair_scores_equal_refits_without_the_pair(X, positive, kernel, lam):
    expected = retrained_pairs(X, positive, lam, kernel)
    by_matrix = leave_pair_out_scores(*looked_up(kernel(X, X), positive, lam))
    np.testing.assert_allclose(by_matrix, expected, atol=1e-10)
    f, g = leave_pair_out_scores(X, positive, lam, kernel)
    np.testing.assert_allclose(f - g, expected[0] - expected[1], atol=1e-10)
    area = leave_pair_out_auc(*looked_up(kernel(X, X), positive, [lam]))
    assert area == pytest.approx([ordered_share(*expected)], abs=1e-14)


def test_equal_rows_count_as_ties():
    X, positive = equal_rows()
    for kernel in (LINEAR, GAUSSIAN, Kernel("poly", coef0=50.0)):
        areas = leave_pair_out_auc(X, positive, [1e-6, 0.1, 1e3], kernel)
        np.testing.assert_array_equal(areas, 0.5)


@pytest.mark.parametrize("lam", [1e-7, 1e5])
def test_scores_are_accurate_at_extreme_regularisation(lam):
    X, positive = overlapping(10)
    expected = retrained_pairs(X, positive, lam, GAUSSIAN)
    scores = leave_pair_out_scores(X, positive, lam, GAUSSIAN)
    np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-12)


def test_chunked_scores_equal_unchunked_ones(monkeypatch):
    X, positive = overlapping(30)
    whole = leave_pair_out_scores(X, positive, 0.1, GAUSSIAN)
    monkeypatch.setattr("aucstudio.engine.methods.hold_out.PAIRS_PER_CHUNK", 45)
    np.testing.assert_allclose(leave_pair_out_scores(X, positive, 0.1, GAUSSIAN), whole)


def test_offset_of_1e8_does_not_lose_accuracy():
    X, positive = overlapping(20)
    X = np.round(X * 16) / 16  # so that the shifted rows are exact
    for kernel in (LINEAR, GAUSSIAN):
        f, g = leave_pair_out_scores(X, positive, 0.1, kernel)
        far, near = leave_pair_out_scores(X + 1e8, positive, 0.1, kernel)
        np.testing.assert_allclose(far - near, f - g, atol=1e-9)


# --- results of the methods ----------------------------------------------------------------------


def outcomes_by_refits(method, X, positive, **more):
    """Return the outcome of each pair by a method trained without it: 1, 1/2 or 0."""
    p, n = np.flatnonzero(positive), np.flatnonzero(~positive)
    won = np.empty((len(p), len(n)))
    for i, first in enumerate(p):
        for j, second in enumerate(n):
            left = np.setdiff1d(np.arange(len(X)), [first, second])
            f, g = method(**more).fit(X[left], positive[left]).scorer_(X[[first, second]])
            won[i, j] = 0.5 if abs(f - g) < 1e-11 else float(f > g)
    return won


@pytest.mark.parametrize("table", ["few features", "more features than rows", "repeated rows"])
@pytest.mark.parametrize("more", [{}, {"kernel": "rbf", "gamma": 0.4}], ids=["linear", "rbf"])
@pytest.mark.parametrize("method", [AUCRLS, RLS, functools.partial(RLS, fit_intercept=True)])
def test_outcomes_equal_refits_without_the_pair(method, table, more):
    X, positive = TABLES[table]
    grid = [1e-3, 0.5]
    for lam, found in zip(
        grid, method(**more).leave_pair_out(X, positive, regularizations=grid), strict=True
    ):
        won = outcomes_by_refits(method, X, positive, regularization=lam, **more)
        np.testing.assert_array_equal(found.beaten, won.sum(axis=1))
        np.testing.assert_array_equal(found.above, won.sum(axis=0))
        assert found.auc == pytest.approx(won.mean(), abs=1e-14)


def test_scores_from_features_equal_those_from_the_gram_matrix():
    X, positive = overlapping(200, 5)
    K = X @ X.T
    for lam in (1e-6, 0.1, 1e4):
        thin = leave_pair_out_scores(X, positive, lam, LINEAR)
        full = leave_pair_out_scores(*looked_up(K, positive, lam))
        np.testing.assert_allclose(thin[0] - thin[1], full[0] - full[1], rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("table", list(TABLES))
def test_curve_of_placements_has_the_leave_pair_out_auc(table):
    X, positive = TABLES[table]
    (found,) = AUCRLS().leave_pair_out(X, positive)
    scores = found.placements(positive)
    assert auc(positive, scores) == pytest.approx(found.auc, abs=1e-14)
    assert equal_error_threshold(roc_curve(positive, scores)) == 0.0


def test_unsupported_methods_and_settings_are_refused():
    X, positive = overlapping()
    with pytest.raises(ValueError, match="least squares"):
        AUCSVM().leave_pair_out(X, positive)
    with pytest.raises(InvalidSetting, match="greater than 0"):
        AUCRLS(regularization=0.0).leave_pair_out(X, positive)
    with pytest.raises(InvalidSetting, match="10,001"):
        AUCRLS(kernel="rbf").leave_pair_out(np.ones((10_001, 1)), np.arange(10_001) % 2)
    with pytest.raises(ValueError, match="one row to train"):
        rls_leave_pair_out(
            X[:2], np.array([True, False]), [0.1], LINEAR, fit_intercept=False, monitor=Monitor()
        )


# --- refusals and stopping -------------------------------------------------------------------


def test_one_row_of_a_class_is_refused():
    X, _ = overlapping()
    for labels in (np.arange(14) == 4, np.arange(14) != 4):
        with pytest.raises(ValueError, match="at least two rows of each class"):
            leave_pair_out_auc(X, labels, [0.1], LINEAR)


@pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, np.inf])
def test_regularisation_must_be_positive(lam):
    X, positive = overlapping()
    with pytest.raises(ValueError, match="positive number"):
        leave_pair_out_auc(X, positive, [0.1, lam], LINEAR)


def test_leave_pair_out_can_be_stopped_in_every_stage(monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.STAGE_INTERVAL", 0.0)
    X, positive = overlapping()
    for stage in ("kernel matrix", "hold-out", "leave-pair-out"):
        monitor = Monitor(lambda step, at=stage: step.stage == at)
        with pytest.raises(Stopped, match=stage):
            leave_pair_out_auc(X, positive, [0.1], GAUSSIAN, monitor)
