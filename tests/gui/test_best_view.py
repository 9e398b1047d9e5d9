"""The page Best: from a CSV file and Find the best… to an exported model."""

import dataclasses
import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QDialogButtonBox,
    QPushButton,
    QTableView,
)

from aucstudio.engine.crossfit.members import Member
from aucstudio.engine.ensembles.combined import MemberShare
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.dialogs.export_model import REFIT, VALIDATED, ExportModelDialog
from aucstudio.gui.dialogs.run_dialogs import FindBestDialog
from aucstudio.gui.pages.best.best_view import BestView
from aucstudio.gui.pages.best.leaderboard import cells
from aucstudio.gui.pages.best.words import members_words, statement, title, typeset
from aucstudio.gui.panels.status import ProgressStrip
from aucstudio.gui.state.plan import Plan
from aucstudio.gui.windows import describe_work
from aucstudio.notices import text
from aucstudio.notices.words import elapsed_words
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.thresholds import curve_of
from aucstudio.project.store.model_file import load_model
from aucstudio.project.store.project.database import as_stored
from aucstudio.project.tournament import background
from aucstudio.project.tournament.search import SearchRequest, find_best, held_out_once
from aucstudio.project.tournament.standings import (
    READY,
    STOPPED,
    TRAINS,
    UNABLE,
    WAITS,
    CriterionEstimate,
    Lead,
    Milestone,
    Standing,
    Standings,
)
from tests.gui.conftest import PATIENCE, choose, make_record, put, save_as, shown
from tests.project.test_best import write_table

QUICK = (Member.of("logistic"), Member.of("auc-rls"))
LONG = (Member.of("logistic"), Member.of("rankboost", n_rounds=100_000))
LEFT = Qt.MouseButton.LeftButton

RUNNING = Standings(
    "2026-01-01T00:00:00+00:00",
    (0.0, 0.1),
    0.4,
    60.0,
    entries=(
        Standing("rankboost", READY, tried=3, inner=CriterionEstimate(0.7, 0.6, 0.8), seconds=1.0),
        Standing("logistic", TRAINS, tried=1),
        Standing("auc-ensemble", WAITS),
    ),
    course=(Milestone(1.0, 0.7, "rankboost"),),
)


class Ended:
    """A finished tournament: its runs and standings."""

    def __init__(self, table):
        self.runs, updates = [], []
        self.board = find_best(
            SearchRequest(table, Validation(), (0.0, 0.3), folds=3, entrants=QUICK),
            store=self.store,
            watch=updates.append,
        )
        self.standings = updates[-1]

    def store(self, record):
        self.runs.append(record)
        return record

    def enter(self, session, *, awaited=True, **changes):
        """Finish it in the open study."""
        standings = dataclasses.replace(self.standings, **changes)
        session.study.home.standings = {standings.key: standings}
        session.study.awaited = session.study.tournament if awaited else None
        for record in self.runs:
            session.study.tournament.judged.emit(record)
        session.study.tournament.ended.emit(standings)
        session.notify({"best"})
        return standings


@pytest.fixture(scope="module")
def ended(table_once):
    return Ended(table_once)


@pytest.fixture
def view(table_session, open_view):
    return open_view(BestView, table_session)


def start_search(session, entrants, seconds=600.0):
    session.study.awaited = session.study.tournament
    session.study.tournament.begin(
        SearchRequest(session.table, Validation(), None, seconds, entrants=entrants)
    )


def press(qtbot, button):
    qtbot.mouseClick(button, LEFT)


def listed(session):
    return {run.record.id: run.look.name for run in session.shown_runs()}


def test_empty_page_asks_to_press_find_the_best(view, qtbot):
    assert "press Find the best" in shown(view, qtbot)
    assert view.hint.isVisible()
    assert not view.content.isVisible()
    with qtbot.waitSignal(view.session.asked, check_params_cb=lambda what, _: what == "best"):
        press(qtbot, view.begin)


