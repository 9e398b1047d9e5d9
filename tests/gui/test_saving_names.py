"""Names typed into a save dialog: extensions are added, and overwriting is confirmed."""

import pytest
from PySide6.QtWidgets import QFileDialog

from aucstudio.gui.common import prompts

ask_save_path = prompts.ask_save_path  # the real function, which the ``answers`` fixture replaces
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
def test_file_name_gets_the_extension_of_the_chosen_format(
    monkeypatch, tmp_path, typed, chosen, saved
):
    answer = str(tmp_path / typed), chosen
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    assert ask_save_path(None, "Save", "a.pdf", PICTURES) == str(tmp_path / saved)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    assert ask_save_path(None, "Save", "a.pdf", PICTURES) is None


def test_existing_file_with_the_added_extension_is_confirmed(monkeypatch, tmp_path):
    there, asked = tmp_path / "one.svg", []
    there.write_text("older")

    def answer(_parent, _title, suggested, _filters, chosen):
        asked.append((suggested, chosen))
        return str(tmp_path / "one") if len(asked) == 1 else suggested, "SVG (*.svg)"

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    assert ask_save_path(None, "Save", "a.pdf", PICTURES) == str(there)
    assert asked[1] == (str(there), "SVG (*.svg)")  # and Qt's dialog asks about that name
