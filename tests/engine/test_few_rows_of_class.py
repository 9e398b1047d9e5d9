"""AUC tests with few rows of a class keep their level or return no result."""

import numpy as np
import pytest
from scipy import stats

from aucstudio.engine import inference, roc


def false_positives(m, n, scorers=8, reps=400):
    """Count false positives among Holm-adjusted tests of several scorers without signal."""
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
def test_tests_with_few_positives_keep_their_level(m, n):
    found, reps = false_positives(m, n)
    assert stats.binomtest(found, reps, 0.05, alternative="greater").pvalue > 0.01


def test_few_rows_use_students_t_distribution():
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


def test_fewer_than_five_rows_of_a_class_have_no_test():
    rng = np.random.default_rng(1)
    y = np.arange(50) < 4
    found = inference.auc_test(y, *rng.normal(size=(2, 50)))
    assert np.isnan(found.p)
    assert found.reason == "a class has fewer than 5 rows"
