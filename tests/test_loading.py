"""What a command loads, with real processes: no library and few modules that it does not use."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from aucstudio.cli import main

# Import the command line, and send SIGINT in the middle of the import.
PROGRAM = """
import os, runpy, signal, sys

class Asked:
    def find_spec(self, name, path=None, target=None):
        if name == "aucstudio.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Asked())
sys.argv = ["aucstudio", "methods"]
runpy.run_module("aucstudio", run_name="__main__")
"""


@pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
def test_ctrl_c_during_imports_shows_no_traceback():
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        check=False,
        # A shell that starts the tests in the background has its children ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert ended.returncode == -signal.SIGINT
    assert ended.stderr == b""


LOADED = """
import json, sys
from aucstudio.__main__ import main
try:
    status = main()
except SystemExit as end:
    status = end.code
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""
HEAVY = {"sklearn", "scipy.stats", "scipy.optimize", "pandas", "matplotlib", "PySide6", "joblib"}


def loaded(*words):
    """Return the modules that a command has loaded when it ends."""
    command = [sys.executable, "-c", LOADED, *map(str, words), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    status, modules = json.loads(done.stderr.splitlines()[-1])
    assert status in (0, None), done.stderr
    return set(modules)


def ours(modules):
    return {name for name in modules if name.split(".")[0] == "aucstudio"}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of 200 rows and 4 columns."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(200) < 60)
    X = rng.standard_normal((200, 4)) + y[:, None]
    lines = [",".join([*map(str, row.round(4)), str(int(c))]) for row, c in zip(X, y, strict=True)]
    path = tmp_path_factory.mktemp("loading") / "table.csv"
    path.write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
    return path


def test_help_loads_only_the_command_line():
    modules = loaded("--help")
    assert not modules & (HEAVY | {"numpy", "scipy", "numba", "duckdb"})
    assert len(ours(modules)) <= 15


@pytest.mark.slow
def test_methods_command_loads_no_fitting_libraries():
    assert not loaded("methods") & (HEAVY | {"numba", "duckdb", "scipy.linalg", "scipy.sparse"})
    assert "aucstudio.engine.methods.pair_svm" not in loaded("methods", "--help")


@pytest.mark.slow
def test_inspect_loads_no_methods(table):
    modules = loaded("inspect", table)
    assert not modules & (HEAVY | {"numba", "aucstudio.engine.base"})


@pytest.mark.slow
def test_compare_loads_no_estimators(table, tmp_path):
    project = tmp_path / "runs.aucproj"
    for method in ("auc-rls", "svm-pauc", "logistic"):
        assert main(["train", str(table), "--method", method, "--project", str(project)]) == 0
    assert not loaded("compare", project) & HEAVY


@pytest.mark.slow
def test_train_loads_few_modules_and_one_method(table):
    modules = loaded("train", table, "--method", "svm-pauc")
    # It was 305 before unused modules were no longer imported and small ones merged.
    assert len(ours(modules)) <= 100
    rooms = ("aucstudio.gui", "aucstudio.project.store.project", "aucstudio.engine.verification")
    assert not [name for name in modules if name.startswith(rooms)]
    methods = {name.partition(".methods.")[2] for name in modules if "engine.methods." in name}
    assert methods == {"structural"}
    assert not modules & {"PySide6", "duckdb"}
