"""Start page."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path
from string import Template
from typing import Any

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from aucstudio.gui.common.buttons import push_button
from aucstudio.gui.common.controls import WrappingRow
from aucstudio.gui.common.focus import order_tabs
from aucstudio.gui.common.layouts import LEFT, STRETCH, TOP, across, down, empty, scrolled
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.prompts import ScrolledColumn
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import label, named
from aucstudio.gui.state.background import Background, delayed
from aucstudio.notices.words import day_words
from aucstudio.project.examples import examples
from aucstudio.project.resources import resource_path
from aucstudio.project.results.documents import describe_file, kind_title
from aucstudio.project.store.workspace import (
    forget_recent,
    recents,
    unsaved_projects,
    unsaved_study,
)

_SHOWN = 6
_SKETCH = 190  # pixels
_WIDEST, _TWO_COLUMNS = 880, 1280  # pixels of a line of text, and of two columns


class WelcomePage(QWidget):
    """Buttons to open a table or a project; recent files; example studies."""

    open_data_asked = Signal()
    open_project_asked = Signal()
    example_asked = Signal(str)
    path_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("welcome_page")
        self._entries: dict[Path, _Entry] = {}
        self._reader = Background(self, lambda *_: None, self._on_outline)
        # Files are read after the page is shown.
        self._soon = delayed(self, 0, self._read)
        self._files = down(gap=2)
        files = down(self._introduction(), 8, self._files, STRETCH)
        known = down(label("EXAMPLE STUDIES", "heading"), self._examples(), STRETCH)
        self._columns = across(files, (known, 1), gap=0, around=(48, 40, 48, 32))
        self._page = ScrolledColumn(self._columns)
        self.setLayout(down(scrolled(self._page)))

    def _introduction(self) -> QHBoxLayout:
        """Describe what the program does, beside a picture of the result."""
        words = down(
            label("Train for the ROC curve itself", "figure"),
            label("", wrap=True, name="welcome_about"),
            self._buttons(),
            label("You can also drop a file on this window.", "muted"),
            STRETCH,
            gap=12,
        )
        return across((words, 1), (_RocSketch(), TOP), gap=32)

    def _buttons(self) -> WrappingRow:
        buttons = WrappingRow()
        buttons.setSpacing(8)
        for name, verb in (
            ("open_data", self.open_data_asked.emit),
            ("open_project", self.open_project_asked.emit),
            ("try_example", lambda: self.example_asked.emit(examples()[0].key)),
        ):
            button = push_button(f"welcome_{name}", verb=verb)
            button.setProperty("primary", name == "open_data")
            if name == "open_data":
                self._first = button
            buttons.addWidget(button)
        buttons.addStretch(1)
        return buttons

    def _examples(self) -> QVBoxLayout:
        """List the example studies, each with what it teaches."""
        made = down(gap=0)
        for example in examples():
            button = _link(example.title, f"welcome_example_{example.key}", example.title)
            button.clicked.connect(
                lambda _checked=False, key=example.key: self.example_asked.emit(key)
            )
            about = label(example.about, "muted", wrap=True)
            about.setContentsMargins(0, 0, 0, 12)
            made.addWidget(button, alignment=LEFT)
            made.addWidget(about)
        return made

    def refresh(self) -> None:
        """List the recent files and the unsaved studies; a link keeps the focus at its place."""
        before, at = list(self._entries), self.window().focusWidget()
        focus = [k for k, path in enumerate(before) if at and self._entries[path].isAncestorOf(at)]
        empty(self._files)
        self._entries = {}
        recent = [(r.path, r.path.name, str(r.path.parent), r.opened) for r in recents()]
        unsaved = [(path, unsaved_study(path)) for path in unsaved_projects()]
        self._list("Recent", "recent_file", recent)
        studies = [(path, name, "", changed) for path, (name, changed) in unsaved]
        self._list("Unsaved studies", "unsaved_study", studies)
        order_tabs(self._columns)
        after = list(self._entries)
        for k in focus if after else ():
            path = before[k] if before[k] in after else after[min(k, len(after) - 1)]
            self._entries[path].open.setFocus()
        if self.isVisible():
            self._soon.start()

    def _list(self, title: str, name: str, files: list[Any]) -> None:
        if not files:
            return
        now = datetime.datetime.now()
        self._files.addWidget(label(title.upper(), "heading"))
        for k, (path, words, folder, day) in enumerate(files[:_SHOWN]):
            entry = _Entry(f"{name}_{k}", path, words, folder, day_words(day, now) if day else "")
            entry.open.clicked.connect(
                lambda _checked=False, path=path: self.path_asked.emit(str(path))
            )
            entry.forget.clicked.connect(lambda _checked=False, path=path: self._forget(path))
            self._files.addWidget(entry)
            self._entries[path] = entry
        if (layout := entry.layout()) is not None:
            layout.setContentsMargins(0, 0, 0, 18)  # a space below the list

    def _forget(self, path: Path) -> None:
        forget_recent(path)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the examples beside the files, or below them where there is no room."""
        is_wide, ways = self.width() >= scaled(_TWO_COLUMNS), QBoxLayout.Direction
        self._columns.setDirection(ways.LeftToRight if is_wide else ways.TopToBottom)
        self._columns.setStretch(0, int(is_wide))
        self._columns.setSpacing(64 * is_wide)
        self._page.setMaximumWidth(scaled(_WIDEST) * (1 + is_wide))
        super().resizeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._first.setFocus()
        self._soon.start()

    def _read(self) -> None:
        paths = tuple(self._entries)
        if paths:
            describe = ((path, describe_file(path)) for path in paths)
            self._reader.start(paths, lambda post: any(map(post, describe)))

    def _on_outline(self, message: tuple[Path, Any]) -> None:
        path, found = message
        if path in self._entries:
            self._entries[path].show_facts(found.kind, found.facts, found.is_there)


