"""Tuning: equal folds for all candidates, mean areas, nothing fitted on held-out rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from aucstudio.engine import METHODS, roc
from aucstudio.engine.params import declared_params
from aucstudio.project.data.preparing.preparation import learn_preparation
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import run_as_json
from aucstudio.project.runs.execute import execute, refit
from aucstudio.project.runs.experiment import DataReference, Experiment
from aucstudio.project.runs.experiment_file import command_line
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.search import search
from aucstudio.project.runs.tuning import MOST_CANDIDATES, Search, Tuning, candidates
from aucstudio.project.store.project.project_file import ProjectFile

BAND = (0.0, 0.2)


@pytest.fixture
def plan(table):
    def make(method, metric="auc", settings=None, **validation):
        scheme = Validation(**({"test_size": 0.5} | validation))
        data = DataReference.to_table(table)
        return plan_experiment(data, method, settings or {}, scheme, BAND, Tuning(metric, folds=3))

    return make


def tuned(method, params, tuning, table, rows, report=lambda found: False):
    full = {name: d.default for name, d in declared_params(METHODS[method]).items()}
    data = DataReference.to_table(table)
    experiment = Experiment(data, Validation(), method, full | params, BAND, tuning)
    return search(experiment, table, rows, report)


# --- candidates ------------------------------------------------------------------------------


def test_grid_contains_only_settings_that_matter():
    method = METHODS["auc-svm"]
    linear = candidates(method, {"kernel": "linear"}, 0)
    assert [list(c) for c in linear[:1]] == [["C"]]
    assert [c["C"] for c in linear] == list(declared_params(method)["C"].grid)
    gaussian = candidates(method, {"kernel": "rbf"}, 0)
    assert {"C", "gamma"} == set(gaussian[0])
    assert len(gaussian) == 49 == len({tuple(c.values()) for c in gaussian})


def test_large_grid_is_sampled_by_the_seed():
    method = METHODS["gradient-boosting"]
    drawn = candidates(method, {}, 3)
    assert len(drawn) == MOST_CANDIDATES == len({tuple(c.values()) for c in drawn})
    assert drawn == candidates(method, {}, 3) != candidates(method, {}, 4)
    declared = declared_params(method)
    assert all(value in declared[name].grid for c in drawn for name, value in c.items())


# A method without settings cannot be tuned.
@pytest.mark.parametrize("key", [key for key in METHODS if not METHODS[key].as_given])
def test_every_method_has_several_candidates(key):
    method = METHODS[key]
    found = candidates(method, {n: d.default for n, d in declared_params(method).items()}, 0)
    assert len(found) > 1
    for candidate in found:
        for name, value in candidate.items():
            declared_params(method)[name].check(value)


# --- evaluation ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["auc", "pauc"])
@pytest.mark.parametrize("method", ["auc-svm", "auc-rls", "svm-pauc", "logistic"])
def test_candidate_areas_match_fits_on_the_folds(table, method, metric):
    rows = np.flatnonzero(table.labelled())[::2]
    found = tuned(method, {}, Tuning(metric, folds=3, seed=7), table, rows)
    positive = table.is_positive()[::2]
    folds = StratifiedKFold(3, shuffle=True, random_state=7).split(rows, positive)
    for fold, (train, test) in enumerate(folds):
        prepared = learn_preparation(table, rows[train])
        X, Z = prepared.apply(table, rows[train]), prepared.apply(table, rows[test])
        for k in (0, len(found.candidates) // 2, len(found.candidates) - 1):
            fitted = METHODS[method](**found.candidates[k]).fit(X, positive[train])
            scores = fitted.decision_function(Z)
            area = (
                roc.auc(positive[test], scores)
                if metric == "auc"
                else roc.partial_auc(positive[test], scores, *BAND).normalized
            )
            # A warm-started solver stops at another point within its tolerance.
            assert found.areas[k, fold] == pytest.approx(area, abs=0.06)
    assert found.chosen == found.candidates[int(np.argmax(found.areas.mean(axis=1)))]


def test_leave_pair_out_tuning_matches_the_method(table):
    rows = np.flatnonzero(table.labelled())[:60]
    found = tuned("auc-rls", {"kernel": "rbf"}, Tuning("leave-pair-out"), table, rows)
    assert found.areas.shape == (len(found.candidates), 1)
    assert np.isfinite(found.areas).all()
    X = learn_preparation(table, rows).apply(table, rows)
    y = table.is_positive()[:60]
    k = found.best
    method = METHODS["auc-rls"](kernel="rbf", **found.candidates[k])
    (outcome,) = method.leave_pair_out(X, y)
    assert found.areas[k, 0] == pytest.approx(outcome.auc, abs=1e-12)


def made(areas, problems=None):
    grid = tuple({"C": 10.0**k} for k in range(len(areas)))
    return Search("auc", grid, np.array(areas, float), problems or {}, 1.0)


def test_ties_select_the_first_finished_candidate():
    assert made([[0.5, 0.7], [0.7, 0.5], [0.6, 0.6]]).best == 0
    assert made([[0.5, 0.7], [0.9, np.nan]]).best == 0
    assert made([[np.nan, np.nan]]).best is None
    assert made([[np.nan, np.nan]]).chosen == {}


def test_leader_is_based_on_finished_folds():
    unfinished = made([[0.6, 0.6], [0.5, 0.8], [0.99, np.nan]])
    assert unfinished.leader == 2
    assert unfinished.fraction_done == pytest.approx(5 / 6)
    assert made([[0.6, np.nan], [0.5, 0.99]]).leader == 0
    assert made([[np.nan]]).leader is None
    assert made([[0.5], [np.nan]], {1: "too large"}).fraction_done == 1.0


def test_search_round_trips_as_json():
    before = made([[0.5, np.nan], [0.7, 0.5]], {0: "too large"})
    after = Search.from_json(json.loads(json.dumps(before.as_json())))
    np.testing.assert_array_equal(before.areas, after.areas)
    assert (before.candidates, before.problems) == (after.candidates, after.problems)


def test_failing_candidates_are_skipped(table, monkeypatch):
    rows = np.flatnonzero(table.labelled())
    whole = METHODS["auc-svm"]._fit

    def only_small(self, X, positive, monitor):
        if self.C > 1:
            raise MemoryError
        return whole(self, X, positive, monitor)

    monkeypatch.setattr(METHODS["auc-svm"], "_fit", only_small)
    found = tuned("auc-svm", {}, Tuning("auc", folds=2), table, rows)
    assert set(found.problems.values()) == {"there is not enough memory for it"}
    assert len(found.problems) == sum(c["C"] > 1 for c in found.candidates)
    assert found.chosen["C"] <= 1
    assert found.fraction_done == 1.0


# --- tuned runs ------------------------------------------------------------------------------


def test_tuned_run_equals_a_run_with_the_chosen_settings(plan, table):
    record = execute(plan("auc-svm"), table)
    (found,) = record.searches
    chosen = plan("auc-svm", settings=dict(found.chosen))
    plain = execute(
        plan_experiment(chosen.data, "auc-svm", found.chosen, chosen.validation, BAND), table
    )
    np.testing.assert_array_equal(record.splits[0].test_scores, plain.splits[0].test_scores)
    assert record.splits[0].model.params["C"] == found.chosen["C"]
    assert record.id != plain.id


@pytest.mark.parametrize(("metric", "warned"), [("pauc", True), ("auc", False)])
def test_tuning_by_pauc_of_few_negatives_is_noted(plan, table, metric, warned):
    record = execute(plan("auc-rls", metric), table)
    assert any(note.code == "tuned_on_few" for note in record.notes) == warned


def test_each_split_is_tuned_on_its_training_rows_only(plan, table, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "aucstudio.project.runs.search.search",
        lambda *arguments: seen.append(arguments[2]) or search(*arguments),
    )
    record = execute(plan("auc-rls", scheme="folds", folds=3), table)
    assert len(record.searches) == 3
    for rows, split in zip(seen, record.splits, strict=True):
        np.testing.assert_array_equal(rows, split.train_rows)


@pytest.mark.slow
def test_tuned_runs_are_bit_reproducible_and_stored(plan, table, tmp_path):
    experiment = plan("svm-pauc", "pauc")
    first, second = execute(experiment, table), execute(experiment, table)
    np.testing.assert_array_equal(first.searches[0].areas, second.searches[0].areas)
    np.testing.assert_array_equal(first.splits[0].test_scores, second.splits[0].test_scores)
    project = ProjectFile.create(tmp_path / "p.aucproj")
    project.add_run(first)
    (again,) = project.runs()
    assert again.experiment == experiment
    np.testing.assert_array_equal(first.searches[0].areas, again.searches[0].areas)
    assert run_as_json(again, BAND)["tuning"]["chosen"] == [dict(first.searches[0].chosen)]
    assert "folds = 3" in command_line(experiment)


def test_stop_during_tuning_keeps_evaluated_candidates(plan, table):
    def stop_after_half(progress):
        return progress.search is not None and progress.search.fraction_done > 0.5

    record = execute(plan("auc-svm"), table, listen=stop_after_half)
    assert record.status == "stopped"
    assert record.splits == ()
    (found,) = record.searches
    assert 0.5 < found.fraction_done < 1
    assert found.leader is not None


def test_refit_tunes_again_on_all_rows(plan, table):
    messages = []
    model = refit(plan("auc-svm"), table, lambda p: bool(messages.append(p.search)))
    rows = np.flatnonzero(table.labelled())
    found = tuned("auc-svm", {}, Tuning("auc", folds=3), table, rows)
    assert model.params["C"] == found.chosen["C"]
    assert any(found is not None for found in messages)


def test_untuned_experiment_keeps_its_id(plan, table):
    data = DataReference.to_table(table)
    plain = plan_experiment(data, "auc-rls", {}, Validation())
    assert "tuning" not in plain.as_json()
    for experiment in (plain, plan("auc-rls")):
        again = Experiment.from_json(json.loads(json.dumps(experiment.as_json())))
        assert again == experiment
        assert again.id == experiment.id


def test_too_few_rows_of_a_class_are_refused(table):
    positive = np.flatnonzero(table.is_positive())[:1]
    negative = np.flatnonzero(~table.is_positive())[:20]
    rows = np.flatnonzero(table.labelled())[np.sort(np.r_[positive, negative])]
    with pytest.raises(InputError, match="two training rows of each class"):
        tuned("auc-rls", {}, Tuning("auc"), table, rows)
