"""The import preview: first rows, choices, findings, and the table opened with them."""

import csv
import gzip
import zipfile

import pytest
from openpyxl import Workbook
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QSpinBox, QWidget

from aucstudio.gui.dialogs.importing import ImportPreview
from aucstudio.gui.state.preferences import preferences
from aucstudio.notices import text
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.preview import HeadReader
from aucstudio.project.data.readers import isolated
from aucstudio.project.errors import InputError
from tests.conftest import write_file, write_table
from tests.gui.conftest import make_record, put, save_as

_STREETS = ("Садовая", "Лесная", "Новая")


def write_awkward(path, rows=60):
    """Semicolons, decimal commas and Cyrillic letters, too few for a reliable guess."""
    lines = ["номер;рост;улица;исход"]
    lines += [f"{k};{1 + k % 7 / 10:.2f};{_STREETS[k % 3]};{k % 4 == 0:d}" for k in range(rows)]
    text = "\n".join(lines).replace(".", ",")
    path.write_bytes(text.encode("cp1251"))
    return path


@pytest.fixture
def preview_of(window, qtbot, answers):
    """Open the dialog by its action, and wait until it is idle."""

    def preview(path):
        answers.open_path = str(path)
        window.actions_.import_data.trigger()
        dialog = window.findChildren(ImportPreview)[-1]
        wait_until_idle(qtbot, dialog)
        return dialog

    yield preview
    for dialog in window.findChildren(ImportPreview):
        dialog.reject()


@pytest.fixture
def look_at(session, qtbot):
    """Open the dialog without a main window, where nothing is imported."""
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(1240, 840)

    def look_at(path):
        dialog = ImportPreview(session, path, None, parent)
        with qtbot.waitExposed(dialog):
            dialog.open()
        wait_until_idle(qtbot, dialog)
        return dialog

    yield look_at
    for dialog in parent.findChildren(ImportPreview):
        dialog.reject()


def wait_until_idle(qtbot, dialog):
    qtbot.waitUntil(lambda: not dialog.busy)


def choose_value(qtbot, dialog, name, data):
    """Choose in a combo box as a user does."""
    combo = dialog.findChild(QComboBox, name)
    place = combo.findData(data)
    assert place >= 0, [combo.itemData(k) for k in range(combo.count())]
    combo.setCurrentIndex(place)
    combo.activated.emit(place)
    wait_until_idle(qtbot, dialog)


def role_combo(dialog, name):
    names = [column.name for column in dialog.sheet.rows.table.columns]
    place = names.index(name)
    dialog.sheet.scrollTo(dialog.sheet.model().index(0, place))
    return f"import_role_{place}"


def cells(dialog, row):
    model = dialog.sheet.model()
    return [model.index(row, k).data() for k in range(model.columnCount())]


def press(qtbot, button):
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def open_table(qtbot, window, dialog):
    press(qtbot, dialog.open_button)
    qtbot.waitUntil(lambda: not window.session.files.opener.busy)
    return window.session.table


def test_values_beyond_a_limit_are_counted_and_read_as_chosen(qtbot, look_at, tmp_path):
    path = tmp_path / "doses.csv"
    lines = [f"{'<1.8' if k % 8 == 0 else 2 + k * 0.37},{k % 2}" for k in range(80)]
    path.write_text("\n".join(["dose,y", *lines]), encoding="utf-8")
    dialog = look_at(path)
    combo = dialog.findChild(QComboBox, "import_limits")
    assert combo.isVisible()
    assert combo.currentText() == "missing · 10 cells"
    choose_value(qtbot, dialog, "import_limits", "half")
    assert cells(dialog, 0)[0] == "0.9"
    assert dialog.choices.dialect == {"limits": "half"}
    choose_value(qtbot, dialog, "import_limits", None)
    assert cells(dialog, 0)[0] != "0.9"
    plain = look_at(write_table(tmp_path / "plain.csv"))
    assert not plain.findChild(QComboBox, "import_limits").isVisible()


