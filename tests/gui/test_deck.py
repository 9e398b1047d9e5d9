"""The deck of views: torn off, tiled and restored by the window's own actions."""

import json

import pytest
from PySide6.QtCore import QByteArray, QMimeData, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QTabWidget, QWidget

from aucstudio.gui.app import create_window
from aucstudio.gui.desk.actions import ARRANGEMENTS, PAGES
from aucstudio.gui.state.plan import Plan
from aucstudio.project.runs.experiment_file import read_study
from tests.gui.conftest import PATIENCE

# Each test makes a window of its own.
pytestmark = pytest.mark.slow


@pytest.fixture
def opened(window, table_file):
    window.open_now(table_file)
    return window


def press(window, name):
    action = window.findChild(QAction, f"action_{name}")
    assert action.isEnabled(), name
    action.trigger()


def view(window, name):
    return next(view for view in window.views if view.objectName() == name)


def tabs(window, name):
    tile = window.findChild(QTabWidget, name)
    return [tile.widget(k).objectName() for k in range(tile.count())]


def show(window, name):
    window.deck.show_view(view(window, name))


ORDER = "view_tabs"


def test_all_views_are_tabs_of_one_row_at_first(opened):
    assert tabs(opened, ORDER) == [v.objectName() for v in opened.views]
    assert opened.findChild(QTabWidget, "view_tabs_beside").isHidden()
    assert opened.deck.active() is opened.views[0]
    opened.deck.tiles[0].setCurrentIndex(3)
    assert opened.deck.active() is opened.views[3]


def test_the_views_of_a_page_share_a_tab_and_are_switched_in_it(opened, qtbot):
    tile = opened.deck.tiles[0]
    shown = [tile.tabText(k) for k in range(tile.count()) if tile.isTabVisible(k)]
    assert shown == [page.title for page in PAGES if page.title != "Best"]
    show(opened, "difference_view")
    switch = opened.findChild(QPushButton, "difference_view_switch_feature_view")
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert opened.deck.active() is view(opened, "feature_view")
    assert tile.tabText(tile.currentIndex()) == "Pairs"
    press(opened, "show_beside")
    beside = opened.findChild(QTabWidget, "view_tabs_beside")
    assert beside.tabText(0) == "Feature space"
    assert not opened.findChild(QWidget, "feature_view_switch").isVisible()


@pytest.mark.parametrize("page", [page for page in PAGES if page.title != "Best"])
def test_the_key_of_a_page_shows_its_views_in_turn(opened, page):
    press(opened, "show_model_view" if page.key == "roc_view" else "show_roc_view")
    for name in (*[one.name for one in page.views], page.key):
        press(opened, f"show_{page.key}")
        assert opened.deck.active().objectName() == name
        assert len(opened.deck.tiles[0].tabs()) == len(PAGES) - 1


def test_a_page_comes_back_with_the_view_that_was_seen_last(opened):
    for name in ("calibration_view", "roc_view", "scores_view"):
        press(opened, f"show_{name}")
    assert opened.deck.active() is view(opened, "calibration_view")


def test_best_has_a_tab_once_something_was_found(opened):
    best = opened.deck.tiles[0].indexOf(view(opened, "best_view"))
    assert not opened.deck.tiles[0].isTabVisible(best)
    press(opened, "show_best_view")
    assert opened.deck.tiles[0].isTabVisible(best)
    press(opened, "show_roc_view")
    assert not opened.deck.tiles[0].isTabVisible(best)


def test_a_view_is_torn_off_and_comes_back_to_its_place(opened):
    before = tabs(opened, ORDER)
    show(opened, "difference_view")
    press(opened, "tear_off")
    page = view(opened, "difference_view")
    window = page.window()
    assert window is not opened
    assert window.isVisible()
    assert page.isVisible()
    assert window.windowTitle() == f"{page.title} — {opened.session.table.path.name}"
    assert tabs(opened, ORDER) == [name for name in before if name != "difference_view"]
    assert opened.deck.active() is page
    assert opened.findChild(QAction, "action_run") in window.actions()
    window.close()
    assert tabs(opened, ORDER) == before
    assert page.window() is opened
    assert opened.deck.tiles[0].currentWidget() is page


