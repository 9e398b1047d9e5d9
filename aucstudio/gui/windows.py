"""The windows of the program."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence, Set
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow

from aucstudio.gui.common import prompts
from aucstudio.gui.common.focus import press_focused
from aucstudio.gui.common.layouts import FRAME, on_some_screen, within
from aucstudio.gui.common.theme import (
    apply_theme,
    refresh_icons,
    set_text_size,
    waiting_cursor,
)
from aucstudio.gui.desk.actions import Actions
from aucstudio.gui.panels.status import MessageBar
from aucstudio.gui.state.preferences import WindowPlace, preferences
from aucstudio.gui.state.session import Session
from aucstudio.gui.state.study import StudyState
from aucstudio.notices import text
from aucstudio.project.work.processes import the_processes
from aucstudio.project.work.submit import Place

_OFFSET = QPoint(32, 32)  # of a new window from the one in which it was requested

STOP, WAIT, SAVE, DISCARD = "stop", "wait", "save", "lose"


class StudyWindow(QMainWindow):
    """One of several windows, with a session of its own.

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
        self._may_close = self._closes_when_done = False

    @property
    def shows_study(self) -> bool:
        """Whether there is a study to work on; otherwise the start page is shown."""
        return self.session.table is not None or bool(self.session.shown_runs())

    def set_theme(self, choice: str) -> None:
        """Apply a theme to all windows: "system", "light" or "dark"."""
        with waiting_cursor():  # every control of every page is styled and laid out
            if apply_theme(_application(), choice):
                for window in {self, *the_windows().open}:
                    window.apply_style()

    def follow_desktop(self) -> None:
        """Apply the theme of the desktop, unless the user chose another."""
        if self.actions_.theme == "system":
            self.set_theme("system")

    def apply_style(self) -> None:
        """Apply the present theme."""
        refresh_icons(self)

    def leave(self) -> None:
        """Close without a question; running work is stopped and finished results are kept."""
        self._may_close = True
        self.close()

    def close_when_done(self) -> None:
        """Close as soon as nothing is running."""
        self._closes_when_done = True
        self.session.message.emit("The window closes when all runs have ended")
        self.close_if_done()

    def close_if_done(self) -> None:
        """Close if that was requested and nothing is running."""
        if self._closes_when_done and not self.session.files.has_work:
            self._closes_when_done = False
            QTimer.singleShot(0, self, self.leave)

    def keep_open(self) -> None:
        """Withdraw the request to close."""
        self._closes_when_done = False

    def clean_up(self) -> None:
        """Release what the window holds before it closes."""
        self.session.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        the_windows().add(self)

    def closeEvent(self, event: QCloseEvent) -> None:
        files = self.session.files
        if not self._may_close and (files.has_work or files.unsaved_words()):
            event.ignore()
            the_windows().close([self])
            return
        the_windows().remove(self)
        self.clean_up()
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
        """Add a window that is shown."""
        if window not in self.open:
            self.open.append(window)

    def remove(self, window: StudyWindow) -> None:
        """Remove a window that was closed."""
        if window in self.open:
            self.open.remove(window)

    def new(self, beside: Kind) -> Kind:
        """Show another window, on its start page; all of them share the training processes."""
        window = type(beside)(the_processes())
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        area = beside.screen().availableGeometry()
        window.setGeometry(within(beside.geometry().translated(_OFFSET), area))
        window.show()
        return window

    def showing(self, path: str | Path) -> StudyWindow | None:
        """Return the window in which a project is open."""
        found = (window for window in self.open if window.session.study.is_at(Path(path)))
        return next(found, None)

    def close(self, windows: Sequence[StudyWindow]) -> None:
        """Close windows; ask once about running work and unsaved results."""
        working = [window for window in windows if window.session.files.has_work]
        losing = [window for window in windows if window.session.files.unsaved_words()]

        def answered(choice: str | None) -> None:
            if choice == SAVE:
                losing[0].actions_.save_project_as.trigger()
            for window in list(windows):
                if choice in (STOP, DISCARD):
                    QTimer.singleShot(0, window, window.leave)
                elif choice == WAIT:
                    window.close_when_done()
                else:
                    window.keep_open()

        title = "Close AUC Studio" if len(windows) == len(self.open) else "Close the window"
        if working:
            text = describe_work([window.session for window in working])
            choices = ((WAIT, "&Close when runs finish"), (STOP, "&Stop and close"))
            prompts.ask_choice(working[0], title, text, choices, answered)
        elif losing:
            text = f"{losing[0].session.files.unsaved_words()}."
            choices = ((SAVE, "&Save as…"), (DISCARD, "&Close without them"))
            prompts.ask_choice(losing[0], title, text, choices, answered)
        else:
            for window in list(windows):
                window.leave()


