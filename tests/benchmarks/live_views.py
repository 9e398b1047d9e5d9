"""How often the pictures move while a method trains, and what that takes from the training.

    python -m tests.benchmarks.live_views [--rows 20000] [--seconds 10] [--method svm-pauc]
                                          [--set C=100000]... [--views roc_view ...]

Opens the real window (offscreen unless a platform is chosen) and trains the method on half of
ROWS x 50 made rows, first with nobody polling, then with each of the ROC, Training and
Differences views in turn, and last with ROC and Training side by side; each run is stopped after
SECONDS. Prints for each:

- iterations, looks passed on and repaints of the picture a second (wanted: 10 or more, where
  there are so many iterations),
- watch: share of the time that the training thread spends in telling and looking,
- pace: iterations a second beside those of the run that nobody polled, for the same number of
  iterations (wanted: watch and what is lost of the pace together under 5 %),
- held up: share of the training thread's time in which it waited for the interpreter, without
  the time in which it waited for a processor (Linux only): on a busy machine this tells what the
  pace cannot,
- window: processor time of the window's own thread, as a share of the time and in milliseconds a
  repaint,
- pause: the longest time between turns of the event loop, and the most processor time in one.

Pace and pause need a quiet machine with a processor for the window.
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
SCHEDULED = Path("/proc/thread-self/schedstat")


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


def processor_times():
    """Seconds that this thread ran, and that it waited for a processor."""
    try:
        return [int(word) / 1e9 for word in SCHEDULED.read_text().split()[:2]]
    except OSError:
        return [float("nan")] * 2


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
                if len(self.steps) == 1:
                    self.first = began, *processor_times()
            return stop

        def counted(watch, step, seconds):
            shown = look(watch, step, seconds)
            if shown is not None:
                self.looks += 1
                self.last = time.perf_counter(), *processor_times()
            return shown

        Watch.__call__, Watch._look = timed, counted

    def reset(self):
        self.seconds, self.looks, self.steps = 0.0, 0, []
        self.first = self.last = (0.0, 0.0, 0.0)

    def held_up(self):
        wall, ran, queued = (b - a for a, b in zip(self.first, self.last, strict=True))
        return (wall - ran - queued) / (wall - queued) if wall > queued else float("nan")


@dataclasses.dataclass
class Found:
    wall: float
    window: float
    watching: float
    looks: int
    steps: list
    held_up: float
    paints: int = 0
    pause: float = 0.0
    busiest: float = 0.0


def measure(watched, go):
    """Run ``go`` to its end; give what it took."""
    watched.reset()
    wall, window = time.perf_counter(), time.thread_time()
    go()
    wall, window = time.perf_counter() - wall, time.thread_time() - window
    return Found(wall, window, watched.seconds, watched.looks, watched.steps, watched.held_up())


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
    window.deck.show_view(view)
    paints, pauses, loop = Paints(view.plots()), Pauses(), QEventLoop()
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

    found = measure(watched, go)
    wait_for_job()
    for plot in view.plots():
        plot.viewport().removeEventFilter(paints)
    return dataclasses.replace(
        found, paints=paints.count, pause=pauses.longest, busiest=pauses.busiest
    )


def report(name, found, alone):
    frame = 1000 * found.window / max(found.paints, 1)
    print(
        f"{name:<16} {found.wall:5.1f} s  {len(found.steps) / found.wall:7.1f} iterations/s "
        f"{found.looks / found.wall:5.1f} looks/s {found.paints / found.wall:5.1f} repaints/s  "
        f"watch {found.watching / found.wall:5.1%}  held up {found.held_up:5.1%}  "
        f"pace {pace(found, alone):6.1%}  "
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
    window = create_window()
    window.resize(1440, 900)
    window.show()
    window.open_data(folder / "rows.csv")
    session, watched = window.session, Watched()
    # Nearly without regularisation, and to the last digit: no iteration too few for SECONDS.
    settings = options.set or (["C=100000", "tol=1e-10"] if options.method == "svm-pauc" else [])
    params = read_settings(options.method, settings, (0.0, 0.1))
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
    views = {view.objectName(): view for view in window.views}
    for name in options.views:
        report(name, run_watched(watched, window, views[name], options.seconds), alone)
    window.deck.show_side_by_side(["roc_view", "training_view"])
    report("side by side", run_watched(watched, window, views["roc_view"], options.seconds), alone)
    window.close()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
