"""The deck of views: torn off, tiled and restored by the window's own actions."""

import json

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)

from aucstudio.gui.app import create_window, make_application
from aucstudio.gui.desk.actions import ARRANGEMENTS, PAGES, VIEWS
from aucstudio.gui.desk.tiles import Tile
from aucstudio.gui.state.plan import Plan
from aucstudio.project.runs.experiment_file import read_study
from aucstudio.project.runs.record import DONE


@pytest.fixture
def opened(window, table_file):
    window.open_now(table_file)
    return window


def press(window, name):
    action = window.findChild(QAction, f"action_{name}")
    assert action.isEnabled(), name
    action.trigger()


def view(window, name):
    return window.deck.view(name)


FIRST, BESIDE, BELOW, CORNER = range(4)
NAMES = [declared.name for declared in VIEWS]


def held(window, place):
    return [name for name in window.deck.names if window.deck.place(name) == place]


def titles(tile):
    return [tile.bar.tabText(k) for k in range(tile.bar.count())]


def show(window, name):
    """Show a view, all of which is made at once."""
    window.deck.bring_forward(name)
    view(window, name)


def click_tab(window, place, index, qtbot):
    bar = window.deck.tiles[place].bar
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(index).center())


def test_all_views_start_as_tabs_of_one_tile_and_best_is_one_while_shown(opened, qtbot):
    assert held(opened, FIRST) == NAMES
    assert opened.deck.tiles[BESIDE].isHidden()
    assert titles(opened.deck.tiles[FIRST]) == [p.title for p in PAGES if p.title != "Best"]
    assert opened.deck.active() is view(opened, NAMES[0])
    click_tab(opened, FIRST, 3, qtbot)
    assert opened.deck.active() is view(opened, "model_view")
    assert opened.deck.active().isVisible()
    tile = opened.deck.tiles[FIRST]
    press(opened, "show_best_view")
    assert tile.names[-1] == "best_view"
    press(opened, "show_roc_view")
    assert "best_view" not in tile.names


def test_views_of_a_page_share_a_tab_with_a_switch(opened, qtbot):
    tile = opened.deck.tiles[FIRST]
    show(opened, "difference_view")
    switch = opened.findChild(QPushButton, "difference_view_switch_feature_view")
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert opened.deck.active() is view(opened, "feature_view")
    assert tile.bar.tabText(tile.bar.currentIndex()) == "Pairs"
    press(opened, "show_beside")
    assert titles(opened.deck.tiles[BESIDE]) == ["Feature space"]
    assert not opened.findChild(QWidget, "feature_view_switch").isVisible()
    show(opened, "difference_view")
    click_tab(opened, BESIDE, 0, qtbot)  # the tab is already in front there
    assert opened.deck.active() is view(opened, "feature_view")


def test_page_shortcut_cycles_through_its_views_and_reopens_the_last(opened):
    press(opened, "show_model_view")
    for page in PAGES[:-1]:
        for name in (*[one.name for one in page.views], page.key):
            press(opened, f"show_{page.key}")
            assert opened.deck.active().objectName() == name
            assert len(opened.deck.tiles[FIRST].names) == len(PAGES) - 1
    for name in ("calibration_view", "roc_view", "scores_view"):  # a page of both
        press(opened, f"show_{name}")
    assert opened.deck.active() is view(opened, "calibration_view")


def test_next_and_previous_page_stay_within_the_tile(opened):
    pages = [page.key for page in PAGES if page.key != "best_view"]
    for name in (*pages[1:], pages[0]):
        press(opened, "next_page")
        assert opened.deck.active().objectName() == name
    press(opened, "previous_page")
    assert opened.deck.active().objectName() == pages[-1]
    show(opened, "scores_view")
    press(opened, "show_beside")
    for name in ("next_page", "previous_page"):
        assert not opened.findChild(QAction, f"action_{name}").isEnabled()


def test_first_tile_keeps_its_last_page(opened):
    for name in NAMES[1:]:
        show(opened, name)
        press(opened, "show_beside")
    show(opened, NAMES[0])
    for name in ("tear_off", "show_beside", "show_below"):
        assert not opened.findChild(QAction, f"action_{name}").isEnabled()


