"""`best` and the AUC ensemble beside tuned boosting, forests and a careful analyst.

Halves of tables in CSV files with a header line and a column ``label``: each is split at random
several times, trained on one half and tested on the other, by AUC and normalised partial AUC of
[0, 0.1]. Differences are of means over the halves of a table, with the standard error over tables;
the last line is the inner estimate of `best` minus its value on the test half. The careful analyst
takes the best of 14 models by five folds.

    python -m tests.benchmarks.best_models TABLE.csv... [--halves 2] [--minutes 0.5]
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from aucstudio.engine import METHODS, roc
from aucstudio.engine.arrays import Array, Mask
from aucstudio.project.data.preparing.preparation import learn_preparation
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.tournament.candidate_comparison import Budget
from aucstudio.project.tournament.search import SearchRequest, find_best

RANGE = (0.0, 0.1)
TAKE_MISSING = ("tuned boosting", "careful analyst")
MOST_ROWS = 3_000
BOOSTING = [
    {"learning_rate": rate, "max_iter": trees, "max_leaf_nodes": leaves, "min_samples_leaf": rows}
    for (rate, trees), leaves, rows in itertools.product(
        ((0.1, 100), (0.03, 300)), (4, 8, 31), (5, 20)
    )
]
Trainer = Callable[[Array, Mask], Callable[[Array], Array]]


def plain(key, **settings):
    def train(X, y):
        return METHODS[key](**settings).fit(X, y).decision_function

    return train


def tuned_boosting(X, y):
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))

    def area(settings):
        fits = [(METHODS["gradient-boosting"](**settings).fit(X[a], y[a]), b) for a, b in folds]
        return np.mean([roc.auc(y[b], fit.decision_function(X[b])) for fit, b in fits])

    return plain("gradient-boosting", **max(BOOSTING, key=area))(X, y)


def ordinary_models():
    """Make 14 models that an analyst would try, none of them of this program."""
    steps = (SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    scaled = [
        *(LogisticRegression(C=C, max_iter=2000) for C in (0.01, 0.1, 1.0)),
        LogisticRegression(C=1.0, max_iter=2000, class_weight="balanced"),
        LinearDiscriminantAnalysis(),
        GaussianNB(),
        KNeighborsClassifier(15),
        KNeighborsClassifier(50),
        SVC(C=1.0),
        SVC(C=10.0),
        RandomForestClassifier(500, min_samples_leaf=3, random_state=0),
        ExtraTreesClassifier(500, min_samples_leaf=3, random_state=0),
    ]
    boosted = [
        HistGradientBoostingClassifier(random_state=0),
        HistGradientBoostingClassifier(learning_rate=0.05, max_leaf_nodes=8, random_state=0),
    ]
    return [make_pipeline(*map(clone, steps), model) for model in scaled] + boosted


def careful_analyst(X, y):
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))

    def area(model):
        fits = [(clone(model).fit(X[a], y[a]), b) for a, b in folds]
        return np.mean([roc.auc(y[b], _ranked(fit, X[b])) for fit, b in fits])

    best = max(ordinary_models(), key=area).fit(X, y)
    return lambda Z: _ranked(best, Z)


def _ranked(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def rivals(library):
    return {
        "ensemble": plain("auc-ensemble", fpr_range=RANGE, library=library),
        "tuned boosting": tuned_boosting,
        "random forest": plain("random-forest", n_trees=500),
        "logistic": plain("logistic", class_weight="balanced"),
        "careful analyst": careful_analyst,
    }


def halves(path, count):
    """Yield train and test rows of a table, as file rows, with the table."""
    table = read_table(path, label="label")
    if table.positive is None:  # of several classes, the one with most rows against the rest
        table = table.with_roles(positive=max(table.classes, key=lambda name: table.classes[name]))
    positive = table.is_positive()
    for seed in range(count):
        rng = np.random.default_rng(seed)
        parts = [rng.permutation(np.flatnonzero(positive == c)) for c in (True, False)]
        share = min(1.0, MOST_ROWS / len(positive))
        parts = [part[: int(np.ceil(share * len(part)))] for part in parts]
        train = rng.permutation(np.concatenate([part[: len(part) // 2] for part in parts]))
        test = np.concatenate([part[len(part) // 2 :] for part in parts])
        yield table, train, test


def prepared(table, train, test, *, keep_gaps):
    """Return both parts prepared; the preprocessing is learnt on the first."""
    labelled = np.flatnonzero(table.labelled())
    learnt = learn_preparation(table, labelled[train], keep_gaps=keep_gaps)
    return [learnt.apply(table, labelled[part]) for part in (train, test)]


def found_best(path, table, train, test, minutes, folder):
    """Return the test scores of what `best` hands over, trained on the rows of one half."""
    lines = path.read_text().splitlines()
    files = [folder / "train.csv", folder / "test.csv"]
    for file, part in zip(files, (train, test), strict=True):
        rows = np.flatnonzero(table.labelled())[part]
        file.write_text("\n".join([lines[0], *(lines[1 + row] for row in rows)]) + "\n")
    known = {"label": table.label, "positive": table.positive}
    budget = Budget(60.0 * minutes)
    request = SearchRequest(read_table(files[0], **known), Validation(), RANGE)
    board = find_best(request, budget=budget)
    model = board.model or board.record.splits[0].model
    return model.score(read_table(files[1], **known)), board


def judge(path, count, trainers, minutes):
    """Return the mean areas of each rival on one table, and its processor seconds."""
    found = {name: [] for name in ("best", *trainers)}
    optimism = []

    def enter(name, t, scores, began):
        part = roc.partial_auc(t, scores, *RANGE).normalized
        found[name].append((roc.auc(t, scores), part, time.process_time() - began))

    for table, train, test in halves(path, count):
        y, t = table.is_positive()[train], table.is_positive()[test]
        began = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            scores, board = found_best(path, table, train, test, minutes, Path(folder))
        enter("best", t, scores, began)
        optimism.append(board.best.inner.value - board.criterion(t, scores))
        for name, trainer in trainers.items():
            X, Z = prepared(
                table, train, test, keep_gaps=None if name == "ensemble" else name in TAKE_MISSING
            )
            began = time.process_time()
            enter(name, t, trainer(X, y)(Z), began)
    return {name: np.mean(values, axis=0) for name, values in found.items()}, np.mean(optimism)


def compare(results, ours):
    """Print the difference between ours and each rival: mean, error, wins, worst table."""
    print(f"\n{ours} minus rival, points (standard error over tables), wins, worst table")
    for name in results[0]:
        if name == ours:
            continue
        gains = 100 * np.array([r[ours][:2] - r[name][:2] for r in results])
        means, errors = gains.mean(axis=0), _errors(gains)
        figures = (
            f"{title} {means[k]:+.2f} ({errors[k]:.2f}) {np.count_nonzero(gains[:, k] > 0)} of "
            f"{len(gains)}, worst {gains[:, k].min():+.2f}"
            for k, title in enumerate(("AUC", "pAUC"))
        )
        print(f"{name:16s} " + "   ".join(figures))


def _errors(values):
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("tables", nargs="+", type=Path)
    asked.add_argument("--halves", type=int, default=2)
    asked.add_argument("--library", default="quick")
    asked.add_argument("--minutes", type=float, default=0.5)
    options = asked.parse_args()
    warnings.simplefilter("ignore")
    trainers = rivals(options.library)
    results, optimism = [], []
    for path in options.tables:
        found, too_good = judge(path, options.halves, trainers, options.minutes)
        results.append(found)
        optimism.append(100 * too_good)
        words = (f"{name} {a:.4f} / {p:.4f} ({s:.1f} s)" for name, (a, p, s) in found.items())
        print(f"{path.stem:20s} " + "   ".join(words), flush=True)
    for ours in ("ensemble", "best"):
        compare(results, ours)
    error = float(_errors(np.array(optimism)))
    print(f"\ninner minus test, points of the criterion {np.mean(optimism):+.2f} ({error:.2f})")


if __name__ == "__main__":
    main()
