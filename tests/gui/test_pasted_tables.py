"""Open tables from the clipboard and in every offered format."""

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from aucstudio.gui.common import prompts
from aucstudio.project.store.workspace import home
from tests.gui.conftest import save_as

FORMATS = Path(__file__).parents[1] / "project" / "fixtures" / "formats"


@pytest.fixture
def clipboard():
    found = QGuiApplication.clipboard()
    yield found
    found.clear()


def test_pasted_table_is_saved_and_can_be_reopened(window, qtbot, clipboard, table_file):
    clipboard.setText(table_file.read_text(encoding="utf-8").replace(",", "\t"))
    with qtbot.waitSignal(window.session.files.opened):
        window.actions_.paste_table.trigger()
    table = window.session.table
    assert table.rows == 160
    assert table.path.parent == home() / "pasted"
    assert any("kept as pasted-" in note for note in table.notes)
    project = home() / "study.aucproj"
    save_as(window.session, project)
    window.open_now(project)
    assert window.session.table.rows == 160


def test_pasting_an_empty_clipboard_is_reported(window, qtbot, clipboard, answers):
    clipboard.clear()
    before = window.session.table
    with qtbot.waitSignal(window.session.files.opener.refused):
        window.actions_.paste_table.trigger()
    assert window.session.table is before


@pytest.mark.parametrize("ending", [".xls", ".sav"])
def test_every_format_of_the_open_dialog_is_opened(window, qtbot, answers, ending):
    assert f"*{ending}" in prompts.TABLES
    answers.open_path = str(FORMATS / f"cases{ending}")
    with qtbot.waitSignal(window.session.files.opened):
        window.actions_.open_data.trigger()
    assert window.session.table.rows == 60
    assert window.session.table.label == "y"