def test_search_shows_at_once_that_it_prepares_the_rows(view, qtbot, monkeypatch):
    prepare, finish = threading.Event(), threading.Event()

    def search(_request, _store, _stop, report):
        prepare.wait()
        report(dataclasses.replace(RUNNING, doing="logistic", entries=RUNNING.entries[1:]))
        finish.wait()
        return dataclasses.replace(RUNNING, ended=STOPPED)

    monkeypatch.setattr(background, "search_in_background", search)
    actions = QAction("Run"), QAction("Stop")
    strip = ProgressStrip(view.session, *actions)
    qtbot.addWidget(strip)
    start_search(view.session, QUICK)
    try:
        assert strip.bar.maximum() == 0  # it moves without a share
        assert shown(view, qtbot) == text("best_prepares")
        prepare.set()
        qtbot.waitUntil(lambda: strip.bar.maximum() > 0)
        qtbot.waitUntil(lambda: shown(view, qtbot) == text("best_begins"))
    finally:
        prepare.set()
        finish.set()
        qtbot.waitUntil(lambda: not view.session.busy)


def test_clock_goes_on_while_nothing_is_reported(view, qtbot, monkeypatch):
    finish = threading.Event()

    def search(_request, _store, _stop, report):
        report(dataclasses.replace(RUNNING, doing="logistic"))
        finish.wait()
        return dataclasses.replace(RUNNING, ended=STOPPED)

    monkeypatch.setattr(background, "search_in_background", search)
    start_search(view.session, QUICK)
    held = view.session.study.tournament
    assert held.live.left == 600.0  # the limit counts from the first candidate
    qtbot.waitUntil(lambda: bool(held.live.doing))
    first = held.live.left
    try:
        qtbot.waitUntil(lambda: held.live.left < first - 2)
        qtbot.waitUntil(lambda: f"{elapsed_words(held.live.left)} left" in view.doing.text())
    finally:
        finish.set()
        qtbot.waitUntil(lambda: not view.session.busy)


@pytest.mark.slow
def test_finished_search_lists_the_best_and_the_simplest_run(view, ended, qtbot):
    session = view.session
    end = ended.enter(session)
    assert "no single method leads it clearly" in shown(view, qtbot)
    wanted = {run for run in (end.best, end.simpler) if run}
    assert set(listed(session)) == wanted
    assert session.selected == end.best
    assert session.focus.target.rule == "fpr"
    assert session.focus.target.value == 0.3
    assert {run.id for run in ended.runs} <= set(session.records)
    assert view.verdict.isVisible()
    assert view.curve.plot.isVisible()
    assert [row.cells[-1] for row in view.board.sheet.rows].count("by default") == 1
    assert view.figure_data()["run"]


def test_opening_a_result_keeps_the_selected_run(view, ended, qtbot):
    session = view.session
    older, _newer = (put(session, make_record(session.table), name) for name in ("Old", "New"))
    view.hide()
    ended.enter(session)
    session.select(older.id)
    view.show()
    shown(view, qtbot)
    assert session.selected == older.id


def test_ended_search_keeps_a_run_that_was_chosen_meanwhile(view, ended, qtbot):
    session = view.session
    chosen = put(session, make_record(session.table), "Chosen")
    held = session.study.tournament
    held.live = dataclasses.replace(ended.standings, ended="running", best="", simpler="")
    session.notify({"best"})
    shown(view, qtbot)
    session.select(chosen.id)
    held.live = None
    ended.enter(session, awaited=False)
    shown(view, qtbot)
    assert view.verdict.isVisible()
    assert session.selected == chosen.id


@pytest.mark.slow
def test_adding_an_entry_to_the_run_list_can_be_undone(view, ended, qtbot):
    session = view.session
    ended.enter(session, simpler="")
    shown(view, qtbot)
    (other,) = [one for one in ended.standings.entries if one.method == "auc-rls"]
    if other.run == ended.standings.best:
        (other,) = [one for one in ended.standings.entries if one.method == "logistic"]
    view.board.choose(other.method)
    assert view.entry_button.text() == "Add to run list"
    press(qtbot, view.entry_button)
    assert other.run in listed(session)
    assert session.selected == other.run
    session.undo_stack.undo()
    assert other.run not in listed(session)
    assert ended.standings.best in listed(session)


def test_simpler_model_can_be_chosen(view, ended, qtbot):
    session = view.session
    simpler = next(one.run for one in ended.standings.entries if one.run != ended.standings.best)
    ended.enter(session, simpler=simpler)
    shown(view, qtbot)
    press(qtbot, view.verdict.prefer)
    assert session.selected == simpler
    shown(view, qtbot)
    assert not view.verdict.prefer.isEnabled()
    assert "is chosen" in view.verdict.prefer.text()


