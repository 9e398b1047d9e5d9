"""Files that move or change during a run, odd names, clocks set back, and large projects."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

from tests.torture.disks import layer
from tests.torture.kills import planted_loss
from tests.torture.world import Ended, Tally, World

_LARGE_BYTES = 2_000_000_000
_RUNS_A_STUDY = 50
_WAIT_SECONDS = 60.0


def project_moves(folder: Path, tries: int) -> Tally:
    """Rename, replace or delete the project during a run.

    The exit status must match the result: 0 only if the runs are in the project.
    """
    tally = Tally("the project is renamed, replaced, deleted")
    world = World(folder, tally, ("auc-rls", "svm-auc", "logistic"), rows=400)
    first = folder / "first.aucproj"
    before = _made(world, first)
    for k in range(tries):
        project, aside = folder / f"p{k}.aucproj", folder / f"p{k} aside.aucproj"
        shutil.copyfile(first, project)
        process = world.start(*world.run_words(project))
        _until_run_or_end(process, project, before)
        how = ("rename", "replace", "delete")[k % 3]
        if how == "rename":
            project.rename(aside)
        elif how == "replace":
            shutil.copyfile(project, aside)
            os.replace(aside, project)
        else:
            project.unlink()
        end = world.ended(process, how)
        world.try_ended(how)
        promised = before + (len(json.loads(end.out)["runs"]) if not end.status else 0)
        if not end.status and max(_count(project), _count(aside)) < promised:
            tally.mislead(f"{how}: exit 0 and the runs are in no project; {end.err[-200:]}")
    return tally


def table_changes(folder: Path, tries: int) -> Tally:
    """Change or delete the table while runs use it."""
    tally = Tally("the table changes in mid-run")
    world = World(folder, tally, ("auc-rls", "svm-auc", "logistic"), rows=400)
    table = folder / "study.csv"
    content = table.read_bytes()
    true = _scores(world.run(None))
    for k in range(tries):
        table.write_bytes(content)
        project = folder / f"p{k}.aucproj"
        process = world.start(*world.run_words(project))
        _until_run_or_end(process, project, 0)
        if k % 3 == 0:
            table.write_bytes(content[: len(content) // 2])
        elif k % 3 == 1:
            table.write_bytes(content.replace(b",yes", b",no").replace(b"north", b"south"))
        else:
            table.unlink()
        end = world.ended(process, f"try {k}")
        world.try_ended(f"try {k}")
        if not end.status and _scores(end) != true:
            tally.mislead(f"try {k}: other results than on the table that was read")
    table.write_bytes(content)
    return tally


def read_only_home(folder: Path, tries: int) -> Tally:
    """Use a home that cannot be written to: a file is in the place of its folder."""
    tally = Tally("a home that cannot be written")
    world = World(folder, tally, ("auc-rls", "logistic"))
    home = folder / "home"
    home.write_text("no folder")
    for k, words in enumerate(_commands(folder)[:tries]):
        end = world.command(*words)
        world.try_ended(" ".join(words))
        if end.status:
            tally.lose(f"{k}: exit {end.status}: {end.err.strip()[-200:]}")
    return tally


def odd_names(folder: Path, tries: int) -> Tally:
    """Use folders and files with odd names: all commands must work and print the same figures."""
    tally = Tally("odd names")
    names = (
        os.fsdecode(b"not\xff UTF-8"),
        "two words",
        "ends in a blank ",
        "Übung 表 😀",
        "-dash",
        "line\nend",
        "quote'\"",
        "a[b]*?",
        "%s{x}",
        "n" * 200,
    )
    true: str | None = None
    for name in names[:tries]:
        world = World(folder / name, tally, ("auc-rls", "logistic"))
        (world.folder / "study.csv").rename(world.folder / f"{name}.csv")
        areas = []
        for words in _commands(world.folder, f"./{name}"):
            end = world.command(*words)
            world.try_ended(repr(name))
            if end.status:
                tally.lose(f"{name!r}, {words[0]}: exit {end.status}: {end.err.strip()[-300:]}")
                continue
            if words[0] == "train":
                areas.append(json.dumps(json.loads(end.out)["runs"][0]["auc"]))
        true = true or "".join(areas)
        if "".join(areas) != true:
            tally.mislead(f"{name!r}: other figures")
    return tally


def clock_back(folder: Path, tries: int) -> Tally:
    """Set the clock back between runs; committed runs must stay, in order."""
    tally = Tally("the clock is set back")
    built = layer(folder / "layer", "clock")
    if built is None:
        tally.note("not run: there is no C compiler")
        return tally
    world = World(folder / "world", tally, ("auc-rls", "logistic"))
    project = folder / "world" / "p.aucproj"
    before = _made(world, project)
    if not tally.sees(planted_loss(project)):
        return tally
    for k in range(tries):
        back = (5, 3_700, 40_000_000)[k % 3]
        more = {"LD_PRELOAD": str(built), "CLOCK_BACK": str(back), "CLOCK_AFTER": f"{k % 4 * 0.7}"}
        end = world.command(*world.run_words(project), more=more)
        world.try_ended(f"{back} s back")
        before += len(json.loads(end.out)["runs"]) if not end.status else 0
        tally.lost += max(0, before - _count(project))
        tally.lost += end.status != 0
        end = world.command("compare", str(project), "--json")
        tally.lost += end.status != 0
    return tally


def many_runs(folder: Path, tries: int) -> Tally:
    """Add very many runs to a project; it must still open, list and verify."""
    tally = Tally(f"{tries} runs in a project")
    world = World(folder, tally, ())
    project = folder / "p.aucproj"
    while _count(project) < tries and tally.clean:
        first = _count(project)
        runs = "".join(
            f'[[runs]]\nmethod = "auc-rls"\nsettings = {{ regularization = {1 + k / 1000} }}\n'
            for k in range(first, min(tries, first + _RUNS_A_STUDY))
        )
        text = (folder / "study.toml").read_text().partition("[[runs]]")[0]
        (folder / "study.toml").write_text(text + runs)
        end = world.run(project)
        world.try_ended(f"from {first}")
        if end.status:
            tally.lose(end.err.strip()[-300:])
    _opened(world, project, tries)
    return tally


def large_project(folder: Path, tries: int) -> Tally:
    """Open a project of 2 GB, most of it content that no run needs."""
    tally = Tally("a project of 2 GB")
    world = World(folder, tally, ("auc-rls",))
    project = folder / "p.aucproj"
    runs = _made(world, project)
    if shutil.disk_usage(folder).free < 10 * _LARGE_BYTES:
        tally.note("not run: the disk has too little room")
        return tally
    with contextlib.closing(sqlite3.connect(project)) as database:
        for k in range(tries * _LARGE_BYTES // 50_000_000):
            with database:
                found = "INSERT INTO blobs (checksum, data) VALUES (?, randomblob(50000000))"
                database.execute(found, (k.to_bytes(32, "big"),))
    _opened(world, project, runs)
    project.unlink()
    return tally


def _opened(world: World, project: Path, runs: int) -> None:
    tally = world.tally
    for words in (["compare", str(project), "--json"], ["check", str(project)]):
        began = time.monotonic()
        end = world.command(*words)
        tally.tries += 1
        tally.note(f"{words[0]}: exit {end.status} in {time.monotonic() - began:.0f} s")
        if words[0] == "compare":
            found = len(json.loads(end.out)["runs"]) if not end.status else 0
            tally.lost += max(0, runs - found)


def _made(world: World, project: Path) -> int:
    """Create a project; return its number of runs."""
    end = world.run(project)
    world.try_ended("the first run")
    if end.status:
        world.tally.lose(f"the study could not be made: {end.err.strip()[-300:]}")
    return _count(project)


def _count(project: Path) -> int:
    """Return the number of runs of a project; 0 if it does not exist."""
    if not project.exists():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(project, timeout=30)) as database:
            return int(database.execute("SELECT count(*) FROM records").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # not created yet


def _scores(end: Ended) -> list[object]:
    return [(run["method"], run["auc"]) for run in json.loads(end.out)["runs"]]


def _commands(folder: Path, stem: str = "./study") -> list[list[str]]:
    table, model, project = f"{stem}.csv", f"{stem}.aucmodel", f"{stem}.aucproj"
    train = ["train", table, "--method", "auc-rls", "--project", project, "--save-model", model]
    return [
        ["inspect", table, "--json"],
        [*train, "--json"],
        ["score", model, table, "-o", f"{stem}.scores.csv"],
        ["compare", project, "--json"],
        ["check", project],
        ["export", model, "--to", "json", "-o", f"{stem}.json"],
    ]


def _until_run_or_end(process: subprocess.Popen[str], project: Path, before: int) -> None:
    """Wait until a command has added a run to a project, or has ended."""
    limit = time.monotonic() + _WAIT_SECONDS
    while process.poll() is None and _count(project) <= before and time.monotonic() < limit:
        time.sleep(0.01)
