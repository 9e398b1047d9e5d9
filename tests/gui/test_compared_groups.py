"""The chosen run by the levels of a column, in the page Compare."""

import dataclasses
import threading

import numpy as np
import pytest
from pyqtgraph import TextItem

from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.compare import subgroups as page_module
from aucstudio.gui.pages.compare.compare_view import GROUPS, PICTURE, CompareView
from aucstudio.gui.pages.compare.subgroups import statement
from aucstudio.notices import text
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.subgroups import subgroups
from aucstudio.project.results.summary import Estimate
from aucstudio.project.results.thresholds import Target
from tests.gui.conftest import Gate, make_record, pick, points, put, refresh_and_wait

BAND = (0.0, 0.1)


@pytest.fixture
def view(table_session, open_view):
    return open_view(CompareView, table_session, (728, 640))


def choose_mode(view, mode, qtbot):
    view.show_switch.choose(mode)
    refresh_and_wait(qtbot, view)
    qtbot.waitUntil(lambda: not view.busy())


def test_levels_with_few_positives_are_not_quoted(table_session, view, qtbot):
    put(table_session, make_record(table_session.table))
    choose_mode(view, GROUPS, qtbot)
    few, enough = (
        dataclasses.replace(group, positives=n, level=name, auc=Estimate(auc, auc, auc))
        for group, n, name, auc in zip(
            view.groups.found.groups, (1, 40), ("rare", "common"), (0.1, 0.8), strict=True
        )
    )
    found = dataclasses.replace(view.groups.found, groups=(few, enough), p_auc=np.nan)
    headline = statement(found, "Run", BAND, Target()).headline
    assert "AUC 0.800 (common)" in headline
    assert "rare" not in headline
    found = dataclasses.replace(found, groups=(few,))
    assert "rare" not in statement(found, "Run", BAND, Target()).headline


def test_the_only_level_with_enough_rows_is_named_as_such(table_session, view, qtbot):
    put(table_session, make_record(table_session.table))
    choose_mode(view, GROUPS, qtbot)
    both = [
        dataclasses.replace(g, positives=40, negatives=40) for g in view.groups.found.groups[:2]
    ]
    for few in (True, False):
        rare = dataclasses.replace(both[0], positives=1 if few else 40)
        found = dataclasses.replace(view.groups.found, groups=(rare, both[1]))
        assert ("the only level" in statement(found, "Run", BAND, Target()).headline) is few


def test_only_a_message_is_shown_before_there_are_levels(table_session, view, qtbot):
    assert not view.content.isVisible()
    assert view.hint.isVisible()
    choose_mode(view, GROUPS, qtbot)
    assert not view.groups.plot.isVisible()
    put(table_session, make_record(table_session.table))
    refresh_and_wait(qtbot, view)
    qtbot.waitUntil(view.groups.plot.isVisible)
    assert not view.hint.isVisible()


def by(view, column, qtbot):
    pick(view.groups.by_combo, column)
    qtbot.waitUntil(lambda: not view.busy())


def test_curves_and_figures_are_shown_per_level(table_session, view, qtbot):
    record = put(table_session, make_record(table_session.table))
    choose_mode(view, GROUPS, qtbot)
    page = view.groups
    assert page.by_combo.currentData() == "town"
    expected = subgroups(record, table_session.table, "town", BAND, thresholds=[0.0])
    assert [group.level for group in page.found.groups] == ["north", "south"]
    for line, group, wanted in zip(
        page.picture.lines, page.found.groups, expected.groups, strict=True
    ):
        np.testing.assert_array_equal(points(line), np.column_stack(wanted.curve))
        assert group.auc == wanted.auc
        assert group.tpr == wanted.tpr
    cells = [page.table.sheet.index(0, c).data() for c in range(page.table.sheet.columnCount())]
    assert cells[0] == "north"
    assert cells[2].startswith(f"{expected.groups[0].auc.value:.3f}\n")
    assert page.table.height() > page.height() / 3
    assert "by town" in view.sentence.text()
    assert view.figure() is page.plot
    assert view.figure_data()["town"] == ["north", "south"]
    assert view.figure_data()["auc"][0] == page.found.groups[0].auc.value
    assert not view.copy_tables.isEnabled()  # Copy numbers copies them
    assert not view.measure_combo.isVisible()
    assert page.by_combo.isVisible()
    page.table.selectRow(1)
    assert page.picture.lines[1].opts["pen"].widthF() > page.picture.lines[0].opts["pen"].widthF()
    choose_mode(view, PICTURE, qtbot)
    assert view.measure_combo.isVisible()
    assert not page.by_combo.isVisible()
    assert "town" not in view.sentence.text()


