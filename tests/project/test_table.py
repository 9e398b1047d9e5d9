"""Import of ordinary tables: formats, detection of roles, and refusals."""

import csv
import hashlib
import io
import json
import pickle
import string

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aucstudio.project.data.columns import spell_number
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.findings.inspection import inspection
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import Cancelled, InputError


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def cells(table, name):
    values = table.column(name).values.tolist()
    return [None if v is None or v != v else v for v in values]


def roles(table):
    return {c.name: c.role for c in table.columns}


PLAIN = "age,job,label\n31,cook,no\n,nurse,yes\n52,,no\n40,cook,no\n"


# Formats


def test_plain_table_is_read(write):
    path = write(PLAIN)
    table = read_table(path)
    assert (table.rows, table.format, table.label, table.positive) == (4, "csv", "label", "yes")
    assert table.dialect == Dialect("utf-8", ",", '"', ".", True)
    assert table.classes == {"no": 3, "yes": 1}
    assert roles(table) == {"age": "number", "job": "category", "label": "label"}
    assert table.feature_names == ("age", "job")
    assert cells(table, "age") == [31, None, 52, 40]
    assert cells(table, "job") == ["cook", "nurse", None, "cook"]
    assert table.column("age").values.dtype == np.float64
    assert (table.column("job").missing, table.column("job").distinct) == (1, 2)
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert table.is_positive().tolist() == [False, True, False, False]
    table.require_two_classes()


def test_checksum_is_that_of_the_bytes_that_were_read(write):
    path = write(PLAIN)
    first, digest = read_table(path), hashlib.sha256(PLAIN.encode()).hexdigest()
    assert first.with_roles(label="job").sha256 == digest
    second = read_table(write(PLAIN.replace("31", "33")))
    path.unlink()
    assert first.sha256 == digest  # it was computed before
    with pytest.raises(InputError, match="cannot be read"):
        second.schema  # noqa: B018
    path.write_text(PLAIN)
    with pytest.raises(InputError, match="changed while it was being read"):
        second.schema  # noqa: B018


def test_inspection_has_the_documented_json(write):
    document = json.loads(json.dumps(inspection(read_table(write(PLAIN)))))
    assert {
        k: document[k] for k in ("format", "encoding", "delimiter", "decimal", "header", "rows")
    } == {
        "format": "csv", "encoding": "utf-8", "delimiter": ",", "decimal": ".", "header": True,
        "rows": 4,
    }  # fmt: skip
    assert {k: v for k, v in document["columns"][0].items() if k != "auc"} == {
        "name": "age", "role": "number", "kind": "number", "guessed": True, "reason": "",
        "missing": 1, "distinct": 3, "auc_by": None,
    }  # fmt: skip
    assert document["label"] == "label"
    assert document["positive"] == "yes"
    assert document["unlabelled"] == 0
    assert document["rejected"] == []


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends_are_detected(write, delimiter, end):
    rows = [["a", "b b", "label"], ["1.5", "x, y", "n"], ["2.5", "z", "p"], ["3.5", "z", "n"]]
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator=end).writerows(rows)
    table = read_table(write(buffer.getvalue()))
    assert table.dialect.delimiter == delimiter
    assert cells(table, "a") == [1.5, 2.5, 3.5]
    assert cells(table, "b b") == ["x, y", "z", "z"]


@pytest.mark.parametrize(
    ("encoding", "detected"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("latin-1", "cp1252"),
        ("cp1252", "cp1252"),
    ],
)
@pytest.mark.parametrize("header", ["größe;Straße;label", "x;°C;label"])
def test_encodings_are_detected(write, encoding, detected, header):
    text = header + "\n1;Königsallee;ä\n2;Äpfel;ö\n3;µm;ö\n"
    table = read_table(write(text, encoding=encoding))
    assert table.dialect.encoding == detected
    assert [c.name for c in table.columns] == header.split(";")
    assert table.columns[1].values.tolist() == ["Königsallee", "Äpfel", "µm"]
    assert table.classes == {"ä": 1, "ö": 2}


def test_given_encoding_is_used_or_refused(write):
    path = write("a,b\n1,é\n2,è\n", encoding="cp1252")
    table = read_table(path, dialect=Dialect(encoding="cp850"))
    assert cells(table, "b") == [b"\xe9".decode("cp850"), b"\xe8".decode("cp850")]
    with pytest.raises(InputError, match="cannot be read as utf-8") as caught:
        read_table(path, dialect=Dialect(encoding="utf-8"))
    assert caught.value.setting == "encoding"
    with pytest.raises(InputError, match="unknown encoding 'klingon'"):
        read_table(path, dialect=Dialect(encoding="klingon"))


