"""Pictures for print: requested size, fonts and lines, without changing the window."""

import csv
import io
import re
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtGui import QAction, QColor, QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialogButtonBox, QDoubleSpinBox, QLineEdit

from aucstudio.gui.common import printing
from aucstudio.gui.common.plotting import make_plot, pen
from aucstudio.gui.common.printing import Sheet
from aucstudio.gui.common.theme import DARK, LIGHT
from aucstudio.gui.common.view import PageView
from aucstudio.gui.dialogs.export_figure import ExportFigureDialog
from aucstudio.gui.exports import columns_as_csv
from aucstudio.project.errors import InputError
from tests.gui.conftest import add_line, is_at_rest

# Each test creates its own window.
pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"
DASH = (8.0, 4.0)


class Sample(PageView):
    """A page with all elements of pictures, in known sizes and colours."""

    def __init__(self, session):
        super().__init__(session, "sample_view", "Sample")
        self.plot = make_plot("sample_plot", "False-positive rate", "True-positive rate")
        self.below = make_plot("below_plot", "Second", "")
        add_line(self.plot, [0, 1], [0, 1], pen=pen(LIGHT.runs[1], 2.0, DASH), name="line")
        marks = pg.ScatterPlotItem([0.2, 0.4, 0.6], [0.5, 0.5, 0.5], size=8, pen=None)
        marks.setBrush(LIGHT.positive)
        self.plot.addItem(marks)
        add_line(self.plot, [-5, 5], [0.87, 0.87], pen=pen("#abcdef", 2.0))
        self.plot.getViewBox().setRange(xRange=(0, 1), yRange=(0, 1))
        self.body.addWidget(self.plot, stretch=1)
        self.body.addWidget(self.below, stretch=1)
        self.below.hide()
        self.sentence.setText("One plain sentence that says what this picture shows, at length.")

    def figure(self):
        return self.plot

    def plots(self):
        return [self.plot, self.below]


@pytest.fixture
def view(open_view, session):
    return open_view(Sample, session)


def marks(drawing, kind):
    return list(ET.fromstring(drawing.svg()).iter(SVG + kind))


def texts(drawing):
    return ["".join(mark.itertext()).strip() for mark in marks(drawing, "text")]


def stroke(drawing, colour):
    """Return width and dashes, in points, of the lines of a colour."""
    (group,) = [g for g in marks(drawing, "g") if g.get("stroke") == colour and len(g)]
    scale = _points_per_unit(drawing)
    dashes = group.get("stroke-dasharray", "")
    return (
        float(group.get("stroke-width")) * scale,
        [float(dash) * scale for dash in dashes.split(",") if dash],
    )


def _points_per_unit(drawing):
    root = ET.fromstring(drawing.svg())
    return float(root.get("width")[:-2]) / 25.4 * 72 / float(root.get("viewBox").split()[2])


def streams(pdf):
    """Return the decompressed streams of a PDF."""
    found = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    unpacked = []
    for stream in found:
        try:
            unpacked.append(zlib.decompress(stream))
        except zlib.error:
            unpacked.append(stream)
    return unpacked


@pytest.mark.parametrize(("width", "height"), [(85.0, 68.0), (170.0, 110.0)])
def test_svg_has_its_size_in_millimetres_and_text_as_text(view, width, height):
    drawing = printing.draw(view, Sheet(width, height))
    root = ET.fromstring(drawing.svg())
    assert (root.get("width"), root.get("height")) == (f"{width:g}mm", f"{height:g}mm")
    box = [float(number) for number in root.get("viewBox").split()]
    assert box[2] / box[3] == pytest.approx(width / height, rel=0.01)
    assert "False-positive rate" in texts(drawing)
    assert not marks(drawing, "image")
    assert b"non-scaling" not in drawing.svg()
    assert all("sans-serif" in mark.get("font-family") for mark in marks(drawing, "text"))


@pytest.mark.parametrize("points", [6.0, 8.0, 10.0])
def test_fonts_and_lines_have_their_size_in_points(view, points):
    drawing = printing.draw(view, Sheet(font=points, line=0.75))
    scale = _points_per_unit(drawing)
    sizes = [float(mark.get("font-size")) * scale for mark in marks(drawing, "text")]
    np.testing.assert_allclose(sizes, points, rtol=0.02)
    width, dashes = stroke(drawing, LIGHT.runs[1])
    assert width == pytest.approx(0.75, rel=0.02)
    # A dash keeps its proportion to the line, which is two pixels wide in the window.
    np.testing.assert_allclose(dashes, [length * 0.75 / 2.0 for length in DASH], rtol=0.02)
    assert stroke(printing.draw(view, Sheet(line=2.0)), LIGHT.runs[1])[0] == pytest.approx(
        2.0, rel=0.02
    )


