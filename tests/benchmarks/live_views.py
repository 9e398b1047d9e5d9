"""How often the pictures move while a method trains, and what that takes from the training.

    python -m tests.benchmarks.live_views [--rows 20000] [--seconds 10] [--method svm-pauc]
                                          [--set C=100000]... [--views roc_view ...]

Opens the real window (offscreen unless a platform is chosen) and trains the method on half of
ROWS x 50 made rows, first with nobody polling, then with each of the ROC, Training and
Differences views in turn, and last with all three side by side; each run is stopped after
SECONDS. Prints for each:

- iterations, looks heard of and repaints of the slowest picture a second (wanted: 10 or more, where
  there are so many iterations),
- watch: share of the training's time that goes into telling and looking,
- pace: iterations a second, watching left out, beside those of the run that nobody polled, for
  the same number of iterations (wanted: watch and what is lost of the pace together under 5 %),
- window: processor time of the window's own thread, as a share of the time and in milliseconds a
  repaint,
- pause: the longest time between turns of the event loop, and the most processor time in one.

Pace and pause need a quiet machine with a processor for the window; two runs that nobody polls
tell how far paces agree.
"""

import argparse
import dataclasses
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication

from aucstudio.gui.app import create_window, make_application
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.experiments.planning import PlannedRun, plan_experiment, read_settings
from aucstudio.project.work.processes import Processes
from tests.benchmarks.event_loop import write_rows

VIEWS = ("roc_view", "training_view", "difference_view")
TICK, FIRST = 0.005, 10  # seconds; the iteration from which paces are compared


class Paints(QObject):
    """Counts the repaints of a view's first plot."""

    def __init__(self, view):
        super().__init__()
        self.count, self._watched = 0, view.plots()[0].viewport()
        self._watched.installEventFilter(self)

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self.count += 1
        return False

    def end(self):
        self._watched.removeEventFilter(self)
        return self.count


class Pauses:
    """Times between turns of the event loop, beyond those asked for."""

    def __init__(self):
        self.longest = self.busiest = 0.0
        self._last = None
        self.timer = QTimer()
        self.timer.setInterval(round(1000 * TICK))
        self.timer.timeout.connect(self._tick)

    def _tick(self):
        now = time.perf_counter(), time.thread_time()
        if self._last is not None:
            self.longest = max(self.longest, now[0] - self._last[0] - TICK)
            self.busiest = max(self.busiest, now[1] - self._last[1])
        self._last = now


class Ears:
    """Notes when what a run tells is heard, before any window knows of it."""

    def __init__(self):
        self.looks, self.steps = 0, []

    def hear(self, progress):
        self.looks += progress.look is not None
        if progress.step is not None and progress.step.iteration > 0:
            heard = progress.step.iteration, progress.seconds, time.perf_counter()
            self.steps.append(heard)

    @property
    def wall(self):
        return self.steps[-1][2] - self.steps[0][2]

    @property
    def watching(self):
        return 1.0 - (self.steps[-1][1] - self.steps[0][1]) / self.wall

    def to(self, last):
        """Give the time in the fit from the first step heard of to the ``last`` iteration."""
        iteration, seconds = np.array([step[:2] for step in self.steps]).T
        return np.interp(last, iteration, seconds) - np.interp(FIRST, iteration, seconds)


class ListenedTo(Processes):
    """The processes, with what their runs told."""

    def execute(self, plan, listen, given_up=lambda: False):
        self.ears = ears = Ears()

        def hear(progress):
            ears.hear(progress)
            return listen(progress)

        return super().execute(plan, hear, given_up)


@dataclasses.dataclass
class Found:
    ears: Ears
    wall: float
    window: float
    paints: int = 0
    pause: float = 0.0
    busiest: float = 0.0


def measure(process, go):
    """Run ``go`` to its end; give what it took."""
    wall, window = time.perf_counter(), time.thread_time()
    go()
    wall, window = time.perf_counter() - wall, time.thread_time() - window
    return Found(process.ears, wall, window)


