"""Stochastic AUC methods: steps against plain loops, results against optima."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from aucstudio.engine.features import nystrom_map
from aucstudio.engine.features.embedding import embed
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.methods.least_squares import AUCRLS
from aucstudio.engine.methods.stochastic import NOAM, NSAUC, NSOLAM, NSVMSGD2
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.solvers import cutting_plane, stochastic
from aucstudio.engine.solvers.online import BufferedPairs, Saddle
from aucstudio.engine.solvers.stochastic import PairSteps, draw_pairs, draw_rows, search_rate

METHODS = [NSAUC, NSVMSGD2, NOAM, NSOLAM]
every_method = pytest.mark.parametrize("method", METHODS)
every_kernel = pytest.mark.parametrize("kernel", ["linear", "rbf"])


def clouds(N=200, d=5, seed=0):
    """Return two overlapping clouds with 30 % positives."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(N) < 0.3 * N
    return rng.normal(size=(N, d)) + np.outer(y, np.linspace(0.2, 1.0, d)), y


def features(N=200, d=5, seed=0):
    X, y = clouds(N, d, seed)
    return embed(X, None, lambda done: None)[1], y


def visits_of(y, seed=0):
    return draw_pairs(y, np.random.default_rng(seed))


def pair_hinge(scores, y):
    return np.maximum(1 - np.subtract.outer(scores[y], scores[~y]), 0).mean()


def hinge_objective(w, F, y, regularization):
    return regularization / 2 * w @ w + pair_hinge(F[:-1] @ w, y)


# --- the descent on drawn pairs --------------------------------------------------------------


def plain_descent(F, visits, regularization, rate):
    """Return the last iterate and the mean of every 16th iterate, the q-th with q times
    the weight of the first.
    """
    F = F.astype(np.float64)
    w, kept = np.zeros(F.shape[1]), []
    t0 = 1 / (regularization * rate)
    for t, (i, j) in enumerate(zip(*visits, strict=True)):
        x = F[i] - F[j]
        if w @ x < 1:
            w = w + x / (regularization * (t + t0))
        if (t + 1) % 16 == 0:
            w = w * (1 - 16 / (t + 1 + t0))
            kept.append(w)
    return w, np.average(kept, axis=0, weights=np.arange(1, len(kept) + 1))


def descent(F, visits, regularization, rate, averaged):
    learner = PairSteps(F.shape[1], regularization, rate, draw_pairs, averaged)
    learner.learn(F, visits)
    return learner.weights


# The last has t0 = 1/4, far below the 16 steps between two shrinkings.
@pytest.mark.parametrize(("regularization", "rate"), [(1e-3, 0.1), (0.1, 1.0), (4.0, 1.0)])
def test_pair_steps_match_a_plain_loop(regularization, rate):
    F, y = features()
    last, mean = plain_descent(F, visits_of(y), regularization, rate)
    assert_allclose(descent(F, visits_of(y), regularization, rate, False), last, rtol=1e-5)
    assert_allclose(descent(F, visits_of(y), regularization, rate, True), mean, rtol=1e-5)


def test_first_step_increases_the_margin():
    F, y = features()
    first, second = visits_of(y)
    w = descent(F, (first[:1], second[:1]), 1e-3, 0.25, averaged=True)
    assert_allclose(w, 0.25 * (F[first[0]] - F[second[0]]), rtol=1e-6)


def test_tiny_t0_keeps_the_shrinkage_factor_positive():
    F, y = features()
    for regularization in (1e3, 1e8):
        w = descent(F, visits_of(y), regularization, 1.0, averaged=False)
        assert np.isfinite(w).all()
        assert (F[:-1][y].mean(axis=0) - F[:-1][~y].mean(axis=0)) @ w > 0