def test_torn_off_view_returns_to_its_place_or_closes_with_the_window(opened):
    before = held(opened, FIRST)
    show(opened, "difference_view")
    press(opened, "tear_off")
    page = view(opened, "difference_view")
    window = page.window()
    assert window is not opened
    assert window.isVisible()
    assert page.isVisible()
    assert window.windowTitle() == f"{page.title} — {opened.session.table.path.name}"
    assert held(opened, FIRST) == [name for name in before if name != "difference_view"]
    assert opened.deck.active() is page
    assert opened.findChild(QAction, "action_run") in window.actions()
    window.close()
    assert held(opened, FIRST) == before
    assert page.window() is opened
    assert opened.deck.active() is page
    assert page.isVisible()
    press(opened, "tear_off")
    torn = page.window()
    assert opened.close()
    assert not torn.isVisible()
    assert not opened.deck.windows


def test_views_are_shown_beside_and_below(opened, qtbot):
    show(opened, "difference_view")
    press(opened, "show_beside")
    assert held(opened, BESIDE) == ["difference_view"]
    roc, differences = view(opened, "roc_view"), view(opened, "difference_view")
    show(opened, "roc_view")
    qtbot.waitUntil(lambda: roc.isVisible() and differences.isVisible())
    right = differences.mapTo(opened, differences.rect().topLeft())
    assert right.x() > roc.mapTo(opened, roc.rect().topRight()).x() - 1
    show(opened, "scores_view")
    press(opened, "show_below")
    assert held(opened, BELOW) == ["scores_view"]
    show(opened, "training_view")
    press(opened, "show_beside")
    press(opened, "show_below")
    assert held(opened, CORNER) == ["training_view"]
    qtbot.waitUntil(lambda: len(list(opened.deck.visible_views())) == 4)
    beside = opened.findChild(QAction, "action_show_beside")
    assert "left" in beside.text()
    press(opened, "show_beside")
    assert set(held(opened, BELOW)) == {"scores_view", "training_view"}
    press(opened, "all_in_one")
    assert held(opened, FIRST) == NAMES
    assert not opened.findChild(QAction, "action_all_in_one").isEnabled()


def test_named_arrangement_shows_its_views_side_by_side(opened, qtbot):
    def seen():
        return {view.objectName() for view in opened.deck.visible_views()}

    for name, places in ARRANGEMENTS.items():
        show(opened, "model_view")
        press(opened, "tear_off")
        press(opened, f"arrange_{name.lower().replace(' ', '_')}")
        qtbot.waitUntil(lambda wanted=set(places): seen() == wanted)
        assert opened.deck.active().objectName() == next(iter(places))
        assert not opened.deck.windows


def test_only_visible_views_are_refreshed(opened, monkeypatch, qtbot):
    press(opened, "arrange_roc_and_difference_vectors")
    show(opened, "scores_view")
    press(opened, "tear_off")
    refreshed = []
    for page in opened.views:
        name = page.objectName()
        monkeypatch.setattr(page, "refresh_live", lambda name=name: refreshed.append(name))
    opened.session.notify({"live"})
    qtbot.waitUntil(lambda: len(refreshed) > 2)
    assert sorted(refreshed) == ["difference_view", "roc_view", "scores_view"]
    opened.session.notify({"runs"})
    assert all(page.is_stale for page in opened.views)
    qtbot.waitUntil(lambda: not any(page.is_stale for page in opened.deck.visible_views()))
    assert {page.objectName() for page in opened.views if not page.is_stale} == set(refreshed)


def test_click_makes_a_view_active(opened, qtbot):
    press(opened, "arrange_roc_and_difference_vectors")
    differences = view(opened, "difference_view")
    qtbot.waitUntil(lambda: len(list(opened.deck.visible_views())) == 2)
    opened.activateWindow()
    differences.figure().setFocus(Qt.FocusReason.MouseFocusReason)
    assert opened.deck.active() is differences
    view(opened, NAMES[0]).figure().setFocus(Qt.FocusReason.MouseFocusReason)
    assert opened.deck.active() is view(opened, NAMES[0])
    first, beside = opened.deck.tiles[:2]
    assert first.bar.property("active")
    assert not beside.bar.property("active")


# The offscreen platform warns for every menu that it cannot grab the keyboard.
@pytest.mark.qt_log_ignore("does not support", extend=True)
def test_a_tab_has_a_menu(opened):
    bar = opened.deck.tiles[0].bar
    bar.customContextMenuRequested.emit(bar.tabRect(2).center())
    menu = opened.findChild(QMenu, "view_menu")
    moved = opened.deck.active()
    assert moved is view(opened, "difference_view")
    next(a for a in menu.actions() if a.objectName() == "action_tear_off").trigger()
    menu.close()
    assert moved.window() is not opened


