"""The chooser of methods: what it lists, finds and recommends; several methods at once."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from aucstudio.engine import METHODS
from aucstudio.engine.declared import AIMS, FAMILIES
from aucstudio.gui.dialogs.method_chooser import MethodChooser
from tests.gui.conftest import choose


@pytest.fixture
def chooser(method_panel, qtbot):
    method_panel.choose.click()
    return method_panel.findChild(MethodChooser)


def rows(chooser):
    return [row.data(0, Qt.ItemDataRole.UserRole) for row in chooser.rows]


def groups(chooser):
    tree = chooser.tree
    return [tree.topLevelItem(k).text(0) for k in range(tree.topLevelItemCount())]


@pytest.mark.parametrize("key", [Qt.Key.Key_Down, Qt.Key.Key_Up])
def test_arrow_keys_go_from_the_search_to_the_list(chooser, qtbot, key):
    qtbot.waitUntil(chooser.isActiveWindow)
    chooser.tree.setCurrentItem(chooser.rows[1])
    chooser.search.setFocus()
    before = chooser.tree.currentItem()
    qtbot.keyClick(chooser.search, key)
    assert chooser.tree.hasFocus()
    assert chooser.tree.currentItem() is not before


@pytest.mark.parametrize(("key", "last"), [(Qt.Key.Key_Down, -1), (Qt.Key.Key_Up, 0)])
def test_arrow_keys_pass_headings(chooser, qtbot, key, last):
    chooser.tree.setCurrentItem(chooser.rows[-1 - last])
    for _ in range(len(chooser.rows) + 3):
        assert chooser.current() is not None
        qtbot.keyClick(chooser.tree, key)
    assert chooser.tree.currentItem() is chooser.rows[last]


def test_reason_is_shown_where_choose_is_disabled(chooser):
    for state, reason in ((Qt.CheckState.Checked, True), (Qt.CheckState.Unchecked, False)):
        chooser.rows[0].setCheckState(0, state)
        assert chooser.choose.isEnabled() is not reason
        assert bool(chooser.problem.text()) is reason


def test_columns_fit_into_a_narrower_list(chooser, qtbot):
    qtbot.waitUntil(chooser.isVisible)
    chooser.resize(chooser.tree.sizeHint().width() - 20, chooser.height())
    QApplication.processEvents()
    assert chooser.tree.horizontalScrollBar().maximum() == 0
    assert chooser.tree.header().length() <= chooser.tree.viewport().width()


def test_method_box_names_no_method_twice(method_panel):
    words = [method_panel.combo.itemText(k) for k in range(method_panel.combo.count())]
    assert "Logistic regression (linear)" in words
    assert not [one for one in words if "·" in one and one.split(" · ")[0] in one.split(" · ")[1]]


def test_every_method_has_a_description_and_a_use_case():
    for key, method in METHODS.items():
        described = method.describe()
        assert described["family"] in FAMILIES, key
        assert described["trains_for"] in AIMS, key
        assert described["in_words"] != described["title"], key
        assert described["use_when"].endswith((".", "!")), key
        assert described["scorer"] == method.shape_words(), key


def test_methods_are_listed_by_family_below_start_here(chooser, qtbot):
    assert groups(chooser)[0] == "Start here"
    assert groups(chooser)[-len(FAMILIES) :] == list(FAMILIES.values())
    assert set(rows(chooser)) == set(METHODS)
    assert chooser.current() == "auc-rls"
    assert chooser.title.text() == "Pairwise least squares (AUC-RLS)"
    assert METHODS["auc-rls"].use_when in chooser.words.text()
    qtbot.keyClicks(chooser.search, "logistic regression linear")
    assert chooser.title.text() == "Logistic regression (linear)"


def test_first_heading_is_in_sight_when_the_dialog_opens(chooser, qtbot):
    with qtbot.waitExposed(chooser):
        chooser.show()
    assert chooser.tree.verticalScrollBar().value() == 0


def test_dialog_asks_for_the_width_of_all_columns(chooser):
    QApplication.processEvents()
    columns = [chooser.tree.sizeHintForColumn(k) for k in range(chooser.tree.columnCount())]
    assert min(columns) > 0
    assert chooser.sizeHint().width() > sum(columns)


def test_search_finds_names_families_and_use_cases(chooser, qtbot):
    qtbot.keyClicks(chooser.search, "range fpr")
    assert "svm-pauc" in rows(chooser)
    assert "rls" not in rows(chooser)
    assert "Start here" not in groups(chooser)
    chooser.search.clear()
    qtbot.keyClicks(chooser.search, "NBAUC")
    assert chooser.current() in rows(chooser)
    chooser.search.setText("no such method anywhere")
    assert rows(chooser) == []
    assert chooser.current() is None
    assert "no such method" in chooser.title.text()
    assert chooser.facts.text() == ""
    assert not chooser.choose.isEnabled()
    assert not chooser.run.isEnabled()


def test_method_is_chosen_by_keyboard(method_panel, chooser, qtbot, table_session):
    qtbot.keyClicks(chooser.search, "boosted decision trees")
    qtbot.keyClick(chooser.search, Qt.Key.Key_Return)
    assert table_session.plan.method == "gradient-boosting"
    assert method_panel.combo.currentData() == "gradient-boosting"
    assert not chooser.isVisible()


def test_ticked_methods_run_on_the_same_splits(method_panel, chooser, qtbot, table_session):
    wanted = ["auc-rls", "rls", "logistic"]
    for row, key in zip(chooser.rows, rows(chooser), strict=True):
        if key in wanted:
            row.setCheckState(0, Qt.CheckState.Checked)
    assert chooser.run.text() == "Run 3 methods"
    assert chooser.tune.text() == "Tune 3 methods"
    chooser.run.click()
    qtbot.waitUntil(lambda: not table_session.busy)
    records = [run.record for run in table_session.shown_runs()]
    assert [record.experiment.method for record in records] == wanted
    assert len({record.experiment.validation for record in records}) == 1
    first = records[0].splits[0].test_rows
    assert all((record.splits[0].test_rows == first).all() for record in records)
    method_panel.choose.click()
    again = method_panel.findChildren(MethodChooser)[-1]
    assert groups(again)[1] == "Recently used"
    assert rows(again).count("logistic") >= 2


def test_tick_marks_all_entries_of_a_method_and_disables_choose(chooser):
    key = Qt.ItemDataRole.UserRole
    chooser.tree.setCurrentItem(chooser.rows[-1])
    first, *others = [row for row in chooser.rows if row.data(0, key) == "auc-rls"]
    assert others
    first.setCheckState(0, Qt.CheckState.Checked)
    assert all(row.checkState(0) == Qt.CheckState.Checked for row in others)
    assert chooser.asked() == ["auc-rls"]
    assert chooser.current() == "auc-rls"
    assert METHODS["auc-rls"].title in chooser.title.text()
    assert chooser.run.isEnabled()
    assert not chooser.choose.isEnabled()


def test_no_run_starts_if_one_method_exceeds_memory(
    method_panel, chooser, table_session, monkeypatch
):
    chooser.ticked = {"auc-rls", "auc-svm"}
    monkeypatch.setattr("aucstudio.engine.cost.largest_memory", lambda _: 1e6)
    table_session.put_plan(table_session.plan.with_setting("auc-svm", "kernel", "rbf"))
    chooser.run.click()
    assert "pairs under a kernel would take about" in chooser.problem.text()
    assert not table_session.busy
    assert not table_session.queue


def test_method_too_large_for_memory_cannot_be_ticked(method_panel, table_session, monkeypatch):
    monkeypatch.setattr("aucstudio.project.runs.outlook.memory_limit", lambda: 2e6)
    method_panel.choose.click()
    chooser = method_panel.findChild(MethodChooser)
    found = {row.data(0, Qt.ItemDataRole.UserRole): row for row in chooser.rows}
    row = found["nbauc"]
    assert not row.flags() & Qt.ItemFlag.ItemIsUserCheckable
    assert "Too large for this computer" in row.toolTip(5)
    chooser.tree.setCurrentItem(row)
    assert not chooser.run.isEnabled()


def test_family_headings_in_the_method_list_are_disabled(method_panel, table_session):
    combo, model = method_panel.combo, method_panel.combo.model()
    heads = [k for k in range(combo.count()) if combo.itemData(k) is None]
    assert [combo.itemText(k) for k in heads] == list(FAMILIES.values())
    assert not any(model.item(k).isEnabled() for k in heads)
    choose(combo, "svm-pauc")
    assert table_session.plan.method == "svm-pauc"
    combo.setCurrentIndex(heads[0])
    assert combo.currentData() == "svm-pauc"


def test_rows_stay_in_place_when_another_method_is_described(chooser, qtbot):
    qtbot.waitUntil(chooser.isActiveWindow)
    tree, places = chooser.tree, set()
    for item in tree.findItems("", Qt.MatchFlag.MatchContains | Qt.MatchFlag.MatchRecursive):
        if item.data(0, Qt.ItemDataRole.UserRole) in METHODS:
            tree.setCurrentItem(item)
            QApplication.processEvents()
            places.add((tree.mapTo(chooser, tree.rect().topLeft()).y(), tree.height()))
    assert len(places) == 1
