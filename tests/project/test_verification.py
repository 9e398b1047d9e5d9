"""Verification of a stored run from its project and its table."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.console import BAD_INPUT
from aucstudio.engine.scorers import LinearScorer
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.verified import (
    HEADINGS,
    as_text,
    verification_sentence,
    verified_table,
)
from aucstudio.project.runs import verification as verifying
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.runs.verification import Verification, verify_run
from aucstudio.project.store.check import check_file
from aucstudio.project.store.project.project_file import ProjectFile, write_project
from tests.conftest import write_table
from tests.project.conftest import run_sql


def silent(_stage, _share):
    """Ignore the progress."""


@pytest.fixture
def make(table):
    def make(method="svm-auc", validation=None, tuning=None, **params):
        data = DataReference.to_table(table)
        plan = plan_experiment(data, method, params, validation or Validation(), tuning=tuning)
        return execute(plan, table)

    return make


@pytest.fixture
def project(tmp_path, make):
    """Return a project of two runs, the first verified."""
    file = ProjectFile.create(tmp_path / "study.aucproj")
    records = [file.add_run(make()), file.add_run(make("rankboost", n_rounds=20))]
    file.keep_verification(verify_run(records[0], 0, silent))
    return file


def with_altered_model(record):
    """Return the run with altered model weights and unchanged reports."""
    split = record.splits[0]
    scorer = LinearScorer(split.model.scorer.weights * 1.2)
    model = dataclasses.replace(split.model, scorer=scorer)
    return dataclasses.replace(record, splits=(dataclasses.replace(split, model=model),))


# --- verified runs


@pytest.mark.parametrize(
    "method",
    ["auc-rls", "svm-pauc", "logistic", "gradient-boosting", "auc-svm", "svm", "asvm", "nsauc"],
)
def test_run_is_verified_from_its_table(make, method):
    found = verify_run(make(method), 0, silent)
    assert found.agrees, found.found.faults
    assert len(found.found.areas) == 4
    assert found.versions["cvxopt"]


@pytest.mark.slow
def test_any_split_of_a_tuned_run_is_verified(make):
    folds = Validation(scheme="folds", folds=3)
    record = make("auc-rls", folds, Tuning("auc"))
    for k in range(3):
        found = verify_run(record, k, silent)
        assert (found.split, found.splits, found.agrees) == (k + 1, 3, True)
    with pytest.raises(InputError, match="split 4 is not one of them"):
        verify_run(record, 3, silent)


def test_run_tested_on_a_file_is_verified(make, table_file, tmp_path, table):
    other = shutil.copy(table_file, tmp_path / "other.csv")
    validation = Validation(scheme="file", test_file=str(other))
    plan = plan_experiment(DataReference.to_table(table), "rank-svm", {}, validation)
    from aucstudio.project.data.table import read_table

    test = read_table(other, label=table.label, schema=table.schema)
    record = execute(plan.tested_on(test), table, test)
    assert record.error == ""
    assert verify_run(record, 0, silent).agrees


def test_leave_pair_out_is_verified(make):
    assert verify_run(make("auc-rls", Validation(scheme="leave-pair-out")), 0, silent).agrees


def test_altered_model_is_detected(make):
    found = verify_run(with_altered_model(make()), 0, silent)
    assert not found.agrees
    said = verification_sentence(found)
    assert "does not reproduce the stored training scores" in said
    assert "does not reproduce the stored held-out scores" in said
    assert "the fit reported" in said


def tampered(record, **changes):
    """Return the run with altered values in its split."""
    return dataclasses.replace(record, splits=(dataclasses.replace(record.splits[0], **changes),))


@pytest.mark.parametrize("method", ["auc-rls", "svm-auc", "logistic", "rankboost", "svm"])
@pytest.mark.parametrize("part", ["train", "test"])
def test_altered_stored_classes_are_detected(make, method, part):
    record = make(method)
    name = f"{part}_positive"
    stored = getattr(record.splits[0], name)
    found = verify_run(tampered(record, **{name: ~stored}), 0, silent)
    words = {"train": "training", "test": "held-out"}[part]
    assert any(f"of {len(stored)} {words} rows differ" in fault for fault in found.found.faults)
    one = stored.copy()
    one[3] = not one[3]
    (fault,) = verify_run(tampered(record, **{name: one}), 0, silent).found.faults
    assert f"classes of 1 of {len(stored)} {words} rows" in fault
    # The areas use the classes of the table, whatever was stored.
    assert found.found.areas == verify_run(record, 0, silent).found.areas


@pytest.mark.parametrize("method", ["svm-auc", "auc-svm", "logistic", "rank-svm"])
def test_unfinished_fit_stored_as_converged_is_a_fault(table, method):
    plan = plan_experiment(DataReference.to_table(table), method, {}, Validation())
    stopped = execute(plan, table, listen=lambda p: p.step is not None and p.step.iteration > 0)
    split = stopped.splits[0]
    assert not split.converged
    assert split.gap > split.needed
    assert verify_run(stopped, 0, silent).agrees
    for changes in ({}, {"needed": None}, {"gap": None}):
        wrong = tampered(stopped, converged=True, **changes)
        assert not verify_run(wrong, 0, silent).agrees


def test_missing_or_changed_table_is_reported(make, table_file):
    record = make()
    with table_file.open("a") as file:
        file.write("1,2,3,4,north,yes\n")
    with pytest.raises(InputError, match="has changed since the runs were made"):
        verify_run(record, 0, silent)
    table_file.unlink()
    with pytest.raises(InputError, match=r"study\.csv"):
        verify_run(record, 0, silent)


def test_differently_drawn_split_is_reported(make):
    record = make()
    split = record.splits[0]
    other = dataclasses.replace(split, train_rows=split.train_rows[::-1])
    with pytest.raises(InputError, match="gives other rows than those stored"):
        verify_run(dataclasses.replace(record, splits=(other,)), 0, silent)


def test_verification_beyond_memory_is_refused(make, monkeypatch):
    record = make()
    monkeypatch.setattr(verifying, "memory_limit", lambda: 1_000)
    with pytest.raises(InputError, match=r"verifying would take about .* of memory"):
        verify_run(record, 0, silent)


# --- storage


def test_verification_is_stored_with_its_run(project):
    listing = project.read()
    first, second = listing.records
    assert set(listing.verifications) == {first.id}
    kept = listing.verifications[first.id]
    assert kept == Verification.from_json(json.loads(json.dumps(kept.as_json())))
    again = verify_run(second, 0, silent)
    project.keep_verification(again)
    assert project.read().verifications[second.id] == again
    assert check_file(project.path).problems == ()


def test_verification_survives_saving_and_repair(project, tmp_path):
    listing = project.read()
    kept = listing.verifications
    saved = write_project(tmp_path / "other.aucproj", listing.records, {}, kept.values())
    assert saved.read().verifications == kept
    run_sql(project.path, "UPDATE documents SET checksum = x'00' WHERE name = 'contents'")
    repaired = check_file(project.path, repair=True).repaired
    assert ProjectFile(repaired.file).read().verifications == kept


@pytest.mark.parametrize(
    "change", ["document = x'7b7d'", "checksum = x'00'", "name = 'verification other'"]
)
def test_damaged_verification_is_reported_and_skipped(project, change):
    run_sql(project.path, f"UPDATE documents SET {change} WHERE name LIKE 'verification %'")
    listing = project.read()
    assert listing.verifications == {}
    assert len(listing.records) == 2
    (note,) = listing.notes
    assert "verify it again" in note


# --- texts


def test_verification_table_has_the_expected_lines(project):
    (found,) = project.read().verifications.values()
    lines = verified_table(found)
    assert all(len(line) == len(HEADINGS) for line in lines)
    assert [line[0] for line in lines][:3] == [
        "Objective of this scorer, recomputed",
        "Objective, solved again",
        "Upper bound on the distance from the optimum",
    ]
    assert "An independent solver (cutting planes, cvxopt" in verification_sentence(found)
    assert as_text(found, "SVM-AUC").startswith(f"SVM-AUC ({found.run}). Verified in ")


def test_verdict_names_the_optimum_only_if_near(project):
    (found,) = project.read().verifications.values()
    near = dataclasses.replace(found.found, solved=found.found.counted, bound=found.found.counted)
    assert "the same objective: this is the optimum." in verification_sentence(
        dataclasses.replace(found, found=near)
    )
    part = dataclasses.replace(near, bound=near.counted * 0.99)
    assert "the fit ended at most 1 % above the optimum" in verification_sentence(
        dataclasses.replace(found, found=part)
    )


# --- the command


def test_command_verifies_a_run_and_stores_the_result(project, capsys, printed):
    second = project.read().records[1]
    document = printed("verify", project.path, "RankBoost")
    (run,) = document["runs"]
    assert (document["agrees"], run["run"], run["agrees"]) == (True, second.id, True)
    assert run["found"]["repeated"] == 0
    assert "does not solve a convex problem" in run["verdict"]
    assert second.id in project.read().verifications
    assert main(["verify", str(project.path), second.id]) == 0
    assert "What " in capsys.readouterr().out


def test_missing_table_does_not_prevent_other_verifications(project, tmp_path, capsys):
    gone = read_table(write_table(tmp_path / "gone.csv", seed=5))
    plan = plan_experiment(DataReference.to_table(gone), "rls", {}, Validation())
    lost = project.add_run(execute(plan, gone))
    gone.path.unlink()
    assert main(["verify", str(project.path), "--json"]) == BAD_INPUT
    messages = capsys.readouterr()
    assert "was not verified" in messages.err
    assert str(gone.path) in messages.err
    runs = json.loads(messages.out)["runs"]
    assert len(runs) == len(project.runs()) - 1
    assert lost.id not in [run["run"] for run in runs]
    assert all(run["agrees"] for run in runs)


def test_command_returns_status_1_for_a_difference(tmp_path, make, capsys):
    file = ProjectFile.create(tmp_path / "bad.aucproj")
    file.add_run(with_altered_model(make()))
    assert main(["verify", str(file.path)]) == 1
    assert "does not reproduce the stored training scores" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["RankBost"], "has no finished run 'RankBost'"),
        (["RankBoost", "--split", "2"], "split 2 is not one of them"),
    ],
)
def test_command_refuses_unknown_runs_and_splits(project, refused, words, sentence):
    assert sentence in refused("verify", project.path, *words)


def test_interrupted_command_returns_130(project, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("aucstudio.project.runs.verification.verify_run", interrupt)
    before = project.read().verifications
    assert main(["verify", str(project.path)]) == 130
    assert project.read().verifications == before


def test_non_finite_scores_are_reported(make):
    record = make()
    split = record.splits[0]
    scores = np.full(len(split.train_scores), np.nan)
    broken = dataclasses.replace(split, train_scores=scores)
    found = verify_run(dataclasses.replace(record, splits=(broken,)), 0, silent)
    assert not found.agrees
    json.dumps(found.as_json(), allow_nan=False)
