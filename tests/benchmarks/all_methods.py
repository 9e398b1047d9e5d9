"""Methods at their default settings on the same halves: the figures in the guide.

    python -m tests.benchmarks.all_methods --data FOLDER [--write]

FOLDER holds wdbc.csv, ionosphere.csv, pima.csv and credit_approval.csv of the UCI collection. Each
table is halved at random five times. A method is trained on one half with its default settings;
the areas are those of the other half, times 100, means over tables and halves. --write stores
them in resources/help/measured.json.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from aucstudio.engine import METHODS
from aucstudio.engine.roc import auc, partial_auc
from aucstudio.project.data.preparing.preparation import learn_preparation
from aucstudio.project.data.table import read_table
from aucstudio.project.resources import resource_path

# Name: file, positive class.
TABLES = {
    "wdbc": ("wdbc", "M"),
    "ionosphere b": ("ionosphere", "b"),
    "pima": ("pima", "tested_positive"),
    "credit": ("credit_approval", "+"),
}
HALVES = 5
BAND = (0.0, 0.1)
LEFT_OUT = ("marker", "greedy-pauc", "auc-ensemble")  # nothing to train; too slow


def halved(folder, name, half, *, keep_gaps):
    """Give X and y of the training half, and of the other; all is learnt on the training half."""
    file, positive = TABLES[name]
    table = read_table(folder / f"{file}.csv", label="label", positive=positive)
    y = table.is_positive()
    halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=half)
    train, test = next(halves.split(y, y))
    preparation = learn_preparation(table, train, keep_gaps=keep_gaps)
    return [(preparation.apply(table, rows), y[rows]) for rows in (train, test)]


def measured(method, folder):
    """Return the mean AUC and normalised pAUC, times 100, and the seconds of a fit."""
    areas = []
    for name in TABLES:
        for half in range(HALVES):
            halves = halved(folder, name, half, keep_gaps=method.takes_missing)
            (X, y), (others, truth) = halves
            began = time.thread_time()
            fitted = method().fit(X, y)
            seconds = time.thread_time() - began
            scores = fitted.decision_function(others)
            part = partial_auc(truth, scores, *BAND).normalized
            areas.append((100 * auc(truth, scores), 100 * part, seconds))
    return np.mean(areas, axis=0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = {}
    for key, method in METHODS.items():
        if key in LEFT_OUT:
            continue
        with threadpool_limits(1):
            area, part, seconds = measured(method, options.data)
        found[key] = {"auc": round(float(area), 1), "pauc": round(float(part), 1)}
        print(f"{key:<22}{area:6.1f}{part:6.1f}{seconds:9.2f} s", flush=True)
    if options.write:
        text = json.dumps(found, indent=1) + "\n"
        resource_path("help", "measured.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
