"""Run markers: distinct by shape alone, and the same in every picture, on screen and saved."""

import dataclasses
import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QIcon, QImage, QPainter, QTransform

from aucstudio.gui.common import printing
from aucstudio.gui.common.plotting import MARKER, SWATCH, swatch
from aucstudio.gui.common.theme import DASHES, LIGHT, SYMBOLS, run_dash, run_symbol
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart
from aucstudio.gui.pages.compare.compare_view import CompareView
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.pages.training.training_view import TrainingView
from aucstudio.gui.state.plan import RunLook
from aucstudio.project.data.validation import Validation
from tests.gui.conftest import make_record, put, refresh_and_wait, shown

ROUNDS = len(DASHES) * len(SYMBOLS)
INDEX = [id(symbol) for symbol in SYMBOLS]


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def three(session):
    """Three runs whose colours differ from their places in the list."""
    for name, colour in (("a", 5), ("b", 3), ("c", 10)):
        record = make_record(session.table, "logistic", {}, Validation(repeats=2))
        record = dataclasses.replace(record, id=name)
        put(session, record, name)
        session.put_plan(session.plan.with_looks([record.id], colour=colour))
    return session.shown_runs()


def symbol_index(symbol):
    """Return the index of a symbol."""
    return INDEX.index(id(symbol))


def painted(image):
    """Return the coverage of each pixel of an image."""
    image = image.convertToFormat(QImage.Format.Format_Alpha8)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    return rows[:, : image.width()] / 255.0


