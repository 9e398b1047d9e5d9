"""Runs on a real Dask scheduler with two workers on loopback, whatever dies there."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import aucstudio
from aucstudio.cli import main
from aucstudio.project import cluster
from aucstudio.project.batch import run_on_cluster
from aucstudio.project.errors import InputError
from aucstudio.project.execute import execute
from aucstudio.project.experiment_file import Study
from aucstudio.project.storage import ProjectFile

distributed = pytest.importorskip("distributed")

CHECKOUT = Path(aucstudio.__file__).parents[1]


class Cluster:
    """A scheduler and workers, each a process."""

    def __init__(self, stack):
        self.stack = stack
        options = ("--host", "127.0.0.1", "--no-dashboard")
        self.scheduler = self.start("scheduler", "--port", "0", *options)
        self.address = self.read(self.scheduler, r"Scheduler at:\s+(tcp://\S+)")

    def start(self, program, *arguments, **variables):
        path = os.pathsep.join([variables.pop("first", ""), str(CHECKOUT)]).lstrip(os.pathsep)
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments],
            cwd=CHECKOUT,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.stack.callback(self.end, process)
        return process

    def worker(self, **variables):
        options = ("--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard")
        return self.start("worker", self.address, *options, **variables)

    @staticmethod
    def read(process, pattern):
        for line in process.stderr:
            found = re.search(pattern, line)
            if found:
                return found[1]
        raise AssertionError("the process ended before it said so")

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        process.stderr.close()

    def wait_for_workers(self, count):
        with self.client() as client:
            client.wait_for_workers(count, timeout=60)

    def client(self):
        return distributed.Client(self.address, set_as_default=False)

    def kill_busy_worker(self):
        """Kill the worker with most to do; returns how much that was."""
        with self.client() as client:
            processes, busy = client.run(os.getpid), client.processing()
            victim = max(busy, key=lambda name: len(busy[name]))
            os.kill(processes[victim], signal.SIGKILL)
            return len(busy[victim])


@pytest.fixture
def dask():
    with contextlib.ExitStack() as stack:
        yield Cluster(stack)


def two_runs(plan, table):
    settings = {"scheme": "folds", "folds": 5, "repeats": 2}
    return Study(table, (plan("svm-pauc", **settings), plan("auc-svm", **settings)))


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


def test_a_worker_dies_and_the_numbers_are_the_same(dask, plan, table, tmp_path):
    for _ in range(2):
        dask.worker()
    dask.wait_for_workers(2)
    study, project, lost = two_runs(plan, table), tmp_path / "far.aucproj", []

    def bar(fraction, words):
        if not lost:
            lost.append(dask.kill_busy_worker())

    records = run_on_cluster(study, None, dask.address, str(project), bar)
    assert lost[0] > 0
    with dask.client() as client:
        assert len(client.scheduler_info()["workers"]) == 1
    with threadpool_limits(1):
        for record, experiment in zip(records, study.experiments, strict=True):
            assert_same_numbers(record, execute(experiment, study.table))
    assert {r.id for r in ProjectFile.open(project).runs()} == {e.id for e in study.experiments}


def test_a_lost_scheduler_keeps_what_is_finished(dask, plan, table, monkeypatch):
    monkeypatch.setattr(cluster, "_TIMEOUT_SECONDS", 5.0)
    dask.worker()
    dask.wait_for_workers(1)
    study = two_runs(plan, table)

    def bar(fraction, words):
        if dask.scheduler.poll() is None:
            dask.end(dask.scheduler)

    records = run_on_cluster(study, None, dask.address, bar=bar)
    (failed,) = (record for record in records if record.status == "failed")
    assert failed.error.startswith(f"the connection to the Dask scheduler at {dask.address} was")
    assert 1 <= sum(len(record.splits) for record in records) < 20


def test_the_command_line_says_what_is_wrong_in_one_line(
    dask, table_file, tmp_path, monkeypatch, capfd
):
    monkeypatch.setattr(cluster, "_TIMEOUT_SECONDS", 5.0)
    project = tmp_path / "none.aucproj"
    command = ["train", str(table_file), "--method", "auc-rls", "--project", str(project)]

    def complaint(address):
        assert main([*command, "--cluster", address]) == 2
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert not project.exists()
        return err

    assert f"{dask.address} has no workers" in complaint(dask.address)
    old = tmp_path / "numpy-1.0.dist-info"
    old.mkdir()
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    dask.worker(first=str(tmp_path))
    dask.wait_for_workers(1)
    assert f"numpy is {np.__version__} here and 1.0 on the worker tcp://" in complaint(dask.address)
    monkeypatch.setattr(cluster, "_TIMEOUT_SECONDS", 0.2)
    for address in ("tcp://127.0.0.1:1", "tcp://nowhere", "odd://127.0.0.1:1", "tls://[::1]:1"):
        assert f"no Dask scheduler answers at {address}" in complaint(address)


def test_the_command_line_trains_there(dask, table_file, tmp_path, capfd):
    dask.worker()
    dask.wait_for_workers(1)
    command = ["train", str(table_file), "--method", "auc-rls", "--folds", "3", "--tune", "auc"]
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


def test_failures_there_are_recorded_as_here(dask, plan, table):
    dask.worker()
    dask.wait_for_workers(1)
    study = Study(table, (plan("auc-rls", scheme="folds", folds=100),))
    (record,) = run_on_cluster(study, None, dask.address)
    alone = execute(study.experiments[0], table)
    assert (record.status, record.error) == (alone.status, alone.error)
    assert "folds" in record.error


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'aucstudio\[dask\]'"), cluster.connect("x"):
        pass
