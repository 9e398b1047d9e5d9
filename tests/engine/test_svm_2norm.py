"""The 2-norm SVM against a dense quadratic program of the corrected dual."""

from __future__ import annotations

import cvxopt
import numpy as np
import pytest
from sklearn.svm import SVC

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods.svm import SVM2Norm
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.solvers import row_newton
from tests.engine.test_baselines import WEIGHTS, row_costs
from tests.engine.test_pair_svm import sample


def hard_margin(K, y):
    """Solve max sum a - 1/2 a'YKYa over a >= 0 with y'a = 0: the value and the vector a y."""
    N = len(y)
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12}
    done = cvxopt.solvers.qp(
        cvxopt.matrix(K * np.outer(y, y)),
        cvxopt.matrix(-1.0, (N, 1)),
        cvxopt.matrix(-np.eye(N)),
        cvxopt.matrix(0.0, (N, 1)),
        cvxopt.matrix(y[None, :]),
        cvxopt.matrix(0.0),
        options=options,
    )
    beta = np.ravel(done["x"]) * y
    return np.abs(beta).sum() - beta @ K @ beta / 2, beta


def signs(positive):
    return np.where(positive, 1.0, -1.0)


def centred(scores):
    return scores - scores.mean()


@pytest.mark.parametrize("class_weight", WEIGHTS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_optimum_equals_that_of_the_corrected_dual(kernel, C, class_weight):
    X, positive = sample(N=40)
    settings = {"kernel": kernel, "gamma": 0.3, "class_weight": class_weight}
    model = SVM2Norm(C=C, **settings).fit(X, positive.astype(int))
    K = Kernel(kernel, 0.3)(X, X)
    costs = C * row_costs(class_weight, positive.astype(int))
    optimum, beta = hard_margin(K + np.diag(0.5 / costs), signs(positive))
    assert model.converged_
    assert model.objective_ == pytest.approx(optimum, rel=1e-8)
    assert model.dual_gap_ <= 1e-8 * model.objective_
    np.testing.assert_allclose(centred(model.scorer_(X)), centred(K @ beta), atol=1e-6)


def test_2norm_svm_equals_a_hard_margin_svm_with_a_ridge():
    X, positive = sample(N=80, seed=7)
    K = Kernel("rbf", 0.5)(X, X)
    model = SVM2Norm(C=2.0, kernel="rbf", gamma=0.5).fit(X, positive)
    library = SVC(C=1e9, kernel="precomputed", tol=1e-8).fit(K + np.eye(80) / 4.0, positive)
    beta = np.zeros(80)
    beta[library.support_] = library.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X), K @ beta + library.intercept_, atol=1e-6)


def test_fit_can_be_stopped_within_a_step(monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.STAGE_INTERVAL", 0.0)
    X, positive = sample(N=60, seed=9)
    with pytest.raises(Stopped):
        SVM2Norm().fit(X, positive, callback=lambda step: step.iteration == 0)
    iterations = []

    def stop_in_the_second(step):
        iterations.append(step.iteration)
        return 1 in iterations and step.iteration == 0

    model = SVM2Norm(C=1e3, kernel="rbf", gamma=0.1).fit(X, positive, callback=stop_in_the_second)
    assert (model.n_iter_, model.converged_) == (1, False)


def test_small_work_portions_give_the_same_result(monkeypatch):
    X, positive = sample(N=60, seed=10)
    whole = [SVM2Norm(kernel=k).fit(X, positive).train_scores_ for k in ("linear", "rbf")]
    monkeypatch.setattr("aucstudio.engine.linalg.WORK_PER_CHUNK", 1.0)
    pieces = [SVM2Norm(kernel=k).fit(X, positive).train_scores_ for k in ("linear", "rbf")]
    np.testing.assert_allclose(pieces, whole, atol=1e-9)


def test_line_search_of_the_intercept_is_least_squares():
    # Without |w| this is least squares: t = sum slack closing / sum closing².
    slack, closing = np.array([4.0, 3.0]), np.array([1.0, -0.2])
    t = row_newton.line_search(slack, closing, np.ones(2), 0.0, 0.0)
    assert t == pytest.approx((4 - 3 * 0.2) / (1 + 0.2**2), rel=1e-14)


def test_line_search_minimises_a_piecewise_function():
    rng = np.random.default_rng(1)
    slack, closing, costs = rng.normal(size=9), rng.normal(size=9) * 3, rng.random(9)

    def value(t):
        left = np.maximum(0, slack - np.multiply.outer(t, closing))
        return -4 * t + 0.2 * t**2 / 2 + left**2 @ costs

    t = row_newton.line_search(slack, closing, costs, -4.0, 0.2)
    grid = np.linspace(0, 20, 200_001)
    assert t == pytest.approx(grid[np.argmin(value(grid))], abs=1e-4)
    assert value(t) <= value(grid).min() + 1e-12
