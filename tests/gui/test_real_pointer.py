"""Tabs under a real pointer: a drag that only Qt sees must not swallow a click."""

import pytest

from tests.gui import real_desk

pytestmark = pytest.mark.slow


@pytest.fixture
def hand(table_file, tmp_path):
    with (
        real_desk.screen(1600, 1000) as environment,
        real_desk.program(environment, tmp_path, table_file) as hand,
    ):
        hand.until("table", str(table_file))
        yield hand


def test_each_click_on_a_tab_opens_its_page(hand):
    hand.wait("the tabs", lambda tabs: all(tab["reached"] for tab in tabs.values()), "tabs")
    tabs = hand.ask("tabs")
    names = list(tabs)
    assert len(names) > 5
    for name in [*names[1:], *reversed(names[:-1])]:
        x, y = tabs[name]["x"], tabs[name]["y"]
        hand.do("mousemove", x, y, "click", 1)
        hand.until("page", name)
        # Hover: the pointer moves along the tabs, over the picture and back.
        for dx, dy in ((4, 0), (12, 1), (24, 2), (40, 3), (30, 200), (24, 2)):
            hand.do("mousemove", x + dx, y + dy)
