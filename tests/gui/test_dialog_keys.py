"""Dialogs by keyboard and screen reader: Enter, Tab and the names of controls."""

from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QButtonGroup,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from aucstudio.gui.common.buttons import Radio
from aucstudio.gui.common.layouts import down
from aucstudio.gui.dialogs.classes import ClassesDialog
from aucstudio.gui.dialogs.export_figure import ExportFigureDialog
from aucstudio.gui.dialogs.export_model import ExportModelDialog
from aucstudio.gui.dialogs.help import HelpDialog
from aucstudio.gui.dialogs.importing import ImportPreview
from aucstudio.gui.dialogs.preferences import PreferencesDialog
from aucstudio.gui.dialogs.run_dialogs import ClusterDialog, FindBestDialog, GivenScoresDialog
from aucstudio.gui.dialogs.scoring import ScoreTableDialog
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.state.preferences import preferences
from tests.gui.conftest import make_record, put
from tests.gui.fitting import unnamed_controls
from tests.gui.test_accelerators import letter


def test_tab_goes_to_the_chosen_one_of_a_group(qtbot):
    page = QWidget()
    group = QButtonGroup(page)
    qtbot.addWidget(page)
    before, *choices = QLineEdit(), Radio("one"), Radio("two"), Radio("three")
    for choice in choices:
        group.addButton(choice)
    page.setLayout(down(before, *choices))
    choices[1].setChecked(True)
    with qtbot.waitActive(page):
        page.show()
    before.setFocus()
    qtbot.keyClick(before, Qt.Key.Key_Tab)
    assert page.focusWidget() is choices[1]


KINDS = (
    ClusterDialog,
    ExportModelDialog,
    FindBestDialog,
    GivenScoresDialog,
    ImportPreview,
    ScoreTableDialog,
)


OTHERS = (ClassesDialog, ExportFigureDialog, HelpDialog, PreferencesDialog)


def _roc(session, parent):
    view = RocView(session)
    view.setParent(parent)
    return view


def make(kind, session, parent):
    table = session.table
    others = {
        ClassesDialog: lambda: ClassesDialog(table, table.column(table.label), parent),
        ExportFigureDialog: lambda: ExportFigureDialog(session, _roc(session, parent), parent),
        HelpDialog: lambda: HelpDialog(parent, "manual"),
        PreferencesDialog: lambda: PreferencesDialog(preferences(), parent),
    }
    if kind in others:
        return others[kind]()
    if kind is ImportPreview:
        return kind(session, session.table.path, None, parent)
    if kind in (ExportModelDialog, ScoreTableDialog):
        return kind(session, session.run(session.selected), parent)
    return kind(session, parent)


@pytest.fixture
def show(table_session, qtbot):
    """Show a dialog with all its buttons enabled."""
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
            qtbot.waitUntil(lambda: not dialog.busy)
        for button in dialog.findChildren(QPushButton):
            button.setEnabled(True)
        return dialog

    yield show
    for dialog in made:
        dialog.reject()


def visited(dialog):
    """Press Tab until the focus returns; return the widgets visited."""
    found = []
    while (field := dialog.focusWidget()) not in found:
        found.append(field)
        dialog.focusNextPrevChild(True)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_default_button_is_the_accented_one_and_tab_reaches_all(show, kind):
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


def takes_focus(field):
    if field is None or isinstance(field, QAbstractButton):  # which has a letter of its own
        return False
    return field.focusProxy() is not None or field.focusPolicy() != Qt.FocusPolicy.NoFocus


@pytest.mark.parametrize("kind", [*KINDS, *OTHERS])
def test_every_control_has_a_name_and_every_field_a_mnemonic_of_its_own(show, kind):
    dialog = show(kind)
    assert unnamed_controls(dialog) == []
    labels = [one for one in dialog.findChildren(QLabel) if one.text() and takes_focus(one.buddy())]
    titles = {one.text() for one in labels}
    fields = {one.buddy() for one in labels if one.text() in titles}
    assert [one for one in titles if not letter(one)] == []
    buttons = [one for one in dialog.findChildren(QAbstractButton) if one not in fields]
    letters = [letter(words) for words in [*titles, *(one.text() for one in buttons)]]
    assert {key: n for key, n in Counter(letters).items() if key and n > 1} == {}


@pytest.mark.parametrize("kind", [ExportModelDialog, ScoreTableDialog])
def test_letter_of_the_threshold_moves_the_focus_to_its_rule(show, kind, qtbot):
    dialog = show(kind)
    assert dialog.focusWidget() is not dialog.findChild(QWidget, "model_threshold_rule")
    qtbot.keyClick(dialog, Qt.Key.Key_T, Qt.KeyboardModifier.AltModifier)
    assert dialog.focusWidget() is dialog.findChild(QWidget, "model_threshold_rule")
