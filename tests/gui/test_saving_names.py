"""File dialogs: extensions are added, overwriting is confirmed, and errors meanwhile reported."""

import sys

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QTabWidget

from aucstudio.gui.common import prompts
from tests.conftest import write_file
from tests.gui.file_dialogs import Typist

ask_save_file = prompts.ask_save_file  # the real function, which the ``answers`` fixture replaces


def ask_save_path(*arguments):
    return ask_save_file(*arguments)[0]


PICTURES = "PDF (*.pdf);;SVG (*.svg)"


@pytest.fixture
def desk(qtbot, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = QTabWidget()
    qtbot.addWidget(shown)
    shown.show()
    return shown


@pytest.mark.parametrize(
    ("typed", "chosen", "saved"),
    [
        ("one", "SVG (*.svg)", "one.svg"),
        ("one.v2", "", "one.v2.pdf"),
        ("one.SVG", "PDF (*.pdf)", "one.SVG"),
        (".hidden", "PDF (*.pdf)", ".hidden.pdf"),
    ],
)
def test_file_name_gets_the_extension_of_the_chosen_format(desk, tmp_path, typed, chosen, saved):
    Typist(desk, (str(tmp_path / typed), chosen), ("", ""))
    assert ask_save_path(desk, "Save", "a.pdf", PICTURES) == str(tmp_path / saved)
    assert ask_save_path(desk, "Save", "a.pdf", PICTURES) is None


def test_existing_file_with_the_added_extension_is_confirmed(desk, tmp_path):
    there = write_file(tmp_path / "one.svg", "older")
    typist = Typist(desk, (str(tmp_path / "one"), "SVG (*.svg)"), (None, ""))
    assert ask_save_path(desk, "Save", "a.pdf", PICTURES) == str(there)
    assert typist.asked[1] == (str(there), "SVG (*.svg)")  # and Qt's dialog asks about that name


def test_error_while_a_file_dialog_is_open_is_reported_once(qtbot, tmp_path, monkeypatch):
    class Faulty(QTabWidget):
        is_faulty = False

        def paintEvent(self, event):
            self.count()
            if self.is_faulty:
                self.is_faulty = False
                raise LookupError("a fault of this page")

    desk, found = Faulty(), []
    qtbot.addWidget(desk)
    desk.show()
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: found.append(str(error)))

    def fail():
        desk.is_faulty = True
        for wait in range(0, 50, 10):
            QTimer.singleShot(wait, desk, desk.update)
        QTimer.singleShot(100, desk, lambda: Typist(desk, (str(tmp_path / "one.pdf"), "")))

    QTimer.singleShot(50, desk, fail)
    assert ask_save_path(desk, "Save", "a.pdf", PICTURES) == str(tmp_path / "one.pdf")
    assert found == ["a fault of this page"]
