import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import roc_auc_score
from sklearn.metrics import roc_curve as peer_roc_curve

from aucstudio.engine import roc
from tests.engine.oracles import rank_pauc

# Scores x1 + x2 of the small worked example: four positives, six negatives.
EXAMPLE_Y = np.array([1] * 4 + [0] * 6)
EXAMPLE = np.array([3.0, 4.0, 5.0, 2.0, 0.0, 2.0, 2.0, 0.0, 0.0, 3.0])
BANDS = [(0.0, 1.0), (0.0, 0.25), (0.1, 0.4), (0.3, 1.0), (0.05, 0.06)]

tables = st.lists(st.tuples(st.booleans(), st.integers(-6, 6)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def columns(rows):
    return np.array([row[0] for row in rows]), np.array([float(row[1]) for row in rows])


def random_table(seed, size=60, levels=None, share=0.4):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < share
    y[:2] = True, False
    score = rng.normal(size=size) + y
    return y, np.round(score * levels) if levels else score


def brute_auc(y, score):
    difference = score[y][:, None] - score[~y][None, :]
    return Fraction(int(2 * (difference > 0).sum() + (difference == 0).sum()), 2 * difference.size)


def exact_area(y, score, alpha, beta):
    """Return the trapezoid area over the band as a fraction, edge by edge."""
    m, n = int(y.sum()), int((~y).sum())
    alpha, beta = Fraction(alpha), Fraction(beta)
    x0 = y0 = total = Fraction(0)
    for cut in np.unique(score)[::-1]:
        x1 = Fraction(int((score[~y] >= cut).sum()), n)
        y1 = Fraction(int((score[y] >= cut).sum()), m)
        left, right = max(x0, alpha), min(x1, beta)
        if left < right:
            slope = (y1 - y0) / (x1 - x0)
            heights = y0 + slope * (left - x0), y0 + slope * (right - x0)
            total += (right - left) * sum(heights) / 2
        x0, y0 = x1, y1
    return float(total)


def brute_rank_pauc(y, score, alpha, beta):
    negatives = sorted(score[~y], reverse=True)
    n, total = len(negatives), 0.0
    for j, t in enumerate(negatives, start=1):
        g = max(0.0, min(j, n * beta) - max(j - 1, n * alpha))
        total += g * sum(1.0 if s > t else 0.5 if s == t else 0.0 for s in score[y])
    return total / (y.sum() * n * (beta - alpha))


# --- the whole area


@pytest.mark.parametrize("levels", [None, 1, 4])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_auc_is_the_share_of_ordered_pairs(levels, share):
    y, score = random_table(1, levels=levels, share=share)
    assert roc.auc(y, score) == float(brute_auc(y, score))
    assert roc.auc(y, score) == pytest.approx(roc_auc_score(y, score), abs=1e-14)
    assert roc.auc_of(roc.roc_curve(y, score)) == roc.auc(y, score)


@settings(deadline=None)
@given(tables)
def test_auc_and_curve_agree_with_all_pairs(rows):
    y, score = columns(rows)
    assert roc.auc(y, score) == float(brute_auc(y, score))
    assert roc.auc_of(roc.roc_curve(y, score)) == roc.auc(y, score)


@pytest.mark.slow
@settings(deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_auc_under_swapped_labels_and_permuted_rows(rows, chance):
    y, score = columns(rows)
    assert roc.auc(~y, -score) == roc.auc(y, score)
    assert roc.auc(~y, score) == pytest.approx(1 - roc.auc(y, score), abs=1e-15)
    chance.shuffle(rows)
    assert roc.auc(*columns(rows)) == roc.auc(y, score)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, int, bool])
def test_any_numeric_dtype_is_accepted(dtype):
    y = np.array([0, 1, 0, 1, 1])
    score = np.array([0, 1, 0, 0, 1], dtype=dtype)
    assert roc.auc(y, score) == pytest.approx(5 / 6)
    assert roc.partial_auc(y, score, 0, 1).raw == pytest.approx(5 / 6)


@pytest.mark.slow
def test_ten_million_scores_against_a_histogram_count():
    rng = np.random.default_rng(5)
    size, levels = 10_000_000, 3_000_000
    y = rng.random(size) < 0.4
    grade = rng.integers(0, levels, size) + y * (levels // 4)
    per_grade = levels + levels // 4
    pos = np.bincount(grade[y], minlength=per_grade)
    neg = np.bincount(grade[~y], minlength=per_grade)
    doubled = int((pos * (2 * (np.cumsum(neg) - neg) + neg)).sum())
    assert roc.auc(y, grade / levels) == doubled / (2 * int(pos.sum()) * int(neg.sum()))


# --- labels and bad input


def test_positive_class_is_the_larger_label_unless_named():
    score = [1.0, 2.0, 3.0]
    expected = roc.auc(np.array([False, True, True]), score)
    assert roc.auc(["no", "yes", "yes"], score) == expected
    assert roc.auc([-1, 1, 1], score) == expected
    assert roc.auc([1.5, 2.5, 2.5], score, positive=2.5) == expected
    assert roc.auc(["m", "b", "b"], score, positive="b") == expected
    assert roc.auc([True, False, False], score, positive=False) == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_must_be_finite(bad):
    with pytest.raises(ValueError, match="NaN or infinite"):
        roc.auc([0, 1, 1], [0.1, bad, 0.2])


@pytest.mark.parametrize(
    ("y", "score", "sentence"),
    [
        ([0, 1, 1], [0.1, 0.2], "equal length"),
        ([[0, 1]], [[0.1, 0.2]], "two columns"),
        ([1, 1], [0.1, 0.2], "one class only"),
        ([True, True], [0.1, 0.2], "one class only"),
        (["a", "a"], [0.1, 0.2], "one class only"),
        ([0, 1, 2], [0.1, 0.2, 0.3], "exactly two"),
        ([0.0, 1.0, np.nan], [0.1, 0.2, 0.3], "exactly two"),
        ([], [], "empty"),
    ],
)
def test_invalid_tables_are_refused(y, score, sentence):
    for measure in (roc.auc, roc.roc_curve, roc.partial_auc):
        with pytest.raises(ValueError, match=sentence):
            measure(y, score)


@pytest.mark.parametrize("label", [2, "yes"])
def test_unknown_positive_label_is_refused(label):
    with pytest.raises(ValueError, match="does not occur"):
        roc.auc([0, 1], [0.1, 0.2], positive=label)


@pytest.mark.parametrize("band", [(-0.1, 0.5), (0.5, 0.5), (0.6, 0.5), (0.0, 1.1), (np.nan, 1)])
def test_invalid_bands_are_refused(band):
    for measure in (roc.partial_auc,):
        with pytest.raises(ValueError, match="alpha < beta"):
            measure(EXAMPLE_Y, EXAMPLE, *band)


# --- curves


@pytest.mark.parametrize("levels", [None, 1, 4])
def test_curve_has_the_vertices_of_scikit_learn(levels):
    y, score = random_table(2, levels=levels)
    curve = roc.roc_curve(y, score)
    fpr, tpr, thresholds = peer_roc_curve(y, score, drop_intermediate=False)
    np.testing.assert_array_equal(curve.fpr, fpr)
    np.testing.assert_array_equal(curve.tpr, tpr)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    assert (curve.positives, curve.negatives) == (y.sum(), (~y).sum())


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_each_vertex_has_the_rates_of_its_threshold(rows):
    y, score = columns(rows)
    curve = roc.roc_curve(y, score)
    chosen = score[None, :] >= curve.thresholds[:, None]
    np.testing.assert_array_equal(curve.tp, (chosen & y).sum(axis=1))
    np.testing.assert_array_equal(curve.fp, (chosen & ~y).sum(axis=1))


@settings(deadline=None)
@given(tables)
def test_corners_describe_the_same_curve_with_fewest_points(rows):
    curve = roc.roc_curve(*columns(rows))
    corners = curve.corners()
    grid = np.linspace(0, 1, 37)
    np.testing.assert_allclose(roc.tpr_at(corners, grid), roc.tpr_at(curve, grid), atol=1e-14)
    assert roc.auc_of(corners) == roc.auc_of(curve)
    angles = np.arctan2(np.diff(corners.tp), np.diff(corners.fp))
    assert (np.diff(angles) != 0).all()


def test_interpolation_takes_the_upper_end_of_vertical_segments():
    curve = roc.roc_curve([1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 2.0])
    assert curve.tpr.tolist() == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 1])
    measured = roc.tpr_at(curve, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(measured, [1 / 3, 1 / 3, 2 / 3, 5 / 6, 1])
    assert roc.tpr_at(curve, 0.0).shape == ()
    with pytest.raises(ValueError, match="within"):
        roc.tpr_at(curve, [0.5, 1.5])


def test_interpolation_by_tpr_takes_the_left_end_of_horizontal_segments():
    curve = roc.roc_curve([1, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 2.0])
    np.testing.assert_allclose(roc.fpr_at(curve, [0, 1 / 3, 0.5, 5 / 6, 1]), [0, 0, 0.5, 0.75, 1])
    ten = roc.roc_curve(np.arange(20) % 2 == 0, np.arange(20.0))
    np.testing.assert_array_equal(roc.fpr_at(ten, ten.tpr[1::2]), ten.fpr[:-1:2])
    with pytest.raises(ValueError, match="tpr must lie within"):
        roc.fpr_at(curve, 1.5)


# --- partial areas


@pytest.mark.slow
@settings(deadline=None)
@given(tables, st.integers(0, 11), st.integers(1, 12))
def test_partial_area_is_exact_for_any_table(rows, start, width):
    y, score = columns(rows)
    alpha, beta = start / 12, min(1.0, (start + width) / 12)
    expected = exact_area(y, score, alpha, beta)
    assert roc.partial_auc(y, score, alpha, beta).raw == pytest.approx(expected, abs=1e-14)


def test_whole_band_is_the_auc():
    y, score = random_table(4, size=501)
    area = roc.partial_auc(y, score)
    assert area.raw == area.normalized == roc.auc(y, score)
    assert area.mcclish == pytest.approx(area.raw, abs=1e-15)
    assert area.chance == 0.5
    assert area.negatives == (~y).sum()


def test_mcclish_below_the_diagonal_is_kept():
    area = roc.partial_auc([1, 1, 0, 0], [1.0, 2.0, 3.0, 4.0], 0.0, 0.5)
    assert area.raw == 0
    assert area.mcclish == pytest.approx((1 - 0.125 / 0.375) / 2)


@pytest.mark.parametrize(
    ("n", "alpha", "beta", "expected"),
    [
        (100, 0, 0.07, 7),
        (100, 0, 0.29, 29),
        (100, 0.07, 0.29, 22),
        (100, 0.29, 1, 71),
        (10, 0.05, 0.12, 2),
        (10, 0.12, 0.17, 1),
        (6, 0, 0.25, 2),
        (1, 0.2, 0.3, 1),
        (10**6, 0.1 + 0.2, 0.7, 4 * 10**5),
        (3, 0.5, 0.5 + 1e-15, 1),
        (3450, 0, 0.001, 4),
        (999, 0, 0.001, 1),
        (990, 0, 0.001, 1),
        (123456, 0.5, 1, 61_728),
        (250, 0.02, 0.2, 45),
    ],
)
def test_number_of_negatives_in_the_range(n, alpha, beta, expected):
    first, last = roc.band_ranks(n, alpha, beta)
    assert last - first + 1 == expected
    weights = roc.rank_weights(n, alpha, beta)
    assert (weights > 1e-12 * n).sum() in (expected, 0)
    assert weights.sum() == pytest.approx(n * (beta - alpha), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("levels", [None, 1])
def test_rank_weighted_area_follows_its_definition(levels, band):
    y, score = random_table(6, levels=levels)
    expected = brute_rank_pauc(y, score, *band)
    assert rank_pauc(y, score, *band) == pytest.approx(expected, abs=1e-13)


def test_band_inside_one_rank_interval():
    # One positive between the two best of ten negatives.
    y = np.array([True] + [False] * 10)
    score = np.array([9.5, *range(10, 0, -1)])
    assert rank_pauc(y, score, 0.05, 0.12) == pytest.approx(2 / 7)


# --- hull


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_hull_equals_isotonic_regression(rows):
    y, score = columns(rows)
    values, group = np.unique(score, return_inverse=True)
    weight = np.bincount(group).astype(float)
    share = np.bincount(group, weights=y) / weight
    calibrated = np.round(isotonic_regression(share, sample_weight=weight), 9)
    expected = roc.roc_curve(y, calibrated[group]).corners()
    found = roc.hull(roc.roc_curve(y, score))
    np.testing.assert_array_equal(found.fp, expected.fp)
    np.testing.assert_array_equal(found.tp, expected.tp)
    assert set(found.thresholds[1:]) <= set(values)


# --- averages


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(tables, min_size=1, max_size=4))
def test_mean_curve_has_the_mean_area(several):
    curves = [roc.roc_curve(*columns(rows)) for rows in several]
    fpr, tpr, spread = roc.vertical_average(curves)
    area = ((fpr[1:] - fpr[:-1]) * (tpr[1:] + tpr[:-1]) / 2).sum()
    assert area == pytest.approx(np.mean([roc.auc_of(curve) for curve in curves]), abs=1e-12)
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert spread.shape == fpr.shape


def test_average_keeps_jumps_and_takes_a_grid():
    high = roc.roc_curve([1, 1, 0], [3.0, 2.0, 1.0])
    flat = roc.roc_curve([1, 1, 0], [1.0, 1.0, 1.0])
    fpr, tpr, spread = roc.vertical_average([high, flat])
    np.testing.assert_allclose(fpr, [0, 0, 1])
    np.testing.assert_allclose(tpr, [0, 0.5, 1])
    np.testing.assert_allclose(spread, [0, math.sqrt(0.5), 0], atol=1e-15)
    fpr, tpr, spread = roc.vertical_average([high, flat], [0.0, 0.5])
    np.testing.assert_allclose(tpr, [0.5, 0.75])
    np.testing.assert_allclose(spread, [math.sqrt(0.5), math.sqrt(0.125)])


# --- thresholds


def rates(y, score, t):
    return (score[~y] > t).mean(), (score[y] > t).mean()


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.floats(0, 1))
def test_fpr_threshold_keeps_its_target_and_is_lowest(negatives, beta):
    scores = np.array(negatives, dtype=float)
    t = roc.fpr_threshold(scores, beta)
    assert math.isfinite(t)
    assert (scores > t).mean() <= beta + 1e-12
    lower = [value for value in scores if value < t]
    if lower:
        assert (scores > max(lower)).mean() > beta


