"""Render the window and its views without a display."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from aucstudio.gui.app import create_window, make_application
from aucstudio.gui.common import printing
from aucstudio.gui.common.drawing import png_bytes
from aucstudio.gui.common.theme import apply_theme
from aucstudio.gui.common.view import PageView
from aucstudio.gui.main_window import MainWindow
from aucstudio.gui.pages.best.best_view import BestView
from aucstudio.gui.pages.search.search_view import SearchView
from aucstudio.gui.state.session import Session
from aucstudio.project.results.report import write_report
from aucstudio.project.store.files import write_atomically
from aucstudio.project.work.processes import the_processes

_SIZE = (1440, 900)
_SHEET = printing.Sheet(width=170.0, height=120.0, font=9.0)
_SETTLE_MILLISECONDS = 5_000


def save_pictures(project: Path, folder: Path, theme: str = "light") -> dict[str, Path]:
    """Save a picture of the window for each view, and a report page that shows them.

    Parameters
    ----------
    project : Path
        Project with the runs.
    folder : Path
    theme : {"light", "dark"}

    Returns
    -------
    pictures : dict
        Path of each picture by the view's title.
    """
    prepare(theme)
    window = MainWindow()
    window.resize(*_SIZE)
    window.open_now(project)
    window.set_theme(theme)
    window.show()
    pngs, figures = {}, {}
    for view in _each_view(window):
        pngs[view.title] = png_bytes(window.grab().toImage())
        if view.plots():
            figures[view.title] = printing.draw(view, _SHEET).svg()
    runs = {r.look.name: r.record for r in window.session.shown_runs() if r.record.splits}
    write_report(folder / "report.html", runs, window.session.plan.band, figures)
    window.close()
    saved = {}
    for title, png in pngs.items():
        saved[title] = folder / f"{title.lower().replace(' ', '-')}.png"
        write_atomically(saved[title], png)
    return saved


def window_facts(project: Path) -> tuple[int, int, int, int]:
    """Show a project in a window without a display.

    Returns
    -------
    width, height, runs, colours : int
        The size of the window's picture, the number of runs shown and of sampled colours.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    prepare("light")
    window = create_window(project)
    window.show()
    wait_until_idle(window)
    shown, picture = len(window.session.shown_runs()), window.grab().toImage()
    places = zip(range(0, picture.width(), 7), itertools.cycle(range(0, picture.height(), 11)))
    colours = {picture.pixel(*place) for place in places}
    window.close()
    QApplication.processEvents()
    the_processes().close()
    return picture.width(), picture.height(), shown, len(colours)


def prepare(theme: str) -> QApplication:
    """Make an application that paints without a display, in a theme."""
    # Nothing may appear on a screen, even if there is one.
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    qInstallMessageHandler(_print_message)
    application = make_application(theme)
    apply_theme(application, theme)
    return application


def choose_tuned(session: Session, view: PageView) -> bool:
    """Select a run that a view can show; return whether there is one.

    The page Search needs a tuned run, and the page Best a search for the best model.
    """
    if isinstance(view, BestView) and not session.best.standings():
        return False
    tuned = [run.record.id for run in session.shown_runs() if run.record.searches]
    chosen = session.run(session.selected)
    if isinstance(view, SearchView) and (chosen is None or chosen.record.id not in tuned):
        if not tuned:
            return False
        session.select(tuned[0])
    return True


def wait_until_idle(window: MainWindow) -> None:
    """Run the event loop until the views have drawn."""
    clock = QElapsedTimer()
    clock.start()
    while clock.elapsed() < _SETTLE_MILLISECONDS:
        QApplication.processEvents()
        drawing = any(view.busy() for view in window.deck.visible_views())
        if clock.elapsed() > 150 and not drawing:
            # New pictures and texts may still change the layout.
            for _ in range(3):
                QApplication.processEvents()
            return


def _print_message(_kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    """Print messages of Qt, except one that the offscreen platform prints for every window."""
    if "propagateSizeHints" not in message:
        sys.stderr.write(f"{message}\n")


def _each_view(window: MainWindow) -> Iterator[PageView]:
    """Show each view that has content, and yield it when it is drawn."""
    chosen = window.session.selected
    for view in window.views:
        window.session.select(chosen)
        if choose_tuned(window.session, view):
            window.deck.show_view(view)
            wait_until_idle(window)
            yield view
