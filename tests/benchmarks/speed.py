"""Compare methods with libraries that do the same, as ratios of processor time.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m tests.benchmarks.speed [NAME ...]

Each line runs both in turns in one process with one thread and keeps the fastest run of each.
The ratio is their time over ours: above 1, ours is faster. Processor time hardly depends on the
load of the machine. A library that is not installed (xgboost, dlib) is named and skipped.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from aucstudio.engine import METHODS, inference, roc


@dataclass
class Comparison:
    """Two ways to do the same: ``goal`` is the least ratio, ``show`` describes the result."""

    what: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    peer: str
    goal: float
    repeats: int = 5
    show: Callable[[object], str] = lambda _: ""


def fits(what, ours, theirs, X, y, *described, **more):
    """Compare the fits of two estimators to the same rows."""
    return Comparison(what, lambda: ours.fit(X, y), lambda: theirs.fit(X, y), *described, **more)


def seconds(call):
    began = time.process_time()
    done = call()
    return time.process_time() - began, done


def measured(comparison):
    """Print one line."""
    comparison.ours()  # compiles, or reads what was compiled
    mine, theirs = np.inf, np.inf
    for _ in range(comparison.repeats):
        taken, found = seconds(comparison.ours)
        mine = min(mine, taken)
        taken, others = seconds(comparison.theirs)
        theirs = min(theirs, taken)
    ratio = theirs / mine
    words = comparison.show
    print(
        f"{comparison.what:<44}{mine:9.4f} s  {comparison.peer:<28}{theirs:9.4f} s"
        f"{ratio:8.2f}  (goal {comparison.goal:g})  {words(found)} {words(others)}",
        flush=True,
    )


def rows_of(count, features=50, seed=0):
    """Make standardised rows, of which an eighth are positive."""
    X, y = make_classification(2 * count, features, weights=[0.88], random_state=seed)
    return StandardScaler().fit_transform(X[::2]), y[::2]


def logistic():
    X, y = rows_of(50_000)
    peer = LogisticRegression(max_iter=1_000)
    ours = METHODS["logistic"]()
    yield fits("logistic, 50,000 x 50", ours, peer, X, y, "scikit-learn", 1.0, 10)


def svm():
    for rows, C in ((10_000, 1.0), (50_000, 0.1), (50_000, 1.0), (200_000, 0.1)):
        X, y = rows_of(rows)
        peer = LinearSVC(loss="hinge", C=C)
        ours = METHODS["svm"](C=C)
        what = f"svm, linear, {rows:,} x 50, C = {C:g}"
        yield fits(what, ours, peer, X, y, "LIBLINEAR, hinge", 0.5, 2)
    X, y = rows_of(3_000, 20)
    for C in (1.0, 10.0):
        ours = METHODS["svm"](C=C, kernel="rbf")
        yield fits(f"svm, rbf, 3,000 x 20, C = {C:g}", ours, SVC(C=C), X, y, "libsvm", 1.0, 5)


def boosting():
    for rows in (20_000, 50_000):
        X, y = rows_of(rows)
        peer = HistGradientBoostingClassifier(
            min_samples_leaf=10, early_stopping=False, random_state=0
        )
        ours = METHODS["gradient-boosting"]()
        what = f"gradient boosting, {rows:,} x 50"
        yield fits(what, ours, peer, X, y, "scikit-learn", 0.95, 3)


def hinge():
    """Beside dlib without the conversion of its rows, which takes six times as long."""
    if not is_installed("dlib"):
        return
    import dlib

    X, y = rows_of(50_000)
    pairs = dlib.ranking_pair()
    for row, positive in zip(X, y, strict=True):
        (pairs.relevant if positive else pairs.nonrelevant).append(dlib.vector(row.tolist()))
    for C in (1.0, 100.0):
        ours, peer = METHODS["auc-svm"](C=C), dlib.svm_rank_trainer()
        peer.c = C
        yield Comparison(
            f"all-pairs hinge, 50,000 x 50, C = {C:g}",
            lambda ours=ours: ours.fit(X, y),
            lambda peer=peer: peer.train(pairs),
            "dlib",
            2.0,
            5,
        )


def least_squares():
    X, y = rows_of(50_000)
    ours = METHODS["auc-rls"]()
    yield Comparison(
        "auc-rls, 50,000 x 50", lambda: ours.fit(X, y), lambda: X.T @ X, "X'X", 0.5, 15
    )


def rankboost():
    if not is_installed("xgboost"):
        return
    import xgboost

    for rows in (5_000, 50_000):
        X, y = rows_of(rows)
        ours = METHODS["rankboost"](n_rounds=100)
        peer = xgboost.XGBClassifier(n_estimators=100, max_depth=1, n_jobs=1)
        what = f"rankboost, {rows:,} x 50, 100 rounds"
        yield fits(what, ours, peer, X, y, "xgboost, depth 1", 3.0, 5)


def scores_of(rows, share=0.1):
    rng = np.random.default_rng(0)
    y = rng.random(rows) < share
    score = rng.standard_normal(rows) + y
    return y, score, score + rng.standard_normal(rows)


def area():
    for rows in (1_000_000, 10_000_000):
        y, score, _ = scores_of(rows)
        yield Comparison(
            f"AUC of {rows:,} scores",
            lambda y=y, score=score: roc.auc(y, score),
            lambda score=score: np.sort(score),
            "a sort",
            1 / 1.2,
            4,
        )


def delong():
    for share in (0.1, 0.5):
        y, a, b = scores_of(1_000_000, share)
        yield Comparison(
            f"paired DeLong, 10⁶ rows, {share:.0%} positive",
            lambda y=y, a=a, b=b: inference.delong_test(y, a, b),
            lambda y=y, a=a: inference.delong_interval(y, a),
            "one interval",
            1 / 2.5,
            4,
        )


def nbauc(landmarks=800):
    """Landmarks by KMeans, a Nystrom map and LIBLINEAR's squared hinge, on the same rows."""
    fit, rest = slice(0, 20_000), slice(20_000, None)
    for seed in (0, 1):
        X, y = make_classification(
            60_000, 20, n_informative=10, n_redundant=5, weights=[0.88], random_state=seed
        )
        X = StandardScaler().fit_transform(X)
        ours = METHODS["nbauc"](n_landmarks=landmarks, gamma="scale")
        peer = Composed(landmarks)

        def tested(found, X=X, y=y):
            return f"AUC {roc_auc_score(y[rest], found.decision_function(X[rest])):.4f}"

        what = f"nbauc, 20,000 x 20, {landmarks} landmarks"
        peer_words = "KMeans + LIBLINEAR"
        yield fits(what, ours, peer, X[fit], y[fit], peer_words, 3.0, 1, show=tested)


