"""The windows of one program: each has a study of its own; the last one that is closed ends it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer

from aucstudio.gui.common import prompts
from aucstudio.gui.state.under_way import what_is_under_way
from aucstudio.project.work.processes import the_processes

if TYPE_CHECKING:
    from aucstudio.gui.main_window import MainWindow

_OFFSET = QPoint(32, 32)  # of a new window from the one it was asked for in

STOP, WAIT, SAVE, LOSE = "stop", "wait", "save", "lose"


class Windows:
    """The main windows that are on the screen.

    Attributes
    ----------
    open : list of MainWindow
        In the order in which they were shown.
    """

    def __init__(self) -> None:
        self.open: list[MainWindow] = []

    def add(self, window: MainWindow) -> None:
        """Note a window that is shown."""
        if window not in self.open:
            self.open.append(window)

    def remove(self, window: MainWindow) -> None:
        """Forget a window that was closed."""
        if window in self.open:
            self.open.remove(window)

    def new(self, beside: MainWindow) -> MainWindow:
        """Show another window, on its start page; all of them share the training processes."""
        from aucstudio.gui.main_window import MainWindow

        window = MainWindow(the_processes())
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        window.resize(beside.size())
        window.move(beside.pos() + _OFFSET)
        window.show()
        return window

    def showing(self, path: str | Path) -> MainWindow | None:
        """Find the window that a project is open in."""
        found = (window for window in self.open if window.session.study.is_at(Path(path)))
        return next(found, None)

    def close(self, windows: Sequence[MainWindow]) -> None:
        """Close windows; what is under way, or would be lost, is asked about once."""
        working = [window for window in windows if window.session.has_work]
        if not working:
            self._leave(windows)
            return

        def answered(choice: str | None) -> None:
            for window in list(windows):
                if choice == STOP:
                    QTimer.singleShot(0, window, window.leave)
                elif choice == WAIT:
                    window.leave_when_done()
                else:
                    window.stay()

        prompts.ask_choice(
            working[0],
            self._title(windows),
            what_is_under_way([window.session for window in working]),
            ((WAIT, "&Close when all is done"), (STOP, "&Stop and close")),
            answered,
        )

    def _leave(self, windows: Sequence[MainWindow]) -> None:
        """Close windows in which nothing is under way."""
        losing = next((window for window in windows if window.session.unsaved_words()), None)

        def answered(choice: str | None) -> None:
            if choice == LOSE:
                for window in list(windows):
                    QTimer.singleShot(0, window, window.leave)
            elif choice == SAVE and losing is not None:
                losing.files.save_as()

        if losing is None:
            for window in list(windows):
                window.leave()
            return
        prompts.ask_choice(
            losing,
            self._title(windows),
            f"{losing.session.unsaved_words()}.",
            ((SAVE, "&Save as…"), (LOSE, "&Close without them")),
            answered,
        )

    def _title(self, windows: Sequence[MainWindow]) -> str:
        whole = len(windows) == len(self.open)
        return "Close AUC Studio" if whole else "Close the window"


@functools.cache
def the_windows() -> Windows:
    """Give the windows of this program."""
    return Windows()
