"""Planes, directions and samples of rows against brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.scorers import FourierScorer, KernelScorer, LinearScorer
from aucstudio.project.data.preparing.preparation import Preparation, learn_preparation
from aucstudio.project.data.table import read_table
from aucstudio.project.geometry.planes import (
    COMPONENTS,
    FEATURES,
    SCORE,
    Sample,
    across_score,
    angle,
    carried,
    choose_plane,
    curved_plane,
    feature_plane,
    labelled_sample,
    mean_difference,
    score_plane,
    strongest,
    thinned,
)
from tests.conftest import write_file
from tests.project.test_differences import all_differences, make_sample

# ------------------------------------------------------------------------ planes


@pytest.mark.parametrize("of_pairs", [True, False])
@pytest.mark.parametrize("kind", [SCORE, FEATURES, COMPONENTS])
def test_planes_are_orthonormal(kind, of_pairs):
    sample, weights = make_sample()
    plane = choose_plane(sample, weights, kind, None, of_pairs)
    assert_allclose(plane.directions.T @ plane.directions, np.eye(2), atol=1e-12)
    assert plane.is_straight
    assert_allclose(plane.place(sample), sample.X @ plane.directions)


def test_score_plane_shows_the_strongest_spread_across_w():
    sample, weights = make_sample()
    plane = score_plane(sample, weights, of_pairs=True)
    z = all_differences(sample.X, sample.positive)
    unit = weights / np.linalg.norm(weights)
    across = z - np.outer(z @ unit, unit)
    leading = np.linalg.eigh(across.T @ across)[1][:, -1]
    assert_allclose(plane.directions[:, 0], unit)
    assert_allclose(abs(plane.directions[:, 1] @ leading), 1.0)


def test_score_plane_of_rows_uses_their_covariance():
    sample, weights = make_sample()
    unit = weights / np.linalg.norm(weights)
    P = np.eye(5) - np.outer(unit, unit)
    leading = np.linalg.eigh(P @ np.cov(sample.X.T) @ P)[1][:, -1]
    found = score_plane(sample, weights, of_pairs=False).directions[:, 1]
    assert_allclose(abs(found @ leading), 1.0)


@pytest.mark.parametrize("of_pairs", [True, False])
def test_component_plane_has_the_principal_directions(of_pairs):
    sample, _ = make_sample()
    rows = all_differences(sample.X, sample.positive) if of_pairs else sample.X
    leading = np.linalg.svd(rows - rows.mean(axis=0))[2][:2]
    plane = choose_plane(sample, None, COMPONENTS, None, of_pairs)
    assert_allclose(np.abs(leading @ plane.directions), np.eye(2), atol=1e-10)


@pytest.mark.parametrize("of_pairs", [True, False])
def test_curved_plane_has_the_score_and_an_uncorrelated_axis(of_pairs):
    sample, _ = make_sample()
    plane = curved_plane(sample, of_pairs)
    places = plane.place(sample)
    assert_allclose(places[:, 0], sample.scores)
    seen = all_differences(places, sample.positive) if of_pairs else places
    assert abs(np.corrcoef(seen.T)[0, 1]) < 1e-10
    assert not plane.is_straight
    assert plane.normal(np.ones(5)) is None


def test_curved_plane_shows_the_strongest_residual():
    sample, _ = make_sample()
    z = all_differences(sample.X, sample.positive)
    s = all_differences(sample.scores, sample.positive)
    z, s = z - z.mean(axis=0), s - s.mean()
    residual = z - np.outer(s, s @ z / (s @ s))
    leading = np.linalg.eigh(residual.T @ residual)[1][:, -1]
    assert_allclose(abs(curved_plane(sample, True).directions[:, 1] @ leading), 1.0)


def test_two_features_default_to_the_largest_weights():
    sample, _ = make_sample()
    plane = choose_plane(sample, np.array([0.1, -3.0, 0.0, 2.0, 1.0]), FEATURES, None, True)
    assert plane.features == (1, 3)
    assert_array_equal(plane.place(sample), sample.X[:, [1, 3]])
    delta = np.abs(mean_difference(sample.X, sample.positive))
    assert set(choose_plane(sample, None, FEATURES, None, True).features) == set(
        np.argsort(delta)[-2:]
    )
    assert choose_plane(sample, None, FEATURES, (4, 0), True).features == (4, 0)


def test_default_plane_uses_the_mean_difference():
    sample, _ = make_sample(scores=False)
    delta = mean_difference(sample.X, sample.positive)
    for weights in (None, np.zeros(5)):
        plane = choose_plane(sample, weights, SCORE, None, True)
        assert_allclose(plane.directions[:, 0], delta / np.linalg.norm(delta))


def test_one_feature_and_constant_scores_yield_flat_planes():
    sample, _ = make_sample(d=1)
    for kind in (SCORE, FEATURES, COMPONENTS):
        places = choose_plane(sample, np.ones(1), kind, None, True).place(sample)
        assert not places[:, 1].any()
    flat = Sample(sample.X, sample.positive, np.zeros(60), sample.numbers)
    assert not curved_plane(flat, True).place(flat)[:, 0].any()


def test_power_iteration_agrees_with_the_eigenvectors(monkeypatch):
    sample, weights = make_sample()
    exact = strongest(sample.X, weights / np.linalg.norm(weights))
    monkeypatch.setattr("aucstudio.project.geometry.planes.EXACT_FEATURES", 1)
    found = strongest(sample.X, weights / np.linalg.norm(weights))
    assert_allclose(found, exact, atol=1e-6)


def test_plane_normal_matches_the_hyperplane():
    sample, weights = make_sample()
    other = np.array([1.0, 2.0, -1.0, 0.5, 3.0])
    plane = score_plane(sample, weights, of_pairs=True)
    normal = plane.normal(other)
    along = plane.directions @ np.array([-normal[1], normal[0]])
    assert abs(other @ along) < 1e-12
    assert feature_plane(5, 0, 1).normal(np.array([0.0, 0.0, 1.0, 0.0, 0.0])) is None


def test_decision_line_fixes_other_features_at_their_means():
    sample, weights = make_sample()
    plane, mean = feature_plane(5, 1, 3), sample.X.mean(axis=0)
    normal, level = plane.normal(weights), plane.level(weights, 0.7, mean)
    point = mean.copy()
    point[1] = 0.4
    point[3] = (level - normal[0] * 0.4) / normal[1]
    assert_allclose(weights @ point + 0.7, 0.0, atol=1e-12)


# ------------------------------------------------------------------------ directions


def test_carried_function_has_the_same_values():
    source = Preparation(
        numbers=("a", "b"),
        categories=("t",),
        levels=(("n", "s"),),
        medians=np.zeros(2),
        means=np.array([1.0, 2.0]),
        scales=np.array([3.0, 0.5]),
    )
    target = Preparation(
        numbers=("c", "b", "a"),
        categories=("t",),
        levels=(("s", "n"),),
        medians=np.zeros(3),
        means=np.array([0.0, -1.0, 4.0]),
        scales=np.array([1.0, 2.0, 0.1]),
    )
    weights = np.array([1.0, -2.0, 0.5, 0.25])
    moved, b = carried(weights, 0.3, source, target)
    raw = {"a": 5.0, "b": 7.0, "c": 9.0}
    ours = np.array([(5.0 - 1.0) / 3.0, (7.0 - 2.0) / 0.5, 1.0, 0.0])
    theirs = np.array([raw["c"], (7.0 + 1.0) / 2.0, (5.0 - 4.0) / 0.1, 0.0, 1.0])
    assert_allclose(moved @ theirs + b, weights @ ours + 0.3)
    assert carried(np.array([1.0, 0.0, 0.0, 0.0, 0.0]), 0.0, target, source) is None
    assert carried(np.array([0.0, 1.0, 0.0, 0.0, 0.0]), 0.0, target, source) is not None


def test_angles_are_in_degrees():
    assert angle(np.array([1.0, 0.0]), np.array([0.0, 2.0])) == pytest.approx(90.0)
    assert angle(np.array([1.0, 0.0]), np.array([-3.0, 0.0])) == pytest.approx(180.0)
    tiny = np.array([1.0, 1e-9])
    assert angle(np.array([1e-200, 0.0]), tiny) == pytest.approx(np.degrees(1e-9))
    assert np.isnan(angle(np.zeros(2), tiny))


# ------------------------------------------------------------------------ kernels


def kernel_scorer(sample, seed=5):
    rng = np.random.default_rng(seed)
    return KernelScorer(Kernel("rbf", 0.1), sample.X, rng.normal(size=len(sample.X)))


def test_axis_across_a_kernel_score_is_the_leading_one():
    """Use the Gram matrix of all pairs, with the score direction projected out."""
    sample, _ = make_sample(rows=30)
    scorer = kernel_scorer(sample)
    K, c = scorer.kernel(sample.X, sample.X), scorer.weights
    pairs = [
        (i, j) for i in np.flatnonzero(sample.positive) for j in np.flatnonzero(~sample.positive)
    ]
    A = np.zeros((len(pairs), len(K)))
    for row, (i, j) in enumerate(pairs):
        A[row, [i, j]] = 1.0, -1.0
    along = K @ c / np.sqrt(c @ K @ c)
    gram = A @ K @ A.T - np.outer(A @ along, A @ along)
    values, vectors = np.linalg.eigh(gram)
    expected = np.sqrt(values[-1]) * vectors[:, -1]
    found = across_score(sample, scorer, of_pairs=True)
    seen = all_differences(found(sample.X), sample.positive)
    assert_allclose(seen * np.sign(seen @ expected), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("of_pairs", [True, False])
def test_axis_across_the_score_is_orthonormal(of_pairs):
    sample, _ = make_sample(rows=45)
    scorer = kernel_scorer(sample)
    K = scorer.kernel(sample.X, sample.X)
    found = across_score(sample, scorer, of_pairs)
    where = np.argmax((found.points[:, None] == sample.X[None]).all(axis=2), axis=1)
    assert_allclose(found.weights @ K[where] @ scorer.weights, 0.0, atol=1e-6)
    assert_allclose(found.weights @ K[np.ix_(where, where)] @ found.weights, 1.0)


def test_plane_of_a_kernel_score_uses_the_axis_across():
    sample, _ = make_sample(rows=40)
    scorer = kernel_scorer(sample)
    plane = choose_plane(sample, None, SCORE, None, True, scorer)
    places = plane.place(sample)
    assert_allclose(places[:, 0], sample.scores)
    assert_allclose(places[:, 1], across_score(sample, scorer, True)(sample.X))
    assert not plane.is_straight


def test_axis_across_a_fourier_score_uses_its_features():
    sample, _ = make_sample()
    rng = np.random.default_rng(6)
    scorer = FourierScorer(rng.normal(size=(8, 5)), rng.normal(size=8), rng.normal(size=8))
    features = np.cos(sample.X @ scorer.frequencies.T + scorer.phases)
    z = all_differences(features, sample.positive)
    w = scorer.weights / np.linalg.norm(scorer.weights)
    z -= np.outer(z @ w, w)
    leading = np.linalg.eigh(z.T @ z)[1][:, -1]
    assert_allclose(abs(across_score(sample, scorer, True).weights @ leading), 1.0)


def test_other_scorers_have_no_axis_across():
    sample, weights = make_sample()
    assert across_score(sample, LinearScorer(weights), True) is None
    same = Sample(np.zeros((6, 2)), np.arange(6) < 3, np.zeros(6), np.arange(6))
    assert across_score(same, KernelScorer(Kernel("rbf", 1.0), same.X, np.ones(6)), True) is None


# ------------------------------------------------------------------------ rows


def test_thinning_keeps_the_proportion_and_the_rare_class():
    positive = np.arange(1000) % 4 == 0
    kept = thinned(positive, 200)
    assert len(np.unique(kept)) == 200
    assert positive[kept].sum() == 50
    rare = np.arange(1000) < 3
    assert rare[thinned(rare, 100)].sum() == 3
    assert_array_equal(thinned(rare, 1000), np.arange(1000))


def test_labelled_sample_prepares_rows_of_both_classes(table_file):
    table = read_table(table_file)
    preparation = learn_preparation(table, np.arange(table.rows))
    sample = labelled_sample(table, preparation, limit=50)
    assert len(sample.X) == 50
    assert sample.scores is None
    assert_array_equal(sample.positive, table.is_positive()[sample.numbers])
    assert_array_equal(sample.X, preparation.apply(table, sample.numbers))


def test_missing_values_are_placed_at_the_training_median(tmp_path):
    path = write_file(tmp_path / "gaps.csv", "a,b,y\n1,5,p\n,7,n\n3,9,p\n8,,n\n2,1,n\n")
    table = read_table(path, label="y", positive="p")
    rows = np.arange(5)
    kept = labelled_sample(table, learn_preparation(table, rows, keep_gaps=True))
    filled = labelled_sample(table, learn_preparation(table, rows))
    assert kept.gaps == 2
    assert filled.gaps == 0
    assert_allclose(kept.X, filled.X)
