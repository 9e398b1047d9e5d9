"""Fixtures of windows and sessions, closed after every test; prompts are answered."""

import dataclasses
import functools
import gc
import itertools
import threading

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QAction, QPainter, QPicture
from PySide6.QtWidgets import QApplication, QLabel

from aucstudio.gui import app
from aucstudio.gui.app import make_application
from aucstudio.gui.common import prompts
from aucstudio.gui.common.theme import apply_theme, set_text_size
from aucstudio.gui.main_window import MainWindow
from aucstudio.gui.panels.method_panel import MethodPanel
from aucstudio.gui.panels.status import MessageBar
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.record import RunRecord
from tests.gui.leftovers import Leftovers

PATIENCE = 60_000  # milliseconds


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests of the whole window as slow."""
    for item in items:
        if "window" in item.fixturenames:
            item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def collect_garbage_at_exit():
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def fail_on_leftovers(request, qapp):
    """Fail a test that leaves windows, Qt objects, threads or processes behind."""
    before = Leftovers()
    yield
    request.node.funcargs.clear()  # they would be kept alive until the report
    if left := before.found():
        pytest.fail(f"left over: {', '.join(left)}", pytrace=False)


class Answers:
    """Answers every dialog; records the questions and messages.

    ``errors`` are the texts of message bars and error prompts; ``choice`` answers
    questions by the key of an answer, None for Cancel; ``asked`` are those questions.
    """

    def __init__(self):
        self.open_path = None
        self.save_path = None
        self.suggested = ""
        self.save_format = ""
        self.choice = "stop"
        self.asked = []
        self.errors = []


@pytest.fixture(autouse=True)
def answers(monkeypatch):
    given = Answers()
    monkeypatch.setattr(prompts, "ask_open_path", lambda *_: given.open_path)

    def ask_save_path(_parent, _title, suggested, _filters):
        given.suggested = suggested
        return given.save_path

    monkeypatch.setattr(prompts, "ask_save_path", ask_save_path)

    def ask_save_file(_parent, _title, _suggested, filters):
        return given.save_path, given.save_format or filters.split(";;")[0]

    monkeypatch.setattr(prompts, "ask_save_file", ask_save_file)
    monkeypatch.setattr(
        prompts, "show_error", lambda _parent, sentence, details="": given.errors.append(sentence)
    )
    add = MessageBar.add

    def add_and_note(bar, sentence, details="", **how):
        given.errors.append(sentence)
        add(bar, sentence, details, **how)

    monkeypatch.setattr(MessageBar, "add", add_and_note)

    def ask_choice(_parent, title, text, choices, answered):
        given.asked.append((title, text, [key for key, _words in choices]))
        answered(given.choice)

    monkeypatch.setattr(prompts, "ask_choice", ask_choice)
    return given


@pytest.fixture
def apply_style(qapp):
    """Apply a theme and a text size in percent; the default ones return after the test."""

    def apply(theme="light", percent=100):
        set_text_size(qapp, percent)
        apply_theme(qapp, theme)

    yield apply
    apply()


@pytest.fixture
def qtbot(qtbot):
    """The robot of pytest-qt, which waits for as long as a loaded machine may need."""
    for name in ("waitUntil", "waitSignal", "waitExposed"):
        setattr(qtbot, name, functools.partial(getattr(qtbot, name), timeout=PATIENCE))
    return qtbot


@pytest.fixture
def session(qtbot):
    make_application("light")
    made = Session()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def table_session(session, table):
    """A session with an open table; closed without a running job."""
    session.study.table = table
    session.swap(session.study)
    yield session
    set_running_job(session, None)


@pytest.fixture
def method_panel(table_session, qtbot):
    """The card of the method, kept alive until its child, the chooser, is deleted."""
    made = MethodPanel(table_session, *(QAction(table_session) for _ in range(3)))
    qtbot.addWidget(made)
    yield made
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def expose(qtbot, widget, *size):
    """Show a widget in a size, and wait until it is on the screen; return it."""
    qtbot.addWidget(widget)
    if size:
        widget.resize(*size)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


@pytest.fixture
def open_view(qtbot):
    """Create a page and show it."""

    def open_view(page, session, size=(900, 640)):
        view = expose(qtbot, page(session), *size)
        take_turns(session)
        return view

    return open_view


_FINISHED = {}


def make_record(table, method="auc-rls", params=None, validation=None):
    """Run an experiment on a table; results are cached across tests."""
    data = DataReference.to_table(table)
    plan = plan_experiment(data, method, params or {}, validation or Validation())
    elsewhere = dataclasses.replace(data, path="")
    key = repr((table.sha256, elsewhere, method, plan.params, plan.validation))
    if key not in _FINISHED:
        _FINISHED[key] = execute(plan, table)
    return dataclasses.replace(_FINISHED[key], id=plan.id, experiment=plan, created=RunRecord.now())


def put(session, record, name="Run"):
    """Append a record to the session's run list, and select it."""
    session.records[record.id] = record
    looks = {**session.plan.looks, record.id: RunLook(name, len(session.plan.looks))}
    session.put_plan(dataclasses.replace(session.plan, looks=looks))
    session.select(record.id)
    return record


def add_run(session, method="auc-rls", **params):
    """Append a finished run on the table of a session, validated by its plan."""
    record = make_record(session.table, method, params, session.plan.validation)
    return put(session, record, method)


