"""Execution of experiments to records."""

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from aucstudio.engine import METHODS
from aucstudio.engine.monitor import Stopped
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.summary import auc_summary, run_as_json, same_rows
from aucstudio.project.runs.execute import execute, refit
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.final_model import take_model
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.record import DONE, FAILED, STOPPED
from tests.conftest import small_settings, with_cells


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_reproducible_bit_for_bit(plan, table, method):
    first, again = (execute(plan(method, small_settings(method)), table) for _ in range(2))
    assert first.status == DONE
    a, b = first.splits[0], again.splits[0]
    np.testing.assert_array_equal(a.test_scores, b.test_scores)
    assert a.objective == b.objective
    assert np.isfinite(a.test_scores).all()
    assert roc_auc_score(a.test_positive, a.test_scores) == pytest.approx(auc_summary(first).value)
    assert len(a.curve.iteration) >= 1
    assert set(a.train_rows) & set(a.test_rows) == set()


def test_held_out_rows_do_not_affect_training(plan, table):
    before = execute(plan("logistic"), table).splits[0]
    changed = with_cells(table, before.test_rows, 1e3)
    after = execute(plan("logistic"), changed).splits[0]
    assert (after.test_scores != before.test_scores).any()
    np.testing.assert_array_equal(before.train_scores, after.train_scores)


def test_auc_is_the_mean_over_folds(plan, table):
    record = execute(plan(scheme="folds", folds=4, repeats=2), table)
    values = [roc_auc_score(s.test_positive, s.test_scores) for s in record.splits]
    document = run_as_json(record, (0.0, 0.1))
    assert document["auc"]["per_split"] == pytest.approx(values)
    assert document["auc"]["value"] == pytest.approx(np.mean(values))
    assert document["auc"]["low"] < document["auc"]["value"] < document["auc"]["high"]


def test_stop_keeps_the_finished_splits(plan, table):
    def stop_in_the_third_split(progress):
        return progress.split == 2 and progress.step is not None

    record = execute(
        plan("svm-pauc", scheme="folds", folds=5), table, listen=stop_in_the_third_split
    )
    assert record.status == STOPPED
    assert len(record.splits) == 2
    assert all(split.converged for split in record.splits)


def test_stop_in_the_only_split_keeps_the_current_scorer(plan, table):
    record = execute(plan("auc-svm", {"C": 1000.0}), table, listen=lambda progress: True)
    assert record.status == STOPPED
    assert len(record.splits) == 1
    assert not record.splits[0].converged
    assert np.isfinite(record.splits[0].test_scores).all()


def test_progress_reports_steps_evaluations_and_ends(plan, table):
    reports = []
    record = execute(plan("auc-svm", scheme="folds", folds=3), table, listen=reports.append)
    assert [p.finished for p in reports if p.finished is not None] == list(record.splits)
    assert {p.split for p in reports} == {0, 1, 2}
    looks = [p.look for p in reports if p.look is not None]
    assert looks
    assert all(len(look.scores) == len(look.positive) for look in looks)
    # Messages outlive the step, so they must not reference the solver's memory.
    assert all(p.step is None or p.step.scorer is None for p in reports)


def test_refit_for_export_reports_its_progress(plan, table):
    record = execute(plan("pauc-boost", {"n_rounds": 20}, scheme="folds", folds=2), table)
    planned, messages = PlannedRun(record.experiment, table, None), []
    model = take_model(planned, record, listen=messages.append)
    assert model.trained_on.startswith("all ")
    fractions = [message.describe_refit()[0] for message in messages]
    assert fractions[-1] == 1.0
    iterated = next(n for n, message in enumerate(messages) if message.step.iteration)
    assert sorted(fractions[iterated:]) == fractions[iterated:]


@pytest.mark.parametrize("method", ["pauc-boost", "rank-svm", "logistic", "noam", "auc-svm"])
def test_stopped_refit_returns_no_model(plan, table, method):
    """A method may have a scorer by then, and would return it."""
    with pytest.raises(Stopped):
        refit(plan(method), table, lambda message: message.step.iteration > 0)


def test_failure_is_recorded_with_its_message(plan, table):
    experiment = dataclasses.replace(plan("auc-svm"), params=plan("auc-svm").params | {"C": -1.0})
    record = execute(experiment, table)
    assert record.status == FAILED
    assert "C must be a number greater than 0" in record.error
    assert "Traceback" in record.traceback


def test_unexpected_failure_is_recorded_with_its_traceback(plan, table, monkeypatch):
    def broken(self, X, positive, monitor):
        raise TypeError("no such thing")

    monkeypatch.setattr(METHODS["auc-rls"], "_fit", broken)
    record = execute(plan("auc-rls"), table)
    assert record.status == FAILED
    assert "unexpected error in the method (TypeError: no such thing)" in record.error
    assert "in broken" in record.traceback


def test_experiment_round_trips_as_json_and_id_follows_content(plan):
    experiment = plan("svm-pauc", {"fpr_range": (0.05, 0.3)}, repeats=3)
    again = Experiment.from_json(experiment.as_json())
    assert again == experiment
    assert again.id == experiment.id
    assert plan("svm-pauc", {"C": 2.0}).id != plan("svm-pauc").id
    moved = dataclasses.replace(
        experiment, data=dataclasses.replace(experiment.data, path="/elsewhere.csv")
    )
    assert moved.id == experiment.id


def test_all_rows_of_a_test_file_are_scored(plan, table, tmp_path):
    from aucstudio.project.data.table import read_table
    from tests.conftest import write_table

    path = write_table(tmp_path / "other.csv", rows=50, seed=3)
    experiment = dataclasses.replace(
        plan(), validation=Validation(scheme="file", test_file=str(path))
    )
    other = read_table(path, label=table.label, positive=table.positive)
    record = execute(experiment, table, other)
    assert len(record.splits[0].test_scores) == 50
    assert len(record.splits[0].train_rows) == table.rows
    np.testing.assert_array_equal(record.splits[0].model.score(other), record.splits[0].test_scores)


def test_same_rows_compares_the_held_out_rows(plan, table):
    a, b, c = (
        execute(plan(method, seed=seed), table)
        for method, seed in (("auc-rls", 0), ("logistic", 0), ("auc-rls", 1))
    )
    assert same_rows(a, b)
    assert not same_rows(a, c)
