"""Rejected rows: listed, written to a file, or refused in strict mode."""

import csv
import gzip
import json
import zipfile

import pytest

from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.readers.rejected import write_rejected
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment import DataReference
from tests.conftest import write_file

TEXT = "title\na;b;y\n1;2,5;u\n2;3,5\n3;4,5;v\na;b;y\n4;5,5;ü;9\n5;-9;u\n6;1,5;v\nTotal;9;\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(TEXT, encoding="cp1252")
    return path


def test_rejected_rows_are_written_with_line_reason_and_text(path, tmp_path):
    table = read_table(path)
    assert write_rejected(table, tmp_path / "left.csv") == table.rejected_rows == 4
    with (tmp_path / "left.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [
            ["line", "reason", "text"],
            ["4", "2 cells instead of 3", "2;3,5"],
            ["6", "the names of the columns again", "a;b;y"],
            ["7", "4 cells instead of 3", "4;5,5;ü;9"],
            ["10", "a row of totals", "Total;9;"],
        ]


@pytest.mark.parametrize("ending", ["gz", "zip"])
def test_rejected_rows_of_a_packed_file_are_written(path, tmp_path, ending):
    packed = tmp_path / f"data.csv.{ending}"
    if ending == "gz":
        packed.write_bytes(gzip.compress(path.read_bytes()))
    else:
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("codes.csv", "code;meaning\n1;one\n2;two\n")
            archive.write(path, "data.csv")
    table = read_table(packed, dialect={"sheet": "data.csv"} if ending == "zip" else None)
    assert write_rejected(table, tmp_path / "left.csv") == table.rejected_rows == 4
    write_rejected(read_table(path), tmp_path / "same.csv")
    assert (tmp_path / "left.csv").read_bytes() == (tmp_path / "same.csv").read_bytes()


def test_unwritable_target_is_refused(path, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_rejected(read_table(path), tmp_path)


@pytest.mark.parametrize("read", [read_table, open_stream])
def test_strict_reading_refuses_the_first_bad_row(path, read):
    with pytest.raises(InputError, match="line 4: 2 cells instead of 3") as caught:
        read(path, dialect={"strict": True})
    assert (caught.value.line, caught.value.setting) == (4, "strict")


def test_strict_and_missing_options(path, printed, refused):
    assert "line 4" in refused("inspect", path, "--strict")
    document = printed("inspect", path, "--missing", "-9", "--missing", "U")
    missing = {column["name"]: column["missing"] for column in document["columns"]}
    assert missing == {"a": 0, "b": 1, "y": 2}


@pytest.mark.parametrize("read", [read_table, open_stream])
def test_missing_codes_are_stored_in_the_reference(path, read):
    table = read(path, dialect={"missing": ["-9"]}, label="y", positive="v")
    data = DataReference.to_table(table)
    again = DataReference.from_json(json.loads(json.dumps(data.as_json()))).open()
    assert again.missing() == table.missing() == {"a": 0, "b": 1, "y": 0}
    assert again.schema.dialect == table.schema.dialect
    # A later file is read with the same missing-value codes.
    later = path.with_name("later.csv")
    later.write_text("a;b;y\n1;-9;u\n")
    later_table = read_table(later, schema=table.schema, need_label=False)
    assert later_table.missing() == {"a": 0, "b": 1, "y": 0}


def test_control_characters_can_be_delimiters(tmp_path, printed):
    path = write_file(tmp_path / "hive.txt", "a\x01y\n1\x01u\n2\x01v\n3\x01u\n")
    for mark in ("\\x01", "^A"):
        names = [c["name"] for c in printed("inspect", path, "--delimiter", mark)["columns"]]
        assert names == ["a", "y"]


@pytest.mark.parametrize("read", [read_table, open_stream])
def test_later_files_are_read_with_the_number_formats_of_the_first(tmp_path, read):
    first, later = tmp_path / "first.csv", tmp_path / "later.csv"
    first.write_text(
        "Study 5\nwhen;price;share;y\n;EUR;;\n"
        + "".join(f"{k:02d}.03.2020;{k},5 €;{k}%;{'uv'[k % 2]}\n" for k in range(1, 29))
    )
    table = read_table(first)
    # Without the schema these cells would be read differently.
    later.write_text("when;price;share;y\n02.01.2020;1.234 €;7%;u\n2020-13-01;(5,5);n.a.;v\n")
    scored = read(later, schema=table.schema, need_label=False)
    rows = scored if read is read_table else scored.window(0, 2, ["when", "price", "share"])
    found = {c.name: [None if v != v else v for v in c.values.tolist()] for c in rows.columns}
    assert {name: found[name] for name in ("when", "price", "share")} == {
        "when": [18263, None],
        "price": [1234, -5.5],
        "share": [7, None],
    }
    assert {name: one.text for name, one in scored.unreadable.items()} == {
        "when": "2020-13-01",
        "share": "n.a.",
    }


def test_rejected_log_lines_are_written_verbatim(tmp_path):
    path = tmp_path / "log.txt"
    lines = [f"ip=10.0.0.{k} sent={k}" for k in range(300)]
    lines[250] = "rotated, and begun anew"
    path.write_text("\n".join(lines) + "\n")
    table = read_table(path, label=False)
    assert table.rows == 299
    assert write_rejected(table, tmp_path / "left.csv") == 1
    with (tmp_path / "left.csv").open() as file:
        _, (line, reason, text) = csv.reader(file)
    # The line number includes the header.
    assert (line, reason, text) == ("252", "1 cell instead of 2", f'"{lines[250]}"')
