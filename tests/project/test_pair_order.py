"""Counts and lists of misranked pairs against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from aucstudio.engine.roc import auc, band_ranks
from aucstudio.project.geometry.pairs import PairOrder

few_rows = st.lists(st.tuples(st.booleans(), st.integers(-4, 4)), min_size=2, max_size=30).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def arrays(rows):
    positive = np.array([label for label, _ in rows])
    return positive, np.array([score for _, score in rows], dtype=float)


def all_pairs(positive):
    return [(i, j) for i in np.flatnonzero(positive) for j in np.flatnonzero(~positive)]


@pytest.mark.slow
@given(few_rows)
def test_misranked_pairs_match_brute_force(rows):
    positive, scores = arrays(rows)
    found = PairOrder.of(positive, scores).misranked()
    pairs = all_pairs(positive)
    assert found.wrong == sum(scores[i] < scores[j] for i, j in pairs)
    assert found.tied == sum(scores[i] == scores[j] for i, j in pairs)
    assert found.pairs == len(pairs)
    assert found.share == pytest.approx(1.0 - auc(positive, scores))
    listed = set(zip(*found.rows.tolist(), strict=True))
    assert listed == {(i, j) for i, j in pairs if scores[i] <= scores[j]}


def test_long_lists_of_misranked_pairs_are_thinned():
    rng = np.random.default_rng(1)
    positive, scores = rng.random(400) < 0.4, rng.normal(size=400)
    found = PairOrder.of(positive, scores).misranked(500)
    assert found.rows.shape == (2, 500)
    assert len(set(zip(*found.rows.tolist(), strict=True))) == 500
    assert positive[found.rows[0]].all()
    assert not positive[found.rows[1]].any()
    assert (scores[found.rows[0]] <= scores[found.rows[1]]).all()


@pytest.mark.slow
@given(few_rows, st.integers(0, 9), st.integers(1, 10))
def test_misranked_pairs_in_a_range_match_brute_force(rows, low, width):
    positive, scores = arrays(rows)
    band = low / 10, min(1.0, (low + width) / 10)
    negatives = np.flatnonzero(~positive)
    # Highest first; among equal scores the later row first, which is the order of PairOrder.
    ranked = negatives[np.lexsort((negatives, scores[negatives]))[::-1]]
    first, last = band_ranks(len(negatives), *band)
    inside = set(ranked[first - 1 : last].tolist())
    order = PairOrder.of(positive, scores)
    assert set(order.band(*band).tolist()) == inside
    found = order.misranked(band=band)
    pairs = [(i, j) for i, j in all_pairs(positive) if j in inside]
    assert found.pairs == len(pairs)
    assert found.wrong == sum(scores[i] < scores[j] for i, j in pairs)
    assert found.tied == sum(scores[i] == scores[j] for i, j in pairs)
    listed = set(zip(*found.rows.tolist(), strict=True))
    assert listed == {(i, j) for i, j in pairs if scores[i] <= scores[j]}


def test_misranked_count_is_one_minus_auc_times_all_pairs():
    rng = np.random.default_rng(0)
    positive, scores = rng.random(300) < 0.3, rng.integers(0, 50, 300) / 7
    found = PairOrder.of(positive, scores).misranked(0)
    share = 1.0 - auc(positive, scores)
    assert found.count == pytest.approx(share * positive.sum() * (~positive).sum())
    assert found.rows.shape == (2, 0)


@given(few_rows, st.integers(1, 40))
def test_worst_pairs_have_the_lowest_margins(rows, count):
    positive, scores = arrays(rows)
    found = PairOrder.of(positive, scores).worst(count)
    margins = sorted(scores[i] - scores[j] for i, j in all_pairs(positive))
    assert_array_equal(scores[found[0]] - scores[found[1]], margins[:count])
    assert positive[found[0]].all()
    assert not positive[found[1]].any()
    assert len(set(zip(*found.tolist(), strict=True))) == found.shape[1]


@pytest.mark.slow
@given(few_rows)
def test_pairs_of_a_row_are_with_all_rows_of_the_other_class(rows):
    positive, scores = arrays(rows)
    order = PairOrder.of(positive, scores)
    for place in range(len(rows)):
        found = order.of_row(place, bool(positive[place]))
        pairs = [pair for pair in all_pairs(positive) if place in pair]
        assert set(zip(*found.rows.tolist(), strict=True)) == set(pairs)
        assert found.wrong == sum(scores[i] < scores[j] for i, j in pairs)
        assert found.tied == sum(scores[i] == scores[j] for i, j in pairs)
        assert found.pairs == len(pairs)


def test_many_pairs_of_a_row_are_thinned():
    positive, scores = np.arange(500) < 1, np.arange(500.0)
    found = PairOrder.of(positive, scores).of_row(0, True, limit=50)
    assert found.rows.shape == (2, 50)
    assert found.pairs == found.wrong == 499