def train(qtbot, session, method="auc-rls", **params):
    """Run a method as the window does; return its record."""
    plan = session.plan
    session.study.plan = dataclasses.replace(
        plan, method=method, params={**plan.params, method: params}
    )
    session.runs.start([session.runs.planned()])
    qtbot.waitUntil(lambda: not session.busy)
    return session.shown_runs()[-1].record


class _IdleJob:
    """A job that emits nothing and ends when it is stopped."""

    ended, result, error = False, None, None

    def stop(self):
        self.ended = True

    def wait(self, _seconds):
        return self.ended

    def drain(self):
        return []


def on(session, field, answer):
    """Call a function whenever a field of a session changes."""
    session.changed.connect(lambda fields: answer() if field in fields else None)


def set_running_job(session, live):
    """Set or clear the session's running job, and update the pages."""
    session.study.runner.running = {} if live is None else {live: _IdleJob()}
    session.notify({"live"})
    take_turns(session)


def take_turns(session):
    """Do what waits for a turn of the event loop."""
    while session.turns.waiting:
        QApplication.processEvents()


def refresh_and_wait(qtbot, view):
    """Refresh a page and wait until its picture is drawn."""
    view.refresh()
    qtbot.waitUntil(lambda: not view.busy() and not (view.isVisible() and view.is_stale))


def shown(view, qtbot):
    """Wait until a page is up to date; return its sentence."""
    qtbot.waitUntil(lambda: not view.is_stale and not view.busy())
    return view.sentence.text()


def card_lines(table):
    """Return the texts of a table on the card of a run, row by row."""
    rows = {}
    for cell in table.findChildren(QLabel):
        rows.setdefault(cell.objectName().rsplit("_", 2)[1], []).append(cell)
    return [tuple(cell.text() for cell in row) for row in rows.values() if not row[0].isHidden()]


def card_text(card):
    """Return the texts on the card of a run, folded ones too."""
    labels = (one for one in card.findChildren(QLabel) if not one.isHidden())
    return " ".join(one.text() for one in labels).replace("\N{NO-BREAK SPACE}", " ")


def choose(combo, data):
    combo.setCurrentIndex(combo.findData(data))


def pick(combo, data):
    """Choose as a user does, which emits ``activated``."""
    choose(combo, data)
    combo.activated.emit(combo.currentIndex())


def trigger(menu, name):
    """Trigger the action of a name in a menu, and delete the menu."""
    next(action for action in menu.actions() if action.objectName() == name).trigger()
    menu.deleteLater()


def points(item):
    return np.column_stack(item.getData())


def painted_ticks(axis):
    """Return the places and texts of the ticks that an axis paints."""
    for _ in range(2):  # the first painting sets the width of the axis
        QApplication.processEvents()
        picture = QPicture()
        painter = QPainter(picture)
        texts = axis.generateDrawSpecs(painter)[2]
        painter.end()
    stands = axis.orientation in ("left", "right")
    box = axis.linkedView()
    spots = [box.mapSceneToView(axis.mapToScene(area.center())) for area, _, _ in texts]
    places = [spot.y() if stands else spot.x() for spot in spots]
    return [(place, text) for place, (_, _, text) in zip(places, texts, strict=True)]


def tick_texts(axis):
    return [text for _, text in painted_ticks(axis)]


def is_at_rest(widget):
    """Return whether no timer or background work of a widget is pending."""
    return not any(timer.isActive() for timer in widget.findChildren(QTimer))


def add_line(plot, *places, **style):
    """Draw a line in a plot; return its item."""
    line = pg.PlotDataItem(*places, **style)
    plot.addItem(line)
    return line


@pytest.fixture
def window(qtbot):
    """The main window, shown on the offscreen platform; pages are created when first shown."""
    make_application("light")
    made = MainWindow(app.the_processes())
    assert made.workplace
    made.set_theme("light")
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.leave()
    made.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def run_to_end(qtbot):
    """Press Run and wait until no job is running."""

    def press(window):
        window.actions_.run.trigger()
        qtbot.waitUntil(lambda: not window.session.busy)

    return press


@pytest.fixture
def ran(window, table_file, run_to_end):
    """The window after a run on its table."""
    window.open_now(table_file)
    run_to_end(window)
    return window


class Gate:
    """Blocks a function from its first or a later call on, until opened."""

    def __init__(self, monkeypatch, owner, name, call=1):
        self.reached, self.opened, self.ended = (threading.Event() for _ in range(3))
        really, calls = getattr(owner, name), itertools.count(1)

        def held(*args, **kwargs):
            if next(calls) >= call:
                self.reached.set()
                assert self.opened.wait(PATIENCE / 1000)
            try:
                return really(*args, **kwargs)
            finally:
                self.ended.set()

        monkeypatch.setattr(owner, name, held)
        self.open = self.opened.set

    def wait(self, qtbot):
        """Wait until a call is blocked."""
        qtbot.waitUntil(self.reached.is_set)


def save_as(session, path):
    """Save a study under a name and wait for it; raise the error if it fails."""
    refused = []
    hear = session.files.saver.refused.connect(lambda _save, error: refused.append(error))
    session.files.begin_save(path)
    session.files.saver.finish()
    session.files.saver.refused.disconnect(hear)
    if refused:
        raise refused[0]