@pytest.mark.parametrize("caption", [False, True])
def test_footnote_is_part_of_the_picture(view, monkeypatch, caption):
    monkeypatch.setattr(view, "footnote", lambda: "† Not trained for this range")
    written = " ".join(texts(printing.draw(view, Sheet(caption=caption))))
    assert "† Not trained for this range" in written
    assert ("One plain sentence" in written) == caption


def test_lines_are_drawn_at_the_data(view):
    """The line from 0, 0 to 1, 1 goes from corner to corner of the axes."""
    root = ET.fromstring(printing.draw(view, Sheet()).svg())
    (group,) = [g for g in root.iter(f"{SVG}g") if g.get("stroke") == LIGHT.runs[1] and len(g)]
    numbers = re.findall(r"-?[\d.]+", group[0].get("d") or group[0].get("points"))
    xs, ys = np.array(numbers, float).reshape(-1, 2).T
    wide, high = (float(number) for number in root.get("viewBox").split()[2:])
    assert len(xs) == 2
    assert 0.05 * wide < xs.min() < 0.3 * wide < 0.9 * wide < xs.max() < wide
    assert 0 < ys.min() < 0.1 * high < 0.7 * high < ys.max() < high
    assert (ys[0] - ys[1]) * (xs[0] - xs[1]) < 0


def test_lines_after_a_nested_clip_are_clipped_to_the_axes(view):
    """A text within the axes has its own clip; a line after it is still clipped to the axes."""
    words = pg.TextItem("words", color="#123456")
    view.plot.addItem(words)
    words.setPos(0.5, 0.2)
    over = add_line(view.plot, [-5, 5], [0.7, 0.7], pen=pen("#fedcba", 2.0))
    over.setZValue(50)
    key = pg.LegendItem(offset=(30, 30))
    key.setParentItem(view.plot.getViewBox())
    key.addItem(over, "over")
    drawing = printing.draw(view, Sheet())
    assert "words" in texts(drawing)
    root = ET.fromstring(drawing.svg())
    clips = {
        f"url(#{clip.get('id')})": np.array(re.findall(r"-?[\d.]+", clip[0].get("d")), float)
        for clip in root.iter(f"{SVG}clipPath")
    }
    wide = float(root.get("viewBox").split()[2])
    parents = {child: parent for parent in root.iter() for child in parent}
    found = [g for g in parents if g.get("stroke") == "#fedcba" and len(g)]
    widths = {round(np.ptp(clips[parents[g].get("clip-path")][::2])) for g in found}
    assert all(width < 0.95 * wide for width in widths)


def test_data_outside_the_axes_is_not_painted(view):
    """The line from -5 to 5 is clipped at the axes in every format."""
    drawing = printing.draw(view, Sheet(line=2.0))
    image = drawing.image(200)
    sought = QColor("#abcdef").rgb()
    columns = [
        x
        for x in range(image.width())
        if any(image.pixel(x, y) == sought for y in range(image.height()))
    ]
    assert image.width() * 0.08 < min(columns)
    assert max(columns) > image.width() * 0.9
    parents = {child: parent for parent in ET.fromstring(drawing.svg()).iter() for child in parent}
    held = [p for c, p in parents.items() if c.get("stroke") == "#abcdef" and len(c)]
    assert held
    assert all("clip-path" in parent.attrib for parent in held)


@pytest.mark.parametrize("dpi", [150, 300, 600])
def test_png_has_its_size_and_resolution(view, dpi, tmp_path):
    sheet = Sheet(dpi=dpi)
    path = tmp_path / "picture.png"
    printing.write_figure(printing.draw(view, sheet), path, sheet)
    image = QImage(str(path))
    assert image.width() == round(85 / 25.4 * dpi)
    assert image.height() == round(68 / 25.4 * dpi)
    assert image.dotsPerMeterX() == pytest.approx(dpi / 0.0254, abs=1)
    # A line of one point is as many pixels wide as a point has, between the lines of the grid.
    column = round(image.width() * 0.63)
    sought = np.array(QColor("#abcdef").getRgb()[:3])
    colours = [QColor(image.pixel(column, y)).getRgb()[:3] for y in range(image.height())]
    near = np.abs(np.array(colours) - sought).max(axis=1) <= 24
    assert near.sum() == pytest.approx(dpi / 72, abs=1.5)