def test_layout_is_saved_with_the_project_without_an_undo_step(opened, tmp_path, answers):
    press(opened, "arrange_roc_and_difference_vectors")
    show(opened, "scores_view")
    press(opened, "tear_off")
    opened.deck.windows["scores_view"].setGeometry(60, 50, 660, 600)
    opened.workplace.sides.show_side("setup", False)
    opened.keep_layout()
    assert not opened.workplace.sides.setup.isVisible()
    opened.session.set_band(0.0, 0.3)
    answers.save_path = str(tmp_path / "study.aucproj")
    press(opened, "save_project")
    kept = opened.session.plan.layout
    assert kept == json.loads(json.dumps(kept))
    opened.session.undo_stack.undo()
    assert opened.session.plan.band == (0.0, 0.1)
    assert opened.session.plan.layout == kept
    opened.session.undo_stack.redo()
    opened.close()

    again = create_window(tmp_path / "study.aucproj")
    again.show()
    assert held(again, BESIDE) == ["difference_view"]
    assert not again.workplace.sides.setup.isVisible()
    left = again.workplace.sides.left
    assert left.isTabVisible(left.indexOf(again.workplace.runs_panel))
    scores = again.deck.windows["scores_view"]
    assert scores.geometry() == QRect(60, 50, 660, 600)
    assert view(again, "scores_view").isVisible()
    assert again.deck.active().objectName() == "scores_view"
    scores.close()
    assert held(again, FIRST) == [name for name in NAMES if name != "difference_view"]
    again.close()
    again.deleteLater()


def test_absent_and_invalid_layout_entries_are_ignored(opened):
    opened.deck.restore(
        {
            "tiles": {"no_view": 1, "scores_view": 9, "roc_view": "x", "feature_view": 2},
            "windows": {
                "gone_view": [1, 2, 3, 4, 0],
                "difference_view": [90_000, -70_000, 400, 300, 0],
                "training_view": "wide",
            },
            "front": ["no_view", "scores_view"],
            "active": 7,
            "sizes": [[1], "x", None],
        }
    )
    assert held(opened, BELOW) == ["feature_view"]
    torn = opened.deck.windows["difference_view"]
    assert QApplication.primaryScreen().availableGeometry().contains(torn.geometry().center())
    assert "training_view" in held(opened, FIRST)
    document = Plan().as_json()
    del document["layout"]  # as of an earlier project
    assert Plan.from_json(document).layout == {}
    opened.deck.restore({})
    assert held(opened, FIRST) == NAMES
    opened.deck.show_side_by_side(["no_view", "scores_view", "model_view"])
    assert view(opened, "scores_view").isVisible()
    assert held(opened, BESIDE) == ["model_view"]


def test_example_study_opens_its_views_side_by_side_and_trains_its_methods(window, qtbot):
    def ended(runs):
        return len(session.records) == runs and not session.busy

    session = window.session
    with qtbot.waitSignal(session.files.opened):
        window.welcome.findChild(QWidget, "welcome_example_two-gaussians").click()
    assert held(window, BESIDE) == ["difference_view"]
    for name in ("feature_view", "difference_view"):
        qtbot.waitUntil(view(window, name).isVisible)
    assert len(held(window, FIRST)) == len(NAMES) - 1
    qtbot.waitUntil(lambda: ended(2))
    assert session.plan.validation.scheme == "file"
    first, second = session.records.values()
    assert first.status == second.status == DONE
    assert np.array_equal(first.splits[0].test_rows, second.splits[0].test_rows)
    with qtbot.waitSignal(session.files.opened):
        window.open_example("two-scorers")
    assert held(window, FIRST) == NAMES
    assert window.deck.active().objectName() == "roc_view"
    qtbot.waitUntil(lambda: ended(2))
    assert [run.look.name for run in session.shown_runs()] == ["f1", "f2"]


def test_saved_experiment_names_the_views_side_by_side(
    opened, run_to_end, tmp_path, answers, qtbot
):
    run_to_end(opened)

    def saved_views(name):
        path = tmp_path / name
        answers.save_path = str(path)
        press(opened, "export_script")
        qtbot.waitUntil(path.exists)
        return read_study(path).views

    assert saved_views("one.toml") == ()
    press(opened, "arrange_roc_and_difference_vectors")
    assert saved_views("two.toml") == ("roc_view", "difference_view")


