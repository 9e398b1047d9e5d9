"""Finding an earlier run with equal scores."""

import dataclasses

import numpy as np
import pytest

from aucstudio.notices import notice
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.summary import (
    Estimate,
    caution_words,
    cautions,
    fit_remarks,
    ranks_backwards,
    tpr_summary,
    trained_elsewhere,
)
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.record import STOPPED, find_twin, same_scores
from aucstudio.project.runs.settings_shown import (
    differing_settings,
    names_with_settings,
    settings_sentence,
)
from aucstudio.project.runs.tuning import Tuning


def plan(table, method="auc-rls", params=None, validation=None, band=(0.0, 0.1), tuning=None):
    data = DataReference.to_table(table)
    return plan_experiment(data, method, params or {}, validation or Validation(), band, tuning)


@pytest.fixture
def made(table):
    return execute(plan(table), table)


def test_latest_equal_run_is_found(table, made):
    other = execute(plan(table, params={"regularization": 10.0}), table)
    later = dataclasses.replace(made, id="later")
    assert find_twin(plan(table), [made, later, other]) is later
    assert find_twin(plan(table), [other]) is None


def test_moved_table_counts_as_the_same(table, made, tmp_path):
    moved = dataclasses.replace(table, path=tmp_path / "copy.csv")
    assert find_twin(plan(moved), [made]) is made


def test_inactive_settings_and_shown_range_are_ignored(table):
    assert same_scores(plan(table, params={"gamma": 3.0}), plan(table))
    assert same_scores(plan(table, band=(0.0, 0.5)), plan(table))
    tuned = [plan(table, band=band, tuning=Tuning("pauc")) for band in ((0.0, 0.1), (0.0, 0.5))]
    assert not same_scores(*tuned)


@pytest.mark.parametrize(
    "changes",
    [
        {"params": {"regularization": 2.0}},
        {"params": {"kernel": "rbf"}},
        {"method": "rls"},
        {"validation": Validation(seed=1)},
        {"validation": Validation(scheme="folds")},
        {"tuning": Tuning("auc")},
    ],
)
def test_changes_of_the_scores_make_another_run(table, changes):
    assert not same_scores(plan(table, **changes), plan(table))


def test_different_roles_make_another_run(table, made):
    assert find_twin(plan(table.with_roles(roles={"x1": "ignore"})), [made]) is None


def test_stopped_and_test_file_runs_have_no_twin(table, table_file, made):
    assert find_twin(plan(table), [dataclasses.replace(made, status=STOPPED)]) is None
    on_file = plan(table, validation=Validation(scheme="file", test_file=str(table_file)))
    assert find_twin(on_file, [dataclasses.replace(made, experiment=on_file)]) is None


def test_non_default_settings_are_listed(table, made):
    assert differing_settings(made) == ""
    changed = execute(plan(table, "auc-svm", {"C": 1e5, "kernel": "rbf", "gamma": 0.5}), table)
    shown = differing_settings(changed).replace("\N{NO-BREAK SPACE}", " ")
    assert shown == "Kernel = Gaussian, γ = 0.5, C = 100000"
    sentence = settings_sentence(changed.experiment).replace("\N{NO-BREAK SPACE}", " ")
    assert sentence.startswith("AUC-SVM: ")
    tuned = execute(plan(table, tuning=Tuning("auc")), table)
    assert differing_settings(tuned).startswith("tuned: λ")


def test_fallback_and_non_convergence_are_cautions(table, made):
    assert cautions(made) == []
    widened = execute(plan(table, "svm-pauc", {"C": 1e-6, "fpr_range": (0.0, 0.1)}), table)
    (caution,) = cautions(widened)
    assert (caution,) == widened.warnings
    assert caution.code == "trained_for_wider_range"
    assert fit_remarks(widened) == []  # the note of the fit is the same
    assert caution_words(widened).startswith("FPR range widened to 0 … ")
    (split,) = widened.splits
    early = dataclasses.replace(widened, splits=(dataclasses.replace(split, trained_range=None),))
    assert cautions(early) == list(early.notes)
    remark = notice("marker_rises", source="as given")
    split = dataclasses.replace(made.splits[0], converged=False, notes=(remark,))
    unfinished = dataclasses.replace(made, splits=(split,))
    assert [one.code for one in cautions(unfinished)] == ["fit_not_converged"]
    assert fit_remarks(unfinished) == [remark]
    two = dataclasses.replace(made, splits=(split, made.splits[0]))
    assert cautions(two) == [notice("splits_not_converged", count=1, total=2)]
    assert cautions(dataclasses.replace(unfinished, status=STOPPED)) == []


def test_run_trained_for_another_range_is_labelled(table, made):
    narrow = execute(plan(table, "svm-pauc", {"fpr_range": (0.0, 0.3)}), table)
    assert trained_elsewhere(narrow, (0.0, 0.3)) == []
    assert trained_elsewhere(narrow, (0.0, 0.1)) == [
        notice("trained_for_other_range", trained=(0.0, 0.3), shown=(0.0, 0.1))
    ]
    assert trained_elsewhere(made, (0.0, 0.1)) == []


def test_backwards_ranking_needs_an_interval_below_one_half():
    assert ranks_backwards(Estimate(0.2, 0.1, 0.3))
    assert not ranks_backwards(Estimate(0.397, 0.267, 0.527))
    assert not ranks_backwards(Estimate(0.2, np.nan, np.nan))


def test_tpr_at_a_false_positive_rate_has_an_interval(table, made):
    found = tpr_summary(made, 0.2)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.05
    folds = execute(plan(table, validation=Validation(scheme="folds")), table)
    several = tpr_summary(folds, 0.2)
    assert len(several.per_split) == 5
    assert several.value == pytest.approx(np.mean(several.per_split))


def test_unfinished_run_is_named_so_and_leaves_other_names_alone(table):
    whole = execute(plan(table, validation=Validation("folds", folds=3)), table)
    stopped = dataclasses.replace(whole, splits=whole.splits[:2], status=STOPPED, id="stopped")
    title = whole.experiment.title
    names = names_with_settings([(title, whole), (f"{title} (2)", stopped)])
    assert names[0] == title
    assert names[1].startswith(f"{title} (2, 2 of 3")
