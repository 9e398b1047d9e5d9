"""Training on partitions that workers hold: the numbers of a fit on all rows at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from aucstudio.engine import METHODS, roc
from aucstudio.engine.blocks import Passes
from aucstudio.engine.monitor import Stopped
from aucstudio.project import partitions
from aucstudio.project.errors import InputError
from aucstudio.project.partitions import PartitionBlocks, fit_partitions
from aucstudio.project.workers import Workers


def make_rows(count=600, features=5, offset=0.0):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(count, features)) + offset
    return X, X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=count) > offset / 2 + 0.8


def cut(X, positive, at):
    """Give the rows as tables of columns, cut at some places."""
    return [
        {f"x{k}": part[:, k] for k in range(X.shape[1])} | {"kind": np.where(marks, "yes", "no")}
        for part, marks in zip(np.split(X, at), np.split(positive, at), strict=True)
    ]


@pytest.fixture
def workers(monkeypatch):
    monkeypatch.setattr(partitions, "alone", lambda: None)
    with ThreadPoolExecutor(2) as executor:
        yield Workers(executor, 2)


def trained(method, parts, workers, **options):
    return fit_partitions(method, parts, workers, label="kind", positive="yes", **options)


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize(
    ("key", "settings"),
    [
        ("auc-rls", {}),
        ("rank-svm", {"tol": 1e-9}),
        ("nbauc", {"n_landmarks": 30, "tol": 1e-9}),
    ],
)
def test_partitions_train_as_all_rows_do(workers, key, settings, offset):
    X, positive = make_rows(offset=offset)
    whole = METHODS[key](**settings).fit(X, positive)
    parts = trained(METHODS[key](**settings), cut(X, positive, [50, 51, 400]), workers)
    assert parts.objective_ == pytest.approx(whole.objective_, rel=1e-7)
    spread = np.ptp(whole.train_scores_)
    np.testing.assert_allclose(parts.train_scores_, whole.train_scores_, atol=1e-4 * spread)
    assert roc.auc(positive, parts.train_scores_) == pytest.approx(
        roc.auc(positive, whole.train_scores_), abs=1e-4
    )


def test_many_features_are_scaled_by_what_adds_up_too(workers):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 300))
    positive = X[:, 0] + rng.normal(size=400) > 0.5
    whole = METHODS["rank-svm"](C=0.1, tol=1e-9).fit(X, positive)
    parts = trained(METHODS["rank-svm"](C=0.1, tol=1e-9), cut(X, positive, [150]), workers)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-5)


def test_a_partition_may_hold_a_single_class(workers):
    X, positive = make_rows()
    order = np.argsort(positive, kind="stable")
    X, positive = X[order], positive[order]
    at = [100, int((~positive).sum())]
    whole = METHODS["auc-rls"]().fit(X, positive)
    parts = trained(METHODS["auc-rls"](), cut(X, positive, at), workers)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-10)


def test_features_stay_where_they_are(workers, monkeypatch):
    X, positive = make_rows()
    fetched = []
    monkeypatch.setattr(PartitionBlocks, "block", lambda _self, k: fetched.append(k))
    trained(METHODS["rank-svm"](), cut(X, positive, [300]), workers)
    assert fetched == []


def test_a_partition_can_be_fetched(workers):
    X, positive = make_rows(90)
    blocks = PartitionBlocks.of(cut(X, positive, [20, 60]), workers, "kind", "yes")
    rows, part = blocks.block(1)
    np.testing.assert_array_equal(rows, np.arange(20, 60))
    np.testing.assert_array_equal(part, X[20:60])
    np.testing.assert_array_equal(blocks.positive, positive)
    assert (len(blocks), blocks.features) == (3, 5)


def test_what_is_wrong_is_said(workers):
    X, positive = make_rows(60)
    parts = cut(X, positive, [30])
    with pytest.raises(InputError, match="there is no column class among x0, x1"):
        fit_partitions(METHODS["auc-rls"](), parts, workers, label="class")
    with pytest.raises(InputError, match="there are no partitions"):
        trained(METHODS["auc-rls"](), [], workers)
    del parts[1]["x4"]
    with pytest.raises(InputError, match="partition 2 has the columns x0, x1, x2, x3, the first"):
        trained(METHODS["auc-rls"](), parts, workers)
    holed = cut(np.where(X > 2, np.nan, X), positive, [30])
    with pytest.raises(ValueError, match="NaN"):
        trained(METHODS["auc-rls"](), holed, workers)
    with pytest.raises(ValueError, match="all rows in memory"):
        trained(METHODS["svm-auc"](), cut(X, positive, [30]), workers)


def test_a_stop_is_heard_between_partitions(workers):
    X, positive = make_rows()
    blocks = PartitionBlocks.of(cut(X, positive, [200, 400]), workers, "kind", "yes")
    heard, done = [], []

    def look(fraction):
        heard.append(fraction)
        if fraction > 0.5:
            raise Stopped("enough")

    with pytest.raises(Stopped):
        done.extend(Passes(blocks, look).over(len_of_pieces))
    assert done == []
    assert heard == sorted(heard)


def len_of_pieces(pieces):
    return sum(len(rows) for rows, _ in pieces)
