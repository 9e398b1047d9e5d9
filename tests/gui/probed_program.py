"""The program itself, with a line on standard output for whatever a person at the screen sees.

Run as a script with the program's arguments. Any line on standard input asks where the tabs are.
"""

import json
import sys

from PySide6.QtCore import QObject, QSocketNotifier
from PySide6.QtWidgets import QApplication

from aucstudio import cli
from aucstudio.gui import app


class Probe(QObject):
    """Says where the tabs of the first tile are, and which page is in front."""

    def __init__(self, window):
        super().__init__(window)
        self._window, self._tabs = window, window.tabs
        self._tabs.currentChanged.connect(lambda index: say(page=self._tabs.tabText(index)))
        self._asked = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, self)
        self._asked.activated.connect(self._answer)
        QApplication.instance().focusWindowChanged.connect(self._on_focus)

    def _on_focus(self, focused):
        """Once the window manager gives the focus, the window is placed."""
        if focused is not None:
            say(focus=True)

    def _answer(self):
        if not sys.stdin.readline():
            self._asked.setEnabled(False)
            return
        bar = self._tabs.tabBar()
        found = {}
        for k in range(bar.count()):
            centre = bar.mapToGlobal(bar.tabRect(k).center())
            found[bar.tabText(k)] = (centre.x(), centre.y())
        say(tabs=found, seen=bar.isVisible())


def say(**found):
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def main():
    make = app.MainWindow

    def make_window(*arguments):
        window = make(*arguments)
        Probe(window)
        return window

    app.MainWindow = make_window
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
