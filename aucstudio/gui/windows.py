"""The windows of the program."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow

from aucstudio.gui.common import prompts
from aucstudio.gui.common.icons import redress
from aucstudio.gui.common.theme import apply_theme, set_text_size
from aucstudio.gui.common.window_positions import FRAME, on_some_screen
from aucstudio.gui.desk.actions import Actions
from aucstudio.gui.panels.message_bar import MessageBar
from aucstudio.gui.state.preferences import WindowPlace, preferences
from aucstudio.gui.state.session import Session
from aucstudio.gui.state.study import Study
from aucstudio.project.words import runs_words
from aucstudio.project.work.processes import the_processes
from aucstudio.project.work.submit import Place

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
        if self._waits_to_leave and not self.session.files.has_work:
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
        if not self._may_leave and (
            self.session.files.has_work or self.session.files.unsaved_words()
        ):
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
        """Close windows; ask once about running work and unsaved results."""
        working = [window for window in windows if window.session.files.has_work]
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
        losing = next((window for window in windows if window.session.files.unsaved_words()), None)

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
            f"{losing.session.files.unsaved_words()}.",
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


def what_is_under_way(sessions: Sequence[Session]) -> str:
    """Describe running, waiting and kept runs of all studies that have any."""
    sentences = []
    for session in sessions:
        for study in (session.study, *session.left):
            if study.busy:
                sentences.append(_study_words(study))
        for files in (session.files.opener, session.files.saver):
            if files.words:
                sentences.append(f"{files.words[:1].upper()}{files.words[1:]}.")
    sentences.append("Stopped runs keep their finished splits.")
    if any(study.tournament.busy for one in sessions for study in (one.study, *one.left)):
        sentences.append("Find the best keeps its finished models.")
    return " ".join(sentences)


def _study_words(study: Study) -> str:
    flying = [live.look.name for live in study.runner.flights]
    waiting, kept = len(study.runner.queue), len(study.records)
    parts = []
    if flying:
        parts.append(f"{', '.join(flying)} {'is' if len(flying) == 1 else 'are'} training")
    if study.tournament.busy:
        parts.append("a search for the best model is running")
    if waiting:
        parts.append(f"{runs_words(waiting)} {'waits' if waiting == 1 else 'wait'}")
    there = f"; {runs_words(kept)} finished and kept" if kept else ""
    return f"In {study.name}, {' and '.join(parts)}{there}."


_SIZE, _LEAST_SIZE = QSize(1440, 900), QSize(320, 240)
_MOVED = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowStateChange)


class WindowPreferences(QObject):
    """Applies the preferences to a window, and notes there what a person does to it.

    Parameters
    ----------
    window : StudyWindow
    """

    def __init__(self, window: StudyWindow) -> None:
        super().__init__(window)
        self._window = window
        verbs = window.actions_
        verbs.theme_chosen.connect(lambda choice: preferences().put(theme=choice))
        verbs.at_once_chosen.connect(lambda count: preferences().put(runs_at_once=count))
        verbs.preferences.triggered.connect(self._ask)
        kept = preferences()
        kept.changed.connect(self._on_changed)
        self._theme = kept.now.theme
        self._check(f"theme_{kept.now.theme}")
        verbs.theme = kept.now.theme
        if kept.now.runs_at_once > 1:
            self._on_changed("runs_at_once")
        self._on_changed("fpr_range")
        if kept.problem:
            window.session.told.emit(kept.problem)
        self._take_place()
        window.installEventFilter(self)

    def _take_place(self) -> None:
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

    def _on_changed(self, name: str) -> None:
        window, now = self._window, preferences().now
        if name == "text_size":
            application = QApplication.instance()
            if isinstance(application, QApplication):
                set_text_size(application, now.text_size)
            window.set_theme(now.theme)
        elif name == "theme" and now.theme != self._theme:
            self._theme = window.actions_.theme = now.theme
            self._check(f"theme_{now.theme}")
            window.set_theme(now.theme)
        elif name == "runs_at_once":
            self._check(f"at_once_{now.runs_at_once}")
            window.session.runs.run_at_once(now.runs_at_once)
        elif name == "fpr_range" and window.session.table is None:
            plan = dataclasses.replace(window.session.plan, band=now.fpr_range)
            window.session.put_plan(plan)

    def _check(self, name: str) -> None:
        action = self._window.findChild(QAction, f"action_{name}")
        if action is not None:
            action.setChecked(True)

    def _ask(self) -> None:
        from aucstudio.gui.dialogs.preferences import PreferencesDialog

        PreferencesDialog(preferences(), self._window).ask()
