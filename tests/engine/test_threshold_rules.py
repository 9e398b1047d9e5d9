"""Each threshold rule against all thresholds by brute force, with ties and edge cases."""

import numpy as np
import pytest

from aucstudio.engine import METHODS, roc
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.roc import ThresholdRule, UnreachableTargetError, cut_at, cuts


def rates_of_every_threshold(y, scores, prior):
    """Return TPR, FPR, precision and predicted-positive share of every threshold."""
    places = np.concatenate([[-np.inf], np.unique(scores)])
    rows = []
    for t in places:
        tpr, fpr = (scores[y] > t).mean(), (scores[~y] > t).mean()
        called = prior * tpr + (1 - prior) * fpr
        rows.append((tpr, fpr, prior * tpr / called if called else np.nan, called))
    return np.array(rows)


def reached(y, scores, t, prior):
    tpr, fpr = (scores[y] > t).mean(), (scores[~y] > t).mean()
    called = prior * tpr + (1 - prior) * fpr
    return tpr, fpr, prior * tpr / called if called else np.nan, called


def draw(seed, ties):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(70) < 23)
    scores = rng.normal(size=70) + y
    return y, np.round(scores * 2) / 2 if ties else scores


CASES = pytest.mark.parametrize(
    ("seed", "ties"), [(seed, ties) for seed in range(4) for ties in (False, True)]
)
PRIORS = pytest.mark.parametrize("prior", [None, 0.01, 0.6])


@CASES
@pytest.mark.parametrize("bound", [0.0, 0.02, 0.1, 0.4, 1.0])
def test_fpr_rule_maximises_tpr_within_the_bound(seed, ties, bound):
    y, scores = draw(seed, ties)
    found = reached(y, scores, ThresholdRule("fpr", fpr=bound).place(roc.roc_curve(y, scores)), 0.5)
    allowed = rates_of_every_threshold(y, scores, 0.5)
    allowed = allowed[allowed[:, 1] <= bound + 1e-12]
    assert found[1] <= bound + 1e-12
    assert found[0] == allowed[:, 0].max()


@CASES
@pytest.mark.parametrize("bound", [0.0, 0.3, 22 / 23, 0.9, 1.0])
def test_tpr_rule_minimises_fpr_within_the_bound(seed, ties, bound):
    y, scores = draw(seed, ties)
    found = reached(y, scores, ThresholdRule("tpr", tpr=bound).place(roc.roc_curve(y, scores)), 0.5)
    allowed = rates_of_every_threshold(y, scores, 0.5)
    allowed = allowed[allowed[:, 0] >= bound - 1e-12]
    assert found[0] >= bound - 1e-12
    assert found[1] == allowed[:, 1].min()


@CASES
@PRIORS
@pytest.mark.parametrize("bound", [0.0, 0.02, 0.5, 0.8, 1.0])
def test_precision_rule_maximises_tpr_or_reports_the_best_precision(seed, ties, prior, bound):
    y, scores = draw(seed, ties)
    share = y.mean() if prior is None else prior
    rule, known = (
        ThresholdRule("precision", precision=bound, prior=prior),
        rates_of_every_threshold(y, scores, share),
    )
    allowed = known[known[:, 2] >= bound - 1e-12]
    if not len(allowed):
        with pytest.raises(UnreachableTargetError, match="no threshold on these rows") as refused:
            rule.place(roc.roc_curve(y, scores))
        assert refused.value.best == pytest.approx(np.nanmax(known[:, 2]))
        return
    found = reached(y, scores, rule.place(roc.roc_curve(y, scores)), share)
    assert found[2] >= bound - 1e-12
    assert found[0] == allowed[:, 0].max()
    assert found[1] == pytest.approx(allowed[allowed[:, 0] == found[0]][:, 1].min())


@CASES
@PRIORS
@pytest.mark.parametrize("bound", [0.0, 0.01, 0.1, 0.5, 1.0])
def test_alerts_rule_uses_the_alert_budget(seed, ties, prior, bound):
    y, scores = draw(seed, ties)
    share = y.mean() if prior is None else prior
    rule = ThresholdRule("alerts", alerts=bound, prior=prior)
    found = reached(y, scores, rule.place(roc.roc_curve(y, scores)), share)
    allowed = rates_of_every_threshold(y, scores, share)
    allowed = allowed[allowed[:, 3] <= bound + 1e-12]
    assert found[3] == pytest.approx(allowed[:, 3].max())


@CASES
@PRIORS
@pytest.mark.parametrize("miss", [0.2, 1.0, 30.0])
def test_cost_rule_has_the_least_cost(seed, ties, prior, miss):
    y, scores = draw(seed, ties)
    share = y.mean() if prior is None else prior

    def cost(rates):
        return (1 - share) * rates[..., 1] + miss * share * (1 - rates[..., 0])

    t = ThresholdRule("cost", cost_fn=miss, prior=prior).place(roc.roc_curve(y, scores))
    found = np.array(reached(y, scores, t, share))
    assert cost(found) == pytest.approx(cost(rates_of_every_threshold(y, scores, share)).min())


