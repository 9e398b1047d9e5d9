"""Combinations: the criterion, the selection, the common scale, the scorer, and the method."""

import dataclasses
import itertools
import tracemalloc

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from aucstudio.engine import METHODS, Stopped, restore, roc
from aucstudio.engine.crossfit import members as member_lists
from aucstudio.engine.crossfit.folds import draw_folds
from aucstudio.engine.crossfit.members import Member, library, titles
from aucstudio.engine.ensembles.combined import (
    CombinationScorer,
    MemberShare,
    Part,
    Scale,
    combine,
    seen_through,
)
from aucstudio.engine.ensembles.selection import (
    Criterion,
    choose_weights,
    select,
    select_in_bags,
    stack,
)
from aucstudio.engine.ensembles.views import View, ViewedScorer, filled_view, scaled_view
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods import auc_ensemble
from aucstudio.engine.scorers import FourierScorer, KernelScorer, LinearScorer
from aucstudio.notices import notice


def drawn(seed, N=60, ties=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(N) < 0.4
    positive[:2] = True, False
    scores = rng.normal(size=N) + positive
    return positive, np.round(scores * ties) if ties else scores


# ------------------------------------------------------------------ criterion


@pytest.mark.parametrize("seed", range(40))
def test_criterion_blends_auc_and_partial_auc(seed):
    positive, scores = drawn(seed, 3 + seed, ties=seed % 3)
    low, high = sorted(np.random.default_rng(seed).random(2))
    area = roc.auc(positive, scores)
    part = roc.partial_auc(positive, scores, low, high).normalized
    for share in (0.0, 0.3, 1.0):
        found = Criterion(low, high, share)(positive, scores)
        assert found == pytest.approx((1 - share) * area + share * part, abs=1e-12)


def test_partial_auc_has_less_weight_with_few_negatives():
    shares = []
    for negatives in (10, 100, 10_000):
        positive = np.arange(negatives + 500) < 500
        shares.append(Criterion.of_range((0.0, 0.1), positive).share)
    assert shares == sorted(shares)
    assert shares[0] < 0.05
    assert shares[-1] > 0.85
    assert Criterion.of_range(None, positive).share == 0.0


# ------------------------------------------------------------------ selection


def test_rows_of_weight_0_do_not_affect_bagged_selection():
    rng = np.random.default_rng(0)
    positive = np.arange(34) < 4
    scores = np.array([rng.normal(size=34), rng.normal(size=34), positive + 0.0])
    weights = np.where(np.arange(34) < 3, 0.0, 1.0)  # most bags draw no positive row that counts
    there = weights > 0
    seen, counting = (
        select_in_bags(z, classes, Criterion(), np.random.default_rng(1), row_weights=each)
        for z, classes, each in (
            (scores, positive, weights),
            (scores[:, there], positive[there], weights[there]),
        )
    )
    np.testing.assert_array_equal(seen, counting)
    assert seen[2] > seen[0] == seen[1]


def test_selection_adds_the_best_member_at_each_step():
    positive, _ = drawn(1)
    scores = np.random.default_rng(2).normal(size=(4, 60)) + 0.7 * positive
    criterion = Criterion(0.0, 0.3, 0.5)
    weights = select(scores, positive, criterion, steps=3)
    counts = np.zeros(4)
    met = []
    for _ in range(3):
        tried = [criterion(positive, (counts + unit) @ scores) for unit in np.eye(4)]
        counts[int(np.argmax(tried))] += 1
        met.append((max(tried), counts / counts.sum()))
    best = max(met, key=lambda found: found[0])
    np.testing.assert_allclose(weights, best[1])
    assert criterion(positive, weights @ scores) >= max(
        criterion(positive, of_member) for of_member in scores
    )


def test_noise_members_get_little_weight_and_equal_members_share():
    rng = np.random.default_rng(3)
    positive = rng.random(2000) < 0.2
    scores = rng.normal(size=(6, 2000))
    scores[:3] += positive
    weights = select_in_bags(scores, positive, Criterion(), np.random.default_rng(0), bags=10)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[3:].sum() < 0.1
    assert weights[:3].min() > 0.2


# ------------------------------------------------------------------ scale and scorer


@pytest.mark.parametrize("shift", [0.0, 1e9])
@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_scale_standardises_scores_in_any_unit(shift, unit):
    rng = np.random.default_rng(5)
    scores = unit * (rng.normal(size=500) + shift)
    mapped = Scale.learn(scores)(scores)
    assert abs(mapped.mean()) < 1e-3
    assert mapped.std() == pytest.approx(1.0, rel=1e-3)
    assert (np.argsort(mapped, kind="stable") == np.argsort(scores, kind="stable")).all()


def test_scale_handles_equal_scores_and_shares():
    assert (Scale.learn(np.full(5, 3.0))(np.full(5, 3.0)) == 0).all()
    shares = np.array([0.0, 0.5, 1.0])
    mapped = Scale.learn(shares, 0.01)(shares)
    assert np.isfinite(mapped).all()
    assert (np.diff(mapped) > 0).all()


def fitted_trees(seed):
    X, y = np.random.default_rng(seed).normal(size=(40, 3)), np.arange(40) % 3 == 0
    return METHODS["random-forest"](n_trees=3, random_state=seed).fit(X, y).scorer_


NEAR = scaled_view(np.array([2.0, 0.5, 1.0]))


def members():
    """Return three scorers of each kind with their scales and weights."""
    rng = np.random.default_rng(6)
    points, waves = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    rbf, wide = Kernel("rbf", 0.5), Kernel("rbf", 0.1)
    kinds = [
        [LinearScorer(rng.normal(size=3)) for _ in range(3)],
        [KernelScorer(rbf, points[:k], rng.normal(size=k)) for k in (3, 4, 5)],
        [KernelScorer(wide, points[:k], rng.normal(size=k)) for k in (3, 4, 5)],
        [FourierScorer(waves, np.zeros(4), rng.normal(size=4)) for _ in range(3)],
        [fitted_trees(seed) for seed in range(3)],
        [fitted_trees(seed) for seed in range(3)],
        [ViewedScorer(KernelScorer(rbf, points[:k], rng.normal(size=k)), NEAR) for k in (2, 3, 4)],
    ]
    scales = [Scale(0.01 if k == 5 else 0.0, 0.3 * k, 1.0 + k) for k in range(7)]
    # Each fold has its own scale, but for shares.
    folds = [
        [dataclasses.replace(s, shift=s.shift + f * (k != 5)) for f in range(3)]
        for k, s in enumerate(scales)
    ]
    return list(zip(kinds, folds, [0.3, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1], strict=True))


def test_combination_merges_parts_and_equals_the_weighted_mean():
    X = np.random.default_rng(7).normal(size=(50, 3))
    combined = combine([*members(), (*members()[0][:2], 0.0)])
    expected = np.zeros(50)
    for scorers, scales, weight in members():
        scores = [scorer(X) for scorer in scorers]
        if scales[0].smoothing:
            expected += weight * scales[0](np.mean(scores, axis=0))
        else:
            mapped = [scale(s) for s, scale in zip(scores, scales, strict=True)]
            expected += weight * np.mean(mapped, axis=0)
    np.testing.assert_allclose(combined(X), expected, atol=1e-12)
    kinds = [part.scorer.kind for part in combined.parts]
    once = ["fourier", "kernel", "kernel", "linear", "trees", "trees", "viewed"]
    assert sorted(kinds) == once
    assert len(combined.parts[1].scorer.points) == 5  # points shared by folds are stored once


def test_parts_with_different_views_are_not_merged():
    far = scaled_view(np.array([2.0, 0.5, 3.0]))
    inner = KernelScorer(Kernel("rbf", 0.5), np.eye(3), np.ones(3))
    scorers = [ViewedScorer(inner, NEAR), ViewedScorer(inner, far), ViewedScorer(inner, NEAR)]
    combined = combine([(scorers, [Scale(0.0, 0.0, 1.0)] * 3, 1.0)])
    assert [part.scorer.view.factors[2] for part in combined.parts] == [1.0, 3.0]
    X = np.random.default_rng(1).normal(size=(5, 3))
    np.testing.assert_allclose(combined(X), np.mean([one(X) for one in scorers], axis=0))


def test_composed_views_equal_views_applied_in_turn():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6, 4))
    X[1, 2], X[2, 0], X[3, 3] = np.nan, np.nan, np.nan
    first = View(np.array([2, 0, 3]), np.array([2.0, 3.0, 1.0]), np.array([1.0, 0.0, -1.0]),
                 np.array([0.5, np.nan, np.nan]))  # fmt: skip
    then = View(np.array([1, 0]), np.array([0.5, 4.0]), np.array([0.0, 2.0]),
                np.array([7.0, np.nan]))  # fmt: skip
    np.testing.assert_allclose(then.behind(first)(X), then(first(X)))
    scorer = ViewedScorer(LinearScorer(np.array([1.0, -2.0])), then)
    seen = seen_through(CombinationScorer((Part(scorer),)), first)
    assert seen.parts[0].scorer.scorer.kind == "linear"
    np.testing.assert_allclose(seen(X), scorer(first(X)))


