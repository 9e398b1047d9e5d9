"""RankBoost against scikit-learn's AdaBoost over the same learners, thresholds of one feature.

    python tests/benchmarks/boosting.py [rankboost ...] [--rows 50000] [--rounds 100]

Single fits in one run with one thread; the ratio says how many times faster ours is. Without a
name, every comparison is made.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from aucstudio.engine.fit import Context
from aucstudio.engine.methods.boosting.rankboost import RankBoost
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.roc import auc


def made(rows):
    X, y = make_classification(2 * rows, 50, weights=[0.88], random_state=0)
    scaler = StandardScaler().fit(X[::2])
    return scaler.transform(X[::2]), y[::2], scaler.transform(X[1::2]), y[1::2]


def seconds(call, repeats=1):
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        done = call()
        times.append(time.perf_counter() - began)
    return float(np.median(times)), done


def show(what, taken, area=None):
    tested = "" if area is None else f"  test AUC {area:.4f}"
    print(f"{what:<52}{taken:9.3f} s{tested}", flush=True)


def rankboost(asked):
    X, y, X_new, y_new = made(asked.rows)
    ours = RankBoost(n_rounds=asked.rounds)
    RankBoost(n_rounds=1).fit(X, y)  # compiles, or reads what was compiled
    training, _ = seconds(lambda: ours._fit(X, y == 1, Context(Monitor())), 5)
    whole, _ = seconds(lambda: ours.fit(X, y), 5)
    size = f"{asked.rows:,} x 50, {asked.rounds} rounds"
    show(f"RankBoost, {size}: sorting and boosting", training)
    show(f"RankBoost, {size}: fit", whole, auc(y_new, ours.decision_function(X_new)))
    peer = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=asked.rounds)
    taken, _ = seconds(lambda: peer.fit(X, y))
    show(f"AdaBoost, {size}: fit", taken, auc(y_new, peer.decision_function(X_new)))
    print(f"RankBoost is {taken / whole:.0f} times faster (goal: at least 10)")


COMPARISONS = {"rankboost": rankboost}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("comparisons", nargs="*", metavar="NAME", help=", ".join(COMPARISONS))
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=100)
    asked = parser.parse_args()
    unknown = set(asked.comparisons) - set(COMPARISONS)
    if unknown:
        parser.error(f"unknown comparison {min(unknown)!r}; there are " + ", ".join(COMPARISONS))
    with threadpool_limits(1):
        for name in asked.comparisons or COMPARISONS:
            COMPARISONS[name](asked)


if __name__ == "__main__":
    main()
