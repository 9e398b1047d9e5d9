"""No control is cut in narrow to very wide windows with text of 100 or 200 %."""

import pytest
from PySide6.QtWidgets import QApplication

from aucstudio.gui.app import create_window, make_application
from aucstudio.gui.state.preferences import preferences
from tests.gui.conftest import make_record, put
from tests.gui.fitting import cut_controls

# Each test creates its own window.
pytestmark = pytest.mark.slow

# With larger text, controls are cut only in narrow windows, if at all.
WIDTHS = {
    100: (1000, 1160, 1200, 1280, 1300, 1440, 1920, 3000),
    200: (1000, 1160, 1280, 1440, 1920),
}


@pytest.fixture(params=[100, 200])
def opened(request, qtbot, table_file, table, apply_style):
    preferences().put(text_size=request.param)
    make_application("light")
    window = create_window()
    window.open_now(table_file)
    qtbot.waitUntil(lambda: window.session.table is not None)
    put(window.session, make_record(table), "AUC-RLS")
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.close()
    window.deleteLater()


def resize_and_wait():
    for _ in range(4):
        QApplication.processEvents()


def test_no_control_is_cut_at_any_width(opened):
    cut = []
    for width in WIDTHS[preferences().now.text_size]:
        opened.resize(width, 900)
        for view in opened.views:
            opened.deck.show_view(view)
            resize_and_wait()
            cut += [f"{width} px, {view.title}: {what}" for what in cut_controls(opened)]
            if opened.width() > width:
                cut.append(f"{width} px, {view.title}: the window asks for {opened.width()}")
        for k in range(opened.workplace.sides.left.count()):
            opened.workplace.sides.left.setCurrentIndex(k)
            resize_and_wait()
            cut += [f"{width} px, side {k}: {what}" for what in cut_controls(opened)]
    assert not cut, "\n".join(dict.fromkeys(cut))
