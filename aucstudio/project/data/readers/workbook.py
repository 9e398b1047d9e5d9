"""Excel workbooks and OpenDocument spreadsheets, through calamine, and XML spreadsheets."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import html
import io
import itertools
import posixpath
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from xml.etree import ElementTree

from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.readers.archive import check_swelling
from aucstudio.project.data.readers.conversion import WIDE, holds_table, pick_part, written_part
from aucstudio.project.data.readers.formats import Advance, ReadOptions, Written
from aucstudio.project.errors import InputError, input_error

if TYPE_CHECKING:
    import python_calamine

Row = list[Any]
Cell = tuple[int, int]

# Marks a workbook with a password.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ERROR = re.compile("Err:5[0-9]{2}")
_LASTING = re.compile("PT([0-9]+)H([0-9]{2})M([0-9]{2}(?:[.][0-9]+)?)S")
# Numbers stored as text; three digits after a comma are ambiguous.
_WRITTEN = re.compile(
    r"\s*(?:(?P<share>[+-]?[0-9]{1,9}(?:[.,][0-9]{1,15})?)\s*%"
    r"|(?P<number>[+-]?(?:[0-9]{1,3}(?:[.][0-9]{3})+|[0-9]{1,9}),(?![0-9]{3}\s*$)[0-9]{1,15})\s*)"
)
# Most rows of a list of columns, and the least share of the columns in it.
_MOST_CODES, _MOST_OF = 5_000, 0.6


def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    book = _Workbook(path)
    name = pick_part(path, "sheet", book.names, options, book.holds_table, book.is_aside)
    rows = book.rows_to_write(name)
    written = written_part(target, "sheet", book.names, name, rows, report)
    return dataclasses.replace(written, remarks=(*written.remarks, *book.remarks))


class _Workbook:
    """An opened workbook; hidden sheets are the last of its ``names``.

    Attributes
    ----------
    remarks : list of Finding
        About the sheet whose rows were written.
    """

    def __init__(self, path: Path) -> None:
        import python_calamine as calamine

        self._path, self._book = path, _open(path)
        sheets = [
            s for s in self._book.sheets_metadata if s.typ == calamine.SheetTypeEnum.WorkSheet
        ]
        shown = [s.name for s in sheets if s.visible == calamine.SheetVisibleEnum.Visible]
        self._hidden = {sheet.name for sheet in sheets} - {*shown}
        self.names = [*shown, *(sheet.name for sheet in sheets if sheet.name in self._hidden)]
        self.remarks: list[Finding] = []
        # Rows of one sheet at a time are held.
        self._rows = functools.lru_cache(1)(self._read)
        self._column_names = functools.cache(self._read_names)

    def rows_to_write(self, name: str) -> list[Row]:
        """Return the rows of a sheet, with equal types in each column."""
        if not self.holds_table(name):
            raise input_error("sheet_without_table", file=self._path, name=name)
        rows, remarks = self._rows(name)
        _same_times(rows)
        _same_numbers(rows)
        if any(isinstance(cell, datetime.timedelta) for row in rows for cell in row):
            self.remarks.append(found("format_hours_in_sheet"))
        self.remarks += [*_about_days(rows), *remarks]
        return rows

    def holds_table(self, name: str) -> bool:
        """Return whether at least two rows of at least two columns have a value."""
        rows, _ = self._rows(name)
        return sum(map(any_value, rows)) > 1 and len(rows[0]) > 1

    def is_aside(self, name: str) -> bool:
        """Return whether a sheet is hidden, narrow, or a list of the columns of another sheet."""
        rows, _ = self._rows(name)
        if name in self._hidden or len(rows[0]) < WIDE:
            return True
        others = (other for other in self.names if other != name)
        return len(rows) <= _MOST_CODES and any(
            _lists_columns(rows, self._column_names(other)) for other in others
        )

    def _read_names(self, name: str) -> set[Any]:
        rows, _ = self._rows(name)
        return set(next((row for row in rows if len(set(row) - {""}) > 1), ()))

    def _read(self, name: str) -> tuple[list[Row], list[Finding]]:
        """Return the rows of a sheet without empty columns, and findings about it."""
        sheet = self._book.get_sheet_by_name(name)
        rows: list[Row] = sheet.to_python(skip_empty_area=False)
        shown = looks(self._path, name)
        shown.fill(rows)
        filled = _fill_merged(rows, sheet.merged_cell_ranges or [])
        while rows and not any_value(rows[-1]):
            rows.pop()
        rows = [[_clocked(cell) for cell in row] for row in rows]
        width = max(map(len, rows), default=0)
        remarks = [found("format_merged", cells=filled)] if filled else []
        remarks += [*shown.about(len(rows), width), *self._about_formulas(name, rows)]
        used = [k for k in range(width) if any(k < len(row) and row[k] != "" for row in rows)]
        if len(used) < width:
            rows = [[row[k] for k in used] for row in rows]
        return rows, remarks

    def _about_formulas(self, name: str, rows: Sequence[Row]) -> Iterator[Finding]:
        """Report columns that are empty because the values of their formulas are not stored."""
        top = _first_full(rows, 2)
        below = rows[top + 1 :]
        named = enumerate(rows[top] if below else [])
        empty = [k for k, cell in named if cell != "" and all(row[k] == "" for row in below)]
        never = columns_never_computed(self._path, name) if empty else set[int]()
        for k in filter(never.__contains__, empty):
            yield found("format_formulas", str(rows[top][k]))


def _open(path: Path) -> python_calamine.CalamineWorkbook:
    import python_calamine

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        check_swelling(path, path.stat().st_size, unpacked)
    elif _ENCRYPTED in path.read_bytes():
        raise locked(path)
    try:
        # A file object is recognised by its bytes, a path by its ending.
        with path.open("rb") as file:
            return python_calamine.CalamineWorkbook.from_filelike(file)
    except python_calamine.PasswordError:
        raise locked(path) from None


def locked(path: Path) -> InputError:
    """Return the error for a workbook with a password."""
    return input_error("workbook_locked", file=path)


def _lists_columns(rows: Sequence[Sequence[Any]], names: Collection[Any]) -> bool:
    """Return whether a sheet lists the columns ``names`` of another one, like a code book."""
    wanted = {name.strip().lower() for name in names if isinstance(name, str) and name.strip()}
    if len(wanted) < WIDE:
        return False
    return any(
        len(wanted & {cell.strip().lower() for cell in column if isinstance(cell, str)})
        >= max(WIDE, _MOST_OF * len(wanted))
        for column in itertools.zip_longest(*rows[1:])
    )


def _first_full(rows: Sequence[Row], cells: int) -> int:
    """Return the first row with so many cells; 0 if there is none."""
    return next((k for k, row in enumerate(rows) if sum(cell != "" for cell in row) >= cells), 0)


def _fill_merged(rows: list[Row], ranges: Iterable[tuple[Cell, Cell]]) -> int:
    """Repeat vertically merged cells in all rows, and merged names in all columns."""
    names = _first_full(rows, 2)
    filled, most = 0, sum(map(len, rows))
    for (top, left), (bottom, right) in ranges:
        if top == bottom == names and top + 1 < len(rows):
            across = slice(left, right + 1)
            if all(isinstance(cell, str) and cell for cell in rows[top + 1][across]):
                rows[top][across] = [rows[top][left]] * len(rows[top][across])
        # Other merged cells are titles, or numbers for a whole block.
        if left != right or top <= names or bottom <= top:
            continue
        for row in rows[top + 1 : bottom + 1]:
            if left < len(row) and row[left] == "" and any_value(row):
                row[left] = rows[top][left]
                filled += 1
        if filled > most:
            break
    return filled


def _clocked(cell: Any) -> Any:
    """Write a duration of more than a day like shorter ones; an error becomes empty."""
    if not isinstance(cell, str):
        return cell
    lasting = _LASTING.fullmatch(cell)
    return ":".join(lasting.groups()) if lasting else "" if _ERROR.fullmatch(cell) else cell


def _same_times(rows: Sequence[Row]) -> None:
    """Add the time 00:00 to dates in columns whose other cells have a time."""
    timed = {k for row in rows for k, cell in enumerate(row) if isinstance(cell, datetime.datetime)}
    for row in rows if timed else ():
        for k in timed:
            if k < len(row) and type(row[k]) is datetime.date:
                row[k] = datetime.datetime.combine(row[k], datetime.time())


def _same_numbers(rows: Sequence[Row]) -> None:
    """Read numbers stored as text in columns of numbers: per cent and decimal commas."""
    written = [
        (k, row, match)
        for row in rows
        for k, cell in enumerate(row)
        if isinstance(cell, str) and (match := _WRITTEN.fullmatch(cell))
    ]
    numbers = {
        k: [row[k] for row in rows if k < len(row) and type(row[k]) in (int, float)]
        for k in {k for k, _, _ in written}
    }
    for k, row, match in written:
        share, number = match["share"], match["number"]
        if share and numbers[k] and max(map(abs, numbers[k])) <= 1:
            row[k] = float(share.replace(",", ".")) / 100
        elif number and 2 * len(numbers[k]) > len(rows):
            row[k] = float(number.replace(".", "").replace(",", "."))


def _about_days(rows: Sequence[Row]) -> Iterator[Finding]:
    """Report dates among words: spreadsheets turn MARCH1 and 5-9 into dates."""
    # Anything may be above the column names.
    top = _first_full(rows, (max(map(len, rows)) + 1) // 2)
    for name, *column in itertools.zip_longest(*rows[top:], fillvalue=""):
        days = [k for k, cell in enumerate(column, top + 2) if isinstance(cell, datetime.date)]
        words = sum(isinstance(cell, str) and cell != "" for cell in column)
        if days and 2 * words > sum(cell != "" for cell in column):
            yield found("format_days_among_words", str(name), days=len(days), row=days[0])


def any_value(row: Row) -> bool:
    """Return whether a cell of a row has a value."""
    return any(cell != "" for cell in row)


# ------------------------------------------------------------- XML spreadsheets of Excel 2003

_SPACE = "urn:schemas-microsoft-com:office:spreadsheet"
_WIDEST, _MOST_LEFT_OUT = 20_000, 2_000_000
_WORKSHEET, _ROW, _CELL, _DATA, _NAME, _INDEX, _ACROSS, _TYPE = (
    f"{{{_SPACE}}}{name}"
    for name in ("Worksheet", "Row", "Cell", "Data", "Name", "Index", "MergeAcross", "Type")
)


def write_xml(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    sheets = _xml_sheets(path)
    report(0.5)
    names = [*sheets]
    name = pick_part(path, "sheet", names, options, lambda one: holds_table(sheets[one]))
    return written_part(target, "sheet", names, name, sheets[name], report)


def _xml_sheets(path: Path) -> dict[str, list[Row]]:
    """Read the cells of all sheets as text."""
    sheets: dict[str, list[Row]] = {}
    rows: list[Row] = []
    for event, element in ElementTree.iterparse(path, ("start", "end")):
        if event == "start" and element.tag == _WORKSHEET:
            name = element.get(_NAME, "") or f"sheet {len(sheets) + 1}"
            rows = sheets.setdefault(name, [])
        elif event == "end" and element.tag == _ROW:
            rows += [[]] * _left_out(path, element, len(rows))
            rows.append(_xml_cells(path, element))
            element.clear()
    return sheets


def _xml_cells(path: Path, row: ElementTree.Element) -> Row:
    cells: Row = []
    for cell in row.iter(_CELL):
        cells += [""] * _left_out(path, cell, len(cells))
        data = cell.find(_DATA)
        cells.append("" if data is None else _xml_text(data))
        cells += [""] * min(_whole(cell.get(_ACROSS)), _WIDEST)
    return cells


def _xml_text(data: ElementTree.Element) -> str:
    text, kind = "".join(data.itertext()), data.get(_TYPE)
    if kind == "Boolean":
        return "TRUE" if text.strip() == "1" else "FALSE"
    if kind == "DateTime":
        return text.replace("T", " ").removesuffix(".000")
    return "" if kind == "Error" else text


def _left_out(path: Path, element: ElementTree.Element, have: int) -> int:
    """Return the number of rows or cells that an index leaves out."""
    index = element.get(_INDEX)
    missing = _whole(index) - 1 - have
    if missing > _MOST_LEFT_OUT:
        raise input_error("index_too_large", file=path, index=index)
    return missing


def _whole(number: str | None) -> int:
    return int(number) if number and number.isascii() and number.isdigit() else 0


# ------------------------------------------------------------- hidden parts, leading zeros

_CHUNK = 1 << 20
_DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError),
    *(OSError, LookupError, ValueError, RuntimeError),
)
_HIDDEN = re.compile(rb'<(?:\w+:)?(row|col)\s([^>]*\bhidden="(?:1|true)"[^>]*)')
_STYLED = re.compile(rb'<(?:\w+:)?(c)\s([^>]*\bs="[^>]*)')
# Of an OpenDocument spreadsheet.
_PARTS = re.compile(rb"<table:(table|table-column|table-row)(?=[\s/>])([^>]*)")
# A formula may yield an empty text.
_UNCOMPUTED = re.compile(
    rb'<c\s(?![^>]*\bt="str")[^>]*\br="([A-Z]+)[0-9]+"[^>]*>\s*'
    rb"(?:<f\b[^>]*/>|<f\b[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*$"
)
_UNSEEN = "collapse", "filter"
_MOST = 1 << 20
_ATTRIBUTE = re.compile('([\\w:-]+)="([^"]*)"')
_PLACE = re.compile("([A-Z]+)([0-9]+)")
# Two digits are used for months and hours.
_ZEROS = re.compile("(0{3,})(?:;@)?")


@dataclasses.dataclass
class Looks:
    """Formatting of a sheet.

    Attributes
    ----------
    rows, columns : set of int
        Those that are hidden, from 0.
    widths : dict of row and column to int
        Number of digits that cells are padded to with zeros.
    """

    rows: set[int] = dataclasses.field(default_factory=set)
    columns: set[int] = dataclasses.field(default_factory=set)
    widths: dict[tuple[int, int], int] = dataclasses.field(default_factory=dict)

    def fill(self, rows: list[list[Any]]) -> None:
        """Replace numbers that are shown with leading zeros by texts."""
        for (row, column), width in self.widths.items():
            cell = rows[row][column] if row < len(rows) and column < len(rows[row]) else ""
            if isinstance(cell, (int, float)) and cell >= 0 and cell == int(cell):
                rows[row][column] = f"{int(cell):0{width}}"

    def about(self, height: int, width: int) -> Iterator[Finding]:
        """Report hidden rows and columns, which are read too."""
        for what, hidden, most in (("row", self.rows, height), ("column", self.columns, width)):
            if count := sum(k < most for k in hidden):
                yield found("format_hidden", count=count, what=what)


def looks(path: Path, sheet: str) -> Looks:
    """Read the formatting of a sheet; that of a binary workbook (xlsb) is not known."""
    try:
        if not zipfile.is_zipfile(path):
            return _old_workbook(path, sheet)
        with zipfile.ZipFile(path) as archive:
            is_open_document = "content.xml" in archive.namelist()
            return (_opendocument if is_open_document else _workbook)(archive, sheet)
    except _DAMAGES:
        return Looks()


def _old_workbook(path: Path, sheet: str) -> Looks:
    import xlrd

    shown = Looks()
    # xlrd may raise anything for a damaged file.
    with (
        contextlib.suppress(Exception),
        xlrd.open_workbook(
            str(path), logfile=io.StringIO(), formatting_info=True, on_demand=True
        ) as book,
    ):
        cells = book.sheet_by_name(sheet)
        shown.rows |= {place for place, info in cells.rowinfo_map.items() if info.hidden}
        shown.columns |= {place for place, info in cells.colinfo_map.items() if info.hidden}
        digits = [_digits(book.format_map[xf.format_key].format_str) for xf in book.xf_list]
        for row in range(cells.nrows if any(digits) else 0):
            for column in range(cells.row_len(row)):
                if width := digits[cells.cell_xf_index(row, column)]:
                    shown.widths[row, column] = width
    return shown


def columns_never_computed(path: Path, sheet: str) -> set[int]:
    """Find the columns of an XML workbook with formulas whose values are not stored."""
    columns, rest = set[int](), b""
    with (
        contextlib.suppress(*_DAMAGES),
        zipfile.ZipFile(path) as archive,
        archive.open(_member(archive, sheet)) as file,
    ):
        while chunk := file.read(_CHUNK):
            *cells, rest = (rest + chunk).split(b"</c>")
            uncomputed = map(_UNCOMPUTED.search, cells)
            columns.update(_column(cell[1].decode()) for cell in uncomputed if cell)
    return columns


def _workbook(archive: zipfile.ZipFile, sheet: str) -> Looks:
    shown, padded = Looks(), _padded_styles(archive)
    with archive.open(_member(archive, sheet)) as file:
        for kind, about in _tags(file, (_HIDDEN, _STYLED) if padded else (_HIDDEN,)):
            if kind == b"row":
                shown.rows.add(int(about["r"]) - 1)
            elif kind == b"col":
                shown.columns.update(range(int(about["min"]) - 1, int(about["max"])))
            elif int(about["s"]) in padded and (place := _PLACE.fullmatch(about["r"])):
                shown.widths[int(place[2]) - 1, _column(place[1])] = padded[int(about["s"])]
    return shown


def _opendocument(archive: zipfile.ZipFile, sheet: str) -> Looks:
    """Find the hidden rows and columns of a sheet."""
    hidden: dict[bytes, set[int]] = {b"table-row": set(), b"table-column": set()}
    place = dict.fromkeys(hidden, 0)
    within = False
    with archive.open("content.xml") as file:
        for kind, about in _tags(file, (_PARTS,)):
            if kind == b"table":
                within = html.unescape(about.get("table:name", "")) == sheet
            elif within:
                what = kind.removeprefix(b"table-").decode()
                count = min(int(about.get(f"table:number-{what}s-repeated", 1)), _MOST)
                if about.get("table:visibility") in _UNSEEN:
                    hidden[kind] |= {*range(place[kind], place[kind] + count)}
                place[kind] += count
    return Looks(hidden[b"table-row"], hidden[b"table-column"])


def _column(letters: str) -> int:
    return functools.reduce(lambda k, letter: 26 * k + ord(letter) - ord("@"), letters, 0) - 1


def _tags(
    file: IO[bytes], patterns: Iterable[re.Pattern[bytes]]
) -> Iterator[tuple[bytes, dict[str, str]]]:
    """Yield the matching tags of a document with their attributes."""
    rest = b""
    while chunk := file.read(_CHUNK):
        text = rest + chunk
        end = max(text.rfind(b"<"), 0)
        rest = text[end:]
        for pattern in patterns:
            for tag in pattern.finditer(text, 0, end):
                attributes = _ATTRIBUTE.findall(tag[2].decode("utf-8", "replace"))
                yield tag[1], dict(attributes)


def _padded_styles(archive: zipfile.ZipFile) -> dict[int, int]:
    """Return the cell styles with leading zeros, and their numbers of digits."""
    if "xl/styles.xml" not in archive.namelist():
        return {}
    styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
    codes = {f.get("numFmtId"): f.get("formatCode", "") for f in styles.iterfind(".//{*}numFmt")}
    used = [xf.get("numFmtId") for xf in styles.iterfind("{*}cellXfs/{*}xf")]
    return {k: width for k, key in enumerate(used) if (width := _digits(codes.get(key, "")))}


def _digits(code: str) -> int:
    """Return the number of digits that a number format pads to with zeros; 0 if it does not."""
    zeros = _ZEROS.fullmatch(code)
    return len(zeros[1]) if zeros else 0


def _member(archive: zipfile.ZipFile, sheet: str) -> str:
    """Return the path of a sheet in its workbook."""
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    (keys,) = (one.attrib for one in book.iterfind(".//{*}sheet") if one.get("name") == sheet)
    (link,) = (value for key, value in keys.items() if key.endswith("}id"))
    (target,) = (one.get("Target", "") for one in links if one.get("Id") == link)
    return posixpath.join("xl", target).lstrip("/")