def test_wrong_encoding_is_corrected_before_opening(window, qtbot, preview_of, tmp_path):
    path = write_awkward(tmp_path / "a.csv")
    dialog = preview_of(path)
    choose_value(qtbot, dialog, "import_encoding", "latin-1")  # as a wrong guess would be
    choose_value(qtbot, dialog, "import_decimal", ".")
    assert "улица" not in [c.name for c in dialog.sheet.rows.table.columns]
    choose_value(qtbot, dialog, "import_encoding", "cp1251")
    choose_value(qtbot, dialog, "import_decimal", ",")
    assert cells(dialog, 1) == ["1", "1.1", "Лесная", "0"]
    choose_value(qtbot, dialog, role_combo(dialog, "улица"), "ignore")
    choose_value(qtbot, dialog, role_combo(dialog, "исход"), "label")
    table = open_table(qtbot, window, dialog)
    qtbot.waitUntil(lambda: window.findChild(ImportPreview) is None)
    assert (table.path, table.rows, table.label) == (path, 60, "исход")
    assert (table.dialect.encoding, table.dialect.decimal) == ("cp1251", ",")
    assert set(table.schema.chosen) == {"encoding", "decimal"}
    assert dict(table.schema.roles)["улица"] == "ignore"
    assert not table.schema.by_name["улица"].guessed


def test_detected_values_are_italic_and_choices_are_not(qtbot, look_at, tmp_path):
    dialog = look_at(write_awkward(tmp_path / "a.csv"))
    delimiter = dialog.findChild(QComboBox, "import_delimiter")
    assert delimiter.currentText() == "Detected: semicolon"
    assert delimiter.font().italic()
    assert not delimiter.view().font().italic()  # the choices of its list
    name = role_combo(dialog, "рост")
    assert dialog.findChild(QComboBox, name).currentText() == "Detected: Number"
    choose_value(qtbot, dialog, "import_delimiter", ";")
    choose_value(qtbot, dialog, name, "category")
    assert not delimiter.font().italic()
    assert not dialog.findChild(QComboBox, name).font().italic()
    assert dialog.sheet.rows.table.column("рост").role == "category"
    choose_value(qtbot, dialog, name, None)
    assert dialog.sheet.rows.table.column("рост").role == "number"
    press(qtbot, dialog.guess_button)
    wait_until_idle(qtbot, dialog)
    assert dialog.choices == ImportChoices()


def test_choices_are_remembered_per_file(window, qtbot, preview_of, tmp_path):
    path = write_awkward(tmp_path / "a.csv")
    dialog = preview_of(path)
    choose_value(qtbot, dialog, role_combo(dialog, "улица"), "ignore")
    choose_value(qtbot, dialog, "import_quote", "")
    open_table(qtbot, window, dialog)
    copy = tmp_path / "copy.csv"  # known by its bytes
    copy.write_bytes(path.read_bytes())
    for again in (path, copy):
        dialog = preview_of(again)
        assert dialog.choices == ImportChoices({"quote": ""}, {"улица": "ignore"})
        assert dialog.findChild(QComboBox, "import_quote").currentData() == ""
        dialog.reject()
        window.open_path(again)
        qtbot.waitUntil(lambda: not window.session.files.opener.busy)
        assert window.session.table.column("улица").role == "ignore"
        assert "read with the settings chosen for this file earlier" in window.session.table.notes
    assert window.open_now(path).table.column("улица").role != "ignore"  # scripts get guesses
    kept = preferences()
    kept.flush()
    assert [one.path for one in kept.now.imports] == [str(path)]


def test_remembered_choices_that_no_longer_fit_are_reported(window, qtbot, preview_of, tmp_path):
    path = write_awkward(tmp_path / "a.csv")
    dialog = preview_of(path)
    choose_value(qtbot, dialog, role_combo(dialog, "улица"), "ignore")
    open_table(qtbot, window, dialog)
    write_table(path, rows=40)
    window.open_path(path)
    qtbot.waitUntil(lambda: not window.session.files.opener.busy)
    notices = {notice.code: notice for notice in window.session.table.notices}
    assert "улица" in notices["format_recall_failed"].sentence


def test_workbook_sheet_can_be_chosen(window, qtbot, preview_of, tmp_path):
    book = Workbook()
    first, second = book.active, book.create_sheet("cases")
    first.title = "notes"
    for sheet, name in ((first, "a"), (second, "b")):
        sheet.append([name, "y"])
        for k in range(30):
            sheet.append([k / 7, k % 3 == 0])
    book.save(tmp_path / "book.xlsx")
    dialog = preview_of(tmp_path / "book.xlsx")
    assert dialog.controls.combos["sheet"].isVisible()
    assert not dialog.controls.combos["delimiter"].isVisible()  # not applicable here
    choose_value(qtbot, dialog, "import_sheet", "cases")
    assert [column.name for column in dialog.sheet.rows.table.columns] == ["b", "y"]
    table = open_table(qtbot, window, dialog)
    assert table.dialect.sheet == "cases"
    assert table.feature_names == ("b",)


