"""Runs on a real Dask scheduler with two workers on loopback, some of which are killed."""

import contextlib
import dataclasses
import json
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from aucstudio.cli import main
from aucstudio.project.errors import InputError
from aucstudio.project.results import comparison as pair_tests
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment_keys import ExperimentFile
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.work import cluster
from aucstudio.project.work.parallel import ClusterPlace
from aucstudio.project.work.submit import open_place, run_experiments

pytest.importorskip("distributed")
Cluster = pytest.importorskip("tests.scheduler").Cluster


@pytest.fixture(scope="module")
def dask():
    """Return a cluster of two workers."""
    with contextlib.ExitStack() as stack:
        cluster = Cluster(stack)
        for _ in range(2):
            cluster.worker()
        cluster.wait_for_workers(2)
        yield cluster


@pytest.fixture
def alone():
    """Return a scheduler without workers."""
    with contextlib.ExitStack() as stack:
        yield Cluster(stack)


def two_runs(plan, table):
    settings = {"scheme": "folds", "folds": 5}
    experiments = plan("svm-pauc", **settings), plan("auc-svm", **settings)
    return ExperimentFile(table, tuple(PlannedRun(one, table, None) for one in experiments))


def run_on_cluster(study, address, project=None, bar=lambda fraction, words: None):
    with open_place(cluster=address) as place:
        outcomes = run_experiments(study.plans, place, project, bar)
    return [outcome.record for outcome in outcomes]


def assert_same_numbers(record, alone):
    assert (record.status, record.id) == ("done", alone.id)
    assert len(record.splits) == len(alone.splits)
    for split, other in zip(record.splits, alone.splits, strict=True):
        assert (split.repeat, split.fold, split.notes) == (other.repeat, other.fold, other.notes)
        assert (split.objective, split.n_iter) == (other.objective, other.n_iter)
        np.testing.assert_array_equal(split.test_rows, other.test_rows)
        np.testing.assert_array_equal(split.test_scores, other.test_scores)
        np.testing.assert_array_equal(split.train_scores, other.train_scores)
        assert split.model.trained_on == other.model.trained_on


@pytest.mark.slow
def test_cluster_comparison_equals_the_local_one(dask, plan, table, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(pair_tests, "WORTH_SENDING", 0)
    project = ProjectFile.create(tmp_path / "study.aucproj")
    for weight in (0.01, 1.0, 100.0):
        project.add_run(execute(plan("auc-rls", {"regularization": weight}), table))
    project.add_run(execute(plan("auc-rls", scheme="folds", folds=3), table))
    documents = []
    for place in (["--cluster", dask.address], []):
        assert main(["compare", str(project.path), "--json", *place]) == 0
        documents.append(capfd.readouterr().out)
    assert documents[0] == documents[1]
    assert len(json.loads(documents[0])["pairs"]["pauc"]) == 6


@pytest.mark.slow
def test_command_reports_cluster_errors_in_one_line(
    alone, table_file, tmp_path, monkeypatch, capfd
):
    monkeypatch.setattr(cluster, "TIMEOUT_SECONDS", 5.0)
    project = tmp_path / "none.aucproj"
    command = ["train", str(table_file), "--method", "auc-rls", "--project", str(project)]

    def error_of(address):
        assert main([*command, "--cluster", address]) == 2
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert not project.exists()
        return err

    assert f"{alone.address} has no workers" in error_of(alone.address)
    old = tmp_path / "numpy-1.0.dist-info"
    old.mkdir()
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    alone.worker(first=str(tmp_path))
    alone.wait_for_workers(1)
    assert f"numpy is {np.__version__} here and 1.0 on the worker tcp://" in error_of(alone.address)
    monkeypatch.setattr(cluster, "TIMEOUT_SECONDS", 0.2)
    for address in ("tcp://127.0.0.1:1", "tcp://nowhere", "odd://127.0.0.1:1", "tls://[::1]:1"):
        assert f"no Dask scheduler answers at {address}" in error_of(address)


@pytest.mark.slow
def test_command_trains_on_the_cluster(dask, table_file, capfd):
    command = ["train", str(table_file), "--method", "auc-rls", "--tune", "auc"]
    documents = []
    for place in (["--cluster", dask.address], []):
        with threadpool_limits(1):
            assert main([*command, "--json", *place]) == 0
        out, err = capfd.readouterr()
        assert err == ""
        documents.append(json.loads(out))
    far, here = (document["runs"][0] for document in documents)
    assert far["auc"] == here["auc"]
    assert far["id"] == here["id"]


def test_missing_dask_names_the_command_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'aucstudio\[dask\]'"):
        cluster.open_cluster("x")


@pytest.mark.slow
def test_lost_workers_change_no_numbers_and_a_lost_scheduler_keeps_splits(
    dask, plan, table, tmp_path, monkeypatch
):
    """The last test: it ends the cluster."""
    dask.worker()
    dask.wait_for_workers(3)
    study, project, lost = two_runs(plan, table), tmp_path / "far.aucproj", []

    def bar(fraction, words):
        if fraction > 0 and not lost:
            lost.append(fraction)
            dask.end(dask.workers[0])

    records = run_on_cluster(study, dask.address, project, bar)
    assert lost[0] < 1
    with threadpool_limits(1):
        for record, experiment in zip(records, study.experiments, strict=True):
            assert_same_numbers(record, execute(experiment, study.table))
    assert {r.id for r in ProjectFile.open(project).runs()} == {e.id for e in study.experiments}
    lose_a_worker_in_a_search(dask, plan, table)
    with dask.client() as client:
        assert len(client.scheduler_info()["workers"]) == 1
    monkeypatch.setattr(cluster, "TIMEOUT_SECONDS", 5.0)
    lose_the_scheduler(dask, plan, table)


def lose_a_worker_in_a_search(dask, plan, table):
    tuned = dataclasses.replace(plan("auc-svm"), tuning=Tuning("auc", folds=3))
    lost, reports = [], []

    def listen(progress):
        reports.append(progress)
        if progress.search is not None and progress.search.fraction_done > 0 and not lost:
            lost.append(progress.search.fraction_done)
            dask.end(dask.workers[1])

    with contextlib.closing(cluster.open_cluster(dask.address)) as workers:
        record = ClusterPlace(workers).execute(
            PlannedRun(tuned, table, None), listen, lambda: False
        )
    assert lost[0] < 1
    with threadpool_limits(1):
        alone = execute(tuned, table)
    assert_same_numbers(record, alone)
    (found,), (here,) = record.searches, alone.searches
    np.testing.assert_array_equal(found.areas, here.areas)
    assert (found.chosen, found.candidates) == (here.chosen, here.candidates)
    assert reports[-1].remote.where.endswith(f" of {dask.address}")


def lose_the_scheduler(dask, plan, table):
    """Finished splits are kept."""

    def bar(fraction, words):
        if fraction > 0 and dask.scheduler.poll() is None:
            dask.end(dask.scheduler)

    records = run_on_cluster(two_runs(plan, table), dask.address, bar=bar)
    failed = [record for record in records if record.status == "failed"]
    assert failed
    for record in failed:
        assert f"the connection to the Dask scheduler at {dask.address} was" in record.error
    assert 1 <= sum(len(record.splits) for record in records) < 10
