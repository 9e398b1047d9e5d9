"""The legend gives way before it covers a curve: the small print goes first."""

import pytest
from PySide6.QtCore import QRectF

from aucstudio.gui.pages.roc.cards import LegendRow, RunLegend
from aucstudio.gui.state.plan import RunLook

ROOM = QRectF(0, 0, 640, 480)


@pytest.fixture
def legend(session):
    made = RunLegend(None)
    looks = [RunLook(f"A method called {k}", k) for k in range(6)]
    rows = [LegendRow(look, look.name) for look in looks]
    made.show_rows(rows, ["FPR ≤ 0.1 covers 110 negatives of 1,104, and some more small print"])
    return made


def size(legend):
    return legend.boundingRect().width(), legend.boundingRect().height()


def test_it_leaves_the_small_print_until_a_corner_is_free(legend):
    legend.fit(ROOM)
    assert legend.isVisible()
    wide, high = size(legend)
    seen = []

    def is_free(place):
        seen.append(place)
        return place.width() < wide and place.height() < high

    legend.fit(ROOM, is_free)
    assert legend.isVisible()
    assert size(legend) < (wide, high)
    assert all(ROOM.contains(place) for place in seen)


def test_where_no_corner_is_free_it_is_small_or_not_there(legend):
    legend.fit(ROOM)
    whole = size(legend)
    legend.fit(ROOM, lambda _place: False)
    assert legend.isVisible()
    width, height = size(legend)
    assert (width, height) < whole
    legend.fit(QRectF(0, 0, width + 60, height + 60), lambda _place: False)
    assert not legend.isVisible()


def test_where_it_has_no_room_it_is_not_there(legend):
    legend.fit(QRectF(0, 0, 120, 480))
    assert not legend.isVisible()
