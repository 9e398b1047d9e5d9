"""What the pair SVMs cost beside generic solvers of the same problem.

    python tests/benchmarks/pair_kernel.py [--quick] [--large] [--repeats 3]

One BLAS thread; every figure is the better of the repeats, every ratio of one run. Each task has a
process of its own, so that the memory is its own too; what interpreter and libraries take of it is
printed as the memory before.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import cvxopt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.losses.pairs import neighbour_pairs
from aucstudio.engine.methods.pair_svm.auc_svm import AUCSVM

TOL = 1e-6


def best_of(repeats, call):
    """Time a call; give its result too."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def xor(seed=0, times=1):
    """Draw the toy problem of the SAUC paper (its table 1), a fifth of it for training."""
    rng = np.random.default_rng(seed)
    up, down = [[0.15, 0.1], [0.1, 0.15]], [[0.15, -0.1], [-0.1, 0.15]]
    clouds = [([0.8, 0], up, 20), ([-0.8, 0], up, 20), ([0, 0.8], down, 40), ([0, -0.8], down, 40)]
    X = [rng.multivariate_normal(mean, cov, times * size) for mean, cov, size in clouds]
    return np.vstack(X), np.arange(120 * times) < 40 * times


def nonlinear():
    """Draw 10,000 rows of 50 features, 12.5 % of them positive, in a pattern that is not linear."""
    X, y = make_classification(
        10_000, 50, n_informative=10, n_redundant=10, weights=[0.88], random_state=0
    )
    return X, y == 1


def training_half():
    X, positive = nonlinear()
    X, _, positive, _ = train_test_split(
        X, positive, test_size=0.5, stratify=positive, random_state=0
    )
    return StandardScaler().fit_transform(X), positive


def dense_program(X, positive, kernel, C):
    """Solve the dual over an explicit pair Gram matrix; give the primal value of the scores."""
    i, j = (rows.ravel() for rows in np.meshgrid(*map(np.flatnonzero, (positive, ~positive))))
    K, P = kernel(X, X), len(i)
    rows = K[i] - K[j]
    Q = rows[:, i] - rows[:, j]
    box = cvxopt.spmatrix([1.0] * P + [-1.0] * P, range(2 * P), [*range(P), *range(P)])
    bounds = cvxopt.matrix(np.r_[np.full(P, C / P), np.zeros(P)])
    options = {"show_progress": False, "reltol": TOL, "abstol": 0.0}
    done = cvxopt.solvers.qp(
        cvxopt.matrix(Q), cvxopt.matrix(-1.0, (P, 1)), box, bounds, options=options
    )
    a = np.clip(np.ravel(done["x"]), 0.0, C / P)
    margins = Q @ a
    return 0.5 * a @ margins + C * np.maximum(0.0, 1.0 - margins).mean()


def part_a(repeats, quick):
    print("a) XOR of the SAUC paper, Gaussian: all-pairs AUC-SVM against cvxopt's dense QP")
    for C in (10.0,) if quick else (10.0, 1000.0, 3200.0):
        found = in_child("xor", C, repeats)
        ours, theirs = found["ours"], found["theirs"]
        print(
            f"   {found['pairs']:,} pairs, C = {C:g}: {1e3 * ours:.1f} ms against {theirs:.2f} s, "
            f"{theirs / ours:.0f} times as fast; objective {found['objective']:.6f}, "
            f"{found['apart']:.1e} apart",
            flush=True,
        )


def part_b(quick):
    sizes = (200, 400) if quick else (800, 1600)
    print(f"b) all pairs of {sizes[0]} positives and {sizes[1]} negatives, Gaussian")
    for data in ("plain", "xor"):
        for C in (10.0,) if quick else (10.0, 1000.0):
            found = in_child("all-pairs", data, *sizes, C)
            print(f"   {data:5} C = {C:4g}: {told(found)}", flush=True)


def part_c(repeats, quick):
    print("c) neighbour pairs, 5,000 rows x 50, Gaussian, C = 1 for each pair")
    coarse, fine = (in_child("list", 10, tol, repeats) for tol in (1e-4, TOL))
    print(f"   ours, 10 neighbours, tol 1e-4: {told(coarse)}")
    print(f"   ours, 10 neighbours, tol 1e-6: {told(fine)}", flush=True)
    if quick:
        return
    smo = in_child("smo", 10, repeats)
    print(
        f"   SMO on the pair kernel: {smo['seconds']:.2f} s ({smo['build']:.2f} of them to build "
        f"it), peak {smo['peak']:.0f} MB, dual {smo['dual']:.3f} (one equality constraint more)"
    )
    for name, found in (("1e-4", coarse), ("1e-6", fine)):
        print(
            f"   ours at tol {name}: {smo['seconds'] / found['seconds']:.1f} times as fast as SMO"
        )
    print(f"   ours, 100 neighbours, tol 1e-6: {told(in_child('list', 100, TOL, repeats))}")


