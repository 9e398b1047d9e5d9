"""Startup: which modules and widgets the start page does not load or create."""

import os
import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QComboBox, QTableView

from aucstudio.engine import METHODS
from aucstudio.gui.app import get_ready, make_application
from aucstudio.gui.desk.actions import VIEWS, page_of
from aucstudio.gui.main_window import MainWindow

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
    made.resize(1440, 900)  # in a narrow window the columns are pages behind the pictures
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.leave()
    made.deleteLater()


@pytest.mark.slow
def test_start_page_loads_no_libraries_of_a_study(tmp_path):
    environment = os.environ | {"AUCSTUDIO_HOME": str(tmp_path)}
    command = [sys.executable, "-c", START]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_method_class_has_its_id():
    assert [method.key for method in METHODS.values()] == list(METHODS)
    assert len(set(METHODS.values())) == len(METHODS)


def test_start_page_creates_no_workplace(starting):
    assert starting.welcome.isVisible()
    assert not starting.has_workplace
    verbs = starting.actions_
    assert verbs.open_data.isEnabled()
    for verb in (verbs.run, verbs.tear_off, verbs.all_in_one, verbs.export_figure):
        assert not verb.isEnabled()


def test_workplace_is_created_hidden_behind_the_start_page(starting, qtbot):
    get_ready(starting)
    qtbot.waitUntil(lambda: starting.has_workplace)
    qtbot.waitUntil(starting.welcome.isVisible)
    assert not starting.workplace.sides.left.isVisible()
    assert not starting.workplace.runs_panel.isVisible()
    assert not starting.deck.made_views()
    assert not starting.actions_.tear_off.isEnabled()


@pytest.mark.slow
def test_opening_a_table_creates_the_workplace_and_one_page(starting, qtbot, table_file):
    starting.open_path(table_file)
    qtbot.waitUntil(lambda: starting.session.table is not None)
    qtbot.waitUntil(lambda: bool(starting.deck.made_views()))
    assert [view.objectName() for view in starting.deck.made_views()] == ["roc_view"]
    qtbot.waitUntil(lambda: starting.findChild(QComboBox, "method_combo").isVisible())
    assert starting.findChild(QTableView, "runs_table") is not None
    assert starting.workplace.data_panel.isVisible()


@pytest.mark.slow
def test_view_is_created_when_its_tab_is_clicked(starting, qtbot, table_file):
    starting.open_now(table_file)
    deck, bar = starting.deck, starting.deck.tiles[0].bar
    qtbot.waitUntil(lambda: len(deck.made_views()) == 1)
    for made, k in enumerate((3, 5), start=2):
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(k).center())
        qtbot.waitUntil(lambda made=made: len(deck.made_views()) == made)
        assert bar.currentIndex() == k
        assert deck.active().isVisible()
        assert bar.tabText(k) == page_of(deck.active().objectName()).title
    assert [view.objectName() for view in starting.views] == [view.name for view in VIEWS]
    assert [view.title for view in starting.views] == [view.title for view in VIEWS]


@pytest.mark.slow
def test_views_of_an_arrangement_are_created_one_per_turn(starting, qtbot, table_file):
    starting.open_now(table_file)
    deck = starting.deck
    qtbot.waitUntil(deck.isVisible)
    starting.findChild(QAction, "action_arrange_four_views").trigger()
    counts = []
    while len(deck.made_views()) < 4:
        QApplication.processEvents()
        counts.append(len(deck.made_views()))
    assert set(counts) >= {2, 3, 4}
    qtbot.waitUntil(lambda: len(list(deck.visible_views())) == 4)


@pytest.mark.slow
def test_view_that_was_never_shown_can_be_torn_off(starting, table_file):
    starting.open_now(table_file)
    deck = starting.deck
    deck.bring_forward("model_view")
    starting.actions_.tear_off.trigger()
    assert deck.windows["model_view"].view.isVisible()
    starting.actions_.all_in_one.trigger()
    assert deck.place("model_view") == 0