@pytest.mark.slow
def test_untested_entry_can_be_run(view, ended, qtbot):
    session = view.session
    one = next(one for one in ended.standings.entries if one.method == "logistic")
    left = dataclasses.replace(one, run="", held_out=None, state=READY)
    others = tuple(other for other in ended.standings.entries if other is not one)
    ended.enter(session, entries=(*others, left))
    shown(view, qtbot)
    view.board.choose("logistic")
    assert view.entry_button.text() == "Run it"
    press(qtbot, view.entry_button)
    qtbot.waitUntil(lambda: not session.busy)
    record = session.shown_runs()[-1].record
    assert record.experiment.method == "logistic"
    assert record.experiment.validation == ended.standings.validation


def test_best_model_is_validated_as_other_runs_and_then_on_other_rows(view, ended, qtbot):
    session = view.session
    ended.enter(session)
    session.change("Use folds", validation=Validation("folds", folds=3))
    shown(view, qtbot)
    best = session.records[ended.standings.best].experiment
    for seed in (0, 1):
        press(qtbot, view.verdict.repeat)
        qtbot.waitUntil(lambda: not session.busy, timeout=PATIENCE)
        record = session.shown_runs()[-1].record
        made = record.experiment
        assert (made.method, made.params) == (best.method, best.params)
        assert made.validation == Validation("folds", folds=3, seed=seed)
        assert len(record.splits) == 3
    session.change("Use a test file", validation=Validation("file", test_file="t.csv"))
    shown(view, qtbot)
    assert not view.verdict.repeat.isVisible()  # its rows are always the same


def test_running_search_draws_its_course(view, qtbot):
    view.session.study.tournament.live = RUNNING
    view.session.notify({"best"})
    assert "RankBoost leads with 0.700" in shown(view, qtbot)
    assert [row.cells[-1] for row in view.board.sheet.rows] == [
        "ready, 3 tried",
        "in training",
        "comes last",
    ]
    assert view.course.plot.isVisible()
    assert not view.verdict.isVisible()
    assert not view.begin.isVisible()


def test_name_of_the_leader_is_within_the_picture(view, qtbot):
    steps = (1.0, 0.62, "rankboost"), (11.0, 0.643, "logistic"), (12.0, 0.645, "svm")
    course = tuple(Milestone(*step) for step in steps)
    view.session.study.tournament.live = dataclasses.replace(RUNNING, course=course, spent=40.0)
    view.resize(640, 480)
    view.session.notify({"best"})
    shown(view, qtbot)
    plot = view.course.plot
    inside = plot.getViewBox().sceneBoundingRect()
    for name in view.course.names:
        assert inside.contains(name.sceneBoundingRect())


@pytest.mark.slow
def test_stopped_search_selects_the_best_so_far(view, qtbot):
    session = view.session
    start_search(session, LONG)
    qtbot.waitUntil(lambda: bool(session.study.tournament.live.course))
    assert "Find the best" in describe_work([session])
    session.stop()
    assert session.study.tournament.stopping
    qtbot.waitUntil(lambda: not session.busy)
    (standings,) = session.best.standings()
    assert standings.ended == "stopped"
    assert session.selected == standings.best
    assert "best model found" in shown(view, qtbot)


@pytest.mark.parametrize("fpr_range", [(0.0, 0.3), None])
def test_every_page_shows_the_threshold_of_the_best(view, ended, fpr_range, qtbot):
    session = view.session
    end = ended.enter(session, fpr_range=fpr_range)
    (split,) = session.records[end.best].splits
    expected = end.rule.place(curve_of(split))
    assert session.focus.threshold == expected
    if fpr_range is not None:
        assert end.point.threshold == expected
    dialog = ExportModelDialog(session, session.run(end.best), view)
    qtbot.addWidget(dialog)
    dialog.choice.kinds.button(VALIDATED).setChecked(True)
    assert dialog.choice.validated().threshold == expected
    again = Plan.from_json(as_stored(session.plan.as_json()))
    assert again.target_of(session.records[end.best]) == session.focus.target


