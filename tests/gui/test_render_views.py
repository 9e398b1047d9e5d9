"""The script that paints every page, dialog and menu, and its overview page."""

import importlib.util
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QDialog, QWidget

from aucstudio.gui.common.plots import rate_axes as axes
from aucstudio.gui.pages.roc.lines import FACES

PATH = Path(__file__).parents[2] / "packaging" / "render_views.py"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(PATH.parent)
    spec = importlib.util.spec_from_file_location("render_views", PATH)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_every_page_curve_and_axis_kind_is_painted(script, window, table_file):
    window.open_now(table_file)
    scenes = script.window_scenes(window)
    expected = {f"page {view.title}" for view in window.views}
    expected |= {f"roc {key}" for key in FACES} | {f"roc {kind} axes" for kind in axes.KINDS}
    assert expected <= set(scenes)
    for name in ("page Scores", "roc gain", "roc all layers", "four views"):
        assert scenes[name]() is window
    assert window.deck.view("roc_view").layers.point.enabled
    assert window.deck.place("best_view") is not None


def test_dialogs_and_menus_are_painted(script, window, table_file, run_to_end):
    window.open_now(table_file)
    run_to_end(window)
    scenes = script.dialog_scenes(window)
    menus = [action.text().replace("&", "").lower() for action in window.menuBar().actions()]
    assert {f"menu {name}" for name in menus} <= set(scenes)
    for name, scene in scenes.items():
        widget = scene()
        assert isinstance(widget, QWidget)
        if name.startswith("dialog"):
            assert isinstance(widget, QDialog)
            widget.deleteLater()


def test_the_page_shows_every_picture_once(script, tmp_path):
    names = ["page-roc-1-light-1440.png", "page-roc-2-dark-1000.png", "menu-file-1-light-1440.png"]
    for name in names:
        QImage(2, 2, QImage.Format.Format_RGB32).save(str(tmp_path / name))
    page = script.write_index(tmp_path).read_text(encoding="utf-8")
    for name in names:
        assert page.count(f'src="{name}"') == 1
    assert page.count("<tr><th>") == 3  # the head, and a row for each scene
