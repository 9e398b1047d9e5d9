"""What the comparisons on tables share: halves, tuning, output that is resumed, printing.

A task is one variant of a comparison on one half of one table: a frozen dataclass of plain values
with at least ``name``, ``half`` and ``variant``, and a line of the output file.
"""

import argparse
import dataclasses
import functools
import json
import os
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from aucstudio.project.data.preparing.learning import learn_preparation
from aucstudio.project.data.table import read_table

# Name: file, positive class.
SETS = {
    "wdbc": ("wdbc", "M"),
    "ionosphere": ("ionosphere", "g"),
    "ionosphere b": ("ionosphere", "b"),
    "pima": ("pima", "tested_positive"),
    "glass1": ("glass", "build wind float"),
    "glass2": ("glass", "build wind non-float"),
    "glass3": ("glass", "vehic wind float"),
    "glass4": ("glass", "containers"),
    "glass5": ("glass", "tableware"),
    "glass6": ("glass", "headlamps"),
    "credit": ("credit_approval", "+"),
    "spambase": ("spambase", "1"),
}


@functools.cache
def read(folder, name):
    file, positive = SETS[name]
    return read_table(folder / f"{file}.csv", label="label", positive=positive)


def halved(folder, task, *, keep_gaps=False):
    """Give X and y of the training half, and of the other; all is learnt on the training half."""
    table = read(folder, task.name)
    y = table.is_positive()
    halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=task.half)
    train, test = next(halves.split(y, y))
    preparation = learn_preparation(table, train, keep_gaps=keep_gaps)
    return (*((preparation.apply(table, rows), y[rows]) for rows in (train, test)),)


def tuned(estimator, grid, X, y, *, seed, scoring):
    """Search the grid in 5 folds, fewer if a class has fewer rows, and train on all rows.

    Of candidates that are equally good the first wins: grids begin with the strongest
    regularisation.
    """
    folds = StratifiedKFold(min(5, *np.bincount(y)), shuffle=True, random_state=seed)
    return GridSearchCV(estimator, grid, scoring=scoring, cv=folds).fit(X, y)


def completed(run, tasks, wanted):
    """Run what ``wanted.out`` does not hold yet, and give all that it holds by task.

    ``run(task, folder)`` gives the line to store: the fields of the task and what was measured.
    """
    kind = type(tasks[0])
    done = stored(wanted.out, kind)
    missing = [task for task in tasks if task not in done]
    _run_all(run, missing, wanted.data, wanted.out, wanted.processes)
    return stored(wanted.out, kind)


def stored(path, kind):
    """Give the lines by task; one that was cut short by the end of a run counts as not done."""
    lines = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            continue
        lines[kind(**{field.name: found[field.name] for field in dataclasses.fields(kind)})] = found
    return lines


def _run_all(run, tasks, folder, path, processes):
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _start_worker)
    try:
        with path.open("a") as out:
            if out.tell():
                out.write("\n")  # the last line may have been cut short
            futures = [pool.submit(run, task, folder) for task in tasks]
            for count, future in enumerate(as_completed(futures), 1):
                print(json.dumps(future.result()), file=out, flush=True)
                print(f"\r{count} of {len(tasks)}", end="", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
        print()


def _start_worker():
    threadpool_limits(1)
    warnings.simplefilter("error")


def by_half(lines, tasks, measure):
    """Give a measure times 100, an array over the halves for each variant among the tasks."""
    found = {}
    for task in sorted(tasks, key=lambda task: task.half):
        found.setdefault(task.variant, []).append(100 * lines[task][measure])
    return {variant: np.array(values) for variant, values in found.items()}


def with_mean(lines):
    """Add the mean over the sets, and write all numbers with one decimal."""
    lines = {**lines, "mean": np.mean(list(lines.values()), axis=0)}
    return {name: [f"{value:.1f}" for value in line] for name, line in lines.items()}


def show(title, heads, lines, columns):
    """Print lines by name below their heads; ``columns`` is the format of a line."""
    row = f"{{:<{max(11, 1 + max(map(len, lines)))}}}{columns}"
    print(f"\n{title}")
    for head in heads:
        print(row.format("", *head))
    for name, line in lines.items():
        print(row.format(name, *line))


def show_differences(measured, differences):
    """Print differences between pairs of variants; ``measured`` holds :func:`by_half` by name."""
    lines = {name: [by[a] - by[b] for a, b in differences] for name, by in measured.items()}
    lines["mean"] = np.transpose([[d.mean() for d in line] for line in lines.values()])
    show(
        "Paired differences, ± standard error over the halves (last row: over the sets)",
        [[better for better, _ in differences], [f"- {base}" for _, base in differences]],
        {name: map(with_error, line) for name, line in lines.items()},
        len(differences) * "{:>11}",
    )


def with_error(values):
    error = f"{values.std(ddof=1) / np.sqrt(len(values)):.1f}" if len(values) > 1 else "?"
    return f"{values.mean():+.1f}±{error}"


def parser(description, sets):
    """Make the command line that the comparisons share; ``sets`` are compared if none is named."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--data", type=Path, required=True, help="folder of the tables")
    made.add_argument("--out", type=Path, required=True, help="JSON lines; resumed if it exists")
    made.add_argument("--sets", nargs="+", choices=SETS, default=list(sets), metavar="SET")
    made.add_argument("--halves", type=int, default=10)
    made.add_argument("--quick", action="store_true", help="coarser grids")
    made.add_argument("--processes", type=int, default=os.cpu_count())
    return made