def test_reopened_project_shows_the_leaderboard(window, table_file, ended, tmp_path, qtbot):
    window.open_now(table_file)
    session, path = window.session, tmp_path / "p.aucproj"
    session.study.home.make_file(session.table.path)
    for record in ended.runs:
        session.study.home.add_run_once(record)
    end = ended.enter(session)
    save_as(session, path)
    window.open_now(table_file)
    assert session.best.standings() == []
    window.open_now(path)
    (again,) = session.best.standings()
    assert again.verdict == end.verdict
    assert set(listed(session)) == {run for run in (end.best, end.simpler) if run}
    page, _ = window.deck.visit("best_view")
    assert "no single method leads it clearly" in shown(page, qtbot)
    rows = [row.cells for row in page.board.sheet.rows]
    expected = [cells(one, end) for one in end.entries]
    for row, known in zip(rows, expected, strict=True):  # intervals only if there is room
        assert [cell.split(" (")[0] for cell in row] == [cell.split(" (")[0] for cell in known]
    # The refit model of the search is exported, which the file does not hold.
    dialog = ExportModelDialog(session, session.run(end.best), page)
    qtbot.addWidget(dialog)
    assert dialog.choice.kinds.checkedId() == REFIT
    model = dialog.choice.making()(lambda _message: False)
    scores, expected = (one.score(session.table) for one in (model, ended.board.model))
    assert (scores == expected).all()
    assert model.threshold == ended.board.model.threshold
    assert model.threshold_rule == ended.board.model.threshold_rule


def test_unfinished_search_is_reported_on_opening(window, table_file, tmp_path, qtbot):
    window.open_now(table_file)
    session, path = window.session, tmp_path / "p.aucproj"
    save_as(session, path)
    session.study.home.keep_standings(RUNNING)
    window.open_now(path)
    (again,) = session.best.standings()
    assert again.ended == "failed"
    page, _ = window.deck.visit("best_view")
    assert "had not finished" in shown(page, qtbot)


def test_too_few_rows_are_reported_before_the_search(window, tmp_path, qtbot):
    path = tmp_path / "few.csv"
    path.write_text("a,label\n" + "\n".join(f"{k},{'yes' if k < 2 else 'no'}" for k in range(12)))
    window.open_now(path)
    window.actions_.find_best.trigger()
    dialog = window.findChild(FindBestDialog)
    assert "Only 2 positives" in dialog.caution.text()
    press(qtbot, dialog.ends.button(QDialogButtonBox.StandardButton.Ok))
    assert "one class only" in dialog.problem.text()
    assert dialog.isVisible()
    assert not window.session.busy
    dialog.band.low.setValue(0.5)
    press(qtbot, dialog.ends.button(QDialogButtonBox.StandardButton.Ok))
    assert "range" in dialog.problem.text()
    dialog.reject()


def test_invalid_weights_are_reported_before_the_search(table_session):
    table_session.study.table = table_session.table.with_roles(roles={"x3": "weight"})
    with pytest.raises(InputError, match="cannot be weights"):
        table_session.best.begin((0.0, 0.1), 1.0)
    assert not table_session.busy


@pytest.mark.slow
def test_final_test_uses_the_test_file_of_the_study(view, tmp_path, table_file, qtbot):
    session, later = view.session, tmp_path / "later.csv"
    later.write_bytes(table_file.read_bytes())
    tested = held_out_once(Validation(scheme="file", test_file=str(later)))
    session.study.tournament.begin(
        SearchRequest(session.table, tested, None, 600.0, entrants=QUICK)
    )
    qtbot.waitUntil(lambda: not session.busy, timeout=4 * PATIENCE)
    (standings,) = session.best.standings()
    assert standings.ended == "done"
    split = session.records[standings.best].splits[0]
    assert len(split.train_rows) == len(split.test_rows) == session.table.rows
    assert "tested on the rows of later.csv, which this search used for no choice" in shown(
        view, qtbot
    )
    live = dataclasses.replace(RUNNING, validation=tested)
    assert "of later.csv are held out for the final test" in statement(live).text
    later.unlink()
    session.study.tournament.begin(
        SearchRequest(session.table, tested, None, 600.0, entrants=QUICK)
    )
    qtbot.waitUntil(lambda: not session.busy, timeout=4 * PATIENCE)
    assert "later.csv" in session.best.standings()[0].error


