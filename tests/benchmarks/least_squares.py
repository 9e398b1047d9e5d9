"""What the least-squares methods cost, as multiples of one numpy call on the same matrix.

    python tests/benchmarks/least_squares.py [--rows 2000] [--dual-rows 5000]

Set OPENBLAS_NUM_THREADS=1 for figures that do not depend on the number of processors.
"""

import argparse
import time

import numpy as np

from aucstudio.engine import AUCRLS
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.monitor import Monitor

GRID = 2.0 ** np.arange(-20, 10)
GAUSSIAN = Kernel("rbf", gamma=0.03)


def seconds(call, repeats=1):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def made(rows, features, share, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < share
    return rng.standard_normal((rows, features)) + 0.3 * positive[:, None], positive


def show(what, time_taken, unit, unit_time):
    print(f"{what:<52}{time_taken:9.4f} s{time_taken / unit_time:8.2f} x {unit}", flush=True)


def linear():
    X, y = made(50_000, 50, 0.12)
    unit = seconds(lambda: X.T @ X, 20)
    show("X.T @ X, 50,000 x 50", unit, "X.T @ X", unit)
    method, alone = AUCRLS(), Context(Monitor())
    show("AUC-RLS, _fit", seconds(lambda: method._fit(X, y, alone), 20), "X.T @ X", unit)
    whole = seconds(lambda: method.fit(X, y), 20)
    show("AUC-RLS, fit with checks, scores, threshold", whole, "X.T @ X", unit)


def dual(rows):
    X, y = made(rows, 20, 0.3)
    K = GAUSSIAN(X, X)
    unit = seconds(lambda: np.linalg.eigh(K))
    show(f"eigh, N = {rows:,}", unit, "eigh", unit)
    method, alone = AUCRLS(kernel="rbf", gamma=GAUSSIAN.gamma), Context(Monitor())
    show(
        "AUC-RLS, _fit, Gaussian",
        seconds(lambda: method._fit(X, y, alone)),
        "eigh",
        unit,
    )

    walk = seconds(lambda: list(method.fit_path(X, y, "regularization", GRID)))
    show(f"AUC-RLS, path of {len(GRID)} values", walk, "eigh", unit)


def leave_pair_out(rows):
    for share in (0.5, 0.1):
        X, y = made(rows, 20, share)
        K = GAUSSIAN(X, X)
        unit = seconds(lambda K=K: np.linalg.eigh(K))
        show(f"eigh, N = {rows:,}", unit, "eigh", unit)
        settings = {"kernel": "precomputed"}, {"kernel": "linear"}
        for name, data, chosen in zip(("Gaussian", "linear"), (K, X), settings, strict=True):
            method = AUCRLS(**chosen)
            taken = seconds(
                lambda a=(data, y), of=method: of.leave_pair_out(*a, regularizations=GRID)
            )
            what = f"leave-pair-out, {len(GRID)} values, {name}, {share:.0%} positive"
            show(what, taken, "eigh", unit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--dual-rows", type=int, default=5_000)
    wanted = parser.parse_args()
    linear()
    leave_pair_out(wanted.rows)
    dual(wanted.dual_rows)


if __name__ == "__main__":
    main()
