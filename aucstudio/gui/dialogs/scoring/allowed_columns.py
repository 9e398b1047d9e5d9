"""Columns that a model knows and a table does not: each can be allowed."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from aucstudio.gui.common.eliding import elided
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.widgets import ElidedLabel, label, named, set_role, tell

_ROW, _MOST_ROWS = 22, 5
_LONGEST = 32  # characters of a name


class AllowedColumns(QWidget):
    """The sentence of a refusal, and a check box for each column that it is about.

    Signals
    -------
    changed
        Another choice of columns is allowed.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.sentence = label("", "error", wrap=True, name="score_refusal")
        self.boxes: dict[str, QCheckBox] = {}
        self._inner = QWidget()
        self._grid = QGridLayout(self._inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self._area = named(QScrollArea(), "allowed_columns", "Columns to score without")
        self._area.setWidget(self._inner)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.sentence)
        layout.addWidget(label("Score all the same, as if their values were missing:"))
        layout.addWidget(self._area)
        self.hide()

    def allowed(self) -> tuple[str, ...]:
        """Name the columns that may be unknown."""
        return tuple(name for name, box in self.boxes.items() if box.isChecked())

    def refuse(self, sentence: str, reasons: Mapping[str, str]) -> None:
        """Show a refusal; columns that were allowed before stay so."""
        tell(self.sentence, sentence, "error")
        for name, reason in reasons.items():
            if name not in self.boxes:
                self._add(name, reason)
        self._area.setFixedHeight(_ROW * min(_MOST_ROWS, len(self.boxes)))
        self.show()

    def _add(self, name: str, reason: str) -> None:
        row = len(self.boxes)
        before = list(self.boxes.values())[-1] if self.boxes else self._area
        box = QCheckBox(elided(name, _LONGEST, len).replace("&", "&&"))
        named(box, f"allow_column_{row}", f"Score without column {name}: {reason}")
        plain_tooltip(box, name)
        box.toggled.connect(self.changed)
        box.setFixedHeight(_ROW)
        self.boxes[name] = box
        why = ElidedLabel(reason)
        set_role(why, "muted")
        plain_tooltip(why, reason)
        self._grid.addWidget(box, row, 0)
        self._grid.addWidget(why, row, 1)
        # What is made last would else be come to after the dialog's buttons.
        QWidget.setTabOrder(before, box)

    def accept_all(self) -> None:
        """Take the sentence away once the table is scored; what is allowed stays in view."""
        tell(self.sentence, "")

    def clear(self) -> None:
        """Forget everything: it was about another table or model."""
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self.boxes = {}
        tell(self.sentence, "")
        self.hide()