def test_forward_validation_warns_of_random_folds(table_session, qtbot):
    how = Validation(scheme="forward", time="x1")
    table_session.edit(dataclasses.replace(table_session.plan, validation=how), "Forward")
    dialog = FindBestDialog(table_session)
    qtbot.addWidget(dialog)
    assert "draws folds at random" in dialog.caution.text()


def test_search_uses_and_names_the_folds_of_the_study(table_session, qtbot):
    how = Validation(scheme="folds", folds=7)
    table_session.edit(dataclasses.replace(table_session.plan, validation=how), "Folds")
    dialog = FindBestDialog(table_session)
    qtbot.addWidget(dialog)
    assert "25 % of the rows" in dialog.rows.text()
    assert "7 folds (as under Validation)" in dialog.rows.text()
    orders = []
    table_session.study.tournament.begin = orders.append
    table_session.best.begin((0.0, 0.1), 1.0)
    assert orders[0].folds == 7
    assert orders[0].validation.scheme == "holdout"


def test_column_header_names_the_ranking_criterion(view, ended, qtbot):
    end = ended.enter(view.session)
    shown(view, qtbot)
    share = round(100 * end.share)
    assert f"{share} % pAUC\n+ {100 - share} % AUC" in view.board.sheet.heads[2]
    assert "pAUC" in view.board.sheet.heads[4]
    (best, *_) = view.board.sheet.rows
    assert best.cells[4].startswith(f"{end.entries[0].area.value:.3f}")


def test_closing_during_a_search_asks_once(window, table_file, answers, qtbot):
    window.open_now(table_file)
    start_search(window.session, LONG)
    answers.choice = None
    window.close()
    assert len(answers.asked) == 1
    assert "a search for the best model is running" in answers.asked[0][1]
    window.session.stop()
    window.session.stop()
    qtbot.waitUntil(lambda: not window.session.busy)


def test_search_ends_in_its_own_study_after_another_is_opened(window, table_file, tmp_path, qtbot):
    window.open_now(table_file)
    session, path = window.session, tmp_path / "p.aucproj"
    save_as(session, path)
    start_search(session, QUICK, 4.0)
    other = write_table(tmp_path / "other.csv")
    window.open_now(other)
    assert session.left
    qtbot.waitUntil(lambda: not session.left)
    assert session.best.standings() == []
    session.save_plan()
    window.open_now(path)
    (again,) = session.best.standings()
    assert again.best in listed(session)


def test_searches_of_the_same_minute_have_different_names(view, ended, qtbot):
    first = ended.standings
    later = dataclasses.replace(first, created="2026-01-01T10:00:31+00:00", id="later")
    first = dataclasses.replace(first, created="2026-01-01T10:00:07+00:00")
    view.session.study.home.standings = {one.key: one for one in (first, later)}
    view.session.notify({"best"})
    shown(view, qtbot)
    names = [view.which.itemText(k) for k in range(view.which.count())]
    assert len(set(names)) == 2


def test_minus_signs_are_typeset_and_hyphens_kept():
    assert typeset("SVM-pAUC: -0.5 (-0.6 … +0.1)") == "SVM-pAUC: −0.5 (−0.6\u00a0…\u00a0+0.1)"


def test_search_from_a_table_to_an_exported_model(window, tmp_path, answers, qtbot):
    """By the buttons, with a time limit of six seconds and all methods that suit the rows."""
    window.open_now(write_table(tmp_path / "t.csv"))
    session = window.session
    press(qtbot, window.findChild(QPushButton, "find_best_button"))
    dialog = window.findChild(FindBestDialog)
    dialog.band.high.setValue(0.3)
    dialog.minutes.setValue(0.1)
    press(qtbot, dialog.ends.button(QDialogButtonBox.StandardButton.Ok))
    page = window.deck.active()
    assert page.objectName() == "best_view"
    assert session.plan.band == (0.0, 0.3)
    qtbot.waitUntil(lambda: not session.busy, timeout=4 * PATIENCE)
    (standings,) = session.best.standings()
    assert standings.best in listed(session)
    shown(page, qtbot)
    press(qtbot, page.verdict.export)
    export = window.findChild(ExportModelDialog)
    qtbot.waitUntil(export.isVisible)
    refit = session.study.home.refits.get(standings.best)
    kinds = export.choice.kinds
    assert kinds.checkedId() == (VALIDATED if refit is None else REFIT)
    kinds.button(VALIDATED).setChecked(True)
    answers.save_path = str(tmp_path / "best.aucmodel")
    press(qtbot, export.buttons.button(QDialogButtonBox.StandardButton.Save))
    qtbot.waitUntil((tmp_path / "best.aucmodel").exists)
    model = load_model(tmp_path / "best.aucmodel")
    (split,) = session.records[standings.best].splits
    called = model.score(session.table)[split.test_rows] > model.threshold
    assert called[~split.test_positive].mean() == pytest.approx(standings.point.fpr)
    assert called[split.test_positive].mean() == pytest.approx(standings.point.tpr)


