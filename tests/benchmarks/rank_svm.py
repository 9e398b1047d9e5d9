"""The squared-hinge family: RankSVM in passes over the data, its kernel relatives beside rivals.

    python tests/benchmarks/rank_svm.py [--large]

Linear: a pass is ``u = X @ w; X.T @ u`` on the same array; a fit to 1e-5 may take 40 of them. The
optimum referred to is certified to 1e-10. Kernel RankSVM: all 5,000 rows, goal 2 s. NBAUC beside
the same steps from public parts (KMeans, eigh, L-BFGS), logistic regression on those features and
gradient boosting; goals .5 s and .9 s. One thread; times are of the processor.
"""

import argparse
import time

import numpy as np
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucstudio.engine.features.spaces import Vectors
from aucstudio.engine.losses.squared_hinge import SquaredHinge
from aucstudio.engine.methods.ranking.kernel_rank_svm import KernelRankSVM
from aucstudio.engine.methods.ranking.nbauc import NBAUC
from aucstudio.engine.methods.ranking.rank_svm import RankSVM
from aucstudio.engine.methods.ranking.rf_auc import RFAUC
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.solvers.rank_newton import minimise


def timed(call, repeats=1):
    times = []
    for _ in range(repeats):
        began = time.process_time()
        result = call()
        times.append(time.process_time() - began)
    return float(np.median(times)), result


def halves(rows, **details):
    X, y = make_classification(2 * rows, 50, weights=[0.88], random_state=0, **details)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), y_train == 1, scaler.transform(test), y_test == 1


def linear(rows, repeats):
    X, y, *_ = halves(rows)
    w = np.ones(X.shape[1])
    for C in (1.0, 100.0):
        best = minimise(Vectors(X), y, C, tol=1e-10, monitor=Monitor())
        # Turn about, so that whatever else the machine does meets both alike.
        units, solves = [], []
        for _ in range(repeats):
            units.append(timed(lambda: X.T @ (X @ w), 3)[0])
            took, found = timed(lambda C=C: minimise(Vectors(X), y, C, tol=1e-5, monitor=Monitor()))
            solves.append(took)
        unit, solve = np.median(units), np.median(solves)
        whole, model = timed(lambda C=C: RankSVM(C=C).fit(X, y), 3)
        print(
            f"linear {rows:,} x 50, C = {C:g}: {found.n_iter} steps, {solve:.3f} s = "
            f"{solve / unit:.1f} passes of {1e3 * unit:.2f} ms (the whole fit {whole / unit:.1f}); "
            f"{found.objective / best.objective - 1:.1e} above {best.objective:.7g}, "
            f"gap {model.gap_ / model.objective_:.1e}",
            flush=True,
        )


def line(name, seconds, y, scores, more=""):
    print(f"  {name:34}{seconds:7.3f} s   AUC {roc_auc_score(y, scores):.4f}  {more}", flush=True)


def kernel(X, y, X_test, y_test):
    print(f"kernel RankSVM, {len(X):,} rows")
    for C in (1.0, 100.0, 10_000.0):
        took, model = timed(lambda C=C: KernelRankSVM(C=C, gamma=1 / 50).fit(X, y))
        line(f"C = {C:g}", took, y_test, model.decision_function(X_test), f"{model.n_iter_} steps")


def mapped(X, y, X_test, y_test, v, C):
    print(f"{len(X):,} rows, {v} landmarks or features, C = {C:g}")
    for method, name in ((NBAUC, "n_landmarks"), (RFAUC, "n_components")):
        settings = {name: v, "gamma": 1 / 50, "C": C}
        took, model = timed(lambda m=method, s=settings: m(**s).fit(X, y), 3)
        more = f"P = {model.objective_:.6g}, {model.n_iter_} steps"
        line(method.key, took, y_test, model.decision_function(X_test), more)
    rivals(X, y, X_test, y_test, v, C)


def rivals(X, y, X_test, y_test, v, C):
    clusters, found = timed(
        lambda: KMeans(v, max_iter=20, n_init=1, random_state=0).fit(X[:20_000])
    )
    U = found.cluster_centers_

    def features():
        values, V = np.linalg.eigh(rbf_kernel(U, gamma=1 / 50))
        whitener = V / np.sqrt(values)
        return rbf_kernel(X, U, gamma=1 / 50) @ whitener, whitener

    embedding, (F, whitener) = timed(features)
    F_test = rbf_kernel(X_test, U, gamma=1 / 50) @ whitener
    loss = SquaredHinge(y)

    def objective(w):
        value, gradient = loss(F @ w)
        return w @ w / 2 + C * value, w + C * (F.T @ gradient)

    took, found = timed(
        lambda: minimize(
            objective, np.zeros(v), jac=True, method="L-BFGS-B", options={"ftol": 1e-7}
        )
    )
    parts = f"{clusters:.2f} + {embedding:.2f} + {took:.2f}; P = {found.fun:.6g}"
    line("public parts", clusters + embedding + took, y_test, F_test @ found.x, parts)
    took, rival = timed(lambda: LogisticRegression(C=10.0, max_iter=300).fit(F, y))
    total = clusters + embedding + took
    line("logistic on those features", total, y_test, rival.decision_function(F_test))
    took, rival = timed(lambda: HistGradientBoostingClassifier(random_state=0).fit(X, y))
    line("gradient boosting", took, y_test, rival.decision_function(X_test))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="linear on 1,000,000 rows too")
    large = parser.parse_args().large
    with threadpool_limits(1):
        linear(50_000, 15)
        if large:
            linear(1_000_000, 3)
        nonlinear = halves(5_000, n_informative=10, n_redundant=10)
        kernel(*nonlinear)
        mapped(*nonlinear, v=800, C=1e4)
        mapped(*halves(50_000), v=200, C=100.0)


if __name__ == "__main__":
    main()
