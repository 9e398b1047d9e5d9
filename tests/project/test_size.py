"""Runs that are refused for their size."""

import dataclasses

import numpy as np
import pytest

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs import estimate as experiments
from aucstudio.project.runs.estimate import check_size
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import PlannedRun, plan_experiment
from aucstudio.project.runs.tuning import Tuning, candidates
from aucstudio.project.work.submit import open_place, run_experiments

ROWS = 4000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("size") / "large.csv"
    numbers = np.random.default_rng(0).normal(size=ROWS)
    lines = [f"{number:.4f},{'ab'[k % 2]}" for k, number in enumerate(numbers)]
    path.write_text("x,kind\n" + "\n".join(lines) + "\n")
    return read_table(path, label="kind", positive="b")


@pytest.fixture
def planned(large):
    scheme = Validation(test_size=0.5)
    return plan_experiment(DataReference.to_table(large), "nbauc", {}, scheme)


def bytes_of(settings):
    return METHODS["nbauc"](**settings).estimate(ROWS // 4, ROWS // 4, 1).bytes


def test_size_check_uses_the_largest_candidate(large, planned, monkeypatch):
    tuned = dataclasses.replace(planned, tuning=Tuning("auc"))
    found = candidates(METHODS["nbauc"], planned.params, 0)
    worst = max(bytes_of({**planned.params, **candidate}) for candidate in found)
    alone = bytes_of(planned.params)
    assert worst > alone
    monkeypatch.setattr(experiments, "memory_limit", lambda: (alone + worst) / 2 / 0.8)
    check_size(planned, large)
    with pytest.raises(
        InvalidSetting, match=r"one fit of the search \(.*n_landmarks|v = "
    ) as refused:
        check_size(tuned, large)
    assert refused.value.setting == "n_landmarks"
    monkeypatch.setattr(experiments, "memory_limit", lambda: 1.001 * worst / 0.8)
    check_size(tuned, large)


def test_parallel_runs_must_fit_in_memory_together(large, planned, monkeypatch):
    both = [planned, dataclasses.replace(planned, band=(0.0, 0.2))]
    plans = [PlannedRun(one, large, None) for one in both]
    table = 8 * ROWS * 2
    needed = 2 * (bytes_of(planned.params) + table)
    monkeypatch.setattr(experiments, "memory_limit", lambda: 0.999 * needed / 0.8)
    with pytest.raises(InputError, match="2 runs at once would take about") as refused:
        run_experiments(plans, open_place(jobs=3))
    assert refused.value.setting == "jobs"
    experiments.check_size_at_once(both, large, 1)
    monkeypatch.setattr(experiments, "memory_limit", lambda: 1.001 * needed / 0.8)
    experiments.check_size_at_once(both, large, 3)
