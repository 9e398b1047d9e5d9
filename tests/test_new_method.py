"""The recipe "Add a method" of CONTRIBUTING.md: one module and one entry are enough."""

import json
import subprocess
import sys

import numpy as np
import pytest

from aucstudio import engine
from aucstudio.cli import main
from aucstudio.engine import METHODS, declared, declared_params, methods
from aucstudio.gui.dialogs.help import help_page
from aucstudio.gui.panels.param_form import ParamForm
from aucstudio.project.store.model_file import load_model
from aucstudio.project.store.project.project_file import ProjectFile
from tests.conftest import write_file

MODULE = '''
"""The difference of the class means as a direction."""

import numpy as np

from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.cost import Work, cost_of
from aucstudio.engine.params import param
from aucstudio.engine.scorers import LinearScorer


class MeanDifference(AUCClassifier):
    """Ranks along the line between the two means.

    Minimises ``|w|^2 / 2 - share * w.delta``, delta the difference of the class means.

    References
    ----------
    Fisher (1936), without the covariance.

    Use when
    --------
    To see what two means alone tell.
    """

    share: float = param(
        1.0,
        help="Length of the direction.",
        label="Share",
        symbol="s",
        low=0.0,
        low_open=True,
        high=9.0,
    )

    def estimate(self, positives, negatives, features):
        rows = positives + negatives
        return cost_of(rows, 8.0 * features, Work(numbers=2.0 * rows * features))

    def _fit(self, X, positive, context: Context) -> Fit:
        w = self.share * (X[positive].mean(axis=0) - X[~positive].mean(axis=0))
        objective, scorer = -float(w @ w) / 2, LinearScorer(w)
        context.monitor.step(1, objective, gap=0.0, total=1, scorer=lambda: scorer)
        return Fit(scorer, objective, lowest=-np.inf)
'''
KEY = "mean-difference"
ENTRY = {
    "module": "mean_difference",
    "title": "Mean difference",
    "family": "least squares",
    "in_words": "Line between the means",
    "trains_for": "labels",
}


@pytest.fixture
def method(tmp_path, monkeypatch):
    """A module in the methods folder and its entry in methods.toml, nothing else."""
    (tmp_path / "mean_difference.py").write_text(MODULE)
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    listed = dict(declared.method_entries())
    first = {key: listed.pop(key) for key in ("auc-rls", "rls")}
    for module in (declared, engine):
        monkeypatch.setattr(module, "method_entries", lambda: {**first, KEY: ENTRY, **listed})
    yield METHODS[KEY]
    monkeypatch.undo()
    del sys.modules[f"{methods.__name__}.mean_difference"]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(80) < 30)
    X = rng.standard_normal((80, 2)) + 1.5 * y[:, None]
    lines = [f"{a:.6f},{b:.6f},{'yes' if c else 'no'}" for (a, b), c in zip(X, y, strict=True)]
    return write_file(tmp_path / "table.csv", "\n".join(["a,b,label", *lines]) + "\n")


def test_new_method_is_in_every_list(method, capsys, qtbot):
    assert [*METHODS][:3] == ["auc-rls", "rls", KEY]
    from aucstudio.engine import MeanDifference

    assert MeanDifference is method
    assert main(["methods", KEY]) == 0
    assert "Line between the means" in capsys.readouterr().out
    assert "Length of the direction." in help_page("methods")
    form = ParamForm()
    qtbot.addWidget(form)
    form.set_method(method)
    assert form.value() == {"share": 1.0}
    assert "greater than 0 and at most 9" in method.__doc__
    assert declared_params(method)["share"].symbol in method.__doc__


def test_new_method_is_trained_saved_and_exported(method, table, tmp_path, capsys):
    project, model, script = (tmp_path / name for name in ("p.aucproj", "m.aucmodel", "score.py"))
    asked = ["train", table, "--method", KEY, "--set", "share=2", "--json"]
    assert main([*map(str, [*asked, "--project", project, "--save-model", model])]) == 0
    (done,) = json.loads(capsys.readouterr().out)["runs"]
    assert (done["status"], done["params"]) == ("done", {"share": 2.0})
    assert done["auc"]["value"] > 0.9
    (run,) = ProjectFile.open(project).runs()
    assert run.experiment.method == KEY
    assert load_model(model).method == KEY
    assert main(["export", str(model), "--to", "script", "-o", str(script)]) == 0
    scored = subprocess.run(
        [sys.executable, "-I", script, table], capture_output=True, text=True, check=True
    )
    assert len(scored.stdout.splitlines()) == 81


def test_setting_out_of_range_is_rejected_by_name(method, table, refused):
    assert "share must be a number greater than 0 and at most 9" in refused(
        "train", table, "--method", KEY, "--set", "share=10"
    )
