"""One rule decides whether a fit converged; fits that did not converge are reported."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucstudio.engine import METHODS
from aucstudio.engine.fit import Fit
from aucstudio.engine.losses.partial_auc import StructuralRisk
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.scorers import LinearScorer


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(160, 6))
    y = X[:, 0] + rng.normal(size=160) > 0.7
    return X, y


@pytest.mark.parametrize(
    ("gap", "needed", "finished", "converged"),
    [
        (None, 0.0, True, True),
        (None, 0.0, False, False),
        (0.1, 0.1, True, True),
        (0.1, 0.09, True, False),
    ],
)
def test_convergence_follows_from_the_gap(gap, needed, finished, converged):
    scorer = LinearScorer(np.ones(1))
    done = Fit(scorer, 1.0, gap=gap, needed=needed, finished=finished)
    assert done.converged is converged


@pytest.mark.parametrize(
    ("key", "settings"),
    [("kernel-rank-svm", {"C": 1e14, "gamma": 50.0}), ("logistic", {"C": 1e4, "max_iter": 1})],
)
def test_unconverged_fit_warns(rows, key, settings):
    X, y = rows
    method = METHODS[key](**settings)
    with pytest.warns(ConvergenceWarning, match="optimum was not reached"):
        method.fit(X * np.logspace(-6, 6, X.shape[1]), y)
    assert not method.converged_
    assert method.notes_[-1].code == "gap_too_large"


def test_stopped_fit_does_not_warn_about_its_gap(rows):
    X, y = rows
    method = METHODS["auc-svm"](C=100.0).fit(X, y, callback=lambda _: True)
    assert not method.converged_
    assert not any(note.code == "gap_too_large" for note in method.notes_)


@pytest.mark.parametrize("far", [1e6, 1e8])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_gap_exceeds_the_objective(rows, far):
    X, y = rows
    outlier = X.copy()
    outlier[0, 0] = far
    for key in ("auc-svm", "svm-auc", "rank-svm", "svm", "logistic", "auc-rls"):
        method = METHODS[key]().fit(outlier, y)
        assert method.dual_gap_ <= method.objective_, key


def test_kernel_matrix_with_negative_eigenvalues_is_refused(rows):
    X, y = rows
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    with pytest.raises(InvalidSetting, match="no eigenvalue below 0; the lowest of X is -"):
        METHODS["auc-rls"](kernel="precomputed").fit(distances, y)


def test_single_precision_kernel_matrix_is_accepted(rows):
    X, y = rows
    K = (X @ X.T).astype(np.float32).astype(float)
    assert METHODS["auc-rls"](kernel="precomputed").fit((K + K.T) / 2, y).converged_


def test_landmarks_with_a_precomputed_kernel_are_refused(rows):
    X, y = rows
    method = METHODS["svm-auc"](kernel="precomputed", n_landmarks=20)
    with pytest.raises(InvalidSetting, match="precomputed kernel hides"):
        method.fit(X @ X.T, y)


def test_leave_pair_out_does_not_change_a_fitted_model(rows):
    X, y = rows
    method = METHODS["auc-rls"]().fit(X, y)
    before = method.decision_function(X)
    method.leave_pair_out(X[:40, :2], y[:40])
    np.testing.assert_array_equal(method.decision_function(X), before)


def noisy(seed, rows=198, features=33):
    """Return few rows, many columns and a weak signal: many cutting planes near w = 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) @ rng.normal(size=(features, features))
    y = (X[:, 0] + 3 * X.std() * rng.normal(size=rows)) > X.std()
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 3, 4])  # two are widened to 0.4, two to 0.8
def test_fpr_range_is_widened_only_when_no_direction_helps(seed):
    X, y = noisy(seed)
    asked = (0.0, 0.1)
    used = {C: METHODS["svm-pauc"](C=C, fpr_range=asked).fit(X, y) for C in (1.0, 1000.0)}
    # Whether w = 0 is best does not depend on C.
    assert used[1.0].fpr_range_used_ == used[1000.0].fpr_range_used_
    risk = StructuralRisk(y, *asked)
    if used[1000.0].fpr_range_used_ != asked:
        rng = np.random.default_rng(seed)
        for w in [used[1000.0].coef_[0], *rng.normal(size=(20, X.shape[1]))]:
            assert risk(X @ (1e-6 * w))[0] >= 1.0 - 1e-12
    else:
        assert used[1000.0].objective_ < 1000.0
