"""Accept or reread columns of a refused table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from aucstudio.gui.common.eliding import elided
from aucstudio.gui.common.layouts import down, scrolled
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import ElidedLabel, label, named, set_role, show_note
from aucstudio.project.data.preparing.acceptance import KINDS, RANGE, Refusal
from aucstudio.project.data.text.later_files import Remedy

_ROW, _MOST_ROWS = 22, 5
_LONGEST = 32  # characters of a name
_MARKS = {".": "point", ",": "comma"}


@dataclasses.dataclass(frozen=True)
class Accepted:
    """What the user allows or states about a table to be scored.

    Attributes
    ----------
    allowed : dict of str to tuple of str
        Accepted columns, by kind of refusal.
    written : dict of str to str
        Format of the cells, by column.
    scale : dict of str to float
        Factor of the numbers, by column.
    dialect : dict of str to object
        Decimal mark and words for missing values, if stated.
    """

    allowed: dict[str, tuple[str, ...]]
    written: dict[str, str]
    scale: dict[str, float]
    dialect: dict[str, Any]


class AllowedColumns(QWidget):
    """The sentence of a refusal, and a check box for each way to fix or allow it.

    Signals
    -------
    changed
        Another way is checked.

    Attributes
    ----------
    boxes : dict of str to QCheckBox
        Boxes that accept a column, by its name, or by name and kind if it is refused again;
        boxes that fix, by setting and value.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.sentence = label("", "error", wrap=True, name="score_refusal")
        self.boxes: dict[str, QCheckBox] = {}
        self._meanings: dict[str, tuple[str, str]] = {}
        self._remedies: dict[str, tuple[str, Remedy]] = {}
        self._inner = QWidget()
        self._grid = QGridLayout(self._inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self._area = scrolled(self._inner, "allowed_columns", "Ways to score the table")
        what = label("To score the table, tick what applies:")
        self.setLayout(down(self.sentence, what, self._area, gap=4))
        self.hide()

    def accepted(self) -> Accepted:
        """Return the checked ways."""
        checked = {key for key, box in self.boxes.items() if box.isChecked()}
        allowed = {
            kind: tuple(n for key, (k, n) in self._meanings.items() if key in checked and k == kind)
            for kind in KINDS
        }
        remedies = [self._remedies[key] for key in self._remedies if key in checked]
        written = {name: remedy.value for name, remedy in remedies if remedy.setting == "written"}
        scale = {
            name: float(remedy.value) for name, remedy in remedies if remedy.setting == "scale"
        }
        marks = [remedy.value for _, remedy in remedies if remedy.setting == "decimal"]
        words = tuple(remedy.value for _, remedy in remedies if remedy.setting == "missing")
        dialect: dict[str, Any] = {"decimal": marks[-1]} if marks else {}
        return Accepted(allowed, written, scale, dialect | ({"missing": words} if words else {}))

    def refuse(self, sentence: str, refusals: Mapping[str, Refusal]) -> None:
        """Show a refusal; checked boxes stay checked."""
        show_note(self.sentence, sentence, "error")
        for name, refusal in refusals.items():
            if (remedy := refusal.remedy) is not None:
                self._offer(name, remedy)
        for name, refusal in refusals.items():
            key = name if name not in self._meanings else f"{name} ({refusal.kind})"
            if (refusal.kind, name) not in self._meanings.values():
                self._meanings[key] = refusal.kind, name
                taken = "its numbers as they are" if refusal.kind == RANGE else "as missing"
                words = f"Score with {name} {taken}"
                self._add(key, f"{name}: {taken}", f"{words}: {refusal.reason}", refusal.reason)
        self._area.setFixedHeight(_ROW * min(_MOST_ROWS, len(self.boxes)))
        self.show()

    def _offer(self, name: str, remedy: Remedy) -> None:
        """Offer a remedy; one for the whole file is offered once."""
        key = f"{remedy.setting} {name if remedy.is_of_column else remedy.value}"
        if key in self.boxes:
            return
        self._remedies[key] = name, remedy
        text, reason = {
            "decimal": (f"Decimal {_MARKS.get(remedy.value, '')}", "in the whole table"),
            "missing": (f"{remedy.value!r} means missing", "in the whole table"),
            "written": (f"{name}: written as {remedy.value}", "in all of its cells"),
            "scale": (f"{name}: multiply by {remedy.value}", "in all of its cells"),
        }[remedy.setting]
        self._add(key, text, f"{text}, {reason}", reason)

    def _add(self, key: str, text: str, words: str, reason: str) -> None:
        row = len(self.boxes)
        before = list(self.boxes.values())[-1] if self.boxes else self._area
        box = QCheckBox(elided(text, _LONGEST, len).replace("&", "&&"))
        named(box, f"allow_column_{row}", words)
        plain_tooltip(box, text)
        box.toggled.connect(self.changed)
        box.setFixedHeight(_ROW)
        self.boxes[key] = box
        why = ElidedLabel(reason)
        set_role(why, "muted")
        plain_tooltip(why, reason)
        self._grid.addWidget(box, row, 0)
        self._grid.addWidget(why, row, 1)
        # Without an order, Tab would reach new boxes after the buttons of the dialog.
        QWidget.setTabOrder(before, box)

    def accept_all(self) -> None:
        """Hide the sentence once the table is scored; checked boxes stay."""
        show_note(self.sentence, "")

    def clear(self) -> None:
        """Remove all boxes, as for another table or model."""
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self.boxes, self._meanings, self._remedies = {}, {}, {}
        show_note(self.sentence, "")
        self.hide()
