"""Several runs in flight: shown each, stopped together, begun only where they fit."""

import dataclasses
import threading

import pytest
from PySide6.QtGui import QAction

from aucstudio.engine import METHODS
from aucstudio.gui.panels.progress_strip import ProgressStrip
from aucstudio.gui.panels.runs_model import RunsModel
from aucstudio.project.data.split import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.record import DONE, STOPPED
from aucstudio.project.work.processes import Processes
from tests.gui.conftest import PATIENCE


@pytest.fixture
def held(monkeypatch):
    """Fits that stand still once their run has finished a split, each until it is let go."""
    reached, released = {}, {}
    for method in ("auc-rls", "rls", "rank-svm"):
        reached[method], released[method] = threading.Event(), threading.Event()
        fit, fits = METHODS[method]._fit, []

        def hold(self, X, positive, monitor, *, method=method, fit=fit, fits=fits):
            fits.append(1)
            if len(fits) == 2:
                reached[method].set()
                released[method].wait(30)
            return fit(self, X, positive, monitor)

        monkeypatch.setattr(METHODS[method], "_fit", hold)
    yield reached, released
    for event in released.values():
        event.set()


def begin(session, table_file, *methods):
    session.open_data(table_file)
    folds = Validation(scheme="folds", folds=3)
    for method in methods:
        session.edit(dataclasses.replace(session.plan, method=method, validation=folds), "choose")
        session.run_planned()


def texts(model):
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_two_fly_at_once_and_each_is_shown(session, table_file, qtbot, held):
    reached, released = held
    model = RunsModel(session)
    strip = ProgressStrip(session, QAction("&Run"), QAction("&Stop"))
    qtbot.addWidget(strip)
    strip.resize(900, 30)
    session.run_at_once(2)
    begin(session, table_file, "auc-rls", "rls", "rank-svm")
    qtbot.waitUntil(
        lambda: reached["auc-rls"].is_set() and reached["rls"].is_set(), timeout=PATIENCE
    )
    assert [live.experiment.method for live in session.flights] == ["auc-rls", "rls"]
    assert session.live is session.flights[0]
    assert texts(model) == ["AUC-RLS", "RLS", "RankSVM"]
    assert strip.words.toolTip().endswith("1 more in training · 1 waiting")
    released["auc-rls"].set()
    qtbot.waitUntil(reached["rank-svm"].is_set, timeout=PATIENCE)
    assert [live.experiment.method for live in session.flights] == ["rls", "rank-svm"]
    assert session.live.experiment.method == "rls"
    for event in released.values():
        event.set()
    qtbot.waitUntil(lambda: not session.busy, timeout=PATIENCE)
    assert {record.status for record in session.records.values()} == {DONE}
    assert len(session.project.runs()) == 3


def test_stop_ends_all_and_keeps_what_each_has_finished(session, table_file, qtbot, held):
    reached, _released = held
    session.run_at_once(2)
    begin(session, table_file, "auc-rls", "rls", "rank-svm")
    qtbot.waitUntil(
        lambda: reached["auc-rls"].is_set() and reached["rls"].is_set(), timeout=PATIENCE
    )
    session.stop()
    assert all(live.stopping for live in session.flights)
    qtbot.waitUntil(lambda: not session.busy, timeout=PATIENCE)
    records = list(session.records.values())
    assert [record.status for record in records] == [STOPPED, STOPPED]
    assert [len(record.splits) for record in records] == [1, 1]
    assert len(session.project.runs()) == 2


def test_one_that_would_not_fit_beside_the_other_waits(
    session, table_file, qtbot, held, monkeypatch
):
    reached, released = held
    session.run_at_once(2)
    asked = []

    def refuse(experiments, _table, count):
        asked.append(([experiment.method for experiment in experiments], count))
        raise InputError("2 runs at once would take about 3 GB")

    monkeypatch.setattr("aucstudio.gui.state.session.check_size_at_once", refuse)
    begin(session, table_file, "auc-rls", "rls")
    qtbot.waitUntil(reached["auc-rls"].is_set, timeout=PATIENCE)
    assert asked[-1] == (["rls", "auc-rls"], 2)
    assert len(session.flights) == 1
    assert len(session.queue) == 1
    released["auc-rls"].set()
    qtbot.waitUntil(reached["rls"].is_set, timeout=PATIENCE)
    released["rls"].set()
    qtbot.waitUntil(lambda: not session.busy, timeout=PATIENCE)
    assert len(session.records) == 2


def test_a_run_asked_for_while_another_begins_is_not_lost(session, table_file, qtbot):
    """To begin a run its project is made while the event loop goes on."""
    begin(session, table_file, "auc-rls")
    session.edit(dataclasses.replace(session.plan, method="rls"), "choose")
    begin_one, asked = session._runner._begin, []

    def begin_slowly(experiment, look):
        if not asked:
            asked.append(1)
            session.run_planned()
        return begin_one(experiment, look)

    session._runner._begin = begin_slowly
    session.run_planned()
    qtbot.waitUntil(lambda: not session.busy and not session.queue, timeout=PATIENCE)
    assert len(session.records) == 3


@pytest.mark.slow
def test_the_menu_chooses_how_many(window, table_file, qtbot, monkeypatch):
    place = window.session._place
    assert isinstance(place, Processes)
    chosen = [action for action in window.findChildren(QAction) if "at_once" in action.objectName()]
    assert chosen[0].isChecked()
    chosen[-1].trigger()
    assert place.at_once == int(chosen[-1].text()) >= 1
    begin(window.session, table_file, "auc-rls", "rls", "rank-svm")
    qtbot.waitUntil(lambda: not window.session.busy and not window.session.queue, timeout=PATIENCE)
    assert [record.status for record in window.session.records.values()] == [DONE] * 3
    chosen[0].trigger()
    assert place.at_once == 1
