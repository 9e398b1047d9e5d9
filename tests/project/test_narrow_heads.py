"""The preview of a very wide file reads columns at both ends as in the whole file."""

import pytest

from aucstudio.project.data import preview
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.preview import HeadReader
from aucstudio.project.data.table import read_table
from tests.conftest import write_file

COLUMNS = 40


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Lower the limits so that small tables count as wide."""
    monkeypatch.setattr(preview, "MOST_COLUMNS", 30)
    monkeypatch.setattr(preview, "LEFT", 12)
    monkeypatch.setattr(preview, "RIGHT", 5)


def table(rows=60, names=None, mark=","):
    names = names or [*(f"g{k}" for k in range(COLUMNS - 1)), "outcome"]
    cells = [[f"{(r * 7 + k) % 11}.5" for k in range(COLUMNS - 1)] for r in range(rows)]
    lines = [names, *([*row, "ab"[r % 3 == 0]] for r, row in enumerate(cells))]
    return "".join(mark.join(line) + "\n" for line in lines)


def look(tmp_path, text, **choices):
    path = write_file(tmp_path / "wide.csv", text.encode() if isinstance(text, str) else text)
    given = ImportChoices(**choices)
    return HeadReader(path, tmp_path).read(given), given.read(path)


def assert_same_columns(head, whole):
    for column in head.table.columns:
        other = whole.column(column.name)
        assert (column.role, column.kind, column.missing) == (other.role, other.kind, other.missing)
        assert column.values.tolist() == other.values.tolist()
    assert head.table.label == whole.label


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_previewed_columns_equal_those_of_the_whole_file(tmp_path, mark, end):
    head, whole = look(tmp_path, table(mark=mark).replace("\n", end))
    assert (head.narrow.left, head.narrow.right, head.narrow.of) == (12, 5, COLUMNS)
    names = [column.name for column in whole.columns]
    assert [column.name for column in head.table.columns] == names[:12] + names[-5:]
    assert head.whole
    assert head.table.label == "outcome"
    assert_same_columns(head, whole)


def test_unnamed_row_names_and_quoted_headers_are_previewed(tmp_path):
    lines = table().splitlines()
    quoted = ",".join(f'"{name}"' for name in lines[0].split(","))
    rows = [f'"r{k}",{line}' for k, line in enumerate(lines[1:])]
    head, whole = look(tmp_path, "\n".join([quoted, *rows]) + "\n")
    assert head.narrow.of == COLUMNS + 1
    assert_same_columns(head, whole)


def test_columns_without_a_header_are_named_by_position(tmp_path):
    text = table().split("\n", 1)[1]
    head, whole = look(tmp_path, text)
    assert not head.table.dialect.header
    assert [c.name for c in head.table.columns] == [f"c{k + 1}" for k in range(COLUMNS)]
    assert_same_columns(head, whole)


def _named(**changed):
    names = [*(f"g{k}" for k in range(COLUMNS - 1)), "outcome"]
    for place, name in changed.items():
        names[int(place[1:])] = name
    return names


@pytest.mark.parametrize(
    "text",
    [
        table(names=_named(_3="twice", _25="twice")),
        table(names=_named(_3="")),
        table(names=_named(_20="same", _37="same")),
        table() + "1,2,3\n",
        "a title\n" + table(),
        table().replace("g3,", '"g\n3",'),
        table().replace("10.5", "10\0", 1),
        "\n".join('"a,b",' + line for line in table().splitlines()) + "\n",
    ],
    ids=[
        "name twice",
        "no name",
        "name at the right twice",
        "short row",
        "title",
        "line end in a cell",
        "NUL",
        "mark in cells",
    ],
)
def test_irregular_files_are_previewed_whole(tmp_path, text):
    head, whole = look(tmp_path, text)
    assert_same_columns(head, whole)
    if head.narrow is None:
        assert len(head.table.columns) == len(whole.columns)


def test_preview_reads_every_column_on_request(tmp_path):
    path = write_file(tmp_path / "wide.csv", table())
    head = HeadReader(path, tmp_path).read(ImportChoices(), every_column=True)
    assert (head.narrow, len(head.table.columns)) == (None, COLUMNS)
    assert len(read_table(path).columns) == COLUMNS