def test_pdf_has_fonts_and_vector_lines(view):
    sheet = Sheet(title="A title of its own")
    pdf = printing.draw(view, sheet).pdf(sheet.title)
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile" in pdf
    assert b"/Subtype /Image" not in pdf
    # Clips and antialiasing add no bitmap; text is shown by a font operator.
    content = b"".join(streams(pdf))
    assert content.count(b"BT") >= 5
    assert content.count(b" l\n") + content.count(b" l ") > 20
    (box,) = re.findall(rb"/MediaBox \[([^\]]*)\]", pdf)
    numbers = [float(number) for number in box.split()]
    assert numbers[2] == pytest.approx(85 / 25.4 * 72, abs=1)
    assert numbers[3] == pytest.approx(68 / 25.4 * 72, abs=1)


def test_title_and_caption_are_above_and_below(view):
    plain = printing.draw(view, Sheet())
    both = printing.draw(view, Sheet(title="A title", caption=True))
    assert "A title" in texts(both)
    words = " ".join(texts(both)).split()
    assert set(view.sentence.text().split()) <= set(words)
    assert not {"plain", "sentence"} & set(" ".join(texts(plain)).split())


def test_saved_picture_is_light_in_any_theme(view, window):
    window.set_theme("dark")
    view.restyle()
    add_line(view.plot, [0, 1], [0.2, 0.2], pen=pen(DARK.runs[2], 2.0))
    light = printing.draw(view, Sheet()).svg().decode()
    dark = printing.draw(view, Sheet(light=False)).svg().decode()
    window.set_theme("light")
    assert LIGHT.runs[2] in light
    assert LIGHT.muted in light
    assert DARK.card not in light
    # The grid, too, has no colour blended with the dark background.
    used = set(re.findall(r'stroke="(#[0-9a-f]{6})"', light))
    roles = {value for value in vars(LIGHT).values() if isinstance(value, str)}
    assert used <= roles | set(LIGHT.runs) | {"#abcdef", "#000000", "#ffffff"}
    assert DARK.card in dark
    assert DARK.runs[2] in dark


def test_drawing_does_not_change_the_window(view):
    before = view.grab().toImage()
    ranges = view.plot.getViewBox().viewRange()
    printing.fitting(view, Sheet())
    printing.draw(view, Sheet(170.0, 40.0))
    assert view.updatesEnabled()
    assert view.plot.getViewBox().viewRange() == ranges
    assert view.grab().toImage() == before


def test_both_plots_of_a_page_are_drawn(view, qtbot):
    view.below.show()
    qtbot.waitUntil(lambda: view.below.width() > 100 and view.below.isVisible())
    drawing = printing.draw(view, Sheet(170.0, 80.0))
    found = texts(drawing)
    assert "False-positive rate" in found
    assert "Second" in found


def test_page_that_was_never_shown_is_drawn(session, qtbot):
    hidden = Sample(session)
    qtbot.addWidget(hidden)
    root = ET.fromstring(printing.draw(hidden, Sheet()).svg())
    (group,) = [g for g in root.iter(f"{SVG}g") if g.get("stroke") == LIGHT.runs[1] and len(g)]
    numbers = re.findall(r"-?[\d.]+", group[0].get("d") or group[0].get("points"))
    wide = float(root.get("viewBox").split()[2])
    assert np.ptp(np.array(numbers, float)[::2]) > 0.7 * wide


def test_font_shrinks_if_the_layout_does_not_fit(view):
    key = pg.LabelItem("A key that is much too long for one column " * 3)
    view.plot.frame.layout.addItem(key, 5, 1)
    view.grab()
    fitted = printing.fitting(view, Sheet())
    assert 3.0 < fitted.font < 8.0
    assert printing.fitting(view, fitted).font == pytest.approx(fitted.font, rel=0.06)


def test_unknown_file_extension_is_rejected(view, tmp_path):
    with pytest.raises(InputError, match=r"picture\.bmp has another ending"):
        printing.write_figure(printing.draw(view, Sheet()), tmp_path / "picture.bmp", Sheet())


def test_clipboard_has_an_image_and_svg(view):
    printing.copy_to_clipboard(printing.on_screen(view), 192)
    data = QGuiApplication.clipboard().mimeData()
    image = data.imageData()
    area = view.plot.size()
    assert image.width() == pytest.approx(2 * area.width(), abs=2)
    assert image.height() == pytest.approx(2 * area.height(), abs=2)
    assert QSvgRenderer(data.data("image/svg+xml")).isValid()


# ----------------------------------------------------------------- dialog


