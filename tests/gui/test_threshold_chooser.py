"""One chooser in three places: they share the target, and a change is one undo step."""

import itertools

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QWidget

from aucstudio.gui.common.threshold import ConfusionCard, ThresholdChooser
from aucstudio.gui.dialogs.export_model import ExportModelDialog
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.pages.scores.scores_view import ScoresView
from aucstudio.gui.state.plan import Plan, read_plan
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.thresholds import Confusion, Stakes, Target
from aucstudio.project.results.thresholds import choose as choose_threshold
from aucstudio.project.store.project.database import as_stored
from tests.gui.conftest import choose, make_record, put, save_as, shown, train


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def pages():
    return []


@pytest.fixture
def add(session, pages, qtbot):
    """Add a run to the list, and wait until the pages show it."""

    def add(name="Run", method="auc-rls", **validation):
        record = make_record(session.table, method, validation=Validation(**validation))
        put(session, record, name)
        for page in pages:
            shown(page, qtbot)
        return record

    return add


@pytest.fixture
def roc_chooser(session, open_view, pages):
    view = open_view(RocView, session, (900, 700))
    pages.append(view)
    view.choices.show_menu.findChild(QAction, "confusion_action").trigger()
    return view.layers.point.panel.chooser


@pytest.fixture
def scores_chooser(session, open_view, pages):
    pages.append(open_view(ScoresView, session, (900, 700)))
    return pages[-1].chooser


