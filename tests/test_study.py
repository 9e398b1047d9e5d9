"""Projects from a notebook: the functions of ``aucstudio.study``."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aucstudio.engine import METHODS, roc
from aucstudio.project.errors import InputError
from aucstudio.project.examples import make_study
from aucstudio.project.resources import resource_path
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.study import Frame, RunFailedError, open_study
from tests.conftest import write_file

FOLDS = {"scheme": "folds", "folds": 3}


def experiment(file, *methods, **rest):
    return {"data": {"file": str(file), "label": "outcome"}, "runs": list(methods), **rest}


@pytest.fixture
def study(tmp_path):
    return open_study(tmp_path / "study.aucproj", create=True)


def columns_of(path):
    """Return the columns of a CSV file: numbers, or text and None."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {name: [row[name] or None for row in rows] for name in rows[0]}
    numbers = {
        n: [np.nan if c is None else float(c) for c in columns[n]] for n in columns if n[0] == "x"
    }
    return {**columns, **numbers}


def test_runs_curves_and_scores_agree(study, table_file):
    ids = study.run(
        experiment(table_file, {"method": "auc-rls"}, {"method": "rls"}, validation=FOLDS)
    )
    runs = study.runs()
    assert list(runs["id"]) == ids
    assert list(runs["method"]) == ["auc-rls", "rls"]
    assert {"name", "auc", "pauc", "auc_low", "auc_high", "params"} <= set(runs.columns)
    for row in runs:
        scores = study.scores(row["id"])
        areas = []
        for split in range(row["splits"]):
            held = scores["split"] == split
            fpr, tpr, thresholds = study.curve(row["id"], split)
            areas.append(roc.auc(scores["positive"][held], scores["score"][held]))
            assert np.trapezoid(tpr, fpr) == pytest.approx(areas[-1], abs=1e-12)
            assert thresholds[0] == np.inf
        assert row["auc"] == pytest.approx(np.mean(areas), abs=1e-12)
        assert row["auc_low"] < row["auc"] < row["auc_high"]
    # Each row is held out once.
    assert sorted(scores["row"]) == list(range(160))


def test_model_scores_every_kind_of_table(study, table_file):
    run = study.run(experiment(table_file, {"method": "gradient-boosting"}))
    model = study.model(run)
    held = study.scores(run)
    by_file = model.decision_function(table_file)
    np.testing.assert_allclose(by_file[held["row"]], held["score"], atol=1e-12)
    columns = columns_of(table_file)
    np.testing.assert_array_equal(model.decision_function(columns), by_file)
    array = np.array([columns[name] for name in model.columns], dtype=object).T
    with pytest.raises(InputError, match="shape"):
        model.decision_function(array[:, :2])
    assert set(model.predict(table_file)) == set(model.classes)
    del columns["x0"]
    with pytest.raises(InputError, match="x0"):
        model.decision_function(columns)


def test_array_columns_are_matched_by_order(study, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    rows = [f"{a!r},{b!r},{'yes' if a + b > 0 else 'no'}" for a, b in X.tolist()]
    file = write_file(tmp_path / "numbers.csv", "\n".join(["x0,x1,outcome", *rows]))
    model = study.model(study.run(experiment(file, {"method": "logistic"})))
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(file))


def test_experiment_is_read_from_a_file_or_a_run(study, tmp_path):
    path = make_study("xor", tmp_path)
    first = study.run(path)
    record = ProjectFile(study.path).runs()[0]
    again = study.run(record.experiment)
    assert isinstance(again, str)
    one = first if isinstance(first, str) else first[0]
    np.testing.assert_array_equal(study.scores(one)["score"], study.scores(again)["score"])


def test_missing_projects_runs_and_splits_are_named(study, table_file, tmp_path):
    with pytest.raises(InputError, match=r"absent\.aucproj"):
        open_study(tmp_path / "absent.aucproj")
    with pytest.raises(InputError, match="no finished run"):
        study.curve("none")
    run = study.run(experiment(table_file, {"method": "rls"}))
    with pytest.raises(InputError, match="split 1"):
        study.curve(run, 1)
    with pytest.raises(InputError, match="auc-rls"):
        study.run(experiment(table_file, {"method": "auc-rsl"}))
    assert len(study.runs()) == 1


def test_failed_run_raises_an_error(study, table_file, monkeypatch):
    def fails(*_arguments, **_options):
        raise FloatingPointError("the matrix is singular")

    monkeypatch.setattr(METHODS["rls"], "fit", fails)
    with pytest.raises(RunFailedError, match=r"rls failed: .*singular"):
        study.run(experiment(table_file, {"method": "rls"}))


def test_frame_gives_columns_and_rows():
    frame = Frame({"n": [1, 2, None], "text": ["a", "<b>", "c"]})
    assert frame.columns == ("n", "text")
    assert frame[1] == {"n": 2.0, "text": "<b>"}
    assert [row["text"] for row in frame] == ["a", "<b>", "c"]
    assert np.isnan(frame["n"][2])
    assert len(frame[1:]) == 2
    assert len(repr(frame).splitlines()) == 4
    assert "&lt;b&gt;" in frame._repr_html_()
    assert repr(Frame({"n": np.arange(100)})).endswith("80 more rows")
    with pytest.raises(KeyError):
        frame["absent"]


def test_frame_converts_to_pandas():
    pandas = pytest.importorskip("pandas")
    frame = Frame({"n": [1.5, 2.5], "text": ["a", "b"]})
    assert frame.to_pandas().equals(pandas.DataFrame(frame))


@pytest.mark.slow
def test_tutorial_runs_and_prints_its_documented_output(tmp_path):
    """The code blocks form one program, which prints exactly what the page shows."""
    page = resource_path("help", "notebook.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    shown = "".join(re.findall(r"```text\n(.*?)```", page, re.DOTALL))
    script = tmp_path / "tutorial.py"
    script.write_text(
        f"{code}\nimport sys\nassert 'PySide6' not in sys.modules\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert done.stdout == shown
