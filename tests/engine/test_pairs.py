import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucstudio.engine.losses import pairs as module
from aucstudio.engine.losses.pairs import AllPairs, PairHinge, PairList, neighbour_pairs


def mixed_labels(m, n, seed=0):
    return np.random.default_rng(seed).permutation(np.arange(m + n) < m)


def some_pairs(positive, share, seed=1):
    i, j = np.meshgrid(np.flatnonzero(positive), np.flatnonzero(~positive), indexing="ij")
    taken = np.random.default_rng(seed).random(i.size) < share
    return i.ravel()[taken], j.ravel()[taken]


def structures():
    positive = mixed_labels(7, 11)
    listed = some_pairs(positive, 0.4)
    return {
        "all": AllPairs(positive),
        "one positive": AllPairs(np.arange(6) == 2),
        "one negative": AllPairs(np.arange(6) != 2),
        "list": PairList(*listed, len(positive)),
        "single": PairList(np.array([3]), np.array([0]), 5),
    }


@pytest.fixture(params=structures())
def pairs(request, monkeypatch):
    monkeypatch.setattr(module, "PAIRS_PER_PART", 3)
    return structures()[request.param]


def incidence(pairs):
    i, j = pairs.rows(np.arange(pairs.count))
    A = np.zeros((pairs.count, pairs.n_rows))
    A[np.arange(pairs.count), i] += 1
    A[np.arange(pairs.count), j] -= 1
    return A


def test_all_pairs_are_listed_positive_by_positive():
    positive = np.array([False, True, False, True])
    i, j = AllPairs(positive).rows(np.arange(4))
    np.testing.assert_array_equal(i, [1, 1, 3, 3])
    np.testing.assert_array_equal(j, [0, 2, 0, 2])


def test_sums_agree_with_the_explicit_incidence_matrix(pairs):
    rng = np.random.default_rng(3)
    A, s, a = incidence(pairs), rng.normal(size=pairs.n_rows), rng.random(pairs.shape)
    np.testing.assert_allclose(pairs.margins(s).ravel(), A @ s, atol=1e-14)
    np.testing.assert_allclose(pairs.adjoint(a), A.T @ a.ravel(), atol=1e-13)


def test_sums_over_parts_equal_the_whole(pairs):
    rng = np.random.default_rng(4)
    s, a = rng.normal(size=pairs.n_rows), rng.random(pairs.shape)
    parts = list(pairs.parts())
    assert len(parts) > 1 or pairs.shape[0] == 1
    margins = np.concatenate([pairs.margins(s, part) for part in parts])
    np.testing.assert_array_equal(margins, pairs.margins(s))
    total = sum(pairs.adjoint(a[part], part) for part in parts)
    np.testing.assert_allclose(total, pairs.adjoint(a), atol=1e-13)


@pytest.mark.parametrize("r", [0, 1, 4, 40])
def test_weighted_gram_agrees_with_the_explicit_product(pairs, r, monkeypatch):
    monkeypatch.setattr(module, "FLOPS_PER_BLOCK", 1.0)  # 16 columns at a time
    rng = np.random.default_rng(5)
    D, F = rng.random(pairs.shape), rng.normal(size=(pairs.n_rows, r))
    paused = []
    gram = pairs.weighted_gram(D, F, lambda: paused.append(1))
    AF = incidence(pairs) @ F
    np.testing.assert_allclose(gram, AF.T @ (D.ravel()[:, None] * AF), atol=1e-11)
    assert len(paused) == -(-r // 16)


def test_compact_keeps_the_pairs_and_drops_the_rest():
    listed = PairList(np.array([8, 2, 8]), np.array([5, 5, 0]), 10)
    rows, small = listed.compact()
    np.testing.assert_array_equal(rows, [0, 2, 5, 8])
    assert small.n_rows == 4
    i, j = small.rows(np.arange(3))
    np.testing.assert_array_equal(rows[i], [8, 2, 8])
    np.testing.assert_array_equal(rows[j], [5, 5, 0])


# --- mean pair hinge


def direct_hinge(positive, scores, margin=1.0, weights=None):
    weights = np.ones(len(scores)) if weights is None else weights
    short = margin - np.subtract.outer(scores[positive], scores[~positive])
    each = np.outer(weights[positive], weights[~positive])
    active = np.where(short > 0, each, 0.0)
    gradient = np.empty(len(scores))
    gradient[positive] = -active.sum(axis=1)
    gradient[~positive] = active.sum(axis=0)
    return (active * short).sum() / each.sum(), gradient / each.sum()


@pytest.mark.parametrize("margin", [1.0, 0.01, 3.0])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 9), (9, 1), (20, 35)])
@pytest.mark.parametrize("weighted", [False, True])
def test_hinge_agrees_with_the_direct_sum(m, n, margin, weighted):
    rng, positive = np.random.default_rng(6), mixed_labels(m, n)
    scores, weights = rng.normal(size=m + n), rng.exponential(size=m + n) if weighted else None
    loss, gradient = PairHinge(positive, margin, weights)(scores)
    expected, slope = direct_hinge(positive, scores, margin, weights)
    assert loss == pytest.approx(expected, abs=1e-13)
    np.testing.assert_allclose(gradient, slope, rtol=1e-12 if weighted else 0.0)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(-6, 6)), min_size=2, max_size=25).filter(
        lambda rows: 0 < sum(p for p, _ in rows) < len(rows)
    )
)
def test_hinge_is_exact_with_ties_and_margins_of_one(rows):
    positive = np.array([p for p, _ in rows])
    scores = np.array([0.5 * v for _, v in rows])
    loss, gradient = PairHinge(positive)(scores)
    expected, slope = direct_hinge(positive, scores)
    assert loss == pytest.approx(expected, abs=1e-13)
    np.testing.assert_array_equal(gradient, slope)


