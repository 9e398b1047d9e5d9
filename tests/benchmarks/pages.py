"""How soon every page settles on a large table, and how long the event loop pauses meanwhile.

    python tests/benchmarks/pages.py [--rows 2000000] [--columns 20] [--methods auc-rls logistic]

Opens a made table in the real window (offscreen unless a platform is chosen), trains the methods,
visits every page and every picture of the page Model, and prints the time until nothing is under
way, the longest pause between two turns of the event loop (and how much of one was the processor
time of the window's thread, which other programs do not lengthen), and what stood under the
picture after two seconds where it took longer than that.
"""

import argparse
import dataclasses
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import duckdb
import numpy as np
from PySide6.QtCore import QTimer

from aucstudio.gui.app import create_window, make_application

SOON, LONGEST = 2.0, 0.05  # seconds
PATIENCE = 120.0


def write_table(path, rows, columns):
    rng = np.random.default_rng(0)
    positive = rng.random(rows) < 0.02
    made = {f"x{k}": rng.normal(size=rows) + 0.4 * (k < 4) * positive for k in range(columns)}
    made["label"] = positive.astype(np.int64)
    with duckdb.connect() as connection:
        connection.register("made", made)
        connection.execute(f"COPY made TO '{path}' (FORMAT parquet)")


class Pauses:
    """The longest time between two turns of the event loop, and of it what was its own thread's."""

    def __init__(self):
        self.begin()
        self._timer = QTimer()
        self._timer.timeout.connect(self._tick)
        self._timer.start(0)

    def _tick(self):
        now = time.perf_counter(), time.thread_time()
        if self._last is not None:
            self.longest = max(self.longest, now[0] - self._last[0])
            self.own = max(self.own, now[1] - self._last[1])
        self._last = now

    def begin(self):
        self.longest, self.own, self._last = 0.0, 0.0, None

    def __str__(self):
        return f"{1000 * self.longest:6.0f} ms ({1000 * self.own:4.0f} of the processor)"


def wait(application, done):
    """Give how long it took, and whether it was done at all."""
    start = time.perf_counter()
    while not done() and time.perf_counter() - start < PATIENCE:
        application.processEvents()
        time.sleep(0.0005)
    return time.perf_counter() - start


def visit(application, pauses, name, act, view):
    """Do something to a page, and print how it settles."""
    pauses.begin()
    said, start = "", time.perf_counter()
    act()
    quiet = None
    while quiet is None or time.perf_counter() - quiet < 0.15:
        application.processEvents()
        time.sleep(0.0005)
        elapsed = time.perf_counter() - start
        if view.busy() or view.is_stale:
            quiet = None
        elif quiet is None:
            quiet = time.perf_counter()
        if elapsed > SOON and not said:
            said = view.sentence.text() or "nothing"
        if elapsed > PATIENCE:
            break
    taken = time.perf_counter() - start - 0.15
    mark = "" if taken <= SOON and pauses.own <= LONGEST else "  <--"
    told = f"  “{said[:70]}”" if taken > SOON else ""
    print(f"{name:34} {taken:7.2f} s   {pauses}{mark}{told}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--methods", nargs="+", default=["auc-rls", "logistic"])
    given = parser.parse_args()
    application = make_application("light")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUCSTUDIO_HOME"] = folder
        path = Path(folder) / "large.parquet"
        write_table(path, given.rows, given.columns)
        window = create_window()
        window.resize(1440, 900)
        window.show()
        session, pauses = window.session, Pauses()
        window.open_now(path)
        print(f"opened in {wait(application, lambda: session.table is not None):.1f} s", flush=True)
        for method in given.methods:
            session.put_plan(dataclasses.replace(session.plan, method=method))
            before = len(session.shown_runs())
            pauses.begin()
            session.runs.start([session.runs.planned()])
            wait(application, lambda before=before: len(session.shown_runs()) > before)
            wait(application, lambda: not session.busy)
            print(f"{method} trained, longest pause {pauses}", flush=True)
        for view in window.views:
            show = lambda view=view: window.deck.show_view(view)  # noqa: E731
            visit(application, pauses, view.title, show, view)
        model = next(view for view in window.views if view.objectName() == "model_view")
        window.deck.show_view(model)
        for k in range(1, model.picture_combo.count()):

            def turn(k=k):
                model.picture_combo.setCurrentIndex(k)
                model.picture_combo.activated.emit(k)

            visit(application, pauses, f"Model: {model.picture_combo.itemText(k)}", turn, model)
        band = lambda: session.set_band(0.0, 0.05)  # noqa: E731
        for view in window.views:
            window.deck.show_view(view)
            wait(application, lambda view=view: not view.busy())
            visit(application, pauses, f"{view.title}: another FPR range", band, view)
            session.set_band(0.0, 0.1)
        window.close()


if __name__ == "__main__":
    main()
