"""The program itself, which also answers questions about what is on the screen.

Run as a script with the program's arguments. Each line on standard input is a question in JSON: its
name, then its arguments; the answer is a line on standard output.
"""

import json
import sys

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QSocketNotifier, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QTableView,
    QTreeView,
)

from aucstudio import cli
from aucstudio.gui import app

_LATER = 20  # milliseconds before an answer, so that repeated questions do not block the program


class Probe(QObject):
    """Answers each question by the method of its name; answers are JSON values."""

    def __init__(self, application):
        super().__init__(application)
        self._asked = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, self)
        self._asked.activated.connect(self._on_asked)
        application.installEventFilter(self)
        self._moves = 0
        application.focusChanged.connect(self._on_focus)

    def _on_asked(self):
        line = sys.stdin.readline()
        if not line:
            self._asked.setEnabled(False)
            return
        question, *about = json.loads(line)
        QTimer.singleShot(_LATER, self, lambda: self._answer(question, about))

    def _answer(self, question, about):
        sys.stdout.write(json.dumps(getattr(self, question)(*about)) + "\n")
        sys.stdout.flush()

    def _on_focus(self):
        self._moves += 1

    def eventFilter(self, watched, event):
        """Remove the completer of Qt's file dialog, which swallows fast typing."""
        if event.type() == QEvent.Type.Show and isinstance(watched, QFileDialog):
            watched.findChild(QLineEdit, "fileNameEdit").setCompleter(None)
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------- questions

    def desk(self):
        """Return the state of the window and the focused widget."""
        window = main_window()
        if window is None:
            return {}
        session, front = window.session, QApplication.activeWindow()
        focus = QApplication.focusWidget()
        popup = QApplication.activePopupWidget()
        return {
            "window": None if front is None else front.objectName(),
            "focus": None if focus is None else focus.objectName(),
            "moves": self._moves,
            "popup": None if popup is None else popup.objectName() or type(popup).__name__,
            "whole": window.screen().availableGeometry().contains(window.frameGeometry()),
            "page": front_tab(window.deck.tiles[0].bar) if window.has_workplace else "",
            "idle": is_idle(window),
            "title": window.windowTitle(),
            "status": window.statusBar().currentMessage(),
            "table": None if session.table is None else str(session.table.path),
            "saved": session.study.is_saved,
            "method": session.plan.method,
            "band": list(session.plan.band),
            "threshold": session.focus.threshold,
            "runs": [[run.look.name, run.record.status] for run in session.shown_runs()],
        }

    def figures(self):
        """Return every text of the run list and of the card; None while one is being computed."""
        window = main_window()
        panel = window.workplace.runs_panel
        labels = [one for one in panel.details.findChildren(QLabel) if one.isVisible()]
        listed = panel.findChild(QTableView, "runs_table")
        rows = [str(index.data()) for index in cells(listed)]  # requests missing figures
        if listed.model().figures.busy:
            return None
        return {"runs": rows, "card": [one.text() for one in labels]}

    def widget(self, name):
        """Return a widget's centre, its text, and whether a click there reaches it."""
        found = find(name)
        if found is None:
            return None
        says = getattr(found, "text", getattr(found, "currentText", str))()
        return place(found, found.rect().center()) | {
            "text": says,
            "checked": bool(getattr(found, "isChecked", bool)()),
        }

    def tabs(self):
        """Return the place of each page's tab."""
        bar = main_window().deck.tiles[0].bar
        shown = [k for k in range(bar.count()) if bar.isTabVisible(k)]
        return {bar.tabText(k): place(bar, bar.tabRect(k).center()) for k in shown}

    def entry(self, text):
        """Return the place of an entry of an open menu or of the menu bar."""
        menus = [one for one in everything() if isinstance(one, QMenu | QMenuBar)]
        for menu in menus:
            for action in menu.actions():
                if action.text().replace("&", "") == text:
                    spot = menu.actionGeometry(action).center()
                    return place(menu, spot) | {"enabled": action.isEnabled()}
        return None

    def item(self, name, text):
        """Return the places of the list or tree cell with a text and of its check box."""
        view = find(name)
        view = view.view() if isinstance(view, QComboBox) else view
        for index in [] if view is None or not view.isVisible() else cells(view):
            if index.data() == text:
                view.scrollTo(index)
                area = view.visualRect(index)
                box = QPoint(area.left() + area.height() // 2, area.center().y())
                ticked = index.data(Qt.ItemDataRole.CheckStateRole)
                return place(view.viewport(), area.center()) | {
                    "box": place(view.viewport(), box),
                    "checked": None if ticked is None else Qt.CheckState(ticked).name == "Checked",
                }
        return None

    def spot(self, x, y):
        """Return the screen position of a point of the ROC plot."""
        canvas = main_window().deck.active().canvas
        seen = canvas.plot.mapFromScene(canvas.box.mapViewToScene(QPointF(x, y)))
        return place(canvas.plot.viewport(), seen)

    def picture(self, path):
        """Save a screenshot."""
        return QGuiApplication.primaryScreen().grabWindow(0).save(path)


def front_tab(bar):
    return bar.tabText(bar.currentIndex())


def main_window():
    found = [one for one in QApplication.topLevelWidgets() if one.objectName() == "main_window"]
    return next((one for one in found if one.isVisible()), None)


def everything():
    return [one for one in QApplication.allWidgets() if one.isVisible()]


def find(name):
    """Return the visible widget of a name; that of the front window if there are several."""
    found = [one for one in everything() if one.objectName() == name]
    return next((one for one in found if one.isActiveWindow()), found[0] if found else None)


def place(widget, spot):
    """Return the screen position of a point of a widget."""
    there = widget.mapToGlobal(spot)
    under = QApplication.widgetAt(there)
    screen = widget.screen().geometry()
    return {
        "x": there.x(),
        "y": there.y(),
        "enabled": widget.isEnabled(),
        "reached": under is not None
        and (under is widget or widget.isAncestorOf(under))
        and screen.contains(there),
    }


def is_idle(window):
    """Return whether no job is running and every visible page is up to date."""
    session = window.session
    if session.busy or session.turns.waiting:
        return False
    pages = window.deck.visible_views() if window.has_workplace else ()
    return not any(page.is_stale or page.busy() for page in pages)


def cells(view, parent=None):
    """Yield every cell of a list, table or tree, depth first."""
    model, within = view.model(), () if parent is None else (parent,)
    for row in range(model.rowCount(*within)):
        for column in range(model.columnCount(*within)):
            index = model.index(row, column, *within)
            yield index
            if column == 0 and isinstance(view, QTreeView):
                yield from cells(view, index)


def main():
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    make = app.make_application

    def make_application(*arguments):
        application = make(*arguments)
        Probe(application)
        return application

    app.make_application = make_application
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
