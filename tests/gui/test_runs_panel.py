"""The run list: real rows and keys, and no edit is lost while runs are added."""

import dataclasses
import itertools

import pytest
from PySide6.QtCore import QEvent, QItemSelectionModel, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QFontMetrics
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QPushButton

from aucstudio.gui.panels.run_columns import COLUMNS, KEYS, scheme_words
from aucstudio.gui.panels.runs_panel import RunsPanel
from aucstudio.gui.panels.runs_table import BELOW, CAUTION, smaller
from aucstudio.gui.state.plan import Plan, RunLook
from aucstudio.gui.state.preferences import TableLook, preferences
from aucstudio.notices import text
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.leaks import leaks_used
from aucstudio.project.results.summary import Estimate, auc_summary, pauc_summary
from aucstudio.project.runs.record import FAILED, STOPPED
from aucstudio.project.typed import convert
from tests.gui.conftest import PATIENCE, card_lines, card_text, expose, make_record

Key = Qt.Key
FOLDS = Validation(scheme="folds", folds=5, repeats=2)


@pytest.fixture
def records(table):
    """Four runs that differ in method, settings and how rows were held out."""
    return [
        make_record(table),
        make_record(table, params={"regularization": 1e5}),
        make_record(table, "svm-pauc", {"fpr_range": (0.0, 0.3)}),
        make_record(table, "logistic", validation=FOLDS),
    ]


NAMES = ("plain", "stiff", "narrow", "folded")


@pytest.fixture
def panel(table_session, records, qtbot):
    made = expose(qtbot, RunsPanel(table_session), 600, 900)
    fill(table_session, dict(zip(NAMES, records, strict=True)))
    wait(qtbot, made)
    return made


class Windows(QObject):
    """Collects widgets shown as top-level windows."""

    def __init__(self):
        super().__init__()
        self.shown = []

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Show and watched.isWidgetType() and watched.isWindow():
            self.shown.append(watched.objectName())
        return False


def test_panel_with_a_selected_run_opens_no_window(table_session, records, qtbot, qapp):
    fill(table_session, {"plain": records[0]})
    watch = Windows()
    qapp.installEventFilter(watch)
    try:
        made = RunsPanel(table_session)
        qtbot.addWidget(made)
    finally:
        qapp.removeEventFilter(watch)
    assert table_session.run(table_session.selected) is not None
    assert watch.shown == []


def fill(session, runs):
    """Add runs to the list, with the last one selected."""
    looks = {}
    for k, (name, record) in enumerate(runs.items()):
        record = dataclasses.replace(record, id=name)
        session.records[name] = record
        looks[name] = RunLook(name, k)
    session.put_plan(dataclasses.replace(session.plan, looks={**session.plan.looks, **looks}))
    session.select(next(reversed(runs)))


def wait(qtbot, panel):
    """Wait until all visible figures are computed."""
    qtbot.waitUntil(lambda: not panel.session.is_band_moving)
    panel.view.viewport().repaint()
    qtbot.waitUntil(lambda: not panel.model.figures.busy)


def names(panel):
    return [panel.model.index(row, 0).data() for row in range(panel.model.rowCount())]


def cell(panel, run, key):
    return panel.model.index(panel.model.row_of(run), KEYS.index(key))


def press(qtbot, panel, key, modifiers=Qt.KeyboardModifier.NoModifier):
    qtbot.keyClick(panel.view, key, modifiers)


def choose(panel, *runs):
    marks = panel.view.selectionModel()
    flags = QItemSelectionModel.SelectionFlag
    for k, run in enumerate(runs):
        how = flags.ClearAndSelect if k == 0 else flags.Select
        marks.setCurrentIndex(panel.model.index(panel.model.row_of(run), 0), how | flags.Rows)


def trigger(menu, name):
    """Trigger an action of a menu, and delete the menu as on closing."""
    next(action for action in all_actions(menu) if action.objectName() == name).trigger()


def all_actions(menu):
    found = list(menu.actions())
    for inner in menu.findChildren(QMenu):
        found += inner.actions()
    return found