def test_hinge_is_consistent_for_large_scores():
    """Far from 0, s - 1 and t + 1 round differently; the counts must stay consistent."""
    rng = np.random.default_rng(8)
    positive = mixed_labels(40, 60)
    scores = 1e15 + rng.integers(0, 12, 100) * 0.125
    loss, gradient = PairHinge(positive)(scores)
    assert gradient.sum() == pytest.approx(0.0, abs=1e-12)
    assert 0.0 <= loss <= 1.0 + np.ptp(scores)


@pytest.mark.parametrize("step", [None, 0.5, 0.1])
@pytest.mark.parametrize("apart", [0.0, 2.0, 50.0])
def test_algorithm_for_many_rows_has_the_same_sums(step, apart, monkeypatch):
    rng = np.random.default_rng(4)
    positive = rng.random(500) < 0.2
    scores = rng.standard_normal(500) + apart * positive
    scores = scores if step is None else np.round(scores / step) * step
    risk = PairHinge(positive, 1.0)
    loss, gradient = risk(scores)
    monkeypatch.setattr(module, "MANY", 0)
    walked, its_gradient = risk(scores)
    assert walked == pytest.approx(loss, rel=1e-12, abs=1e-15)
    np.testing.assert_array_equal(its_gradient, gradient)


# --- neighbour pairs


def brute_neighbour_pairs(X, positive, k):
    """Return the neighbour pairs by sorting all distances."""
    P, Q = np.flatnonzero(positive), np.flatnonzero(~positive)

    def nearest(row, among):
        order = np.argsort(((X[among] - X[row]) ** 2).sum(axis=1), kind="stable")
        return among[order[:k]]

    chosen = sorted({int(i) for j in Q for i in nearest(j, P)})
    return {(i, int(j)) for i in chosen for j in nearest(i, Q)}, len(chosen)


@pytest.mark.parametrize("k", [1, 3, 10, 1000])
@pytest.mark.parametrize(("m", "n"), [(15, 40), (40, 15), (1, 8), (8, 1)])
def test_neighbour_pairs_agree_with_enumeration(m, n, k):
    X = np.random.default_rng(9).normal(size=(m + n, 3))
    positive = mixed_labels(m, n)
    expected, n_chosen = brute_neighbour_pairs(X, positive, k)
    found = neighbour_pairs(X, positive, k)
    i, j = found.rows(np.arange(found.count))
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == expected
    assert found.count == len(expected) == min(k, n) * n_chosen
    assert found.count <= k * min(m, k * n)
    assert found.n_rows == m + n
    assert (np.diff(i) >= 0).all()


def test_neighbour_pairs_do_not_depend_on_the_origin():
    X = np.random.default_rng(10).integers(0, 10_000, size=(200, 2)).astype(float)
    positive = mixed_labels(60, 140)
    near = neighbour_pairs(X, positive, 4).rows(np.arange(100))
    far = neighbour_pairs(X + 2.0**33, positive, 4).rows(np.arange(100))
    np.testing.assert_array_equal(near, far)


def test_neighbour_pairs_of_equal_rows_are_reproducible():
    X = np.random.default_rng(11).integers(0, 3, size=(120, 2)).astype(float)
    positive = mixed_labels(50, 70)
    first, second = (neighbour_pairs(X, positive, 5) for _ in range(2))
    everything = np.arange(first.count)
    np.testing.assert_array_equal(first.rows(everything), second.rows(everything))
    i, j = first.rows(everything)
    found = np.linalg.norm(X[i] - X[j], axis=1).reshape(-1, 5)
    for row, distances in zip(i[::5], found, strict=True):
        expected = np.sort(np.linalg.norm(X[~positive] - X[row], axis=1))[:5]
        np.testing.assert_allclose(np.sort(distances), expected, atol=1e-12)


def test_neighbour_search_reports_its_progress(monkeypatch):
    monkeypatch.setattr(module, "QUERIES_PER_CHUNK", 10)
    fractions = []
    neighbour_pairs(np.arange(60.0)[:, None], np.arange(60) % 3 == 0, 2, fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(fractions) == 6


@pytest.mark.parametrize("seed", range(5))
def test_hardest_pairs_have_the_smallest_margins(seed):
    rng = np.random.default_rng(seed)
    positive = rng.random(40) < 0.4
    scores = np.round(rng.normal(size=40) + 0.8 * positive, 1 if seed % 2 else 8)
    margins = scores[positive][:, None] - scores[~positive][None, :]
    for most in (1, 7, 60, 10_000):
        i, j = PairHinge(positive).hardest(scores, most)
        found = scores[i] - scores[j]
        np.testing.assert_array_equal(found, np.sort(margins[margins < 1.0])[:most])
        assert positive[i].all()
        assert not positive[j].any()
        assert len({*zip(i, j, strict=True)}) == len(i)
