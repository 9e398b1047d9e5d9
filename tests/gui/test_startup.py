"""The start: what a window that shows its start page has not loaded and not made yet."""

import os
import subprocess
import sys

import pytest
from PySide6.QtWidgets import QComboBox, QTableView

from aucstudio.engine import METHODS
from aucstudio.gui.app import get_ready, make_application
from aucstudio.gui.common.view import PageView
from aucstudio.gui.desk.actions import VIEWS, page_of
from aucstudio.gui.desk.deck import Placeholder
from aucstudio.gui.main_window import MainWindow
from tests.gui.conftest import PATIENCE

HEAVY = ("sklearn", "scipy.linalg", "scipy.stats", "numba", "duckdb", "pyqtgraph", "distributed")
START = f"""
import sys
from aucstudio.gui.app import make_application
from aucstudio.gui.main_window import MainWindow
application = make_application()
window = MainWindow()
window.show()
application.processEvents()
assert window.welcome.isVisible()
own = [name for name in sys.modules if name.startswith("aucstudio.gui.pages.")]
print(*[name for name in {HEAVY!r} if name in sys.modules], *own)
"""


@pytest.fixture
def starting(qtbot):
    """A window as the program opens it, at its start page."""
    make_application("light")
    made = MainWindow()
    made.resize(1440, 900)  # in a narrow one the columns are pages, and the pictures are in front
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.leave()
    made.deleteLater()


@pytest.mark.slow
def test_the_start_page_waits_for_no_library_that_only_a_study_needs(tmp_path):
    environment = os.environ | {"AUCSTUDIO_HOME": str(tmp_path)}
    command = [sys.executable, "-c", START]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_method_is_the_class_that_its_id_promises():
    assert [method.key for method in METHODS.values()] == list(METHODS)
    assert len(set(METHODS.values())) == len(METHODS)


def test_the_start_page_stands_alone(starting):
    assert starting.welcome.isVisible()
    assert not starting.has_workplace
    verbs = starting.actions_
    assert verbs.open_data.isEnabled()
    for verb in (verbs.run, verbs.tear_off, verbs.all_in_one, verbs.export_figure):
        assert not verb.isEnabled()


def test_the_workplace_is_made_behind_the_start_page(starting, qtbot):
    get_ready(starting)
    qtbot.waitUntil(lambda: starting.has_workplace, timeout=PATIENCE)
    qtbot.waitUntil(starting.welcome.isVisible, timeout=PATIENCE)
    assert not starting.workplace.sides.left.isVisible()
    assert not starting.workplace.runs_panel.isVisible()
    assert not starting.deck.made_views()
    assert not starting.actions_.tear_off.isEnabled()


@pytest.mark.slow
def test_a_table_brings_the_workplace_and_one_page(starting, qtbot, table_file):
    starting.open_path(table_file)
    qtbot.waitUntil(lambda: starting.session.table is not None, timeout=PATIENCE)
    qtbot.waitUntil(lambda: starting.deck.isVisible(), timeout=PATIENCE)
    assert [view.objectName() for view in starting.deck.made_views()] == ["roc_view"]
    qtbot.waitUntil(lambda: starting.findChild(QComboBox, "method_combo").isVisible())
    assert starting.findChild(QTableView, "runs_table") is not None
    assert starting.workplace.data_panel.isVisible()


@pytest.mark.slow
def test_a_page_is_made_when_its_tab_is_clicked(starting, qtbot, table_file):
    starting.open_now(table_file)
    tabs = starting.deck.tiles[0]
    qtbot.waitUntil(tabs.isVisible, timeout=PATIENCE)
    assert [tabs.widget(k).objectName() for k in range(tabs.count())] == [v.name for v in VIEWS]
    for k in (3, 5):
        assert isinstance(tabs.widget(k), Placeholder)
        tabs.setCurrentIndex(k)
        qtbot.waitUntil(lambda k=k: isinstance(tabs.widget(k), PageView), timeout=PATIENCE)
        assert tabs.currentIndex() == k
        assert tabs.widget(k).isVisible()
        assert starting.deck.active() is tabs.widget(k)
        assert tabs.tabText(k) == page_of(tabs.widget(k).objectName()).title
    assert len(starting.deck.made_views()) == 3


@pytest.mark.slow
def test_a_page_that_is_asked_for_is_there(starting, table_file):
    starting.open_now(table_file)
    for view, declared in zip(starting.views, VIEWS, strict=True):
        assert (view.objectName(), view.title) == (declared.name, declared.title)
        assert starting.deck.tiles[0].indexOf(view) >= 0
    assert starting.deck.tiles[0].count() == len(VIEWS)


@pytest.mark.slow
def test_a_page_that_was_never_seen_can_be_torn_off(starting, qtbot, table_file):
    starting.open_now(table_file)
    deck = starting.deck
    deck.show_view(deck.pages[4])
    starting.actions_.tear_off.trigger()
    (window,) = deck.windows.values()
    assert window.view.objectName() == deck.pages[4].objectName()
    assert window.view.isVisible()
    starting.actions_.all_in_one.trigger()
    assert starting.deck.tiles[0].indexOf(window.view) == 4
