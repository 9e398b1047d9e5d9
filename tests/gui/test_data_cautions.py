"""The data card says before a run what so few rows of a class allow."""

import dataclasses

import pytest

from aucstudio.gui.panels.data_panel import DataPanel
from aucstudio.project.data.splitting.validation import Validation


@pytest.fixture
def card(session, tmp_path, qtbot):
    held = []

    def show(positives, validation=None):
        path = tmp_path / f"few{positives}.csv"
        lines = [f"{k % 13},{'yes' if k < positives else 'no'}" for k in range(200)]
        path.write_text("\n".join(["x,outcome", *lines]) + "\n")
        session.open_data(path)
        plan = dataclasses.replace(session.plan, validation=validation or Validation())
        session.edit(plan, "Change validation")
        panel = DataPanel(session)
        qtbot.addWidget(panel)
        held.append(panel)
        return panel.caution

    return show


@pytest.mark.parametrize("scheme", ["holdout", "folds", "leave-pair-out"])
def test_one_positive_is_told_before_it_is_tried(card, scheme):
    told = card(1, Validation(scheme))
    assert told.property("role") == "error"
    assert "has 1 row, and no split can hold one in training and one in test" in told.text()
    assert "fold" not in told.text()


def test_one_positive_can_be_learnt_from_where_there_is_a_test_file(card):
    told = card(1, Validation("file", test_file="later.csv"))
    assert told.text() == "Only 1 positive to learn from."


def test_the_advice_is_possible(card, session):
    told = card(3, Validation("folds", folds=5))
    assert "choose fewer folds, 3 at most" in told.text()
    session.edit(
        dataclasses.replace(session.plan, validation=Validation("folds", folds=3)), "Fewer"
    )
    assert told.text().startswith("The smaller class") is False


@pytest.mark.parametrize(
    ("positives", "validation", "words"),
    [
        (20, Validation(), "Only 20 positives, about 5 of them in the test part"),
        (8, Validation("folds"), "Only 8 positives: intervals will be wide"),
        (60, Validation(), ""),
        (20, Validation("folds"), ""),
    ],
)
def test_few_positives_are_told_with_what_they_allow(card, positives, validation, words):
    told = card(positives, validation)
    assert told.text().startswith(words)
    assert bool(told.text()) == bool(words)
    assert told.property("role") != "error"
