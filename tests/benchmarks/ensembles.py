"""AUC ensemble beside tuned boosting, forests, logistic regression and public automatic tools.

Halves of real tables: each is parted at random several times, trained on one half and judged on
the other, by AUC and normalised partial AUC of [0, 0.1]. Differences are of means over the halves
of a table, with the standard error over tables. FLAML and AutoGluon take part where they are
installed, with the processor seconds that the ensemble took.

    python -m tests.benchmarks.ensembles TABLE.csv... [--halves 4] [--library quick]
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from aucstudio.engine import METHODS, roc
from aucstudio.engine.types import Array, Mask
from aucstudio.project.data.preparing.learning import learn_preparation
from aucstudio.project.data.table import read_table

RANGE = (0.0, 0.1)
MOST_ROWS = 3_000
BOOSTING = [
    {"learning_rate": rate, "max_iter": trees, "max_leaf_nodes": leaves, "min_samples_leaf": rows}
    for (rate, trees), leaves, rows in itertools.product(
        ((0.1, 100), (0.03, 300)), (4, 8, 31), (5, 20)
    )
]
Trainer = Callable[[Array, Mask, float], Callable[[Array], Array]]


def plain(key, **settings):
    def train(X, y, _seconds):
        return METHODS[key](**settings).fit(X, y).decision_function

    return train


def tuned_boosting(X, y, _seconds):
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))

    def area(settings):
        fits = [(METHODS["gradient-boosting"](**settings).fit(X[a], y[a]), b) for a, b in folds]
        return np.mean([roc.auc(y[b], fit.decision_function(X[b])) for fit, b in fits])

    return plain("gradient-boosting", **max(BOOSTING, key=area))(X, y, 0.0)


def flaml(X, y, seconds):
    from flaml import AutoML

    fitted = AutoML()
    budget = {"time_budget": seconds, "n_jobs": 1, "verbose": 0}
    fitted.fit(X, y, task="classification", metric="roc_auc", **budget)
    return lambda Z: fitted.predict_proba(Z)[:, 1]


def autogluon(X, y, seconds):
    import pandas
    from autogluon.tabular import TabularPredictor

    names = [f"x{k}" for k in range(X.shape[1])]
    rows = pandas.DataFrame(X, columns=names).assign(y=y)
    fitted = TabularPredictor("y", eval_metric="roc_auc", verbosity=0).fit(
        rows, time_limit=seconds, presets="medium_quality"
    )
    return lambda Z: fitted.predict_proba(pandas.DataFrame(Z, columns=names))[True].to_numpy()


def rivals(library):
    found = {
        "ensemble": plain("auc-ensemble", fpr_range=RANGE, library=library),
        "tuned boosting": tuned_boosting,
        "random forest": plain("random-forest"),
        "logistic": plain("logistic", class_weight="balanced"),
    }
    for name, train in (("flaml", flaml), ("autogluon", autogluon)):
        if importlib.util.find_spec(name):
            found[name] = train
    return found


def halves(path, count):
    """Give train and test parts of a table, preprocessing learnt on the first."""
    table = read_table(path)
    if table.positive is None:  # of several classes, the one with most rows against the rest
        table = table.with_roles(positive=max(table.classes, key=lambda name: table.classes[name]))
    labelled, positive = np.flatnonzero(table.labelled()), table.is_positive()
    for seed in range(count):
        rng = np.random.default_rng(seed)
        parts = [rng.permutation(np.flatnonzero(positive == c)) for c in (True, False)]
        share = min(1.0, MOST_ROWS / len(positive))
        parts = [part[: int(np.ceil(share * len(part)))] for part in parts]
        train = rng.permutation(np.concatenate([part[: len(part) // 2] for part in parts]))
        test = np.concatenate([part[len(part) // 2 :] for part in parts])
        learnt = learn_preparation(table, labelled[train])
        rows = [learnt.apply(table, labelled[part]) for part in (train, test)]
        yield rows[0], positive[train], rows[1], positive[test]


def judge(path, count, trainers):
    """Give the mean areas of each rival on one table, and its processor seconds."""
    found = {name: [] for name in trainers}
    for X, y, Z, t in halves(path, count):
        seconds = 0.0
        for name, train in trainers.items():
            began = time.process_time()
            scores = train(X, y, max(5.0, seconds))(Z)
            took = time.process_time() - began
            seconds = took if name == "ensemble" else seconds
            part = roc.partial_auc(t, scores, *RANGE).normalized
            found[name].append((roc.auc(t, scores), part, took))
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("tables", nargs="+", type=Path)
    asked.add_argument("--halves", type=int, default=4)
    asked.add_argument("--library", default="quick")
    options = asked.parse_args()
    warnings.simplefilter("ignore")
    trainers = rivals(options.library)
    results = []
    for path in options.tables:
        found = judge(path, options.halves, trainers)
        results.append(found)
        words = (f"{name} {a:.4f} / {p:.4f} ({s:.1f} s)" for name, (a, p, s) in found.items())
        print(f"{path.stem:20s} " + "   ".join(words), flush=True)
    print("\nensemble minus rival, points (standard error over tables), worst table")
    for name in list(trainers)[1:]:
        gains = 100 * np.array([r["ensemble"][:2] - r[name][:2] for r in results])
        errors = gains.std(axis=0, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else [np.nan] * 2
        means, worst = gains.mean(axis=0), gains.min(axis=0)
        figures = (
            f"{title} {means[k]:+.2f} ({errors[k]:.2f}) worst {worst[k]:+.2f}"
            for k, title in enumerate(("AUC", "pAUC"))
        )
        print(f"{name:16s} " + "   ".join(figures))


if __name__ == "__main__":
    main()
