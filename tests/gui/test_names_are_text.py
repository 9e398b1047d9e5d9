"""Markup in the names of files, columns, classes and runs is shown as plain text.

A pipe takes the place of a local file that a name refers to: the program must never open it.
"""

import ast
import csv
import os
import re
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import (
    QApplication,
    QGraphicsTextItem,
    QGraphicsView,
    QLabel,
    QMessageBox,
)

import aucstudio.gui
from aucstudio.gui.common import plain_text, printing
from aucstudio.gui.dialogs.export_figure import ExportFigureDialog
from aucstudio.gui.dialogs.export_model import ExportModelDialog
from aucstudio.gui.dialogs.scoring import ScoreTableDialog
from tests.gui.conftest import save_as, shown, train
from tests.sources import nodes

ROOT = Path(aucstudio.gui.__file__).parent
BOLD = re.compile(r"font-weight:\s*[6-9]00[^>]*>[^<]*MARK")
TIP = Qt.ItemDataRole.ToolTipRole
SHOWN = Qt.ItemDataRole.DisplayRole


class Trap:
    """A pipe that records whether it was opened."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path, self.opened = path, False
        self._closing = False
        self._watch = threading.Thread(target=self._wait, daemon=True)
        self._watch.start()

    def _wait(self):
        while not self._closing:
            # Returns once there is a reader, which then reads the end of the file.
            os.close(os.open(self.path, os.O_WRONLY))
            self.opened = self.opened or not self._closing

    def close(self):
        self._closing = True
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self._watch.join(20)
        os.close(reader)


@pytest.fixture
def trap(tmp_path):
    if sys.platform == "win32":
        pytest.skip("no named pipes there")
    made = Trap(tmp_path / "trap")
    yield made
    made.close()


def hostile(trap, what):
    return f"<b>MARK</b> &lt; {{0}} <img src='{trap.path}'> {what}"


@pytest.fixture
def hostile_file(trap, tmp_path):
    """A table whose every name is markup; the file's name contains no slash."""
    rng = np.random.default_rng(0)
    positive = rng.random(120) < 0.4
    path = tmp_path / "<b>MARK <img src=trap> &lt;.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([hostile(trap, name) for name in ("first", "second", "town", "label")])
        for is_positive in positive:
            x = rng.normal(size=2) + is_positive
            town = hostile(trap, "north" if rng.random() < 0.5 else "south")
            label = hostile(trap, "yes" if is_positive else "no")
            writer.writerow([f"{x[0]:.4f}", f"{x[1]:.4f}", town, label])
    return path


class Walk:
    """Visits everything that shows text; collects rendered markup and counts the names seen."""

    def __init__(self):
        self.rendered, self.seen = [], Counter()

    def look(self):
        models = {}
        for widget in QApplication.allWidgets():
            self._tip(widget)
            if isinstance(widget, QLabel):
                self._label(widget)
            if isinstance(widget, QGraphicsView) and widget.scene() is not None:
                for item in widget.scene().items():
                    self._tip(item)
                    if isinstance(item, QGraphicsTextItem):
                        self._drawn(item)
            model = getattr(widget, "model", None)
            if callable(model) and isinstance(found := model(), QAbstractItemModel):
                models[id(found)] = found  # a combo box shares its model with its list
            self.seen["title"] += "MARK" in widget.windowTitle()
        for model in models.values():
            self._model(model)
        for window in QApplication.topLevelWidgets():
            for action in window.findChildren(QAction):
                self._text("action", action.toolTip(), QtText.mightBeRichText(action.toolTip()))

    def _text(self, kind, text, is_rich):
        """Record rich text in which a name has lost its angle brackets."""
        self.seen[kind] += "MARK" in text
        if is_rich and re.search(r"<b>MARK|<img|&lt; \{0\}|&lt; <img", text):
            self.rendered.append((kind, text))

    def _tip(self, target):
        self._text("tooltip", target.toolTip(), QtText.mightBeRichText(target.toolTip()))

    def _label(self, label):
        text = QLabel.text(label)
        form = label.textFormat()
        guessed = form == Qt.TextFormat.AutoText and QtText.mightBeRichText(text)
        self._text("label", text, guessed or form == Qt.TextFormat.RichText)

    def _drawn(self, item):
        html = item.toHtml()
        self.seen["drawn"] += "MARK" in html
        if "<img" in html or BOLD.search(html):
            self.rendered.append(("drawn", html))

    def _model(self, model):
        # A list model has one column, and its ``columnCount`` is private.
        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
        for row in range(model.rowCount(QModelIndex())):
            for column in range(columns):
                index = model.index(row, column)
                tip = model.data(index, TIP)
                if isinstance(tip, str):
                    self._text("cell tooltip", tip, QtText.mightBeRichText(tip))
                self.seen["cell"] += "MARK" in str(model.data(index, SHOWN))
        for way in (Qt.Orientation.Horizontal, Qt.Orientation.Vertical):
            for section in range(columns):
                tip = model.headerData(section, way, TIP)
                if isinstance(tip, str):
                    self._text("cell tooltip", tip, QtText.mightBeRichText(tip))


def scored(qtbot, dialog, path):
    """Score a table that lacks a column and has a new level, and allow the missing column."""
    text = path.read_text(encoding="utf-8")
    later = path.with_name(f"<i>later {path.name}")
    later.write_text(text.replace(" first", " fast", 1).replace(" north", " west"), "utf-8")
    dialog.choose_file(later)
    qtbot.waitUntil(lambda: not dialog.busy)
    for _ in range(2):
        dialog.score.click()
        qtbot.waitUntil(lambda: not dialog.busy)
        for box in dialog.allowed.boxes.values():
            box.setChecked(True)
    assert any("MARK" in row.cells[0] for row in dialog.report.view.sheet.rows)
    return dialog


