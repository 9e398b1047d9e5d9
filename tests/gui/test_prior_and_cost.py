"""Prior and cost of a miss: saved in the project, one undo step, few writes."""

import pytest

from aucstudio.gui.pages.roc.costs import CostPanel, prior_at
from aucstudio.gui.state.plan import Plan
from aucstudio.project.results.thresholds import Stakes, Target
from aucstudio.project.store.project.project_file import ProjectFile
from tests.gui.conftest import on, save_as, train

CHOSEN = Stakes(prior=0.0002, miss=25.0)


def test_reopened_project_has_its_prior_and_cost(session, table_file, tmp_path, qtbot):
    path = tmp_path / "kept.aucproj"
    session.files.open_now(table_file, "table")
    train(qtbot, session)
    session.weigh(prior=CHOSEN.prior, miss=CHOSEN.miss)
    save_as(session, path)
    session.files.open_now(table_file, "table")
    assert session.stakes == Stakes()
    notified = []
    on(session, "stakes", lambda: notified.append(session.stakes))
    session.files.open_now(path, "project")
    assert session.stakes == CHOSEN
    assert notified == [CHOSEN]
    assert not session.undo_stack.canUndo()


def test_reopened_project_has_the_selected_run_and_each_threshold(
    session, table_file, tmp_path, qtbot
):
    path = tmp_path / "kept.aucproj"
    session.files.open_now(table_file, "table")
    first, second = train(qtbot, session).id, train(qtbot, session, "logistic").id
    session.select(second)
    session.set_threshold(target=Target("fpr", 0.2))
    session.select(first)
    session.set_threshold(target=Target("tpr", 0.8))
    kept = session.focus
    session.select(second)
    assert session.focus.target == Target("fpr", 0.2)
    session.undo_stack.undo()
    assert (session.selected, session.focus.target) == (first, Target("fpr", 0.1))
    session.undo_stack.redo()
    assert (session.selected, session.focus) == (first, kept)
    save_as(session, path)
    session.save_plan()
    session.files.open_now(table_file, "table")
    assert session.plan.targets == {}
    session.files.open_now(path, "project")
    assert (session.selected, session.focus) == (first, kept)
    session.select(second)
    assert session.focus.target == Target("fpr", 0.2)
    session.use_everywhere(Target("fpr", 0.1))
    session.select(first)
    assert session.focus.target == Target("fpr", 0.1)


def test_project_without_prior_and_cost_is_read():
    document = Plan(stakes=CHOSEN).as_json()
    assert Plan.from_json(document).stakes == CHOSEN
    del document["stakes"]
    assert Plan.from_json(document) == Plan()


def test_dragging_a_slider_is_one_undo_step_and_one_write(
    session, table_file, tmp_path, qtbot, monkeypatch
):
    session.files.open_now(table_file, "table")
    save_as(session, tmp_path / "dragged.aucproj")
    session.save_plan()
    written = []
    write = ProjectFile.set_plan
    monkeypatch.setattr(
        ProjectFile, "set_plan", lambda self, plan: written.append(plan) or write(self, plan)
    )
    panel = CostPanel(session)
    qtbot.addWidget(panel)
    for place in range(100, 140):
        panel.prior_slider.setValue(place)
    panel.miss_slider.setValue(500)
    assert session.undo_stack.count() == 2  # the prior, then the cost
    chosen = session.stakes
    assert chosen.prior == pytest.approx(prior_at(139), rel=0.05)
    # Everything is written together once the slider has stopped.
    assert written == []
    session.save_plan()
    assert len(written) == 1
    assert Plan.from_json(session.project.plan()["window"]).stakes == chosen
    session.undo_stack.undo()
    session.undo_stack.undo()
    assert session.stakes == Stakes()
    session.undo_stack.redo()
    session.undo_stack.redo()
    assert session.stakes == chosen


def test_cases_prior_and_cost_are_undone_separately(table_session):
    session = table_session
    session.weigh(prior=0.2)
    session.weigh(prior=0.1)
    session.weigh(miss=5.0)
    session.weigh(cases=200.0)
    session.undo_stack.undo()
    assert (session.stakes.prior, session.stakes.miss, session.stakes.cases) == (0.1, 5.0, None)
    session.undo_stack.undo()
    assert (session.stakes.prior, session.stakes.miss) == (0.1, 1.0)
    session.undo_stack.undo()
    assert session.stakes.prior is None