def test_of_many_levels_those_with_most_positives_are_drawn_and_named(
    session, open_view, tmp_path, qtbot
):
    path, rng = tmp_path / "wards.csv", np.random.default_rng(0)
    rows = [(k % 20, rng.normal(), int(rng.random() < 0.1 + 0.03 * (k % 20))) for k in range(2000)]
    lines = [f"w{ward:02},{x + y:.4f},{y}" for ward, x, y in rows]
    path.write_text("\n".join(["ward,x,y", *lines]), encoding="utf-8")
    session.files.open_now(path, "table")
    view = open_view(CompareView, session, (728, 640))
    put(session, make_record(session.table))
    choose_mode(view, GROUPS, qtbot)
    by(view, "ward", qtbot)
    page = view.groups
    groups = page.found.groups
    assert len(groups) == 20
    most = sorted(groups, key=lambda group: -group.positives)[:8]
    assert len(page.picture.lines) == 8
    drawn = {name.text for _line, name in page.picture.legend.items}
    assert drawn == {group.level for group in most}
    assert text("levels_drawn", drawn=8, levels=20) in view.sentence.text()
    hidden = next(k for k, group in enumerate(groups) if group.level not in drawn)
    page.table.selectRow(hidden)
    assert len(page.picture.lines) == 9
    widths = [line.opts["pen"].widthF() for line in page.picture.lines]
    assert widths.index(max(widths)) == 8


def test_numbers_are_split_at_quartiles_and_cut_points(table_session, view, qtbot):
    put(table_session, make_record(table_session.table, validation=Validation("folds", folds=3)))
    choose_mode(view, GROUPS, qtbot)
    page = view.groups
    assert not page.cuts_field.isVisible()
    by(view, "x0", qtbot)
    assert page.cuts_field.isVisible()
    assert len(page.found.groups) == 4
    page.cuts_field.setText("0.5")
    page.cuts_field.editingFinished.emit()
    qtbot.waitUntil(lambda: not view.busy())
    assert [group.level for group in page.found.groups] == ["below 0.5", "0.5 and above"]
    page.cuts_field.setText("low")
    page.cuts_field.editingFinished.emit()
    assert "Cut points are up to 19 numbers" in view.sentence.text()
    assert page.found is None
    assert not view.copy_tables.isEnabled()


def test_rates_follow_the_threshold(table_session, view, qtbot):
    put(table_session, make_record(table_session.table))
    table_session.set_threshold(threshold=0.0)
    choose_mode(view, GROUPS, qtbot)
    assert "the default threshold" in view.sentence.text()
    before = view.groups.found.groups[0].tpr
    table_session.set_threshold(threshold=1e6)
    refresh_and_wait(qtbot, view)
    qtbot.waitUntil(lambda: not view.busy())
    assert view.groups.found.groups[0].tpr.value == 0.0 != before.value
    assert "the chosen threshold" in view.sentence.text()


