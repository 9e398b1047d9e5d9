"""Applies the preferences to a window, and keeps its place: theme, text, range, runs at once."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import QEvent, QObject, QRect, QSize
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

from aucstudio.gui.common.screens import FRAME, on_some_screen
from aucstudio.gui.common.theme import set_text_size
from aucstudio.gui.state.preferences import WindowPlace, preferences
from aucstudio.gui.windows import StudyWindow

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
            window.session.run_at_once(now.runs_at_once)
        elif name == "fpr_range" and window.session.table is None:
            plan = dataclasses.replace(window.session.plan, band=now.fpr_range)
            window.session.put_plan(plan)

    def _check(self, name: str) -> None:
        action = self._window.findChild(QAction, f"action_{name}")
        if action is not None:
            action.setChecked(True)

    def _ask(self) -> None:
        from aucstudio.gui.dialogs.preferences import PreferencesDialog

        dialog = PreferencesDialog(preferences(), self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
