"""The row of controls above a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QPushButton, QWidget

from aucstudio.gui.common.choices import SplitCombo
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import ElidedCombo, make_buddy, named, push_button
from aucstudio.gui.common.wrapping import WrappingRow

_WIDEST = 320  # pixels of an elided combo box

Verb = Callable[[], object]
Kind = TypeVar("Kind", bound=QWidget)


class ControlRow(WrappingRow):
    """Creates controls with name, label and tooltip; shows or hides them with their labels."""

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(8)
        self._labels: dict[QWidget, QLabel] = {}

    def choice(
        self,
        name: str,
        label: str,
        tip: str,
        items: Iterable[tuple[str, object]] = (),
        verb: Verb | None = None,
        *,
        says: str = "",
        elided: bool = False,
    ) -> QComboBox:
        """Add a combo box.

        Parameters
        ----------
        name : str
        label : str
            With its accelerator; may be empty.
        tip : str
        items : iterable of (str, object)
            Texts and data.
        verb : callable, optional
            Called when another item is chosen.
        says : str
            Accessible name; by default the label.
        elided : bool
            Whether long texts are elided.
        """
        combo = ElidedCombo()
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for words, value in items:
            combo.addItem(words, value)
        if elided:
            combo.setMaximumWidth(_WIDEST)
        if verb is not None:
            combo.currentIndexChanged.connect(lambda _index: verb())
        return self.put(named(combo, name, says or label.replace("&", "")), label, tip)

    def splits(self, name: str, tip: str, verb: Verb, *, every: bool = False) -> SplitCombo:
        """Add a combo box of splits; ``every`` adds the item for all splits."""
        combo = self.put(SplitCombo(name, tip, every=every), "S&plit")
        combo.currentIndexChanged.connect(lambda _index: verb())
        return combo

    def check(self, name: str, words: str, tip: str, verb: Verb, *, on: bool = False) -> QCheckBox:
        """Add a check box."""
        box = named(QCheckBox(words), name, words.replace("&", ""))
        box.setChecked(on)
        box.toggled.connect(lambda _on: verb())
        return self.put(box, "", tip)

    def button(self, name: str, words: str, tip: str, verb: Verb) -> QPushButton:
        """Add a button."""
        return self.put(push_button(name, words, tip, verb))

    def put(self, widget: Kind, label: str = "", tip: str = "") -> Kind:
        """Add a control and its label."""
        if label:
            self._labels[widget] = make_buddy(label, widget)
            self.addWidget(self._labels[widget])
        if tip:
            plain_tooltip(widget, tip)
        self.addWidget(widget)
        return widget

    def show(self, shown: bool, *controls: QWidget) -> None:
        """Show or hide controls with their labels."""
        for control in controls:
            control.setVisible(shown)
            if control in self._labels:
                self._labels[control].setVisible(shown)