# ----------------------------------------------------------------- rows


def test_item_model_passes_qts_model_checks(panel, session, records, qtmodeltester):
    qtmodeltester.check(panel.model)
    panel.model.sort(0, Qt.SortOrder.DescendingOrder)
    fill(session, {"later": records[0]})
    session.undo_stack.clear()
    session.set_looks(("plain", "narrow"), "Remove", removed=True)
    panel.model.search("fold")
    assert names(panel) == ["folded"]


def listed(found):
    low, high = (f"{end:.3f}".removeprefix("0") for end in (found.low, found.high))
    return f"{found.value:.3f} {low}–{high}"


def test_row_shows_the_figures_of_its_run(panel, session, records):
    area, part = auc_summary(records[0]), pauc_summary(records[0], session.plan.band)
    assert cell(panel, "plain", "auc").data() == listed(area)
    assert cell(panel, "plain", "pauc").data().startswith(listed(part))
    assert f"{area.low:.3f}–{area.high:.3f}" in cell(panel, "plain", "auc").data(
        Qt.ItemDataRole.ToolTipRole
    )
    assert "mean of 10 splits" in cell(panel, "folded", "auc").data(Qt.ItemDataRole.ToolTipRole)


def test_hold_out_and_folds_look_different(panel):
    assert cell(panel, "plain", "scheme").data() == "hold-out 25 %"
    assert cell(panel, "folded", "scheme").data() == "5 folds × 2"
    panel.resize(296, 900)
    QApplication.processEvents()
    # Without its own column, the scheme is shown below the name.
    below = panel.view.itemDelegate().below
    assert below(cell(panel, "plain", "name")) == "hold-out 25 %"
    assert below(cell(panel, "folded", "name")) == "5 folds × 2"
    assert below(cell(panel, "stiff", "name")).replace("\xa0", " ") == "hold-out 25 % · λ = 100000"


def test_rename_editor_stays_open_while_runs_are_added(panel, session, records, qtbot):
    """Rebuilding the list on each finished run used to discard the text being typed."""
    session.select("stiff")
    press(qtbot, panel, Key.Key_F2)
    editor = panel.view.findChild(QLineEdit)
    editor.selectAll()
    qtbot.keyClicks(editor, "half a na")
    fill(session, {"later": records[0]})
    session.set_look("plain", "Show or hide run", visible=False)
    session.set_band(0.0, 0.2)
    panel.model.sort(KEYS.index("auc"), Qt.SortOrder.DescendingOrder)
    wait(qtbot, panel)
    panel.model.refresh()
    session.set_look("narrow", "Remove run", removed=True)
    assert panel.view.findChild(QLineEdit) is editor
    assert editor.text() == "half a na"
    qtbot.keyClicks(editor, "me")
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: session.plan.looks["stiff"].name == "half a name")
    # A selection made meanwhile is shown once the editor is closed.
    qtbot.waitUntil(lambda: panel.view.current_run().record.id == session.selected == "later")


def test_a_selected_run_stays_selected_in_a_sorted_and_filtered_list(panel, session):
    panel.model.sort(0, Qt.SortOrder.DescendingOrder)
    for run in NAMES:
        session.select(run)
        session.notify({"live"})  # as when a run starts
        assert panel.view.current_run().record.id == session.selected == run
    panel.model.search("narrow")
    session.select("narrow")
    assert panel.view.current_run().record.id == session.selected == "narrow"


def test_only_rows_whose_figures_arrived_are_painted_again(panel, session, qtbot):
    with qtbot.waitSignal(panel.model.dataChanged) as painted:
        panel.model.figures.arrived.emit([session.records["narrow"]])
    assert [index.row() for index in painted.args[:2]] == [2, 2]


def test_rows_are_added_and_removed_without_a_reset(panel, session, records, qtbot):
    with qtbot.assertNotEmitted(panel.model.modelReset):
        fill(session, {"later": records[0]})
        session.set_look("stiff", "Remove run", removed=True)
        session.undo_stack.undo()
        panel.model.sort(0)
        panel.model.search("na")
    assert names(panel) == ["narrow"]