TITLES = [view.title for view in VIEWS]


@pytest.fixture
def tile(qtbot):
    make_application("light")
    made = Tile("narrow_tile", "Narrow tile")
    qtbot.addWidget(made)
    made.show_tabs(list(zip(NAMES, TITLES, strict=True)), NAMES[0])
    made.resize(1200, 200)
    with qtbot.waitExposed(made):
        made.show()
    return made


def resize(widget, width, height=200):
    widget.resize(width, height)
    QApplication.processEvents()


def cut(tile):
    """List the tabs that are narrower than their titles."""
    bar = tile.bar
    return [k for k in range(bar.count()) if bar.tabRect(k).width() < bar.tabSizeHint(k).width()]


def test_tabs_scroll_instead_of_being_cut(tile):
    resize(tile, 480)
    for place, front in enumerate(NAMES):
        tile.show_tabs(list(zip(NAMES, TITLES, strict=True)), front)
        QApplication.processEvents()
        assert cut(tile) == []
        assert any(button.isVisible() for button in tile.bar.findChildren(QToolButton))
        assert tile.bar.rect().contains(tile.bar.tabRect(place))


def test_tabs_shrink_before_they_scroll(tile):
    wide = tile.bar.sizeHint().width()
    for width, closer in ((wide + 8, False), (wide - 20, True), (wide + 8, False)):
        resize(tile, width)
        assert bool(tile.bar.property("closer")) == closer
        assert cut(tile) == []
    assert tile.bar.sizeHint().width() == wide
    resize(tile, 480)
    tile.show_tabs(list(zip(NAMES[:3], TITLES[:3], strict=True)), NAMES[0])
    assert not tile.bar.property("closer")


def test_hidden_view_does_not_affect_the_minimum_size(tile):
    tall, low = QLabel("tall"), QLabel("low")
    tall.setMinimumHeight(700)
    for view in (tall, low):
        tile.hold(view)
    tile.show_front(low)
    assert tile.minimumSizeHint().height() < 200
    tile.show_front(tall)
    assert tile.minimumSizeHint().height() >= 700


def test_click_on_a_scrolled_tab_selects_it_without_moving_tabs(tile):
    chosen, last = [], NAMES[-1]
    tile.chosen.connect(chosen.append)
    tile.show_tabs(list(zip(NAMES, TITLES, strict=True)), last)
    resize(tile, 480)
    place = tile.bar.count() - 2
    at = tile.bar.tabRect(place).center()
    QTest.mouseClick(tile.bar, Qt.MouseButton.LeftButton, pos=QPoint(at))
    assert chosen == [NAMES[place]]
    assert tile.bar.tabAt(at) == place


def test_pictures_of_four_views_keep_their_height(opened, qtbot):
    deck = opened.deck
    opened.resize(1600, 700)
    press(opened, "arrange_four_views")
    qtbot.waitUntil(lambda: len(list(deck.visible_views())) == 4)
    area = deck.findChild(QScrollArea, "deck_area")
    for width, columns in ((1600, 2), (1000, 1)):
        opened.resize(width, 700)
        views = list(deck.visible_views())
        qtbot.waitUntil(
            lambda wanted=columns, views=views: (
                len({one.mapTo(deck.across, QPoint()).x() for one in views}) == wanted
                and all(one.body.geometry().height() > 150 for one in views)
            )
        )
        assert area.verticalScrollBar().maximum() > 0
        press(opened, "show_training_view")
        qtbot.waitUntil(lambda: not view(opened, "training_view").visibleRegion().isEmpty())
        assert opened.height() == 700


def test_widths_of_tiles_return_with_a_wide_window(opened, qtbot):
    opened.resize(1700, 900)
    press(opened, "arrange_roc_and_difference_vectors")
    opened.deck.across.setSizes([500, 300])
    QApplication.processEvents()
    before = opened.deck.across.sizes()
    opened.resize(1000, 900)
    qtbot.waitUntil(lambda: opened.deck.across.orientation() == Qt.Orientation.Vertical)
    opened.resize(1700, 900)
    qtbot.waitUntil(lambda: opened.deck.across.sizes() == before)