def test_averaged_iterate_approaches_the_optimum():
    """2e5 steps at lambda = 1e-3, against the cutting planes' optimum."""
    F, y = features(2000, 5)
    lam = 1e-3
    best = cutting_plane.minimise(
        F[:-1].astype(float), PairHinge(y), 1 / lam, tol=1e-7, monitor=Monitor()
    )
    rate = search_rate(F, visits_of(y, 99), lam)
    visits = [
        np.concatenate(part) for part in zip(*(visits_of(y, s) for s in range(100)), strict=True)
    ]
    mean, last = (descent(F, visits, lam, rate, averaged) for averaged in (True, False))
    gap = hinge_objective(mean, F, y, lam) - best.objective * lam
    assert 0 < gap < 5e-5
    assert hinge_objective(last, F, y, lam) - best.objective * lam > 2 * gap


@pytest.mark.parametrize("regularization", [1.0, 1e-2, 1e-4, 1e-8])
def test_rate_search_returns_the_lower_end_of_a_bracket(regularization):
    F, y = features(500, 20)
    first, second = (part[:300] for part in visits_of(y))
    rate = search_rate(F, (first, second), regularization)

    def cost(rate):
        w, _ = plain_descent(F, (first, second), regularization, rate)
        return regularization / 2 * w @ w + np.maximum(1 - (F[first] - F[second]) @ w, 0).mean()

    low, middle, high = cost(rate), cost(2 * rate), cost(4 * rate)
    if rate >= 1:
        assert low <= middle
        assert rate == 1 or low < cost(rate / 2)
    else:
        assert middle <= low
        assert middle <= high


def test_pair_draws_do_not_depend_on_the_class_labels():
    y = clouds()[1]
    (i, j), (k, l) = visits_of(y), visits_of(~y)  # noqa: E741
    assert_array_equal(i, l)
    assert_array_equal(j, k)
    assert y[i].all()
    assert not y[j].any()
    counts = np.bincount(np.concatenate([visits_of(y, s)[0] for s in range(200)]), minlength=200)
    assert_allclose(counts[y], 200 * 200 / y.sum(), rtol=0.15)


@pytest.mark.parametrize("balanced", [False, True])
def test_rows_are_drawn_as_pairs_with_the_origin(balanced):
    y = clouds(2000)[1]
    first, second = draw_rows(y, np.random.default_rng(0), balanced)
    is_positive = second == 2000
    assert y[first[is_positive]].all()
    assert (first[~is_positive] == 2000).all()
    assert not y[second[~is_positive]].any()
    assert is_positive.mean() == pytest.approx(0.5 if balanced else 0.3, abs=0.03)


# --- optima of the registered methods --------------------------------------------------------


@pytest.mark.parametrize("method", [NSAUC, NSVMSGD2])
def test_pair_objectives_come_near_that_of_a_linear_svm_on_differences(method):
    X, y = clouds(120)
    lam = 0.01
    fitted = method(kernel="linear", regularization=lam, n_epochs=1000).fit(X, y)
    D = (X[y][:, None] - X[~y]).reshape(-1, X.shape[1])
    signs = np.where(np.arange(len(D)) % 2, 1, -1)
    peer = LinearSVC(
        loss="hinge", fit_intercept=False, C=1 / (lam * len(D)), tol=1e-6, max_iter=100_000
    ).fit(D * signs[:, None], signs)
    w = peer.coef_[0]
    best = lam / 2 * w @ w + np.maximum(1 - D @ w, 0).mean()
    w = fitted.coef_[0]
    assert fitted.objective_ == pytest.approx(
        lam / 2 * w @ w + np.maximum(1 - D @ w, 0).mean(), rel=1e-6
    )
    assert -1e-6 < fitted.objective_ / best - 1 < (1e-4 if method is NSAUC else 5e-3)


