"""Kill processes while they run an experiment and while they create a project."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import time
from pathlib import Path

from aucstudio.project.errors import InputError
from tests.torture.world import Tally, World, stored_figures

_WAIT = 60.0


def of_run(folder: Path, tries: int, seed: int = 0) -> Tally:
    """SIGKILL ``aucstudio run`` at random moments; runs that were committed must stay."""
    tally, drawn = Tally("SIGKILL of run"), random.Random(seed)
    world = World(folder, tally, ("auc-rls", "svm-auc", "logistic"))
    project = folder / "killed.aucproj"
    began = time.monotonic()
    whole = world.run(project)
    length = time.monotonic() - began
    if whole.status:
        tally.lose(f"the first run failed: {whole.err.strip()[-300:]}")
        return tally
    if not tally.sees(planted_loss(project)):
        return tally
    kept = _listed(world, project)
    for k in range(tries):
        jobs = ["--jobs", "2"] if k % 2 else []
        process = world.start(*world.run_words(project), *jobs)
        _wait(process, drawn.uniform(0.2, 1.1 * length))
        seen = committed(project)
        process.send_signal(signal.SIGKILL)
        world.ended(process, "killed")
        tally.tries += 1
        world.count_orphans()
        if k % 10 == 9 or k == tries - 1:
            now = _listed(world, project)
            tally.lost += len(set(kept) - set(now))
            tally.silent += sum(now[run] != kept[run] for run in kept if run in now)
            kept = now
        tally.lost += len(seen - committed(project))
    # The next program removes the files that a killed one left.
    world.command("inspect", "study.csv", "--json")
    world.count_left()
    beside = [p.name for p in folder.iterdir() if _is_ours(p, project)]
    tally.left += len(beside)
    tally.notes += [f"left behind: {name}" for name in beside[:3]]
    return tally


def _wait(process: object, seconds: float) -> None:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit and process.poll() is None:  # type: ignore[attr-defined]
        time.sleep(0.005)


def committed(project: Path) -> set[str]:
    """Return the ids of the runs in the file; raise an error if it cannot be read."""
    with contextlib.closing(sqlite3.connect(f"file:{project}", uri=True, timeout=30)) as database:
        return {row[0] for row in database.execute("SELECT id FROM records")}


def planted_loss(project: Path) -> int:
    """Delete a run from a copy of a project; return how many runs are then found to be lost."""
    copy = project.with_name("planted.aucproj")
    shutil.copyfile(project, copy)
    before = committed(copy)
    with contextlib.closing(sqlite3.connect(copy)) as database, database:
        database.execute("DELETE FROM records WHERE id = (SELECT min(id) FROM records)")
    lost = len(before - committed(copy))
    copy.unlink()
    return lost


def _listed(world: World, project: Path) -> dict[str, tuple[object, ...]]:
    try:
        return stored_figures(project)
    except InputError as error:
        world.tally.lose(f"the project cannot be read: {error}")
        return {}


def _is_ours(path: Path, project: Path) -> bool:
    """Return whether the program left a file beside the project."""
    belongs = {"study.csv", "study.toml", "home", "tmp", project.name}
    return path.name not in belongs and not path.name.endswith(("-journal", "-wal", "-shm"))


def inside_creation(folder: Path, tries: int, seed: int = 0) -> Tally:
    """SIGKILL a process that creates a project; it must be absent or complete."""
    from aucstudio.project.store.project.project_file import ProjectFile, open_or_create

    tally, drawn = Tally("SIGKILL inside creation"), random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    length = _creation_seconds(folder)
    for k in range(tries):
        path = folder / f"made{k}.aucproj"
        child = os.fork()
        if child == 0:
            os.setsid()
            try:
                ProjectFile.create(path).set_plan({"window": {}})
            finally:
                os._exit(0)
        time.sleep(drawn.uniform(0.0, 1.2 * length))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        tally.tries += 1
        try:
            if path.exists():
                ProjectFile.open(path).plan()
            # The next writer removes the journal of the killed process.
            open_or_create(path).set_plan({"window": {}})
        except Exception as error:  # noqa: BLE001  (any error is counted)
            tally.lose(f"{type(error).__name__}: {error}")
        path.unlink(missing_ok=True)
    left = sorted(p.name for p in folder.iterdir() if not p.name.endswith(".aucproj"))
    # A killed process cannot remove its partial file; the file must be hidden and small.
    shown = [name for name in left if not name.startswith(".")]
    tally.left += len(shown)
    tally.notes += [f"left behind: {name}" for name in shown[:3]]
    return tally


def _creation_seconds(folder: Path) -> float:
    from aucstudio.project.store.project.project_file import ProjectFile

    began = time.monotonic()
    for k in range(5):
        ProjectFile.create(folder / f"timed{k}.aucproj").set_plan({"window": {}})
    seconds = (time.monotonic() - began) / 5
    for k in range(5):
        (folder / f"timed{k}.aucproj").unlink()
    return seconds


def of_parent(folder: Path, tries: int, seed: int = 0) -> Tally:
    """SIGTERM and SIGKILL a program with several worker processes: none may survive."""
    tally, drawn = Tally("SIGTERM, SIGKILL with 2 jobs"), random.Random(seed)
    world = World(folder, tally, rows=400)
    for k in range(tries):
        process = world.start(*world.run_words(None), "--jobs", "2")
        _wait(process, drawn.uniform(0.5, 4.0))
        process.send_signal(signal.SIGTERM if k % 2 else signal.SIGKILL)
        world.ended(process, "killed")
        tally.tries += 1
        world.count_orphans()
    world.command("inspect", "study.csv", "--json")
    world.count_left()
    return tally