def test_damaged_file_is_reported_in_the_dialog(look_at, tmp_path):
    path = write_file(tmp_path / "broken.xlsx", b"PK\3\4 and nothing of a workbook")
    dialog = look_at(path)
    assert str(path) in dialog.words.text()
    assert not dialog.open_button.isEnabled()
    assert dialog.sheet.model().rowCount() == 0


def test_unreadable_choice_can_be_reverted(qtbot, look_at, tmp_path):
    dialog = look_at(write_awkward(tmp_path / "a.csv"))
    choose_value(qtbot, dialog, "import_delimiter", "|")
    assert "only one column" in dialog.words.text()
    assert not dialog.open_button.isEnabled()
    choose_value(qtbot, dialog, "import_delimiter", None)
    assert not dialog.words.isVisible()
    assert dialog.open_button.isEnabled()


def write_with_bad_rows(path, rows=5000):
    lines = ["x,z,y"] + [f"{k % 97},{k % 11},{k % 2}" for k in range(rows)]
    lines[3] += ",more"
    lines[4000] = "short"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_rejected_rows_are_listed_and_exported(qtbot, look_at, answers, tmp_path, packed):
    path = write_with_bad_rows(tmp_path / "bad.csv")
    if packed:
        path = path.with_suffix(".csv.gz")
        path.write_bytes(gzip.compress((tmp_path / "bad.csv").read_bytes()))
    dialog = look_at(path)
    listed = dialog.left_out.rows
    assert [listed.item(k).text() for k in range(listed.count())] == [
        "line 4: 4 cells instead of 3"
    ]
    answers.save_path = str(tmp_path / "left.csv")
    press(qtbot, dialog.left_out.export)
    wait_until_idle(qtbot, dialog)
    with (tmp_path / "left.csv").open(newline="", encoding="utf-8") as file:
        written = list(csv.reader(file))
    assert [(row[0], row[2]) for row in written[1:]] == [("4", "2,2,0,more"), ("4001", "short")]
    assert "2 rows of the whole file" in dialog.left_out.status.text()


def test_strict_reading_reports_the_rejected_line(window, qtbot, preview_of, tmp_path):
    path = write_with_bad_rows(tmp_path / "bad.csv")
    text = path.read_text().replace(",more", "")
    path.write_text(text)  # the first rows are valid
    dialog = preview_of(path)
    strict = dialog.findChild(QAbstractButton, "import_strict")
    strict.setChecked(True)
    wait_until_idle(qtbot, dialog)
    open_table(qtbot, window, dialog)
    assert dialog.isVisible()
    assert "line 4001" in dialog.words.text()
    strict.setChecked(False)
    wait_until_idle(qtbot, dialog)
    assert open_table(qtbot, window, dialog).rejected_rows == 1


