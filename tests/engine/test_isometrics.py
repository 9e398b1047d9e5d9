import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score

from aucstudio.engine import roc

MEASURES = [roc.accuracy, roc.precision, roc.f_measure, roc.weighted_relative_accuracy]
rates = st.floats(0, 1)
skews = st.floats(0.05, 20)


def weighted_relative_accuracy_score(y, predicted):
    """Return four times P(positive and predicted) - P(positive) P(predicted)."""
    return 4 * ((y & predicted).mean() - y.mean() * predicted.mean())


PEERS = [accuracy_score, precision_score, f1_score, weighted_relative_accuracy_score]


@pytest.mark.parametrize(("measure", "peer"), [*zip(MEASURES, PEERS, strict=True)])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_measures_match_the_confusion_matrix(measure, peer, share):
    rng = np.random.default_rng(3)
    y = rng.random(100) < share
    for _ in range(5):
        predicted = rng.random(100) < 0.3 + 0.4 * y
        rated = measure(predicted[y].mean(), predicted[~y].mean(), (~y).sum() / y.sum())
        assert rated == pytest.approx(peer(y, predicted), abs=1e-14)


@pytest.mark.parametrize("measure", MEASURES)
@given(tpr=rates, fpr=rates, skew=skews)
def test_points_on_an_isometric_have_equal_measures(measure, tpr, fpr, skew):
    assume(tpr + fpr > 1e-6)
    value = float(measure(tpr, fpr, skew))
    line = measure.through(tpr, fpr, skew)
    assert line == measure.isometric(value, skew)
    residual = line.constant + line.of_tpr * tpr + line.of_fpr * fpr
    assert residual == pytest.approx(0, abs=1e-14 * (1 + skew) ** 2)
    for x, y in zip(*line.segment(), strict=True):
        if x + y > 1e-6:  # precision is undefined at the origin, where its isometrics meet
            assert measure(y, x, skew) == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("measure", MEASURES)
@given(value=st.floats(-1.5, 1.5), skew=skews)
def test_segments_are_clipped_to_the_unit_square(measure, value, skew):
    line = measure.isometric(value, skew)
    corners = [line.constant + line.of_tpr * y + line.of_fpr * x for x in (0, 1) for y in (0, 1)]
    fpr, tpr = line.segment()
    if len(fpr) == 0:
        assert min(corners) >= -1e-9 or max(corners) <= 1e-9
        return
    assert min(corners) <= 1e-9
    assert max(corners) >= -1e-9
    assert fpr[0] <= fpr[1]
    for x, y in zip(fpr, tpr, strict=True):
        assert 0 <= x <= 1
        assert 0 <= y <= 1
        assert min(x, 1 - x, y, 1 - y) <= 1e-12
        assert line.constant + line.of_tpr * y + line.of_fpr * x == pytest.approx(0, abs=1e-9)


@given(tpr=rates, fpr=st.floats(0.01, 1), skew=skews)
def test_slopes_match_closed_forms(tpr, fpr, skew):
    assert roc.accuracy.through(tpr, fpr, skew).slope == pytest.approx(skew)
    assert roc.weighted_relative_accuracy.through(tpr, fpr, skew).slope == 1
    of_precision = roc.precision.through(tpr, fpr, skew)
    assert of_precision.intercept == 0
    assert of_precision.slope == pytest.approx(tpr / fpr, rel=1e-9, abs=1e-12)
    of_f = roc.f_measure.through(tpr, fpr, skew)  # all turn about the point (-1 / skew, 0)
    assert of_f.slope == pytest.approx(tpr / (fpr + 1 / skew), rel=1e-9, abs=1e-12)
    assert of_f.intercept == pytest.approx(of_f.slope / skew, rel=1e-9, abs=1e-12)


def test_measures_accept_arrays():
    tpr, fpr = np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.25, 1.0])
    np.testing.assert_allclose(roc.precision(tpr, fpr, 1.0), [np.nan, 2 / 3, 0.5])
    np.testing.assert_allclose(roc.accuracy(tpr, fpr, 3.0), [0.75, 0.6875, 0.25])
    np.testing.assert_allclose(roc.f_measure(1.0, fpr, 2.0), [1, 0.8, 0.5])
    assert roc.weighted_relative_accuracy(tpr[:, None], fpr, 1.0).shape == (3, 3)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("skew", [0, -1, np.nan, np.inf])
def test_invalid_skews_are_refused(measure, skew):
    with pytest.raises(ValueError, match="skew"):
        measure(0.5, 0.5, skew)
    with pytest.raises(ValueError, match="skew"):
        measure.isometric(0.5, skew)


def test_unattainable_measure_values_are_refused():
    with pytest.raises(ValueError, match="No point of ROC space has the precision"):
        roc.precision.through(0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="accuracy inf"):
        roc.accuracy.isometric(math.inf, 1.0)


# --- costs


def test_skew_combines_class_shares_and_costs():
    assert roc.skew_of(0.2) == pytest.approx(4)
    assert roc.skew_of(0.2, cost_fp=1.0, cost_fn=8.0) == pytest.approx(0.5)
    for setting in [(0.0, 1, 1), (1.0, 1, 1), (0.5, 0, 1), (0.5, 1, -1), (0.5, np.nan, 1)]:
        with pytest.raises(ValueError, match="Costs must be positive"):
            roc.skew_of(*setting)


@given(prior=st.floats(0.05, 0.95), cost_fp=st.floats(0.1, 10), cost_fn=st.floats(0.1, 10))
def test_line_of_least_cost_touches_the_hull(prior, cost_fp, cost_fn):
    rng = np.random.default_rng(8)
    y = rng.random(80) < 0.4
    score = rng.normal(size=80) + y
    curve = roc.roc_curve(y, score)
    t = roc.cost_threshold(curve, cost_fp, cost_fn, prior)
    tpr, fpr = (score[y] > t).mean(), (score[~y] > t).mean()
    line = roc.cost_line(tpr, fpr, prior, cost_fp, cost_fn)
    assert (curve.tpr <= line.intercept + line.slope * curve.fpr + 1e-9).all()

    def cost(tpr, fpr):
        return cost_fp * (1 - prior) * fpr + cost_fn * prior * (1 - tpr)

    for x, height in zip(*line.segment(), strict=True):
        assert cost(height, x) == pytest.approx(cost(tpr, fpr), abs=1e-9)
