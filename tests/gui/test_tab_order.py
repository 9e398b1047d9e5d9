"""Tab visits every control of the window in reading order, and returns to the first."""

import pytest

from tests.gui import real_desk

pytestmark = pytest.mark.slow

READ = (
    *("strip_run", "label_combo", "positive_combo", "open_button", "columns_button"),
    *("scheme_combo", "test_percent", "judged_range", "validation_more_button"),
    *("choose_methods_button", "method_combo", "param_kernel", "tune_button"),
    *("view_tabs_bar", "face_combo", "band_low", "band_high", "roc_plot"),
)


@pytest.mark.parametrize(("width", "height"), [(1600, 1000), (1024, 700)])
def test_tab_visits_the_window_in_reading_order(table_file, tmp_path, width, height):
    with (
        real_desk.screen(width, height) as environment,
        real_desk.program(environment, tmp_path, table_file) as hand,
    ):
        hand.until("table", str(table_file))
        hand.wait_until_idle()
        hand.tab_to(READ[0])
        visited = [READ[0]]
        while len(visited) < real_desk.MOST_TABS and visited[1:].count(READ[0]) == 0:
            visited.append(press_tab(hand))
    assert visited[-1] == READ[0], "Tab does not return to the first control"
    places = [visited.index(name) for name in READ]
    assert places == sorted(places)


def press_tab(hand):
    """Press Tab and return the name of the control that has the focus next."""
    moves = hand.ask("desk")["moves"]
    hand.press("Tab")
    return hand.wait("Tab to move on", lambda desk: desk["moves"] > moves, "desk")["focus"]