@pytest.fixture
def dialog(view, session, qtbot):
    made = ExportFigureDialog(session, view, view)
    qtbot.addWidget(made)
    made.show()
    return made


def test_dialog_saves_and_remembers_its_settings(dialog, view, session, answers, tmp_path):
    preset = dialog.findChild(QComboBox, "figure_preset")
    preset.setCurrentIndex(2)
    preset.activated.emit(2)
    assert dialog.findChild(QDoubleSpinBox, "figure_width").value() == 170.0
    dialog.findChild(QDoubleSpinBox, "figure_font").setValue(9.0)
    dialog.findChild(QLineEdit, "figure_title").setText("Figure 1")
    dialog.findChild(QCheckBox, "figure_caption").setChecked(True)
    answers.save_path = str(tmp_path / "one.svg")
    dialog.buttons.button(QDialogButtonBox.StandardButton.Save).click()
    root = ET.parse(tmp_path / "one.svg").getroot()
    assert root.get("width") == "170mm"
    assert "Figure 1" in "".join(root.itertext())
    assert not dialog.isVisible()
    again = ExportFigureDialog(session, view, view)
    kept = again.sheet()
    assert kept == Sheet(170.0, 110.0, 9.0, 1.0, caption=True)
    again.deleteLater()


def test_custom_size_is_shown_as_other_size(dialog):
    preset = dialog.findChild(QComboBox, "figure_preset")
    dialog.findChild(QDoubleSpinBox, "figure_height").setValue(55.0)
    assert preset.currentText() == "Other size"
    dialog.findChild(QDoubleSpinBox, "figure_height").setValue(68.0)
    assert preset.currentText().startswith("One column")


def test_the_preview_shows_the_picture(dialog, qtbot):
    dialog.findChild(QDoubleSpinBox, "figure_line").setValue(3.0)
    qtbot.waitUntil(lambda: is_at_rest(dialog))
    picture = dialog.preview.grab().toImage()
    seen = {
        QColor(picture.pixel(x, y)).name()
        for x in range(0, picture.width(), 2)
        for y in range(0, picture.height(), 2)
    }
    assert {"#ffffff", LIGHT.runs[1]} <= seen


def test_failed_save_is_reported_in_the_dialog(dialog, answers, tmp_path):
    answers.save_path = str(tmp_path / "no such folder" / "one.pdf")
    dialog.buttons.button(QDialogButtonBox.StandardButton.Save).click()
    assert "cannot write" in dialog.words.text()
    assert dialog.isVisible()


def test_copy_fills_the_clipboard(dialog):
    dialog.copy.click()
    data = QGuiApplication.clipboard().mimeData()
    assert data.hasImage()
    assert "image/svg+xml" in data.formats()


# ----------------------------------------------------------------- numbers


def test_csv_preserves_the_numbers():
    rng = np.random.default_rng(3)
    columns = {
        "run, name": ["a,b", 'say "so"', "line\nbreak", "ü"],
        "fpr": rng.random(4) * 10.0 ** rng.integers(-300, 300, 4),
        "row": np.arange(4),
        "missing": [np.nan, None, 0.1, float(np.float32(0.1))],
    }
    header, *rows = csv.reader(io.StringIO(columns_as_csv(columns)))
    assert header == list(columns)
    back = list(zip(*rows, strict=True))
    assert list(back[0]) == columns["run, name"]
    np.testing.assert_array_equal([float(cell) for cell in back[1]], columns["fpr"])
    np.testing.assert_array_equal([int(cell) for cell in back[2]], columns["row"])
    assert back[3][:2] == ("", "")
    assert [float(cell) for cell in back[3][2:]] == columns["missing"][2:]


def test_figure_data_is_saved(qtbot, window, table_file, answers, tmp_path, monkeypatch):
    window.open_now(table_file)
    view = window.deck.active()
    monkeypatch.setattr(view, "figure_data", lambda: {"fpr": np.array([0.0, 1 / 3]), "run": "ab"})
    answers.save_path = str(tmp_path / "data.csv")
    window.findChild(QAction, "action_export_figure_data").trigger()
    written = tmp_path / "data.csv"
    qtbot.waitUntil(written.exists)
    qtbot.waitUntil(lambda: written.stat().st_size > 0)
    assert written.read_bytes() == b"fpr,run\n0.0,a\n0.3333333333333333,b\n"
    monkeypatch.setattr(view, "figure_data", dict)
    written.unlink()
    window.findChild(QAction, "action_export_figure_data").trigger()
    assert not written.exists()
    assert "shows no numbers yet" in window.statusBar().currentMessage()
