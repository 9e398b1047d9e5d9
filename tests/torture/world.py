"""Shared by all trials: a small study, the command line in a process, and checks for leftovers."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aucstudio.project.results.summary import run_as_json
from aucstudio.project.scratch import BoundedCache
from aucstudio.project.store.project.contents import read_contents
from aucstudio.project.store.project.database import ProjectSource
from tests.conftest import write_table

MARK = "AUCSTUDIO_TORTURE"
PATIENCE = 120.0  # most seconds for any command on a loaded machine
_KEPT_BYTES = 64 << 20
_ENDING = 10.0  # seconds in which processes must be gone after their parent

EXPERIMENT = """
[data]
file = "study.csv"
label = "outcome"
positive = "yes"

[validation]
scheme = "folds"
folds = 3

{runs}
"""
METHODS = ("auc-rls", "svm-auc", "logistic", "rank-svm", "auc-svm", "rls")


@dataclasses.dataclass
class Tally:
    """Result of the trials of one kind.

    Attributes
    ----------
    what : str
    tries : int
    lost : int
        Finished runs that are gone.
    silent : int
        Answers that differ from the true ones without a message.
    tracebacks, orphans, left : int
        Tracebacks shown, processes that outlived their parent, files left behind.
    notes : list of str
        How the trials ended, and the first failures.
    """

    what: str
    tries: int = 0
    lost: int = 0
    silent: int = 0
    tracebacks: int = 0
    orphans: int = 0
    left: int = 0
    notes: list[str] = dataclasses.field(default_factory=list)
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether no trial failed."""
        return not (self.lost or self.silent or self.tracebacks or self.orphans or self.left)

    def sees(self, planted: int) -> bool:
        """Return whether a planted loss of one run was found; else a trial proves nothing."""
        if planted != 1:
            self.mislead(f"a planted loss of 1 run was counted as {planted}")
        return planted == 1

    def lose(self, text: str, count: int = 1) -> None:
        """Count lost finished runs and commands that should have succeeded."""
        self.lost += count
        self.note(text)

    def mislead(self, text: str) -> None:
        """Count a wrong answer given without a message."""
        self.silent += 1
        self.note(text)

    def note(self, text: str) -> None:
        """Keep the first few failures."""
        if len(self.notes) < 12:
            self.notes.append(text)


@dataclasses.dataclass(frozen=True)
class Ended:
    """A command that ended."""

    status: int
    out: str
    err: str

    @property
    def traceback(self) -> bool:
        """Whether a traceback was shown."""
        return "Traceback (most recent call last)" in self.err + self.out


class World:
    """A folder with a table, an experiment file, a home and a temporary folder of its own.

    What commands show and leave behind is counted in the tally.
    """

    def __init__(
        self, folder: Path, tally: Tally, methods: Iterable[str] = METHODS, rows: int = 120
    ) -> None:
        self.folder, self.tally = folder, tally
        folder.mkdir(parents=True, exist_ok=True)
        self.temporary = folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        self.token = f"{os.getpid()}-{time.monotonic_ns()}"
        write_table(folder / "study.csv", rows=rows)
        runs = "\n".join(f'[[runs]]\nmethod = "{method}"\n' for method in methods)
        (folder / "study.toml").write_text(EXPERIMENT.format(runs=runs), encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of the commands."""
        return {
            **os.environ,
            MARK: self.token,
            "TMPDIR": str(self.temporary),
            "AUCSTUDIO_HOME": str(self.folder / "home"),
            "QT_QPA_PLATFORM": "offscreen",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }

    def start(self, *words: str, more: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start the command line."""
        return subprocess.Popen(
            [sys.executable, "-m", "aucstudio", *words],
            cwd=self.folder,
            env={**self.environment, **(more or {}), "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def command(self, *words: str, more: Mapping[str, str] | None = None) -> Ended:
        """Run the command line to its end."""
        return self.ended(self.start(*words, more=more), words[0])

    def run(self, project: Path | None, *words: str) -> Ended:
        """Run the experiment file, into a project if there is one."""
        return self.command(*self.run_words(project), *words)

    def run_words(self, project: Path | None) -> list[str]:
        """Return the words that run the experiment file."""
        into = [] if project is None else ["--project", str(project)]
        return ["run", "study.toml", *into, "--json"]

    def ended(
        self, process: subprocess.Popen[str], where: str, patience: float = PATIENCE
    ) -> Ended:
        """Wait for a command; count a traceback or a failure without a message."""
        try:
            out, err = process.communicate(timeout=patience)
            end = Ended(process.returncode, out, err)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            end = Ended(-999, out, err + "\n[it hung]")
        self.tally.tracebacks += end.traceback
        if end.traceback:
            self.tally.note(f"{where}: exit {end.status}: {end.err.strip()[-300:]}")
        elif 0 < end.status < 128 and not end.err.strip():
            self.tally.mislead(f"{where}: exit {end.status} without a word")
        return end

    def try_ended(self, where: str) -> None:
        """Count a try, and the processes and files left behind."""
        self.tally.tries += 1
        self.count_orphans()
        self.count_left(where)

    def count_orphans(self) -> None:
        """Count the surviving processes."""
        self.tally.orphans += len(self._orphans())

    def count_left(self, where: str = "") -> None:
        """Count the files in the temporary folder, and delete them."""
        left = self._left()
        self.tally.left += len(left)
        self.tally.notes += [f"{where}: left behind {name}" for name in left[:1]]

    def _orphans(self) -> list[int]:
        """List the processes of this world that are still alive after a short grace period."""
        limit = time.monotonic() + _ENDING
        while (alive := _marked(self.token)) and time.monotonic() < limit:
            time.sleep(0.05)
        for process in alive:
            os.kill(process, signal.SIGKILL)
        return alive

    def _left(self) -> list[str]:
        """List the content of the temporary folder, and delete it."""
        found = sorted(self.temporary.rglob("*"), reverse=True)
        names = [str(path.relative_to(self.temporary)) for path in found]
        for path in found:
            path.rmdir() if path.is_dir() else path.unlink()
        return names


def _marked(token: str) -> list[int]:
    """List running processes whose environment contains the token."""
    wanted = f"{MARK}={token}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX" and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def stored_figures(project: Path) -> dict[str, tuple[Any, ...]]:
    """Return the fields of every run of a project that must not change, by run id.

    Nothing that was read of the project before is used again.
    """
    with contextlib.closing(ProjectSource(project, BoundedCache(_KEPT_BYTES))) as source:
        records = read_contents(source).records
        runs = [run_as_json(one, one.experiment.band) for one in records if one.splits]
    return {
        run["id"]: (run["method"], run["status"], json.dumps(run["auc"], sort_keys=True))
        for run in runs
    }
