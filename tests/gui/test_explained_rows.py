"""The contributions to the score of a row, from a click on any page to the bars."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication

from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.data.data_view import ROWS, DataView
from aucstudio.gui.pages.model import row as row_picture
from aucstudio.gui.pages.model.model_view import ModelView
from aucstudio.gui.pages.scores.scores_view import ScoresView
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.explain.contributions import explain_row
from aucstudio.project.survey.rows import CHOSEN
from tests.conftest import write_file
from tests.gui.conftest import choose, make_record, put, refresh_and_wait, trigger

FOLDS = Validation("folds", folds=4)


@pytest.fixture
def view(table_session, open_view):
    return open_view(ModelView, table_session, (728, 640))


def explained(qtbot, view, row, split=0):
    view.session.point_at(split=split)
    view.session.point_at(row=row)
    view.show_row()
    refresh_and_wait(qtbot, view)
    qtbot.waitUntil(lambda: not view.busy())
    return view.row_part


def test_bars_match_the_contributions(qtbot, table_session, view):
    record = put(table_session, make_record(table_session.table))
    split = record.splits[0]
    row = int(split.test_rows[3])
    part = explained(qtbot, view, row)
    assert view.part is part
    expected = explain_row(table_session.table, split.model, row, split.train_rows)
    assert [one.value for one in part.chart.rows] == [p.contribution for p in expected.parts]
    assert_allclose(part.chart.lengths.opts["width"], [abs(p.contribution) for p in expected.parts])
    up = [part_.contribution > 0 for part_ in expected.parts]
    colours = [brush.color().name() for brush in part.chart.lengths.opts["brushes"]]
    theme = current_theme()
    assert colours == [theme.positive if one else theme.negative for one in up]
    assert part.row_box.value() == row + 1
    said = view.sentence.text()
    assert "held this row out" in said
    assert "exact" in said
    label = table_session.table.column(table_session.table.label)
    assert said.startswith(f"Row {row + 1:,} ({label.values[row]}, a ")
    assert f"{label.name} = {label.values[row]}" in said
    entries = [words.text for _, words in part.chart.legend.items]
    assert entries == [f"towards {split.model.positive}", f"towards {split.model.negative}"]
    assert part.chart.rows[0].name == f"{expected.parts[0].column} = {expected.parts[0].value}"
    columns = view.figure_data()
    assert sum(columns["contribution"]) == pytest.approx(expected.score - expected.mean)
    assert list(columns["column"]) == [p.column for p in expected.parts]


def test_headline_states_the_outcome_at_the_threshold(qtbot, table_session, view):
    record = put(table_session, make_record(table_session.table))
    split = record.splits[0]
    row, score = int(split.test_rows[3]), float(split.test_scores[3])
    is_positive = bool(split.test_positive[3])
    explained(qtbot, view, row)
    for threshold, above in ((score - 1.0, True), (score + 1.0, False)):
        table_session.point_at(threshold=threshold)
        refresh_and_wait(qtbot, view)
        kind = f"{'true' if above == is_positive else 'false'} "
        kind += "positive" if above else "negative"
        side = "above" if above else "below"
        own = "positive" if is_positive else "negative"
        said = view.sentence.text()
        assert f"a {own} {side} the threshold: {kind}) scores" in said


def test_row_number_field_selects_the_row(qtbot, table_session, view):
    put(table_session, make_record(table_session.table))
    part = explained(qtbot, view, 0)
    before = part.found
    part.row_box.setValue(18)
    refresh_and_wait(qtbot, view)
    assert table_session.focus.row == 17
    assert part.found.row == 17
    table_session.point_at(row=0)
    refresh_and_wait(qtbot, view)
    assert part.found is before  # already computed
    table_session.point_at(row=None)
    refresh_and_wait(qtbot, view)
    split = table_session.run(table_session.selected).record.splits[0]
    positives = split.test_rows[split.test_positive]
    worst = positives[np.argmin(split.test_scores[split.test_positive])]
    assert part.row_box.value() == worst + 1  # without a row, the positive with the lowest rank
    assert table_session.focus.row is None


def test_sentence_names_the_split_that_held_the_row_out(qtbot, table_session, view):
    record = put(table_session, make_record(table_session.table, validation=FOLDS))
    row = int(record.splits[2].test_rows[0])
    part = explained(qtbot, view, row, split=1)
    assert "Split 2 trained on this row; split 3 held it out." in view.sentence.text()
    assert view.split_combo.isVisible()
    table_session.point_at(split=2)
    refresh_and_wait(qtbot, view)
    assert "Split 3 held this row out." in view.sentence.text()
    assert part.found.score == pytest.approx(record.splits[2].test_scores[0])


def test_sampled_contributions_have_errors_and_can_be_stopped(
    qtbot, table_session, view, monkeypatch
):
    put(table_session, make_record(table_session.table, "svm", {"kernel": "rbf"}))
    part = explained(qtbot, view, 7)
    assert not part.found.exact
    assert all(row.low < row.value < row.high for row in part.chart.rows)
    assert "standard error" in view.sentence.text()
    assert not part.stop_button.isVisible()
    assert not part.again_button.isVisible()

    real = row_picture.explain_row

    def stopped_at_once(*data, listen, **options):
        return real(*data, listen=lambda *message: listen(*message) or True, **options)

    monkeypatch.setattr(row_picture, "explain_row", stopped_at_once)
    table_session.point_at(row=8)
    refresh_and_wait(qtbot, view)
    assert part.found is None  # stopped before there was a result
    assert part.again_button.isVisible()
    monkeypatch.setattr(row_picture, "explain_row", real)
    part.again_button.click()
    qtbot.waitUntil(lambda: not view.busy())
    assert part.found.found.complete


def test_pages_open_the_explanation_of_a_row(qtbot, table_session, open_view):
    asked = []
    table_session.asked.connect(lambda *_: asked.append(table_session.focus.row))
    data = open_view(DataView, table_session)
    choose(data.show_combo, ROWS)
    refresh_and_wait(qtbot, data)
    assert not data.explain_button.isVisible()
    record = put(table_session, make_record(table_session.table))
    refresh_and_wait(qtbot, data)
    qtbot.waitUntil(lambda: data.found is not None and not data.busy())
    assert data.explain_button.isVisible()
    table_session.point_at(row=4)
    refresh_and_wait(qtbot, data)
    data.explain_button.click()
    menu = data.sheet.cell_menu(data.sheet.model_.index(9, 0))
    trigger(menu, "data_explain_action")
    scores = open_view(ScoresView, table_session)
    refresh_and_wait(qtbot, scores)
    scores.worst.list.setCurrentIndex(scores.worst.list.sheet.index(0, 0))
    scores.worst.explain_button.click()
    worst = int(scores.worst.worst.rows[0])
    menu = scores.menu_of(scores.figure())
    trigger(menu, f"plot_explain_{worst}_action")
    scores.worst.list.activated.emit(scores.worst.list.currentIndex())
    assert asked == [4, 9, worst, worst, worst]
    assert np.isin(worst, record.splits[0].test_rows)


def test_selected_row_is_the_one_that_is_explained(qtbot, table_session, open_view):
    asked = []
    table_session.asked.connect(lambda *_: asked.append(table_session.focus.row))
    put(table_session, make_record(table_session.table))
    data = open_view(DataView, table_session)
    choose(data.show_combo, ROWS)
    refresh_and_wait(qtbot, data)
    qtbot.waitUntil(lambda: data.found is not None and not data.busy())
    sheet = data.sheet
    QApplication.sendEvent(sheet, QFocusEvent(QEvent.Type.FocusIn))
    assert table_session.focus.row is None  # a cell is current, and none was chosen
    data.hide()
    table_session.point_at(row=7)
    data.show()
    qtbot.waitUntil(lambda: sheet.place()[0] == 7)
    data.explain_button.click()
    data.show_rows((12,))
    qtbot.waitUntil(lambda: not data.busy())
    cell = sheet.visualRect(sheet.currentIndex()).center()
    qtbot.mouseClick(sheet.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    data.explain_button.click()
    qtbot.keyClick(sheet, Qt.Key.Key_Down)
    data.explain_button.click()
    assert asked == [7, 12, 13]
    data.filters.ask(chosen=(3,), part=CHOSEN)
    qtbot.waitUntil(lambda: not data.busy())
    assert sheet.place()[0] is None
    assert not data.explain_button.isEnabled()


def test_many_columns_are_merged_until_all_are_shown(qtbot, session, open_view, tmp_path):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(80, 40)), np.arange(80) % 3 == 0
    lines = [",".join([*(f"c{k}" for k in range(40)), "y"])]
    lines += [
        ",".join([*(f"{x:.4f}" for x in row), "yes" if one else "no"])
        for row, one in zip(X, y, strict=True)
    ]
    path = write_file(tmp_path / "wide.csv", "\n".join(lines) + "\n")
    session.study.table = read_table(path, label="y")
    put(session, make_record(session.table))
    view = open_view(ModelView, session, (728, 640))
    part = explained(qtbot, view, 2)
    detail = part.found
    assert len(part.chart.rows) == 15
    last = part.chart.rows[-1]
    assert last.name == "and 26 others"
    assert last.value == pytest.approx(sum(p.contribution for p in detail.parts[14:]))
    part.all_check.click()
    assert len(part.chart.rows) == 40
    assert part.chart.scroller.isVisible()
    assert len(view.figure_data()["column"]) == 40


def test_window_opens_the_explanation_and_goes_back(window, table_file, run_to_end, qtbot):
    window.open_now(table_file)
    run_to_end(window)
    deck, session = window.deck, window.session
    window.session.show_rows((3,))
    qtbot.waitUntil(lambda: deck.active().objectName() == "data_view")
    session.explain_row(3)
    page = deck.active()
    assert page.objectName() == "model_view"
    assert page.part is page.row_part
    qtbot.waitUntil(lambda: not page.busy() and page.row_part.found is not None)
    assert page.row_part.found.row == 3
    session.asked.emit("back", ())
    assert deck.active().objectName() == "data_view"