@pytest.mark.parametrize(("loss", "weights"), [("rows", None), ("balanced-rows", "balanced")])
def test_row_objectives_approach_that_of_a_linear_svm(loss, weights):
    X, y = clouds(300)
    X = X - X.mean(axis=0)
    lam = 0.01
    fitted = NSVMSGD2(kernel="linear", loss=loss, regularization=lam, n_epochs=300).fit(X, y)
    peer = LinearSVC(
        loss="hinge",
        fit_intercept=False,
        C=1 / (lam * len(X)),
        class_weight=weights,
        tol=1e-6,
        max_iter=100_000,
    ).fit(X, y)
    counts = np.where(y, y.sum(), (~y).sum())
    share = 1 / len(X) if weights is None else 0.5 / counts

    def objective(w):
        hinge = np.maximum(1 - np.where(y, 1, -1) * (X @ w), 0)
        return lam / 2 * w @ w + (share * hinge).sum()

    assert fitted.objective_ == pytest.approx(objective(fitted.coef_[0]), rel=1e-6)
    assert -1e-6 < fitted.objective_ / objective(peer.coef_[0]) - 1 < 5e-3


@every_kernel
@every_method
def test_extreme_units_yield_finite_scores(method, kernel):
    X, y = clouds()
    for unit in (1e-180, 1e-30, 1e30, 1e150):
        fitted = method(kernel=kernel, gamma=0.1, n_epochs=2).fit(X * unit, y)
        assert np.isfinite(fitted.objective_)
        assert np.isfinite(fitted.train_scores_).all()


def test_regularization_follows_the_units_of_the_features():
    X, y = clouds()
    one = NSAUC(kernel="linear", regularization=1e-2).fit(X, y)
    other = NSAUC(kernel="linear", regularization=1e-2 * 1024.0**2).fit(X * 1024.0, y)
    assert_allclose(other.scorer_(X * 1024.0), one.scorer_(X), rtol=1e-12)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-12)


# --- OAM -------------------------------------------------------------------------------------


def plain_oam(F, visits, capacity, C, sequential):
    """Run OAM with difference vectors, as published, with the same order and random numbers."""
    F = F.astype(np.float64)
    w, buffers, seen, iterates = np.zeros(F.shape[1]), ([], []), [0, 0], []
    for x, own, chance in zip(*visits, strict=True):
        seen[own] += 1
        if len(buffers[own]) < capacity:
            buffers[own].append(x)
        elif chance * seen[own] < capacity:
            buffers[own][int(chance * seen[own])] = x
        other, y = 1 - own, 2 * own - 1
        limit = C * max(1, seen[other] / capacity) / 2
        differences = [y * (F[x] - F[b]) for b in buffers[other]]
        if sequential:
            for z in differences:
                loss = 1 - w @ z
                if loss > 0 and z @ z > 0:
                    w = w + min(limit, loss / (z @ z)) * z
        else:
            w = w + limit * sum((z for z in differences if w @ z <= 1), np.zeros(len(w)))
        iterates.append(w)
    return w, np.mean(iterates, axis=0)


@pytest.mark.parametrize("sequential", [True, False])
@pytest.mark.parametrize("C", [0.01, 0.5])
def test_buffered_steps_match_plain_differences(sequential, C):
    F, y = features(150)
    for averaged in (False, True):
        learner = BufferedPairs(5, 12, C, sequential, averaged)
        visits = learner.draw(y, np.random.default_rng(0))
        learner.learn(F, visits)
        expected = plain_oam(F, visits, 12, C, sequential)[averaged]
        assert_allclose(learner.weights, expected, rtol=1e-3, atol=1e-4)


def test_full_buffers_equal_online_gradient_descent():
    F, y = features(60)
    learner = BufferedPairs(5, 60, 0.02, False, False)
    order, own, chances = learner.draw(y, np.random.default_rng(0))
    learner.learn(F, (order, own, chances))
    X, w = F.astype(np.float64), np.zeros(5)
    for t, x in enumerate(order):
        sign = 1 if y[x] else -1
        Z = sign * (X[x] - X[order[:t][y[order[:t]] != y[x]]])
        w = w + 0.01 * Z[Z @ w <= 1].sum(axis=0)
    assert_allclose(learner.weights, w, rtol=1e-5)