def as_stored(scorer):
    return scorer.kind, scorer.settings(), scorer.arrays()


def test_combination_is_restored_and_invalid_ones_are_refused():
    share = MemberShare("logistic (C=1.0)", 0.5, 0.8, 0.01)
    made = dataclasses.replace(combine(members()), members=(share,))
    kind, settings, arrays = as_stored(made)
    X = np.random.default_rng(8).normal(size=(9, 3))
    again = restore(kind, settings, arrays, 3)
    np.testing.assert_array_equal(again(X), made(X))
    assert again.members == (share,)
    for name in settings:
        for wrong in (None, "x", -1.5):
            if type(settings[name]) is type(wrong) and not name.endswith((".scorer", ".kind")):
                continue  # another number, or another title
            with pytest.raises(ValueError, match=r"\S"):
                restore(kind, {**settings, name: wrong}, arrays, 3)
        with pytest.raises(ValueError, match=r"\S"):
            restore(kind, {k: v for k, v in settings.items() if k != name}, arrays, 3)
    for name in arrays:
        if name.endswith("gaps_left"):
            continue
        with pytest.raises(ValueError, match=r"\S"):
            restore(kind, settings, {k: v for k, v in arrays.items() if k != name}, 3)
    for more, surplus in (({}, {"99.weights": np.zeros(3)}), ({"surplus": 1.0}, {})):
        with pytest.raises(ValueError, match=r"\S"):
            restore(kind, settings | more, arrays | surplus, 3)
    inside = CombinationScorer((Part(made),))
    with pytest.raises(ValueError, match=r"\S"):
        restore(*as_stored(inside), 3)


