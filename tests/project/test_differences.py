"""Planes, difference vectors and misranked pairs against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from aucstudio.engine.roc import auc
from aucstudio.project import differences
from aucstudio.project.differences import (
    COMPONENTS,
    FEATURES,
    PAIRS_AS_DOTS,
    SCORE,
    Sample,
    angle,
    carried,
    choose_plane,
    curved_plane,
    difference_histogram,
    ellipse,
    feature_plane,
    find_misranked,
    labelled_sample,
    mean_difference,
    pair_cloud,
    places_of,
    score_plane,
    strongest,
    thinned,
)
from aucstudio.project.prepare import Preparation, learn_preparation
from aucstudio.project.table import read_table


def make_sample(seed=0, rows=60, d=5, scores=True):
    rng = np.random.default_rng(seed)
    positive = np.arange(rows) % 3 == 0
    X = rng.normal(size=(rows, d)) @ rng.normal(size=(d, d)) + positive[:, None]
    weights = rng.normal(size=d)
    found = np.tanh(X @ weights) + 0.3 * X[:, 0] ** 2 if scores else None
    return Sample(X, positive, found, np.arange(rows)), weights


def all_differences(values, positive):
    return np.array([a - b for a in values[positive] for b in values[~positive]])


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


def test_component_plane_matches_the_singular_vectors():
    sample, _ = make_sample()
    vectors = np.linalg.svd(sample.X - sample.X.mean(axis=0))[2][:2]
    plane = choose_plane(sample, None, COMPONENTS, None, False)
    assert_allclose(np.abs(vectors @ plane.directions), np.eye(2), atol=1e-10)


@pytest.mark.parametrize("of_pairs", [True, False])
def test_curved_plane_is_the_score_and_what_is_uncorrelated_with_it(of_pairs):
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


def test_without_scores_or_weights_the_mean_difference_leads():
    sample, _ = make_sample(scores=False)
    delta = mean_difference(sample.X, sample.positive)
    for weights in (None, np.zeros(5)):
        plane = choose_plane(sample, weights, SCORE, None, True)
        assert_allclose(plane.directions[:, 0], delta / np.linalg.norm(delta))


def test_one_feature_and_constant_scores_give_flat_planes():
    sample, _ = make_sample(d=1)
    for kind in (SCORE, FEATURES, COMPONENTS):
        places = choose_plane(sample, np.ones(1), kind, None, True).place(sample)
        assert not places[:, 1].any()
    flat = Sample(sample.X, sample.positive, np.zeros(60), sample.numbers)
    assert not curved_plane(flat, True).place(flat)[:, 0].any()


def test_power_iteration_agrees_with_the_eigenvectors(monkeypatch):
    sample, weights = make_sample()
    exact = strongest(sample.X, weights / np.linalg.norm(weights))
    monkeypatch.setattr("aucstudio.project.planes._EXACT_FEATURES", 1)
    found = strongest(sample.X, weights / np.linalg.norm(weights))
    assert_allclose(found, exact, atol=1e-6)


def test_hyperplane_cuts_the_plane_where_its_normal_says():
    sample, weights = make_sample()
    other = np.array([1.0, 2.0, -1.0, 0.5, 3.0])
    plane = score_plane(sample, weights, of_pairs=True)
    normal = plane.normal(other)
    along = plane.directions @ np.array([-normal[1], normal[0]])
    assert abs(other @ along) < 1e-12
    assert feature_plane(5, 0, 1).normal(np.array([0.0, 0.0, 1.0, 0.0, 0.0])) is None


def test_decision_line_holds_the_other_features_at_their_means():
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
        ("a", "b"), np.zeros(2), np.array([1.0, 2.0]), np.array([3.0, 0.5]), ("t",), (("n", "s"),)
    )
    target = Preparation(
        ("c", "b", "a"),
        np.zeros(3),
        np.array([0.0, -1.0, 4.0]),
        np.array([1.0, 2.0, 0.1]),
        ("t",),
        (("s", "n"),),
    )
    weights = np.array([1.0, -2.0, 0.5, 0.25])
    moved, b = carried(weights, 0.3, source, target)
    raw = {"a": 5.0, "b": 7.0, "c": 9.0}
    ours = np.array([(5.0 - 1.0) / 3.0, (7.0 - 2.0) / 0.5, 1.0, 0.0])
    theirs = np.array([raw["c"], (7.0 + 1.0) / 2.0, (5.0 - 4.0) / 0.1, 0.0, 1.0])
    assert_allclose(moved @ theirs + b, weights @ ours + 0.3)
    assert carried(np.array([1.0, 0.0, 0.0, 0.0, 0.0]), 0.0, target, source) is None
    assert carried(np.array([0.0, 1.0, 0.0, 0.0, 0.0]), 0.0, target, source) is not None


def test_angles():
    assert angle(np.array([1.0, 0.0]), np.array([0.0, 2.0])) == pytest.approx(90.0)
    assert angle(np.array([1.0, 0.0]), np.array([-3.0, 0.0])) == pytest.approx(180.0)
    tiny = np.array([1.0, 1e-9])
    assert angle(np.array([1e-200, 0.0]), tiny) == pytest.approx(np.degrees(1e-9))
    assert np.isnan(angle(np.zeros(2), tiny))


# ------------------------------------------------------------------------ pairs


@given(
    st.lists(st.tuples(st.booleans(), st.integers(-4, 4)), min_size=2, max_size=30).filter(
        lambda rows: len({label for label, _ in rows}) == 2
    )
)
def test_misranked_pairs_match_brute_force(rows):
    positive = np.array([label for label, _ in rows])
    scores = np.array([score for _, score in rows], dtype=float)
    found = find_misranked(positive, scores)
    pairs = [(i, j) for i in np.flatnonzero(positive) for j in np.flatnonzero(~positive)]
    assert found.wrong == sum(scores[i] < scores[j] for i, j in pairs)
    assert found.tied == sum(scores[i] == scores[j] for i, j in pairs)
    assert found.pairs == len(pairs)
    assert found.share == pytest.approx(1.0 - auc(positive, scores))
    listed = set(zip(*found.rows.tolist(), strict=True))
    assert listed == {(i, j) for i, j in pairs if scores[i] <= scores[j]}


def test_long_lists_of_misranked_pairs_are_thinned_and_all_wrong():
    rng = np.random.default_rng(1)
    positive, scores = rng.random(400) < 0.4, rng.normal(size=400)
    found = find_misranked(positive, scores, limit=500)
    assert found.rows.shape == (2, 500)
    assert len(set(zip(*found.rows.tolist(), strict=True))) == 500
    assert positive[found.rows[0]].all()
    assert not positive[found.rows[1]].any()
    assert (scores[found.rows[0]] <= scores[found.rows[1]]).all()


def test_few_pairs_are_dots_and_one_more_is_a_density():
    rng = np.random.default_rng(2)
    places = rng.normal(size=(PAIRS_AS_DOTS + 2, 2))
    few = pair_cloud(places[:-1], np.arange(PAIRS_AS_DOTS + 1) == 0)
    assert few.counts is None
    assert_allclose(few.dots, all_differences(places[:-1], np.arange(PAIRS_AS_DOTS + 1) == 0))
    many = pair_cloud(places, np.arange(PAIRS_AS_DOTS + 2) == 0)
    assert many.dots is None
    assert many.counts.sum() == many.pairs == many.counted == PAIRS_AS_DOTS + 1


def test_cloud_has_the_mean_covariance_and_corners_of_all_pairs():
    sample, weights = make_sample(rows=90)
    places = score_plane(sample, weights, True).place(sample)
    z, cloud = all_differences(places, sample.positive), pair_cloud(places, sample.positive)
    assert_allclose(cloud.delta, z.mean(axis=0))
    assert_allclose(cloud.covariance, np.cov(z.T, bias=True))
    assert_allclose(np.stack([cloud.low, cloud.high]), [z.min(axis=0), z.max(axis=0)])
    rows = np.array([[0, 3], [1, 2]])
    assert_allclose(cloud.differences(rows), [places[0] - places[1], places[3] - places[2]])


@pytest.mark.parametrize("chunk", [1, 1000, 1 << 17])
def test_histogram_is_that_of_all_pairs(monkeypatch, chunk):
    monkeypatch.setattr(differences, "_PAIRS_PER_CHUNK", chunk)
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(40, 2)), rng.normal(size=(70, 2))
    z = (a[:, None] - b[None]).reshape(-1, 2)
    low, high = z.min(axis=0), z.max(axis=0)
    expected = np.histogram2d(*z.T, bins=9, range=np.stack([low, high], axis=1))[0]
    assert_array_equal(difference_histogram(a, b, low, high, 9), expected)


def test_histogram_of_a_flat_cloud_keeps_every_pair():
    places = np.zeros((200, 2))
    places[:, 0] = np.arange(200)
    cloud = pair_cloud(places, np.arange(200) < 100)
    assert cloud.counts.sum() == 10_000


def test_beyond_the_limit_an_even_sample_is_counted(monkeypatch):
    monkeypatch.setattr(differences, "PAIRS_COUNTED", 10_000)
    places = np.random.default_rng(4).normal(size=(2020, 2))
    cloud = pair_cloud(places, np.arange(2020) < 20)
    assert cloud.pairs == 40_000
    assert cloud.counted == cloud.counts.sum() == 10_000
    both = pair_cloud(places, np.arange(2020) < 1000)
    assert 9_000 <= both.counted <= 10_000


def test_ellipse_lies_at_its_distance():
    covariance, centre = np.array([[4.0, 1.5], [1.5, 1.0]]), np.array([3.0, -2.0])
    trace = ellipse(centre, covariance, 2.0)
    away = trace - centre
    assert_allclose(np.einsum("ij,ij->i", away @ np.linalg.inv(covariance), away), 4.0)
    assert_allclose(trace[0], trace[-1], atol=1e-12)
    assert_allclose(away[:-1].T @ away[:-1] / (len(trace) - 1), 2.0 * covariance)


def test_places_of_row_numbers():
    sample, _ = make_sample(rows=4)
    shuffled = Sample(sample.X, sample.positive, None, np.array([40, 10, 30, 20]))
    found = places_of(shuffled, np.array([[10, 40, 10], [20, 30, 99]]))
    assert_array_equal(found, [[1, 0], [3, 2]])
    assert places_of(shuffled, np.empty((2, 0), dtype=np.int64)).shape == (2, 0)


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
