"""Independent parts of a fit in threads: complete, in any order, and stoppable."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from aucstudio.engine import METHODS
from aucstudio.project.runs.rows import in_threads


def test_every_task_is_done_once_in_any_order():
    found = dict(in_threads(lambda task, check: task**2, range(20), lambda: False))
    assert found == {task: task**2 for task in range(20)}


def test_stop_reaches_running_tasks_and_starts_no_others():
    begun, never = [], threading.Event()

    def work(task, check):
        begun.append(task)
        while not check():
            never.wait(0.01)
        return task

    answers = iter([False, True])
    assert list(in_threads(work, range(50), lambda: next(answers))) == []
    assert 1 <= len(begun) < 50


def test_error_of_a_task_is_raised_to_the_caller():
    def work(task, check):
        raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        list(in_threads(work, [1], lambda: False))


@pytest.mark.slow
def test_each_thread_limits_openmp_to_one_thread():
    """The OpenMP limit is per thread; that of the main thread does not apply."""
    script = """
import sklearn.base
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as threads
from aucstudio.project.runs.rows import in_threads
print([count for _, count in in_threads(lambda _, check: threads(), range(3), lambda: False)])
"""
    several = os.environ | {"OMP_NUM_THREADS": "3"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=several, check=True
    )
    assert done.stdout.strip() == "[1, 1, 1]"


def test_threaded_combination_is_bit_identical():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] + rng.normal(size=120) > 0.5
    made = METHODS["auc-ensemble"](library="few", n_folds=3, fpr_range=(0.0, 0.2))
    alone = made.fit(X, y).decision_function(X)
    together = made.fit(X, y, spread=in_threads).decision_function(X)
    np.testing.assert_array_equal(together, alone)
