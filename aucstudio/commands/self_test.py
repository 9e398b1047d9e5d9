"""``aucstudio --self-test``: test every part of an installation.

It needs no network and no display, writes into a temporary folder only, and prints one line for
each part. It also passes where nothing but the package is installed.
"""

from __future__ import annotations

import argparse
import contextlib
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
from aucstudio.console import DONE, RUN_FAILED, say
from aucstudio.project import scratch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aucstudio.study import Study

TABLE, PROJECT, MODEL = "table.sqlite", "self-test.aucproj", "self-test.aucmodel"
_ROWS, _JOBS = 240, 2
_TOLERANCE = 1e-9


class _PartFailedError(Exception):
    """A part gave a wrong result; the message describes it."""


def run(_options: argparse.Namespace) -> int:
    """Test each part and print a line for it; return the exit status."""
    say(f"AUC Studio {__version__}, Python {platform.python_version()}, {platform.platform()}")
    failed = []
    with scratch.folder() as folder, _home(folder / "home"):
        for name, part in PARTS.items():
            began = time.perf_counter()
            try:
                outcome = f"ok      {name}: {part(folder)}"
            except Exception as error:  # noqa: BLE001  (any failure is a finding)
                failed.append(name)
                outcome = f"FAILED  {name}: {type(error).__name__}: {error}"
            say(f"{outcome} ({time.perf_counter() - began:.1f} s)")
            sys.stdout.flush()
    say(f"{len(failed)} of {len(PARTS)} parts failed: {', '.join(failed)}" if failed else "passed")
    return RUN_FAILED if failed else DONE


@contextlib.contextmanager
def _home(folder: Path) -> Iterator[None]:
    """Use a folder in place of the user's preferences and recent files."""
    before = os.environ.get("AUCSTUDIO_HOME")
    os.environ["AUCSTUDIO_HOME"] = str(folder)
    try:
        yield
    finally:
        del os.environ["AUCSTUDIO_HOME"]
        os.environ |= {} if before is None else {"AUCSTUDIO_HOME": before}


def _files(_folder: Path) -> str:
    from aucstudio.engine import METHODS
    from aucstudio.notices import entries
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


def _read(folder: Path) -> str:
    """Read a foreign format, which happens in a child process."""
    from aucstudio.project.data.table import read_table

    cells = [((row * 37) % 101 / 10, (row * 53) % 97 / 10, "abc"[row % 3]) for row in range(_ROWS)]
    rows = [
        (*cell, "yes" if cell[0] + cell[1] > 10 + row % 5 else "no")
        for row, cell in enumerate(cells)
    ]
    database = sqlite3.connect(folder / TABLE)
    with database:
        database.execute("CREATE TABLE cases (age REAL, dose REAL, site TEXT, outcome TEXT)")
        database.executemany("INSERT INTO cases VALUES (?, ?, ?, ?)", rows)
    database.close()
    table = read_table(folder / TABLE, label="outcome", positive="yes")
    _require(table.rows == _ROWS, f"{table.rows} of {_ROWS} rows were read")
    return f"{table.rows} rows of a SQLite database"


def _train(folder: Path) -> str:
    from aucstudio.study import open_study

    study = open_study(folder / PROJECT, create=True)
    study.run(_experiment(folder, {"method": "svm-pauc"}))
    (row,) = study.runs()
    _require(row["auc"] > 0.8, f"the AUC of a separable table is {row['auc']:.3f}")
    return f"svm-pauc, AUC {row['auc']:.3f}"


def _tune(folder: Path) -> str:
    """Tune runs in parallel in worker processes, then one of them in this process."""
    import psutil

    study = _study(folder)
    tuned = [{"method": key, "tune": "auc"} for key in ("auc-rls", "rls")]
    ids = study.run(_experiment(folder, *tuned), jobs=_JOBS)
    left = psutil.Process().children(recursive=True)
    alive = [child.pid for child in left if child.status() != psutil.STATUS_ZOMBIE]
    _require(not alive, f"{len(alive)} processes are still running")
    here = study.run(_experiment(folder, tuned[0]))
    _same(study.scores(ids[0])["score"], study.scores(str(here))["score"])
    return f"{len(ids)} runs in {_JOBS} worker processes, same scores as in this one"