@CASES
def test_min_max_rule_is_midway_between_the_extremes(seed, ties):
    y, scores = draw(seed, ties)
    t = ThresholdRule("min-max").place(roc.roc_curve(y, scores))
    assert t == pytest.approx((scores[y].min() + scores[~y].max()) / 2)


@CASES
def test_cuts_of_all_vertices_equal_single_cuts(seed, ties):
    curve = roc.roc_curve(*draw(seed, ties))
    found = cuts(curve)
    assert found[0] == np.inf
    assert found[1:].tolist() == [cut_at(curve, k) for k in range(1, len(curve.tp))]


@pytest.mark.parametrize("rule", roc.RULES)
def test_no_row_scores_exactly_the_threshold(rule):
    # The threshold lies between two scores, so that rounding moves no row across it.
    y, scores = draw(1, True)
    t = ThresholdRule(rule, precision=0.3).place(roc.roc_curve(y, scores))
    called = scores > t
    assert (called == (scores >= t)).all() or not called.any() or rule == "min-max"


@pytest.mark.parametrize("rule", roc.RULES)
def test_equal_scores_are_predicted_all_or_none_positive(rule):
    y = np.arange(9) < 3
    t = ThresholdRule(rule, precision=0.2, alerts=0.5).place(roc.roc_curve(y, np.ones(9)))
    assert (np.ones(9) > t).sum() in (0, 9)


def test_unreachable_precision_reports_the_best():
    y = np.arange(9) < 3
    with pytest.raises(UnreachableTargetError, match=r"precision ≥ 0\.5; the best is 0\.333"):
        ThresholdRule("precision", precision=0.5).place(roc.roc_curve(y, np.ones(9)))


@pytest.mark.parametrize("name", ["fpr", "tpr", "precision", "alerts"])
@pytest.mark.parametrize("bound", [-0.1, 1.1, float("nan")])
def test_bounds_outside_0_to_1_are_refused(name, bound):
    with pytest.raises(ValueError, match="must lie within"):
        ThresholdRule(name, **{name: bound})


READ = {
    "equal-error": ThresholdRule(),
    "min-max": ThresholdRule("min-max"),
    "fpr=0.05": ThresholdRule("fpr", fpr=0.05),
    "tpr=0.95": ThresholdRule("tpr", tpr=0.95),
    "precision=0.9": ThresholdRule("precision", precision=0.9),
    "precision=0.9@0.001": ThresholdRule("precision", precision=0.9, prior=0.001),
    "alerts=0.02@0.001": ThresholdRule("alerts", alerts=0.02, prior=0.001),
    "cost=1:20": ThresholdRule("cost", cost_fn=20.0),
    "cost=2:3@0.01": ThresholdRule("cost", cost_fp=2.0, cost_fn=3.0, prior=0.01),
}
UNREADABLE = [
    *("", "best", "fpr", "fpr=2", "fpr=low", "cost=1", "cost=0:1", "cost=1:1@1", "min-max=3"),
    *("tpr", "tpr=2", "tpr=0.9@0.1", "precision=high", "alerts=.1@"),
]


@pytest.mark.parametrize("text", READ)
def test_threshold_rules_are_parsed_from_text(text):
    assert ThresholdRule.parse(text) == READ[text]
    assert READ[text].describe()


@pytest.mark.parametrize("text", UNREADABLE)
def test_unreadable_rules_are_refused_with_their_text(text):
    with pytest.raises(InvalidSetting, match="threshold") as refused:
        ThresholdRule.parse(text)
    assert text.split("=")[0] in str(refused.value)


# --- thresholds of a fitted method


@pytest.fixture
def fitted():
    rng = np.random.default_rng(4)
    y = rng.random(300) < 0.3
    X = rng.normal(size=(300, 3)) + y[:, None] * [1.0, 0.5, 0.0]
    return METHODS["auc-rls"]().fit(X, y), X, y


def test_method_starts_at_the_equal_error_threshold(fitted):
    method, X, y = fitted
    before, called = method.intercept_, method.predict(X)
    assert abs(called[~y].mean() - (1 - called[y].mean())) < 0.02
    assert method.set_threshold(X, y).intercept_ == before


def test_threshold_rule_shifts_all_scores_equally(fitted):
    method, X, y = fitted
    before = method.decision_function(X)
    method.set_threshold(X[:50], y[:50], "fpr", fpr=0.2)
    after = method.decision_function(X)
    np.testing.assert_allclose(after - before, (after - before)[0], rtol=1e-9)
    np.testing.assert_allclose(method.train_scores_, after, rtol=1e-12)
    method.set_threshold(X, y, "tpr", tpr=0.95)
    assert 0.95 <= method.predict(X)[y].mean() < 0.95 + 1 / y.sum()


def test_invalid_threshold_requests_are_refused(fitted):
    method, X, y = fitted
    with pytest.raises(ValueError, match="unknown threshold rule 'best'"):
        method.set_threshold(X, y, "best")
    with pytest.raises(ValueError, match="labels other than"):
        method.set_threshold(X, y.astype(int) + 5)
    with pytest.raises(ValueError, match="FPR of a threshold"):
        method.set_threshold(X, y, "fpr", fpr=2.0)
    with pytest.raises(UnreachableTargetError):
        method.set_threshold(X, ~y, "precision", precision=1.0, prior=1e-9)
