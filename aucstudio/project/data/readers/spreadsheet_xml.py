"""XML spreadsheets of Excel 2003."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from aucstudio.project.data.readers.format import Advance, ReadOptions, Written
from aucstudio.project.data.readers.registry import SPREADSHEET_SPACE
from aucstudio.project.data.readers.sheets import write_table
from aucstudio.project.errors import input_error

_WIDEST, _MOST_LEFT_OUT = 20_000, 2_000_000
_REPORT_EVERY = 5_000
_Rows = list[list[str]]


def _tag(name: str) -> str:
    return f"{{{SPREADSHEET_SPACE}}}{name}"


_WORKSHEET, _ROW, _CELL, _DATA = map(_tag, ("Worksheet", "Row", "Cell", "Data"))
_NAME, _INDEX, _ACROSS, _TYPE = map(_tag, ("Name", "Index", "MergeAcross", "Type"))


def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    return write_table(path, target, "sheet", _sheets(path, report), options)


def _sheets(path: Path, report: Advance) -> dict[str, _Rows]:
    """Read the cells of all sheets as text."""
    sheets: dict[str, _Rows] = {}
    rows: _Rows = []
    size, read = max(path.stat().st_size, 1), 0
    with path.open("rb") as file:
        for event, element in ElementTree.iterparse(file, ("start", "end")):
            if event == "start" and element.tag == _WORKSHEET:
                name = element.get(_NAME, "") or f"sheet {len(sheets) + 1}"
                rows = sheets.setdefault(name, [])
            elif event == "end" and element.tag == _ROW:
                rows += [[]] * _left_out(path, element.get(_INDEX), len(rows))
                rows.append(_cells(path, element))
                element.clear()
                read += 1
                if read % _REPORT_EVERY == 0:
                    report(min(file.tell() / size, 0.9))
    return sheets


def _cells(path: Path, row: ElementTree.Element) -> list[str]:
    cells: list[str] = []
    for cell in row.iter(_CELL):
        cells += [""] * _left_out(path, cell.get(_INDEX), len(cells))
        data = cell.find(_DATA)
        cells.append("" if data is None else _text(data))
        cells += [""] * min(_whole(cell.get(_ACROSS)), _WIDEST)
    return cells


def _text(data: ElementTree.Element) -> str:
    text = "".join(data.itertext())
    kind = data.get(_TYPE)
    if kind == "Error":
        return ""
    if kind == "Boolean":
        return "TRUE" if text.strip() == "1" else "FALSE"
    return text.replace("T", " ").removesuffix(".000") if kind == "DateTime" else text


def _left_out(path: Path, index: str | None, have: int) -> int:
    """Return the number of rows or cells left out before an index."""
    missing = _whole(index) - 1 - have
    if missing > _MOST_LEFT_OUT:
        raise input_error("index_too_large", file=path, index=index)
    return missing


def _whole(number: str | None) -> int:
    return int(number) if number and number.isascii() and number.isdigit() else 0