def _score(folder: Path) -> str:
    from aucstudio.project.store.model_file import load_model
    from aucstudio.project.store.scores_file import score_into, scores_sink

    study = _study(folder)
    tuned = str(study.runs()[1]["id"])
    model = study.model(tuned)
    model.save(folder / MODEL)
    target = folder / "scores.csv"
    with scores_sink(target, (), False) as sink:
        report = score_into([sink], load_model(folder / MODEL), folder / TABLE)
    written = target.read_text(encoding="utf-8").count("\n") - 1
    _require(report.scored == written == _ROWS, f"{written} of {_ROWS} rows were scored")
    held_out = study.scores(tuned)
    _same(model.decision_function(folder / TABLE)[held_out["row"]], held_out["score"])
    return f"{written} rows, same scores as when it was trained"


def _export(folder: Path) -> str:
    """Write every format and compare the scores of the script."""
    from aucstudio.project.data.table import read_table
    from aucstudio.project.store.export import FORMATS, export_model
    from aucstudio.project.store.model_file import load_model

    model, written = load_model(folder / MODEL), []
    for key, form in FORMATS.items():
        if key == "onnx" and importlib.util.find_spec("onnx") is None:
            continue
        export_model(model, key, folder / f"model{form.ending}")
        written.append(key)
    json.loads((folder / "model.json").read_text(encoding="utf-8"))
    score = runpy.run_path(str(folder / "model.py"))["score"]
    table = read_table(folder / TABLE, label="outcome", positive="yes")
    cells = {name: table.column(name).values.tolist() for name in ("age", "dose", "site")}
    _same(score(cells), model.score(table))
    if "onnx" in written:
        import onnx

        onnx.checker.check_model(str(folder / "model.onnx"))
    return f"{', '.join(written)}; the script returns the same scores"


def _check(folder: Path) -> str:
    from aucstudio.project.store.check import check_file

    for path in (folder / PROJECT, folder / MODEL):
        problems = check_file(path).problems
        _require(not problems, f"{path.name}: {'; '.join(problems)}")
    return "project and model file are sound"


def _verify(folder: Path) -> str:
    """Solve the problem of a run again with the independent solver."""
    from aucstudio.project.runs.verification import verify_run
    from aucstudio.project.store.project.project_file import ProjectFile

    records = ProjectFile.open(folder / PROJECT).read().records
    (record,) = (one for one in records if one.experiment.method == "svm-pauc")
    found = verify_run(record, 0, lambda _stage, _share: None).found
    _require(found.solved is not None, f"not solved again: {'; '.join(found.reasons)}")
    _require(not found.faults, "; ".join(found.faults))
    return f"{found.route}, objective {found.solved:.6g}"


def _window(folder: Path) -> str:
    """Show the project in a window without a display."""
    if importlib.util.find_spec("PySide6") is None:
        return "skipped, Qt is not installed"
    from aucstudio.gui.pictures import window_facts

    width, height, shown, colours = window_facts(folder / PROJECT)
    _require(shown == len(_study(folder).runs()), f"the window shows {shown} runs")
    _require(colours > 1, "the window is empty")
    return f"{width} × {height} pixels, {shown} runs"


PARTS: dict[str, Callable[[Path], str]] = {
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


def _study(folder: Path) -> Study:
    from aucstudio.study import open_study

    return open_study(folder / PROJECT)


def _experiment(folder: Path, *runs: dict[str, str]) -> dict[str, object]:
    data = {"file": str(folder / TABLE), "label": "outcome", "positive": "yes"}
    return {"data": data, "validation": {"test_size": 0.5}, "runs": list(runs)}


def _same(first: NDArray[np.float64], second: NDArray[np.float64]) -> None:
    difference = float(abs(first - second).max())
    _require(difference <= _TOLERANCE, f"scores differ by {difference:.3g}")


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise _PartFailedError(sentence)
