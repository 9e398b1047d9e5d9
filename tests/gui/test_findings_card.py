"""The data card shows findings that change results first, with actions that can be undone."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QLabel, QPushButton, QWidget

from aucstudio import cli
from aucstudio.gui.common.layouts import down
from aucstudio.gui.dialogs.classes import ClassesDialog
from aucstudio.gui.panels.data_panel import DataPanel
from aucstudio.gui.state.background import Background
from aucstudio.project.data.finding import FORMAT, Finding
from aucstudio.project.data.findings.find import find
from aucstudio.project.data.import_choices import FirstReading
from aucstudio.project.data.table import read_table
from aucstudio.project.store.project.project_file import ProjectFile
from tests.conftest import write_file
from tests.gui.conftest import expose, save_as


def finish_check(card):
    card.findChild(Background).finish()


ROWS = 300


@pytest.fixture
def open_card(session, tmp_path, qtbot):
    """Open a table of the given rows in a visible card."""

    def open_card(head, rows):
        session.files.open_now(
            write_file(tmp_path / "lines.csv", "\n".join([head, *rows])), "table"
        )
        panel = expose(qtbot, DataPanel(session), 360, 700)
        finish_check(panel)
        return panel

    return open_card


def number(seed=3):
    """Return a function that writes normal numbers."""
    random = np.random.default_rng(seed)
    return lambda: f"{random.normal():.3f}"


@pytest.fixture
def awkward(tmp_path):
    random = np.random.default_rng(1)
    y = random.random(ROWS) < 0.3
    words = {True: ["yes", "Yes"], False: ["no", "no"]}
    lines = ["told,patient_id,a,grade,y"]
    for k, one in enumerate(y.tolist()):
        word = words[one][k % 2]
        told = (word == "yes") + random.random() / 2
        a = -999 if k % 30 == 0 else random.normal()
        lines.append(f"{told:.3f},{k % 40},{a:.3f},{k % 9},{word}")
    return write_file(tmp_path / "awkward.csv", "\n".join(lines) + "\n")


@pytest.fixture
def card(session, awkward, qtbot):
    session.files.open_now(awkward, "table")
    session.set_roles(label="y", positive="yes")
    panel = expose(qtbot, DataPanel(session), 360, 700)
    finish_check(panel)
    return panel


def sentences(card):
    found = card.findings.findChildren(QLabel)
    return [one.text() for one in found if one.isVisible() and one.objectName().startswith("find")]


def press(card, words, qtbot):
    (button,) = [b for b in card.findings.findChildren(QPushButton) if b.accessibleName() == words]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    finish_check(card)


def test_card_shows_the_most_important_finding_first(card, qtbot):
    (first,) = sentences(card)
    assert first.startswith("Column told")
    qtbot.mouseClick(card.findings.more, Qt.MouseButton.LeftButton)
    found = sentences(card)
    assert len(found) == 4
    assert "-999" in found[1]
    assert "spelled in several ways" in found[2]
    assert "patient_id has 40 values" in found[3]


def test_action_of_a_finding_can_be_undone(card, session, qtbot):
    press(card, "Ignore column: told", qtbot)
    assert session.table.column("told").role == "ignore"
    assert session.undo_stack.undoText() == "Ignore told"
    assert sentences(card)[0].startswith("Column told")  # nothing moves under the pointer
    press(card, "Undo: Ignore told", qtbot)
    assert session.table.column("told").role == "number"
    assert sentences(card)[0].startswith("Column told")


def test_finding_of_an_ignored_column_disappears_at_once(card, session):
    assert sentences(card)[0].startswith("Column told")
    session.set_roles(roles={"told": "ignore"})
    assert not any(one.startswith("Column told") for one in sentences(card))
    session.undo_stack.undo()
    finish_check(card)
    assert sentences(card)[0].startswith("Column told")


def test_actions_merge_spellings_and_group_rows(card, session, qtbot):
    qtbot.mouseClick(card.findings.more, Qt.MouseButton.LeftButton)
    press(card, "Merge spellings: y", qtbot)
    assert len(session.table.classes) == 2
    press(card, "Keep together: patient_id", qtbot)
    assert session.table.groups.count == 40
    held = {b.accessibleName(): b.isEnabled() for b in card.findings.findChildren(QPushButton)}
    assert held["Undo: Merge spellings"] is False  # the last change only
    assert held["Undo: Group by patient_id"] is True


def test_column_of_weights_becomes_the_weight(open_card, session, qtbot):
    x = number()
    lines = [f"{0.8 + k % 3 / 5:.1f},{x()},{k % 2}" for k in range(100)]
    card = open_card("sampling_weight,x,y", lines)
    press(card, "Use as weight: sampling_weight", qtbot)
    assert session.table.weight == "sampling_weight"


def test_number_codes_become_a_category(open_card, session, qtbot):
    x, codes = number(), np.random.default_rng(3).choice([101, 205, 307, 411], 100)
    card = open_card(
        "product_code,x,label", [f"{code},{x()},{k % 3 == 0:d}" for k, code in enumerate(codes)]
    )
    press(card, "Make it a category: product_code", qtbot)
    column = session.table.column("product_code")
    assert (column.role, column.kind) == ("category", "number")
    session.undo_stack.clear()
    session.put_table(session.table)
    assert sentences(card) == []


def test_ignored_column_is_not_offered_for_ignoring(open_card):
    x = number(4)
    rows = [f"{k:04d},{k % 7:03d},{x()},{k % 3 == 0:d}" for k in range(100)]
    card = open_card("plz,branch,x,label", rows)
    buttons = card.findings.findChildren(QPushButton)
    offered = {b.accessibleName() for b in buttons if b is not card.findings.more}
    assert offered == {"Use as identifier: plz", "Ignore column: branch"}


def test_findings_of_the_previous_table_are_removed(card, session, open_card):
    x = number(2)
    open_card("x,label", [f"{x()},{k % 3 == 0:d}" for k in range(100)])
    finish_check(card)
    assert sentences(card) == []
    session.files.close_study()
    assert sentences(card) == []


def test_markup_in_a_name_is_shown_as_text(open_card):
    card = open_card("<b>no</b><img src=trap>,label", [f"{k},{k % 2}" for k in range(100)])
    (label,) = card.findings.findChildren(QLabel, "finding_0_sentence")
    assert "<b>no</b><img src=trap>" in label.text()
    assert label.textFormat() == Qt.TextFormat.PlainText


# ------------------------------------------------------------------ classes


@pytest.fixture
def classes(card, qtbot):
    def show(column="y"):
        return expose(qtbot, ClassesDialog(card.session.table, card.session.table.column(column)))

    return show


def item(dialog, name):
    rows = range(dialog.classes.count())
    (found,) = [
        dialog.classes.item(k)
        for k in rows
        if dialog.classes.item(k).data(Qt.ItemDataRole.UserRole) == name
    ]
    return found


def test_several_positive_classes_are_counted(classes, card, session):
    dialog = classes()
    table = session.table
    assert item(dialog, "yes").checkState() == Qt.CheckState.Checked
    item(dialog, "Yes").setCheckState(Qt.CheckState.Checked)
    positives = table.classes["yes"] + table.classes["Yes"]
    assert dialog.counts.text().startswith(f"{positives} positive · {table.classes['no']} negative")
    assert dialog.choice() == {"label": "y", "positive": ["Yes", "yes"]}
    item(dialog, "no").setCheckState(Qt.CheckState.Checked)
    assert "one class only" in dialog.counts.text()
    ok = dialog.ends.button(QDialogButtonBox.StandardButton.Ok)
    assert not ok.isEnabled()
    for name in ("no", "yes", "Yes"):
        item(dialog, name).setCheckState(Qt.CheckState.Unchecked)
    assert not ok.isEnabled()


def test_class_spellings_are_merged_in_the_dialog(classes, session):
    dialog = classes()
    dialog.merge.setChecked(True)
    assert dialog.classes.count() == 2
    assert dialog.choice()["positive"] in ("yes", "Yes")
    changed = session.table.with_roles(**dialog.choice())
    assert changed.positive in ("yes", "Yes")
    assert len(changed.classes) == 2
    dialog.merge.setChecked(False)
    assert set(dialog.choice()["positive"]) == {"yes", "Yes"}


def test_numeric_label_is_split_at_a_threshold(classes, qtbot):
    dialog = classes("grade")
    dialog.by_number.setChecked(True)
    dialog.sign.setCurrentText(">")
    qtbot.keyClicks(dialog.at, "5")
    grades = [k % 9 for k in range(ROWS)]
    above = sum(grade > 5 for grade in grades)
    assert dialog.counts.text() == f"{above} positive · {ROWS - above} negative"
    assert dialog.choice() == {"label": "grade", "positive": "> 5"}
    dialog.at.clear()
    qtbot.keyClicks(dialog.at, "many")
    assert "'many' is not a number" in dialog.counts.text()


def test_card_applies_the_classes_chosen_in_the_dialog(card, session, qtbot):
    combo = card.positive_combo
    combo.setCurrentIndex(combo.count() - 1)
    combo.activated.emit(combo.count() - 1)
    (dialog,) = card.findChildren(ClassesDialog)
    assert combo.currentData() == "yes"  # nothing has changed yet
    item(dialog, "Yes").setCheckState(Qt.CheckState.Checked)
    qtbot.mouseClick(
        dialog.ends.button(QDialogButtonBox.StandardButton.Ok), Qt.MouseButton.LeftButton
    )
    assert session.table.positive == "Yes or yes"
    assert combo.currentData() == "Yes or yes"
    session.undo_stack.undo()
    assert session.table.positive == "yes"


def test_numeric_label_with_many_values_opens_the_dialog(card, session, qtbot):
    combo = card.label_combo
    place = combo.findData("a")
    combo.setCurrentIndex(place)
    combo.activated.emit(place)
    (dialog,) = card.findChildren(ClassesDialog)
    assert session.table.label == "y"
    assert dialog.by_number.isChecked()
    qtbot.keyClicks(dialog.at, "0")
    dialog.accept()
    assert session.table.label == "a"
    assert session.table.positive == ">= 0"


def test_treating_a_sentinel_as_missing_can_be_undone(card, session, qtbot):
    qtbot.mouseClick(card.findings.more, Qt.MouseButton.LeftButton)
    press(card, "Treat -999 as missing: a", qtbot)
    assert session.table.absent == {"a": (-999.0,)}
    assert "coded missing values in 1 column" in card.facts.text()
    session.undo_stack.undo()
    finish_check(card)
    assert session.table.absent == {}
    assert any("-999" in one for one in sentences(card))


def test_project_keeps_classes_and_missing_value_codes(card, session, tmp_path):
    session.set_roles(merge=True, absent={"a": [-999]})
    session.set_roles(positive=["no"])
    save_as(session, tmp_path / "kept.aucproj")
    before = session.table
    session.files.close_study()
    session.files.open_now(tmp_path / "kept.aucproj", "project")
    after = session.table
    assert (after.classes, after.positive, after.rule) == (
        before.classes,
        before.positive,
        before.rule,
    )
    assert after.absent == {"a": (-999.0,)}


@pytest.fixture
def bank(tmp_path):
    random = np.random.default_rng(5)
    path = tmp_path / "bank.csv"
    lines = ["Größe;Konto;Tag;Fällig"]
    for k in range(200):
        due = "ja" if random.random() < 0.3 else "nein"
        lines.append(f"{random.normal():.2f};00{k % 60:03d};{k % 27 + 1:02d}.04.2024;{due}")
    path.write_bytes("\n".join([*lines, "Summe;;;"]).encode("cp1252"))
    return path


def test_recognised_encoding_is_a_remark(session, bank, qtbot):
    session.files.open_now(bank, "table")
    panel = expose(qtbot, DataPanel(session))
    finish_check(panel)
    found = panel.findings.findChildren(QLabel)
    assert not any("cp1252" in one.text() for one in found)
    assert "cp1252" in panel.routine.text()


def test_reopened_project_shows_the_first_findings(session, bank, tmp_path):
    session.files.open_now(bank, "table")
    at_first = session.table
    save_as(session, tmp_path / "bank.aucproj")
    session.files.close_study()
    session.files.open_now(tmp_path / "bank.aucproj", "project")
    again = session.table
    found = find(at_first)
    assert {"encoding", "identifier", "kind", "positive", "rejected"} <= {f.kind for f in found}
    assert find(again) == found
    assert set(again.notes) == set(at_first.notes)
    assert again.schema == at_first.schema
    session.set_roles(positive=["nein"])
    assert not any("guessed to be the positive" in note for note in session.table.notes)


def test_project_of_the_command_line_shows_the_first_findings(session, bank, tmp_path):
    project = tmp_path / "script.aucproj"
    words = ["--method", "auc-rls", "--project", str(project), "--quiet"]
    assert cli.main(["train", str(bank), *words]) == 0
    at_first = read_table(bank)
    session.files.open_now(project, "project")
    assert find(session.table) == find(at_first)
    assert set(session.table.notes) == set(at_first.notes)
    assert session.table.guessed == at_first.guessed
    session.files.close_study()
    # A combination is read by the schema and adds no findings.
    assert cli.main(["train", str(bank), *words, "--set", "regularization=3"]) == 0
    names = [run.record.id for run in _opened(session, project).shown_runs()]
    session.files.close_study()
    assert cli.main(["combine", str(project), *names, "--quiet"]) == 0
    assert find(_opened(session, project).table) == find(at_first)


def _opened(session, project):
    session.files.open_now(project, "project")
    return session


def test_command_line_keeps_the_plan_of_the_window(session, bank, tmp_path):
    session.files.open_now(bank, "table")
    session.set_roles(positive="nein")
    project = tmp_path / "both.aucproj"
    save_as(session, project)
    kept = ProjectFile(project).plan()
    session.files.close_study()
    words = ["--method", "auc-rls", "--project", str(project), "--quiet"]
    assert cli.main(["train", str(bank), *words]) == 0
    assert ProjectFile(project).plan() == kept


def test_damaged_findings_of_a_project_are_ignored(tmp_path):
    table = read_table(write_file(tmp_path / "small.csv", "a,y\n1,0\n2,1\n3,0\n4,1\n"))
    for spoiled in (7, [], {"findings": 3}, {"guessed": [1]}, {"whys": ["a"]}):
        assert FirstReading.from_json(spoiled) == FirstReading()
    odd = Finding("no kind", "of none"), Finding("leak", "elsewhere", ("gone",))
    assert FirstReading(odd, ("weather",), {"gone": "x"}).applied_to(table).findings == ()


def test_unique_number_becomes_the_identifier(open_card, session, qtbot):
    x, slips = number(), np.random.default_rng(3).permutation(400) + 1000
    card = open_card("slip,x,label", [f"{n},{x()},{n % 2}" for n in slips])
    press(card, "Use as identifier: slip", qtbot)
    assert session.table.column("slip").role == "id"
    assert session.table.feature_names == ("x",)


def test_merging_spellings_of_a_level_can_be_undone(open_card, session, qtbot):
    x, cities = number(), ("Bern", "Basel", "bern")
    card = open_card("city,x,label", [f"{cities[k % 3]},{x()},{k % 2}" for k in range(120)])
    press(card, "Merge spellings: city", qtbot)
    assert session.table.same == {"city": (("Bern", "bern"),)}
    press(card, "Undo: Merge spellings of city", qtbot)
    finish_check(card)
    assert session.table.same == {}
    assert "spelled in several ways" in sentences(card)[0]


@pytest.mark.parametrize("count", [3, 25])
def test_missing_choice_is_shown_once_beside_its_field(open_card, session, count):
    card = open_card("x,label", [f"{k},class {k % count}" for k in range(100)])
    if count == 25:
        assert card.problem.text().startswith("Choose the label: ")
        session.set_roles(label="label")
    assert card.problem.text() == (
        f"Choose the positive class of label: one of {count}, or several together."
    )
    assert "choose" not in card.notes.text()
    names = [card.positive_combo.itemText(k) for k in range(card.positive_combo.count())]
    assert sum(name.startswith("class ") for name in names) == count


def test_finding_of_values_beyond_a_limit_offers_both_ways(open_card, qtbot):
    x = number()
    rows = [f"{'<0.5' if k % 10 == 0 else x()},{k % 3 == 0:d}" for k in range(100)]
    card = open_card("crp,label", rows)
    with qtbot.waitSignal(card.import_asked) as asked:
        press(card, "Read as half: crp", qtbot)
    assert asked.args == [{"limits": "half"}]
    assert "Read as limit: crp" in [
        button.accessibleName() for button in card.findings.findChildren(QPushButton)
    ]


def test_sign_that_may_be_missing_is_read_as_missing(open_card, qtbot):
    wards = "-", "north", "south", "east", "west", "middle"
    rows = [f"{wards[k % 6]},{k // 6 % 2}" for k in range(90)]
    card = open_card("ward,label", rows)
    with qtbot.waitSignal(card.import_asked) as asked:
        press(card, "Read as missing: ward", qtbot)
    assert asked.args == [{"missing": ("-",)}]


def test_findings_with_actions_come_first(open_card):
    findings = [
        Finding("header", "line 2 holds units", ("a",)),
        Finding("group", "rows of a belong together", ("a",), code="repeated_ids"),
        Finding("encoding", "letters may be wrong", ("b",)),
    ]
    card = open_card("a,b,label", [f"{k // 2},{k % 7},{k % 2}" for k in range(60)])
    card.findings.show_findings(findings, card.session.table)
    first = card.findings.findChild(QLabel, "finding_0_sentence")
    assert "belong together" in first.text()


@pytest.mark.parametrize("percent", [100, 200])
def test_nothing_moves_under_the_pointer_when_findings_appear(
    open_card, session, qtbot, apply_style, percent
):
    apply_style(percent=percent)
    value = number()
    rows = [f"{k % 2 + 0.001 * (k % 7)},{value()},{k % 2}" for k in range(80)]
    card, below = open_card("told,a,y", rows), QPushButton("below")
    area = QWidget()  # as in the window
    area.setLayout(down(card, below, None))
    expose(qtbot, area, 4 * percent, 10 * percent)
    session.set_roles(roles={"told": "ignore"})
    finish_check(card)
    assert not sentences(card)
    parts = card.label_combo, card.open_button, card.columns_button, card.import_button, below
    before = [part.mapTo(area, QPoint(0, 0)) for part in parts]
    session.set_roles(roles={"told": "number"})
    finish_check(card)
    QApplication.processEvents()
    assert card.findChild(QPushButton, "finding_0_action_0").isVisible()
    assert [part.mapTo(area, QPoint(0, 0)) for part in parts] == before
    card.setParent(None)  # it is closed by itself


def test_rows_in_time_order_are_validated_forward(open_card, session, qtbot):
    x = number()
    rows = [f"2024-01-01 {k // 60:02d}:{k % 60:02d},{x()},{'pn'[k % 2]}" for k in range(200)]
    card = open_card("when,x,y", rows)
    press(card, "Validate forward in time: when", qtbot)
    validation = session.plan.validation
    assert (validation.scheme, validation.time) == ("forward", "when")
    press(card, "Undo: Validate forward in time", qtbot)
    assert session.plan.validation.scheme == "holdout"
    session.set_roles(roles={"when": "ignore"})  # the dates are no feature, but order the rows
    finish_check(card)
    assert any(one.startswith("Rows are in the order") for one in sentences(card))
    session.validate(scheme="forward", time="when")
    buttons = card.findings.findChildren(QPushButton)
    assert "Validate forward in time: when" not in {one.accessibleName() for one in buttons}


def test_findings_on_columns_that_the_user_ignores_do_not_return(card, session):
    session.set_roles(roles=dict.fromkeys(("told", "a", "grade", "patient_id"), "ignore"))
    finish_check(card)
    assert [one for one in sentences(card) if "Column" in one or "-999" in one] == []


def kept_room(card):
    """Return the least height of the room for findings and notes."""
    QApplication.processEvents()
    return card.findings.parentWidget().minimumHeight()


def test_room_of_a_finding_stays_when_it_is_answered(card, session):
    before = kept_room(card)
    assert before >= card.findings.height()
    session.set_roles(roles=dict.fromkeys(("told", "a", "grade", "patient_id"), "ignore"))
    finish_check(card)
    assert kept_room(card) == before > card.findings.sizeHint().height()


def test_clean_table_keeps_no_room_for_findings(open_card):
    x = number()
    card = open_card("x,y", [f"{x()},{'pn'[k % 2]}" for k in range(200)])
    assert kept_room(card) < 5 * card.fontMetrics().height()


def test_every_import_note_is_in_the_card(open_card, session):
    x = number()
    card = open_card("x,y", [f"{x()},{'pn'[k % 2]}" for k in range(200)])
    notes = [f"note number {k}" for k in range(12)]
    remarks = tuple(Finding("rejected", note) for note in notes[:6])
    remarks += tuple(Finding(FORMAT, note) for note in notes[6:])
    session.put_table(dataclasses.replace(session.table, remarks=remarks))
    finish_check(card)
    shown = " ".join(one.text() for one in card.findChildren(QLabel)).lower()
    assert all(note in shown for note in notes)
    assert "• 200 rows, 2 columns; csv" in shown