@pytest.mark.slow
def test_number_format_below_the_sample_is_read(write):
    lines = [f"{i % 90};{i % 7};{i % 2}" for i in range(20_000)]
    lines[15_000] = '1.234,5;"1,5";1'
    table = read_table(write("a;b;label\n" + "\n".join(lines)))
    assert table.column("a").values[15_000] == 1234.5
    assert table.column("b").values[15_000] == 1.5
    assert table.column("a").values[14_999] == 14_999 % 90


@pytest.mark.slow
def test_stray_word_below_the_sample_is_missing_and_reported(write):
    lines = [f"{i % 30},{i % 7},{i % 2}" for i in range(20_000)]
    lines[15_000] = "oops,1,1"
    table = read_table(write("a,b,label\n" + "\n".join(lines)))
    assert (table.column("a").kind, table.column("a").missing) == ("number", 1)
    assert cells(table, "a")[15_000:15_002] == [None, 15_001 % 30]
    assert table.unreadable["a"].spellings == (("oops", 1),)
    note = "column a: 1 cell is not a number and counts as missing: 'oops'; the first in line 15002"
    assert note in table.notes


@pytest.mark.slow
def test_many_words_below_the_sample_make_a_text_column(write):
    lines = [f"{i % 30},{i % 7},{i % 2}" for i in range(20_000)]
    lines[15_000:16_000] = ["level x,1,1"] * 1000
    table = read_table(write("a,b,label\n" + "\n".join(lines)))
    assert (table.column("a").kind, table.column("a").role) == ("text", "category")
    assert "column a is read as text, because 'level x' in it is not a number" in table.notes


@pytest.mark.parametrize("word", ["", "NA", "N/A", "NaN", "nan", "null", "None", "?", "-", "."])
def test_spellings_of_missing_numbers_are_recognised(write, word):
    table = read_table(write(f"a,b\n1,x\n{word},y\n3,y\n"))
    assert cells(table, "a") == [1, None, 3]
    assert table.column("a").missing == 1
    assert word == "" or any(repr(word) in note for note in table.notes)


@pytest.mark.parametrize("word", ["inf", "-Infinity", "1e999", "+INF"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_infinite_values_are_missing_and_reported_by_line(write, word, end):
    lines = ["x,word,label", '1,"two', 'lines",a', "", "2,w", f"{word},w,b", "3,w,a", ""]
    table = read_table(write(end.join(lines)))
    assert cells(table, "x") == [1, None, 3]
    found = table.unreadable["x"]
    assert (found.count, found.text, found.line) == (1, word, 6)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789])
def test_numbers_are_read_exactly(write, value):
    table = read_table(write(f"a,b\n{value!r},x\n-{value!r},y\n"))
    assert cells(table, "a") == [value, -value]


# Header and names


def test_given_dialect_is_used(write):
    path = write("1;x\n2;y\n")
    table = read_table(path, dialect=Dialect(delimiter=";", header=False))
    assert table.rows == 2
    table = read_table(path, dialect=Dialect(delimiter=";", header=True))
    assert [c.name for c in table.columns] == ["1", "x"]
    with pytest.raises(InputError, match="only one column"):
        read_table(path, dialect=Dialect(delimiter="|"))
    with pytest.raises(InputError, match="delimiter must be one character"):
        read_table(path, dialect=Dialect(delimiter=";;"))
    with pytest.raises(InputError, match="decimal mark"):
        read_table(path, dialect=Dialect(decimal="x"))


def test_file_name_is_not_treated_as_a_pattern(write):
    write("a,y\n9,p\n8,q\n", name="b.csv")
    assert cells(read_table(write("a,y\n1,p\n2,q\n", name="[ab]'.csv")), "a") == [1, 2]


# Rejected rows


def test_rows_of_another_length_are_rejected_with_their_lines(write):
    table = read_table(write('a,b,y\n1,"2\n\n2",u\n3,4\n5,6,v\n\n7,8,9,u\n8,"x" z,u\n1,1,v\n'))
    assert cells(table, "a") == [1, 5, 8, 1]
    assert [(r.line, r.reason) for r in table.rejected] == [
        (5, "2 cells instead of 3"),
        (8, "4 cells instead of 3"),
    ]
    assert table.rejected_rows == 2
    assert cells(table, "b")[2] == '"x" z'
    assert any("2 rows left out, the first in line 5" in note for note in table.notes)