class Composed:
    """KMeans, Nystrom features, LIBLINEAR."""

    def __init__(self, landmarks):
        self._landmarks = landmarks

    def fit(self, X, y):
        from aucstudio.engine.features import nystrom_map
        from aucstudio.engine.kernels import Kernel

        centres = KMeans(self._landmarks, n_init=1, random_state=0).fit(X).cluster_centers_
        self._map = nystrom_map(Kernel("rbf", gamma=1 / (X.shape[1] * X.var())), centres)
        self._model = LinearSVC(C=1.0, class_weight="balanced", dual=False).fit(self._map(X), y)
        return self

    def decision_function(self, X):
        return self._model.decision_function(self._map(X))


def is_installed(name):
    found = importlib.util.find_spec(name) is not None
    if not found:
        print(f"{name} is not installed: left out")
    return found


COMPARISONS = {
    made.__name__: made
    for made in (
        logistic,
        svm,
        boosting,
        hinge,
        least_squares,
        rankboost,
        area,
        delong,
        nbauc,
    )
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMPARISONS))
    names = parser.parse_args().names or list(COMPARISONS)
    if unknown := set(names) - set(COMPARISONS):
        parser.error(f"unknown comparison {min(unknown)!r}; there are " + ", ".join(COMPARISONS))
    with threadpool_limits(1):
        for name in names:
            for comparison in COMPARISONS[name]():
                measured(comparison)


if __name__ == "__main__":
    main()
