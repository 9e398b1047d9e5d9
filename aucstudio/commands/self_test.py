"""``aucstudio --self-test``: test every part of an installation.

It needs no network and no display, writes into a temporary folder only, and prints one line for
each part. A package passes if it works in a place that has nothing of ours but the package.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.util
import json
import os
import platform
import runpy
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from aucstudio import __version__
from aucstudio.boundary import DONE, RUN_FAILED
from aucstudio.commands import window
from aucstudio.console import say
from aucstudio.project import scratch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aucstudio.study import Study

_ROWS, _JOBS = 240, 2
_TOLERANCE = 1e-9


class _PartFailedError(Exception):
    """A part did not do what it should; the message says what."""


@dataclasses.dataclass(eq=False)
class _Bench:
    """What earlier parts leave for later ones.

    Attributes
    ----------
    folder : Path
        For the files of the test.
    study : Study
    tuned : str
        Id of the run whose settings were tuned.
    """

    folder: Path
    study: Study = dataclasses.field(init=False)
    tuned: str = dataclasses.field(init=False)

    @property
    def table(self) -> Path:
        return self.folder / "table.sqlite"

    @property
    def project(self) -> Path:
        return self.folder / "self-test.aucproj"

    @property
    def model(self) -> Path:
        return self.folder / "self-test.aucmodel"


def run(_options: argparse.Namespace) -> int:
    """Test each part and print a line for it; return the exit status."""
    say(f"AUC Studio {__version__}, Python {platform.python_version()}, {platform.platform()}")
    failed = []
    with scratch.folder() as folder, _home(folder / "home"):
        bench = _Bench(folder)
        for name, part in _PARTS.items():
            began = time.perf_counter()
            try:
                outcome = f"ok      {name}: {part(bench)}"
            except Exception as error:  # noqa: BLE001  (whatever fails is what is looked for)
                failed.append(name)
                outcome = f"FAILED  {name}: {type(error).__name__}: {error}"
            say(f"{outcome} ({time.perf_counter() - began:.1f} s)")
            sys.stdout.flush()
    say(f"{len(failed)} of {len(_PARTS)} parts failed: {', '.join(failed)}" if failed else "passed")
    return RUN_FAILED if failed else DONE


@contextlib.contextmanager
def _home(folder: Path) -> Iterator[None]:
    """Keep preferences and recent files of the person who tests out of it."""
    before = os.environ.get("AUCSTUDIO_HOME")
    os.environ["AUCSTUDIO_HOME"] = str(folder)
    try:
        yield
    finally:
        del os.environ["AUCSTUDIO_HOME"]
        os.environ |= {} if before is None else {"AUCSTUDIO_HOME": before}


def _files(_bench: _Bench) -> str:
    from aucstudio.engine import METHODS
    from aucstudio.notices.catalogue import entries
    from aucstudio.project.resources import resource_path

    needed = [
        "help/first-steps.md",
        "icons/aucstudio.svg",
        "export/model_script.py",
        "themes/style.qss",
    ]
    absent = [name for name in needed if not resource_path(*name.split("/")).is_file()]
    _require(not absent, f"missing: {', '.join(absent)}")
    methods = [METHODS[key].title for key in METHODS]
    return f"resources, {len(methods)} methods, {len(entries())} notices"


def _read(bench: _Bench) -> str:
    """Read a foreign format, which happens in a child process."""
    from aucstudio.project.data.table import read_table

    cells = [((row * 37) % 101 / 10, (row * 53) % 97 / 10, "abc"[row % 3]) for row in range(_ROWS)]
    rows = [
        (*cell, "yes" if cell[0] + cell[1] > 10 + row % 5 else "no")
        for row, cell in enumerate(cells)
    ]
    database = sqlite3.connect(bench.table)
    with database:
        database.execute("CREATE TABLE cases (age REAL, dose REAL, site TEXT, outcome TEXT)")
        database.executemany("INSERT INTO cases VALUES (?, ?, ?, ?)", rows)
    database.close()
    table = read_table(bench.table, label="outcome", positive="yes")
    _require(table.rows == _ROWS, f"{table.rows} of {_ROWS} rows were read")
    return f"{table.rows} rows of a SQLite database"


def _train(bench: _Bench) -> str:
    from aucstudio.study import open_study

    bench.study = open_study(bench.project, create=True)
    bench.study.run(_experiment(bench, {"method": "svm-pauc"}))
    (row,) = bench.study.runs()
    _require(row["auc"] > 0.8, f"the AUC of a separable table is {row['auc']:.3f}")
    return f"svm-pauc, AUC {row['auc']:.3f}"


def _tune(bench: _Bench) -> str:
    """Tune runs at once in worker processes, which must be services and not this program again."""
    import psutil

    tuned = [{"method": key, "tune": "auc"} for key in ("auc-rls", "rls")]
    ids = bench.study.run(_experiment(bench, *tuned), jobs=_JOBS)
    left = psutil.Process().children(recursive=True)
    alive = [child.pid for child in left if child.status() != psutil.STATUS_ZOMBIE]
    _require(not alive, f"{len(alive)} processes are left behind")
    bench.tuned = ids[0]
    # The same run in this process, to the same numbers.
    here = bench.study.run(_experiment(bench, tuned[0]))
    scores = [bench.study.scores(str(one))["score"] for one in (bench.tuned, here)]
    _same(scores[0], scores[1])
    return f"{len(ids)} runs in {_JOBS} worker processes, same scores as in this one"


def _score(bench: _Bench) -> str:
    from aucstudio.project.store.model_file import load_model
    from aucstudio.project.store.scores_file import scores_file, write_scores

    model = bench.study.model(bench.tuned)
    model.save(bench.model)
    target = bench.folder / "scores.csv"
    with scores_file(target) as file:
        report = write_scores(file, load_model(bench.model), bench.table)
    written = target.read_text(encoding="utf-8").count("\n") - 1
    _require(report.scored == written == _ROWS, f"{written} of {_ROWS} rows were scored")
    held_out = bench.study.scores(bench.tuned)
    _same(model.decision_function(bench.table)[held_out["row"]], held_out["score"])
    return f"{written} rows, same scores as when it was trained"


def _export(bench: _Bench) -> str:
    """Write every format, and compare the scores of those that run here."""
    from aucstudio.project.store.export import FORMATS, export_model
    from aucstudio.project.store.model_file import load_model

    written = []
    for key, form in FORMATS.items():
        if key == "onnx" and importlib.util.find_spec("onnx") is None:
            continue
        export_model(load_model(bench.model), key, bench.folder / f"model{form.ending}")
        written.append(key)
    json.loads((bench.folder / "model.json").read_text(encoding="utf-8"))
    score = runpy.run_path(str(bench.folder / "model.py"))["score"]
    database = sqlite3.connect(bench.table)
    columns = zip(*database.execute("SELECT age, dose, site FROM cases"), strict=True)
    cells = dict(zip(("age", "dose", "site"), map(list, columns), strict=True))
    database.close()
    _same(score(cells), bench.study.model(bench.tuned).decision_function(bench.table))
    if "onnx" in written:
        import onnx

        onnx.checker.check_model(str(bench.folder / "model.onnx"))
    return f"{', '.join(written)}; the script returns the same scores"


def _check(bench: _Bench) -> str:
    from aucstudio.project.store.check import check_file

    for path in (bench.project, bench.model):
        problems = check_file(path).problems
        _require(not problems, f"{path.name}: {'; '.join(problems)}")
    return "project and model file are sound"


def _verify(bench: _Bench) -> str:
    """Solve the problem of a run again by the solver that serves this alone."""
    from aucstudio.project.runs.verification import verify_run
    from aucstudio.project.store.project.project_file import ProjectFile

    records = ProjectFile.open(bench.project).read().records
    (record,) = (one for one in records if one.experiment.method == "svm-pauc")
    found = verify_run(record, 0, lambda _stage, _share: None).found
    _require(found.solved is not None, f"not solved again: {'; '.join(found.reasons)}")
    _require(not found.faults, "; ".join(found.faults))
    return f"{found.route}, objective {found.solved:.6g}"


def _window(bench: _Bench) -> str:
    if not window.is_installed():
        return "skipped, Qt is not installed"
    width, height, shown, colours = window.painted(bench.project)
    _require(shown == len(bench.study.runs()), f"the window shows {shown} runs")
    _require(colours > 1, "the window is empty")
    return f"{width} × {height} pixels, {shown} runs"


_PARTS: dict[str, Callable[[_Bench], str]] = {
    "files": _files,
    "read": _read,
    "train": _train,
    "tune": _tune,
    "score": _score,
    "export": _export,
    "check": _check,
    "verify": _verify,
    "window": _window,
}


def _experiment(bench: _Bench, *runs: dict[str, str]) -> dict[str, object]:
    data = {"file": str(bench.table), "label": "outcome", "positive": "yes"}
    return {"data": data, "validation": {"test_size": 0.5}, "runs": list(runs)}


def _same(first: NDArray[np.float64], second: NDArray[np.float64]) -> None:
    difference = float(abs(first - second).max())
    _require(difference <= _TOLERANCE, f"scores differ by {difference:.3g}")


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise _PartFailedError(sentence)