# ------------------------------------------------------------------ the method


@pytest.fixture
def small_library(monkeypatch):
    """Replace the library by three members that train fast."""
    found = [
        Member.of("logistic"),
        Member.of("auc-rls", kernel="rbf"),
        Member.of("random-forest", n_trees=5),
    ]
    monkeypatch.setattr("aucstudio.engine.methods.auc_ensemble.library", lambda *_: found)
    return found


def rows(seed=0, N=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4))
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=N) > 1.5


def test_weights_are_chosen_on_held_out_rows(small_library):
    X, y = rows()
    seen = []
    original = METHODS["auc-ensemble"]

    def run_tasks(work, tasks, check):
        for task in tasks:
            seen.append(task)
            yield task, work(task, check)

    fitted = original(n_folds=3).fit(X, y, spread=run_tasks)
    assert seen == list(itertools.product(small_library, range(3)))
    assert fitted.n_iter_ == 3
    weights = [member.weight for member in fitted.scorer_.members]
    assert sum(weights) == pytest.approx(1.0)
    assert weights == sorted(weights, reverse=True)
    # Members have lower areas on held-out rows than the combination on training rows.
    assert max(member.auc for member in fitted.scorer_.members) < roc.auc(y, fitted.train_scores_)
    np.testing.assert_array_equal(original(n_folds=3).fit(X, y).train_scores_, fitted.train_scores_)


