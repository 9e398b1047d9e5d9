"""How long the window's event loop pauses while methods train, and how soon a stop is seen.

    python tests/benchmarks/event_loop.py [--rows 20000] [--seconds 15]

Opens the real window (offscreen unless a platform is chosen), keeps every processor busy with a
second process, trains each method on half of ROWS x 50 made rows while the ROC view is live, and
prints the longest gap between turns of the event loop, how many took over 50 ms, and the time
from Stop to the end of the run. Runs longer than SECONDS are stopped.
"""

import argparse
import dataclasses
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QTimer
from sklearn.datasets import make_classification

from aucstudio.gui.app import create_window, make_application
from aucstudio.project.data.splitting.validation import Validation

CASES = [
    ("auc-rls", {}),
    ("auc-rls", {"kernel": "rbf"}),
    ("auc-svm", {}),
    ("auc-svm", {"C": 1000.0}),
    ("auc-svm", {"kernel": "rbf", "n_neighbors": 3}),
    ("svm-pauc", {}),
    ("svm-pauc", {"fpr_range": (0.02, 0.2), "C": 1000.0}),
    ("svm", {}),
    ("svm", {"kernel": "rbf"}),
    ("logistic", {}),
    ("svm-auc", {}),
    ("svm-pauc", {"kernel": "rbf"}),
    ("svm-pauc-tight", {"fpr_range": (0.02, 0.2), "surrogate": "dc"}),
    ("asvm", {}),
    ("pauc-boost", {}),
    ("greedy-pauc", {}),
    ("rankboost", {}),
    ("auc-split", {}),
    ("svm-2norm", {}),
    ("gradient-boosting", {}),
    ("rank-svm", {}),
    ("kernel-rank-svm", {}),
    ("nbauc", {}),
    ("rf-auc", {}),
    ("nsauc", {}),
    ("nsvmsgd2", {}),
    ("noam", {}),
    ("nsolam", {}),
]


def burn(parent):
    while os.getppid() == parent:
        sum(range(10_000))


def write_rows(path, rows):
    X, y = make_classification(
        rows, 50, n_informative=20, weights=[0.88], class_sep=0.7, random_state=0
    )
    header = ",".join([f"x{k}" for k in range(50)] + ["label"])
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="", fmt="%.6g")


class Gaps:
    """Times between turns of the event loop."""

    def __init__(self):
        self.gaps, self._last = [], None
        self._timer = QTimer()
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._tick)

    def _tick(self):
        now = time.perf_counter()
        if self._last is not None:
            self.gaps.append(now - self._last)
        self._last = now

    def start(self):
        self.gaps, self._last = [], None
        self._timer.start()

    def stop(self):
        self._timer.stop()
        return np.array(self.gaps)


def train(application, window, gaps, seconds):
    """Press Run; give (gaps, run seconds, stop seconds or NaN, pictures seen)."""
    session = window.session
    pictures = set()
    session.changed.connect(
        lambda _fields: pictures.add(id(session.live.picture)) if session.live else None
    )
    gaps.start()
    began = time.perf_counter()
    window.actions_.run.trigger()
    stopped = None
    while session.busy:
        application.processEvents()
        if stopped is None and time.perf_counter() - began > seconds:
            stopped = time.perf_counter()
            window.actions_.stop.trigger()
    ended = time.perf_counter()
    for _ in range(20):
        application.processEvents()
    return gaps.stop(), ended - began, np.nan if stopped is None else ended - stopped, len(pictures)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--methods", nargs="+", help="only these")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    os.environ["AUCSTUDIO_HOME"] = str(folder / "home")
    write_rows(folder / "rows.csv", options.rows)
    burners = [
        multiprocessing.Process(target=burn, args=(os.getpid(),), daemon=True)
        for _ in range(os.cpu_count() - 1)
    ]
    application = make_application("light")
    window = create_window()
    window.show()
    gaps = Gaps()
    gaps.start()
    for burner in burners:
        burner.start()
    window.open_data(folder / "rows.csv")
    found = gaps.stop()
    line = "{:<44} {:>9.1f} {:>9d} {:>9.2f} {:>9.2f} {:>7}"
    print(
        "{:<44} {:>9} {:>9} {:>9} {:>9} {:>7}".format(
            f"{options.rows} x 50", "max ms", "> 50 ms", "run s", "stop s", "looks"
        )
    )
    print(
        line.format(
            "reading the table",
            1e3 * found.max(),
            int((found > 0.05).sum()),
            found.sum(),
            np.nan,
            0,
        )
    )
    chosen = [case for case in CASES if not options.methods or case[0] in options.methods]
    for method, params in chosen:
        session = window.session
        plan = dataclasses.replace(
            session.plan,
            method=method,
            params={method: params},
            validation=Validation(test_size=0.5),
        )
        session.put_plan(plan)
        found, ran, stop, looks = train(application, window, gaps, options.seconds)
        for thread in threading.enumerate():
            # A library call that could not be interrupted must not burden the next method.
            if thread.name == "aucstudio-job":
                thread.join()
        error = session.records[session.selected].error if session.selected else ""
        name = f"{method} " + " ".join(f"{k}={v}" for k, v in params.items())
        print(
            line.format(name, 1e3 * found.max(), int((found > 0.05).sum()), ran, stop, looks),
            error,
            flush=True,
        )
    window.close()
    sys.stdout.flush()
    for burner in burners:
        burner.terminate()
    os._exit(0)


if __name__ == "__main__":
    main()
