"""Names that are typed into a save dialog: endings are added, and nothing is replaced unasked."""

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QLabel, QWidget

from aucstudio.gui.common import prompts
from aucstudio.gui.dialogs.export_model import ExportModelDialog
from aucstudio.project.errors import InputError
from aucstudio.project.store.model_file import load_model
from aucstudio.project.store.project.project_file import ProjectFile
from tests.gui.conftest import PATIENCE, make_record, put

ask_save_path = prompts.ask_save_path  # the one of the program: tests answer in its place
PICTURES = "PDF (*.pdf);;SVG (*.svg)"


@pytest.mark.parametrize(
    ("typed", "chosen", "saved"),
    [
        ("one", "SVG (*.svg)", "one.svg"),
        ("one.v2", "", "one.v2.pdf"),
        ("one.SVG", "PDF (*.pdf)", "one.SVG"),
        (".hidden", "PDF (*.pdf)", ".hidden.pdf"),
    ],
)
def test_a_name_gets_the_ending_of_the_format_chosen_beside_it(
    monkeypatch, tmp_path, typed, chosen, saved
):
    told = str(tmp_path / typed), chosen
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: told)
    assert ask_save_path(None, "Save", "a.pdf", PICTURES) == str(tmp_path / saved)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    assert ask_save_path(None, "Save", "a.pdf", PICTURES) is None


def test_a_name_that_is_there_with_its_ending_is_asked_for_again(monkeypatch, tmp_path):
    there, asked = tmp_path / "one.svg", []
    there.write_text("older")

    def answer(_parent, _title, suggested, _filters, chosen):
        asked.append((suggested, chosen))
        return str(tmp_path / "one") if len(asked) == 1 else suggested, "SVG (*.svg)"

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    assert ask_save_path(None, "Save", "a.pdf", PICTURES) == str(there)
    assert asked[1] == (str(there), "SVG (*.svg)")  # and Qt's dialog asks about that name


@pytest.mark.parametrize(
    ("typed", "saved"),
    [
        ("study", "study.aucproj"),
        ("study.v2", "study.v2.aucproj"),
        ("study.aucproj", "study.aucproj"),
        ("STUDY.AUCPROJ", "STUDY.AUCPROJ"),
        (".hidden", ".hidden.aucproj"),
    ],
)
def test_the_ending_is_added_never_put_in_place_of_another(tmp_path, typed, saved):
    assert prompts.with_ending(str(tmp_path / typed), ".aucproj") == tmp_path / saved


def test_a_name_the_dialog_asked_about_may_be_replaced(tmp_path):
    path = tmp_path / "study.aucproj"
    path.write_text("older")
    assert prompts.with_ending(str(path), ".aucproj") == path
    with pytest.raises(InputError, match=r"study\.aucproj exists already, and nothing was saved"):
        prompts.with_ending(str(tmp_path / "study"), ".aucproj")


@pytest.mark.slow
def test_save_as_never_replaces_a_project_unasked(window, table_file, answers, tmp_path, qtbot):
    window.open_data(table_file)
    save_as = window.findChild(QAction, "action_save_project_as")
    other = tmp_path / "study.aucproj"
    ProjectFile.create(other).set_plan({"name": "another study"})
    before = other.read_bytes()
    answers.save_path = str(tmp_path / "study.v2")
    save_as.trigger()
    qtbot.waitUntil(lambda: not window.session.busy, timeout=PATIENCE)
    assert window.session.project.path == tmp_path / "study.v2.aucproj"
    answers.save_path = str(tmp_path / "study")
    save_as.trigger()
    qtbot.waitUntil(lambda: len(answers.errors) == 1, timeout=PATIENCE)
    assert "study.aucproj exists already" in answers.errors[0]
    assert window.session.project.path == tmp_path / "study.v2.aucproj"
    assert other.read_bytes() == before


def test_a_model_never_replaces_another_unasked(table_session, answers, tmp_path, qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    put(table_session, make_record(table_session.table))
    other = tmp_path / "model.aucmodel"
    other.write_text("another model")

    def save_as(typed):
        run = table_session.run(table_session.selected)
        dialog = ExportModelDialog(table_session, run, parent)
        answers.save_path = str(tmp_path / typed)
        button = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
        qtbot.waitUntil(button.isEnabled)  # the format is checked first
        button.click()
        return dialog.findChild(QLabel, "export_words").text()

    assert save_as("model.v2") == ""
    assert load_model(tmp_path / "model.v2.aucmodel").method == "auc-rls"
    assert "model.aucmodel exists already" in save_as("model")
    assert other.read_text() == "another model"