def test_first_hundred_rejected_rows_are_kept_and_all_counted(write):
    body = "".join("1,2,u\n3,4,v\n5,6\n" for _ in range(150))
    table = read_table(write("a,b,y\n" + body))
    assert (table.rows, table.rejected_rows, len(table.rejected)) == (300, 150, 100)
    assert table.rejected[99].line == 1 + 3 * 100
    assert inspection(table)["rejected_rows"] == 150


def test_mostly_rejected_rows_are_an_error(write):
    text = "a,b,y\n1,2,u\n3,4\n" + "5\n" * 5 + "1,2,v\n"
    with pytest.raises(InputError, match=r"line 3: 2 cells instead of 3; 6 of 8 rows") as caught:
        read_table(write(text), dialect=Dialect())
    assert caught.value.line == 3


@pytest.mark.slow
@pytest.mark.parametrize("rows", [50, 50_000])
def test_unclosed_quotation_mark_is_an_ordinary_character(write, rows):
    lines = [f"{i},w,{i % 2}" for i in range(rows)]
    lines[rows // 2] = f'{rows // 2},"w,1'
    table = read_table(write("a,b,y\n" + "\n".join(lines) + "\n"), label="y")
    assert (table.rows, table.rejected) == (rows, ())
    assert cells(table, "a") == list(range(rows))
    assert cells(table, "b")[rows // 2] == '"w'


# Files without a table


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\xef\xbb\xbf\r\n\n", "is empty"),
        (b"\xff\xfe", "is empty"),
        (b"a,b\n", "nothing below it"),
        (b"a,b", "nothing below it"),
        (b"a\n1\n2\n", "only one column"),
        (b"a,b\n" + b"1,2\n" * 20_000 + b"1,\0" * 2_000, "NUL"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x1f\x8brest", "gzip"),
        (bytes(range(1, 9)) * 20, "control characters"),
    ],
)
def test_files_without_a_table_are_refused(write, content, sentence):
    path = write(content)
    with pytest.raises(InputError, match=sentence) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    assert caught.value.file == str(path)


def test_unreadable_file_is_reported(write, monkeypatch):
    path = write(PLAIN)

    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(InputError, match="cannot be read"):
        read_table(path)


def test_input_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(InputError("no", file="f", line=3, column="c", setting="s")))  # noqa: S301
    assert (str(error), error.file, error.line, error.column, error.setting) == (
        "no", "f", 3, "c", "s",
    )  # fmt: skip


# Guesses


def table_of(write, rows=60, **columns):
    names = list(columns)
    lines = [",".join(str(columns[name](i)) for name in names) for i in range(rows)]
    return write(",".join(names) + "\n" + "\n".join(lines) + "\n")


def test_useless_columns_are_ignored_with_a_reason(write):
    path = table_of(
        write,
        patient_id=lambda i: i + 100,
        PassengerId=lambda i: f"P{i}",
        width=lambda i: 3 * i,
        fluid=lambda i: i,
        constant=lambda i: 7,
        empty=lambda i: "",
        unique=lambda i: f"text {i}",
        word=lambda i: "abc"[i % 3],
        comment=lambda i: (
            f"a long sentence of many words that nobody will ever use as a level {i % 25}"
        ),
        label=lambda i: int(i % 4 == 0),
    )
    table = read_table(path)
    assert roles(table) == {
        "patient_id": "ignore", "PassengerId": "ignore", "width": "number", "fluid": "number",
        "constant": "ignore", "empty": "ignore", "unique": "ignore", "word": "category",
        "comment": "ignore", "label": "label",
    }  # fmt: skip
    assert "column patient_id looks like an identifier and is ignored" in table.notes
    assert table.column("unique").why == "ignored_texts"
    for name in ("constant", "empty", "comment"):
        assert any(f"column {name} " in note and "ignored" in note for note in table.notes)


def half(i):
    return "ab"[i % 2]


