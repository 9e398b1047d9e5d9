"""Import settings of a file: detected values and choices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QSizePolicy, QWidget

from aucstudio.gui.common.form import whole_box
from aucstudio.gui.common.layouts import STRETCH, down, holding
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import ElidedCombo, check_box, make_buddy, named
from aucstudio.gui.common.wrapping import WrappingRow
from aucstudio.gui.state.timers import delayed
from aucstudio.project.data.import_choices import ImportChoices, Part
from aucstudio.project.data.preview import Head
from aucstudio.project.data.table import Table

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
_TITLES = {
    "sheet": ("Sheet", "&Sheet"),
    "delimiter": ("Delimiter", "&Delimiter"),
    "encoding": ("Encoding", "&Encoding"),
    "decimal": ("Decimal mark", "De&cimal mark"),
    "quote": ("Quotation mark", "&Quotation mark"),
}
_MISSING_TIP = "In addition to the default ones; separate several by commas"
_STRICT_TIP = "Refuse the whole file at the first row that cannot be read"
_MOST_SKIPPED = 10_000
_WIDEST = 200
_DETECT = -1


class ImportControls(QWidget):
    """The import options of a file; an option that is not set is detected.

    Signals
    -------
    changed
        The user set an option, or returned it to detection.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("import_controls")
        self._chosen: dict[str, Part] = {}
        self._positive = ""
        self._blocks: dict[str, QWidget] = {}
        self.combos = {part: self._combo(part, *titles) for part, titles in _TITLES.items()}
        for part, combo in self.combos.items():
            combo.activated.connect(partial(self._on_combo, part))
        self.skip = whole_box(
            "import_skip", "Lines to skip before the table", _DETECT, _MOST_SKIPPED, value=_DETECT
        )
        self.skip.valueChanged.connect(self._on_skip)
        self.missing = named(QLineEdit(), "import_missing", "Spellings of missing values")
        self.missing.setPlaceholderText("n.a., ?")
        plain_tooltip(self.missing, _MISSING_TIP)
        self._typed = delayed(self, _TYPING, self._on_missing)
        self.missing.textEdited.connect(lambda _text: self._typed.start())
        self.missing.editingFinished.connect(self._on_missing)
        refuse = "Refuse a file with a bad row"
        self.strict = check_box("import_strict", "S&trict", _STRICT_TIP, accessible=refuse)
        self.strict.toggled.connect(lambda on: self._choose("strict", True if on else None))
        self._add("skip", "S&kip lines", self.skip)
        self._add("missing", "&Missing values", self.missing)
        self._add("strict", "", self.strict)
        # The classes depend on all other options.
        self.classes = self._combo("positive", "Positive class", "&Positive class")
        self.classes.activated.connect(self._on_class)
        row = WrappingRow(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for part, block in self._blocks.items():
            row.addWidget(block, stretch=0 if part in ("strict", "skip") else 1)

    def _combo(self, part: str, words: str, mnemonic: str) -> QComboBox:
        combo = named(ElidedCombo(), f"import_{part}", words)
        combo.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._add(part, mnemonic, combo).setMaximumWidth(scaled(_WIDEST))
        return combo

    def _add(self, part: str, words: str, field: QWidget) -> QWidget:
        block = holding(down(STRETCH, make_buddy(words, field), field, gap=2))
        self._blocks[part] = block
        block.setVisible(False)
        return block

    # ------------------------------------------------------------- state

    @property
    def chosen(self) -> dict[str, Part]:
        """The options that are not detected."""
        return dict(self._chosen)

    @property
    def positive(self) -> str:
        """The positive class; empty if it is detected."""
        return self._positive

    @property
    def busy(self) -> bool:
        """Whether the typed spellings of missing values are not yet applied."""
        return self._typed.isActive()

    def finish(self) -> None:
        """Apply what is being typed."""
        if self.busy:
            self._on_missing()

    def choose(self, choices: ImportChoices) -> None:
        """Show other choices."""
        self._chosen, self._positive = dict(choices.dialect), choices.positive
        self._show_fields()
        missing = self._chosen.get("missing", ())
        self.missing.setText(", ".join(missing) if isinstance(missing, tuple) else "")

    def show_head(self, head: Head) -> None:
        """Show how the file was read, and only the options that apply to it."""
        table = head.table
        for part, block in self._blocks.items():
            block.setVisible(part in head.settings or (part == "sheet" and len(table.sheets) > 1))
        self._show_classes(table)
        for part, combo in self.combos.items():
            offered: Sequence[str] = table.sheets if part == "sheet" else _OFFERED[part]
            if part == "encoding" and head.other_encoding:
                offered = [head.other_encoding, *(e for e in offered if e != head.other_encoding)]
            self._fill(part, combo, str(getattr(table.dialect, part)), offered, head)
        skipped = "Detect" if "skip" in self._chosen else f"Detected: {table.dialect.skip:,}"
        self.skip.setSpecialValueText(skipped)
        if "missing" not in self._chosen:
            words = ", ".join(table.dialect.missing) or "default ones"
            self.missing.setPlaceholderText(f"Detected: {words}")
        self._show_fields()

    def _show_classes(self, table: Table) -> None:
        self._blocks["positive"].setVisible(len(table.classes) > 1)
        self.classes.clear()
        is_chosen = self._positive in table.classes
        detected = "Detect" if is_chosen else f"Detected: {table.positive}"
        self.classes.addItem("choose…" if table.positive is None else detected, "")
        for name in table.classes:
            self.classes.addItem(name, name)
        self.classes.setCurrentIndex(self.classes.findData(self._positive) if is_chosen else 0)
        _set_italic(self.classes, not is_chosen)

    def _fill(
        self, part: str, combo: QComboBox, read_as: str, offered: Sequence[str], head: Head
    ) -> None:
        combo.clear()
        chosen = self._chosen.get(part)
        combo.addItem(f"Detected: {_words(part, read_as)}" if chosen is None else "Detect", None)
        for value in dict.fromkeys([*offered, *([] if chosen is None else [str(chosen)])]):
            near = part == "encoding" and value == head.other_encoding
            combo.addItem(_words(part, value) + (" (nearly as likely)" if near else ""), value)
        _set_italic(combo, chosen is None)

    def _show_fields(self) -> None:
        for part, combo in self.combos.items():
            combo.setCurrentIndex(max(0, combo.findData(self._chosen.get(part))))
        with QSignalBlocker(self.skip), QSignalBlocker(self.strict):
            skip = self._chosen.get("skip", _DETECT)
            self.skip.setValue(skip if isinstance(skip, int) else _DETECT)
            self.strict.setChecked(bool(self._chosen.get("strict", False)))
        _set_italic(self.skip, "skip" not in self._chosen)

    # ------------------------------------------------------------- choices

    def _on_combo(self, part: str, place: int) -> None:
        self._choose(part, self.combos[part].itemData(place))

    def _on_class(self, place: int) -> None:
        if (chosen := self.classes.itemData(place)) != self._positive:
            self._positive = chosen
            self.changed.emit()

    def _on_skip(self, lines: int) -> None:
        self._choose("skip", None if lines == _DETECT else lines)

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
        if part == "sheet":  # another sheet may have another layout
            self._chosen = {"sheet": value} if value is not None else {}
        self.changed.emit()


def _set_italic(field: QWidget, italic: bool) -> None:
    """Show a detected value in italics."""
    font = field.font()
    font.setItalic(italic)
    field.setFont(font)


def _words(part: str, value: str) -> str:
    return value if part in ("sheet", "encoding") else _MARKS.get(value, repr(value))
