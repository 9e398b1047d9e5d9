"""A window that runs for a long time: threads, open files and memory must not grow with the runs.

Run by itself it prints a line of JSON every few runs::

    python -m tests.torture.window FOLDER SECONDS [ROWS]
"""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from tests.conftest import write_table
from tests.torture.world import Tally, World

_EVERY, _STOP_EVERY = 10, 7
_WARM_RUNS = 30
_FEW_THREADS, _FEW_FILES = 3, 8
_PATIENCE_SECONDS = 120.0
_LEFT_OUT = {"auc-ensemble", "greedy-pauc"}  # too slow to run many times


def at_work(folder: Path, seconds: int) -> Tally:
    """Train runs in a window for some seconds; its resources must not grow."""
    tally = Tally(f"a window at work for {seconds} s")
    world = World(folder, tally)
    process = subprocess.Popen(
        ["nice", "-n", "10", sys.executable, "-m", "tests.torture.window", ".", str(seconds)],
        cwd=folder,
        env={**world.environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = world.ended(process, "window", seconds + 300.0)
    found = [json.loads(line) for line in end.out.splitlines()]
    if end.status or not found:
        tally.lose(f"exit {end.status}: {end.err.strip()[-500:]}")
        return tally
    first = next((one for one in found if one["runs"] >= _WARM_RUNS), found[0])
    last = found[-1]
    tally.tries = last["runs"]
    tally.left += max(0, last["threads"] - first["threads"] - _FEW_THREADS)
    tally.left += max(0, last["files"] - first["files"] - _FEW_FILES)
    tally.lost += last["runs"] - last["kept"]
    tally.notes += [json.dumps(first), json.dumps(last)]
    world.count_orphans()
    return tally


def _work(folder: Path, seconds: float, rows: int = 0) -> None:
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QComboBox, QTabBar

    from aucstudio.engine import METHODS
    from aucstudio.gui.app import create_window, make_application

    if rows:
        write_table(folder / "study.csv", rows=rows, features=12)
    application = make_application("light")
    window = create_window()
    window.show()
    window.open_now(folder / "study.csv")
    methods = window.findChild(QComboBox, "method_combo")
    pages = window.findChild(QTabBar, "view_tabs_bar")
    run = window.findChild(QAction, "action_run")
    stop = window.findChild(QAction, "action_stop")
    names = [name for name in METHODS if name not in _LEFT_OUT]
    began, runs = time.monotonic(), 0
    _wait_until_idle(application, window)
    while time.monotonic() - began < seconds:
        methods.setCurrentIndex(methods.findData(names[runs % len(names)]))
        methods.activated.emit(methods.currentIndex())
        plan = window.session.plan
        validation = dataclasses.replace(plan.validation, seed=runs)
        window.session.put_plan(dataclasses.replace(plan, validation=validation))
        _wait_until_idle(application, window)
        run.trigger()
        _wait_until_idle(
            application, window, stop if runs % _STOP_EVERY == _STOP_EVERY - 1 else None
        )
        pages.setCurrentIndex(runs % pages.count())
        _wait_until_idle(application, window)
        runs += 1
        if runs % _EVERY == 0:
            _print(runs, time.monotonic() - began, len(window.session.records))
    _print(runs, time.monotonic() - began, len(window.session.records))
    window.close()
    application.processEvents()


def _wait_until_idle(application: Any, window: Any, stop: Any = None) -> None:
    """Wait until no job is running; ``stop`` is an action that cancels jobs."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while window.session.busy and time.monotonic() < until:
        application.processEvents()
        time.sleep(0.01)
        if stop is not None and stop.isEnabled():
            stop.trigger()
    for _ in range(5):
        application.processEvents()


def _print(runs: int, seconds: float, kept: int) -> None:
    import psutil

    process = psutil.Process()
    names = collections.Counter(
        thread.name.split("_")[0].split("-")[0] + ":" + type(thread).__name__
        if not thread.name.startswith("aucstudio")
        else thread.name
        for thread in threading.enumerate()
    )
    figures = {
        "runs": runs,
        "kept": kept,
        "seconds": round(seconds),
        "threads": threading.active_count(),
        "native": process.num_threads(),
        "files": len(os.listdir("/proc/self/fd")),
        "children": len(process.children(recursive=True)),
        "megabytes": process.memory_info().rss >> 20,
        "names": dict(names),
        "jobs": _doing(),
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


def _doing() -> list[str]:
    """Return the call stacks of running jobs, the innermost own call first."""
    frames = sys._current_frames()
    found = []
    for thread in threading.enumerate():
        if thread.name.startswith("aucstudio-job") and thread.ident in frames:
            calls = traceback.extract_stack(frames[thread.ident])
            ours = [f"{Path(c.filename).stem}.{c.name}" for c in calls if "aucstudio" in c.filename]
            found.append(" < ".join(reversed(ours[-4:])))
    return found


if __name__ == "__main__":
    _work(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
