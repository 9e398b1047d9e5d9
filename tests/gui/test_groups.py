"""The window names the grouping column and rejects runs that would split groups."""

import dataclasses

import pytest
from PySide6.QtWidgets import QComboBox, QLabel

from aucstudio.gui.panels.data_panel import DataPanel
from aucstudio.gui.panels.validation_panel import ValidationPanel
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError


@pytest.fixture
def grouped(table_session):
    table_session.set_roles(roles={"town": "group"})
    return table_session


def leave_pair_out_item(combo):
    """Return the leave-pair-out item, which groups disable."""
    return combo.model().item(combo.findData("leave-pair-out"))


def test_cards_name_the_grouping_column(qtbot, table_session):
    panels = DataPanel(table_session), ValidationPanel(table_session)
    for panel in panels:
        qtbot.addWidget(panel)
    facts, note = panels[0].findChild(QLabel, "data_facts"), panels[1].together
    assert "grouped" not in facts.text()
    assert note.isHidden()
    table_session.set_roles(roles={"town": "group"})
    assert "grouped by town (2 groups)" in facts.text()
    assert not note.isHidden()
    assert note.text() == (
        "Rows of one town are never in both training and test sets: grouped by town (2 groups)."
    )
    assert not leave_pair_out_item(panels[1].findChild(QComboBox, "scheme_combo")).isEnabled()
    table_session.set_roles(roles={"town": "category"})
    assert note.isHidden()
    assert leave_pair_out_item(panels[1].findChild(QComboBox, "scheme_combo")).isEnabled()


@pytest.mark.parametrize(
    ("validation", "setting"),
    [(Validation("folds", folds=3), "folds"), (Validation("leave-pair-out"), "validation")],
)
def test_run_that_would_split_groups_is_rejected(grouped, validation, setting):
    plan = dataclasses.replace(grouped.plan, validation=validation, method="auc-rls")
    grouped.edit(plan, "scheme")
    with pytest.raises(InputError, match="rows of one town") as caught:
        grouped.runs.start([grouped.runs.planned()])
    assert caught.value.setting == setting
    assert not grouped.busy
    assert not grouped.queue