@functools.cache
def the_windows() -> Windows:
    """Return the windows of this program."""
    return Windows()


def describe_work(sessions: Sequence[Session]) -> str:
    """Describe running, waiting and finished runs of all studies with running work."""
    sentences = []
    for session in sessions:
        sentences += [_study_words(study) for study in session.studies if study.busy]
        for files in (session.files.opener, session.files.saver):
            if files.words:
                sentences.append(f"{files.words[:1].upper()}{files.words[1:]}.")
    searches = any(study.tournament.busy for session in sessions for study in session.studies)
    return " ".join([*sentences, text("work_kept", models="finished" if searches else None)])


def _study_words(study: StudyState) -> str:
    running = [live.look.name for live in study.runner.running]
    return text(
        "work_of_study",
        study=study.name,
        running=running,
        count=len(running),
        search=study.tournament.busy,
        waiting=len(study.runner.queue) or None,
        finished=len(study.shown_runs()) or None,
    )


_SIZE, _LEAST_SIZE = QSize(1440, 900), QSize(320, 240)
_MOVED = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowStateChange)


class WindowPreferences(QObject):
    """Applies the preferences to a window, and stores its position and choices.

    Parameters
    ----------
    window : StudyWindow
    """

    def __init__(self, window: StudyWindow) -> None:
        super().__init__(window)
        self._window, actions, kept = window, window.actions_, preferences()
        actions.theme_chosen.connect(lambda choice: preferences().put(theme=choice))
        actions.at_once_chosen.connect(lambda count: preferences().put(runs_at_once=count))
        actions.preferences.triggered.connect(self._ask)
        kept.changed.connect(self._on_changed)
        actions.theme = kept.now.theme
        self._check(f"theme_{kept.now.theme}")
        if kept.now.runs_at_once > 1:
            self._on_changed({"runs_at_once"})
        self._on_changed({"fpr_range"})
        if kept.problem:
            window.session.message.emit(kept.problem)
        self._restore_place()
        window.installEventFilter(self)

    def _restore_place(self) -> None:
        window, place = self._window, preferences().now.windows.get("main_window")
        if place is None:
            window.resize(_SIZE.boundedTo(window.screen().availableSize() - FRAME))
            return
        window.setGeometry(on_some_screen(QRect(*place.rect), _LEAST_SIZE))
        if place.maximised:
            window.showMaximized()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MOVED and self._window.isVisible() and not self._window.isMinimized():
            rect = self._window.normalGeometry()
            where = (rect.left(), rect.top(), rect.width(), rect.height())
            place = WindowPlace(where, self._window.isMaximized())
            preferences().put_in("windows", "main_window", place)
        elif event.type() == QEvent.Type.Close:
            preferences().flush()
        return super().eventFilter(watched, event)

    def _on_changed(self, names: Set[str]) -> None:
        window, now = self._window, preferences().now
        if "theme" in names:
            window.actions_.theme = now.theme
            self._check(f"theme_{now.theme}")
        if names & {"theme", "text_size"}:
            set_text_size(_application(), now.text_size)
            window.set_theme(now.theme)
        if "runs_at_once" in names:
            self._check(f"at_once_{now.runs_at_once}")
            window.session.runs.run_at_once(now.runs_at_once)
        if "fpr_range" in names and window.session.table is None:
            plan = dataclasses.replace(window.session.plan, band=now.fpr_range)
            window.session.put_plan(plan)

    def _check(self, name: str) -> None:
        action = self._window.findChild(QAction, f"action_{name}")
        if action is not None:
            action.setChecked(True)

    def _ask(self) -> None:
        from aucstudio.gui.dialogs.preferences import PreferencesDialog

        PreferencesDialog(preferences(), self._window).ask()


def _application() -> QApplication:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return application