@pytest.mark.slow
@pytest.mark.parametrize(("trees", "each"), [(6, 6), (150, 50), (300, 100)])
def test_trees_of_a_forest_are_divided_among_the_folds(monkeypatch, trees, each):
    forest = Member.of("random-forest", n_trees=trees, min_samples_leaf=20)
    monkeypatch.setattr("aucstudio.engine.methods.auc_ensemble.library", lambda *_: [forest])
    X, y = rows()
    fitted = METHODS["auc-ensemble"](n_folds=3).fit(X, y)
    (part,) = fitted.scorer_.parts
    assert len(part.scorer.roots) == 3 * each


@pytest.mark.slow
def test_peak_memory_of_combining_fold_models_is_bounded():
    forests = [f"random-forest min_samples_leaf=1 n_trees={trees}" for trees in (20, 21, 22)]
    ensemble = METHODS["auc-ensemble"](n_folds=2, library="; ".join(forests))
    X = rows(5, 300)[0]
    y = np.arange(300) % 3 == 0  # no signal, so trees grow large
    ensemble.fit(X[:100], y[:100])
    tracemalloc.start()
    try:
        fitted = ensemble.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = sum(array.nbytes for array in fitted.scorer_.arrays().values())
    assert len(fitted.scorer_.parts) == 3
    assert peak < 2.2 * size  # keeping fold models and combination together took 2.9


def test_memory_estimate_counts_parallel_fits_and_stored_trees(monkeypatch):
    ensemble, found = METHODS["auc-ensemble"](), []
    for processors in (1, 2):
        monkeypatch.setattr("psutil.cpu_count", lambda n=processors: n)
        found.append(ensemble.estimate(30_000, 70_000, 50).bytes)
    largest = METHODS["nbauc"]().estimate(24_000, 56_000, 50).bytes
    rows = 8 * 80_000 * 50
    assert found[1] - found[0] == pytest.approx(largest + rows, rel=0.01)
    assert found[0] > largest + rows + 9e7  # the measured size of the trees


def test_groups_are_held_out_whole(small_library, monkeypatch):
    X, y = rows()
    groups, folds = np.arange(len(y)) // 5, []
    monkeypatch.setattr(
        auc_ensemble, "draw_folds", lambda *of: folds.append(draw_folds(*of)) or folds[-1]
    )
    METHODS["auc-ensemble"](n_folds=3).fit(X, y, groups=groups)
    assert len(folds[0]) == 3
    for train, held in folds[0]:
        assert not set(groups[train]) & set(groups[held])
    equal = METHODS["auc-ensemble"]().fit(X, y, groups=np.zeros(len(y)))
    assert {member.weight for member in equal.scorer_.members} == {1 / 3}
    assert equal.notes_[-1].code == "nothing_held_out"
    with pytest.raises(ValueError, match="one group for each"):
        METHODS["auc-ensemble"]().fit(X, y, groups=[1, 2])


def test_stop_keeps_the_finished_members(small_library):
    X, y = rows()
    fitted = METHODS["auc-ensemble"](n_folds=2).fit(X, y, callback=lambda step: step.iteration >= 2)
    assert fitted.n_iter_ == 2
    assert not fitted.converged_
    assert notice("member_stopped", member="Random forest") in fitted.notes_
    with pytest.raises(Stopped):
        METHODS["auc-ensemble"]().fit(X, y, spread=lambda work, tasks, check: iter(()))


def test_failed_member_is_skipped_with_a_note(small_library):
    X, y = rows()

    def run_tasks(work, tasks, check):
        for task in tasks:
            broken = task[0] is small_library[0]
            yield task, (ValueError("no luck") if broken else work(task, check))

    fitted = METHODS["auc-ensemble"](n_folds=2).fit(X, y, spread=run_tasks)
    assert notice("member_failed", member="Logistic regression", reason="no luck") in fitted.notes_
    with pytest.raises(ValueError, match="no luck"):
        METHODS["auc-ensemble"]().fit(
            X, y, spread=lambda work, tasks, check: ((t, ValueError("no luck")) for t in tasks)
        )


