"""Spline bases and the additive scorer against published formulas and quadrature."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from aucstudio.engine.features.splines import (
    AdditiveScorer,
    additive_scorer,
    basis,
    natural_splines,
)


def printed_splines(u, knots):
    """Return N_1 = u and N_{l+1} = d_l - d_{L-1} from truncated powers."""

    def d(k):
        cubes = np.maximum(u - k, 0) ** 3 - np.maximum(u - knots[-1], 0) ** 3
        return cubes / (knots[-1] - k)

    return np.array([u] + [d(k) - d(knots[-2]) for k in knots[:-2]])


@pytest.fixture
def x():
    return 5.0 + 2.0 * np.random.default_rng(0).standard_normal(200)


def second_derivative(function, u, h=1e-4):
    return (function(u + h) - 2 * function(u) + function(u - h)) / h**2


@pytest.mark.parametrize("knots", [[-1.0, 2.0], [0.0, 0.5, 2.0], [-2.0, -1.9, 0.3, 1.0, 4.0]])
def test_splines_match_the_published_formula(knots):
    knots = np.array(knots)
    u = np.linspace(-6, 8, 301)
    values = natural_splines(knots).pieces(knots, 1.0)(u)
    assert_allclose(values, printed_splines(u, knots), atol=1e-11)


def test_roughness_is_the_integral_of_second_derivatives():
    knots = np.array([-1.0, -0.7, 0.4, 1.5])
    splines = natural_splines(knots)
    omega = splines.roughness()
    for a in range(3):
        for b in range(3):
            # Between neighbouring knots the integrand is smooth.
            pieces = [
                quad(
                    lambda u, a=a, b=b: (
                        np.interp(u, knots, splines.bend[a]) * np.interp(u, knots, splines.bend[b])
                    ),
                    *ends,
                )[0]
                for ends in itertools.pairwise(knots)
            ]
            assert omega[a, b] == pytest.approx(sum(pieces), abs=1e-11)
    u = np.linspace(-0.99, 1.49, 37)
    measured = second_derivative(lambda u: printed_splines(u, knots), u)
    expected = [np.interp(u, knots, bend) for bend in splines.bend]
    assert_allclose(measured, expected, atol=1e-3)


def test_learners_are_standardised_and_linear_outside_the_range(x):
    made = basis(x)
    values = made.pieces(x)
    assert len(made) == 9
    assert_allclose(values.mean(axis=1), 0, atol=1e-12)
    assert_allclose(values.std(axis=1), 1, atol=1e-12)
    assert_allclose(values[0], (x - x.mean()) / x.std(), atol=1e-12)
    far = made.pieces(x.max() + np.array([1.0, 2.0, 3.0, -50.0, -51.0, -52.0]))
    assert_allclose(np.diff(far[:, :3], 2), 0, atol=1e-9)
    assert_allclose(np.diff(far[:, 3:], 2), 0, atol=1e-9)


def test_roughness_of_a_curve_matches_quadrature(x):
    made = basis(x, 6)
    w = np.random.default_rng(1).standard_normal(len(made))
    curve = made.pieces.combined(w)

    def squared_curvature(u):
        def at(u):
            return curve(np.array([x.mean() + u * x.std()]))[0, 0]

        return second_derivative(at, u, 1e-3) ** 2

    knots = (curve.breaks - x.mean()) / x.std()
    pieces = [quad(squared_curvature, a, b, epsrel=1e-8)[0] for a, b in itertools.pairwise(knots)]
    assert w @ made.roughness @ w == pytest.approx(sum(pieces), rel=1e-2)


def test_units_of_a_feature_do_not_change_the_basis(x):
    first, second = basis(x), basis(1e8 + 64 * np.round(x * 2**20) / 2**20)
    assert_allclose(first.roughness, second.roughness, rtol=1e-4)
    assert_allclose(
        first.pieces(x), second.pieces(1e8 + 64 * np.round(x * 2**20) / 2**20), atol=1e-5
    )


def test_repeated_values_do_not_change_the_learners(x):
    first, second = basis(x), basis(np.repeat(x, 3))
    assert_array_equal(first.pieces.breaks, second.pieces.breaks)
    assert_allclose(first.pieces(x), second.pieces(x), atol=1e-10)


def test_few_values_yield_centred_stumps():
    made = basis(np.array([1.0, 2.0, 2.0, 5.0, np.nan]))
    assert_array_equal(made.roughness, np.zeros((2, 2)))
    values = made.pieces(np.array([-9.0, 1.0, 1.5, 1.6, 3.5, 9.0, np.nan]))
    raw = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]])
    assert_allclose(values[:, :-1], raw - np.array([[0.75], [0.25]]), atol=1e-15)
    assert_array_equal(values[:, -1], 0)


@pytest.mark.parametrize("column", [[0.1] * 12, [np.nan] * 3, [np.nan, 4.0]])
def test_constant_feature_has_no_learner(column):
    made = basis(np.array(column))
    assert len(made) == 0
    assert made.pieces(np.zeros(5)).shape == (0, 5)


def test_tied_quantiles_yield_fewer_knots():
    column = np.r_[np.zeros(200), np.arange(1.0, 15.0)]
    made = basis(column)
    assert len(made) == 1
    assert_allclose(made.pieces(column)[0], (column - column.mean()) / column.std(), atol=1e-12)


def scorer(x):
    numbers, levels = basis(x), basis(np.round(x) % 3)
    weights = np.random.default_rng(2).standard_normal(len(numbers))
    functions = [numbers.pieces.combined(weights), levels.pieces.combined(np.array([1.0, -3.0]))]
    return additive_scorer([2, 0], functions), functions


def test_scores_are_sums_over_the_features(x):
    made, functions = scorer(x)
    X = np.random.default_rng(3).uniform(-5, 15, (50, 4))
    expected = functions[0](X[:, 2])[0] + functions[1](X[:, 0])[0]
    assert_allclose(made(X), expected, atol=1e-12)
    assert_allclose(made.component(2, X[:, 2]), functions[0](X[:, 2])[0], atol=1e-12)
    assert_array_equal(made.component(1, X[:, 1]), 0)


def test_missing_values_contribute_zero(x):
    made, _ = scorer(x)
    X = np.random.default_rng(3).uniform(-5, 15, (5, 3))
    gaps = X.copy()
    gaps[:, 0] = np.nan
    assert_allclose(made(gaps), made.component(2, X[:, 2]), atol=1e-12)
    assert_array_equal(made(np.full((2, 3), np.nan)), 0)


def test_inconsistent_arrays_are_refused(x):
    arrays = scorer(x)[0].arrays()
    for name in arrays:
        with pytest.raises(ValueError, match="additive model"):
            AdditiveScorer(**{**arrays, name: arrays[name][:-1]})
    with pytest.raises(ValueError, match="needs 3 features"):
        AdditiveScorer(**arrays)(np.zeros((2, 2)))
