"""Tests of whole areas with few rows of a class: they hold their level, or say nothing."""

import numpy as np
import pytest
from scipy import stats

from aucstudio.engine import inference, roc


def settled_by_chance(m, n, scorers=8, reps=400):
    """Count how often one scorer of several without signal would be ahead of or behind another."""
    rng, y, found = np.random.default_rng(3), np.arange(m + n) < m, 0
    for _ in range(reps):
        shared = rng.normal(size=m + n)
        scores = shared + rng.normal(size=(scorers, m + n))
        first, *others = (
            inference.Placements(roc.Ranking.of(y, score), (0.0, 1.0)) for score in scores
        )
        p = inference.holm([first.test(other).p for other in others])
        found += any(inference.is_significant(one) for one in p)
    return found, reps


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n"), [(5, 75), (10, 40)])
def test_few_positives_settle_nothing_by_chance(m, n):
    found, reps = settled_by_chance(m, n)
    assert stats.binomtest(found, reps, 0.05, alternative="greater").pvalue > 0.01


def test_students_t_stands_for_the_normal_law_where_rows_are_few():
    rng = np.random.default_rng(0)
    y = np.arange(60) < 12
    a, b = rng.normal(size=(2, 60)) + y
    plain, few = inference.delong_test(y, a, b), inference.auc_test(y, a, b)
    assert (few.difference, few.se, few.z) == (plain.difference, plain.se, plain.z)
    assert few.p > plain.p
    one, other = (inference.Placements(roc.Ranking.of(y, s), (0.0, 1.0)) for s in (a, b))
    of_s, of_t = (
        (x - z).var(ddof=1) / len(x) for x, z in zip(one.paired[1], other.paired[1], strict=True)
    )
    degrees = (of_s + of_t) ** 2 / (of_s**2 / 11 + of_t**2 / 47)
    assert few.p == pytest.approx(2 * stats.t.sf(abs(few.z), degrees), rel=1e-9)
    assert few.high - few.difference == pytest.approx(stats.t.ppf(0.975, degrees) * few.se)
    equal = inference.auc_test(y, a, b, weights=np.full(60, 2.0))
    assert equal.p == pytest.approx(few.p, rel=1e-9)


def test_with_fewer_than_five_rows_of_a_class_nothing_is_said():
    rng = np.random.default_rng(1)
    y = np.arange(50) < 4
    found = inference.auc_test(y, *rng.normal(size=(2, 50)))
    assert np.isnan(found.p)
    assert found.reason == "a class has fewer than 5 rows"