def pace(found, alone):
    """Compare the time to the last iteration that both runs came to."""
    last = min(found.ears.steps[-1][0], alone.ears.steps[-1][0])
    return alone.ears.to(last) / found.ears.to(last)


def run_alone(process, plan, seconds):
    def go():
        ends = time.perf_counter() + seconds
        process.execute(plan, lambda _progress: time.perf_counter() > ends)

    return measure(process, go)


def run_watched(process, window, names, seconds):
    views = [view for view in window.views if view.objectName() in names]
    if len(views) > 1:
        window.deck.show_side_by_side(names)
    else:
        window.deck.show_view(views[0])
    # What it takes to bring a page up is not part of the run.
    QApplication.processEvents()
    paints, pauses, loop = [Paints(view) for view in views], Pauses(), QEventLoop()
    enough = QTimer()
    enough.setSingleShot(True)
    enough.timeout.connect(window.session.stop)
    ended = QTimer()
    ended.setInterval(20)
    ended.timeout.connect(lambda: None if window.session.busy else loop.quit())

    def go():
        window.actions_.run.trigger()
        enough.start(round(1000 * seconds))
        ended.start()
        pauses.timer.start()
        loop.exec()
        pauses.timer.stop()
        ended.stop()
        enough.stop()

    found = measure(process, go)
    fewest = min(paint.end() for paint in paints)
    return dataclasses.replace(found, paints=fewest, pause=pauses.longest, busiest=pauses.busiest)


def report(name, found, alone):
    frame, ears = 1000 * found.window / max(found.paints, 1), found.ears
    print(
        f"{name:<16} {found.wall:5.1f} s  {ears.steps[-1][0] / ears.wall:7.1f} iterations/s "
        f"{ears.looks / ears.wall:5.1f} looks/s {found.paints / ears.wall:5.1f} repaints/s  "
        f"watch {ears.watching:5.1%}  pace {pace(found, alone):6.1%}  "
        f"window {found.window / found.wall:5.1%}, {frame:.1f} ms"
        f"  pause {1000 * found.pause:4.0f} ms, {1000 * found.busiest:.0f} ms busy",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--method", default="svm-pauc")
    parser.add_argument("--set", action="append", metavar="NAME=VALUE")
    parser.add_argument("--views", nargs="*", default=VIEWS)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    os.environ["AUCSTUDIO_HOME"] = str(folder / "home")
    write_rows(folder / "rows.csv", options.rows)
    make_application("light")
    process = ListenedTo()
    window = create_window(place=process)
    window.resize(1440, 900)
    window.show()
    window.open_data(folder / "rows.csv")
    session = window.session
    # Nearly without regularisation, and to the last digit: no iteration too few for SECONDS.
    settings = options.set or (["C=100000", "tol=1e-10"] if options.method == "svm-pauc" else [])
    settings = dict(setting.split("=", 1) for setting in settings)
    params = read_settings(options.method, settings, (0.0, 0.1))
    validation = Validation(test_size=0.5)
    data = DataReference.to_table(session.table)
    experiment = plan_experiment(data, options.method, params, validation)
    plan = PlannedRun(experiment, session.table, None)
    # What is compiled or imported at a first run is not part of the comparison.
    run_alone(process, plan, min(2.0, options.seconds))
    alone = run_alone(process, plan, options.seconds)
    report("nobody polls", alone, alone)
    again = run_alone(process, plan, options.seconds)
    report("nobody polls", again, alone)
    session.put_plan(
        dataclasses.replace(
            session.plan,
            method=options.method,
            params={options.method: params},
            validation=validation,
        )
    )
    shown = [[name] for name in options.views] + ([options.views] if len(options.views) > 1 else [])
    for names in shown:
        found = run_watched(process, window, names, options.seconds)
        report("side by side" if len(names) > 1 else names[0], found, alone)
    window.close()
    process.close()


if __name__ == "__main__":
    main()