def test_fpr_threshold_is_robust_to_rounding():
    assert roc.fpr_threshold(np.arange(100.0), 0.29) == 70.0
    assert roc.fpr_threshold([3.0, 1.0], 0.0) == 3.0
    assert roc.fpr_threshold([3.0, 1.0], 1.0) < 1.0


@pytest.mark.parametrize(("scores", "beta"), [([], 0.1), ([np.nan], 0.1), ([1.0], -1), ([1.0], 2)])
def test_fpr_threshold_refuses_invalid_input(scores, beta):
    with pytest.raises(ValueError, match="must"):
        roc.fpr_threshold(scores, beta)


@pytest.mark.slow
@settings(deadline=None)
@given(tables, st.floats(0.01, 100), st.floats(0.01, 0.99))
def test_cost_threshold_has_the_least_cost(rows, ratio, prior):
    y, score = columns(rows)
    curve = roc.roc_curve(y, score)

    def cost(t):
        fpr, tpr = rates(y, score, t)
        return ratio * (1 - prior) * fpr + prior * (1 - tpr)

    t = roc.cost_threshold(curve, ratio, 1.0, prior)
    least = min(cost(cut) for cut in np.append(np.unique(score), score.min() - 1))
    assert math.isfinite(t)
    assert cost(t) == pytest.approx(least, rel=1e-12)
    cover = roc.hull(curve)
    on_hull = ratio * (1 - prior) * cover.fpr + prior * (1 - cover.tpr)
    assert on_hull.min() == pytest.approx(least, rel=1e-12)


def test_cost_threshold_at_the_extremes_and_by_default():
    y, score = np.array([1, 0, 1, 0], dtype=bool), np.array([4.0, 3.0, 2.0, 1.0])
    curve = roc.roc_curve(y, score)
    assert rates(y, score, roc.cost_threshold(curve, 1.0, 100.0)) == (0.5, 1)
    assert rates(y, score, roc.cost_threshold(curve, 100.0, 1.0)) == (0, 0.5)
    worst = roc.roc_curve(~y, np.array([4.0, 4.0, 2.0, 2.0]))
    assert rates(~y, np.array([4.0, 4.0, 2.0, 2.0]), roc.cost_threshold(worst, 9, 1)) == (0, 0)
    assert roc.cost_threshold(worst, 1, 9) < 2.0


@pytest.mark.parametrize(
    "setting", [(0, 1, 0.5), (1, -1, 0.5), (1, 1, 0), (1, 1, 1), (1, np.nan, 0.5)]
)
def test_cost_threshold_refuses_invalid_settings(setting):
    with pytest.raises(ValueError, match="Costs must be positive"):
        roc.cost_threshold(roc.roc_curve(EXAMPLE_Y, EXAMPLE), *setting)