def test_records_with_the_same_id_show_their_own_figures(panel, session, qtbot):
    """A stopped and a complete run of one experiment share an id in two studies."""
    shown = session.run("plain")
    before = cell(panel, "plain", "auc").data()
    split = shown.record.splits[0]
    turned = dataclasses.replace(split, test_scores=-split.test_scores)
    session.records["plain"] = dataclasses.replace(shown.record, splits=(turned,))
    panel.model.refresh()
    wait(qtbot, panel)
    area = auc_summary(session.records["plain"])
    assert cell(panel, "plain", "auc").data() != before
    assert cell(panel, "plain", "auc").data().startswith(f"{area.value:.3f}")


@pytest.mark.slow
def test_figures_are_computed_only_for_visible_rows(panel, session, records, qtbot):
    runs = {f"run {k}": record for k, record in zip(range(2000), itertools.cycle(records))}
    fill(session, runs)
    wait(qtbot, panel)
    values = panel.model.figures
    assert panel.model.rowCount() == 2004
    assert sum(map(values.is_current, session.records.values())) < 100
    session.select("run 1000")
    wait(qtbot, panel)
    assert values.is_current(session.run("run 1000").record)
    assert not values.is_current(session.run("run 500").record)
    session.set_band(0.0, 0.25)
    wait(qtbot, panel)
    assert not values.is_current(session.run("run 1999").record)
    assert values.is_current(session.run("run 1000").record)
    assert sum(map(values.is_current, session.records.values())) < 100


# ----------------------------------------------------------------- order


def test_every_column_sorts_with_missing_values_last(panel, session, records, qtbot):
    failed = dataclasses.replace(records[0], status=FAILED, splits=(), error="no rows")
    fill(session, {"broken": failed})
    header = panel.view.horizontalHeader()
    place = header.sectionViewportPosition(KEYS.index("auc")) + 20
    at = QPoint(place, header.height() // 2)
    best = sorted(NAMES, key=lambda name: -auc_summary(session.records[name]).value)
    for wanted in (best, best[::-1]):
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
        qtbot.waitUntil(lambda w=wanted: names(panel) == [*w, "✕ broken"])
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert names(panel) == [*NAMES, "✕ broken"]
    for column in range(len(COLUMNS)):
        panel.model.sort(column)
        assert panel.model.rowCount() == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("STIFF", ["stiff"]),
        ("svm-pauc", ["narrow"]),
        ("5 folds", ["folded"]),
        ("100000", ["stiff"]),
        ("hold-out rls", ["plain", "stiff"]),
        ("study.csv", list(NAMES)),
        ("too wide", ["plain"]),
    ],
)
def test_filter_matches_all_fields(panel, session, qtbot, typed, found):
    session.set_look("plain", "Edit notes", notes="Too wide, I think")
    qtbot.keyClicks(panel.filter, typed)
    qtbot.waitUntil(lambda: panel.model.needle == typed)
    qtbot.waitUntil(lambda: names(panel) == found)
    assert panel.count.text() == f"{len(found)} of 4"
    # The selected run stays selected even without a visible row.
    assert session.selected == "folded"


def test_escape_clears_the_filter(panel, qtbot):
    there = names(panel)
    qtbot.keyClicks(panel.filter, "zebra")
    qtbot.waitUntil(lambda: names(panel) == [])
    qtbot.keyClick(panel.filter, Key.Key_Escape)
    assert panel.filter.text() == ""
    qtbot.waitUntil(lambda: names(panel) == there)


def test_filter_without_matches_shows_a_message(panel, qtbot):
    qtbot.keyClicks(panel.filter, "zebra")
    qtbot.keyClick(panel.filter, Key.Key_Return)
    assert panel.unfound.text() == "No run matches “zebra”."
    assert not panel.view.isVisible()
    panel.filter.clear()
    qtbot.waitUntil(lambda: len(names(panel)) == 4)
    assert panel.view.isVisible()


# ----------------------------------------------------------------- verbs


