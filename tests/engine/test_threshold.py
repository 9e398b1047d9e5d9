import numpy as np
import pytest

from aucstudio.engine import METHODS
from aucstudio.engine.roc import ThresholdRule


@pytest.fixture
def fitted():
    rng = np.random.default_rng(4)
    y = rng.random(300) < 0.3
    X = rng.normal(size=(300, 3)) + y[:, None] * [1.0, 0.5, 0.0]
    return METHODS["auc-rls"]().fit(X, y), X, y


def rates(method, X, y):
    called = method.predict(X).astype(bool)
    return called[~y].mean(), called[y].mean()


def test_the_default_is_the_equal_error_point(fitted):
    method, X, y = fitted
    before = method.intercept_
    fpr, tpr = rates(method, X, y)
    assert abs(fpr - (1 - tpr)) < 0.02
    assert method.set_threshold(X, y).intercept_ == before


@pytest.mark.parametrize("bound", [0.0, 0.05, 0.1, 1.0])
def test_a_bounded_fpr_is_kept_and_used_up(fitted, bound):
    method, X, y = fitted
    method.set_threshold(X, y, "fpr", fpr=bound)
    fpr, _ = rates(method, X, y)
    assert bound - 1 / (~y).sum() < fpr <= bound


@pytest.mark.parametrize(
    ("cost_fp", "cost_fn", "prior"), [(1, 1, None), (1, 20, None), (3, 1, 0.01)]
)
def test_no_threshold_is_cheaper(fitted, cost_fp, cost_fn, prior):
    method, X, y = fitted
    method.set_threshold(X, y, "cost", cost_fp=cost_fp, cost_fn=cost_fn, prior=prior)
    share = y.mean() if prior is None else prior

    def cost(fpr, tpr):
        return cost_fp * (1 - share) * fpr + cost_fn * share * (1 - tpr)

    scores = method.decision_function(X)
    every = [((scores[~y] > t).mean(), (scores[y] > t).mean()) for t in [-np.inf, *scores]]
    assert cost(*rates(method, X, y)) == pytest.approx(min(cost(*r) for r in every))


def test_min_max_lies_midway(fitted):
    method, X, y = fitted
    raw = method.scorer_(X)
    method.set_threshold(X, y, "min-max")
    assert -method.intercept_ == pytest.approx((raw[y].min() + raw[~y].max()) / 2)


def test_the_scorer_and_the_ranking_stay(fitted):
    method, X, y = fitted
    before = method.decision_function(X)
    method.set_threshold(X[:50], y[:50], "fpr", fpr=0.2)
    after = method.decision_function(X)
    np.testing.assert_allclose(after - before, (after - before)[0], rtol=1e-9)
    np.testing.assert_allclose(method.train_scores_, after, rtol=1e-12)


def test_bad_requests_are_refused(fitted):
    method, X, y = fitted
    with pytest.raises(ValueError, match="unknown threshold rule 'best'"):
        method.set_threshold(X, y, "best")
    with pytest.raises(ValueError, match="labels other than"):
        method.set_threshold(X, y.astype(int) + 5)
    with pytest.raises(ValueError, match="FPR of a threshold"):
        method.set_threshold(X, y, "fpr", fpr=2.0)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("equal-error", ThresholdRule()),
        ("min-max", ThresholdRule("min-max")),
        ("fpr=0.05", ThresholdRule("fpr", fpr=0.05)),
        ("cost=1:20", ThresholdRule("cost", cost_fn=20.0)),
        ("cost=2:3@0.01", ThresholdRule("cost", cost_fp=2.0, cost_fn=3.0, prior=0.01)),
    ],
)
def test_rules_are_read_from_a_command_line(text, rule):
    assert ThresholdRule.parse(text) == rule
    assert rule.describe()


@pytest.mark.parametrize(
    "text", ["", "best", "fpr", "fpr=2", "fpr=low", "cost=1", "cost=0:1", "cost=1:1@1", "min-max=3"]
)
def test_bad_rules_are_refused_with_what_they_were(text):
    with pytest.raises(ValueError, match="threshold") as refused:
        ThresholdRule.parse(text)
    assert not text or text.split("=")[0] in str(refused.value)
