"""Combo boxes of column names, for any number of columns."""

import pytest
from PySide6.QtWidgets import QComboBox

from aucstudio.gui.common.controls import fill_names
from aucstudio.gui.common.widgets import ElidedCombo


@pytest.fixture
def combo(qtbot):
    made = QComboBox()
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    qtbot.addWidget(made)
    return made


def test_choice_is_kept_if_the_names_change(combo):
    fill_names(combo, ["a", "b", "c"])
    combo.setCurrentText("c")
    fill_names(combo, ["c", "d"])
    assert (combo.currentText(), combo.currentData()) == ("c", "c")
    fill_names(combo, ["d", "e"])
    assert combo.currentText() == "d"


def test_unchanged_names_are_not_filled_again(combo, qtbot):
    fill_names(combo, ["a", "b"])
    with qtbot.assertNotEmitted(combo.model().modelReset):
        fill_names(combo, ["a", "b"])


def test_filling_many_names_does_not_measure_each(combo, monkeypatch):
    names, asked = [f"gene{k}" for k in range(100_000)], []
    fill_names(combo, names)
    model = combo.model()
    kind, plain = type(model), type(model).data

    def count(self, index, role=0):
        asked.append(index.row())
        return plain(self, index, role)

    monkeypatch.setattr(kind, "data", count)
    combo.sizeHint()
    assert len(asked) < 100
    assert combo.count() == len(names)
    assert combo.findData("gene7") == 7


@pytest.mark.qt_log_ignore("does not support", extend=True)
def test_open_list_is_as_wide_as_its_texts(qtbot):
    combo = ElidedCombo()
    qtbot.addWidget(combo)
    combo.addItems(["ROC", "Precision–recall"])
    combo.setFixedWidth(combo.fontMetrics().horizontalAdvance("ROC") + 46)
    combo.show()
    combo.showPopup()
    text = combo.fontMetrics().horizontalAdvance("Precision–recall")
    assert combo.view().viewport().width() > text
    combo.hidePopup()