def test_space_checks_all_selected_rows_in_one_step(panel, session, qtbot):
    panel.view.setFocus()
    press(qtbot, panel, Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert panel.count.text() == "4 of 4 chosen"
    press(qtbot, panel, Key.Key_Space)
    assert session.checked_runs() == []
    session.undo_stack.undo()
    assert len(session.checked_runs()) == 4


def test_delete_removes_the_selected_rows_in_one_step(panel, session, qtbot):
    choose(panel, "stiff", "narrow")
    press(qtbot, panel, Key.Key_Delete)
    assert names(panel) == ["plain", "folded"]
    assert session.selected == "folded"  # the next row below
    assert session.undo_stack.undoText() == "Remove 2 runs"
    session.undo_stack.undo()
    assert names(panel) == list(NAMES)


def test_the_last_row_can_be_deleted(panel, session, qtbot):
    press(qtbot, panel, Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    press(qtbot, panel, Key.Key_Delete)
    assert names(panel) == []
    assert session.selected is None
    assert panel.empty.isVisible()
    assert not panel.details.isVisible()


def test_removing_runs_keeps_their_records(panel, session):
    choose(panel, "plain")
    trigger(panel.actions_.run_menu(), "menu_remove")
    assert names(panel) == ["stiff", "narrow", "folded"]
    assert set(session.records) == set(NAMES)


def test_list_buttons_check_all_none_or_the_selected(panel, session):
    def press_list(name):
        panel.actions_.list_menu(panel.list_menu)
        trigger(panel.list_menu, name)
        return [run.look.name for run in session.checked_runs()]

    assert press_list("list_check_none") == []
    assert press_list("list_check_all") == list(NAMES)
    choose(panel, "plain", "folded")
    assert press_list("list_check_chosen") == ["plain", "folded"]


def test_menu_applies_to_all_selected_rows(panel, session, qtbot):
    choose(panel, "plain", "narrow")
    menu = panel.actions_.run_menu()
    enabled = {action.objectName(): action.isEnabled() for action in all_actions(menu)}
    assert not enabled["menu_rename"]
    assert not enabled["menu_reuse"]
    trigger(menu, "menu_uncheck")
    assert [run.look.name for run in session.checked_runs()] == ["stiff", "folded"]
    trigger(menu, "menu_colour_7")
    assert [session.plan.looks[run].colour for run in ("plain", "narrow")] == [6, 6]
    trigger(menu, "menu_compare")
    assert (session.selected, session.compared) == ("plain", "narrow")


def test_menu_key_opens_the_menu_at_the_row(panel, session, qtbot, monkeypatch):
    opened = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _at: opened.append(menu.objectName()))
    session.select("stiff")
    with qtbot.waitSignal(panel.view.menu_asked) as asked:
        at = QPoint(0, 0)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, at, at)
        QApplication.sendEvent(panel.view.viewport(), event)
    row = panel.view.rowAt(panel.view.viewport().mapFromGlobal(asked.args[0]).y())
    assert panel.model.run_at(row).record.id == "stiff"
    assert opened == ["run_menu"]


def test_menu_rename_opens_the_editor(panel, session, qtbot):
    choose(panel, "narrow")
    trigger(panel.actions_.run_menu(), "menu_rename")
    editor = panel.view.findChild(QLineEdit)
    editor.selectAll()
    qtbot.keyClicks(editor, "second")
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: names(panel)[2] == "second")


