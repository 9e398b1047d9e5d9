"""What the centre shows before there is a table: ways to begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.widgets import label, named
from aucstudio.gui.panels.data_panel import describe_path
from aucstudio.project.examples.studies import examples
from aucstudio.project.store.workspace import recent_files, unsaved_projects

_SHOWN = 5


class WelcomePage(QWidget):
    """Buttons to open a table or a project; example studies; files opened lately."""

    open_data_asked = Signal()
    open_project_asked = Signal()
    example_asked = Signal(str)
    path_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("welcome_page")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        page = _Column()
        column = QVBoxLayout(page)
        column.setSpacing(8)
        column.setContentsMargins(48, 48, 48, 32)
        column.addWidget(label("Train for the ROC curve itself", "figure"))
        column.addWidget(
            label(
                "Open a table with one row a case and a two-class column. The label, the positive "
                "class and the columns' roles are guessed and shown; you choose a method and the "
                "false-positive range you can afford, and watch the curve while it trains.",
                "muted",
                wrap=True,
            )
        )
        column.addSpacing(8)
        buttons = QHBoxLayout()
        for name, text, signal, primary in (
            ("welcome_open_data", "Open a table…", self.open_data_asked, True),
            ("welcome_open_project", "Open a project…", self.open_project_asked, False),
        ):
            button = named(QPushButton(text), name, text.rstrip("…"))
            button.setProperty("primary", primary)
            button.clicked.connect(signal)
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addLayout(buttons)
        column.addWidget(label("You can also drop a file on this window.", "muted"))
        column.addSpacing(16)
        column.addWidget(label("EXAMPLE STUDIES", "heading"))
        column.addLayout(self._examples())
        self._files = QVBoxLayout()
        self._files.setSpacing(2)
        column.addSpacing(16)
        column.addLayout(self._files)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        outer.addWidget(area)

    def _examples(self) -> QVBoxLayout:
        """List the example studies, each with what it teaches."""
        column = QVBoxLayout()
        column.setSpacing(0)
        for example in examples():
            button = _link(example.title, f"welcome_example_{example.key}", example.title)
            button.clicked.connect(
                lambda _checked=False, key=example.key: self.example_asked.emit(key)
            )
            about = label(example.about, "muted", wrap=True)
            about.setContentsMargins(0, 0, 0, 12)
            column.addWidget(_at_the_left(button))
            column.addWidget(about)
        return column

    def refresh(self) -> None:
        """List the files anew."""
        while (item := self._files.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._list("Opened lately", "recent_file", recent_files(), describe_path)
        self._list(
            "Studies not saved under a name", "unsaved_study", unsaved_projects(), lambda p: p.stem
        )

    def _list(self, title: str, name: str, paths: list[Path], words: Callable[[Path], str]) -> None:
        if not paths:
            return
        self._files.addWidget(label(title.upper(), "heading"))
        for k, path in enumerate(paths[:_SHOWN]):
            button = _link(words(path), f"{name}_{k}", f"Open {path.name}")
            plain_tooltip(button, str(path))
            button.clicked.connect(
                lambda _checked=False, path=path: self.path_asked.emit(str(path))
            )
            self._files.addWidget(_at_the_left(button))


class _Column(QWidget):
    """A page as high as its wrapped words are at its width, not as they were at the narrowest."""

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), 0)


def _link(text: str, name: str, accessible: str) -> QPushButton:
    """Make a button that reads as a link."""
    button = named(QPushButton(text.replace("&", "&&")), name, accessible)
    button.setFlat(True)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setProperty("link", True)
    return button


def _at_the_left(button: QPushButton) -> QWidget:
    """Hold a button as wide as its text."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(button)
    row.addStretch(1)
    return holder
