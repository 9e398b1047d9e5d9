"""The Compare page shows, orders, copies and saves what the engine computes."""

import csv
import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QPushButton, QTableView

from aucstudio.gui import compare_view, prompts
from aucstudio.gui.compare_view import CompareView, pair_sentence
from aucstudio.project import comparison, words
from aucstudio.project.comparison import PairComparison
from aucstudio.project.split import Validation
from aucstudio.project.summary import auc_summary, pauc_summary, train_auc
from tests.gui.conftest import make_record, put, shown

BAND = (0.0, 0.1)


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view):
    view = open_view(CompareView, session)
    session.band_changed.connect(view.mark_stale)
    return view


@pytest.fixture
def add(session):
    def add(name, weight=1.0, validation=None):
        settings = {"regularization": weight}
        return put(session, make_record(session.table, "auc-rls", settings, validation), name)

    return add


@pytest.fixture
def three(add):
    return {name: add(name, weight) for name, weight in (("a", 0.01), ("b", 10.0), ("c", 1e4))}


def texts(model):
    return [
        [model.index(r, c).data() for c in range(model.columnCount())]
        for r in range(model.rowCount())
    ]


def test_models_keep_the_rules(view, three, qtbot, qtmodeltester):
    shown(view, qtbot)
    qtmodeltester.check(view.runs_model)
    qtmodeltester.check(view.pairs_model)


def test_runs_are_the_checked_ones_best_first(view, three, qtbot):
    shown(view, qtbot)
    rows = texts(view.runs_model)
    ranked = sorted(three, key=lambda name: auc_summary(three[name]).value, reverse=True)
    assert [row[0] for row in rows] == ranked
    for row in rows:
        record = three[row[0]]
        area, part = auc_summary(record), pauc_summary(record, BAND)
        assert row[1:5] == [
            f"{area.value:.3f}",
            f"{area.low:.3f} … {area.high:.3f}",
            f"{part.value:.3f}",
            f"{part.low:.3f} … {part.high:.3f}",
        ]
        assert row[5] == words.figure_words(train_auc(record) - area.value, "+")
        assert row[7] == "1"


@pytest.mark.parametrize("measure", [comparison.AUC, comparison.PAUC])
def test_pairs_are_the_engines(view, three, qtbot, measure):
    combo = view.findChild(QComboBox, "measure_combo")
    combo.setCurrentIndex(combo.findData(measure))
    text = shown(view, qtbot)
    names = [row[0] for row in texts(view.runs_model)]
    expected = comparison.compare_runs([(n, three[n]) for n in names], BAND, measure)
    assert view.shown.pairs == expected
    assert all(pair.difference >= 0 for pair in expected)
    first = texts(view.pairs_model)[0]
    assert first[4] == words.p_number(expected[0].p)
    assert first[5] == words.p_number(expected[0].p_holm)
    rows = len(three["a"].splits[0].test_rows)
    assert f"on these {rows} rows" in text
    assert ("pAUC in FPR 0 … 0.1" in text) == (measure == comparison.PAUC)


def test_a_pair_can_be_read_as_a_sentence(view, three, qtbot):
    shown(view, qtbot)
    view.findChild(QTableView, "compare_pairs_table").selectRow(2)
    pair = view.shown.pairs[2]
    assert view.sentence.text().startswith(f"{pair.better} ")
    assert f"{pair.a if pair.better == pair.b else pair.b} " in view.sentence.text()


def test_unchecked_runs_leave(view, three, session, qtbot):
    shown(view, qtbot)
    session.set_look(three["b"].id, "Hide", visible=False)
    shown(view, qtbot)
    assert sorted(row[0] for row in texts(view.runs_model)) == ["a", "c"]
    assert view.pairs_model.rowCount() == 1
    session.set_look(three["a"].id, "Hide", visible=False)
    assert "Tick a second run" in shown(view, qtbot)
    assert not view.pairs_table.isVisible()
    session.set_look(three["c"].id, "Hide", visible=False)
    assert shown(view, qtbot).startswith("No run is checked")
    assert not view.save_button.isEnabled()


def test_other_rows_are_refused_with_the_reason(view, add, qtbot):
    add("a")
    add("b", validation=Validation(seed=5))
    text = shown(view, qtbot)
    assert "cannot be compared: split differently" in text
    row = texts(view.pairs_model)[0]
    assert row[2:6] == ["–"] * 4
    assert "seed 5" in row[6]


