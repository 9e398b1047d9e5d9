"""The example studies run and show the results of the papers."""

import numpy as np
import pytest

from aucstudio.project.errors import InputError
from aucstudio.project.examples import STUDIES, examples, make_sample, make_study, run_demo
from aucstudio.project.results.summary import auc_summary, pauc_summary
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.record import DONE
from aucstudio.project.store.project.project_file import ProjectFile
from tests.conftest import write_file


@pytest.fixture
def by_name(tmp_path):
    """Return a function that runs a study and returns its records by name."""

    def by_name(key):
        records = [outcome.record for outcome in run_demo(tmp_path, key).outcomes]
        assert {record.status for record in records} == {DONE}
        return {record.experiment.title: record for record in records}

    return by_name


@pytest.mark.slow
def test_every_example_has_a_description_and_can_be_read(tmp_path):
    assert [example.key for example in examples()] == list(STUDIES)
    for example in examples():
        study = read_study(make_study(example.key, tmp_path / example.key))
        assert (study.title, study.about) == (example.title, example.about)
        assert study.views
        assert len({run.title for run in study.experiments}) == len(study.experiments)


def test_unknown_example_is_refused_with_suggestions(tmp_path):
    with pytest.raises(InputError, match=r"no example study 'iris'.*\(there are payments"):
        make_study("iris", tmp_path)


def test_samples_are_reproducible(tmp_path):
    first = [path.read_bytes() for path in make_sample("two-gaussians", tmp_path)]
    assert first == [path.read_bytes() for path in make_sample("two-gaussians", tmp_path)]
    assert len(first) == 2


def test_two_scorers_have_the_aucs_of_the_svm_pauc_paper(by_name):
    runs = by_name("two-scorers")
    assert np.allclose([auc_summary(runs[f]).value for f in ("f1", "f2")], [0.70, 0.60])
    parts = [pauc_summary(runs[f], (0.1, 0.2)).value for f in ("f1", "f2")]
    assert np.allclose(parts, [0.25, 0.50])


def test_two_gaussians_misrank_pairs_as_in_the_sauc_paper(by_name):
    runs = by_name("two-gaussians")
    pairs = 50 * 80
    misranked = {name: (1 - auc_summary(run).value) * pairs for name, run in runs.items()}
    assert misranked == pytest.approx({"AUC-SVM": 2.0, "SAUC-SVM": 0.0}, abs=1e-9)


@pytest.mark.slow
def test_structure_helps_sampled_pairs_in_the_xor_problem(by_name):
    area = {name: auc_summary(run).value for name, run in by_name("xor").items()}
    assert area["AUC-SVM, 5 neighbours"] < area["SAUC-SVM, 5 neighbours"]
    assert area["AUC-SVM, 5 neighbours"] < area["AUC-SVM, all pairs"]
    assert area["AUC-SVM, all pairs"] < area["SAUC-SVM, all pairs"]


@pytest.mark.slow
def test_auc_grows_and_levels_off_with_the_neighbours(by_name):
    area = {name: auc_summary(run).value for name, run in by_name("ten-dimensions").items()}
    grown = [area[name] for name in ("1 neighbour", "5 neighbours", "10 neighbours")]
    assert grown == sorted(grown)
    assert grown[2] - grown[0] > 0.1
    assert abs(area["all pairs"] - area["50 neighbours"]) < 0.01


@pytest.mark.slow
def test_digits_example_has_one_in_ten_positive(tmp_path):
    study = read_study(make_study("digits", tmp_path))
    assert study.table.rows == 1797
    assert study.table.classes == {"another": 1623, "eight": 174}


def test_names_and_roles_of_runs_round_trip(tmp_path):
    path = make_study("two-scorers", tmp_path)
    study = read_study(path)
    again = write_file(tmp_path / "again.toml", write_study(study.experiments, tmp_path))
    read = read_study(again).experiments
    assert [run.id for run in read] == [run.id for run in study.experiments]
    assert [run.name for run in read] == ["f1", "f2"]
    assert study.experiments[0].id != study.experiments[1].id


def test_run_name_is_stored_but_not_part_of_the_id(tmp_path):
    demo = run_demo(tmp_path, "two-scorers")
    stored = ProjectFile.open(demo.project).runs()
    assert [record.experiment.title for record in stored] == ["f1", "f2"]
    plain = write_study(demo.study.experiments, tmp_path).replace('name = "f1"\n', "")
    (tmp_path / "plain.toml").write_text(plain, encoding="utf-8")
    assert read_study(tmp_path / "plain.toml").experiments[0].id == stored[0].experiment.id


def test_examples_say_what_is_predicted():
    for example in examples():
        assert "paper" not in example.about
        assert "predict" in example.about or "rank" in example.about