def test_skipped_lines_and_missing_spellings_are_applied(qtbot, look_at, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,z,y\n" + "".join(f"{k},{k % 5},{k % 2}\n" for k in range(50)))
    dialog = look_at(path)
    dialog.findChild(QSpinBox, "import_skip").setValue(1)
    wait_until_idle(qtbot, dialog)
    assert dialog.choices.dialect == {"skip": 1}
    assert dialog.sheet.rows.table.rows == 49 + (not dialog.sheet.rows.table.dialect.header)
    dialog.findChild(QSpinBox, "import_skip").setValue(-1)
    field = dialog.findChild(QLineEdit, "import_missing")
    qtbot.keyClicks(field, "3, never")
    qtbot.keyClick(field, Qt.Key.Key_Tab)
    wait_until_idle(qtbot, dialog)
    assert dialog.choices.dialect == {"missing": ("3", "never")}
    assert dialog.sheet.rows.table.column("z").missing == 10


def test_finding_can_be_resolved_in_the_dialog(window, qtbot, preview_of, tmp_path):
    path = tmp_path / "t.csv"
    rows = (f"{-999 if k % 9 == 0 else k % 17},{k % 5},{k % 2}\n" for k in range(200))
    path.write_text("age,z,y\n" + "".join(rows))
    dialog = preview_of(path)
    (button,) = [
        one for one in dialog.findings.findChildren(QAbstractButton) if "-999" in one.text()
    ]
    button.click()
    wait_until_idle(qtbot, dialog)
    assert open_table(qtbot, window, dialog).absent == {"age": (-999.0,)}


def test_card_opens_the_preview_of_the_open_table(window, qtbot, preview_of, tmp_path):
    window.open_now(write_awkward(tmp_path / "a.csv"))
    window.session.set_roles(roles={"улица": "ignore"})
    press(qtbot, window.workplace.data_panel.import_button)
    (dialog,) = window.findChildren(ImportPreview)
    wait_until_idle(qtbot, dialog)
    assert dialog.choices.roles == {"улица": "ignore"}
    assert dialog.sheet.rows.table.column("улица").role == "ignore"


def test_action_on_cells_of_a_file_reads_it_again_at_once(window, qtbot, tmp_path):
    path = tmp_path / "t.csv"
    rows = (f"{'<0.5' if k % 10 == 0 else 0.7 + 0.013 * k},{k % 3 == 0:d}\n" for k in range(100))
    path.write_text("crp,y\n" + "".join(rows))
    window.open_now(path)
    card = window.workplace.data_panel
    name = "finding_0_action_1"
    qtbot.waitUntil(lambda: bool(card.findChildren(QAbstractButton, name)))
    (half,) = card.findChildren(QAbstractButton, name)
    with qtbot.waitSignal(window.session.files.opened):
        press(qtbot, half)
    assert not window.findChildren(ImportPreview)
    table = window.session.table
    assert table.column("crp").missing == 0
    assert table.limited == {"crp": (10, "half")}
    (said,) = [one for one in table.notices if one.code == "import_limits"]
    assert dict(said.facts)["cells"] == 10


def test_dropped_files_of_one_layout_are_stacked(window, qtbot, tmp_path):
    paths = [write_table(tmp_path / f"{name}.csv", rows=40) for name in "ab"]
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)
    qtbot.waitUntil(lambda: window.session.table is not None)
    assert window.session.table.rows == 80
    assert window.session.table.column("file").counts == {"a.csv": 40, "b.csv": 40}


def test_columns_have_a_distribution_and_an_auc_with_enough_rows(look_at, tmp_path, qtbot):
    for rows, has_area in ((12, False), (60, True)):
        dialog = look_at(write_awkward(tmp_path / f"{rows}.csv", rows))
        cards = dialog.sheet.cards
        qtbot.waitUntil(lambda cards=cards: 1 in cards.summaries)
        summary = cards.summaries[1]
        assert summary.distribution.shares.shape[0] == 2
        assert (summary.area is not None and 0.0 <= summary.area <= 1.0) == has_area


def test_preview_reads_only_the_first_rows(tmp_path):
    path = tmp_path / "long.csv"
    rows = "".join(f"{k},{k % 2}\n" for k in range(30_000))
    path.write_text("x,y\n" + rows)
    found = HeadReader(path, tmp_path).read(ImportChoices())
    assert (found.whole, found.table.rows) == (False, 2000)


def test_positive_class_is_chosen_in_the_preview(window, qtbot, preview_of, tmp_path):
    path = tmp_path / "a.csv"
    rows = "".join(f"{k},{k % 2},{'<b>no</b>' if k % 4 else 'yes'}\n" for k in range(60))
    path.write_text(f"x,z,outcome\n{rows}")
    dialog = preview_of(path)
    combo = dialog.findChild(QComboBox, "import_positive")
    assert combo.accessibleName() == "Positive class"
    assert (combo.currentText(), combo.font().italic()) == ("Detected: yes", True)
    choose_value(qtbot, dialog, "import_positive", "<b>no</b>")
    assert (combo.currentText(), combo.font().italic()) == ("<b>no</b>", False)
    assert dialog.choices.positive == "<b>no</b>"
    choose_value(qtbot, dialog, role_combo(dialog, "z"), "label")
    assert (dialog.choices.positive, combo.currentText()) == ("", "Detected: 1")
    choose_value(qtbot, dialog, role_combo(dialog, "outcome"), "label")
    choose_value(qtbot, dialog, "import_positive", "<b>no</b>")
    table = open_table(qtbot, window, dialog)
    assert (table.label, table.positive) == ("outcome", "<b>no</b>")
    assert "positive" not in table.guessed
    assert ImportChoices.of(table).positive == "<b>no</b>"