def test_several_splits(view, add, qtbot):
    scheme = Validation(repeats=3)
    records = [add("a", 0.01, scheme), add("b", 1e4, scheme)]
    assert "on these 3 splits" in shown(view, qtbot)
    named = dict(zip("ab", records, strict=True))
    names = [row[0] for row in texts(view.runs_model)]
    assert view.shown.pairs == comparison.compare_runs([(n, named[n]) for n in names], BAND)


def test_clicking_a_row_chooses_the_run(view, three, session, qtbot):
    shown(view, qtbot)
    place = view.runs_table.visualRect(view.runs_model.index(0, 0)).center()
    qtbot.mouseClick(view.runs_table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.selected == view.shown.looks[0].record.id


def test_same_answer_is_not_computed_twice(view, three, session, qtbot, monkeypatch):
    shown(view, qtbot)
    monkeypatch.setattr(compare_view, "_compare", None)
    session.select(three["a"].id)
    assert "after Holm" in shown(view, qtbot)


def test_late_answers_are_dropped(view, three, session, qtbot, monkeypatch):
    shown(view, qtbot)
    real, gate = compare_view._compare, threading.Event()

    def slow(runs, band, measure, post):
        if band == (0.0, 0.3):
            gate.wait(5)
        return real(runs, band, measure, post)

    monkeypatch.setattr(compare_view, "_compare", slow)
    session.set_band(0.0, 0.3)
    qtbot.waitUntil(view.busy)
    assert view.sentence.text() == "Comparing…"
    session.set_band(0.0, 0.5)
    gate.set()
    shown(view, qtbot)
    assert view.shown.runs[0].pauc == pauc_summary(view.shown.looks[0].record, (0.0, 0.5))


def test_copy(view, three, qtbot):
    shown(view, qtbot)
    view.findChild(QPushButton, "copy_table_button").click()
    text = QGuiApplication.clipboard().text()
    rows = list(csv.DictReader(text.split("\n\n")[0].splitlines(), delimiter="\t"))
    assert float(rows[0]["AUC"]) == view.shown.runs[0].auc.value


@pytest.mark.parametrize(
    ("ending", "writer"),
    [
        ("csv", comparison.as_csv),
        ("md", comparison.as_markdown),
        ("tex", comparison.as_latex),
    ],
)
def test_save(view, three, qtbot, monkeypatch, tmp_path, ending, writer):
    shown(view, qtbot)
    target = tmp_path / f"table.{ending}"
    monkeypatch.setattr(prompts, "ask_save_path", lambda *_: str(target))
    view.findChild(QPushButton, "save_table_button").click()
    assert target.read_text(encoding="utf-8") == writer(view.shown.runs, view.shown.pairs)


def test_what_cannot_be_saved_is_said(view, three, qtbot, monkeypatch, tmp_path):
    shown(view, qtbot)
    said = []
    monkeypatch.setattr(prompts, "show_error", lambda _parent, sentence: said.append(sentence))
    for path in (tmp_path / "table.docx", tmp_path / "nowhere" / "table.csv"):
        monkeypatch.setattr(prompts, "ask_save_path", lambda *_, path=path: str(path))
        view.save_button.click()
    monkeypatch.setattr(prompts, "ask_save_path", lambda *_: None)
    view.save_button.click()
    assert len(said) == 2
    assert "table.docx is none of these" in said[0]
    assert "cannot write" in said[1]


def test_empty_states_say_what_to_do(view, session, qtbot):
    assert shown(view, qtbot).startswith("No run yet")
    session.table = None
    view.mark_stale()
    assert shown(view, qtbot).startswith("Open a table")


def test_there_is_no_figure(view):
    assert view.plots() == []
    with pytest.raises(TypeError):
        view.figure()


def test_sentences():
    pair = PairComparison("AUC-RLS", "AUC-SVM", 0.004, -0.006, 0.014, 0.2, 0.41)
    assert pair_sentence(pair, "AUC", "these 143 rows") == (
        "AUC-RLS and AUC-SVM cannot be told apart on these 143 rows (AUC difference 0.004, "
        "95 % −0.006 … 0.014, p = 0.41 after Holm)."
    )
    worse = PairComparison("a", "b", -0.05, -0.08, -0.02, 0.0001, 0.0002)
    assert pair_sentence(worse, "AUC", "these 9 rows") == (
        "b ranks better than a on these 9 rows (AUC difference 0.050, 95 % 0.020 … 0.080, "
        "p < 0.001 after Holm)."
    )
    assert "too few" in pair_sentence(PairComparison("a", "b", 0.5), "AUC", "these 3 rows")
