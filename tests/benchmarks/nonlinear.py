"""How near the scalable methods come to the exact kernel RankSVM, beside honest rivals.

    python tests/benchmarks/nonlinear.py --data FOLDER [--halves 5] [--rows 100000] [--peer]

First spambase: halves, C (1 / lambda for NSAUC) chosen on a third of the training half by AUC, the
same way for all. Then a generated problem that is not linear: ROWS rows, half of them to train
on; the exact kernel method on 5,000 of them, where it runs. --peer adds scikit-survival's kernel
RankSVM, where that is installed, on the same rows. One BLAS thread, times are of the processor.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucstudio.engine import METHODS
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.roc import auc
from tests.benchmarks.tables import halved

WEIGHTS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
EPOCHS = 30


class Task:
    """A half of a table, by the names that ``halved`` reads."""

    def __init__(self, name, half):
        self.name, self.half = name, half


def methods(landmarks, *, exact):
    """Make each method for a weight of the loss; the rivals take their own constants."""
    made = {
        "linear RankSVM": lambda C: METHODS["rank-svm"](C=C),
        "NBAUC": lambda C: METHODS["nbauc"](C=C, n_landmarks=landmarks, gamma="scale"),
        "RFAUC": lambda C: METHODS["rf-auc"](C=C, n_components=landmarks, gamma="scale"),
        "NSAUC": lambda C: METHODS["nsauc"](
            regularization=1 / C, n_landmarks=landmarks, gamma="scale", n_epochs=EPOCHS
        ),
        "logistic, Nystrom features": lambda C: OnFeatures(landmarks, C),
        "logistic": lambda C: LogisticRegression(C=C / 1e3, max_iter=1_000),
    }
    if exact:
        made["kernel RankSVM"] = lambda C: METHODS["kernel-rank-svm"](C=C, gamma="scale")
    return made


class OnFeatures:
    """Logistic regression on the features of NBAUC."""

    def __init__(self, landmarks, C):
        self._like = METHODS["nbauc"](n_landmarks=landmarks, gamma="scale")
        self._model = LogisticRegression(C=C / 1e2, max_iter=300)

    def fit(self, X, y):
        kernel = KernelSettings(kernel="rbf", gamma="scale").settle_kernel(X)
        self._map = self._like._map(X, kernel, np.random.default_rng(0), Monitor())
        self._model.fit(self._map(X), y)
        return self

    def decision_function(self, X):
        return self._model.decision_function(self._map(X))


def chosen(make, X, y):
    """Give the weight with the largest AUC on a third of the rows."""
    fit, rest, y_fit, y_rest = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    areas = [auc(y_rest, make(C).fit(fit, y_fit).decision_function(rest)) for C in WEIGHTS]
    return WEIGHTS[int(np.argmax(areas))]


def measured(make, C, X, y, X_test, y_test):
    began = time.process_time()
    model = make(C).fit(X, y)
    took = time.process_time() - began
    return auc(y_test, model.decision_function(X_test)), took


def spambase(folder, halves, landmarks=800):
    made = methods(landmarks, exact=True)
    made["gradient boosting"] = lambda _: HistGradientBoostingClassifier(random_state=0)
    found = {name: [] for name in made}
    for half in range(halves):
        (X, y), (X_test, y_test) = halved(folder, Task("spambase", half))
        for name, make in made.items():
            C = 1.0 if name == "gradient boosting" else chosen(make, X, y)
            found[name].append((*measured(make, C, X, y, X_test, y_test), C))
    print(f"spambase, {halves} halves, {landmarks} landmarks")
    report(found, "kernel RankSVM")


def generated(rows, features, exact_rows=5_000, landmarks=800):
    X, y = make_classification(
        rows, features, n_informative=10, n_redundant=5, weights=[0.88], random_state=0
    )
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X)
    X, X_test, y, y_test = scaler.transform(X), scaler.transform(X_test), y == 1, y_test == 1
    part, _, y_part, _ = train_test_split(X, y, train_size=exact_rows, stratify=y, random_state=0)
    compare(part, y_part, X_test, y_test, landmarks=2 * landmarks, exact=True)
    compare(X, y, X_test, y_test, landmarks=landmarks, exact=False)


def compare(X, y, X_test, y_test, *, landmarks, exact):
    made = methods(landmarks, exact=exact)
    made["gradient boosting"] = lambda _: HistGradientBoostingClassifier(random_state=0)
    found = {}
    for name, make in made.items():
        C = 1.0 if name == "gradient boosting" else chosen(make, X, y)
        found[name] = [(*measured(make, C, X, y, X_test, y_test), C)]
        print(f"  … {name}", flush=True)
    print(f"generated, {len(X):,} rows to train on, {landmarks} landmarks")
    report(found, "kernel RankSVM" if exact else "NBAUC")


def report(found, reference):
    base = np.array([area for area, _, _ in found[reference]])
    for name, lines in found.items():
        areas, seconds, weights = (np.array(column) for column in zip(*lines, strict=True))
        print(
            f"  {name:28} AUC {areas.mean():.4f}   against {reference} "
            f"{(areas - base).mean():+.4f}   {seconds.mean():7.2f} s   "
            f"C {np.median(weights):g}",
            flush=True,
        )


def peer(rows=5_000):
    """Kernel RankSVM beside scikit-survival's, which sees the label as a time."""
    from sksurv.svm import FastKernelSurvivalSVM
    from sksurv.util import Surv

    X, y = make_classification(
        2 * rows, 50, n_informative=10, n_redundant=10, weights=[0.88], random_state=0
    )
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    ours = measured(
        lambda C: METHODS["kernel-rank-svm"](C=C, gamma=1 / 50), 100.0, X, y == 1, X_test, y_test
    )
    pairs = int((y == 1).sum()) * int((y == 0).sum())
    times = Surv.from_arrays(np.ones(len(y), bool), y + 1.0)
    began = time.process_time()
    theirs = FastKernelSurvivalSVM(
        alpha=100.0 / pairs, rank_ratio=1.0, kernel="rbf", gamma=1 / 50, max_iter=100,
        random_state=0,
    ).fit(X, times)  # fmt: skip
    took = time.process_time() - began
    scores = theirs.predict(X_test)
    area = max(auc(y_test, scores), auc(y_test, -scores))
    print(
        f"kernel RankSVM, {len(X):,} rows: ours {ours[1]:.2f} s (AUC {ours[0]:.4f}), "
        f"scikit-survival {took:.2f} s (AUC {area:.4f}): {took / ours[1]:.1f} times as long",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--halves", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--peer", action="store_true")
    wanted = parser.parse_args()
    with threadpool_limits(1):
        if wanted.peer:
            peer()
        if wanted.data:
            spambase(wanted.data, wanted.halves)
        if wanted.rows:
            generated(wanted.rows, wanted.features)


if __name__ == "__main__":
    main()