def test_buffer_is_a_uniform_sample():
    """Each of m rows is in a buffer of 8 with probability 8 / m."""
    F, y = features(60, 2)
    counts, draws = np.zeros(61), 1500
    for seed in range(draws):
        learner = BufferedPairs(2, 8, 1e-3, True, False)
        chances = learner.draw(y, np.random.default_rng(seed))[2]
        rows = np.arange(60)  # fixed order: only the buffer is random
        learner.learn(F, (rows, y[rows].astype(np.intp), chances))
        np.add.at(counts, learner.rows.ravel(), 1)
    for members in (y, ~y):
        chance = 8 / members.sum()
        deviation = np.sqrt(draws * chance * (1 - chance))
        assert np.abs(counts[:-1][members] - draws * chance).max() < 4.5 * deviation


def test_noam_fits_in_one_pass():
    X, y = clouds(1000)
    for update in ("sequential", "gradient"):
        for average in (True, False):
            fitted = NOAM(kernel="linear", C=2.0**-8, update=update, average=average).fit(X, y)
            assert fitted.objective_ == pytest.approx(pair_hinge(fitted.scorer_(X), y), rel=1e-5)
            assert fitted.objective_ < 0.6


# --- SOLAM -----------------------------------------------------------------------------------


def saddle_function(w, a, b, alpha, x, positive, p):
    score = w @ x
    if positive:
        each = (1 - p) * (score - a) ** 2 - 2 * (1 + alpha) * (1 - p) * score
    else:
        each = p * (score - b) ** 2 + 2 * (1 + alpha) * p * score
    return each - p * (1 - p) * alpha**2


@pytest.mark.parametrize("positive", [True, False])
def test_saddle_step_follows_the_gradient(positive):
    rng = np.random.default_rng(0)
    F, p, zeta, kappa = rng.normal(size=(1, 4)).astype(np.float32), 0.3, 1e-3, 2.0
    begin = 0.1 * rng.normal(size=7)
    learner = Saddle(4, p, zeta, 100.0, kappa)
    learner.w[:], learner.centre[:] = begin[:4], begin[4:]
    learner.learn(F, (np.array([0]), np.array([positive])))
    end = np.r_[learner.w, learner.centre]

    def value(z):
        return saddle_function(z[:4], *z[4:], F[0].astype(float), positive, p)

    h = 1e-5
    gradient = np.array(
        [(value(begin + h * e) - value(begin - h * e)) / (2 * h) for e in np.eye(7)]
    )
    directions = np.r_[-np.ones(4) / kappa**2, -1, -1, 1]
    assert_allclose(end - begin, zeta * directions * gradient, rtol=1e-6, atol=1e-12)
    assert_allclose(learner.weights, end[:4])


def test_saddle_value_is_the_pair_loss():
    X, y = clouds()
    w, p = np.linspace(-0.2, 0.3, 5), y.mean()
    s, t = X[y] @ w, X[~y] @ w
    a, b = s.mean(), t.mean()
    values = [saddle_function(w, a, b, b - a, x, c, p) for x, c in zip(X, y, strict=True)]
    loss = np.mean((1 - np.subtract.outer(s, t)) ** 2)
    assert np.mean(values) == pytest.approx(p * (1 - p) * (loss - 1))


def test_nsolam_converges_to_half_of_auc_rls():
    X, y = clouds(400, 3)
    fitted = NSOLAM(kernel="linear", zeta=10.0, radius=1.0, n_epochs=500).fit(X, y)
    half = AUCRLS(regularization=0.0).fit(X, y).coef_[0] / 2
    assert_allclose(fitted.coef_[0], half, atol=0.01 * np.abs(half).max())


