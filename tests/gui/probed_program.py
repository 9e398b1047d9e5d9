"""The program itself, which also answers what a person at the screen would see.

Run as a script with the program's arguments. A line on standard input is a question in JSON: its
name, then what it is about; the answer is a line on standard output.
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

_LATER = 20  # milliseconds: whoever asks again and again leaves the program time to go on


class Probe(QObject):
    """Answers with the method that a question names; each tells something JSON can hold."""

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
        """Take away the completions of Qt's own file dialog, which swallow what is typed fast."""
        if event.type() == QEvent.Type.Show and isinstance(watched, QFileDialog):
            watched.findChild(QLineEdit, "fileNameEdit").setCompleter(None)
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------- what can be asked

    def desk(self):
        """The state of the window, and what has the keyboard."""
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
            "settled": is_settled(window),
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
        """Every text of the list of runs and of the card; None while one is computed."""
        window = main_window()
        panel = window.workplace.runs_panel
        labels = [one for one in panel.details.findChildren(QLabel) if one.isVisible()]
        listed = panel.findChild(QTableView, "runs_table")
        rows = [str(index.data()) for index in cells(listed)]  # requests what is not yet known
        if listed.model().figures.busy:
            return None
        return {"runs": rows, "card": [one.text() for one in labels]}

    def widget(self, name):
        """Where the middle of a widget is, what it says, and whether a click there reaches it."""
        found = find(name)
        if found is None:
            return None
        says = getattr(found, "text", getattr(found, "currentText", str))()
        return place(found, found.rect().center()) | {
            "text": says,
            "checked": bool(getattr(found, "isChecked", bool)()),
        }

    def tabs(self):
        """Where each page's tab is."""
        bar = main_window().deck.tiles[0].bar
        shown = [k for k in range(bar.count()) if bar.isTabVisible(k)]
        return {bar.tabText(k): place(bar, bar.tabRect(k).center()) for k in shown}

    def entry(self, text):
        """Where an entry of an open menu, or of the menu bar, is."""
        menus = [one for one in everything() if isinstance(one, QMenu | QMenuBar)]
        for menu in menus:
            for action in menu.actions():
                if action.text().replace("&", "") == text:
                    spot = menu.actionGeometry(action).center()
                    return place(menu, spot) | {"enabled": action.isEnabled()}
        return None

    def item(self, name, text):
        """Where the cell with a text is in a list or a tree, and where its check box is."""
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
        """Where the ROC page has a point of its picture."""
        canvas = main_window().deck.active().canvas
        seen = canvas.plot.mapFromScene(canvas.box.mapViewToScene(QPointF(x, y)))
        return place(canvas.plot.viewport(), seen)

    def picture(self, path):
        """Save what the screen shows."""
        return QGuiApplication.primaryScreen().grabWindow(0).save(path)


def front_tab(bar):
    return bar.tabText(bar.currentIndex())


def main_window():
    found = [one for one in QApplication.topLevelWidgets() if one.objectName() == "main_window"]
    return next((one for one in found if one.isVisible()), None)


def everything():
    return [one for one in QApplication.allWidgets() if one.isVisible()]


def find(name):
    """The widget of that name that can be seen; in the window in front if there are several."""
    found = [one for one in everything() if one.objectName() == name]
    return next((one for one in found if one.isActiveWindow()), found[0] if found else None)


def place(widget, spot):
    """A point of a widget on the screen, whether it has stopped moving is for the asker."""
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


def is_settled(window):
    """Whether nothing is under way and every page that is seen shows what there is."""
    session = window.session
    if session.busy or session.turns._waiting:
        return False
    pages = window.deck.visible_views() if window.has_workplace else ()
    return not any(page._stale or page.busy() for page in pages)


def cells(view, parent=None):
    """Every cell of a list, a table or a tree, depth first."""
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
