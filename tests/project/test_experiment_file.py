"""Experiment files: what is written is read back, and mistakes are named."""

import dataclasses

import pytest

from aucstudio.engine import METHODS
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import auc_summary
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.store.project_file import ProjectFile
from aucstudio.project.work.batch import process_pool, run_study

SMALL = """
[data]
file = "study.csv"
[validation]
scheme = "folds"
folds = 2
[[runs]]
method = "auc-rls"
settings = { kernel = "rbf", gamma = "scale" }
[[runs]]
method = "auc-svm"
settings = { C = 1, n_neighbors = "none" }
"""


@pytest.fixture
def write(tmp_path, table_file):
    def put(text):
        path = tmp_path / "experiment.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return put


@pytest.mark.parametrize("method", list(METHODS))
def test_what_is_written_is_read_back(plan, table, tmp_path, method):
    experiment = dataclasses.replace(plan(method), band=(0.02, 0.3), tuning=Tuning("auc", seed=0))
    path = tmp_path / "one.toml"
    path.write_text(write_study([experiment], tmp_path), encoding="utf-8")
    (again,) = read_study(path).experiments
    assert again == experiment
    assert again.id == experiment.id


def test_a_file_by_hand(write):
    study = read_study(write(SMALL))
    first, second = study.experiments
    assert first.params["kernel"] == "rbf"
    assert second.params["n_neighbors"] is None
    assert second.params["C"] == 1.0
    assert study.table.label == "outcome"
    assert first.validation.folds == 2


def test_a_method_with_a_range_trains_for_that_of_the_file(write):
    text = SMALL.replace('"auc-rls"', '"svm-pauc"').replace('"rbf", gamma = "scale"', '"linear"')
    study = read_study(write("fpr_range = [0.1, 0.3]\n" + text))
    assert study.experiments[0].params["fpr_range"] == (0.1, 0.3)
    assert study.experiments[0].band == (0.1, 0.3)


def test_both_files_can_be_moved_together(plan, table_file, tmp_path):
    text = write_study([plan("auc-rls")], table_file.parent)
    assert 'file = "study.csv"' in text
    other = tmp_path / "elsewhere"
    other.mkdir()
    assert 'file = "../study.csv"' in write_study([plan("auc-rls")], other)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[data]", "[datum]"), "unknown key 'datum'"),
        (('file = "study.csv"', 'file = "gone.csv"'), "gone.csv"),
        (('file = "study.csv"', 'label = "outcome"'), "needs a [data] file"),
        (("folds = 2", "fold = 2"), "unknown key 'fold' in [validation]"),
        (("folds = 2", "folds = 1"), "folds must be at least 2"),
        (('"auc-rls"', '"perceptron"'), "unknown method 'perceptron'"),
        (("C = 1", "C = -1"), "C must be"),
        (("C = 1", "D = 1"), "unknown setting 'D'"),
        (('"none"', '"few"'), "n_neighbors must be"),
        (("[[runs]]", "[[runs]]\ntune = 'luck'"), "cannot tune by 'luck'"),
        (("[data]", "format = 99\n[data]"), "newer AUC Studio"),
        (("[data]", "[data"), "not valid TOML"),
        (("[validation]", "fpr_range = [0.1]\n[validation]"), "unknown key 'fpr_range' in [data]"),
        (("[data]", "fpr_range = [0.5, 0.1]\n[data]"), "must satisfy"),
    ],
)
def test_mistakes_are_named(write, change, words):
    with pytest.raises(InputError) as refused:
        read_study(write(SMALL.replace(*change, 1)))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_runs_that_differ_in_their_rows_need_two_files(plan, tmp_path):
    with pytest.raises(InputError, match="one table"):
        write_study([plan("auc-rls"), plan("auc-rls", seed=3)], tmp_path)


@pytest.mark.slow
def test_several_processes_give_the_same_numbers(write, tmp_path):
    study = read_study(write(SMALL))
    project = tmp_path / "both.aucproj"
    records = run_study(study, str(project), 2)
    for record, experiment in zip(records, study.experiments, strict=True):
        alone = execute(experiment, study.table)
        assert auc_summary(record).per_split == auc_summary(alone).per_split
    assert {r.id for r in ProjectFile.open(project).runs()} == {e.id for e in study.experiments}


def test_a_pool_is_fresh_processes():
    with process_pool(1) as pool:
        assert pool.submit(abs, -3).result() == 3