@pytest.mark.parametrize("name", ["quick", "thorough"])
@pytest.mark.parametrize("count", [50, 100_000])
def test_libraries_contain_registered_methods_with_valid_settings(name, count):
    found = library(name, count, 0, 10)
    assert len(set(found)) == len(found)
    for member in found:
        METHODS[member.method](**dict(member.params)).estimate(count // 5, count, 10)
    assert ("kernel-rank-svm" in {m.method for m in found}) == (
        count <= member_lists.MOST_KERNEL_ROWS
    )


def test_members_for_the_partial_auc_are_trained_for_the_range_of_the_search():
    found = library("thorough", 400, 0, 10, (0.0, 0.01))
    ranges = {m.method: m.params[-1] for m in found if m.method in ("svm-pauc", "pauc-boost")}
    assert ranges == dict.fromkeys(["svm-pauc", "pauc-boost"], ("fpr_range", (0.0, 0.01)))


@pytest.mark.slow
def test_extra_trees_with_more_columns_per_split_win_on_noisy_data():
    root, *wider = (
        METHODS[m.method](**dict(m.params))
        for m in library("quick", 400, 0, 20)
        if m.method == "extra-trees" and dict(m.params)["min_samples_leaf"] == 1
    )
    assert [forest.feature_share for forest in wider] == ["third", "all"]
    rng = np.random.default_rng(9)
    X = rng.normal(size=(800, 40))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=800) > 1
    held = [
        roc.auc(y[400:], forest.fit(X[:400], y[:400]).scorer_(X[400:])) for forest in (root, *wider)
    ]
    assert min(held[1:]) > held[0] + 0.02


def test_member_titles_are_unique():
    for name in ("quick", "thorough", "few"):
        named = titles(library(name, 100, 0, 10))
        assert len(set(named.values())) == len(named)
    named = titles(library("quick", 100, 0, 10))
    assert "Logistic regression" in named.values()
    assert "Scaled kernel RankSVM, cost 10" in named.values()


@pytest.mark.slow
def test_quick_library_is_as_good_as_its_best_members():
    X, y = rows(1, 600)
    fitted = METHODS["auc-ensemble"]().fit(X[:300], y[:300])
    held = roc.auc(y[300:], fitted.decision_function(X[300:]))
    alone = [
        roc.auc(y[300:], METHODS[key]().fit(X[:300], y[:300]).decision_function(X[300:]))
        for key in ("logistic", "gradient-boosting")
    ]
    assert held > max(alone) - 0.01
    assert fitted.objective_ < 0.5


# ------------------------------------------------------------------ forests


@pytest.mark.parametrize("gaps", [False, True])
def test_forest_matches_scikit_learn(gaps):
    rng = np.random.default_rng(9)
    X = rng.integers(0, 64, (200, 4)) / 64.0  # exact in single precision
    X[0], X[1] = 0.0, 1.0  # the features span [0, 1]: nothing is rescaled
    y = X[:, 0] + rng.random(200) > 1
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
        X[0], X[1] = 0.0, 1.0
    ours = METHODS["random-forest"](n_trees=7, min_samples_leaf=2, random_state=3).fit(X, y)
    theirs = RandomForestClassifier(7, min_samples_leaf=2, random_state=3).fit(X, y)
    Z = rng.random((300, 4))
    np.testing.assert_allclose(ours.scorer_(Z), theirs.predict_proba(Z)[:, 1], atol=1e-12)


@pytest.mark.parametrize("key", ["random-forest", "extra-trees"])
def test_forest_separates_missing_values_from_a_constant(key):
    positive = np.arange(60) % 2 == 0
    X = np.column_stack([np.where(positive, np.nan, 5.0), np.arange(60) % 7])
    scores = METHODS[key](n_trees=5).fit(X, positive).decision_function(X)
    assert scores[positive].min() > scores[~positive].max()