def test_export_defaults_to_the_refit_model(view, ended, tmp_path, answers, qtbot):
    session = view.session
    end = ended.enter(session)
    session.study.home.refits[end.best] = ended.board.model
    dialog = ExportModelDialog(session, session.run(end.best), view)
    qtbot.addWidget(dialog)
    assert dialog.choice.kinds.checkedId() == REFIT
    model = dialog.choice.making()(lambda _message: False)
    assert model.trained_on.startswith("all ")
    called = model.score(session.table) > 0
    expected = ended.board.model.score(session.table) > 0
    assert (called == expected).all()  # its threshold is that for the range


def test_refit_model_is_saved_with_the_threshold_that_is_shown(view, ended, qtbot):
    session = view.session
    session.set_band(0.0, 1.0)
    end = ended.enter(session)
    session.study.home.refits[end.best] = ended.board.model
    (split,) = session.records[end.best].splits
    dialog = ExportModelDialog(session, session.run(end.best), view)
    qtbot.addWidget(dialog)
    chooser = dialog.choice.chooser
    assert chooser.rule.currentData() == "fpr"
    assert float(chooser.fields["bound"].text()) == end.rule.fpr
    saved = dialog.choice.making()(lambda _message: False)
    assert saved.threshold == ended.board.model.threshold
    shown_fpr = float(chooser.card.rates["fpr"].text())
    assert end.rule.fpr - 0.05 < shown_fpr <= end.rule.fpr
    choose(chooser.rule, "own")
    alarms = split.test_scores[~split.test_positive] > 0
    assert float(chooser.card.rates["fpr"].text()) == pytest.approx(alarms.mean(), abs=5e-4)
    assert float(chooser.fields["threshold"].text()) == 0
    assert dialog.choice.making()(lambda _message: False).threshold == 0


def test_headline_states_the_area_of_the_range_and_untried_methods(ended):
    end = ended.standings
    best = end.of_run(end.best)
    area = CriterionEstimate(0.152, 0.089, 0.224)
    entries = tuple(dataclasses.replace(one, area=area, behind=None) for one in end.entries)
    left = Standing("rankboost", WAITS), Standing("svm", WAITS, tried=1), Standing("rls", UNABLE)
    whole = dataclasses.replace(end, entries=entries, simpler="")
    headline = statement(whole).headline
    assert headline == (
        f"{title(best)} was selected because no single method leads it clearly: "
        "held-out pAUC 0.152 (0.089–0.224) in FPR 0\u00a0…\u00a00.3."
    )
    auc = dataclasses.replace(whole, fpr_range=None)
    assert statement(auc).headline.endswith(": held-out AUC 0.152 (0.089–0.224).")
    over = dataclasses.replace(whole, entries=(*entries, *left)).broken_off("time")
    assert statement(dataclasses.replace(over, ended="done")).headline == headline
    total = sum(one.method != "auc-ensemble" for one in over.entries)
    counts = {"tried": total - 2, "left": 1, "failed": 1, "total": total}
    untried = text("best_untried", **counts, ended="time")
    assert statement(over).headline == f"{headline} {untried}"


def test_headline_begins_with_a_listed_run_that_is_better_on_the_same_rows(ended):
    better = text("best_below_run", name="Other", value=0.4, in_range=True)
    assert statement(ended.standings, ("Other", 0.4)).headline.startswith(better)