class _RocSketch(QWidget):
    """A picture of two ROC curves and the range in which they are compared."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Two ROC curves, compared where few false positives are accepted")
        self.setFixedSize(_SKETCH, _SKETCH)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        colours = {f"run{k}": colour for k, colour in enumerate(theme.runs)}
        drawn = Template(resource_path("themes", "roc-sketch.svg").read_text(encoding="utf-8"))
        picture = drawn.substitute(dataclasses.asdict(theme) | colours)
        painter = QPainter(self)
        QSvgRenderer(QByteArray(picture.encode())).render(painter)
        painter.end()


class _Entry(QWidget):
    """A file: its name as a link, its day, and a line about its content."""

    def __init__(self, name: str, path: Path, words: str, folder: str, day: str) -> None:
        super().__init__()
        self._folder = folder
        self.open = _link(words, name, f"Open {words}")
        plain_tooltip(self.open, str(path))
        words = f"Remove {words} from the list"
        self.forget = _link("Remove from the list", f"{name}_forget", words)
        self.forget.hide()
        facts = f"{kind_title(path)} · {folder}" if folder else ""
        self.facts = label(facts, "muted", wrap=True, name=f"{name}_facts")
        self.day = label(day, "muted", name=f"{name}_day")
        top = across(self.open, self.forget, STRETCH, self.day)
        self.setLayout(down(top, self.facts, gap=0, around=(0, 0, 0, 6)))

    def show_facts(self, kind: str, facts: str, is_there: bool) -> None:
        """Show what is in the file."""
        parts = (kind, facts, self._folder) if is_there else ("no longer there", self._folder)
        self.facts.setText(" · ".join(filter(None, parts)))
        plain_tooltip(self.facts, self.facts.text())
        self.forget.setVisible(not is_there)  # takes the focus of a link that is disabled
        self.open.setEnabled(is_there)


def _link(text: str, name: str, accessible: str) -> QPushButton:
    """Make a button that looks like a link."""
    button = named(QPushButton(text.replace("&", "&&")), name, accessible)
    button.setFlat(True)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setProperty("link", True)
    return button
