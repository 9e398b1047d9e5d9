"""The cluster dialog: a real scheduler on loopback, and its messages without one."""

import contextlib
import dataclasses
import sys

import numpy as np
import pytest
from PySide6.QtGui import QAction
from threadpoolctl import threadpool_limits

from aucstudio.gui.dialogs.run_dialogs import ClusterDialog
from aucstudio.gui.panels.status import ProgressStrip
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.execute import execute
from aucstudio.project.work import cluster
from tests.gui.conftest import expose, on

pytest.importorskip("distributed")
Cluster = pytest.importorskip("tests.scheduler").Cluster

PATIENCE = 120_000
FOLDS = Validation(scheme="folds", folds=3)


@pytest.fixture
def dask():
    with contextlib.ExitStack() as stack:
        yield Cluster(stack)


@pytest.fixture
def dialog(qtbot, session):
    return expose(qtbot, ClusterDialog(session))


def wait_for_runs(qtbot, session):
    qtbot.waitUntil(lambda: not session.runs.cluster.connecting, timeout=PATIENCE)


@pytest.mark.slow
def test_runs_use_the_cluster_and_a_lost_scheduler_is_reported(
    dask, qtbot, session, dialog, table_file, window_strip
):
    dask.worker()
    dask.wait_for_workers(1)
    session.files.open_now(table_file, "table")
    assert dialog.words.text() == "Not connected: runs use this machine."
    assert not dialog.toggle.isEnabled()
    dialog.address.setText(dask.address)
    dialog.toggle.click()
    wait_for_runs(qtbot, session)
    there = f"Connected to {dask.address}: 1 worker with 1 thread in all."
    assert dialog.words.text() == there
    assert (dialog.toggle.text(), dialog.address.isReadOnly()) == ("&Disconnect", True)

    plan = dataclasses.replace(session.plan, method="svm-pauc", validation=FOLDS)
    session.put_plan(plan)
    said = []
    on(session, "live", lambda: said.append(window_strip.words.toolTip()))
    session.runs.start([session.runs.planned(tuned=True)])
    assert not dialog.toggle.isEnabled()
    qtbot.waitUntil(lambda: not session.busy, timeout=PATIENCE)
    record = session.records[session.selected]
    with threadpool_limits(1):
        here = execute(record.experiment, session.table)
    assert (record.status, len(record.splits)) == ("done", 3)
    for split, other in zip(record.splits, here.splits, strict=True):
        np.testing.assert_array_equal(split.test_scores, other.test_scores)
    for found, other in zip(record.searches, here.searches, strict=True):
        np.testing.assert_array_equal(found.areas, other.areas)
    assert any(f"on 1 worker of {dask.address}" in words for words in said)
    assert any("tuning" in words for words in said)

    dask.end(dask.scheduler)
    qtbot.waitUntil(lambda: session.runs.cluster.workers is None, timeout=PATIENCE)
    assert f"Connection to the Dask scheduler at {dask.address} lost" in dialog.words.text()
    assert (dialog.toggle.text(), dialog.words.property("role")) == ("&Connect", "error")
    session.runs.start([session.runs.planned()])
    qtbot.waitUntil(lambda: not session.busy, timeout=PATIENCE)
    assert session.records[session.selected].status == "done"


@pytest.fixture
def window_strip(qtbot, session):
    strip = ProgressStrip(session, QAction("Run"), QAction("Stop"))
    qtbot.addWidget(strip)
    return strip


def test_wrong_address_is_one_error_sentence(qtbot, session, dialog, monkeypatch):
    monkeypatch.setattr(cluster, "TIMEOUT_SECONDS", 0.2)
    dialog.address.setText("tcp://127.0.0.1:1")
    dialog.toggle.click()
    wait_for_runs(qtbot, session)
    said = dialog.words.text()
    assert said.startswith("No Dask scheduler answers at tcp://127.0.0.1:1: check the address")
    assert said.count(". ") == 0
    assert dialog.toggle.text() == "&Connect"


def test_missing_dask_is_one_error_sentence(qtbot, session, dialog, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    session.runs.cluster.connect_to("tcp://127.0.0.1:1")
    wait_for_runs(qtbot, session)
    assert "pip install 'aucstudio[dask]'" in dialog.words.text()


@pytest.mark.slow
def test_connecting_can_be_cancelled(dask, qtbot, session, dialog):
    session.runs.cluster.connect_to(dask.address)
    if session.runs.cluster.connecting:
        assert dialog.toggle.text() == "&Cancel"
        dialog.toggle.click()
    assert (session.runs.cluster.workers, session.runs.cluster.connecting) == (None, False)
    assert dialog.toggle.text() == "&Connect"


def test_menu_opens_the_cluster_dialog(window, qtbot):
    window.actions_.cluster.trigger()
    dialog = window.findChild(ClusterDialog, "cluster_dialog")
    assert dialog.isVisible()
    assert dialog.words.text() == "Not connected: runs use this machine."
    dialog.reject()
    qtbot.waitUntil(lambda: window.findChild(ClusterDialog, "cluster_dialog") is None)
