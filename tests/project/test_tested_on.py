"""Test files: part of the experiment by content, read by the training schema."""

import dataclasses
import shutil

import numpy as np
import pytest

from aucstudio.project.combination.planning import why_not
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import compare_runs
from aucstudio.project.results.summary import same_rows
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference, Experiment
from aucstudio.project.runs.experiment_file import read_study
from aucstudio.project.runs.planning import plan_experiment, read_test_table
from tests.conftest import write_file
from tests.project.test_schema import write_csv

HEADER = ["code", "x", "also", "outcome"]


def rows_of(count, seed):
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(count):
        sick = k % 3 == 0
        code = ["01", "02", "1A"][(k + sick) % 3]
        rows.append([code, f"{rng.normal() + 2 * sick:.3f}", "up" if k % 2 else "down"])
        rows[-1].append("yes" if sick else "no")
    return rows


@pytest.fixture
def train(tmp_path):
    return write_csv(tmp_path / "train.csv", HEADER, rows_of(60, 1))


@pytest.fixture
def test(tmp_path):
    few = [row for row in rows_of(45, 2) if row[0] != "1A"]
    return write_csv(tmp_path / "test.csv", HEADER, few, delimiter="\t")


def planned(train, test, method="auc-rls", label="outcome", positive="yes", **roles):
    table = read_table(train, label=label, positive=positive, roles=roles)
    data = DataReference.to_table(table)
    validation = Validation(scheme="file", test_file=str(test))
    experiment = plan_experiment(data, method, {}, validation)
    held = read_test_table(experiment)
    return experiment.tested_on(held), table, held


def test_test_file_is_read_with_the_training_schema(train, test):
    experiment, table, held = planned(train, test)
    assert held.column("code").values[:2].tolist() == ["02", "02"]
    record = execute(experiment, table, held)
    (split,) = record.splits
    alone = split.model.score(held)[split.test_rows]
    np.testing.assert_allclose(split.test_scores, alone, rtol=1e-12)


@pytest.mark.parametrize("spelled", [("0", "1", "2"), ("no", "yes", "perhaps")])
def test_unknown_class_in_a_test_file_is_refused(tmp_path, spelled):
    lines = [f"{k},{spelled[k % 3 == 0]}" for k in range(40)]
    train = write_file(tmp_path / "train.csv", "\n".join(["x,outcome", *lines]))
    test = write_file(tmp_path / "test.csv", "\n".join(["x,outcome", *lines, f"3,{spelled[2]}"]))
    with pytest.raises(InputError, match=rf"classes that the training table lacks \({spelled[2]};"):
        planned(train, test, positive=spelled[1])


def test_experiment_id_follows_test_file_content_not_path(train, test, tmp_path):
    experiment, *_ = planned(train, test)
    moved = shutil.copy(test, tmp_path / "elsewhere.csv")
    assert planned(train, moved)[0].id == experiment.id
    write_csv(test, HEADER, rows_of(45, 3))
    changed = planned(train, test)[0]
    assert changed.id != experiment.id
    again = Experiment.from_json(experiment.as_json())
    assert (again, again.id) == (experiment, experiment.id)


def test_changed_test_file_is_refused(train, test):
    experiment, table, _ = planned(train, test)
    write_csv(test, HEADER, rows_of(45, 3))
    with pytest.raises(InputError, match=r"test\.csv has changed"):
        read_test_table(experiment)
    other = read_table(test, schema=table.schema, label="outcome", positive="yes")
    record = execute(experiment, table, other)
    assert record.status == "failed"
    assert "has changed" in record.error


def test_runs_on_different_test_rows_are_not_compared(train, test, tmp_path):
    first = execute(*planned(train, test))
    moved = shutil.copy(test, tmp_path / "elsewhere.csv")
    assert same_rows(first, execute(*planned(train, moved, "rls")))
    write_csv(test, HEADER, [[*row[:1], "1.5", *row[2:]] for row in rows_of(30, 2)])
    second = execute(*planned(train, test, "rls"))
    pairs = compare_runs([("a", first), ("b", second)], (0.0, 0.1), "auc")
    assert [str(pair.refused) for pair in pairs] == [
        "tested on different tables (test.csv has changed in the meantime)"
    ]
    assert why_not([("a", first), ("b", second)]) == (
        "b shares no held-out rows with a: tested on different tables (test.csv has changed "
        "in the meantime); rerun one of them with the test file of the other"
    )
    held_out = execute(
        plan_experiment(first.experiment.data, "rls", {}, Validation()), read_table(train)
    )
    (pair,) = compare_runs([("a", first), ("b", held_out)], (0.0, 0.1), "auc")
    assert str(pair.refused).startswith("split differently (test file ")
    old = dataclasses.replace(first, experiment=dataclasses.replace(first.experiment, test=None))
    (pair,) = compare_runs([("a", first), ("b", old)], (0.0, 0.1), "auc")
    assert pair.refused.code == "test_file_not_recorded"


def test_each_run_reads_the_test_file_with_its_own_label(train, test, tmp_path):
    (tmp_path / "study.toml").write_text(
        """
[data]
file = "train.csv"
label = "outcome"
positive = "yes"
[validation]
test_file = "test.csv"
[[runs]]
method = "auc-rls"
[[runs]]
method = "auc-rls"
roles = { outcome = "category", also = "label" }
"""
    )
    study = read_study(tmp_path / "study.toml")
    records = [execute(one.experiment, one.table, one.test_table) for one in study.plans]
    alone = planned(train, test, label="also", positive="down", outcome="category")
    expected = execute(*alone)
    held = alone[2].column("also")
    assert [record.status for record in records] == ["done", "done"]
    positive = study.experiments[1].data.positive
    assert records[1].splits[0].test_positive.tolist() == held.equals(positive).tolist()
    np.testing.assert_allclose(
        np.abs(records[1].splits[0].test_scores), np.abs(expected.splits[0].test_scores), rtol=1e-9
    )


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (["code", "X", "also", "outcome"], "did you mean 'X'"),
        (["code", "x", "also", "Outcome"], "did you mean 'Outcome'"),
    ],
)
def test_test_file_without_a_column_is_refused(train, tmp_path, header, words):
    test = write_csv(tmp_path / "t.csv", header, rows_of(30, 2))
    with pytest.raises(InputError, match=words):
        planned(train, test)


def test_test_file_may_lack_ignored_columns_and_have_others(train, tmp_path):
    rows = [[*row[:2], row[3], "more"] for row in rows_of(30, 2)]
    test = write_csv(tmp_path / "t.csv", ["code", "x", "outcome", "remark"], rows)
    experiment, table, held = planned(train, test, also="ignore")
    assert execute(experiment, table, held).status == "done"


def test_test_file_with_unseen_values_is_refused(train, tmp_path):
    rows = [[code.lower() + "x", *rest] for code, *rest in rows_of(30, 2)]
    with pytest.raises(InputError, match=r"'code' .* only values that training never saw"):
        planned(train, write_csv(tmp_path / "t.csv", HEADER, rows))
    rows = [[row[0], "none at all", *row[2:]] for row in rows_of(30, 2)]
    with pytest.raises(InputError, match=r"'x' .* another format than in training"):
        planned(train, write_csv(tmp_path / "t.csv", HEADER, rows))
