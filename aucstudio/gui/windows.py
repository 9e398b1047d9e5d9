"""The windows of the program: each has a study of its own; closing the last one ends it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow

from aucstudio.gui.common import prompts
from aucstudio.gui.common.icons import redress
from aucstudio.gui.common.theme import apply_theme
from aucstudio.gui.desk.actions import Actions
from aucstudio.gui.panels.message_bar import MessageBar
from aucstudio.gui.state.session import Session
from aucstudio.gui.state.under_way import what_is_under_way
from aucstudio.project.work.place import Place
from aucstudio.project.work.processes import the_processes

_OFFSET = QPoint(32, 32)  # of a new window from the one it was asked for in

STOP, WAIT, SAVE, LOSE = "stop", "wait", "save", "lose"


class StudyWindow(QMainWindow):
    """A window with a session of its own, which is one of several and may be closed at any time.

    Parameters
    ----------
    place : Place, optional
        Where runs are made.

    Attributes
    ----------
    session : Session
    actions_ : Actions
    messages : MessageBar
    """

    def __init__(self, place: Place | None = None) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.session = Session(self, place)
        self.actions_ = Actions(self)
        self.messages = MessageBar()
        self._may_leave = self._waits_to_leave = False

    @property
    def shows_study(self) -> bool:
        """Whether there is a study to work on; else the start page is seen."""
        return self.session.table is not None or bool(self.session.shown_runs())

    def set_theme(self, choice: str) -> None:
        """Apply an appearance to all windows: "system", "light" or "dark"."""
        application = QApplication.instance()
        if isinstance(application, QApplication):
            apply_theme(application, choice)
        for window in {self, *the_windows().open}:
            window.retheme()

    def follow_desktop(self) -> None:
        """Take on the desktop's new appearance, unless the person chose one."""
        if self.actions_.theme == "system":
            self.set_theme("system")

    def retheme(self) -> None:
        """Take on the present theme."""
        redress(self)

    def leave(self) -> None:
        """Close without asking; what is under way is stopped, and what is finished kept."""
        self._may_leave = True
        self.close()

    def leave_when_done(self) -> None:
        """Close as soon as nothing is under way any more."""
        self._waits_to_leave = True
        self.session.told.emit("The window closes when all runs have ended")
        self.leave_if_done()

    def leave_if_done(self) -> None:
        """Close if that was asked for and nothing is under way."""
        if self._waits_to_leave and not self.session.has_work:
            self._waits_to_leave = False
            QTimer.singleShot(0, self, self.leave)

    def stay(self) -> None:
        """Do not close after all."""
        self._waits_to_leave = False

    def clear_up(self) -> None:
        """Put away what the window holds; it closes."""
        self.session.close()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        the_windows().add(self)

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._may_leave and (self.session.has_work or self.session.unsaved_words()):
            event.ignore()
            the_windows().close([self])
            return
        the_windows().remove(self)
        self.clear_up()
        event.accept()


Kind = TypeVar("Kind", bound=StudyWindow)


class Windows:
    """The main windows that are on the screen.

    Attributes
    ----------
    open : list of StudyWindow
        In the order in which they were shown.
    """

    def __init__(self) -> None:
        self.open: list[StudyWindow] = []

    def add(self, window: StudyWindow) -> None:
        """Note a window that is shown."""
        if window not in self.open:
            self.open.append(window)

    def remove(self, window: StudyWindow) -> None:
        """Forget a window that was closed."""
        if window in self.open:
            self.open.remove(window)

    def new(self, beside: Kind) -> Kind:
        """Show another window, on its start page; all of them share the training processes."""
        window = type(beside)(the_processes())
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        window.resize(beside.size())
        window.move(beside.pos() + _OFFSET)
        window.show()
        return window

    def showing(self, path: str | Path) -> StudyWindow | None:
        """Find the window that a project is open in."""
        found = (window for window in self.open if window.session.study.is_at(Path(path)))
        return next(found, None)

    def close(self, windows: Sequence[StudyWindow]) -> None:
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
            ((WAIT, "&Close when runs finish"), (STOP, "&Stop and close")),
            answered,
        )

    def _leave(self, windows: Sequence[StudyWindow]) -> None:
        """Close windows in which nothing is under way."""
        losing = next((window for window in windows if window.session.unsaved_words()), None)

        def answered(choice: str | None) -> None:
            if choice == LOSE:
                for window in list(windows):
                    QTimer.singleShot(0, window, window.leave)
            elif choice == SAVE and losing is not None:
                losing.actions_.save_project_as.trigger()

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

    def _title(self, windows: Sequence[StudyWindow]) -> str:
        whole = len(windows) == len(self.open)
        return "Close AUC Studio" if whole else "Close the window"


@functools.cache
def the_windows() -> Windows:
    """Return the windows of this program."""
    return Windows()