@pytest.mark.parametrize("inner", [0.451, 0.4])
@pytest.mark.parametrize(("difference", "as_good"), [(-0.027, True), (0.0, True), (0.01, False)])
def test_headline_never_understates_a_simpler_model(ended, inner, difference, as_good):
    """Simulate every order of the selected and the simpler model, on training and held-out rows."""
    end = ended.standings
    best, other = (
        dataclasses.replace(one, inner=CriterionEstimate(value), area=CriterionEstimate(area))
        for one, value, area in zip(
            end.entries, (0.445, inner), (0.351, 0.351 - difference), strict=False
        )
    )
    lead = Lead(difference, difference - 0.03, 0.015, 0.4)
    other = dataclasses.replace(other, run="simpler", behind=lead)
    entries = best, other
    found = dataclasses.replace(end, entries=entries, best=best.run, simpler="simpler")
    headline = statement(found).headline
    assert headline.startswith(title(other if as_good else best))
    assert ("as good or better" in headline) == as_good
    assert ("almost as good" in headline) != as_good
    assert ("no single method leads it clearly" in headline) == (inner > 0.445)


def test_a_best_model_below_others_is_explained(ended):
    """Its figure repeats the choice among all methods in each fold; those of the others do not."""
    end = ended.standings
    others = [
        dataclasses.replace(one, run=one.method, behind=Lead(0.01, -0.1, 0.1, p))
        for one, p in zip(end.entries, (0.4, 1.0, 0.001), strict=False)
    ]
    figures = [CriterionEstimate(value) for value in (0.389, 0.391, 0.3)]
    first = dataclasses.replace(others[0], method="logistic", behind=None)
    entries = [
        dataclasses.replace(one, inner=inner)
        for one, inner in zip([first, *others[1:]], figures, strict=False)
    ]
    changes = {"entries": tuple(entries), "best": first.run, "simpler": "", "budget": 600.0}
    said = statement(dataclasses.replace(end, **changes, ended="done"))
    alike = sum(not one.behind.is_significant for one in entries[1:])
    assert f"; {alike} other" in said.headline
    words = {"best": title(first), "own": 0.389, "most": 0.391}
    assert text("best_nested", **words) in said.text
    assert "All methods were tried: " in said.text
    assert " of 10 min" in said.text


def test_weights_are_separated_from_the_settings_of_members():
    members = (
        MemberShare("Extra trees, rows in a leaf 1", 0.05, 0.8, 0.0),
        MemberShare("Gradient boosting, leaves 3", 0.95, 0.8, 0.0),
    )
    words = members_words(dataclasses.replace(RUNNING, members=members))
    assert "Extra trees, rows in a leaf 1: 5 %; Gradient boosting, leaves 3: 95 %" in words


def test_dialog_names_the_column_whose_groups_stay_together(table_session, qtbot):
    table_session.set_roles(roles={"town": "group"})
    dialog = FindBestDialog(table_session)
    qtbot.addWidget(dialog)
    assert "Rows of one town are never in both training and test sets" in dialog.rows.text()
    assert "whole groups, about 25 % of the rows" in dialog.rows.text()


@pytest.mark.parametrize("name", ["band_high", "repeats_spin"])
def test_shortcuts_use_a_number_that_is_still_being_typed(window, table_file, qtbot, name):
    window.open_now(table_file)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.workplace.validation_panel.more.button.click()
    qtbot.waitUntil(lambda: window.findChild(QAbstractSpinBox, name) is not None)
    field = window.findChild(QAbstractSpinBox, name)
    field.setFocus()
    field.selectAll()
    plan = window.session.plan
    qtbot.keyClicks(field, "0.45" if name == "band_high" else "3")
    assert window.session.plan == plan
    if name == "band_high":
        window.actions_.find_best.trigger()
        dialog = window.findChild(FindBestDialog)
        assert dialog.band.value() == (0.0, 0.45)
        dialog.reject()
    else:
        window.actions_.run.trigger()
        assert window.session.plan.validation.repeats == 3
        window.session.stop()
        qtbot.waitUntil(lambda: not window.session.busy)


