"""How the command line ends when it or one of its workers is killed; with real processes."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from aucstudio.project.store.project.project_file import ProjectFile
from tests.conftest import write_table

pytestmark = pytest.mark.slow

PATIENCE = 120.0
ENDING = 20.0
# Hours of work, most of it inside one call of a library, or of one compiled loop.
ENDLESS = {
    "svm": 'settings = { C = 1e8, kernel = "poly", degree = 3, gamma = 1.0 }',
    "auc-svm": 'settings = { C = 1e6, kernel = "rbf", gamma = 5.0 }',
}
# A single fit of the SVM ends after a few seconds; a search of its settings takes minutes.
LONG = f"tune = 'auc'\n{ENDLESS['svm']}"


def until(found, seconds=PATIENCE):
    """Wait until ``found()`` returns a true value; return it."""
    limit = time.monotonic() + seconds
    while not (thing := found()):
        assert time.monotonic() < limit, "timed out"
        time.sleep(0.1)  # asking takes processor time from what is waited for
    return thing


@pytest.fixture
def study(tmp_path):
    write_table(tmp_path / "study.csv", rows=6_000)
    (tmp_path / "temporary").mkdir()

    def make(*runs):
        lines = ["[data]", 'file = "study.csv"']
        for method, settings in runs:
            lines += ["[[runs]]", f'method = "{method}"', settings]
        (tmp_path / "study.toml").write_text("\n".join(lines))

    return make


def _restore_interrupts():
    """Restore SIGINT, which a shell makes background commands ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def start(tmp_path):
    started = []

    def go(*words):
        process = subprocess.Popen(
            [sys.executable, "-m", "aucstudio", *map(str, words)],
            cwd=tmp_path,
            env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_restore_interrupts,
        )
        started.append(process)
        return process

    yield go
    for process in started:
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children():
                child.kill()
        process.kill()
        process.communicate()


def workers(process, count):
    """Wait for a number of worker processes of a process."""

    def found():
        children = psutil.Process(process.pid).children()
        return children if len(children) >= count else None

    return until(found)


def busy(child, seconds=2.5):
    """Wait until a process has used more processor time than starting takes."""
    until(lambda: child.cpu_times().user > seconds)


def gone(child):
    return not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def runs_of(project):
    return ProjectFile.open(project).runs()


def test_worker_processes_end_with_the_killed_program(study, start, tmp_path):
    endless = ENDLESS["auc-svm"]
    study(("auc-svm", endless), ("auc-svm", f"tune = 'auc'\n{endless}"))
    process = start("run", "study.toml", "--jobs", "2")
    children = workers(process, 2)
    for child in children:
        busy(child)
    process.kill()
    assert process.wait(ENDING) == -signal.SIGKILL
    until(lambda: all(map(gone, children)), ENDING)
    # The next program removes the files that a killed one left.
    start("inspect", "study.csv").communicate(timeout=PATIENCE)
    assert not list((tmp_path / "temporary").iterdir())


def test_killed_worker_fails_only_its_run(study, start, tmp_path):
    study(("svm", LONG), ("auc-rls", ""), ("rls", ""), ("logistic", ""))
    project = tmp_path / "kept.aucproj"
    ProjectFile.create(project)
    process = start("run", "study.toml", "--jobs", "2", "--project", project, "--json")
    children = workers(process, 2)
    until(lambda: len(runs_of(project)) == 3)
    # The other worker is idle by now, however long its start took.
    before = [child.cpu_times().user for child in children]

    def busy():
        spent = zip(children, before, strict=True)
        return [child for child, then in spent if child.cpu_times().user > then + 0.5]

    until(busy)
    busy()[0].kill()
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert err.startswith("aucstudio: svm failed: the worker process ended")
    assert err.count("\n") == 1
    statuses = {run["method"]: run["status"] for run in json.loads(out)["runs"]}
    assert statuses == {"svm": "failed", "auc-rls": "done", "rls": "done", "logistic": "done"}
    assert len(runs_of(project)) == 4
    until(lambda: all(map(gone, children)), ENDING)


@pytest.mark.parametrize(("how", "jobs"), [(signal.SIGINT, 1), (signal.SIGTERM, 2)])
def test_interrupt_ends_the_workers_and_keeps_the_finished_splits(
    study, start, tmp_path, how, jobs
):
    endless = ENDLESS["auc-svm"]
    study(("auc-rls", ""), ("auc-svm", endless), ("auc-svm", f"tune = 'auc'\n{endless}"))
    project = tmp_path / "kept.aucproj"
    ProjectFile.create(project)
    process = start("run", "study.toml", "--jobs", jobs, "--project", project, "--json")
    until(lambda: runs_of(project))
    children = workers(process, jobs) if jobs > 1 else []
    for child in children:
        busy(child)
    process.send_signal(how)
    out, err = process.communicate(timeout=ENDING if children else PATIENCE)
    assert process.returncode == 128 + how
    until(lambda: all(map(gone, children)), ENDING)
    assert not list((tmp_path / "temporary").iterdir())
    assert err == ""
    statuses = [run["status"] for run in json.loads(out)["runs"]]
    assert statuses[0] == "done"
    assert set(statuses[1:]) <= {"stopped"}
    assert len(runs_of(project)) == len(statuses)


def test_window_closes_cleanly_on_sigterm(study, start, tmp_path):
    study(("svm", LONG))
    process = start("study.toml")
    (child,) = workers(process, 1)
    busy(child)
    process.send_signal(signal.SIGTERM)
    assert process.wait(ENDING) == 128 + signal.SIGTERM
    until(lambda: gone(child), ENDING)
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize("moment", [0.5, 1.0, 2.0, 3.0])
def test_ctrl_c_during_window_startup_does_not_crash(start, moment):
    process = start("--sample")
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(moment)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    # Before the program's first line has run, the system or Python ends the process.
    ours, early = 128 + signal.SIGINT, (-signal.SIGINT, 1 if "KeyboardInterrupt" in err else None)
    assert process.returncode in (ours, *early), err


_ASKED_WHILE_PAINTING = """
import os, signal
from aucstudio import cli
from aucstudio.gui.main_window import MainWindow

def paint(window, event):
    MainWindow.paintEvent = painted
    os.kill(os.getpid(), signal.SIGTERM)
    painted(window, event)

painted, MainWindow.paintEvent = MainWindow.paintEvent, paint
raise SystemExit(cli.main(["--sample"]))
"""


def test_sigterm_during_painting_finishes_the_paint():
    asked = subprocess.run(
        [sys.executable, "-c", _ASKED_WHILE_PAINTING],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        check=False,
    )
    assert asked.returncode == 128 + signal.SIGTERM, asked.stderr
    assert "which does not have a handle" not in asked.stderr