@pytest.mark.parametrize("packing", ["gzip", "zip"])
def test_preview_unpacks_only_the_start_of_a_compressed_file(packing, tmp_path, monkeypatch):
    rows = "x;w;y\n" + "".join(f"{k};{k % 1000},5;{k % 2}\n" for k in range(400_000))
    path = tmp_path / "long.csv.packed"
    if packing == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("a.csv", rows)
            archive.writestr("b.csv", "p,q\n1,2\n3,4\n")
    else:
        path.write_bytes(gzip.compress(rows.encode(), compresslevel=1))
    sizes, original = [], isolated.write_apart

    def write_apart(form, here, target, *more):
        written = original(form, here, target, *more)
        sizes.append(target.stat().st_size)
        return written

    monkeypatch.setattr(isolated, "write_apart", write_apart)
    reader = HeadReader(path, tmp_path)
    found = reader.read(ImportChoices())
    assert sizes[0] <= 3 << 20 < len(rows)
    assert (found.whole, found.table.rows, found.table.path) == (False, 2000, path)
    assert found.table.dialect.decimal == ","
    assert f"packed by {packing}" in found.table.notes
    assert "delimiter" in found.settings
    if packing == "zip":
        assert found.table.sheets == ("a.csv", "b.csv")
        other = reader.read(ImportChoices({"sheet": "b.csv"}))
        assert (other.whole, [c.name for c in other.table.columns]) == (True, ["p", "q"])


def test_truncated_compressed_file_is_rejected(tmp_path):
    path = tmp_path / "cut.csv.gz"
    rows = "".join(f"{k * 7919 % 10007},{k % 2}\n" for k in range(500)).encode()
    path.write_bytes(gzip.compress(b"x,y\n" + rows)[:-30])
    with pytest.raises(InputError, match="its end is missing"):
        HeadReader(path, tmp_path).read(ImportChoices())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_preview_ends_at_a_row_in_every_encoding(encoding, tmp_path):
    path = tmp_path / "long.csv"
    rows = "".join(f'{k},"ü\nö",{k % 2}\n' for k in range(5000))
    path.write_bytes(("x,t,y\n" + rows).encode(encoding))
    found = HeadReader(path, tmp_path).read(ImportChoices())
    assert not found.whole
    assert found.table.rejected_rows == 0
    assert set(found.table.column("t").values[:50]) == {"ü\nö"}


def test_file_sorted_by_class_can_be_labelled(window, qtbot, preview_of, tmp_path):
    path = tmp_path / "sorted.csv"
    path.write_text("x,z,y\n" + "".join(f"{k},{k % 7},{int(k > 4000)}\n" for k in range(5000)))
    dialog = preview_of(path)
    choose_value(qtbot, dialog, role_combo(dialog, "y"), "label")
    assert "one class only" in dialog.caution.text()
    table = open_table(qtbot, window, dialog)
    assert (table.label, table.classes) == ("y", {"0": 4001, "1": 999})


