"""What an epoch of the stochastic methods costs, against reading the features once.

    python tests/benchmarks/stochastic.py [--rows 100000] [--features 1600]

One thread, processor seconds of this thread (other programs then hardly matter), the least of
several. First NSAUC on ROWS x FEATURES numbers of single precision against X @ v; then one pass of
SOLAM and of OAM (two buffers of 50) over 50,000 x 50 numbers; then how an epoch grows with the
rows; last whole fits on landmarks.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucstudio.engine.features.embedding import embed
from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.methods.stochastic.noam import NOAM
from aucstudio.engine.methods.stochastic.nsauc import NSAUC
from aucstudio.engine.methods.stochastic.nsolam import NSOLAM
from aucstudio.engine.methods.stochastic.nsvmsgd2 import NSVMSGD2
from aucstudio.engine.roc import auc
from aucstudio.engine.solvers.online import BufferedPairs, Saddle
from aucstudio.engine.solvers.stochastic import PairSteps, draw_pairs, scores


def least(call, repeats=7):
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return min(times)


def made(rows, features, share=0.3):
    rng = np.random.default_rng(0)
    F = rng.standard_normal((rows + 1, features), dtype=np.float32) / np.float32(features**0.5)
    positive = rng.random(rows) < share
    F[:-1][positive] += np.float32(0.5 / features**0.5)
    return F, positive


def classes(rows):
    return make_classification(
        rows, 50, n_informative=20, weights=[0.88], class_sep=0.7, random_state=0
    )


def compiled():
    F, positive = made(40, 3)
    for learner in learners(3, F, positive):
        learner.learn(F, learner.draw(positive, np.random.default_rng(0)))


def learners(size, F, positive):
    kappa = float(np.sqrt(np.einsum("ij,ij->i", F, F).max()))
    return (
        PairSteps(size, 1e-3, 0.25, draw_pairs, True),
        Saddle(size, float(positive.mean()), 1.0, 100.0, kappa),
        BufferedPairs(size, 50, 2.0**-6, True, True),
    )


def epoch_against_a_read(rows, features):
    F, positive = made(rows, features)
    v, visits = np.ones(features, np.float32), draw_pairs(positive, np.random.default_rng(0))
    read, added = least(lambda: F @ v), least(lambda: F.sum())
    learner = learners(features, F, positive)[0]
    epoch = least(lambda: learner.learn(F, visits))
    hinge = PairHinge(positive)
    look = least(lambda: hinge(scores(F, learner.weights)[:-1]))
    print(
        f"NSAUC, {rows:,} x {features:,}: X @ v {read:.3f} s, X.sum() {added:.3f} s, "
        f"epoch {epoch:.3f} s = {epoch / read:.1f} reads ({epoch / added:.1f} sums), "
        f"objective {look:.3f} s",
        flush=True,
    )


def passes():
    X, y = classes(50_000)
    _, F = embed(X, None, lambda done: None)
    positive, u = y == 1, np.zeros(50)
    names = "SOLAM", "OAM (50 + 50)"
    both = least(lambda: X.T @ (X @ u))
    print(f"50,000 x 50: u = X w and X' u {both:.4f} s", flush=True)
    for name, learner in zip(names, learners(50, F, positive)[1:], strict=True):
        visits = learner.draw(positive, np.random.default_rng(0))
        spent = least(lambda: learner.learn(F, visits), 5)  # noqa: B023
        print(f"{name}, one pass: {spent:.4f} s", flush=True)


def growth(features=400):
    for rows in (25_000, 50_000, 100_000, 200_000):
        F, positive = made(rows, features)
        spent = []
        for learner in learners(features, F, positive):
            visits = learner.draw(positive, np.random.default_rng(0))
            spent.append(least(lambda: learner.learn(F, visits), 3) / rows * 1e6)  # noqa: B023
        print(
            f"{rows:,} x {features}: us a row NSAUC {spent[0]:.2f}, SOLAM {spent[1]:.2f}, "
            f"OAM {spent[2]:.2f}",
            flush=True,
        )


def fits():
    X, y = classes(100_000)
    train, test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    for method in (NSAUC, NSVMSGD2, NOAM, NSOLAM):
        start = time.perf_counter()
        fitted = method(n_landmarks=200).fit(train, y)
        spent = time.perf_counter() - start
        print(
            f"{method.title}, 75,000 x 50, 200 landmarks, {fitted.n_iter_} epochs: {spent:.1f} s, "
            f"AUC {auc(y_test, fitted.decision_function(test)):.3f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=1_600)
    wanted = parser.parse_args()
    compiled()
    with threadpool_limits(1):
        epoch_against_a_read(wanted.rows, wanted.features)
        passes()
        growth()
        fits()


if __name__ == "__main__":
    main()
