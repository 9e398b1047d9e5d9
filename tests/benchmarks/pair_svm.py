"""Linear AUC-SVM on all pairs, in passes over the data.

    python tests/benchmarks/pair_svm.py [--rows 50000]

A pass is ``u = X @ w; X.T @ u`` on the same array with one BLAS thread. The optimum that the
relative gap refers to is the lower bound of a run to 1e-7.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucstudio.engine import METHODS
from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.solvers import cutting_plane


def one_pass(X, repeats=20):
    w = np.ones(X.shape[1])
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        u = X @ w
        X.T @ u
        times.append(time.perf_counter() - began)
    return np.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=50_000)
    rows = parser.parse_args().rows
    X, y = make_classification(2 * rows, 50, weights=[0.88], random_state=0)
    X, y = StandardScaler().fit_transform(X[::2]), y[::2] == 1
    with threadpool_limits(1):
        unit = one_pass(X)
        print(f"{rows} x 50, {y.sum()} positives; one pass {1e3 * unit:.2f} ms")
        for C in (1.0, 10.0, 100.0):
            risk = PairHinge(y)
            tight = cutting_plane.minimise(X, risk, C, tol=1e-7, monitor=Monitor())
            bound = tight.objective - tight.gap
            began = time.perf_counter()
            found = cutting_plane.minimise(X, risk, C, tol=1e-4, monitor=Monitor())
            took = time.perf_counter() - began
            began = time.perf_counter()
            METHODS["auc-svm"](C=C, tol=1e-4).fit(X, y)
            whole = time.perf_counter() - began
            print(
                f"C = {C:g}: {found.n_iter} iterations, {took / unit:.1f} passes (the whole fit "
                f"{whole / unit:.1f}), objective {found.objective / bound - 1:.1e} above the bound"
            )


if __name__ == "__main__":
    main()