@pytest.mark.parametrize(
    ("columns", "label"),
    [
        ({"x": lambda i: i, "class": half, "z": half}, "class"),
        ({"x": lambda i: i, "Diagnosis": half, "z": half}, "Diagnosis"),
        ({"sex": half, "x": lambda i: i, "z": half}, "z"),
        ({"x": lambda i: i, "u": half, "v": half, "w": lambda i: i}, "u"),
        ({"x": lambda i: i, "species": lambda i: "abc"[i % 3]}, "species"),
        ({"x": lambda i: i, "z": lambda i: i * 0.5}, None),
        ({"target": lambda i: i * 0.5, "z": half}, "z"),
        ({"status": lambda i: "abc"[i % 3], "ill": half}, "ill"),
        ({"marital_status": half, "x": lambda i: i, "income": half}, "income"),
        ({"status": half, "x": lambda i: i, "default_next_month": half}, "default_next_month"),
        ({"Labels": half, "x": lambda i: i, "Resolution": half}, "Resolution"),
    ],
)
def test_label_is_detected(write, columns, label):
    table = read_table(table_of(write, **columns))
    assert table.label == label
    doubtful = {"Labels", "status"} & {c.name for c in table.columns if c.distinct == 2}
    assert any(n.code == "label_doubtful" for n in table.notices) == bool(doubtful - {label})
    assert ("label" in table.guessed) == (label is not None)
    assert any("detected as the label" in note for note in table.notes) == (label is not None)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ("aab", "b"),
        ("abb", "a"),
        (["no", "yes"], "yes"),
        (["yes", "zero"], "yes"),
        (["1", "0"], "1"),
        (["+", "-"], "+"),
        (["malignant", "normal"], "malignant"),
        ("ab", "b"),
        ("abc", None),
    ],
)
def test_positive_class_is_detected(write, labels, positive):
    rows = "".join(f"{i},{name}\n" for i, name in enumerate([*labels] * 4))
    table = read_table(write("x,label\n" + rows))
    assert table.positive == positive
    assert ("positive" in table.guessed) == (positive is not None)


def test_numeric_classes_are_formatted_briefly(write):
    table = read_table(write("x,label\n1,1.0\n2,0\n3,00\n4,2.5\n"), label="label")
    assert table.classes == {"0": 2, "1": 1, "2.5": 1}
    assert table.with_roles(positive="1.0").positive == "1"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_round_trips_as_text(value):
    assert float(spell_number(value)) == value


def test_confirmed_detection_is_no_longer_a_guess(write):
    table = read_table(write(PLAIN))
    assert table.guessed == ("label", "positive")
    assert table.with_roles(positive="yes").guessed == ("label",)
    assert table.with_roles(label="label", positive="yes").guessed == ()
    codes = [notice.code for notice in table.with_roles(label="label", positive="yes").notices]
    assert codes == ["import_missing"]


def test_chosen_roles_are_chosen_after_reopening_too(write):
    path = write(PLAIN)
    table = read_table(path).with_roles(roles={"age": "ignore"})
    again = read_table(path, label=table.label, schema=table.schema)
    for one in (table, again):
        assert [column.name for column in one.columns if not column.guessed] == ["age"]


def test_rows_without_a_label_are_kept_and_counted(write):
    table = read_table(write("x,label\n1,a\n2,\n3,b\n4,?\n5,b\n"))
    assert (table.rows, table.unlabelled) == (5, 2)
    assert table.labelled().tolist() == [True, False, True, False, True]
    assert table.is_positive().tolist() == [True, False, False]
    assert any("2 rows have no label" in note for note in table.notes)


# Choices


def test_given_roles_override_detected_ones(write):
    table = read_table(write(PLAIN), label="job", positive="cook", ignore=["age"])
    assert (table.label, table.positive, table.guessed) == ("job", "cook", ())
    assert roles(table) == {"age": "ignore", "job": "label", "label": "category"}
    assert table.unlabelled == 1


def test_ignored_column_is_not_detected_as_label(write):
    assert read_table(write(PLAIN), ignore=["label"]).label == "job"
    assert read_table(write(PLAIN), label=False).label is None


def test_roles_change_without_rereading_the_file(write):
    path = write("id,x,job,label\n1,5,a,no\n2,6,b,no\n3,5,a,yes\n4,6,b,no\n")
    table = read_table(path)
    path.unlink()
    assert table.feature_names == ("x", "job")
    other = table.with_roles(label="job", roles={"id": "number", "x": "category"})
    assert roles(other) == {"id": "number", "x": "category", "job": "label", "label": "category"}
    assert other.classes == {"a": 2, "b": 2}
    assert not any("identifier" in note for note in other.notes)
    assert not any("detected as the label" in note for note in other.notes)
    assert roles(table)["id"] == "ignore"
    assert other.columns[0].values is table.columns[0].values
    back = other.with_roles(label="label", positive="no")
    assert (back.positive, roles(back)["job"]) == ("no", "category")
    assert table.with_roles(label=False).label is None
    assert table.with_roles(roles={"label": "ignore"}).label is None
    assert table.with_roles(roles={"job": "label"}).label == "job"
    assert table.with_roles(roles={"job": "group"}).feature_names == ("x",)