def part_d():
    X, y = make_classification(
        1_000_000, 50, n_informative=10, n_redundant=10, weights=[0.88], random_state=0
    )
    X, positive = StandardScaler().fit_transform(X), y == 1
    w, passes = np.ones(50), []
    for _ in range(5):
        start = time.perf_counter()
        X.T @ (X @ w)
        passes.append(time.perf_counter() - start)
    unit = float(np.median(passes))
    pairs = int(positive.sum()) * int((~positive).sum())
    print(f"d) linear AUC-SVM, 10^6 x 50, all {pairs:,} pairs; one pass {1e3 * unit:.0f} ms")
    for C in (1.0, 10.0, 100.0):
        model = AUCSVM(C=C)
        took, _ = best_of(1, lambda m=model: m.fit(X, positive))
        print(
            f"   C = {C:4g}: {took:.2f} s = {took / unit:.0f} passes, {model.n_iter_} iterations, "
            f"objective {model.objective_:.6f}, gap {model.gap_ / model.objective_:.1e} of it"
        )


# --- what runs in processes of its own


def in_child(task, *arguments):
    """Run a task in a fresh process; give what it found, its peak memory among it."""
    command = [sys.executable, __file__, "--task", json.dumps([task, *arguments])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def told(found):
    return (
        f"{found['pairs']:,} pairs, {found['rows']:,} rows: {found['seconds']:.2f} s, peak "
        f"{found['peak']:.0f} MB ({found['before']:.0f} before), {found['iterations']} looks, "
        f"dual {found['dual']:.4f}, gap {found['gap']:.1e} of the objective"
    )


def xor_task(C, repeats):
    X, positive = xor()
    model = AUCSVM(kernel="rbf", gamma=1.0, C=C, tol=TOL).fit(X, positive)
    ours, _ = best_of(10 * repeats, lambda: model.fit(X, positive))
    theirs, value = best_of(repeats, lambda: dense_program(X, positive, Kernel("rbf", 1.0), C))
    return {
        "pairs": int(positive.sum() * (~positive).sum()),
        "ours": ours,
        "theirs": theirs,
        "objective": model.objective_,
        "apart": abs(value / model.objective_ - 1.0),
    }


def fitted(model, X, positive, repeats, pairs, rows):
    small = np.r_[np.flatnonzero(positive)[:20], np.flatnonzero(~positive)[:30]]
    AUCSVM(kernel="rbf", n_neighbors=3).fit(X[small], positive[small])  # loads compiled code
    before = peak_mb()
    seconds, _ = best_of(repeats, lambda: model.fit(X, positive))
    return {
        "seconds": seconds,
        "before": before,
        "peak": peak_mb(),
        "pairs": pairs,
        "rows": rows,
        "iterations": model.n_iter_,
        "dual": model.objective_ - model.gap_,
        "gap": model.gap_ / model.objective_,
    }


def all_pairs_task(data, m, n, C):
    if data == "xor":
        X, positive = xor(times=m // 40)
    else:
        X, positive = nonlinear()
        few = np.r_[np.flatnonzero(positive)[:m], np.flatnonzero(~positive)[:n]]
        X, positive = StandardScaler().fit_transform(X[few]), positive[few]
    settings = {"kernel": "rbf", "gamma": 1 / X.shape[1], "C": C, "tol": TOL}
    count = int(positive.sum() * (~positive).sum())
    return fitted(AUCSVM(**settings), X, positive, 1, count, len(X))


def list_task(k, tol, repeats):
    X, positive = training_half()
    rows, pairs = neighbour_pairs(X, positive, k).compact()
    settings = {"kernel": "rbf", "gamma": 1 / X.shape[1], "n_neighbors": k, "tol": tol}
    model = AUCSVM(C=float(pairs.count), **settings)
    return fitted(model, X, positive, repeats, pairs.count, len(rows))


def smo_task(k, repeats):
    X, positive = training_half()
    best = {"seconds": np.inf}
    for _ in range(repeats):
        start = time.perf_counter()
        rows, pairs = neighbour_pairs(X, positive, k).compact()
        Q = pair_kernel(Kernel("rbf", 1 / X.shape[1])(X[rows], X[rows]), pairs)
        signs = np.where(np.arange(len(Q)) % 2, 1.0, -1.0)
        Q *= signs
        Q *= signs[:, None]
        build = time.perf_counter() - start
        model = SVC(C=1.0, kernel="precomputed").fit(Q, signs)
        seconds = time.perf_counter() - start
        if seconds < best["seconds"]:
            best = {"seconds": seconds, "build": build}
    a, used = model.dual_coef_[0], model.support_
    dual = np.abs(a).sum() - 0.5 * a @ Q[np.ix_(used, used)] @ a
    return {**best, "dual": dual, "peak": peak_mb()}


def pair_kernel(K, pairs):
    """Build A K A^T, by rows and in the order that reads and writes memory as it lies."""
    i, j = pairs.rows(np.arange(pairs.count))
    columns = np.ascontiguousarray((K[i] - K[j]).T)
    Q = columns[i]
    Q -= columns[j]
    return Q


TASKS = {"xor": xor_task, "all-pairs": all_pairs_task, "list": list_task, "smo": smo_task}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, no SMO")
    parser.add_argument("--large", action="store_true", help="part d as well")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.task:
        task, *arguments = json.loads(wanted.task)
        print(json.dumps(TASKS[task](*arguments)))
        return
    part_a(1 if wanted.quick else wanted.repeats, wanted.quick)
    part_b(wanted.quick)
    part_c(wanted.repeats, wanted.quick)
    if wanted.large:
        part_d()


if __name__ == "__main__":
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read once, when numpy is loaded: start again
        os.execv(sys.executable, [sys.executable, *sys.argv])
    main()
