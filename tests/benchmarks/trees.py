"""AUCsplit against scikit-learn's decision tree (Gini) with leaves of the same size.

    python tests/benchmarks/trees.py [--rows 5000 50000] [--leaf 20]

One thread, same run; ratios below 1 say that AUCsplit is the faster.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from aucstudio.engine.methods.trees.auc_split import AUCSplit
from aucstudio.engine.roc import auc


def made():
    X, y = make_classification(100_000, 50, weights=[0.88], random_state=0)
    train = np.random.default_rng(0).permutation(len(y)) < len(y) // 2
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[~train]), y[~train]


def fitted(make, X, y, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        model = make().fit(X, y)
        times.append(time.perf_counter() - start)
    return model, min(times)


def compare(rows, leaf, X, y, X_new, y_new):
    repeats = 5 if rows <= 10_000 else 2
    ours, own = fitted(lambda: AUCSplit(min_samples_leaf=leaf), X[:rows], y[:rows], repeats)
    theirs, peer = fitted(
        lambda: DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0),
        X[:rows],
        y[:rows],
        repeats,
    )
    own_auc = auc(y_new, ours.decision_function(X_new))
    peer_auc = auc(y_new, theirs.predict_proba(X_new)[:, 1])
    print(
        f"{rows:,} x {X.shape[1]}, leaves of {leaf} rows or more: AUCsplit {own:.3f} s "
        f"({ours.n_iter_ + 1} leaves, AUC {own_auc:.3f}), scikit-learn {peer:.3f} s "
        f"({theirs.get_n_leaves()} leaves, AUC {peer_auc:.3f}); ratio {own / peer:.2f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 50_000])
    parser.add_argument("--leaf", type=int, default=20)
    wanted = parser.parse_args()
    data = made()
    AUCSplit().fit(data[0][:500], data[1][:500])  # compiles, or loads what was compiled
    with threadpool_limits(1):
        for rows in wanted.rows:
            compare(rows, wanted.leaf, *data)


if __name__ == "__main__":
    main()