def test_reapplying_roles_changes_nothing(write):
    table = read_table(write("id,x,job,label\n1,5,a,no\n2,6,b,no\n3,5,a,yes\n4,6,b,no\n"))
    again = table.with_roles(roles=roles(table))
    assert (roles(again), again.notes, again.positive) == (roles(table), table.notes, "yes")


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"label": "nope"}, "no column 'nope'; it has age, job, label"),
        ({"ignore": ["nope"]}, "no column 'nope'"),
        ({"roles": {"nope": "number"}}, "no column 'nope'"),
        ({"roles": {"age": "king"}}, "unknown role 'king'"),
        ({"roles": {"job": "number"}}, "holds text"),
        ({"positive": "maybe"}, "no class 'maybe'; it has no, yes"),
        ({"label": "label", "roles": {"label": "ignore"}}, "only one column can be the label"),
        ({"label": "job", "roles": {"age": "label"}}, "only one column can be the label"),
        ({"label": False, "positive": "yes"}, "no label column"),
    ],
)
def test_impossible_role_choices_are_refused(write, choice, sentence):
    with pytest.raises(InputError, match=sentence):
        read_table(write(PLAIN)).with_roles(**choice)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("role", ["group", "ignore", "category"])
def test_label_with_a_second_role_is_refused(write, role, stream):
    read = open_stream if stream else read_table
    with pytest.raises(InputError, match=f"'label' is the label and is also given the role {role}"):
        read(write(PLAIN), label="label", roles={"label": role})


def test_label_with_one_class_is_refused(write):
    path = write("x,label\n1,a\n2,a\n3,\n")
    with pytest.raises(InputError, match=r"'label' .* has one class only \(a\)"):
        read_table(path, label="label")
    assert read_table(path).label is None
    with pytest.raises(InputError, match="no label column"):
        read_table(path).require_two_classes()


def test_several_classes_need_a_positive_class(write):
    table = read_table(write("x,label\n" + "1,a\n2,b\n3,c\n" * 3))
    with pytest.raises(InputError, match=r"'label' .* 3 classes \(a, b, c\)") as caught:
        table.require_two_classes()
    assert (caught.value.column, caught.value.setting) == ("label", "positive")
    with pytest.raises(InputError, match="choose the positive one"):
        table.is_positive()
    chosen = table.with_roles(positive="b")
    chosen.require_two_classes()
    assert chosen.is_positive().tolist() == [False, True, False] * 3


def test_numeric_measurements_are_refused_as_label(write):
    rows = "".join(f"{i},{i / 7},{i % 2}\n" for i in range(1200))
    with pytest.raises(InputError, match="1200 different values"):
        read_table(write("a,b,y\n" + rows), label="b")


# Rows to be scored


def test_rows_to_be_scored_need_no_label(write):
    path = write("id,x,job\n1,5,a\n")
    table = read_table(path, need_label=False)
    assert table.label is None
    assert table.feature_names == ("id", "x", "job")
    assert table.labelled().tolist() == [False]
    assert read_table(path, need_label=False, label="label").label is None


def test_rows_to_be_scored_may_have_one_class(write):
    path = write("x,label\n5,no\n6,no\n")
    table = read_table(path, need_label=False, label="label", positive="yes")
    assert (table.classes, table.positive) == ({"no": 2, "yes": 0}, "yes")
    assert not table.is_positive().any()
    with pytest.raises(InputError, match="one class"):
        table.require_two_classes()


# Progress


def progress_of(path):
    reports = []
    read_table(path, progress=lambda fraction, text: reports.append((fraction, text)))
    fractions = [fraction for fraction, _ in reports]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    return reports


@pytest.mark.slow
def test_progress_never_falls_when_columns_are_reread(write):
    lines = [f"{i % 30},{i % 2}" for i in range(20_000)] + ["oops,1"]
    progress_of(write("a,label\n" + "\n".join(lines)))


def test_progress_reaches_the_end_and_reading_can_be_stopped(write):
    path = write(PLAIN)
    reports = progress_of(path)
    for stop_at in range(len(reports)):
        calls = iter(range(len(reports)))
        with pytest.raises(Cancelled):
            read_table(path, progress=lambda *_: next(calls) == stop_at)  # noqa: B023


# Wide, long and random tables


