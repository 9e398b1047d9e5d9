"""Combo boxes that keep their selection, and the choice of a split."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, QStringListModel, Qt
from PySide6.QtWidgets import QComboBox

from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import named

ALL = -1  # in place of a split
_MEASURED = 1_000  # names; measuring those of a wide table would take a second
_LETTERS = 20

Index = QModelIndex | QPersistentModelIndex


def fill_combo(combo: QComboBox, items: list[tuple[str, object]]) -> None:
    """Set the items of a combo; keep the current choice if possible."""
    if [(combo.itemText(k), combo.itemData(k)) for k in range(combo.count())] == items:
        return
    chosen = combo.currentData()
    with QSignalBlocker(combo):
        combo.clear()
        for words, value in items:
            combo.addItem(words, value)
        combo.setCurrentIndex(max(0, combo.findData(chosen)))
    combo.view().setMinimumWidth(combo.view().sizeHintForColumn(0) + 24)


class _Names(QStringListModel):
    """Names that are also the data of their items."""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        own = role == Qt.ItemDataRole.UserRole
        return super().data(index, Qt.ItemDataRole.DisplayRole if own else role)


def fill_names(combo: QComboBox, names: list[str]) -> None:
    """Set column names as items of a combo; keep the current choice if possible."""
    model = combo.model()
    if not isinstance(model, _Names):
        model = _Names(combo)
        combo.setModel(model)
    if model.stringList() == names:
        return
    chosen = combo.currentText()
    many = len(names) > _MEASURED
    if many and combo.sizeAdjustPolicy() == QComboBox.SizeAdjustPolicy.AdjustToContents:
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(_LETTERS)
    with QSignalBlocker(combo):
        model.setStringList(names)
        combo.setCurrentIndex(names.index(chosen) if chosen in names else 0)
    if not many:
        combo.view().setMinimumWidth(combo.view().sizeHintForColumn(0) + 24)


class SplitCombo(QComboBox):
    """The splits of a run, and optionally all of them together.

    Parameters
    ----------
    name, tip : str
    every : bool
        Whether all splits together can be chosen.
    """

    def __init__(self, name: str, tip: str, *, every: bool = False) -> None:
        super().__init__()
        named(self, name, "Split")
        plain_tooltip(self, tip)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._first: list[tuple[str, object]] = [("All", ALL)] if every else []

    @property
    def is_one(self) -> bool:
        """Whether one split is chosen, not all of them."""
        return bool(self.currentData() != ALL)

    def offer(self, count: int, split: int) -> None:
        """List the splits, and choose one of them unless all are chosen."""
        fill_combo(self, self._first + [(f"{k + 1} of {count}", k) for k in range(count)])
        if self.is_one and count:
            with QSignalBlocker(self):
                self.setCurrentIndex(self.findData(min(max(split, 0), count - 1)))