def test_nsolam_stays_in_its_ball_and_approaches_the_optimum():
    X, y = clouds(400, 3)
    radius = 0.1
    fitted = NSOLAM(kernel="linear", zeta=1.0, radius=radius, n_epochs=2000).fit(X, y)
    w = fitted.coef_[0]
    assert np.linalg.norm(w) <= radius * (1 + 1e-9)

    def constrained(weight):
        return AUCRLS(regularization=weight).fit(X, y).coef_[0] / 2

    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (
            (middle, high) if np.linalg.norm(constrained(middle)) > radius else (low, middle)
        )

    def loss(w):
        return np.mean((1 - np.subtract.outer(X[y] @ w, X[~y] @ w)) ** 2)

    assert fitted.objective_ == pytest.approx(loss(w), rel=1e-6)
    assert fitted.objective_ == pytest.approx(loss(constrained(high)), rel=1e-3)


# --- slices, epochs, seeds -------------------------------------------------------------------


@every_method
def test_slice_size_does_not_change_the_result(method, monkeypatch):
    X, y = clouds()
    whole = method(n_landmarks=20, n_epochs=2).fit(X, y)
    monkeypatch.setattr(stochastic, "WORK_PER_SLICE", 1.0)
    sliced = method(n_landmarks=20, n_epochs=2).fit(X, y)
    np.testing.assert_array_equal(sliced.train_scores_, whole.train_scores_)
    assert sliced.objective_ == whole.objective_


@every_method
def test_best_epoch_is_kept_and_each_is_reported(method):
    X, y = clouds()
    steps = []
    fitted = method(kernel="linear", n_epochs=6).fit(X, y, callback=steps.append)
    epochs = [step for step in steps if step.iteration]
    assert [step.iteration for step in epochs] == list(range(1, 7))
    assert {step.total for step in epochs} == {6}
    assert fitted.objective_ == min(step.objective for step in epochs)
    assert all(step.gap is None for step in epochs)


def test_identical_rows_are_noted():
    for kernel in ("linear", "rbf"):
        for method in METHODS:
            fitted = method(kernel=kernel).fit(np.full((20, 3), 0.1), np.arange(20) % 2)
            assert fitted.notes_[0].code == "rows_equal"
            assert np.ptp(fitted.train_scores_) == 0


# --- the embedding ---------------------------------------------------------------------------


def quiet(done):
    assert 0 <= done <= 1


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_features_are_centred_and_of_unit_size(unit):
    X = unit * (clouds(1500)[0] + 1e3)
    embedding, F = embed(X, None, quiet)
    assert F.dtype == np.float32
    assert_allclose(F[:-1].mean(axis=0), 0, atol=1e-6)
    assert (F[:-1].astype(float) ** 2).sum() / len(X) == pytest.approx(1, rel=1e-6)
    assert_array_equal(F[-1], 0)
    differences = np.diff(X, axis=0) / unit
    own = np.diff(F[:-1].astype(float), axis=0) * (embedding.scale / unit)
    assert_allclose(own, differences, atol=1e-5)
    assert_array_equal(embedding(X, quiet), F)


@pytest.mark.parametrize("gamma", [1e-9, 0.1])
def test_landmark_features_are_accurate(gamma):
    """Include a kernel whose values agree in the first eight digits."""
    X = clouds(700)[0]
    features = nystrom_map(Kernel("rbf", gamma), X[:6])
    embedding, F = embed(X, features, quiet)
    w = np.random.default_rng(0).normal(size=F.shape[1])
    exact = (features(X) - features(X[:1])) @ w / embedding.scale
    assert_allclose(F[:-1] @ w - F[0] @ w, exact, atol=1e-5)
    scores = embedding.scorer(w)(X)
    assert_allclose(scores - scores[0], exact, atol=1e-5 if gamma > 1e-3 else 1e-2)
    assert_array_equal(embedding(X, quiet), F)