def test_headline_names_an_untested_leader(ended):
    first, *others = ended.standings.entries
    left = dataclasses.replace(first, run="", held_out=None, state=READY)
    best = next(one.run for one in others if one.run)
    standings = dataclasses.replace(ended.standings, entries=(left, *others), best=best, simpler="")
    headline = statement(standings).headline
    assert "tested on the held-out rows" in headline
    assert "which was chosen, was not" in headline


def test_best_model_that_predicts_no_positive_is_a_warning(ended):
    end = ended.standings
    none = dataclasses.replace(end, point=dataclasses.replace(end.point, tpr=0.0))
    best, found = title(end.of_run(end.best)), end.held.positives
    words = text("best_finds_none", best=best, positives=found, fpr=0.3)
    assert statement(none).headline == words
    assert statement(end).headline != words


def test_leaderboard_explains_why_an_entry_is_not_compared(view, ended, qtbot):
    best, other = ended.standings.entries[:2]
    reason = Lead(0.1, reason="too few rows")
    entries = best, dataclasses.replace(other, run="other", behind=reason)
    ended.enter(view.session, entries=entries, best=best.run, simpler="")
    shown(view, qtbot)
    sheet = view.board.sheet
    place = sheet.index(1, sheet.columnCount() - 1)
    assert place.data() == "too few rows to test"
    assert "too few rows" in place.data(Qt.ItemDataRole.ToolTipRole)


@pytest.mark.parametrize("percent", [100, 150])
def test_picture_keeps_its_height_on_a_low_page(view, ended, qtbot, percent, apply_style):
    apply_style(percent=percent)
    view.resize(640, 480)
    ended.enter(view.session)
    shown(view, qtbot)
    qtbot.mouseClick(view.sentence.more_button, LEFT)
    shown(view, qtbot)
    assert view.curve.plot.height() >= scaled(180)
    bar = view.content.verticalScrollBar()
    bar.setValue(bar.maximum())
    QApplication.processEvents()
    plot, area = view.curve.plot, view.content.viewport()
    assert plot.mapTo(area, plot.rect().bottomLeft()).y() <= area.height()


@pytest.mark.parametrize("width", [480, 580, 720, 1100])
def test_leaderboard_cuts_no_cells_on_a_narrow_page(view, ended, qtbot, width):
    view.resize(width, 500)
    ended.enter(view.session)
    shown(view, qtbot)
    board = view.board
    header, state = board.horizontalHeader(), board.sheet.columnCount() - 1
    assert header.length() <= board.viewport().width()
    for column in (1, state) if width > 480 else (state,):
        assert header.sectionSize(column) >= min(QTableView.sizeHintForColumn(board, column), 170)
    heads = [head.split("\n")[0] for head in board.sheet.heads]
    seen = {h for k, h in enumerate(heads) if not board.isColumnHidden(k)}
    assert seen >= {"Method", "Cross-validated", "Held out", "State"}
    assert ("Settings" in seen) == (width > 480)
    assert ("Time" in seen) == (width == 1100)


@pytest.mark.parametrize(
    ("method", "ended_by", "reason"),
    [
        ("logistic", "done", "best, strict"),
        ("auc-ensemble", "done", "by default"),
        ("auc-ensemble", "stopped", "at the stop"),
    ],
)
def test_row_of_a_best_model_below_others_has_the_reason(ended, method, ended_by, reason):
    end = ended.standings
    first = dataclasses.replace(end.entries[0], method=method, inner=CriterionEstimate(0.38))
    others = [dataclasses.replace(one, run="other") for one in end.entries[1:]]
    entries = (first, *(dataclasses.replace(one, inner=CriterionEstimate(0.39)) for one in others))
    lower = dataclasses.replace(end, entries=entries, best=first.run, ended=ended_by)
    assert cells(first, lower)[-1] == reason
    higher = dataclasses.replace(first, inner=CriterionEstimate(0.4))
    assert cells(higher, dataclasses.replace(lower, entries=(higher, *entries[1:])))[-1] == "best"


def test_low_page_shows_the_axis_title_of_the_curve(ended, view, qtbot):
    view.resize(660, 520)
    ended.enter(view.session)
    shown(view, qtbot)
    qtbot.waitUntil(view.curve.plot.isVisible)
    bottom = view.curve.plot.getAxis("bottom")
    assert bottom.label.toPlainText()
    assert view.content.verticalScrollBar().maximum() == 0