def stamp(symbol, size):
    image = QImage(size + 2, size + 2, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    middle = size / 2 + 1
    place = QTransform.fromTranslate(middle, middle).scale(size, size)
    painter.fillPath(place.map(symbol), QColor("black"))
    painter.end()
    return painted(image)


def test_runs_have_distinct_pairs_of_dash_and_marker():
    assert len(SYMBOLS) == len(LIGHT.runs)
    pairs = {(run_dash(k), symbol_index(run_symbol(k))) for k in range(ROUNDS)}
    assert len(pairs) == ROUNDS


def test_runs_have_distinct_pairs_of_colour_and_marker():
    pairs = {(k % len(LIGHT.runs), symbol_index(run_symbol(k))) for k in range(ROUNDS // 2)}
    assert len(pairs) == ROUNDS // 2
    assert len({symbol_index(run_symbol(k)) for k in range(len(SYMBOLS))}) == len(SYMBOLS)


@pytest.mark.parametrize("symbol", SYMBOLS, ids=range(len(SYMBOLS)))
def test_marker_is_centred_in_its_square(symbol):
    box = symbol.boundingRect()
    assert QRectF(-0.501, -0.501, 1.002, 1.002).contains(box)
    assert max(box.width(), box.height()) >= 0.85
    np.testing.assert_allclose((box.center().x(), box.center().y()), 0.0, atol=0.045)
    cover = stamp(symbol, 64)
    np.testing.assert_allclose(cover, cover[:, ::-1], atol=0.02)


def test_markers_differ_at_nine_pixels():
    """At least a fifth of the smaller marker lies outside the other."""
    for one, other in itertools.combinations([stamp(symbol, 9) for symbol in SYMBOLS], 2):
        apart = np.abs(one - other).sum()
        assert apart > 0.2 * min(one.sum(), other.sum())


def test_swatch_has_a_centred_marker_and_a_line_on_both_sides(session):
    for k in range(len(SYMBOLS)):
        cover = painted(swatch(RunLook("", k)).pixmap(SWATCH).toImage())
        assert cover.shape == (SWATCH.height(), SWATCH.width())
        np.testing.assert_allclose(cover, cover[:, ::-1], atol=0.02)
        np.testing.assert_allclose(cover[1:11, 11:21], stamp(SYMBOLS[k], 8), atol=0.02)
        assert cover[:, :10].sum() > 3
        assert cover[[0, 1, -2, -1], :11].sum() == 0


def test_small_swatch_has_only_the_marker_at_full_size(session):
    small = painted(swatch(RunLook("", 1), MARKER).pixmap(MARKER).toImage())
    whole = painted(swatch(RunLook("", 1)).pixmap(SWATCH).toImage())
    np.testing.assert_allclose(small[2:14, 4:12], whole[:, 12:20], atol=0.02)
    assert small[:, :3].sum() == 0


def test_selected_row_does_not_tint_the_swatch(session):
    for size in (SWATCH, MARKER):
        icon = swatch(RunLook("", 2), size)
        plain, chosen = icon.pixmap(size), icon.pixmap(size, QIcon.Mode.Selected)
        assert plain.toImage() == chosen.toImage()


def test_compare_marks_runs_and_their_splits(session, three, open_view, qtbot):
    view = open_view(CompareView, session)
    shown(view, qtbot)
    forest = view.picture.forest
    colours = {run.look.name: run.look.colour for run in three}
    names = [run.name for run in view.shown.found.runs]
    expected = [symbol_index(run_symbol(colours[name])) for name in names]
    assert sorted(expected) == sorted([5, 3, 4])
    assert [symbol_index(symbol) for symbol in forest.dots.data["symbol"]] == expected
    assert [symbol_index(symbol) for symbol in forest.splits.data["symbol"]] == np.repeat(
        expected, 2
    ).tolist()


def test_roc_marks_the_operating_point_and_the_hovered_vertex(session, three, open_view, qtbot):
    view = open_view(RocView, session)
    for run in three:
        session.select(run.record.id)
        refresh_and_wait(qtbot, view)
        assert view.layers.point.handle.opts["symbol"] is run_symbol(run.look.colour)
    view.canvas.mark((0.5, 0.5), 6)
    assert view.canvas.marker.opts["symbol"] is run_symbol(6)


def test_training_marks_the_checkpoints_of_each_run(session, three, open_view, qtbot):
    view = open_view(TrainingView, session)
    shown(view, qtbot)
    lines = view.plots_.lower_lines[0]
    dotted = {line.course.look.colour for line in lines.drawn if line.dots}
    assert dotted == {5, 3, 10}
    drawn = {symbol_index(symbol) for symbol in lines.dots.data["symbol"]}
    assert drawn == {symbol_index(run_symbol(colour)) for colour in dotted}
    lines.mark(lines.drawn[0], 0)
    assert lines.marker.opts["symbol"] is run_symbol(lines.drawn[0].course.look.colour)


def test_model_chart_dots_have_the_marker_of_the_run(session, qtbot):
    chart = WhiskerChart("marked_chart", "Weight")
    qtbot.addWidget(chart)
    rows = [Whisker("x", 1.0, 0.5, 1.5, ""), Whisker("y", 2.0, 1.0, 3.0, "")]
    for colour in (3, 10):
        chart.show_rows(rows, RunLook("run", colour))
        assert chart.dots.opts["symbol"] is run_symbol(colour)


def corners(path):
    """Return the corners of an SVG path, normalised for place and size."""
    numbers = np.array(re.findall(r"-?[\d.]+(?:e-?\d+)?", path), float)
    if len(numbers) < 6 or len(numbers) % 2:
        return None
    places = numbers.reshape(-1, 2)
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return places / max(np.ptp(places, axis=0).max(), 1e-12)


def polygon(symbol):
    places = np.array([(e.x, e.y) for e in map(symbol.elementAt, range(symbol.elementCount()))])
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return places / np.ptp(places, axis=0).max()


def test_saved_picture_has_markers_as_polygons(session, three, open_view, qtbot):
    """Each run's polygon is in the SVG in the run's colour; there is no bitmap."""
    view = open_view(CompareView, session)
    shown(view, qtbot)
    root = ET.fromstring(printing.draw(view, printing.Sheet()).svg())
    svg = "{http://www.w3.org/2000/svg}"
    assert not list(root.iter(svg + "image"))
    for run in three:
        colour, wanted = LIGHT.runs[run.look.colour % 8], polygon(run_symbol(run.look.colour))
        drawn = [
            corners(mark.get("d", "") or mark.get("points", ""))
            for group in root.iter(svg + "g")
            if group.get("fill") == colour
            for mark in group
        ]
        assert any(
            found is not None
            and len(found) >= len(wanted) - 1
            and np.allclose(found[: len(wanted) - 1], wanted[:-1], atol=0.02)
            for found in drawn
        )
