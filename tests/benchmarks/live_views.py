"""How often the pictures move while a method trains, and what that takes from the training.

    python -m tests.benchmarks.live_views [--rows 20000] [--seconds 10] [--method svm-pauc]
                                          [--set C=1000]...

Opens the real window (offscreen unless a platform is chosen) and trains the method on half of
ROWS x 50 made rows, first with nobody polling, then with each of the ROC, Training and
Differences views in turn; each run is stopped after SECONDS. Prints for each:

- iterations, looks passed on and repaints of the picture a second (wanted: 10 or more, where
  there are so many iterations),
- watch: share of the time that the training thread spends in telling and looking,
- pace: iterations a second beside those of the run that nobody polled, for the same number of
  iterations (wanted: watch and what is lost of the pace together under 5 %),
- window: processor time of the window's own thread, as a share of the time,
- pause: the longest time between turns of the event loop.

Needs a quiet machine with a processor for the window.
"""

import argparse
import dataclasses
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer

from aucstudio.gui.app import create_window, make_application
from aucstudio.project.experiment import DataReference, plan_experiment
from aucstudio.project.headless import read_settings
from aucstudio.project.job import run_job
from aucstudio.project.split import Validation
from aucstudio.project.watch import Watch
from tests.benchmarks.event_loop import write_rows

VIEWS = ("roc_view", "training_view", "difference_view")
TICK = 0.005


class Paints(QObject):
    """Counts the repaints of some plots."""

    def __init__(self, plots):
        super().__init__()
        self.count, self._plots = 0, plots
        for plot in plots:
            plot.viewport().installEventFilter(self)

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and watched is self._plots[0].viewport():
            self.count += 1
        return False


class Pauses:
    """Times between turns of the event loop, beyond those asked for."""

    def __init__(self):
        self.longest, self._last = 0.0, None
        self.timer = QTimer()
        self.timer.setInterval(round(1000 * TICK))
        self.timer.timeout.connect(self._tick)

    def _tick(self):
        now = time.perf_counter()
        if self._last is not None:
            self.longest = max(self.longest, now - self._last - TICK)
        self._last = now


class Watched:
    """Time spent in the watch, looks and steps, since the last reset."""

    def __init__(self):
        self.reset()
        call, look = Watch.__call__, Watch._look

        def timed(watch, step):
            began = time.perf_counter()
            stop = call(watch, step)
            self.seconds += time.perf_counter() - began
            if step.iteration > 0:
                self.steps.append((step.iteration, began))
            return stop

        def counted(watch, step, seconds):
            shown = look(watch, step, seconds)
            self.looks += shown is not None
            return shown

        Watch.__call__, Watch._look = timed, counted

    def reset(self):
        self.seconds, self.looks, self.steps = 0.0, 0, []


@dataclasses.dataclass
class Found:
    wall: float
    window: float
    watching: float
    looks: int
    steps: list
    paints: int = 0
    pause: float = 0.0


def measure(watched, go):
    """Run ``go`` to its end; give what it took."""
    watched.reset()
    wall, window = time.perf_counter(), time.thread_time()
    go()
    wall, window = time.perf_counter() - wall, time.thread_time() - window
    return Found(wall, window, watched.seconds, watched.looks, watched.steps)


def pace(found, alone):
    """Compare the time to the last iteration that both runs came to."""
    last = min(found.steps[-1][0], alone.steps[-1][0])
    times = [dict(run.steps)[last] - run.steps[0][1] for run in (found, alone)]
    return times[1] / times[0] if times[0] else float("nan")


def wait_for_job():
    for thread in threading.enumerate():
        if thread.name == "aucstudio-job":
            thread.join()


def run_alone(watched, experiment, table, seconds):
    job = run_job(experiment, table)

    def go():
        job.start()
        if not job.wait(seconds):
            job.stop()
        wait_for_job()

    return measure(watched, go)


def run_watched(watched, window, view, seconds):
    window.tabs.setCurrentIndex(window.views.index(view))
    paints, pauses, loop = Paints(view.plots()), Pauses(), QEventLoop()
    ended = QTimer()
    ended.setInterval(20)
    ended.timeout.connect(lambda: None if window.session.busy else loop.quit())

    def go():
        window.actions_.run.trigger()
        QTimer.singleShot(round(1000 * seconds), window.session.stop)
        ended.start()
        pauses.timer.start()
        loop.exec()
        pauses.timer.stop()
        ended.stop()

    found = measure(watched, go)
    wait_for_job()
    for plot in view.plots():
        plot.viewport().removeEventFilter(paints)
    return dataclasses.replace(found, paints=paints.count, pause=pauses.longest)


def report(name, found, alone):
    print(
        f"{name:<16} {found.wall:5.1f} s  {len(found.steps) / found.wall:7.1f} iterations/s "
        f"{found.looks / found.wall:5.1f} looks/s {found.paints / found.wall:5.1f} repaints/s  "
        f"watch {found.watching / found.wall:5.1%}  pace {pace(found, alone):6.1%}  "
        f"window {found.window / found.wall:5.1%}  pause {1000 * found.pause:4.0f} ms",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--method", default="svm-pauc")
    parser.add_argument("--set", action="append", metavar="NAME=VALUE")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    os.environ["AUCSTUDIO_HOME"] = str(folder / "home")
    write_rows(folder / "rows.csv", options.rows)
    make_application("light")
    window = create_window()
    window.resize(1440, 900)
    window.show()
    window.open_data(folder / "rows.csv")
    session, watched = window.session, Watched()
    params = read_settings(options.method, options.set or [], (0.0, 0.1))
    validation = Validation(test_size=0.5)
    data = DataReference.to_table(session.table)
    experiment = plan_experiment(data, options.method, params, validation)
    # What is compiled or imported at a first run is not part of the comparison.
    run_alone(watched, experiment, session.table, min(2.0, options.seconds))
    alone = run_alone(watched, experiment, session.table, options.seconds)
    report("nobody polls", alone, alone)
    session.put_plan(
        dataclasses.replace(
            session.plan,
            method=options.method,
            params={options.method: params},
            validation=validation,
        )
    )
    for name in VIEWS:
        (view,) = (view for view in window.views if view.objectName() == name)
        report(name, run_watched(watched, window, view, options.seconds), alone)
    window.close()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
