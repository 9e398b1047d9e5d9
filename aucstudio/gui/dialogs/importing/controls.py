"""Import settings of a file: detected values and choices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from aucstudio.gui.common.layouts import STRETCH, down, holding
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import FIELD_MARGINS, ElidedCombo, make_buddy, named
from aucstudio.gui.common.wrapping import WrappingRow
from aucstudio.gui.state.timers import delayed
from aucstudio.project.data.import_choices import ImportChoices, Part
from aucstudio.project.data.preview import Head
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.dialect import Dialect

_TYPING = 150  # milliseconds after the last key
_MARKS = {
    ",": "comma",
    ";": "semicolon",
    "\t": "tab",
    "|": "vertical bar",
    " ": "blanks",
    "~": "tilde",
    ".": "point",
    '"': 'double “"”',
    "'": "single “'”",
    "": "none",
}
_OFFERED: dict[str, tuple[str, ...]] = {
    "delimiter": (",", ";", "\t", "|", " ", "~"),
    "decimal": (".", ","),
    "quote": ('"', "'", ""),
    "encoding": (
        "utf-8", "cp1252", "latin-1", "cp1250", "cp1251", "koi8-r", "cp1253", "cp1254", "utf-16",
        "shift_jis", "gb18030", "big5", "euc-kr",
    ),
}  # fmt: skip
_MOST_SKIPPED = 10_000
_WIDEST = 200
_GUESS = -1


class ImportControls(QWidget):
    """The parts of a dialect; what a person does not set is left to be guessed.

    Signals
    -------
    changed
        A person set a part, or gave it back to the guess.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("import_controls")
        self._chosen: dict[str, Part] = {}
        self._positive = ""
        self._fields: dict[str, QWidget] = {}
        self._blocks: dict[str, QWidget] = {}
        self.combos = {
            part: self._combo(part, words)
            for part, words in (
                ("sheet", "Sheet"),
                ("delimiter", "Delimiter"),
                ("encoding", "Encoding"),
                ("decimal", "Decimal mark"),
                ("quote", "Quotation mark"),
            )
        }
        self.classes = self._list("positive", "Positive class", "&Positive class")
        self.classes.activated.connect(self._on_class)
        self.skip = named(QSpinBox(), "import_skip", "Lines to skip before the table")
        self.skip.lineEdit().setTextMargins(*FIELD_MARGINS)
        self.skip.setRange(_GUESS, _MOST_SKIPPED)
        self.skip.setValue(_GUESS)
        self.skip.valueChanged.connect(self._on_skip)
        self.missing = named(QLineEdit(), "import_missing", "Spellings of missing values")
        self.missing.setPlaceholderText("n.a., ?")
        plain_tooltip(self.missing, "In addition to the default ones; separate several by commas")
        self._typed = delayed(self, _TYPING, self._on_missing)
        self.missing.textEdited.connect(lambda _text: self._typed.start())
        self.missing.editingFinished.connect(self._on_missing)
        self.strict = named(QCheckBox("S&trict"), "import_strict", "Refuse a file with a bad row")
        plain_tooltip(self.strict, "Refuse the whole file at the first row that cannot be read")
        self.strict.toggled.connect(lambda on: self._choose("strict", True if on else None))
        self._block("skip", "S&kip lines", self.skip)
        self._block("missing", "&Missing values", self.missing)
        self._block("strict", "", self.strict)
        self._lay_out()

    def _lay_out(self) -> None:
        row = WrappingRow(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        # What the label holds comes last, after all that may change it.
        self._blocks["positive"] = self._blocks.pop("positive")
        for part, block in self._blocks.items():
            row.addWidget(block, stretch=0 if part in ("strict", "skip") else 1)

    def _combo(self, part: str, words: str) -> QComboBox:
        mnemonics = {"sheet": "&Sheet", "delimiter": "&Delimiter", "encoding": "&Encoding"}
        more = {"decimal": "De&cimal mark", "quote": "&Quotation mark"}
        combo = self._list(part, words, (mnemonics | more)[part])
        combo.activated.connect(partial(self._on_combo, part))
        return combo

    def _list(self, part: str, words: str, mnemonic: str) -> QComboBox:
        combo = named(ElidedCombo(), f"import_{part}", words)
        combo.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._block(part, mnemonic, combo)
        self._blocks[part].setMaximumWidth(scaled(_WIDEST))  # names of classes may be long
        return combo

    def _block(self, part: str, words: str, field: QWidget) -> None:
        block = holding(down(STRETCH, make_buddy(words, field), field, gap=2))
        self._blocks[part], self._fields[part] = block, field
        block.setVisible(False)

    # ------------------------------------------------------------- state

    @property
    def chosen(self) -> dict[str, Part]:
        """The parts that are not left to be guessed."""
        return dict(self._chosen)

    @property
    def positive(self) -> str:
        """The positive class; empty if it is left to be guessed."""
        return self._positive

    @property
    def busy(self) -> bool:
        """Whether something is typed that has not been taken over yet."""
        return self._typed.isActive()

    def finish(self) -> None:
        """Take over what is being typed."""
        if self.busy:
            self._on_missing()

    def choose(self, choices: ImportChoices) -> None:
        """Take over what was chosen before."""
        self._chosen, self._positive = dict(choices.dialect), choices.positive
        self._show_fields()
        told = self._chosen.get("missing", ())
        self.missing.setText(", ".join(told) if isinstance(told, tuple) else "")

    def show_head(self, head: Head) -> None:
        """Show how the file was read, and only what means something for it."""
        table = head.table
        for part, block in self._blocks.items():
            block.setVisible(part in head.settings or (part == "sheet" and len(table.sheets) > 1))
        self._show_classes(table)
        for part, combo in self.combos.items():
            offered: Sequence[str] = table.sheets if part == "sheet" else _OFFERED[part]
            if part == "encoding" and head.other_encoding:
                offered = [head.other_encoding, *(e for e in offered if e != head.other_encoding)]
            self._fill(part, combo, str(getattr(table.dialect, part)), offered, head)
        self._show_guesses(table.dialect)
        self._show_fields()

    def _show_classes(self, table: Table) -> None:
        self._blocks["positive"].setVisible(len(table.classes) > 1)
        self.classes.clear()
        is_chosen = self._positive in table.classes
        guess = "Detect" if is_chosen else f"Detected: {table.positive}"
        self.classes.addItem("choose…" if table.positive is None else guess, "")
        for name in table.classes:
            self.classes.addItem(name, name)
        self.classes.setCurrentIndex(self.classes.findData(self._positive) if is_chosen else 0)
        self._mark(self.classes, not is_chosen)

    def _fill(
        self, part: str, combo: QComboBox, read_as: str, offered: Sequence[str], head: Head
    ) -> None:
        combo.clear()
        chosen = self._chosen.get(part)
        combo.addItem(f"Detected: {_words(part, read_as)}" if chosen is None else "Detect", None)
        for value in dict.fromkeys([*offered, *([] if chosen is None else [str(chosen)])]):
            near = part == "encoding" and value == head.other_encoding
            combo.addItem(_words(part, value) + (" (nearly as likely)" if near else ""), value)
        self._mark(combo, chosen is None)

    def _show_guesses(self, dialect: Dialect) -> None:
        guess = "Detect" if "skip" in self._chosen else f"Detected: {dialect.skip:,}"
        self.skip.setSpecialValueText(guess)
        words = ", ".join(dialect.missing)
        if "missing" not in self._chosen:
            self.missing.setPlaceholderText(f"Detected: {words or 'default ones'}")

    def _show_fields(self) -> None:
        for part, combo in self.combos.items():
            place = combo.findData(self._chosen.get(part))
            combo.setCurrentIndex(max(0, place))
        with QSignalBlocker(self.skip), QSignalBlocker(self.strict):
            skip = self._chosen.get("skip", _GUESS)
            self.skip.setValue(skip if isinstance(skip, int) else _GUESS)
            self.strict.setChecked(bool(self._chosen.get("strict", False)))
        self._mark(self.skip, "skip" not in self._chosen)

    def _mark(self, field: QWidget, guessed: bool) -> None:
        """Write a guess in italics."""
        font = field.font()
        font.setItalic(guessed)
        field.setFont(font)

    # ------------------------------------------------------------- choices

    def _on_combo(self, part: str, place: int) -> None:
        self._choose(part, self.combos[part].itemData(place))

    def _on_class(self, place: int) -> None:
        if (chosen := self.classes.itemData(place)) != self._positive:
            self._positive = chosen
            self.changed.emit()

    def _on_skip(self, lines: int) -> None:
        self._choose("skip", None if lines == _GUESS else lines)

    def _on_missing(self) -> None:
        self._typed.stop()
        words = tuple(word.strip() for word in self.missing.text().split(",") if word.strip())
        self._choose("missing", words or None)

    def _choose(self, part: str, value: Any) -> None:
        if self._chosen.get(part) == value:
            return
        if value is None:
            self._chosen.pop(part)
        else:
            self._chosen[part] = value
        if part == "sheet":  # another one may be written in another way
            self._chosen = {"sheet": value} if value is not None else {}
        self.changed.emit()


def _words(part: str, value: str) -> str:
    return value if part in ("sheet", "encoding") else _MARKS.get(value, repr(value))