@pytest.mark.slow
def test_column_of_many_distinct_texts_is_read(write):
    names = [f"n{i}" if i % 7 else "" for i in range(12_000)]
    lines = [f"{name},{i % 2}" for i, name in enumerate(names)]
    table = read_table(write("name,y\n" + "\n".join(lines)))
    assert cells(table, "name") == [name or None for name in names]
    assert (table.column("name").missing, table.column("name").distinct) == (1715, 10_285)


WORDS = st.text(string.ascii_letters + "äß%_é東-", min_size=1, max_size=6).filter(
    lambda word: word.lower() not in {"na", "nan", "null", "none", "inf", "infinity", "-", "--"}
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(repr)


@st.composite
def tables(draw, words):
    rows = draw(st.integers(2, 8))
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    columns = [
        draw(
            st.lists(
                st.one_of(st.just(""), NUMBERS if number else words), min_size=rows, max_size=rows
            )
        )
        for number in kinds
    ]
    columns.append([str(i / 2) for i in range(rows)])
    return list(zip(*columns, strict=True))


DIALECTS = {
    "delimiter": st.sampled_from(",;\t|"),
    "quote": st.sampled_from("\"'"),
    "end": st.sampled_from(["\n", "\r\n"]),
    "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    "encoding": st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
}
LIGHT = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def check_cells(table, rows):
    assert table.rejected == ()
    for found, wanted in zip(table.columns, zip(*rows, strict=True), strict=True):
        if found.kind == "number":
            expected = np.array([float(cell or "nan") for cell in wanted])
            np.testing.assert_array_equal(found.values, expected)
        else:
            assert found.values.tolist() == [cell or None for cell in wanted]
        known = {cell for cell in wanted if cell}
        assert found.missing == sum(cell == "" for cell in wanted)
        assert found.distinct == len({float(c) for c in known} if found.kind == "number" else known)


def written(rows, delimiter, quote, end, quoting):
    buffer = io.StringIO(newline="")
    names = [f"name{k}" for k in range(len(rows[0]))]
    writer = csv.writer(
        buffer, delimiter=delimiter, quotechar=quote, lineterminator=end, quoting=quoting
    )
    writer.writerows([names, *rows])
    return buffer.getvalue()


@pytest.mark.slow
@LIGHT
@given(rows=tables(WORDS), **DIALECTS)
def test_random_tables_round_trip_as_csv(write, rows, delimiter, quote, end, quoting, encoding):
    text = written(rows, delimiter, quote, end, quoting)
    table = read_table(write(text, encoding=encoding))
    assert table.dialect.delimiter == delimiter
    check_cells(table, rows)


DIFFICULT = st.text("ab,;|\"'1.\n", min_size=1, max_size=8).filter(
    lambda cell: cell == cell.strip() and not {"a", "b"}.isdisjoint(cell)
)


@pytest.mark.slow
@LIGHT
@given(rows=tables(DIFFICULT), **DIALECTS)
def test_difficult_cells_round_trip_in_a_given_dialect(
    write, rows, delimiter, quote, end, quoting, encoding
):
    text = written(rows, delimiter, quote, end, quoting)
    dialect = Dialect(encoding.removesuffix("-sig"), delimiter, quote)
    check_cells(read_table(write(text, encoding=encoding), dialect=dialect), rows)


def test_delimiter_is_detected_among_cells_with_punctuation(tmp_path):
    path = tmp_path / "words.csv"

    def marked(word):
        return f"<b>MARK</b> &lt; {{0}} <img src='trap.png'> {word}"

    rows = [
        f"{k}.5,{k}.25,{marked('north' if k % 3 else 'south')},{marked('yes' if k % 2 else 'no')}"
        for k in range(40)
    ]
    names = ",".join(marked(word) for word in ("one", "two", "town", "label"))
    path.write_text("\n".join([names, *rows]))
    table = read_table(path)
    assert table.dialect.delimiter == ","
    assert [column.kind for column in table.columns] == ["number", "number", "text", "text"]


def test_notes_on_the_label_precede_notes_on_the_format(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{k},5;{k % 7},25;{'ja' if k % 3 else 'nein'}" for k in range(60)]
    path.write_text("\n".join(["a;b;c", *lines]))
    table = read_table(path)
    assert table.notes[:2] == (
        "column c was detected as the label",
        "class nein was detected as the positive class (the rarer class)",
    )
    assert "decimal comma" in table.notes[2:]
    other = table.with_roles(positive="ja")
    assert other.notes[0] == "column c was detected as the label"
    assert "decimal comma" in other.notes