def test_markup_in_names_is_never_rendered(window, hostile_file, trap, qtbot, tmp_path):
    walk, session = Walk(), window.session
    assert window.open_now(hostile_file) is not None
    for method in ("auc-rls", "auc-split", "kernel-rank-svm"):
        run = train(qtbot, session, method)
        session.set_look(run.id, "Rename run", name=hostile(trap, method))
        session.point_at(row=int(run.splits[0].test_rows[0]))
        for view in window.views:
            window.deck.show_view(view)
            shown(view, qtbot)
            walk.look()
            if view.plots():
                assert b"<b>MARK" not in printing.on_screen(view).svg()
    save_as(session, tmp_path / "<b>MARK <img src=trap> &lt;.aucproj")
    window.open_now(tmp_path / "absent <b>MARK<b>.csv")
    walk.look()
    chosen = session.run(session.selected)
    for dialog in (
        ExportModelDialog(session, chosen, window),
        ExportFigureDialog(session, window.deck.active(), window),
        scored(qtbot, ScoreTableDialog(session, chosen, window), hostile_file),
    ):
        dialog.show()
        QApplication.processEvents()
        walk.look()
        dialog.close()
        dialog.deleteLater()
    assert walk.rendered == []
    assert not trap.opened
    # The walk has visited places with names.
    for kind in ("label", "tooltip", "drawn", "cell", "cell tooltip", "title"):
        assert walk.seen[kind] > 0, kind


def test_markup_in_recent_files_is_shown_as_text(window, hostile_file, tmp_path):
    window.open_now(hostile_file)
    save_as(window.session, tmp_path / "<b>MARK <img src=trap> &lt;.aucproj")
    window.welcome.refresh()
    walk = Walk()
    walk.look()
    assert walk.rendered == []
    assert walk.seen["tooltip"] > 0


def test_markup_in_messages_is_shown_as_text(window):
    box = plain_text.message_box(QMessageBox.Icon.Warning, "AUC Studio", "no <b>x</b> here", window)
    assert box.textFormat() == Qt.TextFormat.PlainText
    assert box.text() == "no <b>x</b> here"
    box.deleteLater()


@pytest.mark.parametrize("name", ["<b>x</b>", "&lt;", "<img src='/tmp/x'>", "<i>b\nc"])
def test_markup_in_tooltips_is_shown_as_text(name, qtbot, monkeypatch):
    label = plain_text.PlainLabel("x")
    qtbot.addWidget(label)
    plain_text.plain_tooltip(label, name)
    tip = label.toolTip()
    document = QGraphicsTextItem()
    document.setHtml(tip)
    assert QtText.mightBeRichText(tip)
    assert document.toPlainText().replace("\u2028", "\n") == name
    shown = []
    monkeypatch.setattr(plain_text.QToolTip, "showText", lambda *given: shown.append(given))
    plain_text.show_tip(QPoint(1, 1), name, label)
    assert shown == [(QPoint(1, 1), tip, label)]


@pytest.mark.parametrize("name", ["", "plain", "AUC < .5", "a & b", "1 <2", "two\n<i>lines"])
def test_plain_tooltips_are_not_escaped(name):
    assert plain_text.tip_text(name) == name


def test_joined_markup_escapes_its_parts():
    made = plain_text.rich("<b>{}</b>{}", "<i>", plain_text.rich("<u>{}</u>", "&"))
    assert made == "<b>&lt;i&gt;</b><u>&amp;</u>"
    assert plain_text.tip_text(made) == made
    assert plain_text.joined("<br>", [made, made]) == f"{made}<br>{made}"


# ------------------------------------------------------------- the source


def calls(among):
    for node in among:
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
            yield getattr(name, "id", name), node


def escapes(path):
    """Return the lines where a module shows text without ``plain_text``."""
    found = []
    for name, node in calls(nodes(path)):
        if name in {"QLabel", "QMessageBox", "Markup", "setToolTip", "showText", "setHtml"}:
            found.append((node.lineno, name))
        elif name in {"setTabToolTip", "setItemData", "InfLineLabel", "setFormat"}:
            guarded = {"tip_text", "line_label"} & {inner for inner, _ in calls(ast.walk(node))}
            if not guarded and not _is_no_text(node):
                found.append((node.lineno, name))
        elif (
            name == "setTextFormat"
            or (name == "LabelItem" and path.name != "frame.py")  # which escapes the title
            # The title of a document is plain text.
            or (name == "setTitle" and path.name not in {"printing.py", "drawing.py"})
        ):
            found.append((node.lineno, name))
    bases = [b for node in nodes(path) if isinstance(node, ast.ClassDef) for b in node.bases]
    return found + [(b.lineno, "base QLabel") for b in bases if getattr(b, "id", "") == "QLabel"]


def _is_no_text(node):
    """Return whether a call sets item data of a role other than the tooltip's."""
    return not any(isinstance(n, ast.Attribute) and n.attr == "ToolTipRole" for n in ast.walk(node))


@pytest.mark.slow
def test_text_reaches_the_screen_through_one_module():
    modules = [path for path in ROOT.rglob("*.py") if path.name != "plain_text.py"]
    found = {str(path.relative_to(ROOT)): escapes(path) for path in modules}
    assert {name: lines for name, lines in found.items() if lines} == {}