def test_side_panel_is_hidden_without_findings(qtbot, look_at, tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("x,y\n" + "".join(f"{k * 37 % 101 / 10},{'ab'[k % 2]}\n" for k in range(60)))
    dialog = look_at(path)
    assert dialog.side.isHidden()
    qtbot.waitUntil(lambda: dialog.sheet.width() == dialog.split.width())
    path.write_text(path.read_text() + "1,2,3\n")
    assert not look_at(path).side.isHidden()


def test_positive_class_is_left_open_if_it_cannot_be_guessed(look_at, tmp_path):
    path = tmp_path / "kinds.csv"
    path.write_text("x,kind\n" + "".join(f"{k},kind {'abcdef'[k % 6]}\n" for k in range(60)))
    combo = look_at(path).findChild(QComboBox, "import_positive")
    assert (combo.currentText(), combo.count()) == ("choose…", 7)


def test_wide_file_shows_first_and_last_columns(window, qtbot, preview_of, tmp_path):
    path = tmp_path / "wide.csv"
    names = ",".join([*(f"g{k}" for k in range(3_100)), "outcome"])
    rows = "".join(
        ",".join([*(f"{(r * 7 + k) % 13}.5" for k in range(3_100)), "ab"[r % 3 == 0]]) + "\n"
        for r in range(20)
    )
    path.write_text(f"{names}\n{rows}")
    dialog = preview_of(path)
    assert (
        "the first 1,000 and the last 50 of 3,101 columns; opening the table reads all"
        in dialog.facts.text()
    )
    assert dialog.columns_button.isVisible()
    choose_value(qtbot, dialog, role_combo(dialog, "g0"), "ignore")
    press(qtbot, dialog.columns_button)
    wait_until_idle(qtbot, dialog)
    assert "3,101 columns" in dialog.facts.text()
    assert not dialog.columns_button.isVisible()
    table = open_table(qtbot, window, dialog)
    assert (len(table.columns), table.label) == (3_101, "outcome")
    assert table.column("g0").role == "ignore"


def test_tab_order_follows_the_reading_order(look_at, tmp_path):
    dialog = look_at(write_awkward(tmp_path / "a.csv"))
    dialog.resize(1080, 700)  # room for all columns
    dialog.controls.combos["delimiter"].setFocus()
    names = []
    while (name := dialog.focusWidget().objectName()) not in names:
        names.append(name)
        dialog.focusNextPrevChild(True)
    parts = ("delimiter", "encoding", "decimal", "quote", "skip", "missing", "strict", "positive")
    roles = tuple(f"role_{k}" for k in range(4))
    buttons = ("guess", "open", "close_button")
    wanted = [f"import_{name}" for name in (*parts, *roles, "table", *buttons)]
    assert [name for name in names if name in wanted] == wanted


def test_settings_in_force_are_shown_and_not_opened_again(window, qtbot, tmp_path):
    path = tmp_path / "t.csv"
    rows = (f"{k % 17},{('chip', 'unknown', 'web')[k % 3]},{k % 2}\n" for k in range(200))
    path.write_text("age,mode,y\n" + "".join(rows))
    choices = ImportChoices({"missing": ("unknown",)}, {"age": "ignore"})
    window.open_now(path)
    window.session.files.begin_open(path, "table", choices)
    qtbot.waitUntil(lambda: not window.session.files.opener.busy)
    saved = tmp_path / "t.aucproj"
    save_as(window.session, saved)
    window.open_path(saved)
    qtbot.waitUntil(lambda: not window.session.files.opener.busy)
    assert window.session.table.column("mode").missing == 67
    press(qtbot, window.workplace.data_panel.import_button)
    (dialog,) = window.findChildren(ImportPreview)
    wait_until_idle(qtbot, dialog)
    missing = dialog.findChild(QLineEdit, "import_missing")
    assert missing.text() == "unknown"
    assert dialog.choices.roles == {"age": "ignore"}
    assert not dialog.open_button.isEnabled()
    assert dialog.words.text() == text("import_in_force")
    choose_value(qtbot, dialog, "import_decimal", ",")
    assert dialog.open_button.isEnabled()
    assert dialog.words.isHidden()
    dialog.reject()


def test_runs_of_the_table_are_named_before_it_is_read_again(window, qtbot, tmp_path, answers):
    window.open_now(write_table(tmp_path / "t.csv"))
    session, answers.choice = window.session, None
    put(session, make_record(session.table))
    save_as(session, tmp_path / "t.aucproj")
    before = session.study
    window.files.import_again({"decimal": ","})
    ((_title, words, choices),) = answers.asked
    assert words == text("runs_of_same_table", runs=1)
    assert choices == ["elsewhere", "go on"]
    assert session.study is before


def test_tab_visits_findings_before_the_buttons(look_at, tmp_path):
    path = tmp_path / "t.csv"
    rows = (f"{-999 if k % 9 == 0 else k % 17},{k % 5},{k % 2}\n" for k in range(200))
    path.write_text("age,z,y\n" + "".join(rows))
    dialog = look_at(path)
    (button,) = [
        one for one in dialog.findings.findChildren(QAbstractButton) if "-999" in one.text()
    ]
    dialog.findChild(QComboBox, "import_positive").setFocus()
    visited = []
    while dialog.focusWidget() not in visited:
        visited.append(dialog.focusWidget())
        dialog.focusNextPrevChild(True)
    role = dialog.findChild(QComboBox, "import_role_2")
    assert visited.index(role) < visited.index(button) < visited.index(dialog.guess_button)