def test_missing_run_or_table_shows_a_reason(table_session, view, qtbot):
    choose_mode(view, GROUPS, qtbot)
    assert "Choose a finished run" in view.sentence.text()
    record = make_record(table_session.table, "rls", validation=Validation("leave-pair-out"))
    put(table_session, record)
    refresh_and_wait(qtbot, view)
    qtbot.waitUntil(lambda: not view.busy())
    assert "leave-pair-out" in view.sentence.text()
    table_session.study.table = None
    table_session.notify({"table"})
    refresh_and_wait(qtbot, view)
    assert "Open the table" in view.sentence.text()


def test_curves_of_another_run_do_not_stay_while_it_is_computed(
    table_session, view, qtbot, monkeypatch
):
    put(table_session, make_record(table_session.table))
    put(table_session, make_record(table_session.table, "svm"))
    choose_mode(view, GROUPS, qtbot)
    assert view.groups.picture.lines
    other = next(r for r in table_session.shown_runs() if r.record.id != table_session.selected)
    gate, real = threading.Event(), page_module.subgroups

    def waiting(*arguments):
        gate.wait(60)
        return real(*arguments)

    monkeypatch.setattr(page_module, "subgroups", waiting)
    table_session.select(other.record.id)
    qtbot.waitUntil(lambda: view.groups.found is None)
    assert not view.groups.picture.lines
    gate.set()
    qtbot.waitUntil(lambda: not view.busy())
    assert view.groups.picture.lines


def test_levels_have_colours_of_the_palette_and_names_beside_their_curves(
    table_session, view, qtbot
):
    put(table_session, make_record(table_session.table))
    choose_mode(view, GROUPS, qtbot)
    page, runs = view.groups, current_theme().runs
    inks = [line.opts["pen"].color().name() for line in page.picture.lines]
    assert {*inks} <= {colour.lower() for colour in runs}
    assert len({*inks}) == len(page.found.groups)
    names = [item.toPlainText() for item in page.plot.items() if isinstance(item, TextItem)]
    assert sorted(names) == ["north", "south"]


def test_level_without_positives_is_listed_and_its_failure_replaces_old_figures(
    table_session, view, qtbot, monkeypatch
):
    table = table_session.table
    record = put(table_session, make_record(table))
    choose_mode(view, GROUPS, qtbot)
    page = view.groups
    real = page_module.subgroups

    def with_empty_level(*arguments):
        found = real(*arguments)
        first, *others = found.groups
        nan = Estimate(np.nan, np.nan, np.nan)
        none = dataclasses.replace(
            first, level="d", positives=0, auc=nan, pauc=nan, curve=(np.empty(0), np.empty(0))
        )
        return dataclasses.replace(found, groups=(none, *others))

    monkeypatch.setattr(page_module, "subgroups", with_empty_level)
    by(view, "x0", qtbot)
    page.cuts_field.setText("0.5")
    page.cuts_field.editingFinished.emit()
    qtbot.waitUntil(lambda: not view.busy())
    sheet = page.table.sheet
    assert (sheet.index(0, 0).data(), sheet.index(0, 2).data()) == ("d", "–\nno positives")
    names = [item.toPlainText() for item in page.plot.items() if isinstance(item, TextItem)]
    assert names == [group.level for group in page.found.groups[1:]]

    def failing(*_arguments):
        raise ValueError("broken")

    monkeypatch.setattr(page_module, "subgroups", failing)
    by(view, "town", qtbot)
    assert record.splits
    assert sheet.rowCount() == 0
    assert page.found is None
    assert "broken" in view.sentence.text().casefold()
    view.refresh()
    assert "broken" in view.sentence.text().casefold()


def test_middle_says_what_is_being_compared(table_session, view, qtbot, monkeypatch):
    put(table_session, make_record(table_session.table))
    refresh_and_wait(qtbot, view)
    gate = Gate(monkeypatch, page_module, "subgroups")
    view.show_switch.choose(GROUPS)
    assert view.hint.isVisible()
    assert view.hint.text() == text("groups_computed", name="Run", column="town")
    gate.open()
    qtbot.waitUntil(lambda: not view.busy())
