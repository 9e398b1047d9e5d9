"""The legend gives way before it covers a curve: columns first, then the small print."""

import pytest
from PySide6.QtCore import QRectF

from aucstudio.gui.pages.roc.picture.legend import LegendRow, RunLegend
from aucstudio.gui.state.plan import RunLook

ROOM = QRectF(0, 0, 640, 480)
HEADER = ("", "AUC", "95 %", "pAUC")


@pytest.fixture
def legend(session):
    made = RunLegend(None)
    looks = [RunLook(f"A method called {k}", k) for k in range(6)]
    rows = [LegendRow(look, (look.name, "0.901", "0.867–0.935", "0.5")) for look in looks]
    made.show_rows(HEADER, rows, ["FPR ≤ 0.1 covers 110 negatives of 1,104"])
    return made


def size(legend):
    return legend.boundingRect().width(), legend.boundingRect().height()


def test_with_room_it_has_everything(legend):
    legend.fit(ROOM)
    assert legend.isVisible()
    assert all(width > 0 for width in legend._columns[:4])


def test_it_shrinks_until_a_corner_is_free(legend):
    legend.fit(ROOM)
    wide, high = size(legend)
    seen = []

    def is_free(place):
        seen.append(place)
        return place.width() < wide and place.height() < high

    legend.fit(ROOM, is_free)
    assert legend.isVisible()
    assert size(legend) < (wide, high)
    assert legend._columns[2] == 0
    assert legend._columns[3] > 0  # what need not go stays
    assert all(ROOM.contains(place) for place in seen)


def test_where_no_corner_is_free_it_is_small_or_not_there(legend):
    legend.fit(ROOM, lambda _place: False)
    assert legend.isVisible()
    assert legend._columns[2:] == [0, 0]
    width, height = size(legend)
    legend.fit(QRectF(0, 0, width + 60, height + 60), lambda _place: False)
    assert not legend.isVisible()


def test_where_it_has_no_room_it_is_not_there(legend):
    legend.fit(QRectF(0, 0, 120, 480))
    assert not legend.isVisible()