def test_unticking_hides_a_run(panel, session):
    index = panel.model.index(0, 0)
    panel.model.setData(index, Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    assert [run.look.name for run in session.checked_runs()] == ["stiff", "narrow", "folded"]


def test_selecting_a_row_selects_the_run(panel, session, qtbot):
    place = panel.view.visualRect(panel.model.index(0, 0)).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.selected == "plain"
    assert "Method AUC-RLS" in card_text(panel.details)


def test_arrow_keys_move_through_the_rows(panel, session, qtbot):
    session.select("plain")
    press(qtbot, panel, Key.Key_Down)
    assert session.selected == "stiff"
    press(qtbot, panel, Key.Key_End)
    assert session.selected in NAMES


# ----------------------------------------------------------------- notes


@pytest.mark.slow
def test_notes_of_the_card_are_saved_in_the_plan(panel, session, qtbot):
    session.select("stiff")
    notes = panel.details.notes
    notes.setFocus()
    qtbot.keyClicks(notes, "too stiff")
    qtbot.waitUntil(lambda: session.plan.looks["stiff"].notes == "too stiff")
    qtbot.keyClicks(notes, " by far")
    session.select("plain")
    assert session.plan.looks["stiff"].notes == "too stiff by far"
    assert notes.toPlainText() == ""
    assert cell(panel, "stiff", "notes").data() == "too stiff by far"
    assert session.undo_stack.undoText() == "Edit notes"
    session.undo_stack.undo()
    assert session.plan.looks["stiff"].notes == ""
    assert Plan.from_json(session.plan.as_json()) == session.plan


def test_note_being_typed_is_not_overwritten(panel, session, records, qtbot):
    session.select("stiff")
    notes = panel.details.notes
    notes.setFocus()
    qtbot.keyClicks(notes, "an unfinished ")
    fill(session, {"later": records[0]})
    session.select("stiff")
    assert session.plan.looks["stiff"].notes == "an unfinished"
    session.set_look("plain", "Rename run", name="first")
    assert notes.toPlainText().startswith("an unfinished")
    session.set_look("stiff", "Edit notes", notes="from the list")
    assert notes.toPlainText() == "from the list"


def test_notes_can_be_edited_in_the_list(panel, session, qtbot):
    panel.view.choose_columns(["auc", "notes"])
    index = cell(panel, "narrow", "notes")
    panel.view.setCurrentIndex(index)
    press(qtbot, panel, Key.Key_F2)
    editor = panel.view.findChild(QLineEdit)
    qtbot.keyClicks(editor, "keep this")
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: session.plan.looks["narrow"].notes == "keep this")


# ----------------------------------------------------------------- columns


@pytest.mark.parametrize(
    ("width", "least"),
    [
        (296, {"auc", "pauc"}),
        (600, {"auc", "pauc", "tpr", "gap", "scheme"}),
        (1000, {"auc", "pauc", "tpr", "gap", "scheme", "settings", "range", "notes"}),
    ],
)
def test_number_of_columns_follows_the_width(panel, width, least):
    panel.resize(width, 900)
    QApplication.processEvents()
    shown = panel.view.shown_columns()
    assert shown[0] == "name"
    assert least <= set(shown)
    assert panel.view.horizontalScrollBar().maximum() == 0
    # No column was dragged, so none has a custom width.
    assert panel.view.look() == TableLook()
    assert panel.view.columnWidth(0) >= 110


def test_chosen_columns_are_remembered(panel, session, qtbot):
    menu = panel.view.fill_column_menu(QMenu(panel))
    trigger(menu, "runs_column_day")
    trigger(menu, "runs_column_gap")
    panel.resize(296, 900)
    QApplication.processEvents()
    shown = panel.view.shown_columns()
    assert "day" in shown
    assert "gap" not in shown
    assert panel.view.horizontalScrollBar().maximum() > 0
    header = panel.view.horizontalHeader()
    header.moveSection(header.visualIndex(KEYS.index("day")), 1)
    header.resizeSection(KEYS.index("day"), 150)
    header.setSortIndicator(KEYS.index("day"), Qt.SortOrder.DescendingOrder)
    preferences().flush()
    again = RunsPanel(session)
    qtbot.addWidget(again)
    again.resize(296, 900)
    again.show()
    assert again.view.shown_columns()[:2] == ["name", "day"]
    assert again.view.columnWidth(KEYS.index("day")) == 150
    assert (again.model.by, again.model.backwards) == (KEYS.index("day"), True)
    automatic = again.view.fill_column_menu(QMenu(again))
    trigger(automatic, "runs_columns_automatic")
    assert again.view.shown_columns() == ["name", "auc", "pauc"]


