"""What the centre shows before there is a table: ways to begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from aucstudio.gui.data_panel import describe_path
from aucstudio.gui.widgets import label, named
from aucstudio.project.workspace import recent_files, unsaved_projects

_SHOWN = 5


class WelcomePage(QWidget):
    """Buttons to open a table, a project, the sample study; files opened lately."""

    open_data_asked = Signal()
    open_project_asked = Signal()
    sample_asked = Signal()
    path_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("welcome_page")
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        column = QVBoxLayout()
        column.setSpacing(8)
        column.setContentsMargins(48, 0, 48, 0)
        outer.addLayout(column)
        outer.addStretch(3)
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
            ("welcome_sample", "Open the sample study", self.sample_asked, False),
        ):
            button = named(QPushButton(text), name, text.rstrip("…"))
            button.setProperty("primary", primary)
            button.clicked.connect(signal)
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addLayout(buttons)
        column.addWidget(label("You can also drop a file on this window.", "muted"))
        self._files = QVBoxLayout()
        self._files.setSpacing(2)
        column.addSpacing(16)
        column.addLayout(self._files)

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
            button = named(QPushButton(words(path)), f"{name}_{k}", f"Open {path.name}")
            button.setFlat(True)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.setToolTip(str(path))
            button.setProperty("link", True)
            button.clicked.connect(
                lambda _checked=False, path=path: self.path_asked.emit(str(path))
            )
            row = QHBoxLayout()
            holder = QWidget()
            holder.setLayout(row)
            row.setContentsMargins(0, 0, 0, 0)
            row.addWidget(button)
            row.addStretch(1)
            self._files.addWidget(holder)
