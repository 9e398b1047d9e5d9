"""What the keyboard finds in a dialog: Enter does what it is for, and Tab leaves nothing out."""

import pytest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from aucstudio.gui.dialogs.cluster import ClusterDialog
from aucstudio.gui.dialogs.export_model import ExportModelDialog
from aucstudio.gui.dialogs.find_best import FindBestDialog
from aucstudio.gui.dialogs.given_scores import GivenScoresDialog
from aucstudio.gui.dialogs.importing.preview import ImportPreview
from aucstudio.gui.dialogs.scoring.dialog import ScoreTableDialog
from tests.gui.conftest import PATIENCE, make_record, put

KINDS = (
    ClusterDialog,
    ExportModelDialog,
    FindBestDialog,
    GivenScoresDialog,
    ImportPreview,
    ScoreTableDialog,
)


def make(kind, session, parent):
    if kind is ImportPreview:
        return kind(session, session.table.path, None, parent)
    if kind in (ExportModelDialog, ScoreTableDialog):
        return kind(session, session.run(session.selected), parent)
    return kind(session, parent)


@pytest.fixture
def show(table_session, qtbot):
    """Show a dialog; its buttons can all be pressed, as in some state or other."""
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(1240, 840)
    put(table_session, make_record(table_session.table))
    made = []

    def show(kind):
        dialog = make(kind, table_session, parent)
        made.append(dialog)
        with qtbot.waitExposed(dialog):
            dialog.open()
        if kind is ImportPreview:
            qtbot.waitUntil(lambda: not dialog.busy, timeout=PATIENCE)
        for button in dialog.findChildren(QPushButton):
            button.setEnabled(True)
        return dialog

    yield show
    for dialog in made:
        dialog.reject()


def visited(dialog):
    """Press Tab until it comes round; give where the keyboard was."""
    found = []
    while (field := dialog.focusWidget()) not in found:
        found.append(field)
        dialog.focusNextPrevChild(True)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_enter_presses_the_button_that_is_dressed_so_and_tab_reaches_every_one(show, kind):
    dialog = show(kind)
    assert dialog.focusWidget() is not None
    buttons = [one for one in dialog.findChildren(QPushButton) if one.isVisibleTo(dialog)]
    found = visited(dialog)
    assert {one.objectName() for one in buttons} <= {one.objectName() for one in found}
    (first,) = [one for one in buttons if one.property("primary")]
    field = next(one for one in found if not isinstance(one, QPushButton))
    field.setFocus()
    QApplication.processEvents()
    assert [one.objectName() for one in buttons if one.isDefault()] == [first.objectName()]
    assert not isinstance(visited(dialog)[0], QPushButton)