def test_views_are_shown_beside_and_below(opened):
    show(opened, "difference_view")
    press(opened, "show_beside")
    assert tabs(opened, "view_tabs_beside") == ["difference_view"]
    roc, differences = opened.views[0], view(opened, "difference_view")
    show(opened, "roc_view")
    assert roc.isVisible()
    assert differences.isVisible()
    right = differences.mapTo(opened, differences.rect().topLeft())
    assert right.x() > roc.mapTo(opened, roc.rect().topRight()).x() - 1
    show(opened, "scores_view")
    press(opened, "show_below")
    assert tabs(opened, "view_tabs_below") == ["scores_view"]
    show(opened, "training_view")
    press(opened, "show_beside")
    press(opened, "show_below")
    assert tabs(opened, "view_tabs_corner") == ["training_view"]
    assert len(list(opened.deck.visible_views())) == 4
    beside = opened.findChild(QAction, "action_show_beside")
    assert "left" in beside.text()
    press(opened, "show_beside")
    assert set(tabs(opened, "view_tabs_below")) == {"scores_view", "training_view"}
    press(opened, "all_in_one")
    assert tabs(opened, ORDER) == [v.objectName() for v in opened.views]
    assert not opened.findChild(QAction, "action_all_in_one").isEnabled()


def test_pages_are_turned_within_their_tile(opened):
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


def test_the_first_tile_keeps_a_page(opened):
    for page in opened.views[1:]:
        opened.deck.show_view(page)
        press(opened, "show_beside")
    opened.deck.show_view(opened.views[0])
    for name in ("tear_off", "show_beside", "show_below"):
        assert not opened.findChild(QAction, f"action_{name}").isEnabled()


@pytest.mark.parametrize("name", list(ARRANGEMENTS))
def test_a_named_arrangement_shows_its_views_at_once(opened, name):
    show(opened, "scores_view")
    press(opened, "tear_off")
    press(opened, f"arrange_{name.lower().replace(' ', '_')}")
    seen = {v.objectName() for v in opened.deck.visible_views()}
    assert seen == set(ARRANGEMENTS[name])
    assert not opened.deck.windows


def test_every_view_that_is_seen_is_refreshed_and_no_other(opened, monkeypatch, qtbot):
    press(opened, "arrange_roc_and_difference_vectors")
    show(opened, "scores_view")
    press(opened, "tear_off")
    heard = []
    for page in opened.views:
        name = page.objectName()
        monkeypatch.setattr(page, "refresh_live", lambda name=name: heard.append(name))
    opened.session.notify({"live"})
    qtbot.waitUntil(lambda: len(heard) > 2)
    assert sorted(heard) == ["difference_view", "roc_view", "scores_view"]
    opened.session.notify({"runs"})
    assert all(page._stale for page in opened.views)
    qtbot.waitUntil(lambda: not any(page._stale for page in opened.deck.visible_views()))
    assert {page.objectName() for page in opened.views if not page._stale} == set(heard)


def test_the_view_that_was_clicked_into_is_the_one_that_is_saved(opened):
    press(opened, "arrange_roc_and_difference_vectors")
    differences = view(opened, "difference_view")
    opened.activateWindow()
    differences.figure().setFocus(Qt.FocusReason.MouseFocusReason)
    assert opened.deck.active() is differences
    opened.views[0].figure().setFocus(Qt.FocusReason.MouseFocusReason)
    assert opened.deck.active() is opened.views[0]
    assert opened.deck.tiles[0].bar.property("active")
    assert not opened.findChild(QTabWidget, "view_tabs_beside").bar.property("active")


