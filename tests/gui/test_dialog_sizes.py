"""Dialogs on a small screen with large text: they fit, and their buttons are visible."""

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QPushButton, QWidget

from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.dialogs.export_figure import ExportFigureDialog
from aucstudio.gui.dialogs.help import HelpDialog
from aucstudio.gui.dialogs.importing import ImportPreview
from aucstudio.gui.dialogs.method_chooser import MethodChooser
from aucstudio.gui.dialogs.run_dialogs import ClusterDialog, FindBestDialog
from tests.gui.conftest import make_record, put
from tests.gui.fitting import cut_controls
from tests.gui.test_dialog_keys import KINDS, OTHERS, make

ROOM = QSize(1000, 652)  # a screen of 1024 × 700 without the frame of a window


@pytest.fixture(params=[100, 200])
def show(request, table_session, qtbot, monkeypatch, apply_style):
    monkeypatch.setattr(Dialog, "room", lambda _self: ROOM)
    apply_style(percent=request.param)
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(ROOM)
    put(table_session, make_record(table_session.table))
    made = []

    def show(kind):
        if kind is MethodChooser:
            dialog = kind("logistic", {}, {"logistic": "Fast"}, (), True, parent)
        else:
            dialog = make(kind, table_session, parent)
        made.append(dialog)
        with qtbot.waitExposed(dialog):
            dialog.open()
        if kind is ImportPreview:
            qtbot.waitUntil(lambda: not dialog.busy)
        for _ in range(4):
            QApplication.processEvents()
        return dialog

    yield show
    for dialog in made:
        dialog.reject()


@pytest.mark.parametrize("kind", [*KINDS, *OTHERS, MethodChooser])
def test_a_dialog_fits_a_small_screen_and_shows_its_buttons(show, kind):
    dialog = show(kind)
    assert dialog.width() <= ROOM.width()
    assert dialog.height() <= ROOM.height()
    # It scrolls only where the screen has no more room.
    assert dialog.area.verticalScrollBar().maximum() == 0 or dialog.height() == ROOM.height()
    boxes = dialog.findChildren(QDialogButtonBox)
    buttons = [one for box in boxes for one in box.findChildren(QPushButton)]
    if kind is MethodChooser:
        buttons = [dialog.run, dialog.tune, dialog.close_button, dialog.choose]
    assert buttons
    for button in buttons:
        place = QRect(button.mapTo(dialog, button.rect().topLeft()), button.size())
        assert dialog.rect().contains(place), button.objectName()
    if kind not in (ExportFigureDialog, ImportPreview):  # a table scrolls its fields
        assert cut_controls(dialog) == []


def test_method_chooser_is_readable_with_large_text(show):
    dialog = show(MethodChooser)
    header = dialog.tree.header()
    assert dialog.tree.sizeHintForColumn(0) <= header.sectionSize(0)
    assert dialog.search.width() > dialog.width() / 2
    tree = dialog.tree
    places = [tree.visualItemRect(row) for row in dialog.rows]
    seen = [
        place for place in places if 0 <= place.top() < place.bottom() <= tree.viewport().height()
    ]
    assert len(seen) >= 4
    assert tree.mapTo(dialog.area, tree.rect().bottomLeft()).y() <= dialog.area.height()


@pytest.mark.parametrize("show", [100], indirect=True)
def test_dialogs_need_no_horizontal_scrolling_at_normal_text_size(show):
    assert show(MethodChooser).tree.horizontalScrollBar().maximum() == 0
    guide = show(HelpDialog).browser
    assert guide.document().size().width() <= guide.viewport().width()


@pytest.mark.parametrize("kind", [ClusterDialog, FindBestDialog])
@pytest.mark.parametrize("show", [100], indirect=True)
def test_dialog_height_fits_its_texts(show, kind):
    area = show(kind).area
    assert area.height() == area.widget().height()
    assert area.height() == area.widget().heightForWidth(area.width())


def test_disabled_choose_button_shows_its_reason(show):
    dialog = show(MethodChooser)
    assert not dialog.choose.toolTip()
    dialog.rows[-1].setCheckState(0, Qt.CheckState.Checked)
    assert dialog.choose.toolTip()
    assert not dialog.choose.isEnabled()
