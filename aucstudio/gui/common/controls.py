"""Controls of pages: rows that wrap, combo boxes, segmented buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSignalBlocker,
    QSize,
    QStringListModel,
    Qt,
    Signal,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QWidget,
    QWidgetItem,
)

from aucstudio.gui.common.buttons import push_button
from aucstudio.gui.common.layouts import across, discard, members
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import MEASURED, ElidedCombo, make_buddy, named
from aucstudio.gui.state.preferences import preferences
from aucstudio.notices.controls import control_words

ALL = -1  # in place of a split
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


def declared_items(name: str) -> list[tuple[str, object]]:
    """Return the items of a combo box in the catalogue, as texts and data."""
    return [(words, value) for value, words in control_words(name).get("choices", {}).items()]


def keep_choice(combo: QComboBox) -> None:
    """Restore the last choice of the user, and store the next ones."""
    name, kept = combo.objectName(), preferences()
    combo.setCurrentIndex(max(0, combo.findData(kept.now.choices.get(name))))
    combo.activated.connect(lambda _index: kept.put_in("choices", name, combo.currentData()))


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
    grows = combo.sizeAdjustPolicy() == QComboBox.SizeAdjustPolicy.AdjustToContents
    if grows and len(names) > MEASURED:
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(_LETTERS)
    with QSignalBlocker(combo):
        model.setStringList(names)
        combo.setCurrentIndex(names.index(chosen) if chosen in names else 0)


class SplitCombo(QComboBox):
    """The splits of a run, and optionally all of them together.

    Parameters
    ----------
    name, like : str
    every : bool
        Whether all splits together can be chosen.
    """

    def __init__(self, name: str, like: str, *, every: bool = False) -> None:
        super().__init__()
        named(self, name, like=like)
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


_WIDE = 10_000
_AROUND_WORDS = 46  # of a list: its frame and its arrow


class WrappingRow(QHBoxLayout):
    """Lays out a row that wraps to further lines.

    In a narrow row, lists first become as narrow as their current text. Then their labels are
    hidden if only then the row fits in one line. A label stays beside its control.
    """

    _laid_in = _WIDE
    _followed: tuple[QWidget, ...] = ()
    # Until the layout is invalidated; the widths of lists depend on their current texts too.
    _grouped: list[list[QWidgetItem]] | None = None
    _wrapped_at: Mapping[tuple[int, tuple[str, ...]], list[list[QWidgetItem]]] = {}

    def invalidate(self) -> None:
        self._grouped, self._wrapped_at = None, {}
        super().invalidate()

    def keep_together(self, first: QWidget) -> None:
        """Keep a control on one line with the next."""
        self._followed = (*self._followed, first)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = self._lines(width)
        gaps = self.spacing() * max(0, len(lines) - 1)
        return sum(_height(line) for line in lines) + gaps

    def minimumSize(self) -> QSize:
        groups = self._groups()
        least = [self._room([_least(item) for item in group]) for group in groups]
        # The page asks for the minimum height, not for the height for a width.
        return QSize(max(least, default=0), self.heightForWidth(self._laid_in))

    def setGeometry(self, rect: QRect) -> None:
        before, self._laid_in = self.minimumSize(), rect.width()
        if self.minimumSize() != before:
            self.update()
        widths = [_width(item) for group in self._groups() for item in group]
        if self._room(widths) <= rect.width():
            super().setGeometry(rect)
            return
        top, lines = rect.top(), self._lines(rect.width())
        seen = {id(item) for line in lines for item in line}
        for item in (item for group in self._groups() for item in group):
            if id(item) not in seen:
                item.setGeometry(QRect(rect.topLeft(), QSize(0, 0)))
        for line in lines:
            left, height = rect.left(), _height(line)
            for item in line:
                width = min(_compact(item), rect.right() + 1 - left)
                item.setGeometry(QRect(left, top, width, height))
                left += width + self.spacing()
            top += height + self.spacing()

    def _groups(self) -> list[list[QWidgetItem]]:
        """Return the groups of items that stay together, from left to right."""
        if self._grouped is not None:
            return self._grouped
        groups: list[list[QWidgetItem]] = []
        joined = False
        for widget in members(self):
            if not isinstance(widget, QWidget) or (item := QWidgetItem(widget)).isEmpty():  # hidden
                continue
            if joined:
                groups[-1].append(item)
            else:
                groups.append([item])
            is_label = isinstance(widget, QLabel) and widget.buddy() is not None
            joined = is_label or widget in self._followed
        self._grouped = groups
        return groups

    def _lines(self, width: int) -> list[list[QWidgetItem]]:
        groups = self._groups()
        boxes = (item.widget() for group in groups for item in group)
        key = width, tuple(box.currentText() for box in boxes if isinstance(box, QComboBox))
        if key not in self._wrapped_at:
            whole = self._wrapped(groups, width)
            bare = self._wrapped([_without_label(group) for group in groups], width)
            kept = bare if len(bare) == 1 < len(whole) else whole
            self._wrapped_at = {**self._wrapped_at, key: kept}
        return self._wrapped_at[key]

    def _wrapped(self, groups: list[list[QWidgetItem]], width: int) -> list[list[QWidgetItem]]:
        lines: list[list[QWidgetItem]] = []
        for group in groups:
            longer = [*lines[-1], *group] if lines else []
            if longer and self._room([_compact(item) for item in longer]) <= width:
                lines[-1] = longer
            else:
                lines.append(group)
        return lines

    def _room(self, widths: list[int]) -> int:
        return sum(widths) + self.spacing() * max(0, len(widths) - 1)


def _width(item: QWidgetItem) -> int:
    return min(max(item.sizeHint().width(), item.minimumSize().width()), item.maximumSize().width())


def _compact(item: QWidgetItem) -> int:
    width, box = _width(item), item.widget()
    if not isinstance(box, QComboBox):
        return width
    words = box.fontMetrics().horizontalAdvance(box.currentText()) + _AROUND_WORDS
    return min(width, max(words, box.minimumWidth()))


def _without_label(group: list[QWidgetItem]) -> list[QWidgetItem]:
    """Return a group without the label of a list."""
    is_list = len(group) > 1 and isinstance(group[-1].widget(), QComboBox)
    return group[1:] if is_list else group


def _least(item: QWidgetItem) -> int:
    return min(item.minimumSize().width(), _compact(item))


def _height(items: list[QWidgetItem]) -> int:
    return max(item.sizeHint().height() for item in items)


_WIDEST = 320  # pixels of an elided combo box

Verb = Callable[[], object]
Kind = TypeVar("Kind", bound=QWidget)


class ControlRow(WrappingRow):
    """Creates controls in the words of the catalogue; shows or hides them with their labels."""

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(8)
        self._labels: dict[QWidget, QLabel] = {}

    def choice(
        self,
        name: str,
        verb: Verb | None = None,
        items: Iterable[tuple[str, object]] = (),
        *,
        like: str = "",
        elided: bool = False,
    ) -> QComboBox:
        """Add a combo box.

        Parameters
        ----------
        name : str
        verb : callable, optional
            Called when another item is chosen.
        items : iterable of (str, object)
            Texts and data; by default the choices of the catalogue.
        like : str
            Entry of the catalogue, if it is not ``name``.
        elided : bool
            Whether long texts are elided.
        """
        combo, words = ElidedCombo(), control_words(like or name)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for shown, value in items or declared_items(like or name):
            combo.addItem(shown, value)
        if elided:
            combo.setMaximumWidth(_WIDEST)
        if verb is not None:
            combo.currentIndexChanged.connect(lambda _index: verb())
        accessible = words.get("name") or words.get("title", "").replace("&", "")
        return self.put(named(combo, name, accessible, like=like), like)

    def splits(self, name: str, verb: Verb, *, like: str = "", every: bool = False) -> SplitCombo:
        """Add a combo box of splits; ``every`` adds the item for all splits."""
        combo = self.put(SplitCombo(name, like, every=every), like)
        combo.currentIndexChanged.connect(lambda _index: verb())
        return combo

    def check(self, name: str, verb: Verb, *, on: bool = False) -> QCheckBox:
        """Add a check box."""
        box = named(QCheckBox(), name)
        box.setChecked(on)
        box.toggled.connect(lambda _on: verb())
        return self.put(box)

    def button(self, name: str, verb: Verb | None = None) -> QPushButton:
        """Add a button."""
        return self.put(push_button(name, verb=verb))

    def put(self, widget: Kind, like: str = "") -> Kind:
        """Add a control with the label and the tooltip that the catalogue has for it."""
        words = control_words(like or widget.objectName())
        if "title" in words:
            self._labels[widget] = make_buddy(words["title"], widget)
            self.addWidget(self._labels[widget])
        if "tip" in words:
            plain_tooltip(widget, words["tip"])
        self.addWidget(widget)
        return widget

    def show(self, shown: bool, *controls: QWidget) -> None:
        """Show or hide controls with their labels."""
        for control in controls:
            control.setVisible(shown)
            if control in self._labels:
                self._labels[control].setVisible(shown)


class Segments(QWidget):
    """A row of buttons of which one is pressed; hidden without a choice.

    Signals
    -------
    chosen : str
        Key of the choice of the user.
    """

    chosen = Signal(str)

    def __init__(self, name: str, accessible: str) -> None:
        super().__init__()
        named(self, name, accessible)
        self._name = name
        self._offered: list[tuple[str, str]] = []
        self._buttons: dict[str, QPushButton] = {}
        self._group = QButtonGroup(self)
        self._row = across(gap=0)
        self.setLayout(self._row)
        self._group.buttonToggled.connect(self._on_toggled)
        self.hide()

    @property
    def current(self) -> str:
        """Key of the pressed button; empty without one."""
        return next((key for key, one in self._buttons.items() if one.isChecked()), "")

    def offer(self, choices: Sequence[tuple[str, str]], current: str) -> None:
        """Offer keys with their texts, and press the current one."""
        if list(choices) != self._offered:
            self._offered = list(choices)
            for button in self._buttons.values():
                self._group.removeButton(button)
                discard(button)
            self._buttons = {key: self._button(key, words) for key, words in choices}
        if current in self._buttons:
            with QSignalBlocker(self._group):
                self._buttons[current].setChecked(True)
        self.setVisible(len(choices) > 1)

    def choose(self, key: str) -> None:
        """Choose a key as the user does."""
        self._buttons[key].setChecked(True)

    def _button(self, key: str, words: str) -> QPushButton:
        button = named(QPushButton(words), f"{self._name}_{key}", words)
        button.setProperty("segment", True)
        button.setCheckable(True)
        self._group.addButton(button)
        self._row.addWidget(button)
        return button

    def _on_toggled(self, button: QPushButton, checked: bool) -> None:
        if checked:
            self.chosen.emit(next(key for key, one in self._buttons.items() if one is button))