def test_every_column_has_a_tooltip(panel):
    tips = [
        panel.model.headerData(k, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        for k in range(len(COLUMNS))
    ]
    assert all(tips)
    assert len(set(tips)) == len(COLUMNS)


# ----------------------------------------------------------------- warnings


def test_fallback_is_a_warning_on_the_row_and_in_the_card(panel, session, table, qtbot):
    widened = make_record(table, "svm-pauc", {"C": 1e-6, "fpr_range": (0.0, 0.1)})
    fill(session, {"widened": widened})
    assert cell(panel, "widened", "name").data(CAUTION).startswith("FPR range widened to 0 … ")
    assert not cell(panel, "plain", "name").data(CAUTION)
    assert "widened to" in cell(panel, "widened", "name").data(Qt.ItemDataRole.ToolTipRole)
    (line,) = panel.details.warnings.findChildren(type(panel.details.name), "run_warning_0")
    assert line.isVisible()
    assert line.property("role") == "warning"
    assert line.text() == str(widened.warnings[0])
    assert panel.details.remarks.text() == ""


def test_dagger_of_another_range_is_explained(panel, session, qtbot):
    tip = Qt.ItemDataRole.ToolTipRole
    assert cell(panel, "narrow", "pauc").data(BELOW).endswith("†")
    words = "† Trained for FPR 0 … 0.3, not for the range shown, 0 … 0.1."
    assert words in cell(panel, "narrow", "pauc").data(tip)
    session.select("narrow")
    assert panel.details.measure.text() == "pAUC in FPR 0 … 0.1 †"
    assert words in panel.details.warnings.sentences
    session.set_band(0.0, 0.3)
    wait(qtbot, panel)
    assert "†" not in card_text(panel.details) + cell(panel, "narrow", "pauc").data()


def test_failed_run_shows_its_error(panel, session, records):
    failed = dataclasses.replace(records[0], status=FAILED, splits=(), error="choose fewer folds")
    stopped = dataclasses.replace(records[0], status=STOPPED)
    fill(session, {"stopped": stopped, "broken": failed})
    assert names(panel)[-2:] == ["◐ stopped", "✕ broken"]
    assert cell(panel, "broken", "auc").data() == "failed"
    assert cell(panel, "broken", "pauc").data() == "–"
    assert panel.details.error.text() == "choose fewer folds"
    assert not panel.details.figure.isVisible()
    session.select("stopped")
    assert "Stopped by the user: finished fits are kept." in panel.details.warnings.sentences


def test_stopped_run_names_the_basis_of_its_figures(panel, session, records):
    record = dataclasses.replace(records[0], status=STOPPED)
    thrice = dataclasses.replace(record.experiment, validation=Validation(repeats=3))
    half = dataclasses.replace(record.splits[0], converged=False)
    for name, stopped, words in (
        ("none", {"splits": ()}, "before the first fit ended: no results"),
        ("half", {"splits": (half,)}, "within the fit: the model is not fully trained"),
        ("half of three", {"splits": (half,), "experiment": thrice}, "within the first of 3 fits"),
        ("one of three", {"experiment": thrice}, "after 1 of 3 splits: figures use these only"),
    ):
        fill(session, {name: dataclasses.replace(record, **stopped)})
        session.select(name)
        sentence, *_ = panel.details.warnings.sentences
        assert sentence.startswith(f"Stopped {words}")


def test_runs_with_other_columns_than_the_present_ones_are_marked(panel, session, table):
    mark = text("other_columns")
    assert not cell(panel, "plain", "name").data(BELOW)
    session.put_table(table.with_roles(ignore=["x0"]))
    assert cell(panel, "plain", "name").data(BELOW) == mark
    session.select("plain")
    words = text("used_more_columns", run="plain", count=1, columns=("x0",))
    assert words in panel.details.warnings.sentences
    assert words in cell(panel, "plain", "name").data(Qt.ItemDataRole.ToolTipRole)


# ----------------------------------------------------------------- the card


def test_card_leads_with_the_partial_auc_if_a_range_is_set(panel, session, qtbot):
    session.select("plain")
    wait(qtbot, panel)
    record, details = session.records["plain"], panel.details
    part, area = pauc_summary(record, (0.0, 0.1)), auc_summary(record)
    assert details.figure.text() == f"{part.value:.3f}"
    assert details.measure.text() == "pAUC in FPR 0 … 0.1"
    assert details.sure.text().startswith(f"95 % {part.low:.3f}–{part.high:.3f}")
    assert card_lines(details.table)[0] == (
        "AUC",
        f"{area.value:.3f}",
        f"{area.low:.3f}–{area.high:.3f}",
    )
    assert card_lines(details.table)[1][0] == "TPR at FPR 0.1"
    session.set_band(0.0, 1.0)
    wait(qtbot, panel)
    assert details.figure.text() == f"{area.value:.3f}"
    assert details.measure.text() == "AUC"
    assert details.sure.text() == f"95 % {area.low:.3f}–{area.high:.3f}"


def test_missing_interval_is_explained(panel, session, table, qtbot):
    fill(session, {"two": make_record(table, validation=Validation(scheme="folds", folds=2))})
    wait(qtbot, panel)
    reason = auc_summary(session.records["two"]).reason
    for k, line in enumerate(card_lines(panel.details.table)):
        assert line[2] == text("no_interval_words", reason="")
        beside = panel.details.findChild(QLabel, f"run_figures_{k}_beside")
        assert beside.isVisible()
        assert reason in beside.toolTip()


def test_card_shows_three_figures_and_unfolds_the_others(panel, qtbot):
    wait(qtbot, panel)
    details = panel.details
    assert [line[0] for line in card_lines(details.table)] == ["AUC", "TPR at FPR 0.1"]
    for name, inner in (("all_figures", details.others), ("settings", details.settings)):
        assert not inner.isVisible()
        button = details.findChild(QPushButton, f"run_{name}_button")
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert inner.isVisible()
    assert {"H-measure", "KS", "EER", "Time of a fit"} <= {
        line[0] for line in card_lines(details.others)
    }
    for table in (details.table, details.others):
        shown = [label for label in table.findChildren(QLabel) if label.isVisible()]
        assert all(label.toolTip().rstrip().endswith(".") for label in shown)
        values = [label for label in shown if label.objectName().endswith("_value")]
        assert len({label.geometry().right() for label in values}) == 1  # right-aligned


def test_card_names_settings_with_their_symbols(panel, session):
    session.select("stiff")
    assert "Regularisation λ 100000" in card_text(panel.details)
    session.select("narrow")
    assert "FPR range [α, β] 0 … 0.3" in card_text(panel.details)


@pytest.mark.parametrize("width", [296, 344, 600, 1000])
def test_card_is_never_cut(panel, session, qtbot, width):
    panel.resize(width, 900)
    session.select("narrow")
    wait(qtbot, panel)
    QApplication.processEvents()
    area = panel.details.area
    assert area.widget().width() <= area.viewport().width()


def test_reversed_ranking_is_reported_only_if_significant(panel, session, qtbot):
    record = session.records["plain"]
    split = record.splits[0]
    turned = dataclasses.replace(split, test_scores=-split.test_scores)
    fill(session, {"turned": dataclasses.replace(record, splits=(turned,))})
    wait(qtbot, panel)
    said = "Ranks in reverse: check which class is the positive one."
    assert said in panel.details.warnings.sentences
    few = dataclasses.replace(
        turned,
        test_scores=split.test_scores[:12] * 0 - [0.9, 0.8, 0.7, 0.6] * 3,
        test_positive=split.test_positive[:12] * False + ([True] + [False] * 3) * 3 > 0,
        test_rows=split.test_rows[:12],
    )
    few = dataclasses.replace(few, test_scores=few.test_scores + 0.15 * few.test_positive)
    fill(session, {"unsure": dataclasses.replace(record, splits=(few,))})
    wait(qtbot, panel)
    area = auc_summary(session.records["unsure"])
    assert area.value < 0.5 < area.high
    assert said not in panel.details.warnings.sentences


def test_chosen_run_is_in_sight_whatever_the_height_of_the_list(panel, session, records, qtbot):
    fill(session, {f"run {k}": records[0] for k in range(12)})
    for height in (700, 520, 900, 560):
        panel.resize(300, height)
        for run in ("run 11", "plain", "run 5"):
            session.select(run)
            QApplication.processEvents()
            row = panel.view.visualRect(cell(panel, run, KEYS[0]))
            assert panel.view.viewport().rect().contains(row)


def test_list_takes_the_height_that_the_card_leaves(panel, qtbot):
    panel.resize(300, 900)
    QApplication.processEvents()
    inside, shown = panel.details.area.widget(), panel.details.area.viewport()
    assert shown.height() <= inside.sizeHint().height() + 8


def test_chosen_runs_are_repeated_on_the_columns_in_use(panel, session, table, qtbot):
    session.put_table(table.with_roles(ignore=["x0"]))
    panel.view.selectAll()
    menu = panel.actions_.run_menu()
    menu.findChild(QAction, "menu_run_again").trigger()
    runner = session.study.runner
    started = [one.experiment for one in (*runner.running, *runner.queue)]
    assert [one.method for one in started] == [
        run.record.experiment.method for run in panel.view.chosen_runs()
    ]
    assert all(("x0", "ignore") in one.data.roles for one in started)
    session.runs.stop()
    qtbot.waitUntil(lambda: not session.busy, timeout=PATIENCE)


def test_methods_that_were_run_are_not_run_twice(panel, session):
    method = session.records["plain"].experiment.method
    session.reuse_settings("plain")
    with pytest.raises(InputError, match="plain"):
        session.runs.start_new([session.runs.planned(method)])
    assert not session.study.runner.queue


def test_status_line_forgets_an_outdated_offer(panel, session):
    said = []
    session.message.connect(said.append)
    panel.offer_again(session.run("plain"), lambda: None)
    assert said[-1] == panel.notice.words.text()
    session.change("Another seed", validation=Validation(seed=5))
    assert panel.notice.isHidden()
    assert said[-1] == ""


@pytest.mark.parametrize("key", ["auc", "pauc"])
@pytest.mark.parametrize("high", [0.99999, 1.0, 0.999])
def test_interval_fits_its_column(panel, qtbot, monkeypatch, key, high):
    """Also that of a nearly perfect run, and of one trained for another range."""
    nearly = Estimate(0.99, 0.946, high)
    wait(qtbot, panel)
    known = panel.model.figures.known
    monkeypatch.setattr(
        panel.model.figures,
        "known",
        lambda record: dataclasses.replace(known(record), area=nearly, part=nearly),
    )
    below = cell(panel, "narrow", key).data(BELOW)
    assert below.startswith(".946–")
    room = panel.view.columnWidth(KEYS.index(key)) - 10  # the margins of a cell
    assert QFontMetrics(smaller(panel.view.font())).horizontalAdvance(below) <= room


def test_leak_is_a_warning_of_the_card_of_runs_with_its_column(panel, session, tmp_path, qtbot):
    path = tmp_path / "leak.csv"
    lines = [f"{k * 37 % 101},{int(k % 3 == 0)},{int(k % 3 == 0)}" for k in range(300)]
    path.write_text("\n".join(["x,copied,label", *lines]) + "\n")
    leaky = read_table(path, label="label")
    session.put_table(leaky.with_roles(ignore=["copied"]))
    fill(session, {"clean": make_record(session.table), "leaking": make_record(leaky)})
    details = panel.details
    (found,) = leaks_used(session.records["leaking"].experiment.data, leaky)
    qtbot.waitUntil(lambda: str(found) in details.warnings.sentences)
    session.select("clean")
    assert str(found) not in details.warnings.sentences
    wait(qtbot, panel)
    assert str(found) not in details.warnings.sentences


@pytest.mark.parametrize("scheme", ["holdout", "folds", "forward", "leave-pair-out"])
def test_scheme_without_settings_is_described_by_the_defaults(scheme):
    assert scheme_words(convert({"scheme": scheme}, Validation)) == scheme_words(Validation(scheme))
