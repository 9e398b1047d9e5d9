"""Hidden rows and columns, and leading zeros of workbooks."""

from __future__ import annotations

import dataclasses
import functools
import html
import io
import itertools
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

from aucstudio.project.data.finding import Finding, found

_STYLES = "xl/styles.xml"
_CHUNK = 1 << 20
# How files of Excel 97 to 2003 begin.
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DAMAGES = zipfile.BadZipFile, zlib.error, ElementTree.ParseError
_HIDDEN = re.compile(rb'<(?:\w+:)?(row|col)\s([^>]*\bhidden="(?:1|true)"[^>]*)')
# A formula may yield an empty text.
_UNCOMPUTED = re.compile(
    rb'<c\s(?![^>]*\bt="str")[^>]*\br="([A-Z]+)[0-9]+"[^>]*>\s*'
    rb"(?:<f\b[^>]*/>|<f\b[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*$"
)
_STYLED = re.compile(rb'<(?:\w+:)?(c)\s([^>]*\bs="[^>]*)')
# Of an OpenDocument spreadsheet.
_CONTENT = "content.xml"
_PARTS = re.compile(rb"<table:(table|table-column|table-row)(?=[\s/>])([^>]*)")
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
    rows : set of int
        Hidden rows, from 0.
    columns : set of int
        Hidden columns, from 0.
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
        with path.open("rb") as file:
            if file.read(len(_COMPOUND)) == _COMPOUND:
                return _old_workbook(path, sheet)
        with zipfile.ZipFile(path) as archive:
            if _CONTENT in archive.namelist():
                return _opendocument(archive, sheet)
            return _workbook(archive, sheet)
    except (*_DAMAGES, OSError, LookupError, ValueError, RuntimeError):
        return Looks()


def _old_workbook(path: Path, sheet: str) -> Looks:
    import xlrd

    try:
        with xlrd.open_workbook(
            str(path), logfile=io.StringIO(), formatting_info=True, on_demand=True
        ) as book:
            found = book.sheet_by_name(sheet)
            rows = {place for place, info in found.rowinfo_map.items() if info.hidden}
            columns = {place for place, info in found.colinfo_map.items() if info.hidden}
            digits = [_digits(book.format_map[xf.format_key].format_str) for xf in book.xf_list]
            places = itertools.product(range(found.nrows), range(found.ncols if any(digits) else 0))
            widths = {
                (row, column): width
                for row, column in places
                if column < found.row_len(row)
                and (width := digits[found.cell_xf_index(row, column)])
            }
            return Looks(rows, columns, widths)
    except Exception:  # noqa: BLE001  (xlrd may raise anything for a damaged file)
        return Looks()


def columns_never_computed(path: Path, sheet: str) -> set[int]:
    """Find the columns of an XML workbook with formulas whose values are not stored."""
    columns, rest = set[int](), b""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(_member(archive, sheet)) as file:
            while chunk := file.read(_CHUNK):
                *cells, rest = (rest + chunk).split(b"</c>")
                uncomputed = map(_UNCOMPUTED.search, cells)
                columns.update(_column(cell[1].decode()) for cell in uncomputed if cell)
    except (*_DAMAGES, OSError, LookupError, ValueError, RuntimeError):
        return set()
    return columns


def _workbook(archive: zipfile.ZipFile, sheet: str) -> Looks:
    found = Looks()
    padded = _padded_styles(archive)
    with archive.open(_member(archive, sheet)) as file:
        for kind, attributes in _tags(file, (_HIDDEN, _STYLED) if padded else (_HIDDEN,)):
            _look(found, kind, attributes, padded)
    return found


def _opendocument(archive: zipfile.ZipFile, sheet: str) -> Looks:
    """Find the hidden rows and columns of a sheet."""
    found = Looks()
    within, row, column = False, 0, 0
    with archive.open(_CONTENT) as file:
        for kind, attributes in _tags(file, (_PARTS,)):
            unseen = attributes.get("table:visibility") in _UNSEEN
            if kind == b"table":
                within = html.unescape(attributes.get("table:name", "")) == sheet
            elif within and kind == b"table-row":
                start, row = row, row + _repeated(attributes, "rows")
                found.rows.update(range(start, row) if unseen else ())
            elif within:
                start, column = column, column + _repeated(attributes, "columns")
                found.columns.update(range(start, column) if unseen else ())
    return found


def _repeated(attributes: dict[str, str], what: str) -> int:
    return min(int(attributes.get(f"table:number-{what}-repeated", 1)), _MOST)


def _look(found: Looks, kind: bytes, attributes: dict[str, str], padded: dict[int, int]) -> None:
    if kind == b"row":
        found.rows.add(int(attributes["r"]) - 1)
    elif kind == b"col":
        found.columns.update(range(int(attributes["min"]) - 1, int(attributes["max"])))
    elif width := padded.get(int(attributes["s"])):
        place = _PLACE.fullmatch(attributes["r"])
        if place:
            found.widths[int(place[2]) - 1, _column(place[1])] = width


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
    if _STYLES not in archive.namelist():
        return {}
    styles = ElementTree.fromstring(archive.read(_STYLES))
    codes = {f.get("numFmtId"): f.get("formatCode", "") for f in styles.iterfind(".//{*}numFmt")}
    zeros = {key: digits for key, code in codes.items() if (digits := _digits(code))}
    used = [xf.get("numFmtId") for xf in styles.iterfind("{*}cellXfs/{*}xf")]
    return {k: zeros[key] for k, key in enumerate(used) if key in zeros}


def _digits(code: str) -> int:
    """Return the number of digits that a number format pads to with zeros; 0 if it does not."""
    found = _ZEROS.fullmatch(code)
    return len(found[1]) if found else 0


def _member(archive: zipfile.ZipFile, sheet: str) -> str:
    """Return the path of a sheet in its workbook."""
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    (keys,) = (one.attrib for one in book.iterfind(".//{*}sheet") if one.get("name") == sheet)
    (link,) = (value for key, value in keys.items() if key.endswith("}id"))
    (target,) = (one.get("Target", "") for one in links if one.get("Id") == link)
    return posixpath.join("xl", target).lstrip("/")
