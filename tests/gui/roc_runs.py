"""Runs on one table, shown on the ROC page."""

import dataclasses

import pytest
from PySide6.QtWidgets import QApplication

from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.state.plan import RunLook
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from tests.conftest import write_table
from tests.gui.conftest import choose, make_record

BAND = (0.0, 0.1)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return read_table(write_table(tmp_path_factory.mktemp("roc") / "study.csv", rows=240))


@pytest.fixture(scope="module")
def records(table):
    """Single hold-outs, and runs of four splits."""
    one, four = Validation(test_size=0.5), Validation(test_size=0.5, repeats=4)
    return {
        "RLS": make_record(table, "auc-rls", validation=one),
        "Logistic": make_record(table, "logistic", validation=one),
        "SVM-pAUC": make_record(table, "svm-pauc", {"fpr_range": (0.0, 0.3)}, one),
        "RLS x4": make_record(table, "auc-rls", validation=four),
        "Logistic x4": make_record(table, "logistic", validation=four),
    }


@pytest.fixture
def view(session, open_view):
    return open_view(RocView, session)


def show(session, records, *names, select=0):
    """Add records to the session's run list under their names."""
    chosen = [records[name] for name in names]
    session.study.records = {record.id: record for record in chosen}
    looks = {r.id: RunLook(name, k) for k, (r, name) in enumerate(zip(chosen, names, strict=True))}
    session.put_plan(dataclasses.replace(session.plan, looks=looks))
    session.select(chosen[select].id)
    QApplication.processEvents()


def show_curve_kind(view, records, *names, face):
    """Show records with a kind of curve."""
    show(view.session, records, *names)
    choose(view.choices.face_combo, face)
    QApplication.processEvents()


def named_in_legend(view):
    legend = view.canvas.legend
    return [label.text for _sample, label in legend.items] if legend.isVisible() else []