def test_a_tab_dropped_on_a_tile_moves_there(opened):
    press(opened, "arrange_roc_and_difference_vectors")
    data = QMimeData()
    data.setData("application/x-aucstudio-view", QByteArray(b"scores_view"))
    place, buttons = QPoint(9, 9), (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    tile = opened.findChild(QTabWidget, "view_tabs_beside")
    enter = QDragEnterEvent(place, Qt.DropAction.MoveAction, data, *buttons)
    drop = QDropEvent(QPointF(place), Qt.DropAction.MoveAction, data, *buttons)
    for event in (enter, drop):
        QApplication.sendEvent(tile, event)
        assert event.isAccepted()
    assert tabs(opened, "view_tabs_beside") == ["difference_view", "scores_view"]


# The offscreen platform says of every menu that it cannot take the keyboard.
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


def test_the_layout_is_saved_with_the_project_and_is_no_edit(opened, tmp_path, answers):
    press(opened, "arrange_roc_and_difference_vectors")
    show(opened, "scores_view")
    press(opened, "tear_off")
    opened.deck.windows["scores_view"].setGeometry(60, 50, 660, 600)
    press(opened, "show_setup")
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
    assert tabs(again, "view_tabs_beside") == ["difference_view"]
    assert not again.workplace.sides.setup.isVisible()
    left = again.workplace.sides.left
    assert left.isTabVisible(left.indexOf(again.workplace.runs_panel))
    scores = again.deck.windows["scores_view"]
    assert scores.geometry() == QRect(60, 50, 660, 600)
    assert view(again, "scores_view").isVisible()
    assert again.deck.active().objectName() == "scores_view"
    scores.close()
    order = [page.objectName() for page in again.views if page.objectName() != "difference_view"]
    assert tabs(again, ORDER) == order
    again.close()
    again.deleteLater()


def test_a_project_of_an_older_program_opens_with_all_in_one(opened):
    document = Plan().as_json()
    del document["layout"]
    assert Plan.from_json(document).layout == {}
    press(opened, "arrange_four_views")
    opened.deck.restore({})
    assert tabs(opened, ORDER) == [v.objectName() for v in opened.views]


def test_a_layout_that_is_not_understood_does_no_harm(opened):
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
    assert tabs(opened, "view_tabs_below") == ["feature_view"]
    torn = opened.deck.windows["difference_view"]
    assert QApplication.primaryScreen().availableGeometry().contains(torn.geometry().center())
    assert "training_view" in tabs(opened, ORDER)


def test_closing_the_window_closes_what_is_torn_off(opened):
    press(opened, "tear_off")
    torn = opened.views[0].window()
    assert opened.close()
    assert not torn.isVisible()
    assert not opened.deck.windows


def test_an_experiment_file_says_which_views_are_side_by_side(window, qtbot):
    def is_done():
        return not window.session.busy

    with qtbot.waitSignal(window.session.files.opened, timeout=30_000):
        window.open_example("two-gaussians")
    assert tabs(window, "view_tabs_beside") == ["difference_view"]
    assert view(window, "feature_view").isVisible()
    assert view(window, "difference_view").isVisible()
    assert len(tabs(window, ORDER)) == len(window.views) - 1
    qtbot.waitUntil(is_done, timeout=30_000)
    with qtbot.waitSignal(window.session.files.opened, timeout=30_000):
        window.open_example("two-scorers")
    assert tabs(window, ORDER) == [v.objectName() for v in window.views]
    assert window.deck.active().objectName() == "roc_view"
    qtbot.waitUntil(is_done, timeout=30_000)


def test_views_of_an_experiment_that_are_unknown_are_passed_over(opened):
    opened.deck.show_side_by_side(["no_view", "scores_view", "model_view"])
    assert view(opened, "scores_view").isVisible()
    assert tabs(opened, "view_tabs_beside") == ["model_view"]


def test_an_experiment_is_saved_with_the_views_that_are_side_by_side(
    opened, run_to_end, tmp_path, answers, qtbot
):
    run_to_end(opened)

    def saved_views(name):
        path = tmp_path / name
        answers.save_path = str(path)
        press(opened, "export_script")
        qtbot.waitUntil(path.exists, timeout=PATIENCE)
        return read_study(path).views

    assert saved_views("one.toml") == ()
    press(opened, "arrange_roc_and_difference_vectors")
    assert saved_views("two.toml") == ("roc_view", "difference_view")