def test_forest_needs_little_extra_memory():
    X = np.random.default_rng(4).normal(size=(40_000, 50))
    forest = METHODS["random-forest"](n_trees=1, min_samples_leaf=10_000)
    forest.fit(X[:100], X[:100, 0] > 0)
    tracemalloc.start()
    try:
        forest.fit(X, X[:, 0] > 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * X.nbytes


# ------------------------------------------------------------------ stacked weights


def test_stacked_weights_are_non_negative_and_favour_useful_members():
    rng = np.random.default_rng(5)
    positive = rng.random(3000) < 0.3
    signal = positive + 0.0
    scores = np.array(
        [
            signal + rng.normal(size=3000),
            signal + rng.normal(size=3000),
            rng.normal(size=3000),
            -signal + rng.normal(size=3000),
        ]
    )
    weights = stack(scores, positive, np.random.default_rng(0))
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0.0
    assert weights[:2].min() > 0.4
    assert weights[2:].max() < 0.06


def test_row_of_weight_2_is_stacked_as_two_rows():
    positive, _ = drawn(7)
    scores = np.random.default_rng(8).normal(size=(3, 60)) + 0.5 * positive
    twice = np.arange(60) % 3 == 0
    rows = np.repeat(np.arange(60), 1 + twice)
    rng = np.random.default_rng(0)
    # Shrinkage to equal weights uses the effective rows, slightly more for two equal rows.
    weighted = stack(scores, positive, rng, 1.0 + twice)
    repeated = stack(scores[:, rows], positive[rows], rng)
    np.testing.assert_allclose(weighted, repeated, atol=0.02)


def test_weights_chosen_for_a_range_improve_its_partial_auc():
    rng = np.random.default_rng(9)
    positive = np.arange(1500) < 500
    # The first ranks better on the whole, the second at the top.
    scores = rng.normal(size=(2, 1500)) + np.array([[1.0], [0.0]]) * positive
    scores[1, :250] += 6.0
    whole, part = (
        choose_weights(scores, positive, criterion, np.random.default_rng(0))
        for criterion in (Criterion(), Criterion(0.0, 0.1, 1.0))
    )
    assert part.sum() == pytest.approx(1.0)
    top = Criterion(0.0, 0.1, 1.0)
    assert top(positive, part @ scores) >= top(positive, whole @ scores)


# ------------------------------------------------------------------ missing values


def with_missing(rows=160, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.4
    X = rng.normal(size=(rows, 3)) + y[:, None]
    X[rng.random(rows) < 0.3 + 0.4 * y, 2] = np.nan  # missingness is informative
    return X, y


def test_filled_view_imputes_medians_and_adds_indicators():
    X = np.array([[1.0, np.nan], [3.0, 5.0], [8.0, 7.0]])
    view = filled_view(X)
    np.testing.assert_array_equal(view(X), [[1, 6, 1], [3, 5, 0], [8, 7, 0]])
    np.testing.assert_array_equal(view(np.array([[np.nan, 2.0]])), [[3, 2, 0]])
    assert filled_view(X[1:]) is None


def test_members_use_missing_values_imputed_or_natively():
    X, y = with_missing()
    members = "logistic; gradient-boosting max_iter=20"
    found = METHODS["auc-ensemble"](library=members, n_folds=3).fit(X, y)
    assert not found.scorer_.members[0].title.startswith("No")
    assert len(found.scorer_.members) == 2
    again = restore(
        found.scorer_.kind, found.scorer_.settings(), found.scorer_.arrays(), n_features=3
    )
    np.testing.assert_allclose(again(X), found.scorer_(X))
    marked, unmarked = np.array([[0.5, 0.5, np.nan], [0.5, 0.5, np.nanmedian(X[:, 2])]])
    assert found.decision_function([marked])[0] > found.decision_function([unmarked])[0]


def test_missing_values_absent_in_training_are_refused():
    X, y = with_missing()
    known = np.nan_to_num(X)
    found = METHODS["auc-ensemble"](library="logistic", n_folds=2).fit(known, y)
    with pytest.raises(ValueError, match="NaN"):
        found.decision_function(X)
    assert found.fit(X, y).has_missing_  # another fit may have them


@pytest.mark.parametrize("features", [1, 2, 3, 6, 7, 9, 10, 30, 100])
def test_extra_trees_members_differ_for_any_number_of_features(features):
    shares = {"sqrt": int(np.sqrt(features)), "third": int(features / 3), "all": features}
    trees = [
        (
            m.method,
            *sorted(
                (name, max(1, shares[value]) if name == "feature_share" else str(value))
                for name, value in {"feature_share": "sqrt", **dict(m.params)}.items()
            ),
        )
        for m in library("quick", 300, 0, features)
        if m.method == "extra-trees"
    ]
    assert len(trees) == len(set(trees))