@pytest.fixture
def open_dialog(session, qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    return lambda: ExportModelDialog(session, session.run(session.selected), parent)


def write(qtbot, field, text):
    """Type into a field key by key, and press Return."""
    assert not field.isHidden()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def rates(split, threshold):
    called, y = split.test_scores > threshold, split.test_positive
    return called[y].mean(), called[~y].mean()


def shown_rates(chooser):
    return tuple(float(chooser.card.rates[key].text()) for key in ("tpr", "fpr"))


def test_false_positive_rate_is_entered_on_the_roc_page(session, add, roc_chooser, qtbot):
    split = add().splits[0]
    choose(roc_chooser.rule, "fpr")
    write(qtbot, roc_chooser.fields["bound"], "5 %")
    tpr, fpr = rates(split, session.focus.threshold)
    assert fpr <= 0.05 < fpr + 1 / (~split.test_positive).sum()
    assert shown_rates(roc_chooser) == pytest.approx((tpr, fpr), abs=5e-4)
    assert roc_chooser.fields["bound"].text() == "0.05"
    typed = roc_chooser.fields["threshold"].text().replace("−", "-")
    assert float(typed) == pytest.approx(session.focus.threshold, rel=1e-5)


@pytest.mark.slow
def test_all_choosers_show_the_same_target(
    session, add, roc_chooser, scores_chooser, open_dialog, qtbot
):
    add()
    choose(scores_chooser.rule, "tpr")
    write(qtbot, scores_chooser.fields["bound"], "0.8")
    qtbot.waitUntil(lambda: roc_chooser.rule.currentData() == "tpr")
    dialog = open_dialog()
    for chooser in (roc_chooser, dialog.choice.chooser):
        assert chooser.rule.currentData() == "tpr"
        assert chooser.fields["bound"].text() == "0.8"
        assert shown_rates(chooser) == shown_rates(scores_chooser)
        assert type(chooser) is ThresholdChooser


def test_dragged_point_becomes_a_typed_threshold(session, add, roc_chooser, qtbot):
    split = add().splits[0]
    choose(roc_chooser.rule, "cost")
    qtbot.waitUntil(lambda: roc_chooser.rule.currentData() == "cost")
    layer = roc_chooser.window().layers.point
    layer.move_to(0.3)
    assert roc_chooser.rule.currentData() == "typed"
    assert session.focus.target.rule == "typed"
    assert shown_rates(roc_chooser) == pytest.approx(
        rates(split, session.focus.threshold), abs=5e-4
    )


def test_threshold_is_typed_and_zero_is_the_default(session, add, scores_chooser, qtbot):
    split = add().splits[0]
    write(qtbot, scores_chooser.fields["threshold"], "-0.25")
    assert session.focus.threshold == -0.25
    assert scores_chooser.rule.currentData() == "typed"
    assert shown_rates(scores_chooser) == pytest.approx(rates(split, -0.25), abs=5e-4)
    write(qtbot, scores_chooser.fields["threshold"], "0")
    assert session.focus.target == Target()
    assert scores_chooser.rule.currentData() == "own"


def test_threshold_starts_at_the_end_of_the_range_and_follows_it(session, add, scores_chooser):
    split = add().splits[0]
    for end in (0.1, 0.3):
        session.change("Change range", band=(0.0, end))
        assert session.focus.target == Target("fpr", end)
        alarms = rates(split, session.focus.threshold)[1]
        assert alarms <= end < alarms + 1 / (~split.test_positive).sum()
        assert not scores_chooser.everywhere.isEnabled()
    choose(scores_chooser.rule, "own")
    session.change("Change range", band=(0.0, 0.2))
    assert session.focus.threshold == 0.0
    again = Plan.from_json(as_stored(session.plan.as_json()))
    assert again.target_of(session.records[session.selected]) == Target()


def test_card_is_at_least_as_high_as_its_lines(session, add, scores_chooser, pages, qtbot):
    add()
    session.set_threshold(target=Target())
    (page,) = pages
    page.resize(900, 260)
    qtbot.waitUntil(lambda: page.side.verticalScrollBar().maximum() > 0)
    assert not scores_chooser.layout().hasHeightForWidth()  # no wrapping text, no remarks
    card = scores_chooser.card
    assert card.height() >= card.minimumSizeHint().height()


def test_target_used_everywhere_is_applied_per_run_and_split(
    session, add, roc_chooser, scores_chooser, qtbot
):
    first, second = add("A", repeats=2), add("B", "logistic")
    choose(roc_chooser.rule, "fpr")
    write(qtbot, roc_chooser.fields["bound"], "0.2")
    session.select(first.id)
    assert session.focus.target == Target("fpr", 0.1)
    session.select(second.id)
    qtbot.mouseClick(roc_chooser.everywhere, Qt.MouseButton.LeftButton)
    for chooser in (roc_chooser, scores_chooser):
        qtbot.waitUntil(lambda c=chooser: c.everywhere.text() == "Used by all runs")
        assert not chooser.everywhere.isEnabled()
    places = []
    for record, k in ((first, 0), (first, 1), (second, 0)):
        session.select(record.id)
        session.point_at(split=k)
        split = record.splits[k]
        alarms = rates(split, session.focus.threshold)[1]
        assert alarms <= 0.2 < alarms + 1 / (~split.test_positive).sum()
        places.append(session.focus.threshold)
    assert len(set(places)) == 3


def test_use_for_all_runs_is_one_undo_step(session, add, scores_chooser, qtbot):
    add()
    choose(scores_chooser.rule, "tpr")
    there = session.focus.threshold
    assert session.undo_stack.undoText() == "Move threshold"
    qtbot.mouseClick(scores_chooser.everywhere, Qt.MouseButton.LeftButton)
    assert session.undo_stack.undoText() == "Use threshold for all runs"
    session.undo_stack.undo()
    assert (session.focus.threshold, session.plan.target) == (there, None)
    assert scores_chooser.rule.currentData() == "tpr"
    session.undo_stack.redo()
    assert session.focus.threshold == there
    assert scores_chooser.rule.currentData() == "tpr"


def test_target_is_saved_in_the_project(session, table_file, open_dialog, tmp_path, qtbot):
    session.files.open_now(table_file, "table")
    record = train(qtbot, session)
    session.use_everywhere(Target("fpr", 0.15))
    there = session.focus.threshold
    save_as(session, tmp_path / "kept.aucproj")
    session.files.open_now(tmp_path / "kept.aucproj", "project")
    assert session.plan.target == Target("fpr", 0.15)
    assert session.selected == record.id
    assert session.focus.threshold == there
    chooser = open_dialog().choice.chooser
    assert (chooser.rule.currentData(), chooser.fields["bound"].text()) == ("fpr", "0.15")


def test_older_and_damaged_plans_of_targets_are_read_or_rejected():
    document = Plan(target=Target("tpr", 0.9)).as_json()
    assert Plan.from_json(document).target == Target("tpr", 0.9)
    del document["target"]
    assert Plan.from_json(document).target is None
    with pytest.raises(ValueError, match="not a valid plan"):
        read_plan({**Plan().as_json(), "target": {"rule": "best"}})


def test_typed_threshold_keeps_its_fpr_on_another_run(session, add, scores_chooser, pages, qtbot):
    first, second = add("A"), add("B", "logistic")
    session.select(first.id)
    shown(pages[0], qtbot)
    write(qtbot, scores_chooser.fields["threshold"], "0.4")
    qtbot.mouseClick(scores_chooser.everywhere, Qt.MouseButton.LeftButton)
    requested = rates(first.splits[0], 0.4)[1]
    session.select(second.id)
    split = second.splits[0]
    found = rates(split, session.focus.threshold)[1]
    assert found <= requested < found + 1 / (~split.test_positive).sum()
    qtbot.waitUntil(lambda: "same FPR" in scores_chooser.remarks.text())
    session.select(first.id)
    assert session.focus.threshold == 0.4


def test_cost_threshold_follows_prior_and_cost(session, add, scores_chooser, qtbot):
    split = add().splits[0]
    choose(scores_chooser.rule, "cost")
    assert scores_chooser.fields["bound"].isHidden()
    before = rates(split, session.focus.threshold)
    write(qtbot, scores_chooser.fields["miss"], "50")
    after = rates(split, session.focus.threshold)
    assert after[0] > before[0]
    write(qtbot, scores_chooser.fields["prior"], "1 in 10000")
    assert rates(split, session.focus.threshold)[1] < after[1]
    assert session.stakes.prior == pytest.approx(1e-4)
    assert session.focus.target == Target("cost")
    write(qtbot, scores_chooser.fields["prior"], " ")
    assert session.stakes.prior is None


def test_alerts_per_day_need_the_cases_per_day(session, add, scores_chooser, qtbot):
    split = add().splits[0]
    choose(scores_chooser.rule, "alerts")
    assert "Enter the number of cases per day." in scores_chooser.problem.text()
    assert session.focus.threshold == 0.0
    write(qtbot, scores_chooser.fields["cases"], "40")
    share = (split.test_scores > session.focus.threshold).mean()
    assert share <= 10 / 40 < share + 1 / len(split.test_scores)
    assert scores_chooser.problem.isHidden()
    words = scores_chooser.card.rates["daily"].text()
    assert float(words.split()[0]) == pytest.approx(40 * share, abs=0.06)
    assert "a day (" in words


def test_unreachable_target_disables_save(session, add, open_dialog, qtbot):
    record = add()
    session.select(record.id)
    session.weigh(prior=1e-6)
    session.set_threshold(target=Target("precision", 0.99))
    dialog = open_dialog()
    reached = rates(record.splits[0], session.focus.threshold)[1] == 0
    assert reached == dialog.choice.has_threshold
    dialog.choice.set_target(Target("alerts", 5.0))
    assert not dialog.choice.has_threshold
    save = dialog.findChild(QAbstractButton, "export_save_button")
    assert not save.isEnabled()
    session.weigh(cases=100.0)
    assert save.isEnabled()


@pytest.mark.parametrize(
    ("rule", "field", "text", "words"),
    [
        ("fpr", "bound", "1.5", "The FPR is a number from 0 to 1"),
        ("tpr", "bound", "", "The TPR is a number from 0 to 1"),
        ("precision", "bound", "0,9,1", "The precision is a number from 0 to 1"),
        ("alerts", "bound", "-1", "The number of alerts a day is a number of at least 0"),
        ("alerts", "cases", "many", "The number of cases a day is a number of at least 1"),
        ("cost", "miss", "0", "The cost of a miss is a number of at least 1e-06"),
        ("cost", "prior", "2", "share of positives is a number such as"),
        ("own", "threshold", "nan", "The threshold is a number"),
    ],
)
def test_invalid_input_is_reported_and_kept(
    session, add, scores_chooser, qtbot, rule, field, text, words
):
    session.use_everywhere(Target())
    add()
    choose(scores_chooser.rule, rule)
    before = session.focus, session.stakes
    edit = scores_chooser.fields[field]
    edit.clear()
    scores_chooser.layout().activate()
    place = scores_chooser.card.y()
    write(qtbot, edit, text)
    scores_chooser.layout().activate()
    assert scores_chooser.card.y() == place
    assert words in scores_chooser.problem.text()
    assert edit.text() == text
    assert (session.focus, session.stakes) == before


def test_saved_model_has_the_threshold_shown(session, add, open_dialog, table):
    split = add().splits[0]
    dialog = open_dialog()
    for rule in control_words("threshold_rule")["choices"]:
        if rule in ("own", "typed", "alerts"):
            continue
        choose(dialog.choice.chooser.rule, rule)
        model = dialog.choice.validated()
        called = model.score(table)[split.test_rows] > model.threshold
        y = split.test_positive
        found = called[y].mean(), called[~y].mean()
        assert shown_rates(dialog.choice.chooser) == pytest.approx(found, abs=5e-4)
        np.testing.assert_array_equal(called, split.test_scores > model.threshold)


def test_split_is_named_if_there_are_several(session, add, scores_chooser, qtbot):
    add(repeats=3)
    session.point_at(split=1)
    qtbot.waitUntil(lambda: "Split 2 of 3" in scores_chooser.remarks.text())


def test_every_control_has_a_name_and_fits(session, add, roc_chooser, qtbot):
    add()
    for rule, words in control_words("threshold_rule")["choices"].items():
        choose(roc_chooser.rule, rule)
        needed = roc_chooser.rule.fontMetrics().horizontalAdvance(words) + 34  # with the arrow
        qtbot.waitUntil(lambda needed=needed: roc_chooser.rule.width() >= needed)
        for kind in (QLineEdit, QComboBox, QAbstractButton):
            for control in roc_chooser.findChildren(kind):
                assert control.objectName(), control
                assert control.accessibleName(), control.objectName()
        assert roc_chooser.minimumSizeHint().width() <= roc_chooser.width()


def test_figures_scroll_on_a_low_page(session, add, open_view, qtbot):
    record = make_record(session.table)
    put(session, record)
    view = open_view(ScoresView, session, (620, 420))
    shown(view, qtbot)
    session.set_threshold(target=Target("cost"))
    card = view.chooser.card
    assert view.side.isVisible()
    qtbot.waitUntil(lambda: card.height() >= card.sizeHint().height())
    lines = [card.rates[key] for key in ("tpr", "fpr", "precision", "f1", "accuracy", "alerts")]
    for above, below in itertools.pairwise(lines):
        assert above.geometry().bottom() < below.geometry().top()
    assert view.worst.height() >= 150


def test_elided_class_names_stay_distinct(qtbot):
    card = ConfusionCard()
    qtbot.addWidget(card)
    card.name_classes("tested_positive", "tested_negative")
    for labels in (card.heads, card.sides):
        words = [label.text() for label in labels]
        assert len(set(words)) == 2
        assert "…" in words[0]
    card.name_classes("yes", "no")
    assert [label.text() for label in card.heads] == ["predicted\nyes", "predicted\nno"]


def test_threshold_moves_are_one_undo_step_of_their_run(session, add):
    first, second = add(), add()
    session.select(first.id)
    for value in (0.3, 0.2, 0.1):
        session.set_threshold(threshold=value)
    assert session.undo_stack.undoText() == "Move threshold"
    session.select(second.id)
    session.undo_stack.undo()
    assert (session.selected, session.focus.target) == (first.id, Target("fpr", 0.1))
    session.undo_stack.redo()
    assert session.focus.threshold == 0.1
    assert not session.undo_stack.canRedo()


def test_counts_of_every_split_are_added_up(session, add, scores_chooser, qtbot):
    record = add(repeats=3)
    session.set_threshold(target=Target("fpr", 0.1))
    cuts = [choose_threshold(record, k, Target("fpr", 0.1), Stakes()).threshold for k in range(3)]
    called = [s.test_scores > cut for s, cut in zip(record.splits, cuts, strict=True)]
    pairs = [(of, s.test_positive) for of, s in zip(called, record.splits, strict=True)]
    sums = [
        sum(int((a & b).sum()) for a, b in both)
        for both in (
            pairs,
            [(~of, y) for of, y in pairs],
            [(of, ~y) for of, y in pairs],
            [(~of, ~y) for of, y in pairs],
        )
    ]
    words = text("counts_over_splits", splits=3, counts=Confusion(*sums))
    qtbot.waitUntil(lambda: words in scores_chooser.remarks.text())


def test_end_of_the_range_is_named(session, add, scores_chooser, qtbot):
    add()
    session.set_band(0.0, 0.1)
    words = text("threshold_of_range_end", range=(0.0, 0.1), trained=False)
    session.set_threshold(target=Target("fpr", 0.2))
    qtbot.waitUntil(lambda: scores_chooser.fields["bound"].text() == "0.2")
    assert words not in scores_chooser.remarks.text()
    session.set_threshold(target=Target("fpr", 0.1))
    qtbot.waitUntil(lambda: words in scores_chooser.remarks.text())
